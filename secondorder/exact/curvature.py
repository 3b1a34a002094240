"""Exact first- and second-order derivatives of the objective, mean loss plus (l2/2)|theta|^2.

Every function takes a network, a loss, inputs x (S, *input_shape), targets y, and ``l2``. Shapes:
P parameters, C outputs. With ``batch_size`` the samples are worked through in chunks, in the memory
of one, and by an ``executor`` where one is given (see :mod:`secondorder.exact.chunks`).
"""

import math
from itertools import accumulate

import numpy as np

from ..checks import check_l2, finite, instance_of, require_bytes
from ..nets import Evaluation, Network
from ..nets.evaluation import quiet
from .chunks import Chunks
from .symmetric import slices

NUMBERS = 2**20  # of all layers' tangents that are held at a time: they stay in the cache


def check_vector(network, v, name="v"):
    """Return v (P,) in the network's dtype; TypeError or ValueError, with the argument's name, if
    it is no such vector.
    """
    return finite(instance_of(network, Network, "network").vector(v, name), name)


def check_network(network):
    """TypeError unless `network` is a Network, ValueError if it has no trainable parameters."""
    instance_of(network, Network, "network").require_parameters()


def evaluate(network, loss, x, y):
    """``network.evaluate``, for a network that has parameters."""
    check_network(network)
    return network.evaluate(loss, x, y)


def evaluated(network, loss, x, y):
    """As `evaluate`, for what is used at once: it keeps no copies of x, y and theta."""
    return Evaluation(network, loss, x, y, lasting=False)


def outputs_of(network, loss, x, y):
    """The network's outputs (S, C): a task for :class:`Chunks`."""
    return network.forward(x)[0]


def gradient(network, loss, x, y, l2=0.0, batch_size=None, executor=None):
    """Gradient of the objective, (P,), by back-propagation.

    Parameters
    ----------
    network : Network
    loss : Loss
    x : (S, *input_shape) array
    y : targets in the form that the loss takes
        (S, C) numbers, or (S,) integer labels for losses of classes.
    l2 : float
        Penalty (l2/2)|theta|^2.
    batch_size : int, optional
        Work through the samples in chunks of so many, in the memory of one chunk.
    executor : concurrent.futures.Executor, optional
        Who works the chunks out; the result is the same bit for bit.

    Raises
    ------
    ValueError, TypeError
        Wrong shapes, empty batch, NaN, labels out of range, negative `l2`, network without
        parameters.
    FloatingPointError
        Outputs, losses or gradient not finite.
    """
    l2 = check_l2(l2)
    chunks = Chunks(network, loss, x, y, batch_size, executor)
    total = chunks.total(gradient_sum)
    return mean_of(network, total, chunks.samples, network.theta, l2, "the gradient")


def gradient_sum(network, loss, x, y):
    """Gradient of the sum of the losses, (P,)."""
    return evaluated(network, loss, x, y).gradient_sum


def mean_of(network, total, samples, penalised, l2, what):
    """total / samples + l2 * penalised, in the array `total` (..., P) of the caller's sum."""
    total *= total.dtype.type(1) / samples
    if l2:
        with quiet():
            total += l2 * penalised
    return network.require_finite(total, what)


# -- products with vectors -------------------------------------------------------------------------


def hessian_product_sum(evaluation, v):
    """Hessian of the sum of the losses times v (P,), or times every v of (K, P).

    The product is the derivative of the gradient along v: tangents of all layers' inputs going
    forward; then, going back, the loss's Hessian on the output tangent, and `backward_tangent` of
    every layer (Pearlmutter 1994). No approximation.
    """
    evaluation.require_current()
    chain, saved = evaluation.network.chain, evaluation.saved
    with quiet():
        p_tangent, moved = chain.tangents(saved, None, v)
        p_bar_tangent = loss_product(evaluation, p_tangent)
        out, deltas = np.empty(v.shape, v.dtype), evaluation.deltas
        return chain.backward_tangent_from(saved, moved, deltas, p_bar_tangent, out)[1]


def gauss_newton_product_sum(evaluation, v, middle=None):
    """Sum over samples of J^T M J times v (P,), or times every v of (K, P), with ``middle(t)`` =
    M t for tangents t (S, C), or (K, S, C), of the outputs; the loss's Hessian without `middle`.
    """
    evaluation.require_current()
    chain, saved = evaluation.network.chain, evaluation.saved
    with quiet():
        p_tangent, _ = chain.tangents(saved, None, v)
        p_bar = loss_product(evaluation, p_tangent) if middle is None else middle(p_tangent)
        return chain.parameter_gradient(saved, p_bar, np.empty(v.shape, v.dtype))


def loss_product(evaluation, t):
    """The Hessian of every sample's loss times a tangent t (S, C) of the outputs, or (K, S, C)."""
    loss, p, y = evaluation.loss_function, evaluation.outputs, evaluation.y
    if t.ndim == p.ndim or loss.many_directions:
        return loss.hessian_product(p, y, t)
    return np.stack([loss.hessian_product(p, y, one) for one in t])


