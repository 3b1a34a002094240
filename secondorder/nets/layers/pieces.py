"""The passes of a layer with flat vectors, as a network calls them, and with their pieces, as the
layers in a row hand them on: one piece for each parameter.

The layers of this package say ``many_directions = True``: any number of directions may stand in
front, as in (K, S, n), a tangent that is zero may be None, and arrays may be given for results
(`out`). For all others `between` calls a pass once for each direction.
"""

from typing import NamedTuple

import numpy as np


class Moved(NamedTuple):
    """How a layer moves along a direction: the tangents of its input and of its parameters, in the
    order of `declare`, and what its pass `tangent` left for the way back.
    """

    x_tangent: np.ndarray | None
    theta_tangents: tuple
    left: object = None


def unmoved(moved):
    """Zeros like the tangent of the input."""
    return np.zeros_like(moved.x_tangent)


class Flat:
    """The passes with flat vectors (..., size), which are cut into pieces for the walk."""

    def flat_backward(self, saved, y_bar, out, needed):
        """`backward`: theta_bar goes to `out` (..., size) unless that is None; returns x_bar, or
        None unless it is needed.
        """
        return self.walk_back(saved, y_bar, self.pieces(out), needed)

    def flat_tangent(self, saved, x_tangent, theta_tangent):
        """y_tangent and `Moved` along tangents of x and of the parameters (..., size); each may be
        None, which means zero.
        """
        return self.walk_along(saved, x_tangent, self.pieces(theta_tangent))

    def flat_backward_tangent(self, saved, moved, y_bar, y_bar_tangent, out, needed):
        """`backward_tangent`, like `flat_backward`."""
        return self.walk_back_along(saved, moved, y_bar, y_bar_tangent, self.pieces(out), needed)


class Walk(Flat):
    """The same of a layer that takes flat vectors and pieces itself."""

    # -- the same with flat vectors, as a network calls them ---------------------------------------

    def parameter_gradient(self, saved, y_bar, out=None):
        """theta_bar (..., size): the arrays of `parameter_bars` as one vector; in `out`, if that
        is given.
        """
        if out is None:
            return joined(self, self.parameter_bars(saved, y_bar))
        self.flat_backward(saved, y_bar, out, needed=False)
        return out

    def flat_parameter_gradients(self, saved, y_bar, out=None):
        """theta_bars (S, size): the arrays of `parameter_gradients` beside each other."""
        out = np.empty((len(y_bar), self.size), y_bar.dtype) if out is None else out
        if not out.shape[-1]:
            return out
        views = self.split(out)
        given = (views,) if self.many_directions else ()
        rows = self.parameter_gradients(saved, y_bar, *given)
        fill(self, views, rows, "parameter_gradients")
        return out

    # -- the same with pieces, as the layers in a row hand them on ---------------------------------

    def walk_back(self, saved, y_bar, pieces, needed):
        """`backward`: the bars go to `pieces`, if there are any; returns x_bar, or None unless it
        is needed.
        """
        if pieces:
            given = (pieces,) if self.many_directions else ()  # an author's own takes none
            fill(self, pieces, self.parameter_bars(saved, y_bar, *given), "backward")
        return self.input_gradient(saved, y_bar) if needed else None

    def walk_along(self, saved, x_tangent, pieces):
        """y_tangent and `Moved`; without `pieces` the parameters stand still."""
        pieces = pieces or (None,) * (len(self.parameters) + len(self.children))
        y_tangent = self.tangent(saved, x_tangent, *pieces)
        y_tangent, left = y_tangent if isinstance(y_tangent, tuple) else (y_tangent, None)
        return y_tangent, Moved(x_tangent, pieces, left)

    def walk_back_along(self, saved, moved, y_bar, y_bar_tangent, pieces, needed):
        """`backward_tangent`, like `walk_back`."""
        if pieces:
            given = (pieces,) if self.many_directions else ()
            bars = self.parameter_bars_tangent(saved, moved, y_bar, y_bar_tangent, *given)
            fill(self, pieces, bars, "backward_tangent")
        if not needed:
            return None
        return self.input_gradient_tangent(saved, moved, y_bar, y_bar_tangent)


def bars_of(result):
    """The arrays for the parameters of what `backward` returned: x_bar, w_bar, b_bar, ...; or
    x_bar, [w_bar, b_bar, ...].
    """
    bars = result[1:]
    return bars[0] if len(bars) == 1 and isinstance(bars[0], (tuple, list)) else bars


def shaped(like, **arrays):
    """ValueError unless arrays are shaped like another, directions in front; loops do not look at
    shapes. Returns the last of them.
    """
    for name, a in arrays.items():
        if a.shape[a.ndim - like.ndim :] != like.shape:
            raise ValueError(f"{name} has shape {a.shape}, expected {like.shape}")
    return a


def fill(layer, views, bars, name):
    """Write arrays for the parameters where they belong: those with a place in a flat vector."""
    bars = (bars,) if isinstance(bars, np.ndarray) else bars
    if len(bars) != len(views):
        raise TypeError(f"{layer!r}: {name} must return one array for each of its "
                        f"{len(views)} parameters, got {len(bars)}")
    for view, bar in zip(views, bars):
        if view is None or bar is view:
            continue
        if bar.shape != view.shape:
            raise ValueError(f"{layer!r}: {name} returned an array of shape {bar.shape} for a "
                             f"parameter, expected {view.shape}")
        view[...] = bar


def joined(layer, bars):
    """Arrays for the parameters as one array (..., size)."""
    bars = (bars,) if isinstance(bars, np.ndarray) else bars
    kept = [(bar, cut[2]) for bar, cut in zip(bars, layer.cuts, strict=True) if cut]
    if not kept:
        return np.empty(0)
    rows = [bar.reshape(bar.shape[: bar.ndim - len(shape)] + (-1,)) for bar, shape in kept]
    return np.concatenate(rows, axis=-1)
