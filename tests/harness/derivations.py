"""Reference values that share no code with the package: loops in decimal arithmetic, derivatives
from values alone.

With 60 digits and steps of 1e-20, a one-sided difference quotient is good to about 20 digits, for
first and for second derivatives. What a float64 formula gets right or wrong shows in full; kinks
are met only at arguments of exactly 0.
"""

import decimal
from decimal import Decimal

import numpy as np

from secondorder.nets import (Activation, AvgPool2d, Chain, Conv2d, Flatten, LayerNorm, Linear,
                              MaxPool2d, Recurrent, Reshape, ScaleShift, Skip)
from harness.shaped_layers import Mixing

DIGITS, STEP = 60, Decimal("1e-20")


def _sin(x):
    total = term = x
    k = 1
    while abs(term) > Decimal(10) ** (-decimal.getcontext().prec - 5):
        term *= -x * x / ((k + 1) * (k + 2))
        total += term
        k += 2
    return total


_PI = Decimal("3.1415926535897932384626433832795028841971693993751058209749445923078164062862"
              "0899862803482534211706798214808651328230664709384460955058223172535940812848111")


def _gelu(x):
    """x times 1/2 + density(x) (x + x^3 / 3 + x^5 / (3 5) + ...)."""
    total = term = x
    k = 1
    while abs(term) > Decimal(10) ** (-decimal.getcontext().prec - 5):
        term *= x * x / (k + 2)
        total += term
        k += 2
    return x * (Decimal("0.5") + total * (-x * x / 2).exp() / (2 * _PI).sqrt())


SCALAR = {
    "gelu": _gelu,
    "silu": lambda x: x / (1 + (-x).exp()),
    "elu": lambda x: x if x > 0 else x.exp() - 1,
    "identity": lambda x: x,
    "relu": lambda x: max(x, Decimal(0)),
    # the double 0.01, as the package has it
    "leaky_relu": lambda x: x if x > 0 else x * Decimal(0.01),
    "tanh": lambda x: 1 - 2 / ((2 * x).exp() + 1),
    "sigmoid": lambda x: 1 / (1 + (-x).exp()),
    "softplus": lambda x: (1 + x.exp()).ln(),
    "sin": _sin,
}


def scalar_jet(name, x):
    """Value, first and second derivative of an activation at the float x, by central differences of
    values."""
    with decimal.localcontext(prec=200):
        f, x, h = SCALAR[name], Decimal(float(x)), Decimal("1e-50")
        below, here, above = f(x - h), f(x), f(x + h)
        return here, (above - below) / (2 * h), (above - 2 * here + below) / (h * h)


def decimals(array):
    """An array of floats as nested lists of Decimals (exact)."""
    array = np.asarray(array)
    return [decimals(row) for row in array] if array.ndim else Decimal(float(array))


def floats(nested):
    """The inverse of `decimals`, rounded to float64."""
    return np.array([floats(n) for n in nested]) if isinstance(nested, list) else float(nested)


def softmax_exact(row):
    exps = [p.exp() for p in row]
    total = sum(exps)
    return [e / total for e in exps]


def _squared_error(loss, p, t):
    return sum((a - b) ** 2 for a, b in zip(p, t)) / 2


def _cross_entropy(loss, p, t):
    log_total = sum(a.exp() for a in p).ln()
    return sum(b * (log_total - a) for a, b in zip(p, t))


def _bounded(loss, p, t):
    score = sum(a * b for a, b in zip(softmax_exact(p), t))
    return 1 / (1 + (Decimal(loss.delta) * (score - Decimal(loss.epsilon))).exp())


def _tukey(loss, p, t):
    c = Decimal(loss.c)
    rho = [1 - (1 - ((a - b) / c) ** 2) ** 3 if abs(a - b) < c else Decimal(1)
           for a, b in zip(p, t)]
    return c * c / 6 * sum(rho)


def _binary(loss, p, t):
    log_q, log_rest = (-(1 + a.exp()).ln() for a in (-p[0], p[0]))
    first = -Decimal(loss.pos_weight) * t[0] * log_q - (1 - t[0]) * log_rest
    return first + (_binary(loss, p[1:], t[1:]) if len(p) > 1 else 0)


def _huber(loss, p, t):
    delta, sizes = Decimal(loss.delta), [abs(a - b) for a, b in zip(p, t)]
    return sum(r * r / 2 if r <= delta else delta * (r - delta / 2) for r in sizes)


