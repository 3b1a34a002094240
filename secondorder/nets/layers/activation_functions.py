"""Activation functions: value, slope (first derivative) and curvature (second derivative).

Each function acts entry by entry and keeps the dtype of its argument. The smooth ones accept
complex arguments too and are analytic in a strip around the real axis, so that the complex step can
check them. Real numbers go through loops of :mod:`secondorder.kernels.activations` where a network
runs, which make value and slope together; the formulas here are what these loops compute.

Conventions at kinks: ``relu`` has slope 0 and ``leaky_relu`` has slope ``negative_slope`` at 0, and
both have curvature 0 everywhere (the point mass of the second derivative at 0 is invisible to any
pointwise formula).
"""

import math

import numpy as np

from ...checks import check_activation, lookup, number_in, one_of
from ...kernels import activations as kernels
from ..overriding import Follows


class ActivationFunction(Follows):
    """A scalar function with two derivatives.

    A subclass gives :meth:`value`, :meth:`slope` and :meth:`curvature`; all map an array to an
    array of the same shape and dtype.

    Attributes
    ----------
    name : str
        Used by ``mlp`` and by the command line.
    kinks : tuple of float
        Where the slope jumps; finite differences must stay away from these points.
    piecewise_linear : bool
        True where the curvature is zero off the kinks.
    """

    name = "activation"
    kinks = ()
    piecewise_linear = False
    follows = {"value_and_slope": ("value", "slope")}

    def value(self, x):
        """Value, same shape as `x`."""
        raise TypeError(f"{type(self).__name__} does not define value(x)")

    def slope(self, x):
        """First derivative, same shape as `x`."""
        raise TypeError(f"{type(self).__name__} does not define slope(x)")

    def curvature(self, x):
        """Second derivative, same shape as `x`."""
        raise TypeError(f"{type(self).__name__} does not define curvature(x)")

    def value_and_slope(self, x):
        """Value and slope together; a subclass may share work between the two."""
        return self.value(x), self.slope(x)

    def __repr__(self):
        return f"{type(self).__name__}()"


def _constant(x, number):
    """One number in the shape and dtype of `x`; it costs no memory (read-only)."""
    return np.broadcast_to(x.dtype.type(number), x.shape)


LOOPS = "fd"  # the types of numbers that loops take: float32 and float64


def _both(loop, x, *numbers):
    """Value and slope that a loop makes from x."""
    y, slope = np.empty(x.shape, x.dtype), np.empty(x.shape, x.dtype)
    loop(x.reshape(-1), *numbers, y.reshape(-1), slope.reshape(-1))
    return y, slope


def _curvature(loop, x):
    """The curvature that a loop makes from x."""
    curvature = np.empty(x.shape, x.dtype)
    loop(x.reshape(-1), curvature.reshape(-1))
    return curvature


def value_and_slope(function, x):
    """Value and slope of a function, which need not define the two together."""
    if hasattr(function, "value_and_slope"):
        return function.value_and_slope(x)
    return function.value(x), function.slope(x)


def _floating(x):
    """`x` as floating-point (or complex) numbers: a slope of 0.01 is no integer."""
    x = np.asarray(x)
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


class Identity(ActivationFunction):
    """s(x) = x."""

    name = "identity"
    piecewise_linear = True

    def value(self, x):
        return np.asarray(x)

    def slope(self, x):
        return _constant(np.asarray(x), 1)

    def curvature(self, x):
        return _constant(np.asarray(x), 0)


class LeakyReLU(ActivationFunction):
    """s(x) = x for x > 0, negative_slope * x otherwise; the slope at 0 is `negative_slope`."""

    name = "leaky_relu"
    kinks = (0.0,)
    piecewise_linear = True

    def __init__(self, negative_slope=0.01):
        self.negative_slope = number_in(negative_slope, "negative_slope", 0, np.inf)

    def value(self, x):
        x = _floating(x)
        return np.where(x.real > 0, x, x.dtype.type(self.negative_slope) * x)

    def slope(self, x):
        x = _floating(x)
        return np.where(x.real > 0, x.dtype.type(1), x.dtype.type(self.negative_slope))

    def curvature(self, x):
        return _constant(np.asarray(x), 0)

    def value_and_slope(self, x):
        """x times the slope, where an infinite x stays infinite only if the slope is not 0."""
        if type(x) is np.ndarray and x.dtype.char in LOOPS:
            return _both(kernels.leaky, x, x.dtype.type(self.negative_slope))
        x, slope = _floating(x), self.slope(x)
        return x * slope, slope

    def __repr__(self):
        return f"LeakyReLU(negative_slope={self.negative_slope})"


