"""The two numbers of a step length, g . grad F and g^T H g, at about the cost of one gradient;
(38)-(39), corrected.

From the literal (39) to one tangent. Let P^k be the piece of g in layer k and v' the derivative of
v along g. Then

    sum over r < k of eta^(k-1,r) P^r v^(r-1) = v'^(k-1)    (a layer's share of v' has its own eta),
    (U eta^(n,k))^T f_p = delta^k                           (the back-propagated gradient),

so that the last line of (39) is 2 sum_k <delta^k, P^k v'^(k-1)>, the output's share in the second
one 2 <f_p, O v'^(n)>, and all terms with f_pp together are p'^T f_pp p' with p' the derivative of
the output. A curved activation adds <df/dv A''(z), z'^2>. What remains of a layer is its gradient
times its second derivative along g: `rules` has both for each class of layers.
"""

import numpy as np

from ...checks import check_l2, one_of
from ...exact.curvature import check_vector, evaluate
from .joint_rates import block_products
from .options import FORMS
from .quantities import objective_derivatives
from .rules import Rule, hidden_layers, inner, rule_along


def directional_curvature(network, loss, x, y, direction, form="exact", l2=0.0):
    """Eq. (38)-(39): direction . gradient and direction^T H direction of the objective.

    Parameters
    ----------
    network : Network
        Of any layers; ``form="printed"`` takes chains of `Linear` and `Activation` layers.
    loss : Loss
    x : (S, *input_shape) array
    y : targets of the loss
    direction : (P,) array
    form : {"exact", "printed"}
        ``"printed"``: Eq. (39) as it stands, which lacks the terms with f_pp between different
        hidden layers (and knows no activation with a second derivative). The first number is the
        same.
    l2 : float
        Penalty (l2/2)|theta|^2.

    Returns
    -------
    (float, float)

    Raises
    ------
    ValueError, TypeError
        Bad arguments; a layer that ``"printed"`` does not know.
    FloatingPointError
        If one of the numbers is not finite.
    """
    one_of(FORMS, form, "form")
    l2, direction = check_l2(l2), check_vector(network, direction, "direction")
    numbers = directional_curvature_at(evaluate(network, loss, x, y), direction, form, l2)
    if not np.isfinite(numbers).all():
        raise FloatingPointError("directional derivative and curvature along the direction are "
                                 f"{numbers}, not finite")
    return numbers


def directional_curvature_at(evaluation, direction, form="exact", l2=0.0):
    """Eq. (38)-(39): g^T grad F and g^T H g at an evaluation, as :func:`directional_curvature`.

    The numbers may be infinite or NaN.
    """
    evaluation.require_current()
    a, h = (curvature_exact(evaluation, direction) if form == "exact"
            else curvature_as_printed(evaluation, direction))
    if l2:
        a += l2 * inner(evaluation.network.theta, direction)
        h += l2 * inner(direction, direction)
    return a, h


def curvature_exact(evaluation, direction):
    """Eq. (38)-(39), corrected: by one tangent and the gradients that the evaluation holds."""
    loss, p, y = evaluation.loss_function, evaluation.outputs, evaluation.y
    tangent, second_order = along(evaluation, direction)
    h = second_order + inner(tangent, loss.hessian_product(p, y, tangent))
    return inner(evaluation.deltas[-1], tangent) / evaluation.samples, h / evaluation.samples


def along(evaluation, direction):
    """The tangent of the outputs along the direction, and the sum over layers of <gradient in their
    output, its second derivative>.
    """
    chain, second_order, tangent = evaluation.network.chain, 0.0, None
    held, pieces = evaluation.saved.held, chain.split(direction)
    for i, (layer, piece, bar) in enumerate(zip(chain.layers, pieces, evaluation.deltas)):
        if tangent is not None or piece is not None:
            rule = rule_along(layer)
            at = (chain.parts[i], held[i]) if rule is Rule else (layer, evaluation.saved[i])
            tangent, own = rule.along(*at, tangent, piece, bar)
            second_order += own
    return tangent, second_order


def curvature_as_printed(evaluation, direction):
    """Eq. (38), and (39) as printed: its third line has no terms between different hidden layers.

    It knows no second derivative of an activation.
    """
    slopes, terms = block_products(evaluation, direction)
    hidden = terms.outputs[:-1, :-1]
    return slopes.sum().item(), (terms.outputs.sum() - hidden.sum() + np.trace(hidden)
                                 + terms.weights.sum()).item()


