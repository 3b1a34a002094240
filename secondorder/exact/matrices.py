"""Symmetric matrices over chunks of a batch, split by rows: what is sent is each entry once.

A matrix (n, n) that is a sum over samples could be split among workers by samples; every one would
send n^2 numbers for each of its chunks, and whoever adds them would have more to do than the
workers. By rows, a worker takes all chunks, adds its rows of them, first to last, and sends its
part of the upper triangle.
"""

import numpy as np

from .chunks import chunk_name, note_of
from .curvature import evaluated
from .symmetric import mirror, slices

PARTS = 6  # of the rows; that the first ones are the longest lets several workers end together


def mean_matrix(chunks, compute, block, *others, by_rows=True):
    """``compute(evaluation, block, *others)``, a symmetric mean over samples, (n, n), over all
    chunks.

    `block` is where the parameters of the matrix stand in ``network.theta``; `others` have a row
    for each sample. With ``only=rows``, a slice, `compute` makes ``matrix[rows, rows.start:]``,
    unless `by_rows` is False.
    """
    if chunks.is_whole:
        evaluation = evaluated(chunks.network, chunks.loss, chunks.x, chunks.y)
        return compute(evaluation, block, *others)
    size = block.stop - block.start
    if by_rows and sends_less(chunks, size):
        return _by_rows(chunks, compute, block, others)
    matrix = chunks.total(_matrix_sum, compute, block, shape=(size, size), rows=others)
    matrix *= matrix.dtype.type(1) / chunks.samples
    return matrix


def sends_less(chunks, size):
    """Whether rows need fewer numbers than samples do, of which x goes to one chunk only and a
    matrix (n, n) comes from each. It does not depend on who works them out.
    """
    return PARTS * chunks.x.size + size**2 // 2 < chunks.x.size + len(chunks.slices) * size**2


def _by_rows(chunks, compute, block, others):
    network, size = chunks.network, block.stop - block.start
    matrix = np.empty((size, size), dtype=network.dtype)
    parts = slices(size, -(-size // PARTS))
    places = [f"rows {rows.start} to {rows.stop - 1} of the matrix" for rows in parts]
    calls = ((_rows_sum, network, chunks.loss, chunks.x, chunks.y, chunks.slices, compute, block,
              rows, *others) for rows in parts)
    results = chunks.made(calls, places)
    for rows, name in zip(parts, places):
        part = next(results)
        here = matrix[rows, rows.start:]
        chunks.require_like(part, name, here.shape, matrix.dtype)
        np.multiply(part, part.dtype.type(1) / chunks.samples, out=here)
        del part  # so that the next one finds its room free
    mirror(matrix)
    return matrix


def _matrix_sum(network, loss, x, y, compute, block, *others):
    evaluation = evaluated(network, loss, x, y)
    matrix = compute(evaluation, block, *others)
    matrix *= evaluation.samples
    return matrix


def _rows_sum(network, loss, x, y, wheres, compute, block, rows, *others):
    """Rows of the sum of all chunks' matrices."""
    total = None
    for where in wheres:
        try:
            evaluation = evaluated(network, loss, x[where], y[where])
            part = compute(evaluation, block, *(a[where] for a in others), only=rows)
            part *= evaluation.samples
        except Exception as error:
            error.add_note(note_of(chunk_name(wheres, where)))
            raise
        total = part if total is None else np.add(total, part, out=total)
    return total
