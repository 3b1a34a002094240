"""Brute force for the checks of this paper: numbers that carry all their derivatives, in explicit
loops.

Nothing here comes from the room. A `Jet` is a scalar with its gradient and Hessian in N variables;
a network written with jets gives every first and second derivative to rounding. A Jacobian between
layers is a derivative in a shift of the lower layer, so that second derivatives in a shift and a
weight tell how the Jacobian changes.
"""

import numpy as np

# value, first and second derivative
ACTIVATIONS = {
    "relu": (lambda z: max(z, 0.0), lambda z: float(z > 0), lambda z: 0.0),
    "tanh": (np.tanh, lambda z: 1 / np.cosh(z) ** 2, lambda z: -2 * np.tanh(z) / np.cosh(z) ** 2),
    "softplus": (lambda z: np.log(1 + np.exp(z)), lambda z: 1 / (1 + np.exp(-z)),
                 lambda z: np.exp(-z) / (1 + np.exp(-z)) ** 2)}


class Jet:
    """A number with first (N,) and second derivatives, (N, N) or 0 where there are none."""

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


class Variables(dict):
    """Arrays of variables by name, as jets; `of` gives derivatives in them."""

    def __init__(self, arrays):
        ends = np.cumsum([0, *map(np.size, arrays.values())])
        self.size, self.where, self.shapes = ends[-1], {}, {k: a.shape for k, a in arrays.items()}
        for (name, array), start, end in zip(arrays.items(), ends, ends[1:]):
            self.where[name] = slice(start, end)
            self[name] = np.empty(np.shape(array), dtype=object)
            self[name].flat = [Jet(float(value), np.eye(1, self.size, start + k)[0], 0.0)
                               for k, value in enumerate(np.ravel(array))]

    def of(self, jets, *names):
        """First derivatives of jets in the variables of one name, or second derivatives in those of
        two: the axes of the jets, then theirs.
        """
        full, where = len(names) * (self.size,), tuple(map(self.where.get, names))
        rows = [np.broadcast_to((jet.first, jet.second)[len(names) - 1], full)[where]
                for jet in np.ravel(jets)]
        return np.reshape(rows, np.shape(jets) + sum(map(self.shapes.get, names), ()))


def values(jets):
    """The numbers themselves."""
    return np.array([jet.value for jet in np.ravel(jets)]).reshape(np.shape(jets))


def affine(w, v):
    """sum_i w_ji v_i, by loops."""
    result = []
    for row in w:
        total = 0.0
        for i in range(len(v)):
            total = row[i] * v[i] + total
        result.append(total)
    return np.array(result, dtype=object)


def layers(variables, ws, x, activations, unit=False):
    """Arguments z^(1), ..., z^(n) and outputs v^(0), ..., v^(n) of the layers with weights `ws`;
    shifts of them are the variables ("z", k) and ("v", k).

    Behind layer k the functions named in ``activations[k - 1]`` are applied, one after the other;
    with `unit` not to the last unit, which is 1.
    """
    z, v = [None], [x + variables["v", 0]]
    for k, (w, names) in enumerate(zip(ws, activations), start=1):
        z.append(affine(w, v[-1]) + variables["z", k])
        moved = list(z[-1])
        for name in names:
            moved[:len(moved) - unit] = [jet.through(*ACTIVATIONS[name])
                                         for jet in moved[:len(moved) - unit]]
        v.append(np.array(moved, dtype=object) + variables["v", k])
    return z, v


def shifts(widths):
    """Zeros for the shifts of v^(0), z^(1), v^(1), ..."""
    return {(letter, k): np.zeros(d) for k, d in enumerate(widths) for letter in "vz"[:1 + (k > 0)]}


def by_loops(x, w, strides):
    """Arguments of a convolution's activation, output by output."""
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
    result = total.through(np.log, lambda z: 1 / z, lambda z: -1 / z**2) * float(sum(y))
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


def larger_root(a, h, length, sigma):
    """The larger stationary point of a s + h s^2 / 2 + sigma |s length|^3 / 6 for s > 0."""
    return np.roots([sigma * length**3 / 2, h, a]).real.max()


def model(a, h, length, sigma, s):
    """The cubic model along the ray, from its three terms."""
    return a * s + h * s**2 / 2 + sigma * abs(s * length) ** 3 / 6
