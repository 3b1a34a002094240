"""Tangents of many directions at once through the layers of images, and the way back.

As in :mod:`secondorder.exact.columns`: arrays of tangents are (S, K, ...), vectors of parameters
the rows of (K, size). What is linear in its input takes the K directions of a sample as K samples.
A convolution gathers the patches of a sample once for all directions; with Z_s those of sample s, a
row for every entry of the kernel and a column for every place, and T_sk those of its tangent,

    y_tangent_sk = W T_sk + V_k Z_s + c_k.
"""

import importlib
import math

import numpy as np


def _loops(module):
    # here, so that numba is loaded by the first convolution, not by an import
    return importlib.import_module(module, __package__)


def sizes(layer, saved, paddings=(0, 0)):
    """What compiled windows know of an image: `secondorder.compiled.kinds.SIZES`."""
    return np.array([*saved.input.shape[1:], *saved.output.shape[2:], *layer.kernel,
                     *layer.strides, *paddings, 0])


def joined(array):
    """(S, K, ...) as (S K, ...), in C order."""
    return np.ascontiguousarray(array).reshape(-1, *array.shape[2:])


def repeated(saved, K):
    """What a layer saved, for K copies of every sample, one after the other."""
    return type(saved)(*(np.repeat(array, K, axis=0) for array in saved))


# -- layers that are linear in x, without parameters -----------------------------------------------


def linear_tangent(layer, saved, t, rows):
    """`tangent` of K copies of every sample."""
    y_tangent = layer.tangent(repeated(saved, t.shape[1]), joined(t), None)
    return y_tangent.reshape(*t.shape[:2], *y_tangent.shape[1:])


def linear_backward(layer, saved, t, rows, y_bar, bar, needs_input):
    """`input_gradient` of K copies of every sample."""
    x_bar = layer.input_gradient(repeated(saved, bar.shape[1]), joined(bar))
    return x_bar.reshape(*bar.shape[:2], *x_bar.shape[1:]), None


def pooled_tangent(layer, saved, t, rows):
    """y_tangent_skpq = sum_l a_spql t_sk.., by the compiled loops of the layer's own pass."""
    y = np.empty((*t.shape[:3], *saved.output.shape[2:]), t.dtype)
    _pool(layer, saved, joined(t), y, ("average_pool_forward", "max_pool_tangent"))
    return y


def pooled_backward(layer, saved, t, rows, y_bar, bar, needs_input):
    """The way back of `pooled_tangent`."""
    x_bar = np.empty((*bar.shape[:3], *saved.input.shape[2:]), bar.dtype)
    _pool(layer, saved, joined(bar), x_bar,
          ("average_pool_input_gradient", "max_pool_input_gradient"))
    return x_bar, None


def _pool(layer, saved, given, out, names):
    """Call the function of means, or of maxima, whose places are the same for all directions."""
    average, largest = (getattr(_loops("..compiled.layers.pooling"), name) for name in names)
    size, out = sizes(layer, saved), out.reshape(-1)
    if hasattr(saved, "chosen"):
        K = len(given) // len(saved.chosen)
        largest(given.ravel(), np.repeat(saved.chosen, K, axis=0).ravel(), size, out)
    else:
        average(given.ravel(), size, out)


# -- convolution -----------------------------------------------------------------------------------


class Patches:
    """Patches of a convolution's images, and their way back, for the images of one batch."""

    def __init__(self, layer, saved):
        self.shape, self.places = saved.input.shape[1:], saved.output.shape[2:]
        self.size = sizes(layer, saved, layer.paddings)
        self.entries = math.prod(layer.weight.shape[1:])
        self.W = layer.weight.reshape(layer.out_channels, self.entries)

    def room(self, count):
        """An array for the patches of so many images."""
        return np.empty((count, self.entries, math.prod(self.places)), self.W.dtype)

    def gathered(self, x, out):
        """Z (N, entries, places) of images (N, C, H, W), in `out`."""
        _loops(".loops").gathered(x.reshape(len(x), -1), self.size, out)
        return out

    def spread(self, Z_bar, out):
        """Sums of Z_bar (N, entries, places) at the places in `out` (N, C, H, W) they come from."""
        _loops(".loops").spread(Z_bar, self.size, out.reshape(len(out), -1))

    def kernels(self, layer, rows):
        """V (K, out, entries) of rows (K, size)."""
        return layer.split(rows)[0].reshape(len(rows), len(self.W), self.entries)


