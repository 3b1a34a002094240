"""Brute force for the checks of this paper: numbers that carry all their derivatives, in explicit
loops.

Nothing here comes from the room. A `Jet` is a scalar with its gradient and Hessian in N variables;
a network written with jets gives every first and second derivative to rounding.
"""

import numpy as np

from ....exact.finite_differences import complex_step

# value, first and second derivative; the first two take complex arguments
ACTIVATIONS = {
    "relu": (lambda z: z * (np.real(z) > 0), lambda z: 1.0 * (np.real(z) > 0), lambda z: 0.0 * z),
    "tanh": (np.tanh, lambda z: 1 / np.cosh(z) ** 2, lambda z: -2 * np.tanh(z) / np.cosh(z) ** 2),
    "softplus": (lambda z: np.log(1 + np.exp(z)), lambda z: 1 / (1 + np.exp(-z)),
                 lambda z: np.exp(-z) / (1 + np.exp(-z)) ** 2),
    "identity": (lambda z: z, lambda z: 1.0 + 0.0 * z, lambda z: 0.0 * z)}


def of_layer(activation, k):
    """Value, slope and second derivative in layer k, for one name or a list of names by layer.

    Two names with a blank between them are one function of the other; the word "unit" before them,
    that the last unit of the layer is always 1, is for :func:`entries` and :func:`through`.
    """
    inner, *outer = _name(activation, k).removeprefix("unit ").split()
    return composed(ACTIVATIONS[inner], ACTIVATIONS[outer[0]]) if outer else ACTIVATIONS[inner]


def _name(activation, k):
    return activation if isinstance(activation, str) else activation[k]


def entries(z, activation, k, which):
    """Value (`which` 0), slope (1) or second derivative (2) in layer k, of arguments z (d_k,)."""
    function = of_layer(activation, k)[which]
    if _name(activation, k).startswith("unit "):
        return np.append(function(z[:-1]), (z[-1], 1, 0)[which])
    return function(z)


def through(z, activation, k):
    """Layer k's activation of arguments z that are jets."""
    unit = _name(activation, k).startswith("unit ")
    moved = [jet.through(*of_layer(activation, k)) for jet in z[:len(z) - unit]]
    return np.array([*moved, *z[len(z) - unit:]], dtype=object)


def composed(inner, outer):
    """Value and two derivatives of outer(inner(z)) by the chain rule."""
    (f, f_1, f_2), (g, g_1, g_2) = inner, outer
    return (lambda z: g(f(z)),
            lambda z: g_1(f(z)) * f_1(z),
            lambda z: g_2(f(z)) * f_1(z) ** 2 + g_1(f(z)) * f_2(z))


class Jet:
    """A number with first (N,) and second (N, N) derivatives."""

    def __init__(self, value, first, second):
        self.value, self.first, self.second = value, first, second

    def __add__(self, other):
        if not isinstance(other, Jet):
            return Jet(self.value + other, self.first, self.second)
        return Jet(self.value + other.value, self.first + other.first, self.second + other.second)

    def __mul__(self, other):
        if not isinstance(other, Jet):
            return Jet(self.value * other, self.first * other, self.second * other)
        cross = np.outer(self.first, other.first)
        return Jet(self.value * other.value, self.value * other.first + other.value * self.first,
                   self.value * other.second + other.value * self.second + cross + cross.T)

    __radd__, __rmul__ = __add__, __mul__

    def through(self, value, first, second):
        """A function of this number, given with two derivatives."""
        z = self.value
        return Jet(value(z), first(z) * self.first,
                   first(z) * self.second + second(z) * np.outer(self.first, self.first))


def variables(*arrays):
    """The entries of arrays as jets, object arrays of the same shapes; N counts all of them in
    order.
    """
    size, start, result = sum(np.size(a) for a in arrays), 0, []
    for array in arrays:
        jets = np.empty(np.shape(array), dtype=object)
        for k, index in enumerate(np.ndindex(jets.shape)):
            jets[index] = Jet(float(array[index]), np.eye(size)[start + k], np.zeros((size, size)))
        start += jets.size
        result.append(jets)
    return result


def values(jets):
    return np.array([jet.value for jet in np.ravel(jets)]).reshape(np.shape(jets))


