"""The two numbers of a step length, g . grad F and g^T H g, at about the cost of one gradient;
(38)-(39), corrected.

From the literal (39) to one tangent. Let P^k be the piece of g in layer k and v' the derivative of
v along g. Then

    sum over r < k of eta^(k-1,r) P^r v^(r-1) = v'^(k-1)    (a layer's share of v' has its own eta),
    (U eta^(n,k))^T f_p = delta^k                           (the back-propagated gradient),

so that the last line of (39) is 2 sum_k <delta^k, P^k v'^(k-1)>, the output's share in the second
one 2 <f_p, O v'^(n)>, and all terms with f_pp together are p'^T f_pp p' with p' the derivative of
the output. A curved activation adds <df/dv A''(z), z'^2>. What remains of a layer is its gradient
times its second derivative along g: `second_tangent`.
"""

import numpy as np

from ...checks import check_l2, one_of
from ...exact.curvature import check_vector, evaluate
from ...nets import Activation, Linear
from .coupling import block_products
from .quantities import hidden_layers, objective_derivatives

FORMS = ("exact", "printed")


def directional_curvature(network, loss, x, y, direction, form="exact", l2=0.0):
    """direction . gradient and direction^T H direction of the objective ([low-rank] Eqs.
    (38)-(39)).

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
    found = directional_curvature_at(evaluate(network, loss, x, y), direction, form, l2)
    if not np.isfinite(found).all():
        raise FloatingPointError(f"slope and curvature along the direction are {found}, not finite")
    return found


def directional_curvature_at(evaluation, direction, form="exact", l2=0.0):
    """g^T grad F, (38), and g^T H g, (39), at an evaluation, as :func:`directional_curvature`; the
    numbers may be infinite or NaN.
    """
    evaluation.require_current()
    slope, bend = (_exact(evaluation, direction) if form == "exact"
                   else _printed(evaluation, direction))
    if l2:
        slope += l2 * inner(evaluation.network.theta, direction)
        bend += l2 * inner(direction, direction)
    return slope, bend


def inner(a, b):
    """Sum of the products of all entries, as a float; summed in float64, as the terms of a
    curvature cancel.
    """
    if a.dtype == np.float64:
        return float(np.vdot(a, b))
    return float(np.einsum("i,i->", a.ravel(), b.ravel(), dtype=np.float64))


def _exact(evaluation, direction):
    """Corrected (38)-(39) by one tangent and the gradients that the evaluation holds."""
    loss, p, y = evaluation.loss_function, evaluation.outputs, evaluation.y
    tangent, bend = along(evaluation, direction)
    bend += inner(tangent, loss.hessian_product(p, y, tangent))
    return inner(evaluation.deltas[-1], tangent) / evaluation.samples, bend / evaluation.samples


def along(evaluation, direction):
    """The tangent of the outputs along the direction, and the sum over layers of <gradient in their
    output, its second derivative>."""
    if evaluation.workspace is not None:
        from .in_place import along as in_place

        return in_place(evaluation, direction)
    chain, bend, tangent = evaluation.network.chain, 0.0, None
    pieces = [direction[where] if where.stop > where.start else None for where in chain.slices]
    for layer, kept, piece, bar in zip(chain.layers, evaluation.saved, pieces, evaluation.deltas):
        if tangent is not None or piece is not None:
            through = RULES.get(type(layer), through_layer)
            tangent, own = through(layer, kept, tangent, piece, bar)
            bend += own
    return tangent, bend


def through_layer(layer, kept, tangent, piece, bar):
    """Any layer: its output's tangent, and <bar, second derivative of its output> over samples."""
    second = layer.second_tangent(kept, tangent, None, piece)
    return layer.tangent(kept, tangent, piece), inner(bar, second)


def through_linear(layer, kept, tangent, piece, bar):
    """z' = W v' + P v and 2 <delta, P v'>, the last line of (39)."""
    z_tangent = layer.tangent(kept, tangent, piece)
    if piece is None or tangent is None:
        return z_tangent, 0.0
    P = layer.split(piece)[0]
    return z_tangent, 2 * inner(bar, tangent @ P.T)


def through_activation(layer, kept, tangent, piece, bar):
    """v' = A'(z) z' and <df/dv A''(z), z'^2>; the latter is left out where A'' = 0."""
    if getattr(layer.function, "piecewise_linear", False):
        return kept.slope * tangent, 0.0
    return kept.slope * tangent, inner(bar * kept.curvature * tangent, tangent)


