"""Exact first- and second-order derivatives of the objective, mean loss plus (l2/2)|theta|^2.

Every function takes a network, a loss, inputs x (S, *input_shape), targets y, and ``l2``. Shapes:
P parameters, C outputs. With ``batch_size`` the samples are worked through in chunks, in the memory
of one, and by an ``executor`` where one is given (see :mod:`secondorder.exact.chunks`).
"""

import contextlib

import numpy as np

from ..checks import check_l2, finite, instance_of, own_array, plain_array, require_bytes
from ..compiled.arrays import fresh
from ..nets import Network
from ..nets.evaluation import run
from .chunks import Chunks
from .columns import hessian_rows


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


def product_sum(network, loss, x, y, rows_of, rows, *others):
    """What ``rows_of(evaluation, rows, *others)`` gives, (K, P): a task for :class:`Chunks`."""
    with evaluated(network, loss, x, y) as evaluation:
        return rows_of(evaluation, rows, *others)


def outputs_of(network, loss, x, y):
    """The network's outputs (S, C): a task for :class:`Chunks`."""
    return network.forward(x)[0]


@contextlib.contextmanager
def evaluated(network, loss, x, y):
    """As `evaluate`, within a ``with``: its arrays are lent, and used again after that."""
    check_network(network)
    x = plain_array(x, "x")
    with network.workspaces.lend(len(x) if x.ndim else 0) as workspace:
        yield network.evaluate(loss, x, y, workspace)


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
    RuntimeError
        The executor failed.
    """
    l2 = check_l2(l2)
    if batch_size is None and executor is None:
        with evaluated(network, loss, x, y) as evaluation:
            total = evaluation.own_gradient_sum()
            return _mean(evaluation, total, network.theta, l2, "the gradient")
    chunks = Chunks(network, loss, x, y, batch_size, executor)
    total = chunks.total(gradient_sum, shape=(network.size,))
    return mean_of(network, total, chunks.samples, network.theta, l2, "the gradient")


def gradient_sum(network, loss, x, y):
    """Gradient of the sum of the losses, (P,)."""
    with evaluated(network, loss, x, y) as evaluation:
        return evaluation.own_gradient_sum()


def mean_of(network, total, samples, penalised, l2, what, new=fresh):
    """total / samples + l2 * penalised, in the array `total` (P,) of the caller's sum."""
    with np.errstate(over="ignore", invalid="ignore"):
        total *= total.dtype.type(1) / samples
        if l2:
            total += np.multiply(penalised, l2, out=new("l2", total.shape, total.dtype))
    return network.require_finite(total, what)


def _mean(evaluation, total, penalised, l2, what, new=fresh):
    """`mean_of` for what an evaluation gave; in one pass where its passes are compiled."""
    if evaluation.work is not None and total.flags.carray and penalised.flags.carray:
        finite = evaluation.work.mean(total, l2, penalised)
        return total if finite else evaluation.network.require_finite(total, what)
    return mean_of(evaluation.network, total, evaluation.samples, penalised, l2, what, new)


def hessian_vector_product_at(evaluation, v, l2=0.0, workspace=None, out=None):
    """Hessian of the objective times v (P,), at an :class:`~secondorder.nets.Evaluation`.

    One forward R-pass, the loss's Hessian on the output tangent, one backward R-pass (Pearlmutter
    1994); no approximation. What is made on the way goes to `workspace`; the result is `out`, or
    an array of its own.
    """
    evaluation.require_current()
    product = np.empty_like(v) if out is None else out
    with _room(evaluation, workspace) as room:
        if evaluation.work is not None:
            evaluation.write_hessian_product(v, product, room)
        else:
            chain, saved = evaluation.network.chain, evaluation.saved
            tangents = chain.input_tangents(saved, None, v)
            y_bar_tangent = _curved(evaluation, tangents[-1])
            product[...] = chain.backward_tangent_from(saved, tangents, v, evaluation.deltas,
                                                       y_bar_tangent)[1]
        return _mean(evaluation, product, v, l2, "the Hessian-vector product", room)


def gauss_newton_product_at(evaluation, v, middle=None, l2=0.0, workspace=None, out=None):
    """(mean of J^T M J + l2 I) v, with ``middle(t)`` = M t for tangents t (S, C) of the outputs;
    the loss's Hessian without `middle`.

    One forward R-pass and one backward pass. What is made on the way goes to `workspace`; the
    result is `out`, or an array of its own.
    """
    evaluation.require_current()
    product = np.empty_like(v) if out is None else out
    with _room(evaluation, workspace) as room:
        if evaluation.work is not None:
            evaluation.write_gauss_newton_product(v, middle, product, room)
        else:
            chain, saved = evaluation.network.chain, evaluation.saved
            t = chain.tangent(saved, None, v)
            y_bar = _curved(evaluation, t) if middle is None else middle(t)
            product[...] = chain.parameter_gradient(saved, y_bar)
        return _mean(evaluation, product, v, l2, "the product", room)


