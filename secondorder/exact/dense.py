"""The whole Hessian, Gauss-Newton and Fisher matrix as (P, P) arrays, for small networks."""

import numpy as np

from ..checks import check_l2, lookup, one_of, require_bytes, whole_number
from ..checks.randomness import generator
from ..nets import Evaluation
from . import blocks
from .chunks import Chunks
from .curvature import (check_network, evaluated, hessian_rows, output_jacobian_at, outputs_of,
                        two_jet_at)
from .parameter_slices import parameter_slice
from .symmetric import mirror, require_finite_block, slices, symmetric_sum



def hessian(network, loss, x, y, method="auto", l2=0.0, layer=None, parameter=None,
            max_bytes=2**30, batch_size=None, executor=None):
    """Exact Hessian of the objective, (P, P), or its block of a layer.

    Parameters
    ----------
    method : {"auto", "blocks", "products", "polarisation"}
        ``"products"``: P exact Hessian-vector products. ``"polarisation"``: second directional
        derivatives (forward passes only) along e_i and e_i + e_j; P^2/2 passes. ``"blocks"``:
        chains of plain `Linear` and `Activation` layers, from the Hessians in the outputs of the
        linear layers, one GEMM per unit. ``"auto"``: blocks where they apply, else products.
    l2 : float
    layer, parameter
        Only the block of a layer, of several in a row, or of a parameter, without the rest of the
        matrix; see :class:`HessianOperator`.
    max_bytes : int
        Refuse, with `MemoryError`, a matrix larger than this. The peak is about twice the matrix,
        and a few MiB at least; with `batch_size`, up to three times.
    batch_size, executor
        As for :func:`gradient`: a sum of one matrix a chunk.

    Returns
    -------
    (P, P) array, or (n, n) for n parameters of a block

    Raises
    ------
    MemoryError
        The matrix would be larger than `max_bytes`; the message says how large.
    ValueError, TypeError
        Bad arguments, or ``"blocks"`` for a network that has other layers.
    FloatingPointError
        If something is not finite.
    """
    l2 = check_l2(l2)
    compute = lookup(METHODS, method, "method")
    block = _block(network, layer, parameter, "the Hessian", max_bytes)
    unsupported = blocks.unsupported(network)
    if method == "blocks" and unsupported is not None:
        raise TypeError("method='blocks' supports chains of Linear and Activation layers, not "
                        f"{unsupported!r}; use method='products'")
    if compute is None:
        compute = blocks.hessian if unsupported is None else _products
    chunks = Chunks(network, loss, x, y, batch_size, executor)
    matrix = _mean_matrix(chunks, compute, block)
    return _with_penalty(matrix, chunks, block, l2, "the Hessian")


def _block(network, layer, parameter, what, max_bytes):
    """Where the block that is asked for stands in theta; MemoryError if it is too large."""
    check_network(network)
    block = parameter_slice(network, layer, parameter)
    size = block.stop - block.start
    require_bytes(what, (size, size), network.dtype, max_bytes)
    return block


def _mean_matrix(chunks, compute, block, *rows):
    """``compute(evaluation, block, *rows)``, a mean over samples (n, n), over all chunks; `rows`
    have a row for every sample.
    """
    if chunks.is_whole:
        return compute(evaluated(chunks.network, chunks.loss, chunks.x, chunks.y), block, *rows)
    matrix = chunks.total(_matrix_sum, compute, block, rows=rows)
    matrix *= matrix.dtype.type(1) / chunks.samples
    return matrix


def _matrix_sum(network, loss, x, y, compute, block, *rows):
    evaluation = evaluated(network, loss, x, y)
    matrix = compute(evaluation, block, *rows)
    matrix *= evaluation.samples
    return matrix


def _with_penalty(matrix, chunks, block, l2, what):
    """Add l2 I to a finite matrix in place."""
    diagonal = np.einsum("ii->i", matrix)
    diagonal += l2
    require_finite_block(chunks.network, diagonal, block, what)
    return matrix


def _products(evaluation, block):
    """Row i is the product with the i-th unit vector; in one pass there are several."""
    network, size = evaluation.network, block.stop - block.start
    H = np.empty((size, size), dtype=network.dtype)
    for rows in slices(size, ROWS):
        units = np.eye(rows.stop - rows.start, network.size, block.start + rows.start,
                       dtype=H.dtype)
        H[rows] = hessian_rows(evaluation, units)[:, block]
    H *= H.dtype.type(1) / evaluation.samples
    return require_finite_block(network, H, block, "the Hessian")