RULES = {Linear: through_linear, Activation: through_activation}


def _printed(evaluation, direction):
    """(38), and (39) without what its third line lacks: terms between different hidden layers."""
    slopes, terms = block_products(evaluation, direction)
    hidden = terms.outputs[:-1, :-1]
    return slopes.sum().item(), (terms.outputs.sum() - hidden.sum() + np.trace(hidden)
                                 + terms.weights.sum()).item()


def by_explicit_eta(evaluation, direction):
    """g^T H g by (39) as it reads, its third line over all pairs of layers, with every eta formed,
    for A'' = 0.

    eta^(k,r) of all samples is made layer by layer, used and dropped: S d_k d_r numbers, and S d_k
    d_k-1 d_r products for each of the n (n - 1) / 2 pairs. It is here to be compared with.
    """
    layers, places = hidden_layers(evaluation)
    f_pp = objective_derivatives(evaluation, places[-1])[1]
    bend, outputs = 0.0, 0.0
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
                    bend += 2 * inner(evaluation.deltas[places[k]], tangent @ pieces[k][0].T)
                eta = layers[k].linear.weight @ eta
                if k < len(layers) - 1 and layers[k].slope is not None:
                    eta = layers[k].slope[:, :, None] * eta
            moved = (eta @ moved[:, :, None])[:, :, 0]
        outputs = outputs + moved
    bend += inner(outputs, (f_pp @ outputs[:, :, None])[:, :, 0])
    return bend / evaluation.samples


def _diagonals(layer):
    """gamma of every sample, (S, d, d)."""
    identity = np.eye(layer.z.shape[1], dtype=layer.z.dtype)
    return identity * (np.ones_like(layer.z) if layer.slope is None else layer.slope)[:, :, None]


def sample_curvatures_at(evaluation, l2=0.0):
    """g_b . grad f_b, g_b^T H_b g_b and |g_b| for every sample's own direction g_b = -grad f_b,
    three arrays (S,).

    The piece of g_b in a layer is the outer product P = -delta v_bar^T, so that P v_bar = -delta
    |v_bar|^2 and <delta, P v'> = -|delta|^2 (v . v'): one product W v' a layer for the whole batch,
    no array of a sample's weights. A penalty adds -l2 (W, b) to P, and with it -l2 z to P v_bar and
    -l2 <delta, W v'> to the other.

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
    squares, along_theta, bend, tangent = 0.0, 0.0, 0.0, None
    for layer, place in zip(layers, places):
        delta, v = evaluation.deltas[place], layer.input
        size, has_bias = _rows(delta, delta), layer.linear.bias is not None
        trained = layer.linear.size > 0
        length = _rows(v, v) + has_bias
        moved = None if tangent is None else tangent @ layer.linear.weight.T
        z_tangent = np.zeros_like(layer.z) if moved is None else moved
        if trained:
            if moved is not None:
                bend = bend - 2 * (size * _rows(v, tangent) + l2 * _rows(delta, moved))
            z_tangent = z_tangent - delta * length[:, None].astype(delta.dtype) - l2 * layer.z
            squares, along_theta = squares + size * length, along_theta + _rows(delta, layer.z)
        if layer is layers[-1] and place == len(evaluation.saved) - 1:
            tangent = z_tangent
            break
        bar = evaluation.deltas[_last_activation(layers, places, place, len(evaluation.saved))]
        if layer.slope is not None:
            bend = bend + _rows(bar * layer.curvature, z_tangent**2)
        tangent = z_tangent if layer.slope is None else layer.slope * z_tangent
    bend = bend + _rows(
        tangent, evaluation.loss_function.hessian_product(evaluation.outputs, evaluation.y, tangent)
    )
    theta = evaluation.network.theta
    squares = squares + 2 * l2 * along_theta + l2**2 * inner(theta, theta)
    return -squares, bend + l2 * squares, np.sqrt(squares)


def _last_activation(layers, places, place, end):
    """Place of the last activation behind the affine layer at `place`."""
    following = [later for later in places if later > place]
    return (following[0] if following else end) - 1


def _rows(a, b):
    """Scalar products of the rows of a and b, (S,), in float64."""
    return np.einsum("si,si->s", a, b, dtype=np.float64)
