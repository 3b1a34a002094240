"""Exact first- and second-order derivatives of the objective, mean loss plus (l2/2)|theta|^2.

Every function takes a network, a loss, inputs x (S, *input_shape), targets y, and ``l2``. Shapes:
P parameters, C outputs.
"""

import numpy as np

from ..checks import check_l2, finite, instance_of, own_array, require_bytes
from ..nets import Network, Workspace
from ..nets.workspace import call, fresh


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


def evaluate_once(network, loss, x, y):
    """As `evaluate`, for a caller who alone sees it and drops it: nothing is copied or compared."""
    check_network(network)
    return network.evaluate(loss, x, y, Workspace())


def gradient(network, loss, x, y, l2=0.0):
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

    Raises
    ------
    ValueError, TypeError
        Wrong shapes, empty batch, NaN, labels out of range, negative `l2`, network without
        parameters.
    FloatingPointError
        Outputs, losses or gradient not finite.
    """
    l2 = check_l2(l2)
    evaluation = evaluate_once(network, loss, x, y)
    return _mean(evaluation, evaluation.gradient_sum, network.theta, l2, "the gradient")


def _mean(evaluation, total, penalised, l2, what, new=fresh):
    """total / samples + l2 * penalised, in the array `total` (P,), which nobody else has seen."""
    with np.errstate(over="ignore", invalid="ignore"):
        total *= total.dtype.type(1) / evaluation.samples
        if l2:
            total += np.multiply(penalised, l2, out=new("l2", total.shape, total.dtype))
    return evaluation.network.require_finite(total, what)


def hessian_vector_product_at(evaluation, v, l2=0.0, new=fresh, out=None):
    """Hessian of the objective times v (P,), at an :class:`~secondorder.nets.Evaluation`.

    One forward R-pass, the loss's Hessian on the output tangent, one backward R-pass (Pearlmutter
    1994); no approximation. `new` makes the arrays on the way; the result is `out`, or an array of
    its own.
    """
    evaluation.require_current()
    chain, saved, deltas = evaluation.network.chain, evaluation.saved, evaluation.deltas
    product = np.empty_like(v) if out is None else out
    with np.errstate(over="ignore", invalid="ignore"):
        tangents = chain.input_tangents(saved, None, v, new)
        loss, outputs, y = evaluation.loss_function, evaluation.outputs, evaluation.y
        y_bar_tangent = call(loss.hessian_product, outputs, y, tangents[-1], new=new)
        _, found = chain.backward_tangent_from(saved, tangents, v, deltas, y_bar_tangent,
                                               new.lending(theta_bar=product), needs_input=False)
    _keep(product, found)
    return _mean(evaluation, product, v, l2, "the Hessian-vector product", new)


def gauss_newton_product_at(evaluation, v, middle, l2=0.0, new=fresh, out=None):
    """(mean of J^T M J + l2 I) v, with ``middle(t)`` = M t for tangents t (S, C) of the outputs.

    One forward R-pass and one backward pass. `new` makes the arrays on the way; the result is
    `out`, or an array of its own.
    """
    evaluation.require_current()
    chain, saved = evaluation.network.chain, evaluation.saved
    product = np.empty_like(v) if out is None else out
    with np.errstate(over="ignore", invalid="ignore"):
        y_bar = middle(chain.tangent(saved, None, v, new))
        found = chain.parameter_gradient(saved, y_bar, new.lending(theta_bar=product))
    _keep(product, found)
    return _mean(evaluation, product, v, l2, "the product", new)


def _keep(own, found):
    """Have in `own` what was found there, or elsewhere because of another dtype."""
    if found is not own:
        own[...] = found


def hessian_vector_product(network, loss, x, y, v, l2=0.0):
    """Exact Hessian of the objective times the vector v (P,): (P,).

    Parameters
    ----------
    network : Network
    loss : Loss
    x : (S, *input_shape) array
    y : targets in the form that the loss takes
        (S, C) numbers, or (S,) integer labels for losses of classes.
    v : (P,) array
    l2 : float

    Raises
    ------
    ValueError, TypeError
        As :func:`gradient`, and if v has another shape or dtype.
    """
    l2 = check_l2(l2)
    v = check_vector(network, v)
    return hessian_vector_product_at(evaluate_once(network, loss, x, y), v, l2)


def two_jet_at(evaluation, v, l2=0.0):
    """Value, slope and curvature along v (P,), at an evaluation; see :func:`two_jet`."""
    evaluation.require_current()
    network, loss = evaluation.network, evaluation.loss_function
    p, y = evaluation.outputs, evaluation.y
    p_tangent = network.chain.tangent(evaluation.saved, None, v)
    p_second = network.chain.second_tangent(evaluation.saved, None, None, v)
    first = loss.gradient(p, y)
    wide = np.result_type(p.dtype, np.float64)  # these sums cancel, so they are taken in float64
    slope = np.sum(first * p_tangent, dtype=wide) / evaluation.samples
    bends = p_tangent * loss.hessian_product(p, y, p_tangent) + first * p_second
    bend = np.sum(bends, dtype=wide) / evaluation.samples
    theta = network.theta
    value = evaluation.loss + l2 / 2 * np.sum(theta * theta, dtype=wide)
    slope = slope + l2 * np.sum(theta * v, dtype=wide)
    jet = value.item(), slope.item(), (bend + l2 * np.sum(v * v, dtype=wide)).item()
    if not np.isfinite(jet).all():
        raise FloatingPointError(f"objective, slope and curvature along v are {jet}, not finite")
    return jet


def two_jet(network, loss, x, y, v, l2=0.0):
    """Objective, v . gradient and v^T Hessian v, from forward passes only.

    Parameters
    ----------
    network : Network
    loss : Loss
    x : (S, *input_shape) array
    y : targets in the form that the loss takes
        (S, C) numbers, or (S,) integer labels for losses of classes.
    v : (P,) array
    l2 : float

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
    return two_jet_at(evaluate_once(network, loss, x, y), v, l2)