def hessian_rows(evaluation, rows):
    """Hessian of the sum of the losses times every row of `rows` (K, P): (K, P)."""
    return by_rows(hessian_product_sum, evaluation, rows)


def gauss_newton_rows(evaluation, rows):
    """Sum over samples of J^T H_loss J times every row of `rows` (K, P): (K, P)."""
    return by_rows(gauss_newton_product_sum, evaluation, rows)


def fisher_rows(evaluation, rows, F=None):
    """Sum over samples of J^T F J, F (S, C, C) the Fisher matrix in the outputs, times each row."""
    F = evaluation.loss_function.fisher(evaluation.outputs) if F is None else F
    return by_rows(gauss_newton_product_sum, evaluation, rows,
                   lambda t: np.einsum("sij,...sj->...si", F, t))


def score_rows(evaluation, rows, *scores):
    """Sum over samples of J^T g g^T J, a mean over the `scores` g (S, C), times every row (K, P).

    Without scores g is the gradient of the loss with the targets that are given.
    """
    if not scores:
        scores = (evaluation.loss_function.gradient(evaluation.outputs, evaluation.y),)

    def middle(t):
        return sum(g * np.einsum("sc,...sc->...s", g, t)[..., None] for g in scores) / len(scores)

    return by_rows(gauss_newton_product_sum, evaluation, rows, middle)


