"""What `bound` lies above: the second-order model without the products that Eq. (4) leaves out, as a matrix."""

import numpy as np

from ..checks import check_l2, require_bytes
from ..exact.curvature import evaluate
from ..exact.dense import gauss_newton
from ..nets import Activation, Chain, Linear, Reshape, Skip
from ..rules import nearest_class

KNOWN = (Activation, Chain, Linear, Reshape, Skip)  # their curvature stands in `curved_units`, or is none


def bounded_hessian(network, loss, x, y, l2=0.0, max_bytes=2**30):
    """Hessian of the quadratic that :func:`bound` bounds with ``cross=False``, (P, P).

    Gauss-Newton plus, for every unit of every activation layer, gradient times second derivative of the activation
    times the outer product of the unit's Jacobian row with itself. The true Hessian has the products of changes of
    weights and of activations in addition, which [residual-partitioning] Eq. (4) drops.

    Parameters
    ----------
    network : Network
    loss : Loss
    x : (S, *input_shape) array
    y : targets of the loss
    l2 : float
    max_bytes : int
        Refuse, with `MemoryError`, arrays larger than this.

    Returns
    -------
    (P, P) array

    Raises
    ------
    TypeError
        A layer whose curvature is not known here, named.
    """
    l2 = check_l2(l2)
    evaluation = evaluate(network, loss, x, y)
    for layer in network.chain.sublayers():
        nearest_class(layer, KNOWN, "bounded_hessian")
    H = gauss_newton(network, loss, x, y, l2=l2, max_bytes=max_bytes)
    at = network.chain, evaluation.saved, evaluation.deltas, None
    bends = np.concatenate([b.ravel() for b, _ in curved_units(*at, None)] or [np.empty(0)])
    if bends.size == 0:
        return H
    require_bytes("the Jacobian of all units", (bends.size, network.size), network.dtype, max_bytes)
    J = np.empty((bends.size, network.size), dtype=network.dtype)
    for k in range(network.size):
        direction = np.zeros(network.size, dtype=network.dtype)
        direction[k] = 1
        J[:, k] = np.concatenate([t.ravel() for _, t in curved_units(*at, direction)])
    return H + J.T @ (bends[:, None] * J) / evaluation.samples


def curved_units(chain, saved, bars, x_tangent, theta_tangent):
    """For every activation layer, nested ones too: gradient times second derivative, and the tangent of its input."""
    found = []
    tangents = chain.input_tangents(saved, x_tangent, theta_tangent)
    pieces = [None if theta_tangent is None else theta_tangent[where] for where in chain.slices]
    for layer, kept, bar, tangent, piece in zip(chain.layers, saved, bars, tangents, pieces):
        if isinstance(layer, Activation):
            found.append((bar * kept.curvature, np.zeros_like(kept.input) if tangent is None else tangent))
        elif isinstance(layer, (Chain, Skip)):
            inner, inside = (layer, kept) if isinstance(layer, Chain) else (layer.inner, kept.inner)
            found.extend(curved_units(inner, inside, inner.output_gradients(inside, bar), tangent, piece))
    return found