def _polarisation(evaluation, block):
    """v^T H w = (q(v + w) - q(v) - q(w)) / 2 with q(v) = v^T H v."""
    network, size = evaluation.network, block.stop - block.start
    identity = np.eye(size, network.size, block.start, dtype=network.dtype)
    q = [two_jet_at(evaluation, row)[2] for row in identity]
    H = np.zeros((size, size), dtype=identity.dtype)
    for i in range(size):
        H[i, i] = q[i]
        for j in range(i + 1, size):
            both = two_jet_at(evaluation, identity[i] + identity[j])[2]
            H[i, j] = (both - q[i] - q[j]) / 2
    mirror(H)
    return require_finite_block(network, H, block, "the Hessian")


METHODS = {"auto": None, "blocks": blocks.hessian, "products": _products,
           "polarisation": _polarisation}


def gauss_newton(network, loss, x, y, l2=0.0, layer=None, parameter=None, max_bytes=2**30,
                 batch_size=None, executor=None):
    """Generalised Gauss-Newton matrix: mean over samples of J^T H_loss J, plus l2 I, (P, P), or its
    block of a layer.

    Positive semidefinite where the loss is convex in the outputs; for other losses it may be
    indefinite.

    Parameters
    ----------
    network, loss, x, y, l2, batch_size, executor
        As for :func:`gradient`.
    layer, parameter, max_bytes
        As for :func:`hessian`.

    Returns
    -------
    (P, P) array, or (n, n) for n parameters of a block

    Raises
    ------
    MemoryError, ValueError, TypeError, FloatingPointError
        As :func:`hessian`.
    """
    l2 = check_l2(l2)
    block = _block(network, layer, parameter, "the matrix", max_bytes)
    chunks = Chunks(network, loss, x, y, batch_size, executor)
    G = _mean_matrix(chunks, _gauss_newton, block)
    return _with_penalty(G, chunks, block, l2, "the Gauss-Newton matrix")


def _gauss_newton(evaluation, block):
    def middle(part):
        return part.loss_function.hessian(part.outputs, part.y)

    return _congruence(evaluation, block, middle, "the Gauss-Newton matrix")


ROWS = 128  # rows of a matrix that are computed at a time


def _congruence(evaluation, block, middle, what):
    """Mean over samples of J^T M J, J the columns of a block of the Jacobian; ``middle(part)``
    gives M (S', C, C) for a part of the batch.
    """
    (samples, outputs), size = evaluation.outputs.shape, block.stop - block.start

    def rows_of(part, where):
        J = _jacobian(part, block)
        yield from _gram(J, middle(part) / samples @ J)

    return symmetric_sum(evaluation, 2 * (outputs + 1) * size, rows_of, what, block)


def _jacobian(part, block):
    """Columns of a block of the outputs' Jacobian, (S, C, n)."""
    network, outputs = part.network, part.outputs
    if block.stop - block.start == network.size:
        return output_jacobian_at(part.saved, network, outputs)
    units = np.eye(outputs.shape[1], dtype=outputs.dtype)
    return np.stack([_gradients(part, np.broadcast_to(unit, outputs.shape), block)
                     for unit in units], axis=1)


def _gradients(part, y_bar, block):
    """A block of every sample's gradient (S, n), for gradients y_bar (S, C) in the outputs; layers
    outside of the block are asked for none.
    """
    chain, saved = part.network.chain, part.saved
    if block.stop - block.start == chain.size:
        return chain.flat_parameter_gradients(saved, y_bar)
    bars, pieces = chain.output_gradients(saved, y_bar), []
    for (layer, own), bar, where in zip(chain.called(saved), bars, chain.slices):
        first, last = max(where.start, block.start), min(where.stop, block.stop)
        if first < last:
            rows = layer.flat_parameter_gradients(own, bar)
            pieces.append(rows[:, first - where.start : last - where.start])
    return np.concatenate(pieces, axis=1)


def _gram(left, right):
    """Rows of the upper triangle of left^T right, for arrays (..., P), as pairs of factors."""
    left, right = (factor.reshape(-1, factor.shape[-1]) for factor in (left, right))
    for rows in slices(left.shape[1], ROWS):
        yield rows, left[:, rows], right[:, rows.start:]


