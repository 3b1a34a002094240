"""4. Coupling layers. Displays: (14) and (15), a half-coupled layer each.

One half of the units moves by a function of the other half, which stays: that can be undone.
"""

from typing import NamedTuple

import numpy as np

from ...checks import one_of, whole_number
from ...nets import Activation, Chain, ChainSaved, Layer, Linear


def eq_14_first_half(X1, W1_S1):
    """Eq. (14): X^(1)_l = X^(1)_{l-1} + W^(1)_l sigma(V^(2)_{l-1} X^(2)_{l-1}).

    W1_S1 is that product, which the layers of F make, with a bias if there is one.
    """
    return X1 + W1_S1


def eq_15_second_half(X2, W2_S2):
    """Eq. (15): X^(2)_l = X^(2)_{l-1} + W^(2)_l sigma(V^(1)_l X^(1)_l), W2_S2 the product."""
    return X2 + W2_S2


#: Which half moves -> its display.
HALVES = {"first": eq_14_first_half, "second": eq_15_second_half}


class CouplingSaved(NamedTuple):
    """Input and output (S, d) of a `Coupling`, and what the layers of F saved."""

    input: np.ndarray
    output: np.ndarray
    inner: ChainSaved


class Coupling(Layer):
    """A half-coupled layer, Eqs. (14) and (15):

        y_m = x_m + F(x_k),  y_k = x_k

    m is the half that moves, k the half that stays, and F(x) = W s(V x) (+ b) with V fixed and W
    (and b) trained. A row is a sample here, as everywhere in a network. V is trained too where
    ``layer.fixed.trainable = True`` is set before the network is made; the paper's right inverse
    refuses that.

    Parameters
    ----------
    width : int
        d, even: the halves are the first and the last d/2 units.
    bottleneck : int or None
        d', the number of rows of V. None: no V, F(x) = W s(x).
    moves : {"first", "second"}
        Which half moves: the first in Eq. (14), the second in Eq. (15).
    activation : str or ActivationFunction
    bias : bool
        A trained bias b: the row of ones that is appended to s(V x).
    init, fixed_init : as for :class:`~secondorder.nets.Linear`
        Of W and of V.
    rng : None, int or numpy.random.Generator

    Attributes
    ----------
    layers : tuple of Layer
        V (unless there is no bottleneck), the activation, W.
    trained, fixed : Linear
        The layers of W and of V; `fixed` is None without a bottleneck.

    Raises
    ------
    ValueError, TypeError
        An odd or too small width, an unknown half, or what `Linear` refuses.
    """

    many_directions = True

    def __init__(self, width, bottleneck, moves, activation="relu", bias=False, init="xavier",
                 fixed_init="uniform", rng=None):
        super().__init__(trainable=True)
        if whole_number(width, "width", 2) % 2:
            raise ValueError(f"width must be even, got {width}: a coupling layer splits it in two")
        self.moves, self.half = one_of(HALVES, moves, "moves"), int(width) // 2
        first, second = slice(0, self.half), slice(self.half, 2 * self.half)
        self.moved, self.source = (first, second) if moves == "first" else (second, first)
        layers = [] if bottleneck is None else [
            Linear(self.half, bottleneck, bias=False, trainable=False, init=fixed_init, rng=rng)]
        layers += [Activation(activation),
                   Linear(bottleneck or self.half, self.half, bias=bias, init=init, rng=rng)]
        self.inner = Chain(layers)
        self.children, self.input_shape = (self.inner,), (2 * self.half,)

    layers = property(lambda self: self.inner.layers)
    trained = property(lambda self: self.layers[-1])
    fixed = property(lambda self: self.layers[0] if len(self.layers) == 3 else None)

    def saved_arguments(self):
        """What the constructor takes, for :mod:`~secondorder.nets.saving`."""
        return {"width": 2 * self.half, "moves": self.moves, "activation": self.layers[-2].function,
                "bottleneck": None if self.fixed is None else self.fixed.out_features,
                "bias": self.trained.bias is not None}

    def weight_and_bias(self, Delta):
        """Of Delta (d/2, d'), with a column for the bias if there is one: those of W, and of b."""
        W = Delta[:, :self.trained.in_features]
        return (W,) if self.trained.bias is None else (W, Delta[:, -1])

    # -- there and back --------------------------------------------------------------------------

    def _joined(self, moved, source):
        """An array (..., d) from its two halves."""
        axes = np.broadcast_shapes(moved.shape[:-1], source.shape[:-1])
        whole = np.empty(axes + (2 * self.half,), dtype=np.result_type(moved, source))
        whole[..., self.moved], whole[..., self.source] = moved, source
        return whole

    def _forth(self, x, change):
        """y_m = x_m + change, y_k = x_k; an x of None is zero."""
        if x is None:
            return self._joined(change, np.zeros_like(change))
        return self._joined(x[..., self.moved] + change, x[..., self.source])

    def _back(self, y_bar, through_F):
        """x_bar_m = y_bar_m, x_bar_k = y_bar_k + F'^T y_bar_m."""
        return self._joined(y_bar[..., self.moved], y_bar[..., self.source] + through_F)

    def forward(self, x):
        """Eqs. (14), (15): y_sm = x_sm + F(x_k)_sm, y_sk = x_sk."""
        change, inner = self.inner.forward(x[:, self.source])
        y = self._joined(HALVES[self.moves](x[:, self.moved], change), x[:, self.source])
        return y, CouplingSaved(x, y, inner)

    def inverse(self, y):
        """The input x (S, d) that gives y: x_m = y_m - F(y_k)."""
        return self._forth(y, -self.inner.forward(y[:, self.source])[0])

    # -- the other passes ------------------------------------------------------------------------

    def input_gradient(self, saved, y_bar):
        """x_bar_sm = y_bar_sm, x_bar_sk = y_bar_sk + sum_m y_bar_sm dF_sm/dx_sk."""
        return self._back(y_bar, self.inner.input_gradient(saved.inner, y_bar[..., self.moved]))

    def parameter_bars(self, saved, y_bar, out=(None,)):
        """W_bar_mj = sum_s y_bar_sm S_js; with V_bar before it if V was made trainable."""
        return (self.inner.parameter_gradient(saved.inner, y_bar[..., self.moved], out[0]),)

    def parameter_gradients(self, saved, y_bar, out=(None,)):
        """[s, mj] = y_bar_sm S_js; V's gradients come first if V was made trainable."""
        only_w = self.size == self.trained.size  # which needs nothing of the layers before it
        part, own = (self.trained, saved.inner[-1]) if only_w else (self.inner, saved.inner)
        return (part.flat_parameter_gradients(own, y_bar[:, self.moved], out[0]),)

    def tangent(self, saved, x_tangent, theta_tangent=None):
        """y_tangent_sm = x_tangent_sm + F_tangent_sm, y_tangent_sk = x_tangent_sk."""
        x_source = None if x_tangent is None else x_tangent[..., self.source]
        change, inner = self.inner.flat_tangent(saved.inner, x_source, theta_tangent)
        return self._forth(x_tangent, change), inner

    def second_tangent(self, saved, moved, x_second):
        """y_second_sm = x_second_sm + F_second_sm, y_second_sk = x_second_sk."""
        x_source = None if x_second is None else x_second[..., self.source]
        return self._forth(x_second, self.inner.second_tangent(saved.inner, moved.left, x_source))

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """The pass of F for y_bar_m, and y_bar_tangent itself in both halves of the input."""
        return self.walk_back_along(saved, moved, y_bar, y_bar_tangent, None, needed=True)

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent, out=(None,)):
        """The pass of F for y_bar_m."""
        bars = self.inner.output_gradients(saved.inner, y_bar[:, self.moved])
        return (self.inner.backward_tangent_from(saved.inner, moved.left.left, bars,
                                                 y_bar_tangent[..., self.moved], out[0])[1],)

    def walk_back_along(self, saved, moved, y_bar, y_bar_tangent, pieces, needed):
        """Both halves, with one pass through F."""
        back = self.inner.flat_backward_tangent(saved.inner, moved.left, y_bar[:, self.moved],
                                                y_bar_tangent[..., self.moved],
                                                *(pieces or [None]), needed)
        return self._back(y_bar_tangent, back) if needed else None

    def input_hessian(self, saved, y_bar, H_y):
        """J^T H J with J = I + F' in the rows m and columns k, plus sum_m y_bar_sm Hess(F_sm)."""
        m, k = self.moved, self.source
        H_x = np.array(H_y)
        columns = np.ascontiguousarray(H_y[:, m].transpose(2, 0, 1))  # F'^T H_m*; H is symmetric
        through = self.inner.input_gradient(saved.inner, columns).transpose(1, 2, 0)
        H_x[:, k, m] += through[:, :, m]
        H_x[:, m, k] += through[:, :, m].transpose(0, 2, 1)
        H_x[:, k, k] += through[:, :, k] + through[:, :, k].transpose(0, 2, 1)
        H_x[:, k, k] += self.inner.input_hessian(saved.inner, np.ascontiguousarray(y_bar[:, m]),
                                                 np.ascontiguousarray(H_y[:, m, m]))
        return H_x

    def __repr__(self):
        function = self.layers[-2].function
        features = "" if self.fixed is None else f", bottleneck={self.fixed.out_features}"
        bias = "" if self.trained.bias is None else ", bias=True"
        name = getattr(function, "name", function)
        return f"Coupling({2 * self.half}{features}, moves='{self.moves}', {name}{bias})"


class CouplingBlock(NamedTuple):
    """A full coupling layer, (14) and then (15), of two `Coupling`.

    ``W1``, ``W2`` (d/2, d') are W^(1)_l and W^(2)_l, trained; writable views. ``Va``, ``Vb``
    (d', d/2), None without a bottleneck, are fixed: V^(2)_{l-1}, which acts on the second half
    below, and V^(1)_l, which acts on the new first half.
    """

    first: Coupling
    second: Coupling

    def inverse(self, y):
        """The input (S, d) of the block that gives y."""
        return self.first.inverse(self.second.inverse(y))

    W1 = property(lambda self: self.first.trained.weight)
    W2 = property(lambda self: self.second.trained.weight)
    Va = property(lambda self: self.first.fixed and self.first.fixed.weight)
    Vb = property(lambda self: self.second.fixed and self.second.fixed.weight)