def sample_gradients(network, loss, x, y, l2=0.0, out=None, max_bytes=2**30):
    """Gradient of every sample's own objective, its loss plus (l2/2)|theta|^2.

    Their mean is :func:`gradient`.

    Parameters
    ----------
    network : Network
    loss : Loss
    x : (S, *input_shape) array
    y : targets, as for :func:`gradient`
    l2 : float
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
    evaluation = evaluate_once(network, loss, x, y)
    shape = evaluation.samples, network.size
    if out is None:
        require_bytes("the gradients of all samples", shape, network.dtype, max_bytes)
        out = np.empty(shape, dtype=network.dtype)
    else:
        out = own_array(out, shape, network.dtype, "out")
    rows = network.chain.parameter_gradients_from(
        evaluation.saved, evaluation.deltas, fresh.lending(theta_bars=out))
    _keep(out, rows)
    if l2:
        out += l2 * network.theta
    return network.require_finite(out, "the gradient of a sample")


def output_jacobian_at(saved, network, outputs):
    """Jacobian of the outputs (S, C, P) from what the layers saved."""
    samples, width = outputs.shape
    jacobian = np.empty((samples, width, network.size), dtype=network.dtype)
    for c in range(width):
        y_bar = np.zeros_like(outputs)
        y_bar[:, c] = 1
        rows = jacobian[:, c]
        _keep(rows, network.chain.parameter_gradients(saved, y_bar, fresh.lending(theta_bars=rows)))
    return jacobian


def jacobian(network, x, max_bytes=2**30):
    """Jacobian of the outputs with respect to the parameters, (S, C, P).

    Parameters
    ----------
    network : Network
    x : (S, *input_shape) array
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
    outputs, saved = network.forward(x)
    return network.require_finite(output_jacobian_at(saved, network, outputs), "the Jacobian")