class ReLU(LeakyReLU):
    """s(x) = max(x, 0); the slope at 0 is 0."""

    name = "relu"

    def __init__(self):
        super().__init__(0.0)

    __repr__ = ActivationFunction.__repr__


class Tanh(ActivationFunction):
    """s = tanh(x); s' = 1 - s^2 = sech(x)^2; s'' = -2 s s'.

    sech(x) = 2 exp(-|x|) / (1 + exp(-2 |x|)) keeps its relative accuracy in both tails, where
    1 - s^2 is all rounding from about |x| = 15.
    """

    name = "tanh"

    def value(self, x):
        return np.tanh(x)

    def slope(self, x):
        e = np.exp(_minus_size(x))
        return (2 * e / (1 + e * e)) ** 2

    def curvature(self, x):
        if type(x) is np.ndarray and x.dtype.char in LOOPS:
            return _curvature(kernels.tanh_curvature, x)
        return -2 * np.tanh(x) * self.slope(x)

    def value_and_slope(self, x):
        if type(x) is np.ndarray and x.dtype.char in LOOPS:
            return _both(kernels.tanh, x)
        return self.value(x), self.slope(x)


def logistic(x):
    """1 / (1 + exp(-x)) without overflow, for real and complex `x`."""
    return np.exp(np.minimum(x, 0)) / (1 + np.exp(_minus_size(x)))


def _minus_size(x):
    """-|x|, for complex `x` -x or x: NumPy's minimum orders them by real part."""
    return np.minimum(x, np.negative(x))


class Sigmoid(ActivationFunction):
    """s = 1 / (1 + exp(-x)); s' = s (1 - s); s'' = s' (1 - 2 s)."""

    name = "sigmoid"

    def value(self, x):
        return logistic(x)

    def slope(self, x):
        # 1 - s without cancellation in the saturated tail
        return logistic(x) * logistic(-np.asarray(x))

    def curvature(self, x):
        if type(x) is np.ndarray and x.dtype.char in LOOPS:
            return _curvature(kernels.sigmoid_curvature, x)
        return self.slope(x) * (1 - 2 * logistic(x))

    def value_and_slope(self, x):
        if type(x) is np.ndarray and x.dtype.char in LOOPS:
            return _both(kernels.sigmoid, x)
        return self.value(x), self.slope(x)


class Softplus(ActivationFunction):
    """s = log(1 + exp(x)); s' is the logistic function, s'' = s' (1 - s')."""

    name = "softplus"

    def value(self, x):
        return np.maximum(x, 0) + np.log1p(np.exp(_minus_size(x)))

    def slope(self, x):
        return logistic(x)

    def curvature(self, x):
        if type(x) is np.ndarray and x.dtype.char in LOOPS:
            return _curvature(kernels.softplus_curvature, x)
        return logistic(x) * logistic(-np.asarray(x))

    def value_and_slope(self, x):
        if type(x) is np.ndarray and x.dtype.char in LOOPS:
            return _both(kernels.softplus, x)
        return self.value(x), self.slope(x)


class Sin(ActivationFunction):
    """s = sin(x); s' = cos(x); s'' = -s. Not monotone: a good test of rules that assume s' >= 0."""

    name = "sin"

    def value(self, x):
        return np.sin(x)

    def slope(self, x):
        return np.cos(x)

    def curvature(self, x):
        return -np.sin(x)