@contextlib.contextmanager
def _room(evaluation, workspace):
    """The workspace, or one that is lent."""
    network, samples = evaluation.network, evaluation.samples
    lent = network.workspaces.lend(samples) if workspace is None \
        else contextlib.nullcontext(workspace)
    with lent as room, np.errstate(over="ignore", invalid="ignore"):
        yield room


def _curved(evaluation, t):
    """The Hessian of the loss times a tangent t (S, C) of the outputs."""
    return evaluation.loss_function.hessian_product(evaluation.outputs, evaluation.y, t)


def hessian_vector_product(network, loss, x, y, v, l2=0.0, batch_size=None, executor=None):
    """Exact Hessian of the objective times the vector v (P,): (P,).

    Parameters
    ----------
    network, loss, x, y, l2, batch_size, executor
        As for :func:`gradient`.
    v : (P,) array

    Raises
    ------
    ValueError, TypeError, RuntimeError
        As :func:`gradient`, and if v has another shape or dtype.
    """
    l2 = check_l2(l2)
    v = check_vector(network, v)
    if batch_size is None and executor is None:
        with evaluated(network, loss, x, y) as evaluation:
            return hessian_vector_product_at(evaluation, v, l2)
    chunks = Chunks(network, loss, x, y, batch_size, executor)
    total = chunks.total(product_sum, hessian_rows, v[None], shape=(1, v.size))[0]
    return mean_of(network, total, chunks.samples, v, l2, "the Hessian-vector product")


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
    p_tangent = network.chain.tangent(evaluation.saved, None, v)
    p_second = network.chain.second_tangent(evaluation.saved, None, None, v)
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
    ValueError, TypeError, RuntimeError
        As :func:`hessian_vector_product`.
    FloatingPointError
        If one of the three is not finite.
    """
    l2 = check_l2(l2)
    v = check_vector(network, v)
    chunks = Chunks(network, loss, x, y, batch_size, executor)
    sums = chunks.total(_jet_of_chunk, v, shape=(3,), dtype=_wide(network))
    return _penalised_jet(network, sums, chunks.samples, v, l2)


def _jet_of_chunk(network, loss, x, y, v):
    with evaluated(network, loss, x, y) as evaluation:
        return jet_sums(evaluation, v)


def sample_gradients(network, loss, x, y, l2=0.0, out=None, max_bytes=2**30, batch_size=None,
                     executor=None):
    """Gradient of every sample's own objective, its loss plus (l2/2)|theta|^2.

    Their mean is :func:`gradient`.

    Parameters
    ----------
    network, loss, x, y, l2, batch_size, executor
        As for :func:`gradient`.
    out : (S, P) array, optional
        Where the result goes, in the network's dtype. To write so many numbers into an array that
        is there already can take half the time of making a new one.
    max_bytes : int
        Limit of a new array.

    Returns
    -------
    (S, P) array

    Raises
    ------
    MemoryError
        If a new array would need more than `max_bytes`.
    ValueError, TypeError, FloatingPointError
        As :func:`gradient`, and for an `out` of another shape or dtype.
    """
    l2 = check_l2(l2)
    chunks = Chunks(network, loss, x, y, batch_size, executor)
    if chunks.is_whole:
        with evaluated(network, loss, x, y) as evaluation:
            out = _rows_for(evaluation.samples, network, out, max_bytes)
            finite = evaluation.write_sample_gradients(out)
    else:
        out = chunks.put(gradient_rows, _rows_for(chunks.samples, network, out, max_bytes))
        finite = False
    if l2:
        out += l2 * network.theta
        finite = False
    return out if finite else network.require_finite(out, "the gradient of a sample")


def _rows_for(samples, network, out, max_bytes):
    """`out`, or a new array, (S, P)."""
    shape = samples, network.size
    if out is not None:
        return own_array(out, shape, network.dtype, "out")
    require_bytes("the gradients of all samples", shape, network.dtype, max_bytes)
    return np.empty(shape, dtype=network.dtype)


def gradient_rows(network, loss, x, y):
    """Gradient of every sample's loss, (S, P)."""
    with evaluated(network, loss, x, y) as evaluation:
        out = np.empty((evaluation.samples, network.size), dtype=network.dtype)
        evaluation.write_sample_gradients(out)
        return out


def output_jacobian_at(saved, network, outputs):
    """Jacobian of the outputs (S, C, P) from what the layers saved."""
    samples, width = outputs.shape
    jacobian = np.empty((samples, width, network.size), dtype=network.dtype)
    for c in range(width):
        y_bar = np.zeros_like(outputs)
        y_bar[:, c] = 1
        jacobian[:, c] = network.chain.parameter_gradients(saved, y_bar)
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
    work = run(network, x)
    if work is None:
        outputs, saved = network.forward(x)
        jacobian = output_jacobian_at(saved, network, outputs)
    else:
        jacobian = np.empty((*work.outputs.shape, network.size), network.dtype)
        work.jacobian(network.all_parameters, jacobian)
    return network.require_finite(jacobian, "the Jacobian")
