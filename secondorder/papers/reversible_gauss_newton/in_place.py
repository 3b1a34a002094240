"""The twin of a half-coupled layer, which writes into arrays that are used again; see
:mod:`secondorder.nets.in_place`.
"""

from ...nets.in_place import InPlace, in_place, like_x, like_y, twins
from .coupling import Coupling, CouplingSaved


@twins.register(Coupling)
class CouplingInPlace(InPlace):
    """y_m = x_m + F(x_k), y_k = x_k."""

    y, y_tangent, x_bar, x_tangent = like_y(), like_y(), like_x(), like_x()

    def __init__(self, layer, input_shape, dtype):
        super().__init__(layer, input_shape, dtype)
        self.moved, self.source = layer.moved, layer.source
        self.inner = in_place(layer.inner, (layer.half,), dtype)
        # as Coupling._trained_part
        self.alone = layer.size == layer.trained.size
        self.trained = self.inner.layers[-1] if self.alone else self.inner

    def resize(self, rows):
        super().resize(rows)
        self.inner.resize(rows)

    def forward(self, x):
        m, y = self.moved, self.y
        change, inner = self.inner.forward(x[:, self.source])
        y[...] = x
        y[:, m] += change
        return y, CouplingSaved(x, y, inner)

    def inverse_tangent(self, saved, y_tangent):
        """As `Coupling.inverse_tangent`."""
        x_tangent = self.x_tangent
        change = self.inner.tangent(saved.inner, y_tangent[:, self.source], None)
        x_tangent[...] = y_tangent
        x_tangent[:, self.moved] -= change
        return x_tangent

    def input_gradient(self, saved, y_bar):
        x_bar = self.x_bar
        back = self.inner.input_gradient(saved.inner, y_bar[:, self.moved])
        x_bar[...] = y_bar
        x_bar[:, self.source] += back
        return x_bar

    def parameter_gradient(self, saved, y_bar, out):
        own_saved = saved.inner[-1] if self.alone else saved.inner
        return self.trained.parameter_gradient(own_saved, y_bar[:, self.moved], out)

    def parameter_gradients(self, saved, y_bar, out):
        own_saved = saved.inner[-1] if self.alone else saved.inner
        return self.trained.parameter_gradients(own_saved, y_bar[:, self.moved], out)

    def tangent(self, saved, x_tangent, theta_tangent):
        y_tangent = self.y_tangent
        x_source = None if x_tangent is None else x_tangent[:, self.source]
        change = self.inner.tangent(saved.inner, x_source, theta_tangent)
        y_tangent[...] = 0 if x_tangent is None else x_tangent
        y_tangent[:, self.moved] += change
        return y_tangent


def halves_of(network, passes=None):
    """The half-coupled layers of a network, in order, or their twins in that of its chain."""
    where = slice(network._begin, network._end)
    if passes is None or passes is network.chain:
        return network.layers[where]
    return [twin if isinstance(twin, CouplingInPlace) else twin.layer
            for twin in passes.layers[where]]
