"""Places where an activation function changes its form: its kinks, declared or not, 0 and +-1."""

import numpy as np

from ...exact.finite_differences import Difference
from ..differences import CELLS, at_zero, jumps_along, rounding
from ..ladder import jumps

METHODS = ("value", "slope", "curvature")
FARTHEST = 768.0  # beyond, x + h itself is rounded
DISTANCE = 0.02  # that random points keep from kinks
_CELL = 1 / 64
_FINEST, _SLOPE_STEP = 1e-4, 1e-5
_NEAR, _NEAREST = 1e-3, 1e-12  # places that are one; what is 0
_MOST_CELLS = 4000
SPECIAL = (0.0, -1.0, 1.0)  # where functions change their form


def distance(points, places):
    """From each point to the nearest of some places; infinite where there are none."""
    return np.abs(points[..., None] - np.asarray(places)).min(axis=-1, initial=np.inf)


def cell(low, high):
    """The width of the cells in which an interval is looked at."""
    return max(_CELL, (high - low) / _MOST_CELLS)


class Places:
    """What is looked at beside random points: kinks, declared and not, 0 and +-1."""

    def of(self, name, x):
        """One method on a copy of x, as an array."""
        return np.asarray(getattr(self.function, name)(np.array(x)))

    def _distance(self, points):
        return distance(points, self.kinks)

    def _near_undeclared(self, x):
        """Near undeclared kinks the kinks are reported, not the wrong entries beside them."""
        return distance(x, self.undeclared) < DISTANCE

    def _slope_reference(self, x):
        return at_zero(lambda t: self.of("value", x + t))

    # -- beside kinks ------------------------------------------------------------------------------

    def _beside(self, usable):
        """slope and curvature on both sides of kinks, of 0 and of +-1, up to a millionth."""
        for name, source in (("slope", "value"), ("curvature", "slope")):
            if not (usable[METHODS.index(name)] and usable[METHODS.index(source)]):
                continue
            if self.recorder.wrong("slope", name, "kinks", "value"):
                return
            for place in sorted({*self.kinks.tolist(), *SPECIAL}):
                for side in (-1.0, 1.0):
                    x = self._points_beside(place, side)
                    if not x.size:
                        continue
                    reference = self._one_sided_reference(source, x, place)
                    computed = self.of(name, x)
                    if not self.recorder.compare(
                            name, f"{name} against differences of {source} just "
                            f"{'above' if side > 0 else 'below'} x = {place:.4g}", computed,
                            reference.value, reference.error, names=(name, "differences"),
                            optional=True, scale=max(1.0, float(np.abs(reference.value).max()))):
                        off = np.abs(computed - reference.value) / (reference.error + 1e-12)
                        self.recorder.report.findings[-1].entries += (
                            f"\n  the largest difference is at x = {x[np.argmax(off)]:.6g}")

    def _points_beside(self, place, side):
        """Points at falling distances on one side of a place, in the core and off other kinks."""
        distances = DISTANCE * 2.0 ** -np.arange(0.5, 15) * max(1.0, abs(place))
        x = place + side * distances
        clear = distances < distance(x, self.kinks[self.kinks != place])
        return x[clear & (x > self.core[0]) & (x < self.core[1])]

    def _one_sided_reference(self, source, x, place):
        """Differences of a method at points beside a place, with steps that stay on their side."""
        eps = np.finfo(float).eps
        steps = np.minimum(np.abs(x - place) / 4, eps ** (1 / 3))
        parts = [at_zero(lambda t, point=point: self.of(source, np.array([point + t])), h)
                 for point, h in zip(x, steps)]
        value, error = (np.concatenate(part) for part in zip(*parts))
        size = np.maximum(1.0, np.abs(self.of(source, x)))  # of what may cancel inside
        return Difference(value, error + 5 * eps * size / steps)

    # -- kinks -------------------------------------------------------------------------------------

    def _find_kinks(self):
        """Look for jumps of value, and for kinks, that are not declared."""
        low, high = (f([end for region in (self.core, *self.tails) for end in region])
                     for f in (min, max))
        for region in (self.core, *self.tails):
            edges = np.linspace(*region, 1 + int(np.ceil(
                (region[1] - region[0]) / (CELLS * cell(*region)))))
            middles, length = (edges[1:] + edges[:-1]) / 2, 0.52 * (edges[1] - edges[0])

            for name in ("value", "slope")[:1 + self.usable[1]]:
                def along(t, name=name, middles=middles):
                    return self.of(name, np.clip(middles + t, low, high))[..., None]

                for t, column, *sides in jumps_along(along, length):
                    place = float(np.clip(middles[column] + t, low, high))
                    known = np.concatenate([self.kinks, self.undeclared])
                    if not np.any(np.abs(known - place) < _NEAR):
                        self._tell_kink(name, place, *sides)

    def _tell_kink(self, name, place, before, after):
        """A jump of value is one unless it is rounding, a jump of slope a kink if value has one."""
        place = 0.0 if abs(place) < _NEAREST else place
        if name == "value":
            steep = np.abs(self.of("slope", np.array([place])))[0] if self.usable[1] else 0.0
            if abs(after - before) > 10 * np.spacing(abs(place)) * steep:
                self.undeclared.append(place)
                self.recorder.fact("value", f"continuous at {place:.4g}", False,
                                   f"jumps near x = {place:.4g}",
                                   f"from {before:.6g} to {after:.6g}",
                                   "a function with a step has no derivative "
                                   "there, and no declared kink makes it right")
        elif jumps(lambda x: self.of("value", x), np.array([place]), np.ones(1)):
            self.undeclared.append(place)
            left, right = self._one_sided(place)
            self.recorder.fact("kinks", f"kink at {place:.4g} declared", False,
                               f"undeclared kink at x = {place:.4g}",
                               f"the slope of value jumps from {left:.6g} to {right:.6g}",
                               f"declare it: kinks = ({place:.9g},)")

    def _one_sided(self, place):
        near, h = 2 * _FINEST, _SLOPE_STEP
        at = self.of("value",
                     np.array([place - near - h, place - near, place + near, place + near + h]))
        return (at[1] - at[0]) / h, (at[3] - at[2]) / h

    def _at_places(self):
        """At kinks, 0 and +-1 value is continuous, and slope is right or between sides."""
        for place in sorted({*self.kinks.tolist(), *SPECIAL}):
            if not self.core[0] < place < self.core[1]:
                continue
            kink, x = place in self.kinks, np.array([place])
            where = f"{'the kink ' if kink else ''}x = {place:.4g}"
            at = {name: float(self.of(name, x)[0]) for name in METHODS}
            finite = all(self.recorder.fact(name, f"finite at {place:.4g}", np.isfinite(number),
                                            f"is not finite at {where}", f"{name} is {number}")
                         for name, number in at.items())
            if not finite or self._near_undeclared(x)[0]:
                continue
            self._continuous(place, where)
            if not kink and self.recorder.wrong("slope", "value"):
                continue
            if not kink:
                reference = self._slope_reference(x)
                self.recorder.compare(
                    "slope", f"slope at {where} against differences of value", at["slope"],
                    reference.value[0], reference.error[0] + rounding(1.0),
                    names=("slope", "differences"), optional=True, scale=1.0)
                continue
            left, right = self._one_sided(place)
            low, high = min(left, right), max(left, right)
            slack = 1e-2 * (abs(left) + abs(right) + 1e-3)
            self.recorder.fact("slope", f"between the sides at {place:.4g}",
                               low - slack <= at["slope"] <= high + slack,
                               f"at {where} the slope is {at['slope']:.6g}, "
                               "outside the one-sided slopes",
                               f"left {left:.6g}, right {right:.6g}")

    def _continuous(self, place, where):
        """The rise of value across a place must vanish with the distance; that of a step stays."""
        wide, near = (self.of("value", place + distance * max(1.0, abs(place))
                              * np.array([-1.0, 0.0, 1.0])) for distance in (1e-5, 1e-9))
        left, here, right = near
        self.recorder.fact("value", f"continuous at {place:.4g}",
                           np.abs(np.diff(near)).max() <= 0.1 * np.abs(np.diff(wide)).max()
                           + 1e-8 * (1 + abs(here)), f"jumps at {where}",
                           f"left {left:.6g}, there {here:.6g}, right {right:.6g}",
                           "value must be continuous; at a kink its slope jumps")
