"""The whole Hessian, Gauss-Newton and Fisher matrix as (P, P) arrays, for networks small enough to look at."""

import numpy as np

from ..checks import check_l2, lookup, one_of, require_bytes, whole_number
from ..nets import Activation, Linear
from ..randomness import generator
from .curvature import check_network, evaluate, hessian_vector_product_at, output_jacobian_at, two_jet_at


def hessian(network, loss, x, y, method="auto", l2=0.0, max_bytes=2**30):
    """Exact Hessian of the objective, (P, P).

    Parameters
    ----------
    method : {"auto", "blocks", "products", "polarisation"}
        ``"products"``: P exact Hessian-vector products. ``"polarisation"``: second directional derivatives (forward passes
        only) along e_i and e_i + e_j; P^2/2 passes. ``"blocks"``: chains of plain `Linear` and `Activation` layers, from the
        Hessians in the outputs of the linear layers, one or two GEMMs per block. ``"auto"``: blocks where they apply, else products.
    l2 : float
    max_bytes : int
        Refuse, with `MemoryError`, a matrix larger than this. The peak may be about four times the matrix.

    Returns
    -------
    (P, P) array

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
    compute = lookup({"auto": None, "blocks": _blocks, "products": _products, "polarisation": _polarisation}, method, "method")
    check_network(network)
    require_bytes("the Hessian", (network.size, network.size), network.dtype, max_bytes)
    unsupported = [layer for layer in network.layers if type(layer) not in (Linear, Activation)]
    if method == "blocks" and unsupported:
        raise TypeError(f"method='blocks' supports chains of Linear and Activation layers, not {unsupported[0]!r}; "
                        "use method='products'")
    if compute is None:
        compute = _products if unsupported else _blocks
    H = compute(evaluate(network, loss, x, y))
    H[np.diag_indices_from(H)] += l2
    return network.require_finite(H, "the Hessian")


PART = 2**23  # numbers in the largest array that is made on the way to a dense matrix


def _in_parts(evaluation, numbers, add):
    """Call ``add(part, where)`` for evaluations of parts of the batch, such that S' * numbers <= PART for a part of S' samples
    (at least one sample a part)."""
    size = max(1, PART // numbers)
    for start in range(0, evaluation.samples, size):
        where = slice(start, start + size)
        whole = size >= evaluation.samples
        add(evaluation if whole else evaluation.network.evaluate(evaluation.loss_function, evaluation.x[where],
                                                                 evaluation.y[where]), where)


def _products(evaluation):
    size = evaluation.network.size
    H = np.empty((size, size), dtype=evaluation.network.dtype)
    for i in range(size):
        v = np.zeros(size, dtype=H.dtype)
        v[i] = 1
        H[:, i] = hessian_vector_product_at(evaluation, v)
    return H


def _polarisation(evaluation):
    """v^T H w = (q(v + w) - q(v) - q(w)) / 2 with q(v) = v^T H v."""
    size = evaluation.network.size
    identity = np.eye(size, dtype=evaluation.network.dtype)
    q = [two_jet_at(evaluation, row)[2] for row in identity]
    H = np.diag(np.array(q, dtype=identity.dtype))
    for i in range(size):
        for j in range(i):
            H[i, j] = H[j, i] = (two_jet_at(evaluation, identity[i] + identity[j])[2] - q[i] - q[j]) / 2
    return H


def _blocks(evaluation):
    """Blocks of two linear layers k <= r, with a the input of a layer (1 appended for its bias) and z its output.

    Let S_r be the Hessian in z_r, delta_r the gradient in z_r and J the Jacobian d a_r / d z_k, all of one sample. Then
    block[(s, t), (i, j)] = (S_r W_r J)[s, i] a_r[t] a_k[j] + delta_r[s] J[t, i] a_k[j] for k < r, and S_k[s, i] a_k[t] a_k[j] for
    k = r; the batch sums of the outer products are GEMMs over samples.
    """
    network = evaluation.network
    H = np.zeros((network.size, network.size), dtype=network.dtype)
    widest = max(max(layer.weight.shape) for layer in network.layers if isinstance(layer, Linear)) + 1
    _in_parts(evaluation, widest**2, lambda part, where: _add_blocks(H, part))
    H /= evaluation.samples
    return H


def _add_blocks(H, evaluation):
    """Add the blocks of one part of the batch, not divided by the number of samples, to H."""
    network, saved, deltas = evaluation.network, evaluation.saved, evaluation.deltas
    trained = [i for i, layer in enumerate(network.layers) if layer.size]
    H_p = evaluation.loss_function.hessian(evaluation.outputs, evaluation.y)
    at_output = dict(enumerate(network.chain.input_hessian_from(saved, deltas, H_p, stop=trained[0] + 1), start=trained[0]))
    for k in trained:
        a_k, order_k = _extended_input(network.layers[k], saved[k])
        block = _outer_sum(at_output[k], _pairs(a_k, a_k)).transpose(0, 2, 1, 3)
        _add(H, network.slices[k], network.slices[k], block, order_k, order_k)
        J = np.broadcast_to(np.eye(network.layers[k].out_features, dtype=network.dtype),
                            (evaluation.samples,) + 2 * (network.layers[k].out_features,))
        for r in range(k + 1, len(network.layers)):
            layer = network.layers[r]
            if layer.size:
                a_r, order_r = _extended_input(layer, saved[r])
                bend = _outer_sum(at_output[r] @ layer.weight @ J, _pairs(a_r, a_k)).transpose(0, 2, 1, 3)  # [s, t, i, j]
                J_extended = np.zeros((evaluation.samples, a_r.shape[1], J.shape[2]), dtype=J.dtype)
                J_extended[:, : J.shape[1]] = J
                cross = _outer_sum(_pairs(deltas[r], a_k), J_extended).transpose(0, 2, 3, 1)  # from [s, j, t, i]
                _add(H, network.slices[r], network.slices[k], bend + cross, order_r, order_k)
            J = layer.weight @ J if isinstance(layer, Linear) else saved[r].slope[:, :, None] * J


def _extended_input(layer, kept):
    """Input with a column of ones where there is a bias, and where (out, in + 1) entries stand in weight-then-bias order."""
    a, out = kept.input, layer.out_features
    if layer.bias is None:
        return a, np.arange(out * a.shape[1])
    a = np.concatenate([a, np.ones_like(a[:, :1])], axis=1)
    place = np.arange(out * a.shape[1]).reshape(out, a.shape[1])
    return a, np.concatenate([place[:, :-1].ravel(), place[:, -1]])


def _pairs(a, b):
    """Outer product of the rows of a and b, (S, n, m)."""
    return a[:, :, None] * b[:, None, :]


def _outer_sum(A, B):
    """sum over samples of A[s, a, b] B[s, c, d], (a, b, c, d), as one GEMM."""
    return (A.reshape(len(A), -1).T @ B.reshape(len(B), -1)).reshape(A.shape[1:] + B.shape[1:])


def _add(H, rows, columns, block, row_order, column_order):
    """Add block[s, t, i, j] to H, and its transpose on the other side of the diagonal."""
    flat = block.reshape(block.shape[0] * block.shape[1], -1)[np.ix_(row_order, column_order)]
    H[rows, columns] += flat
    if rows != columns:
        H[columns, rows] += flat.T


def gauss_newton(network, loss, x, y, l2=0.0, max_bytes=2**30):
    """Generalised Gauss-Newton matrix: mean over samples of J^T H_loss J, plus l2 I, (P, P).

    Positive semidefinite where the loss is convex in the outputs; for other losses it may be indefinite.

    Parameters
    ----------
    network : Network
    loss : Loss
    x : (S, *input_shape) array
    y : targets of the loss
    l2 : float
    max_bytes : int
        Refuse, with `MemoryError`, a matrix larger than this.

    Returns
    -------
    (P, P) array

    Raises
    ------
    MemoryError, ValueError, TypeError, FloatingPointError
        As :func:`hessian`.
    """
    l2 = check_l2(l2)
    evaluation = _with_room(network, loss, x, y, max_bytes)
    G = _congruence(evaluation, lambda part: loss.hessian(part.outputs, part.y))
    G[np.diag_indices_from(G)] += l2
    return network.require_finite(G, "the Gauss-Newton matrix")


def _with_room(network, loss, x, y, max_bytes):
    check_network(network)
    require_bytes("the matrix", (network.size, network.size), network.dtype, max_bytes)
    return evaluate(network, loss, x, y)


def _congruence(evaluation, middle):
    """Mean over samples of J^T M J, with ``middle(part)`` the matrices M (S', C, C) of a part of the batch."""
    network, (_, outputs) = evaluation.network, evaluation.outputs.shape
    total = np.zeros((network.size, network.size), dtype=network.dtype)

    def add(part, where):
        J = output_jacobian_at(part.saved, network, part.outputs)
        rows = J.reshape(-1, network.size)
        np.add(total, rows.T @ (middle(part) @ J).reshape(rows.shape), out=total)

    _in_parts(evaluation, outputs * network.size, add)
    return total / evaluation.samples


FISHER_KINDS = ("exact", "empirical", "sampled")


def fisher(network, loss, x, y, kind="exact", rng=None, draws=1, l2=0.0, max_bytes=2**30):
    """Fisher matrix, mean over inputs of E[g g^T] with g the gradient of one sample's loss, plus l2 I, (P, P).

    Parameters
    ----------
    kind : {"exact", "empirical", "sampled"}
        Where the expectation over targets comes from. ``"exact"``: the model's own distribution, in closed form.
        ``"sampled"``: `draws` targets per sample, drawn from the model. ``"empirical"``: the given targets y.
    rng : None, int or numpy.random.Generator
        For ``"sampled"``.
    draws : int
        Number of targets per sample, for ``"sampled"``.

    Notes
    -----
    When do they coincide?

    * exact = Gauss-Newton if the loss is the negative log-likelihood of an exponential family in its natural parameters:
      `SquaredError` (a Gaussian of unit variance) always; `SoftmaxCrossEntropy` (a categorical) if each row of target weights
      sums to one. Neither depends on y then.
    * sampled has the exact one as its expectation and approaches it like 1/sqrt(draws * samples).
    * empirical is neither, in general: it has g from the *given* targets. It tends to the exact one only where the
      targets really follow the model's distribution, and it vanishes together with the gradients at an interpolating solution,
      where the exact one does not.
    * `BoundedCriterion` and `TukeyBiweight` are not negative log-likelihoods: only the empirical matrix is defined.

    Raises
    ------
    TypeError
        Exact or sampled for a loss that is not a negative log-likelihood.
    MemoryError, ValueError, TypeError, FloatingPointError
        As :func:`hessian`.
    """
    l2 = check_l2(l2)
    one_of(FISHER_KINDS, kind, "kind")
    evaluation = _with_room(network, loss, x, y, max_bytes)
    if kind == "exact":
        F = _congruence(evaluation, lambda part: loss.fisher(part.outputs))
    else:
        F = np.zeros((network.size, network.size), dtype=network.dtype)
        scores = fisher_scores(evaluation, kind, rng, draws)

        def add(part, where):
            for score in scores:
                G = network.chain.parameter_gradients(part.saved, score[where])
                np.add(F, G.T @ G, out=F)

        _in_parts(evaluation, network.size, add)
        F /= evaluation.samples * len(scores)
    F[np.diag_indices_from(F)] += l2
    return network.require_finite(F, "the Fisher matrix")


def fisher_scores(evaluation, kind, rng=None, draws=1):
    """Gradients of the loss in the outputs, a list of (S, C): one for the given targets, or one a draw from the model."""
    loss, p = evaluation.loss_function, evaluation.outputs
    if kind == "empirical":
        return [loss.gradient(p, evaluation.y)]
    draws, rng = whole_number(draws, "draws", 1), generator(rng)
    return [loss.gradient(p, loss.sample_targets(p, rng)) for _ in range(draws)]