def _poisson(loss, p, t):
    return sum(a.exp() - b * a for a, b in zip(p, t))


CRITERIA = {"SquaredError": _squared_error, "SoftmaxCrossEntropy": _cross_entropy,
            "BoundedCriterion": _bounded, "TukeyBiweight": _tukey, "BinaryCrossEntropy": _binary,
            "Huber": _huber, "PoissonNLL": _poisson}


def loss_value(loss, p, t):
    """The loss of one sample: p and t are lists of Decimals (t one entry an output)."""
    return CRITERIA[type(loss).__name__](loss, p, t)


def _taken(layer, theta):
    """The parameters of a layer by name, in the order of declaration, as nested lists: off the
    iterator `theta`, or its own where it is fixed."""
    if not layer.trainable:
        return {name: decimals(value) for name, value in layer.parameters.items()}
    return {name: np.array([next(theta) for _ in range(value.size)],
                           dtype=object).reshape(value.shape).tolist()
            for name, value in layer.parameters.items()}


def _linear(layer, row, theta):
    given = _taken(layer, theta)
    bias = given.get("bias", [Decimal(0)] * layer.out_features)
    return [sum((w * a for w, a in zip(weights, row)), b)
            for weights, b in zip(given["weight"], bias)]


def _mixing(layer, row, theta):
    """One flat row through a `Mixing` layer.

    With axis 0 the entries of one place stand apart, with axis -1 beside each other.
    """
    n_in, n_out, places = layer.inputs, layer.outputs, layer.positions
    weight = _taken(layer, theta)["weight"]
    if layer.axis == -1:
        return [sum(weight[i][j] * row[t * n_in + j] for j in range(n_in))
                for t in range(places) for i in range(n_out)]
    return [sum(weight[i][j] * row[j * places + t] for j in range(n_in))
            for i in range(n_out) for t in range(places)]


def _convolution(layer, row, theta, shape):
    """One flat image through a `Conv2d`, by looking up every entry; (row, shape)."""
    given = _taken(layer, theta)
    channels, height, width = shape
    (tall, wide), (down, across), (top, left) = layer.kernel, layer.strides, layer.paddings
    bias = given.get("bias", [Decimal(0)] * layer.out_channels)

    def pixel(c, i, j):
        inside = 0 <= i < height and 0 <= j < width
        return row[(c * height + i) * width + j] if inside else Decimal(0)

    made = layer.output_shape(shape)
    y = [bias[o] + sum(given["weight"][o][c][m][n] * pixel(c, down * p + m - top, across * q + n
                                                           - left)
                       for c in range(channels) for m in range(tall) for n in range(wide))
         for o in range(made[0]) for p in range(made[1]) for q in range(made[2])]
    return y, made


def _pooling(layer, row, shape):
    """One flat image through a pooling layer; (row, shape)."""
    _, height, width = shape
    (tall, wide), (down, across) = layer.kernel, layer.strides
    made = layer.output_shape(shape)
    y = []
    for c, p, q in np.ndindex(*made):
        seen = [row[(c * height + down * p + m) * width + across * q + n]
                for m in range(tall) for n in range(wide)]
        y.append(max(seen) if isinstance(layer, MaxPool2d) else sum(seen) / len(seen))
    return y, made


def _recurrent(layer, row, theta):
    given, f, h = _taken(layer, theta), SCALAR[layer.function.name], layer.hidden_size
    bias = given.get("bias", [Decimal(0)] * h)
    inputs = [row[i:i + layer.input_size] for i in range(0, len(row), layer.input_size)]
    state = [Decimal(0)] * h if layer.has_input else row
    for moment in (inputs if layer.has_input else [None] * layer.steps):
        arrived = [b + sum(w * v for w, v in zip(weights, state))
                   for weights, b in zip(given["weight_hh"], bias)]
        if layer.has_input:
            arrived = [a + sum(u * v for u, v in zip(weights, moment))
                       for a, weights in zip(arrived, given["weight_ih"])]
        state = [f(a) for a in arrived]
    return state


def _layer_norm(layer, row, theta):
    given, n = _taken(layer, theta), layer.weight.size
    weight, bias = (np.array(given[name], dtype=object).ravel() for name in ("weight", "bias"))
    y = []
    for start in range(0, len(row), n):
        block = row[start:start + n]
        mean = sum(block) / n
        spread = (sum((a - mean) ** 2 for a in block) / n + Decimal(layer.epsilon)).sqrt()
        y += [w * (a - mean) / spread + b for w, a, b in zip(weight, block, bias)]
    return y