def by_explicit_eta(evaluation, direction):
    """Eq. (39), corrected: g^T H g as it reads, with every eta formed, for A'' = 0.

    Its third line runs over all pairs of layers. eta^(k,r) of all samples is formed layer by layer,
    used and dropped: S d_k d_r numbers, and S d_k d_k-1 d_r products for each of the n (n - 1) / 2
    pairs. It is here to be compared with.
    """
    layers, places = hidden_layers(evaluation)
    f_pp = objective_derivatives(evaluation, places[-1])[1]
    h, outputs = 0.0, 0.0
    pieces = [layer.linear.split(direction[evaluation.network.slices[place]]) if layer.linear.size
              else None for layer, place in zip(layers, places)]
    for r, (layer, piece) in enumerate(zip(layers, pieces)):
        if piece is None:
            continue
        moved = layer.input @ piece[0].T + (piece[1] if len(piece) > 1 else 0)
        if r < len(layers) - 1:
            eta = _diagonals(layer)  # eta^(r,r)
            for k in range(r + 1, len(layers)):
                tangent = (eta @ moved[:, :, None])[:, :, 0]
                if pieces[k] is not None:
                    h += 2 * inner(evaluation.deltas[places[k]], tangent @ pieces[k][0].T)
                eta = layers[k].linear.weight @ eta
                if k < len(layers) - 1 and layers[k].slope is not None:
                    eta = layers[k].slope[:, :, None] * eta
            moved = (eta @ moved[:, :, None])[:, :, 0]
        outputs = outputs + moved
    h += inner(outputs, (f_pp @ outputs[:, :, None])[:, :, 0])  # (39)
    return h / evaluation.samples


def _diagonals(layer):
    """gamma of every sample, (S, d, d)."""
    identity = np.eye(layer.z.shape[1], dtype=layer.z.dtype)
    return identity * (np.ones_like(layer.z) if layer.slope is None else layer.slope)[:, :, None]


def sample_curvatures_at(evaluation, l2=0.0):
    """For every sample's own direction g_b = -grad f_b, three arrays (S,).

    g_b . grad f_b,   g_b^T H_b g_b,   |g_b|

    The piece of g_b in a layer is the outer product P = -delta v_bar^T, so that

        P v_bar = -delta |v_bar|^2,   <delta, P v'> = -|delta|^2 (v . v').

    That is one product W v' a layer for the whole batch, and no array of a sample's weights. A
    penalty adds -l2 (W, b) to P, and with it -l2 z to the first, -l2 <delta, W v'> to the second.

    Parameters
    ----------
    evaluation : Evaluation
        Of a chain of `Linear` and `Activation` layers.
    l2 : float
        f_b then has its own (l2/2)|theta|^2.

    Raises
    ------
    TypeError
        For a layer that is not fully connected; it is named.
    """
    evaluation.require_current()
    layers, places = hidden_layers(evaluation)
    squares, along_theta, h, tangent = 0.0, 0.0, 0.0, None
    for layer, place in zip(layers, places):
        delta, v = evaluation.deltas[place], layer.input
        size, has_bias = _rows(delta, delta), layer.linear.bias is not None
        trained = layer.linear.size > 0
        length = _rows(v, v) + has_bias
        moved = None if tangent is None else tangent @ layer.linear.weight.T
        z_tangent = np.zeros_like(layer.z) if moved is None else moved
        if trained:
            if moved is not None:
                h = h - 2 * (size * _rows(v, tangent) + l2 * _rows(delta, moved))
            z_tangent = z_tangent - delta * length[:, None].astype(delta.dtype) - l2 * layer.z
            squares, along_theta = squares + size * length, along_theta + _rows(delta, layer.z)
        bar = evaluation.deltas[_last_activation(layers, places, place, len(evaluation.saved))]
        if layer.slope is not None:
            h = h + _rows(bar * layer.second_derivative, z_tangent**2)
        tangent = z_tangent if layer.slope is None else layer.slope * z_tangent
    product = evaluation.loss_function.hessian_product(evaluation.outputs, evaluation.y, tangent)
    h = h + _rows(tangent, product)
    theta = evaluation.network.theta
    squares = squares + 2 * l2 * along_theta + l2**2 * inner(theta, theta)
    return -squares, h + l2 * squares, np.sqrt(squares)


def _last_activation(layers, places, place, end):
    """Place of the last activation behind the affine layer at `place`."""
    following = [later for later in places if later > place]
    return (following[0] if following else end) - 1


def _rows(a, b):
    """Scalar products of the rows of a and b, (S,), in float64."""
    return np.einsum("si,si->s", a, b, dtype=np.float64)