def firsts(jets):
    """First derivatives, one more axis (N)."""
    return np.array([jet.first for jet in np.ravel(jets)]).reshape(*np.shape(jets), -1)


def seconds(jets):
    """Second derivatives, two more axes (N, N)."""
    result = np.array([jet.second for jet in np.ravel(jets)])
    return result.reshape(*np.shape(jets), *result.shape[1:])


def part(array, axis, where, shape):
    """The entries `where`, a slice, of an axis counted from the end, in the form `shape`."""
    axis += array.ndim
    taken = np.take(array, range(*where.indices(array.shape[axis])), axis)
    return taken.reshape(*array.shape[:axis], *shape, *array.shape[axis + 1 :])


def affine(w, v):
    """sum_i w_ji v_i, by loops."""
    result = []
    for row in w:
        total = 0.0
        for i in range(len(v)):
            total = row[i] * v[i] + total
        result.append(total)
    return np.array(result, dtype=object)


def layers(ws, x, activation, start=0):
    """Pre-activations z^(1), ..., z^(n) and outputs v^(0), ..., v^(n) as lists of object arrays.

    `ws` begins with the weights of layer `start` + 1.
    """
    z, v = [None], [np.array(x, dtype=object)]
    for k, w in enumerate(ws, start=start + 1):
        z.append(affine(w, v[-1]))
        v.append(through(z[-1], activation, k))
    return z, v


def by_loops(x, w, strides):
    """Arguments of the activation, output by output, as jets in all entries of x and w."""
    x, w = variables(x, w)
    counts = [(n - k) // stride + 1 for n, k, stride in zip(x.shape, w.shape, strides)]
    result = np.empty(counts, dtype=object)
    for s, t in np.ndindex(*counts):
        result[s, t] = 0.0
        for l, k in np.ndindex(w.shape):
            result[s, t] = w[l, k] * x[strides[0] * s + l, strides[1] * t + k] + result[s, t]
    return result


def cross_entropy(p, y):
    """-sum_l y_l ln softmax(p)_l, from its definition."""
    total = 0.0
    for entry in p:
        total = entry.through(np.exp, np.exp, np.exp) + total
    log = total.through(np.log, lambda z: 1 / z, lambda z: -1 / z**2)
    result = log * float(sum(y))
    for entry, weight in zip(p, y):
        result = result + entry * -float(weight)
    return result


def squared_error(p, y):
    """sum_l (p_l - y_l)^2 / 2."""
    total = 0.0
    for entry, target in zip(p, y):
        residual = entry + -float(target)
        total = residual * residual * 0.5 + total
    return total


# -- Jacobians as functions of all weights, for complex steps


def weights_and_slopes(ws, x, activation, k):
    """(W^(r), A'(z^(r))) of the layers r = 1, ..., k."""
    v, result = x, []
    for r in range(1, k + 1):
        z = ws[r] @ v
        result.append((ws[r], entries(z, activation, r, 1)))
        v = entries(z, activation, r, 0)
    return result


def alpha(ws, x, activation, k, l):
    """d v^(k) / d v^(l) by multiplying one layer's Jacobians; ws[0] is None."""
    product = np.eye(len(x) if l == 0 else len(ws[l]))
    if k < l:
        return np.zeros((len(x) if k == 0 else len(ws[k]), len(product)))
    for w, slope in weights_and_slopes(ws, x, activation, k)[l:]:
        product = slope[:, None] * (w @ product)
    return product


def gamma(ws, x, activation, k):
    """diag A'(z^(k))."""
    return np.diag(weights_and_slopes(ws, x, activation, k)[-1][1])


def eta(ws, x, activation, k, l):
    """d v^(k) / d z^(l)."""
    return alpha(ws, x, activation, k, l) @ gamma(ws, x, activation, l)


def derivative(function, ws, q):
    """Derivative of ``function(ws)``, an array, in W^(q) by complex steps.

    Its axes, then those of W^(q).
    """
    shape = ws[q].shape

    def at(theta):
        return function([*ws[:q], theta.reshape(shape), *ws[q + 1 :]]) + 0j

    result = complex_step(at, ws[q].ravel())
    return result.reshape(*result.shape[:-1], *shape)
