"""Twin of `Conv2d`: a few samples at a time, their patches are gathered into one array that stays
in the cache, and every sum over windows is a matrix product with them.

With Z_s the patches of sample s, a row for every entry of the kernel and a column for every place,
W (out, entries) and Y_bar_s (out, places):

y_s = W Z_s,    Z_bar_s = W^T Y_bar_s,    W_bar_s = Y_bar_s Z_s^T
"""

import math

import numpy as np

from ..layers import Conv2d, Conv2dSaved
from . import InPlace, twins
from .base import Buffer, like_x, like_y

ROOM = 2**15  # numbers that the patches of the samples of one turn may take


def _loops():
    # here, so that numba is loaded by the first convolution, not by an import
    from . import loops

    return loops


@twins.register(Conv2d)
class ConvolutionInPlace(InPlace):
    """Sums over windows as matrix products with patches.

    Attributes
    ----------
    entries, places : int
        Entries of a kernel with all its channels, and places of an output.
    turn : int
        Samples of one turn.
    """

    y, y_tangent = like_y(), like_y()
    x_bar, x_bar_tangent = like_x(), like_x()
    patches = Buffer(lambda twin: (twin.turn, twin.entries, twin.places))
    both_patches = Buffer(lambda twin: (1, 2 * twin.entries, twin.places))
    bars = Buffer(lambda twin: (twin.turn, 2 * twin.out, twin.places))
    kernels = Buffer(lambda twin: (twin.turn, twin.out, twin.entries))
    weights = Buffer(lambda twin: (twin.out, 2 * twin.entries))
    b_bars = Buffer(lambda twin: (twin.rows, twin.out))

    def __init__(self, layer, input_shape, dtype):
        super().__init__(layer, input_shape, dtype)
        self.out, self.entries = layer.out_channels, math.prod(layer.weight.shape[1:])
        self.places = math.prod(self.output_shape[1:])
        self.geometry = layer.kernel, layer.strides, layer.paddings, self.output_shape[1:]
        self.W, self.b = layer.weight.reshape(self.out, self.entries), layer.bias
        self.trained_bias = self.b is not None and self.size > 0

    def resize(self, rows):
        super().resize(rows)
        self.turn = max(1, min(rows, ROOM // (self.entries * self.places)))

    def split(self, theta):
        """Views (..., out, entries) and (..., out) of flat vectors (..., size), which are trained;
        None without a bias.
        """
        W = theta[..., :self.W.size].reshape(*theta.shape[:-1], *self.W.shape)
        return W, theta[..., self.W.size:] if self.trained_bias else None

    def turns(self):
        """Slices of samples."""
        return (slice(start, min(start + self.turn, self.rows))
                for start in range(0, self.rows, self.turn))

    def _columns(self, y):
        """(S, out, P, Q) as (S, out, places)."""
        return y.reshape(len(y), -1, self.places)

    def gathered(self, x, patches):
        """The patches of some images, written to the array (S, entries, places)."""
        _loops().gather(x.ravel(), x.shape, *self.geometry, patches.reshape(-1))
        return patches

    # -- the three products ------------------------------------------------------------------------

    def convolve(self, x, W, out):
        """W Z for all samples; W (channels, entries), `out` (S, channels, P, Q)."""
        y = self._columns(out)
        for some in self.turns():
            Z = self.gathered(x[some], self.patches[:some.stop - some.start])
            np.matmul(W, Z, out=y[some])
        return out

    def convolve_back(self, y_bar, W, out):
        """The sums of W^T Y_bar over the windows of every entry of `out`, like x."""
        bars = self._columns(y_bar)
        for some in self.turns():
            count = some.stop - some.start
            Z_bar = np.matmul(W.T, bars[some], out=self.patches[:count])
            self._spread(Z_bar, out[some])
        return out

    def _spread(self, Z_bar, x_bar):
        _loops().spread(Z_bar.reshape(-1), x_bar.shape, *self.geometry, x_bar.reshape(-1))

    def correlate(self, pairs, out):
        """The sum over samples of Y_bar Z^T, over pairs (y_bar, x) of whole batches; `out`
        (out, entries).
        """
        out[...] = 0
        for y_bar, x in pairs:
            bars = self._columns(y_bar)
            for some in self.turns():
                count = some.stop - some.start
                Z = self.gathered(x[some], self.patches[:count])
                products = np.matmul(bars[some], Z.transpose(0, 2, 1), out=self.kernels[:count])
                out += products[0] if count == 1 else np.add.reduce(products, axis=0)
        return out

    # -- the passes --------------------------------------------------------------------------------

    def forward(self, x):
        y = self._columns(self.y)
        for some in self.turns():
            Z = self.gathered(x[some], self.patches[:some.stop - some.start])
            np.matmul(self.W, Z, out=y[some])
            if self.b is not None:
                y[some] += self.b[:, None]
        return self.y, Conv2dSaved(x, self.y)

    def input_gradient(self, saved, y_bar):
        return self.convolve_back(y_bar, self.W, self.x_bar)

    def _bias(self, y_bar, out):
        if self.trained_bias:
            np.add.reduce(self._columns(y_bar), axis=2, out=self.b_bars)
            np.add.reduce(self.b_bars, axis=0, out=out)

    def parameter_gradient(self, saved, y_bar, out):
        if self.size:
            W_bar, b_bar = self.split(out)
            self.correlate([(y_bar, saved.input)], W_bar)
            self._bias(y_bar, b_bar)
        return out

    def parameter_gradients(self, saved, y_bar, out):
        if not self.size:
            return out
        W_bars, b_bars = self.split(out)
        bars = self._columns(y_bar)
        for some in self.turns():
            Z = self.gathered(saved.input[some], self.patches[:some.stop - some.start])
            np.matmul(bars[some], Z.transpose(0, 2, 1), out=W_bars[some])
        if b_bars is not None:
            np.add.reduce(bars, axis=2, out=b_bars)
        return out

    def tangent(self, saved, x_tangent, theta_tangent):
        """One product [W V] [Z_tangent; Z] where both move."""
        y_tangent, n = self.y_tangent, self.entries
        V, c = (None, None) if theta_tangent is None or not self.size else self.split(
            theta_tangent)
        if V is None and x_tangent is None:
            y_tangent[...] = 0
        elif V is None or x_tangent is None:
            x, W = (x_tangent, self.W) if V is None else (saved.input, V)
            self.convolve(x, W, y_tangent)
        else:
            both, Z, y = self.weights, self.both_patches, self._columns(y_tangent)
            both[:, :n], both[:, n:] = self.W, V
            for s in range(self.rows):
                self.gathered(x_tangent[s:s + 1], Z[:, :n])
                self.gathered(saved.input[s:s + 1], Z[:, n:])
                np.matmul(both, Z, out=y[s:s + 1])
        if c is not None:
            y_tangent += c[:, None, None]
        return y_tangent

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent, out,
                         needs_input=True):
        """One product [W; V]^T [Y_bar_tangent; Y_bar] where the parameters move."""
        if self.size:
            W_bar, b_bar = self.split(out)
            pairs = [(y_bar_tangent, saved.input)]
            self.correlate(pairs + ([] if x_tangent is None else [(y_bar, x_tangent)]), W_bar)
            self._bias(y_bar_tangent, b_bar)
        if not needs_input:
            return None, out
        x_bar = self.x_bar_tangent
        if theta_tangent is None or not self.size:
            return self.convolve_back(y_bar_tangent, self.W, x_bar), out
        V, _ = self.split(theta_tangent)
        both, bars = self.weights.reshape(2 * self.out, self.entries), self.bars
        both[:self.out], both[self.out:] = self.W, V
        for some in self.turns():
            count = some.stop - some.start
            bars[:count, :self.out] = self._columns(y_bar_tangent)[some]
            bars[:count, self.out:] = self._columns(y_bar)[some]
            Z_bar = np.matmul(both.T, bars[:count], out=self.patches[:count])
            self._spread(Z_bar, x_bar[some])
        return x_bar, out