class ELU(ActivationFunction):
    """s(x) = x for x > 0, alpha (exp(x) - 1) otherwise; s' = s'' = alpha exp(x) there, 0 included.

    Where alpha is 1 the slope is continuous and the curvature jumps from 1 to 0; else 0 is a kink.
    """

    name = "elu"

    def __init__(self, alpha=1.0):
        self.alpha = number_in(alpha, "alpha", 0, np.inf)

    @property
    def kinks(self):
        return () if self.alpha == 1 else (0.0,)

    def _pieces(self, x, above, below):
        x = _floating(x)
        return np.where(x.real > 0, above(x), x.dtype.type(self.alpha) * below(np.minimum(x, 0)))

    def value(self, x):
        return self._pieces(x, np.asarray, np.expm1)

    def slope(self, x):
        return self._pieces(x, np.ones_like, np.exp)

    def curvature(self, x):
        return self._pieces(x, np.zeros_like, np.exp)

    def __repr__(self):
        return "ELU()" if self.alpha == 1 else f"ELU(alpha={self.alpha})"


class Gated(ActivationFunction):
    """s = x G(x); s' = G + x G'; s'' = 2 G' + x G'', with a gate G that rises from 0 to 1."""

    def gate(self, x):
        """G, G' and G'' at x."""
        raise TypeError(f"{type(self).__name__} does not define gate(x)")

    def value(self, x):
        return x * self.gate(x)[0]

    def slope(self, x):
        G, dG, _ = self.gate(x)
        return G + x * dG

    def curvature(self, x):
        _, dG, d2G = self.gate(x)
        return 2 * dG + x * d2G

    def value_and_slope(self, x):
        G, dG, _ = self.gate(x)
        return x * G, G + x * dG


def _logistic_jet(x):
    """The logistic function and its two derivatives; 1 - s is that of -x, without cancellation."""
    s, rest = logistic(x), logistic(np.negative(x))
    return s, s * rest, s * rest * (rest - s)


class SiLU(Gated):
    """s = x / (1 + exp(-x)), also called swish: the gate is the logistic function."""

    name = "silu"

    def gate(self, x):
        return _logistic_jet(x)


_FLAT = 40.0  # beyond, gates are 0 or 1 in every dtype, and powers of x may overflow


class GELU(Gated):
    """s = x Phi(x), Phi the standard normal distribution; G' = phi(x), its density, G'' = -x phi.

    Parameters
    ----------
    approximate : {"none", "tanh"}
        ``"tanh"``: the gate is logistic(2 u) = (1 + tanh(u)) / 2 with
        u = sqrt(2 / pi) (x + 0.044715 x^3).
    """

    name = "gelu"

    def __init__(self, approximate="none"):
        self.approximate = one_of(("none", "tanh"), approximate, "approximate")

    def gate(self, x):
        near = np.clip(x, -_FLAT, _FLAT)
        if self.approximate == "tanh":
            c, k = 0.044715, 2 * math.sqrt(2 / math.pi)
            s, ds, d2s = _logistic_jet(k * (near + c * near**3))
            u_1, u_2 = k * (1 + 3 * c * near**2), k * 6 * c * near  # derivatives of 2 u
            return s, ds * u_1, d2s * u_1**2 + ds * u_2
        from scipy.special import erfc  # here: loading it takes longer than the rest of `nets`

        phi = np.exp(-near**2 / 2) / math.sqrt(2 * math.pi)
        return erfc(near / -math.sqrt(2)) / 2, phi, -near * phi

    def __repr__(self):
        return "GELU()" if self.approximate == "none" else "GELU(approximate='tanh')"


ACTIVATIONS = {cls.name: cls for cls in (Identity, ReLU, LeakyReLU, Tanh, Sigmoid, Softplus, Sin,
                                         GELU, SiLU, ELU)}


def activation_function(activation):
    """Turn a name or an :class:`ActivationFunction` into an :class:`ActivationFunction`.

    Raises
    ------
    ValueError
        If the name is unknown (the message gives the close matches).
    TypeError
        If it is neither a name nor an object with `value`, `slope` and `curvature`.
    """
    if isinstance(activation, str):
        return lookup(ACTIVATIONS, activation, "activation")()
    return check_activation(activation, ACTIVATIONS)
