"""Twins of `AvgPool2d` and `MaxPool2d`: one compiled pass over the images."""

import numpy as np

from ..layers import AvgPool2d, AvgPool2dSaved, MaxPool2d, MaxPool2dSaved
from . import InPlace, twins
from .base import like_x, like_y


def _loops():
    # here, so that numba is loaded by the first pooling, not by an import
    from . import loops

    return loops


class PoolingInPlace(InPlace):
    """What both kinds share: `pool` pools images like x, `spread` is its reverse mode."""

    y, y_tangent = like_y(), like_y()
    x_bar, x_bar_tangent = like_x(), like_x()

    def __init__(self, layer, input_shape, dtype):
        super().__init__(layer, input_shape, dtype)
        self.geometry = layer.kernel, layer.strides, self.output_shape[1:]

    def images(self):
        """Shape of all channels of all samples, one after the other."""
        return self.rows * self.input_shape[0], *self.input_shape[1:]

    def input_gradient(self, saved, y_bar):
        return self.spread(saved, y_bar, self.x_bar)

    def tangent(self, saved, x_tangent, theta_tangent):
        if x_tangent is None:
            self.y_tangent[...] = 0
            return self.y_tangent
        return self.pool(saved, x_tangent, self.y_tangent)

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent, out,
                         needs_input=True):
        return self.spread(saved, y_bar_tangent, self.x_bar_tangent), out


@twins.register(AvgPool2d)
class AvgPoolInPlace(PoolingInPlace):

    def forward(self, x):
        y = self.pool(None, x, self.y)
        return y, AvgPool2dSaved(x, y)

    def pool(self, saved, x, out):
        _loops().means(x.ravel(), self.images(), *self.geometry, out.reshape(-1))
        return out

    def spread(self, saved, y_bar, out):
        _loops().from_means(y_bar.ravel(), self.images(), *self.geometry, out.reshape(-1))
        return out


@twins.register(MaxPool2d)
class MaxPoolInPlace(PoolingInPlace):

    def resize(self, rows):
        super().resize(rows)
        self.chosen = np.empty((rows, *self.output_shape), np.intp)

    def forward(self, x):
        y, chosen = self.y, self.chosen
        _loops().largest(x.ravel(), self.images(), *self.geometry, y.reshape(-1),
                         chosen.reshape(-1))
        return y, MaxPool2dSaved(x, y, chosen)

    def pool(self, saved, x, out):
        _loops().chosen_entries(x.ravel(), self.images(), saved.chosen.ravel(), *self.geometry,
                                out.reshape(-1))
        return out

    def spread(self, saved, y_bar, out):
        _loops().to_chosen_entries(y_bar.ravel(), self.images(), saved.chosen.ravel(),
                                   *self.geometry, out.reshape(-1))
        return out