FISHER_KINDS = ("exact", "empirical", "sampled")


def fisher(network, loss, x, y, kind="exact", rng=None, draws=1, l2=0.0, layer=None,
           parameter=None, max_bytes=2**30, batch_size=None, executor=None):
    """Fisher matrix: mean of E[g g^T], g the gradient of one sample's loss, plus l2 I, (P, P), or
    its block of a layer.

    Parameters
    ----------
    kind : {"exact", "empirical", "sampled"}
        Where the expectation over targets comes from. ``"exact"``: the model's own distribution,
        in closed form. ``"sampled"``: `draws` targets per sample, drawn from the model.
        ``"empirical"``: the given targets y.
    rng : None, int or numpy.random.Generator
        For ``"sampled"``.
    draws : int
        Number of targets per sample, for ``"sampled"``.
    layer, parameter
        Only the block of a layer, as for :func:`hessian`.
    batch_size, executor
        As for :func:`gradient`. The targets are drawn here, before the chunks are worked out, and
        are the same for all batch sizes.

    Notes
    -----
    When do they coincide?

    * exact = Gauss-Newton if the loss is the negative log-likelihood of an exponential family in
      its natural parameters: `SquaredError` (a Gaussian of unit variance) always;
      `SoftmaxCrossEntropy` (a categorical) if each row of target weights sums to one. Neither
      depends on y then.
    * sampled has the exact one as its expectation and approaches it like 1/sqrt(draws * samples).
    * empirical is neither, in general: it has g from the *given* targets. It tends to the exact
      one only where the targets really follow the model's distribution, and it vanishes together
      with the gradients at an interpolating solution, where the exact one does not.
    * `BoundedCriterion` and `TukeyBiweight` are not negative log-likelihoods: only the empirical
      matrix is defined.

    Raises
    ------
    TypeError
        Exact or sampled for a loss that is not a negative log-likelihood.
    MemoryError, ValueError, TypeError, FloatingPointError
        As :func:`hessian`.
    """
    l2 = check_l2(l2)
    one_of(FISHER_KINDS, kind, "kind")
    block, others = _block(network, layer, parameter, "the matrix", max_bytes), ()
    chunks = Chunks(network, loss, x, y, batch_size, executor)
    if kind == "sampled":
        others = drawn_scores(chunks, rng, draws)
    compute = _exact_fisher if kind == "exact" else _score_fisher
    F = _mean_matrix(chunks, compute, block, *others)
    return _with_penalty(F, chunks, block, l2, "the Fisher matrix")


def _exact_fisher(evaluation, block):
    return _congruence(evaluation, block, lambda part: part.loss_function.fisher(part.outputs),
                       "the Fisher matrix")


def _score_fisher(evaluation, block, *scores):
    """Mean over samples and scores (S, C) of g g^T, g a block of the gradient of a sample's score;
    without scores, from the gradients of the loss with the given targets.
    """
    scores = scores or fisher_scores(evaluation, "empirical")
    number, size = evaluation.samples * len(scores), block.stop - block.start

    def rows_of(part, where):
        G = np.concatenate([_gradients(part, score[where], block) for score in scores])
        yield from _gram(G, G / number)

    return symmetric_sum(evaluation, 3 * len(scores) * size, rows_of, "the Fisher matrix", block)


def fisher_scores(evaluation, kind, rng=None, draws=1):
    """Gradients of the loss in the outputs, a list of (S, C): for the targets, or one a draw."""
    loss, p = evaluation.loss_function, evaluation.outputs
    if kind == "empirical":
        return [loss.gradient(p, evaluation.y)]
    return _drawn(loss, p, rng, draws)


def drawn_scores(batch, rng, draws):
    """The same for targets drawn from the model, of an evaluation or of `Chunks`."""
    if isinstance(batch, Evaluation):
        return _drawn(batch.loss_function, batch.outputs, rng, draws)
    network = batch.network
    if batch.is_whole:
        p = network.forward(batch.x)[0]
    else:
        p = np.empty((batch.samples, *network.output_shape), dtype=network.dtype)
        batch.put(outputs_of, p)
    return _drawn(batch.loss, p, rng, draws)


def _drawn(loss, p, rng, draws):
    draws, rng = whole_number(draws, "draws", 1), generator(rng)
    return [loss.gradient(p, loss.sample_targets(p, rng)) for _ in range(draws)]
