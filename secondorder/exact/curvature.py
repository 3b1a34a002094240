"""Exact first- and second-order derivatives of the objective: mean loss over the batch plus (l2/2)|theta|^2.

Every function takes a network, a loss, inputs x (S, *input_shape), targets y, and ``l2``. Shapes: P parameters, C outputs.
"""

import numpy as np

from ..checks import check_l2, finite, instance_of, require_bytes
from ..nets import Network


def check_vector(network, v):
    """Return v (P,) in the network's dtype; TypeError or ValueError for another shape, complex or non-finite entries."""
    return finite(network.vector(v), "v")


def check_network(network):
    """TypeError unless `network` is a Network, ValueError if it has no trainable parameters."""
    instance_of(network, Network, "network").require_parameters()


def evaluate(network, loss, x, y):
    """``network.evaluate``, for a network that has parameters."""
    check_network(network)
    return network.evaluate(loss, x, y)


def gradient(network, loss, x, y, l2=0.0):
    """Gradient of the objective, (P,), by back-propagation.

    Parameters
    ----------
    network : Network
    loss : Loss
    x : (S, *input_shape) array
    y : targets in the form that the loss takes: (S, C) numbers, or (S,) integer labels for losses of classes
    l2 : float
        Penalty (l2/2)|theta|^2.

    Raises
    ------
    ValueError, TypeError
        Wrong shapes, empty batch, NaN, labels out of range, negative `l2`, network without parameters.
    FloatingPointError
        Outputs, losses or gradient not finite.
    """
    l2 = check_l2(l2)
    return evaluate(network, loss, x, y).gradient + l2 * network.theta


def hessian_vector_product_at(evaluation, v, l2=0.0):
    """Hessian of the objective times v (P,), at an :class:`~secondorder.nets.Evaluation`.

    One forward R-pass, the loss's Hessian on the output tangent, one backward R-pass (Pearlmutter 1994); no approximation.
    """
    evaluation.require_current()
    chain, saved = evaluation.network.chain, evaluation.saved
    tangents = chain.input_tangents(saved, None, v)
    y_bar_tangent = evaluation.loss_function.hessian_product(evaluation.outputs, evaluation.y, tangents[-1])
    _, theta_bar_tangent = chain.backward_tangent_from(saved, tangents, v, evaluation.deltas, y_bar_tangent)
    return evaluation.network.require_finite(theta_bar_tangent / evaluation.samples + l2 * v, "the Hessian-vector product")


def hessian_vector_product(network, loss, x, y, v, l2=0.0):
    """Exact Hessian of the objective times the vector v (P,): (P,).

    Parameters
    ----------
    network : Network
    loss : Loss
    x : (S, *input_shape) array
    y : targets in the form that the loss takes: (S, C) numbers, or (S,) integer labels for losses of classes
    v : (P,) array
    l2 : float

    Raises
    ------
    ValueError, TypeError
        As :func:`gradient`, and if v has another shape or dtype.
    """
    l2 = check_l2(l2)
    v = check_vector(network, v)
    return hessian_vector_product_at(evaluate(network, loss, x, y), v, l2)


def two_jet_at(evaluation, v, l2=0.0):
    """Value, slope and curvature of the objective along v (P,), at an evaluation; see :func:`two_jet`."""
    evaluation.require_current()
    network, loss, p, y = evaluation.network, evaluation.loss_function, evaluation.outputs, evaluation.y
    p_tangent = network.chain.tangent(evaluation.saved, None, v)
    p_second = network.chain.second_tangent(evaluation.saved, None, None, v)
    first = loss.gradient(p, y)
    wide = np.result_type(p.dtype, np.float64)  # these sums cancel, so they are taken in float64
    slope = np.sum(first * p_tangent, dtype=wide) / evaluation.samples
    bend = np.sum(p_tangent * loss.hessian_product(p, y, p_tangent) + first * p_second, dtype=wide) / evaluation.samples
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
    y : targets in the form that the loss takes: (S, C) numbers, or (S,) integer labels for losses of classes
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
    return two_jet_at(evaluate(network, loss, x, y), v, l2)


def output_jacobian_at(saved, network, outputs):
    """Jacobian of the outputs (S, C, P) from what the layers saved."""
    samples, width = outputs.shape
    jacobian = np.empty((samples, width, network.size), dtype=network.dtype)
    for c in range(width):
        y_bar = np.zeros_like(outputs)
        y_bar[:, c] = 1
        jacobian[:, c] = network.chain.parameter_gradients(saved, y_bar)
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
    require_bytes("the Jacobian", (len(x), *network.output_shape, network.size), network.dtype, max_bytes)
    outputs, saved = network.forward(x)
    return network.require_finite(output_jacobian_at(saved, network, outputs), "the Jacobian")
