"""Symmetric matrices that are sums over a batch: the triangle once, in parts of the batch."""

import numpy as np

from ..nets import Evaluation

SMALLEST_PART = 2**18  # numbers that a part of the batch may take however small the matrix is
TILE = 512, 128  # rows and columns that are copied at a time, so that both sides stay in the cache


def symmetric_sum(evaluation, numbers, rows_of, what, block):
    """A symmetric matrix, (P, P) or a block of it, as a sum over the batch, written where it
    belongs.

    ``rows_of(part, where)``, with `part` the evaluation of a part of the batch and `where` its
    slice, yields ``rows, left, right`` for slices of rows that cover the matrix, the same for every
    part. The part's share of ``matrix[rows, rows.start:]`` is left^T right, with left (n, rows) and
    right (n, P - rows.start), P the size of the block. Arrays may be used again for the next rows.

    `numbers` is how many of them `rows_of` holds at a time for each sample: parts of the batch, of
    one sample at least, are such that this stays below half of the matrix (or `SMALLEST_PART`).

    `block` is where the parameters stand in ``network.theta``. FloatingPointError, which names the
    matrix as `what` and the first layer, if an entry is not finite.
    """
    network, size = evaluation.network, block.stop - block.start
    matrix = np.empty((size, size), dtype=network.dtype)
    wheres, finite = _parts(evaluation.samples, numbers, size**2), True
    for where in wheres:
        part = evaluation if len(wheres) == 1 else part_of(evaluation, where)
        with np.errstate(over="ignore", invalid="ignore"):
            for rows, left, right in rows_of(part, where):
                here = matrix[rows, rows.start:]
                if where is wheres[0]:
                    np.matmul(left.T, right, out=here)
                else:
                    here += left.T @ right
                if where is wheres[-1]:
                    finite &= bool(np.isfinite(here).all())
    mirror(matrix)
    return matrix if finite else require_finite_block(network, matrix, block, what)


def require_finite_block(network, matrix, block, what):
    """Return a block (..., n) of something in the parameters if it is finite; FloatingPointError,
    which names the first layer where it is not.
    """
    if matrix.shape[-1] == network.size:
        return network.require_finite(matrix, what)
    if np.isfinite(matrix).all():
        return matrix
    whole = np.zeros((*matrix.shape[:-1], network.size), matrix.dtype)
    whole[..., block] = matrix
    return network.require_finite(whole, what)


def _parts(samples, numbers, size):
    """Slices of the batch."""
    length = max(1, max(SMALLEST_PART, size // 2) // numbers)
    return slices(samples, length)


def part_of(evaluation, where):
    x, y = evaluation.x[where], evaluation.y[where]
    return Evaluation(evaluation.network, evaluation.loss_function, x, y, lasting=False)


def mirror(matrix):
    """Copy what stands above the diagonal to below it, tile by tile."""
    below = np.tri(TILE[1], k=-1, dtype=bool)
    for columns in slices(len(matrix), TILE[1]):
        for rows in slices(columns.start, TILE[0]):
            matrix[columns, rows] = matrix[rows, columns].T
        corner = matrix[columns, columns]
        np.copyto(corner, corner.T, where=below[: len(corner), : len(corner)])


def slices(size, length):
    """Slices of `length` rows that cover `size` rows, the last one shorter."""
    return [slice(start, min(start + length, size)) for start in range(0, size, length)]
