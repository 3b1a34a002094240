"""3. What is bounded: L tilde, the second-order model without the products that (4) leaves out."""

import numpy as np

from ...checks import check_l2, require_bytes
from ...exact.curvature import evaluate
from ...nets import Chain, Skip
from ...nets.rules import nearest_class
from .section_7_algorithm_1 import up


def bounded_hessian(network, loss, x, y, l2=0.0, max_bytes=2**30):
    """Hessian of L tilde, the quadratic that :func:`bound` bounds with ``cross=False``, (P, P).

    It is the Gauss-Newton matrix and, for every unit of every activation, its Y_dot_sj
    curvature_sj times the outer product of its own Jacobian row with itself. A layer of yours adds
    its second derivatives in its inputs and in its parameters. The true Hessian also has the
    products of changes of weights and of units, which (4) leaves out.

    Parameters
    ----------
    network : Network
        Of layers that have a rule.
    loss, x, y, l2
        As for :func:`bound`.
    max_bytes : int
        Refuse, with `MemoryError`, a larger matrix.

    Raises
    ------
    TypeError
        A layer that has no rule, named.
    FloatingPointError
        If the matrix is not finite; the layer is named.
    """
    l2, at = check_l2(l2), evaluate(network, loss, x, y)
    for layer in network.chain.sublayers():
        nearest_class(layer, up.registry, "bounded_hessian")
    require_bytes("the matrix", (network.size, network.size), network.dtype, max_bytes)
    H = np.eye(network.size, dtype=network.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        for row in H:  # which becomes the product with H
            row[...] = bounded_product(at, row) + l2 * row
    return network.require_finite(H, "the bounded Hessian")


def bounded_product(evaluation, v):
    """`bounded_hessian` without penalty times v (P,), by the passes of a Hessian-vector product."""
    chain, saved, loss = evaluation.network.chain, evaluation.saved, evaluation.loss_function
    p_tangent, _ = chain.tangents(saved, None, v)
    moved = loss.hessian_product(evaluation.outputs, evaluation.y, p_tangent)
    _, product = without_products(chain, saved, None, v, evaluation.deltas[-1], moved)
    return product / evaluation.samples


def without_products(layer, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
    """The way back of a product; but x_bar does not see the parameters move, nor theta_bar x."""
    if isinstance(layer, Skip):
        x_part, theta_part = without_products(layer.inner, saved.inner, x_tangent, theta_tangent,
                                              y_bar, y_bar_tangent)
        return y_bar_tangent + x_part, theta_part
    if isinstance(layer, Chain):
        _, moves = layer.tangents(saved, x_tangent, theta_tangent)
        bars, parts = layer.output_gradients(saved, y_bar), []
        for inner, own_saved, move, where, bar in reversed(
                list(zip(layer.parts, saved.held, moves, layer.slices, bars))):
            y_bar_tangent, own = without_products(inner, own_saved, move.x_tangent,
                                                  theta_tangent[where], bar, y_bar_tangent)
            parts.append(own)
        return y_bar_tangent, np.concatenate(parts[::-1])
    theta_part = np.empty_like(theta_tangent)
    if theta_part.size:
        _, move = layer.flat_tangent(saved, None, theta_tangent)
        layer.flat_backward_tangent(saved, move, y_bar, y_bar_tangent, theta_part, needed=False)
    if x_tangent is None:
        return layer.input_gradient(saved, y_bar_tangent), theta_part
    _, move = layer.flat_tangent(saved, x_tangent, None)
    x_part = layer.flat_backward_tangent(saved, move, y_bar, y_bar_tangent, None, needed=True)
    return x_part, theta_part