def convolution_tangent(layer, saved, t, rows):
    """y_tangent_sk = W T_sk + V_k Z_s + c_k; rows k = (V_k, c_k)"""
    patches, S = Patches(layer, saved), len(saved.input)
    K = len(rows) if t is None else t.shape[1]
    out, places = len(patches.W), math.prod(patches.places)
    y = np.empty((S, K, out, places), saved.output.dtype)
    if rows is not None:
        V = patches.kernels(layer, rows).reshape(K * out, -1)
        Z = patches.gathered(np.ascontiguousarray(saved.input), patches.room(S))
        np.matmul(V, Z, out=y.reshape(S, K * out, places))
    if t is not None:
        T, t = patches.room(K), np.ascontiguousarray(t)
        for s in range(S):
            moved = np.matmul(patches.W, patches.gathered(t[s], T))
            y[s] = moved if rows is None else y[s] + moved
    if rows is not None and layer.bias is not None:
        y += layer.split(rows)[1][:, :, None]
    return y.reshape(S, K, out, *patches.places)


def convolution_backward(layer, saved, t, rows, y_bar, bar, needs_input):
    """Z_bar_sk = W^T bar_sk + V_k^T y_bar_s, summed at the places of x;
    W_bar_k = sum_s bar_sk Z_s^T + y_bar_s T_sk^T;  b_bar_ko = sum_s,places bar_sko
    """
    patches, (S, K) = Patches(layer, saved), bar.shape[:2]
    out, entries, bars = len(patches.W), patches.entries, bar.reshape(S, K, len(patches.W), -1)
    below = np.empty((S, K, *patches.shape), bar.dtype) if needs_input else None
    moving = rows is not None and y_bar is not None
    V_T = patches.kernels(layer, rows).swapaxes(1, 2).reshape(K * entries, out) if moving else None
    W_bar, T = np.zeros((K, out, entries), bar.dtype), patches.room(K)
    Z = patches.gathered(np.ascontiguousarray(saved.input), patches.room(S)) if layer.size else None
    t = None if t is None else np.ascontiguousarray(t)
    for s in range(S):
        g = None if y_bar is None else y_bar[s].reshape(out, -1)
        if needs_input:
            Z_bar = np.matmul(patches.W.T, bars[s], out=T)
            if moving:
                Z_bar += (V_T @ g).reshape(Z_bar.shape)
            patches.spread(Z_bar, below[s])
        if layer.size:
            W_bar += (bars[s].reshape(K * out, -1) @ Z[s].T).reshape(W_bar.shape)
            if t is not None:
                W_bar += np.matmul(g, patches.gathered(t[s], T).swapaxes(1, 2))
    if not layer.size:
        return below, None
    own = np.empty((K, layer.size), bar.dtype)
    own[:, : out * entries] = W_bar.reshape(K, -1)
    if layer.bias is not None:
        bars.sum(axis=(0, 3), out=own[:, out * entries :])
    return below, own


# -- normalisation ---------------------------------------------------------------------------------


def normalisation_tangent(layer, saved, t, rows):
    """`LayerNorm.tangent` with an axis more: y_tangent_sk = w z_tangent_sk + v_k z_s + c_k"""
    saved, result = _over_directions(saved), 0
    if t is not None:
        result = layer.weight * layer._back(saved, t)
    if rows is not None:
        v, c = (_like(part, saved.input) for part in layer.split(rows))
        result = result + v * saved.normalised + c
    return result


def normalisation_backward(layer, saved, t, rows, y_bar, bar, needs_input):
    """`LayerNorm.backward_tangent` with an axis more."""
    saved = _over_directions(saved)
    z, r, mean = saved.normalised, saved.rate, layer.mean
    z_bar_tangent, w_bar = layer.weight * bar, bar * z
    if y_bar is not None:
        y_bar = y_bar[:, None]
        z_bar = layer.weight * y_bar
        if rows is not None:
            z_bar_tangent = z_bar_tangent + _like(layer.split(rows)[0], saved.input) * y_bar
    below = layer._back(saved, z_bar_tangent)
    if t is not None:
        z_tangent, q = layer._back(saved, t), -mean(z * r * t)
        below += (q * layer._back(saved, z_bar) - r * z_tangent * mean(z * z_bar)
                  - r * z * mean(z_tangent * z_bar))
        w_bar = w_bar + y_bar * z_tangent
    if not layer.size:
        return below, None
    return below, np.concatenate([_sums(layer, w_bar), _sums(layer, bar)], axis=1)


def _over_directions(saved):
    """What a layer saved, with an axis of length 1 for the directions."""
    return type(saved)(*(array[:, None] for array in saved))


def _like(part, x):
    """Parameters (K, *shape) as (K, 1, ..., *shape), to stand beside arrays like x (S, K, ...)."""
    return part.reshape(len(part), *(1,) * (x.ndim - 1 - part.ndim), *part.shape[1:])


def _sums(layer, a):
    """(K, size of a block) of (S, K, ...): sums over samples and blocks."""
    return a.reshape(*a.shape[:2], -1, layer.weight.size).sum(axis=(0, 2))
