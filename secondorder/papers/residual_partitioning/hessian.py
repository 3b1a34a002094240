"""What `bound` lies above: the second-order model without the products of Eq. (4), as a matrix."""

import numpy as np

from ...checks import check_l2, require_bytes
from ...exact.curvature import evaluate
from ...nets import Chain, Recurrent, Skip
from ...nets.layers.flat_vectors import flat
from ...nets.rules import nearest_class
from .rules import rules


def bounded_hessian(network, loss, x, y, l2=0.0, max_bytes=2**30):
    """Hessian of the quadratic that :func:`bound` bounds with ``cross=False``, (P, P).

    It is the Gauss-Newton matrix plus a term for every unit of every activation layer. The term is
    gradient times second derivative of the activation, times the outer product of the unit's
    Jacobian row with itself. Your layer adds gradient times its second derivatives in the input and
    in its parameters. The true Hessian also has the products of changes of weights and of
    activations, which Eq. (4) drops. The matrix comes row by row, by Pearlmutter's two passes
    without these products.

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
    require_bytes("the matrix", (network.size, network.size), network.dtype, max_bytes)
    H = np.eye(network.size, dtype=network.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        for row in H:  # which becomes the product with H
            row[...] = bounded_hessian_product(evaluation, row) + l2 * row
    return network.require_finite(H, "the bounded Hessian")


def bounded_hessian_product(evaluation, v):
    """:func:`bounded_hessian` times a vector (P,), by one tangent pass and one backward pass."""
    chain, loss = evaluation.network.chain, evaluation.loss_function
    y_bar_tangent = loss.hessian_product(evaluation.outputs, evaluation.y,
                                         chain.tangent(evaluation.saved, None, v))
    _, total = backward_without_products(chain, evaluation.saved, None, v, evaluation.deltas[-1],
                                         y_bar_tangent)
    return total / evaluation.samples


def backward_without_products(layer, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
    """`layer.backward_tangent` without products of a change of x and one of the parameters.

    x_bar then does not see the parameters move, nor theta_bar x. Layers made of layers, and the
    steps of a recurrence, are taken apart, as parameters inside change what comes after them there.
    """
    if isinstance(layer, Skip):
        inside, theta_part = backward_without_products(layer.inner, saved.inner, x_tangent,
                                                       theta_tangent, y_bar, y_bar_tangent)
        return y_bar_tangent + inside, theta_part
    if isinstance(layer, Chain):
        tangents, parts = layer.input_tangents(saved, x_tangent, theta_tangent), []
        bars = layer.output_gradients(saved, y_bar)
        for inner, own_saved, tangent, where, bar in reversed(
                list(zip(layer.layers, saved, tangents, layer.slices, bars))):
            y_bar_tangent, part = backward_without_products(
                inner, own_saved, tangent, theta_tangent[where], bar, y_bar_tangent)
            parts.append(part)
        return y_bar_tangent, np.concatenate(parts[::-1])
    if isinstance(layer, Recurrent):
        return _recurrence_without_products(layer, saved, x_tangent, theta_tangent, y_bar,
                                            y_bar_tangent)
    x_part, _ = layer.backward_tangent(saved, x_tangent, None, y_bar, y_bar_tangent)
    _, theta_part = layer.backward_tangent(saved, None, theta_tangent, y_bar, y_bar_tangent)
    return x_part, theta_part


def _recurrence_without_products(layer, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
    """From t = T down, a_bar_tangent_t = A'(a_t) v_bar_tangent_t + A''(a_t) a_tangent_t v_bar_t and
    v_bar_tangent_(t-1) = W^T a_bar_tangent_t; the parameters' part is the sum of a_bar_tangent_t
    v_(t-1)^T, and of the same with x_t and with 1.
    """
    a_tangents, _ = layer.tangents(saved, x_tangent, theta_tangent)
    a_bar_tangents, v_bar, v_bar_tangent = [], y_bar, y_bar_tangent
    for slope, curvature, a_tangent in zip(*map(reversed, (saved.slopes, saved.curvatures,
                                                           a_tangents))):
        a_bar_tangents.insert(0, slope * v_bar_tangent + curvature * a_tangent * v_bar)
        v_bar = (slope * v_bar) @ layer.weight_hh
        v_bar_tangent = a_bar_tangents[0] @ layer.weight_hh
    if layer.has_input:
        v_bar_tangent = np.stack(a_bar_tangents, axis=1) @ layer.weight_ih
    return v_bar_tangent, flat(layer, *layer.summed(a_bar_tangents, saved.states[:-1],
                                                           saved.input))