def _scale_shift(layer, row, theta):
    given, places = _taken(layer, theta), len(row) // layer.features
    return [given["weight"][i // places] * a + given["bias"][i // places]
            for i, a in enumerate(row)]


#: What a layer does to a flat row; `run_layers` has those that nest, and those of images.
OF_ROWS = {Linear: _linear, Mixing: _mixing, Recurrent: _recurrent, LayerNorm: _layer_norm,
           ScaleShift: _scale_shift, Chain: lambda layer, *rest: run_layers(layer.layers, *rest),
           Activation: lambda layer, row, _: [SCALAR[layer.function.name](a) for a in row],
           Skip: lambda layer, row, theta: [
               a + b for a, b in zip(row, run_layers(layer.layers, row, theta))]}


def run_layers(layers, row, theta):
    """One row (a list of Decimals) through layers whose parameters come off the iterator `theta`.

    Rows are flat lists here; the shape of an image is kept beside them, from a `Reshape` on.
    """
    shape = None
    for layer in layers:
        if isinstance(layer, Reshape):
            shape = layer.made_shape
        elif isinstance(layer, Flatten):
            shape = None
        elif isinstance(layer, Conv2d):
            row, shape = _convolution(layer, row, theta, shape)
        elif isinstance(layer, (AvgPool2d, MaxPool2d)):
            row, shape = _pooling(layer, row, shape)
        else:
            row = OF_ROWS[type(layer)](layer, row, theta)
    return row


def differences(f, point):
    """Value, gradient and Hessian (lists of Decimals) of f at `point` (a list of Decimals) by
    one-sided differences."""
    n = len(point)

    def moved(*indices):
        shifted = list(point)
        for i in indices:
            shifted[i] += STEP
        return f(shifted)

    here = f(point)
    one = [moved(i) for i in range(n)]
    gradient = [(value - here) / STEP for value in one]
    hessian = [[None] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            hessian[i][j] = hessian[j][i] = (moved(i, j) - one[i] - one[j] + here) / (STEP * STEP)
    return here, gradient, hessian


def _in_decimals(function):
    def wrapped(*args, **kwargs):
        with decimal.localcontext(prec=DIGITS):
            return function(*args, **kwargs)
    return wrapped


@_in_decimals
def outputs(network, x):
    """Outputs (S, C) of a network."""
    theta = decimals(network.theta)
    return floats([run_layers(network.layers, row, iter(theta)) for row in decimals(x)])


@_in_decimals
def objective_jet(network, loss, x, targets, l2=0.0):
    """Objective, gradient (P,) and Hessian (P, P); `targets` (S, C) are in the form of one number
    an output."""
    rows, targets, l2 = decimals(x), decimals(targets), Decimal(float(l2))

    def objective(theta):
        losses = [loss_value(loss, run_layers(network.layers, row, iter(theta)), t)
                  for row, t in zip(rows, targets)]
        return sum(losses) / len(losses) + l2 / 2 * sum(t * t for t in theta)

    value, gradient, hessian = differences(objective, decimals(network.theta))
    return float(value), floats(gradient), floats(hessian)


@_in_decimals
def jacobian(network, x):
    """Jacobian (S, C, P) of the outputs."""
    rows, theta = decimals(x), decimals(network.theta)
    here = [run_layers(network.layers, row, iter(theta)) for row in rows]
    columns = []
    for i in range(len(theta)):
        shifted = theta[:i] + [theta[i] + STEP] + theta[i + 1:]
        there = [run_layers(network.layers, row, iter(shifted)) for row in rows]
        columns.append([[(b - a) / STEP for a, b in zip(*pair)] for pair in zip(here, there)])
    return np.moveaxis(floats(columns), 0, -1)


@_in_decimals
def loss_jet(loss, p, targets):
    """Values (S,), gradients (S, C) and Hessians (S, C, C) of a loss in the outputs p (S, C)."""
    jets = [differences(lambda q, t=t: loss_value(loss, q, t), row)
            for row, t in zip(decimals(p), decimals(targets))]
    return tuple(floats([jet[k] for jet in jets]) for k in range(3))
