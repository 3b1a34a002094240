"""Coupling layers: one half of the units moves by a function of the other half, which stays, so
that it can be undone.
"""

from typing import NamedTuple

import numpy as np

from ...checks import one_of, whole_number
from ...nets import Activation, Chain, ChainSaved, Layer, Linear

HALVES = ("first", "second")


class CouplingSaved(NamedTuple):
    """What `Coupling.forward` leaves behind: input and output (S, d), and what the layers of F
    saved.
    """

    input: np.ndarray
    output: np.ndarray
    inner: ChainSaved


class Coupling(Layer):
    """A half-coupled layer, Eqs. (14) and (15):

        y_m = x_m + F(x_k),  y_k = x_k

    m is the half that moves, k the half that stays, and F(x) = W s(V x) (+ b) with V fixed and W
    (and b) trained. Rows are samples here: S^T = s(x_k V^T) has the shape (S, d').
    ``layer.fixed.trainable = True``, set before the network is made, trains V too; the paper's
    right inverse refuses that.

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
        one_of(HALVES, moves, "moves")
        self.moves, self.half = moves, int(width) // 2
        first, second = slice(0, self.half), slice(self.half, 2 * self.half)
        self.moved, self.source = (first, second) if moves == "first" else (second, first)
        layers = [] if bottleneck is None else [
            Linear(self.half, bottleneck, bias=False, trainable=False, init=fixed_init, rng=rng)]
        layers += [Activation(activation),
                   Linear(bottleneck or self.half, self.half, bias=bias, init=init, rng=rng)]
        self.inner = Chain(layers)
        self.children = (self.inner,)
        self.input_shape = (2 * self.half,)

    def saved_arguments(self):
        """What the constructor takes, for :mod:`~secondorder.nets.saving`."""
        return {"width": 2 * self.half, "moves": self.moves, "activation": self.layers[-2].function,
                "bottleneck": None if self.fixed is None else self.fixed.out_features,
                "bias": self.trained.bias is not None}

    # -- parameters ------------------------------------------------------------------------------

    @property
    def layers(self):
        """The layers of F: V (unless there is no bottleneck), the activation, W."""
        return self.inner.layers

    @property
    def trained(self):
        """The linear layer with W, and b if there is one."""
        return self.layers[-1]

    @property
    def fixed(self):
        """The linear layer with V, or None."""
        return self.layers[0] if len(self.layers) == 3 else None

    # -- forward and back ------------------------------------------------------------------------

    def _joined(self, moved, source):
        """An array (..., d) from its two halves."""
        axes = np.broadcast_shapes(moved.shape[:-1], source.shape[:-1])
        whole = np.empty(axes + (2 * self.half,), dtype=np.result_type(moved, source))
        whole[..., self.moved], whole[..., self.source] = moved, source
        return whole

    def forward(self, x):
        """y_sm = x_sm + F(x_k)_sm, y_sk = x_sk."""
        change, inner = self.inner.forward(x[:, self.source])
        y = self._joined(x[:, self.moved] + change, x[:, self.source])
        return y, CouplingSaved(x, y, inner)

    def inverse(self, y):
        """The input x (S, d) that gives y: x_m = y_m - F(y_k)."""
        return self.undone(y)[0]

    def undone(self, y):
        """The input that gives y, and what `forward` saves at it."""
        change, inner = self.inner.forward(y[:, self.source])
        x = self._joined(y[:, self.moved] - change, y[:, self.source])
        return x, CouplingSaved(x, y, inner)

    def inverse_tangent(self, saved, y_tangent):
        """The tangent of the input (S, d) for a tangent e of the output, parameters fixed:

            x_tangent_sm = e_sm - sum_k dF_sm/dx_sk e_sk,  x_tangent_sk = e_sk
        """
        change, _ = self.inner.flat_tangent(saved.inner, y_tangent[:, self.source], None)
        return self._joined(y_tangent[:, self.moved] - change, y_tangent[:, self.source])

    # -- the other passes ------------------------------------------------------------------------

    def input_gradient(self, saved, y_bar):
        """x_bar_sm = y_bar_sm, x_bar_sk = y_bar_sk + sum_m y_bar_sm dF_sm/dx_sk."""
        y_bar_m = y_bar[..., self.moved]
        back = self.inner.input_gradient(saved.inner, y_bar_m)
        return self._joined(y_bar_m, y_bar[..., self.source] + back)

    def _trained_part(self, saved):
        """The layer of W, which needs nothing of those before it; all of F if V is trained too."""
        alone = self.size == self.trained.size
        return (self.trained, saved.inner[-1]) if alone else (self.inner, saved.inner)

    def parameter_bars(self, saved, y_bar, out=(None,)):
        """W_bar_mj = sum_s y_bar_sm S_js; with V_bar before it if V was made trainable."""
        part, own = self._trained_part(saved)
        return (part.parameter_gradient(own, y_bar[..., self.moved], out[0]),)

    def parameter_gradients(self, saved, y_bar, out=(None,)):
        """[s, mj] = y_bar_sm S_js; V's gradients come first if V was made trainable."""
        part, own = self._trained_part(saved)
        return (part.flat_parameter_gradients(own, y_bar[:, self.moved], out[0]),)

    def tangent(self, saved, x_tangent, theta_tangent=None):
        """y_tangent_sm = x_tangent_sm + F_tangent_sm, y_tangent_sk = x_tangent_sk."""
        x_source = None if x_tangent is None else x_tangent[..., self.source]
        change, inner = self.inner.flat_tangent(saved.inner, x_source, theta_tangent)
        if x_tangent is None:
            return self._joined(change, np.zeros_like(change)), inner
        return self._joined(x_tangent[..., self.moved] + change, x_source), inner

    def second_tangent(self, saved, moved, x_second):
        """y_second_sm = x_second_sm + F_second_sm, y_second_sk = x_second_sk."""
        if x_second is None:
            change = self.inner.second_tangent(saved.inner, moved.left, None)
            return self._joined(change, np.zeros_like(change))
        x_source = x_second[..., self.source]
        change = self.inner.second_tangent(saved.inner, moved.left, x_source)
        return self._joined(x_second[..., self.moved] + change, x_source)

    def input_gradient_tangent(self, saved, moved, y_bar, y_bar_tangent):
        """The pass of F for y_bar_m, and y_bar_tangent itself in both halves of the input."""
        y_bar_tangent_m = y_bar_tangent[..., self.moved]
        back = self.inner.input_gradient_tangent(saved.inner, moved.left, y_bar[:, self.moved],
                                                 y_bar_tangent_m)
        return self._joined(y_bar_tangent_m, y_bar_tangent[..., self.source] + back)

    def parameter_bars_tangent(self, saved, moved, y_bar, y_bar_tangent, out=(None,)):
        """The pass of F for y_bar_m."""
        bars = self.inner.output_gradients(saved.inner, y_bar[:, self.moved])
        return (self.inner.backward_tangent_from(saved.inner, moved.left.left, bars,
                                                 y_bar_tangent[..., self.moved], out[0])[1],)

    def walk_back_along(self, saved, moved, y_bar, y_bar_tangent, pieces, needed):
        """Both halves, with one pass through F."""
        y_bar_tangent_m = y_bar_tangent[..., self.moved]
        back = self.inner.flat_backward_tangent(saved.inner, moved.left, y_bar[:, self.moved],
                                                y_bar_tangent_m, *(pieces or [None]), needed)
        if not needed:
            return None
        return self._joined(y_bar_tangent_m, y_bar_tangent[..., self.source] + back)

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
    """A full coupling layer, Eqs. (14)-(15): two half-coupled layers, first half then second.

    Attributes
    ----------
    first, second : Coupling
    W1, W2 : (d/2, d') arrays
        W^(1)_l and W^(2)_l, trained; writable views. (``block.first.trained.weight = ...``
        assigns.)
    Va, Vb : (d', d/2) arrays, or None without a bottleneck
        V^(2)_{l-1}, which acts on the second half below, and V^(1)_l, which acts on the new first
        half; fixed.
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