def by_rows(product, evaluation, rows, *others):
    """``product(evaluation, v, *others)`` for all v of `rows` (K, P): as many at a time as the
    cache has room for.
    """
    if len(rows) == 1:
        return product(evaluation, rows[0], *others)[None]
    together = max(1, NUMBERS // (evaluation.samples * sum(widths(evaluation.network))))
    if together == 1:
        return np.stack([product(evaluation, v, *others) for v in rows])
    if len(rows) <= together:
        return product(evaluation, rows, *others)
    return np.concatenate([product(evaluation, rows[some], *others)
                           for some in slices(len(rows), together)])


def widths(network):
    """How many numbers each layer makes of one sample."""
    shapes = accumulate(network.layers, lambda shape, layer: layer.output_shape(shape),
                        initial=network.input_shape)
    return [math.prod(shape) for shape in shapes][1:]


def product_sum(network, loss, x, y, rows_of, rows, *others):
    """What ``rows_of(evaluation, rows, *others)`` gives, (K, P): a task for :class:`Chunks`."""
    return rows_of(evaluated(network, loss, x, y), rows, *others)


def hessian_vector_product_at(evaluation, v, l2=0.0):
    """Hessian of the objective times v (P,), at an :class:`~secondorder.nets.Evaluation`."""
    total = hessian_product_sum(evaluation, v)
    return mean_of(evaluation.network, total, evaluation.samples, v, l2,
                   "the Hessian-vector product")


def gauss_newton_product_at(evaluation, v, middle=None, l2=0.0):
    """(mean of J^T M J + l2 I) v, with ``middle(t)`` = M t for tangents t (S, C) of the outputs;
    the loss's Hessian without `middle`.
    """
    total = gauss_newton_product_sum(evaluation, v, middle)
    return mean_of(evaluation.network, total, evaluation.samples, v, l2, "the product")


def hessian_vector_product(network, loss, x, y, v, l2=0.0, batch_size=None, executor=None):
    """Exact Hessian of the objective times the vector v (P,): (P,).

    Parameters
    ----------
    network, loss, x, y, l2, batch_size, executor
        As for :func:`gradient`.
    v : (P,) array

    Raises
    ------
    ValueError, TypeError
        As :func:`gradient`, and if v has another shape or dtype.
    """
    l2, v = check_l2(l2), check_vector(network, v)
    chunks = Chunks(network, loss, x, y, batch_size, executor)
    total = chunks.total(product_sum, hessian_rows, v[None])[0]
    return mean_of(network, total, chunks.samples, v, l2, "the Hessian-vector product")


# -- second derivative along a line ----------------------------------------------------------------


def two_jet_at(evaluation, v, l2=0.0):
    """:func:`two_jet` along v (P,) at an evaluation that was made before."""
    evaluation.require_current()
    return _penalised_jet(evaluation.network, jet_sums(evaluation, v), evaluation.samples, v, l2)


def jet_sums(evaluation, v):
    """Value, directional derivative and curvature along v of the sum of the losses, (3,), in
    float64 at least: these sums cancel.
    """
    network, loss = evaluation.network, evaluation.loss_function
    p, y = evaluation.outputs, evaluation.y
    with quiet():
        p_tangent, moved = network.chain.tangents(evaluation.saved, None, v)
        p_second = network.chain.second_tangent_from(evaluation.saved, moved)
        first = loss.gradient(p, y)
        second_order = p_tangent * loss.hessian_product(p, y, p_tangent) + first * p_second
        terms, wide = (evaluation.losses, first * p_tangent, second_order), _wide(network)
    return np.array([np.sum(term, dtype=wide) for term in terms])


def _wide(network):
    return np.result_type(network.dtype, np.float64)


def _penalised_jet(network, sums, samples, v, l2):
    theta, wide = network.theta, _wide(network)
    value, directional_derivative, second_order = sums / samples
    value = value + l2 / 2 * np.sum(theta * theta, dtype=wide)
    directional_derivative = directional_derivative + l2 * np.sum(theta * v, dtype=wide)
    second_order = second_order + l2 * np.sum(v * v, dtype=wide)
    jet = value.item(), directional_derivative.item(), second_order.item()
    if not np.isfinite(jet).all():
        raise FloatingPointError("objective, directional derivative and curvature along v are "
                                 f"{jet}, not finite")
    return jet


def two_jet(network, loss, x, y, v, l2=0.0, batch_size=None, executor=None):
    """Objective, v . gradient and v^T Hessian v, from forward passes only.

    Parameters
    ----------
    network, loss, x, y, l2, batch_size, executor
        As for :func:`gradient`.
    v : (P,) array

    Returns
    -------
    (float, float, float)

    Raises
    ------
    ValueError, TypeError
        As :func:`hessian_vector_product`.
    FloatingPointError
        If one of the three is not finite.
    """
    l2 = check_l2(l2)
    v = check_vector(network, v)
    chunks = Chunks(network, loss, x, y, batch_size, executor)
    sums = chunks.total(_jet_of_chunk, v)
    return _penalised_jet(network, sums, chunks.samples, v, l2)


def _jet_of_chunk(network, loss, x, y, v):
    return jet_sums(evaluated(network, loss, x, y), v)


def sample_gradients(network, loss, x, y, l2=0.0, max_bytes=2**30, batch_size=None, executor=None):
    """Gradient of every sample's own objective, its loss plus (l2/2)|theta|^2.

    Their mean is :func:`gradient`.

    Parameters
    ----------
    network, loss, x, y, l2, batch_size, executor
        As for :func:`gradient`.
    max_bytes : int
        Limit of the array.

    Returns
    -------
    (S, P) array

    Raises
    ------
    MemoryError
        If it needs more than `max_bytes`.
    ValueError, TypeError, FloatingPointError
        As :func:`gradient`.
    """
    l2 = check_l2(l2)
    chunks = Chunks(network, loss, x, y, batch_size, executor)
    shape = chunks.samples, network.size
    require_bytes("the gradients of all samples", shape, network.dtype, max_bytes)
    if chunks.is_whole:
        rows = gradient_rows(network, loss, x, y)
    else:
        rows = chunks.put(gradient_rows, np.empty(shape, dtype=network.dtype))
    if l2:
        rows += l2 * network.theta
    return network.require_finite(rows, "the gradient of a sample")


def gradient_rows(network, loss, x, y):
    """Gradient of every sample's loss, (S, P)."""
    evaluation = evaluated(network, loss, x, y)
    with quiet():
        return network.chain.parameter_gradients_from(evaluation.saved, evaluation.deltas)


def output_jacobian_at(saved, network, outputs):
    """Jacobian of the outputs (S, C, P) from what the layers saved."""
    samples, width = outputs.shape
    jacobian = np.empty((samples, width, network.size), dtype=network.dtype)
    for c in range(width):
        y_bar = np.zeros_like(outputs)
        y_bar[:, c] = 1
        network.chain.flat_parameter_gradients(saved, y_bar, jacobian[:, c])
    return jacobian


def jacobian(network, x, max_bytes=2**30, batch_size=None, executor=None):
    """Jacobian of the outputs with respect to the parameters, (S, C, P).

    Parameters
    ----------
    network, x, batch_size, executor
        As for :func:`gradient`.
    max_bytes : int

    Raises
    ------
    MemoryError
        If it needs more than `max_bytes`.
    ValueError, TypeError
        Not a network, no parameters, wrong shape, empty batch, NaN.
    FloatingPointError
        If outputs or Jacobian are not finite.
    """
    check_network(network)
    x = network.check_input(x)
    shape = len(x), *network.output_shape, network.size
    require_bytes("the Jacobian", shape, network.dtype, max_bytes)
    chunks = Chunks(network, None, x, None, batch_size, executor)
    if chunks.is_whole:
        return _jacobian_rows(network, None, x, None)
    return chunks.put(_jacobian_rows, np.empty(shape, dtype=network.dtype))


def _jacobian_rows(network, loss, x, y):
    outputs, saved = network.forward(x)
    with quiet():
        jacobian = output_jacobian_at(saved, network, outputs)
    return network.require_finite(jacobian, "the Jacobian")
