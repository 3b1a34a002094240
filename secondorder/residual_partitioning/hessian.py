"""What `bound` lies above: the second-order model without the products of Eq. (4), as a matrix."""

from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ..checks import check_l2, require_bytes
from ..exact.curvature import evaluate
from ..exact.dense import gauss_newton
from ..nets import Activation, Chain, Layer, Linear, Reshape, Skip
from ..rules import nearest_class
from .rule import rules

STRAIGHT = (Linear, Reshape)  # they bend in the input and the parameters together only


def bounded_hessian(network, loss, x, y, l2=0.0, max_bytes=2**30):
    """Hessian of the quadratic that :func:`bound` bounds with ``cross=False``, (P, P).

    Gauss-Newton plus, for every unit of every activation layer, gradient times second derivative of
    the activation times the outer product of the unit's Jacobian row with itself; for a layer of
    your own, gradient times its second derivatives in the input and in its parameters. The true
    Hessian has the products of changes of weights and of activations in addition, which
    [residual-partitioning] Eq. (4) drops.

    Parameters
    ----------
    network : Network
        Of layers that have a rule.
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
        A layer that has no rule, named.
    """
    l2 = check_l2(l2)
    evaluation = evaluate(network, loss, x, y)
    for layer in network.chain.sublayers():
        nearest_class(layer, rules.registry, "bounded_hessian")
    H = gauss_newton(network, loss, x, y, l2=l2, max_bytes=max_bytes)
    at = network.chain, evaluation.saved, evaluation.deltas, None
    places = list(curved_places(*at, None))
    rows = [0, *accumulate(place.saved.input.size for place in places)]
    if not places:
        return H
    require_bytes("the Jacobian of all units", (rows[-1], network.size), network.dtype, max_bytes)
    J = np.empty((rows[-1], network.size), dtype=network.dtype)
    for k in range(network.size):
        direction = np.zeros(network.size, dtype=network.dtype)
        direction[k] = 1
        J[:, k] = np.concatenate([place.tangent.ravel() for place in curved_places(*at, direction)])
    for place, start, stop in zip(places, rows[:-1], rows[1:]):
        H += input_bends(place, J[start:stop]) / evaluation.samples
        H[place.where, place.where] += parameter_bends(place) / evaluation.samples
    return H


class Place(NamedTuple):
    """A layer that may bend: what it saved, the gradient in its output, the tangent of its input.

    `where` says where its parameters stand in theta.
    """

    layer: Layer
    saved: tuple
    bar: np.ndarray
    tangent: np.ndarray
    where: slice


def curved_places(chain, saved, bars, x_tangent, theta_tangent, start=0):
    """All layers that may bend, nested ones too, one :class:`Place` after the other."""
    tangents = chain.input_tangents(saved, x_tangent, theta_tangent)
    for layer, kept, bar, tangent, where in zip(chain.layers, saved, bars, tangents, chain.slices):
        if isinstance(layer, (Chain, Skip)):
            inner, inside = (layer, kept) if isinstance(layer, Chain) else (layer.inner, kept.inner)
            piece = None if theta_tangent is None else theta_tangent[where]
            bars_inside = inner.output_gradients(inside, bar)
            yield from curved_places(inner, inside, bars_inside, tangent, piece,
                                     start + where.start)
        elif nearest_class(layer, rules.registry, "bounded_hessian") not in STRAIGHT:
            tangent = np.zeros_like(kept.input) if tangent is None else tangent
            place = slice(start + where.start, start + where.stop)
            yield Place(layer, kept, bar, tangent, place)


def input_bends(place, J):
    """Sum over samples of J_s^T <bar_s, second derivatives in the input> J_s, (P, P)."""
    layer, saved, bar = place.layer, place.saved, place.bar
    if nearest_class(layer, rules.registry, "bounded_hessian") is Activation:
        return J.T @ ((bar * saved.curvature).reshape(-1, 1) * J)
    samples, outputs = len(bar), bar[0].size
    bends = layer.input_hessian(saved, bar, np.zeros((samples, outputs, outputs), bar.dtype))
    rows_of = J.reshape(samples, -1, J.shape[1])
    return sum(rows.T @ bend @ rows for rows, bend in zip(rows_of, bends))


def parameter_bends(place):
    """Sum over samples of <bar_s, second derivatives in the layer's parameters>, (p, p)."""
    layer, saved, bar = place.layer, place.saved, place.bar
    rows = [layer.backward_tangent(saved, None, e, bar, np.zeros_like(bar))[1]
            for e in np.eye(layer.size, dtype=bar.dtype)]
    return np.array(rows, dtype=bar.dtype).reshape(layer.size, layer.size)
