"""Places where an activation function changes its form: its kinks, declared or not, 0 and +-1."""

import numpy as np

from ...exact.finite_differences import Difference
from ..differences import at_zero, rounding

METHODS = ("value", "slope", "curvature")
FARTHEST = 768.0  # beyond, x + h itself is rounded
DISTANCE = 0.02  # that random points keep from kinks
_CELL = 1 / 64
_FINEST, _SLOPE_STEP = 1e-4, 1e-5
_SUSPECTS = 12
_CELLS = 4000
SPECIAL = (0.0, -1.0, 1.0)  # where functions change their form


def distance(points, places):
    """From each point to the nearest of some places; infinite where there are none."""
    return np.abs(points[..., None] - np.asarray(places)).min(axis=-1, initial=np.inf)


def cell(low, high):
    """The width of the cells in which an interval is looked at."""
    return max(_CELL, (high - low) / _CELLS)


class Places:
    """What the checker of an activation function looks at beside random points.

    `kinks` are the declared ones and `undeclared` those that were found; in `core`, an interval,
    the function is looked at densely.
    """

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
        """slope and curvature on both sides of kinks, of 0 and of +-1, one-sided and up to a
        millionth: random points keep away from kinks, and rarely fall into a narrow interval.
        """
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

    def _find_kinks(self, low, high):
        """Look for kinks and jumps of value that are not declared, the ends of the interval
        included: their cells reach beyond, as far as anything is looked at.
        """
        width = cell(low, high)
        ends = [end for region in (self.core, *self.tails) for end in region]
        first = max(low - width, min(ends) + 2 * _SLOPE_STEP)
        last = min(high + width, max(ends) - 2 * _SLOPE_STEP)
        if not first < last:
            return
        edges = np.arange(first, last, width) + width / np.e
        edges = np.concatenate([[first], edges[edges < last - width / 4], [last]])
        # of slopes over 1e-5, with room to spare
        noise = 1e-8 * np.abs(self.of("value", edges)).max()
        jumps = self._jump(edges[:-1], edges[1:])
        for suspect in np.argsort(-jumps)[:_SUSPECTS]:
            if not jumps[suspect] > max(5e-4, noise / 2):  # a kink inside would be no smaller
                break
            place, jump = self._refine(edges[suspect], edges[suspect + 1])
            known = np.concatenate([self.kinks, self.undeclared])
            if jump > max(0.3 * jumps[suspect], 1e-3,
                          noise) and not np.any(np.abs(known - place) < 1e-3):
                self.undeclared.append(place)

    def _tell_kinks(self):
        for place in sorted(self.undeclared):
            left, right = self._one_sided(place)
            if self._is_step(place, left, right):
                before, after = self.of("value", place + 2 * _FINEST * np.array([-1.0, 1.0]))
                self.recorder.fact("value", f"continuous at {place:.4g}", False,
                                   f"jumps near x = {place:.4g}",
                                   f"from {before:.6g} to {after:.6g}",
                                   "a function with a step has no derivative "
                                   "there, and no declared kink makes it right")
                continue
            self.recorder.fact("kinks", f"kink at {place:.4g} declared", False,
                               f"undeclared kink at x = {place:.4g}",
                               f"the slope of value jumps from {left:.6g} to {right:.6g}",
                               f"declare it: kinks = ({place:.9g},)")
        if not self.undeclared:
            self.recorder.fact("kinks", "no undeclared kink", True, "")

    def _snapped(self, place):
        """Where a kink is: where slope itself jumps, or 0, if that is within the search's width."""
        if not np.isfinite(place):
            return place
        left, right = place - 2 * _FINEST, place + 2 * _FINEST
        try:
            before, after = (float(self.of("slope", np.array([end]))[0]) for end in (left, right))
            while abs(after - before) > 1e-3:  # down to two neighbouring numbers
                middle = (left + right) / 2
                if not left < middle < right:
                    return 0.0 if left <= 0 <= right else left
                here = float(self.of("slope", np.array([middle]))[0])
                if abs(here - before) < abs(after - here):
                    left = middle
                else:
                    right = middle
        except Exception:  # what slope raises is reported where slope itself is checked
            pass
        return 0.0 if abs(place) <= 2 * _FINEST else place

    def _is_step(self, place, left, right):
        """Whether value itself changes at a place by more than its slopes on both sides explain."""
        ends = self.of("value", place + _FINEST * np.array([-1.0, 1.0]))
        return abs(ends[1] - ends[0]) > 2 * _FINEST * (2 * abs(left) + 2 * abs(right) + 1)

    def _jump(self, left, right):
        """Change of the slope between the ends of cells, and a step of value inside, divided by the
        width.

        Slopes are differences of value just outside of the cells.
        """
        h = np.minimum(_SLOPE_STEP, (right - left) / 10)
        outer = (self.of("value", right + h) - self.of("value", right)) / h
        inner = (self.of("value", left) - self.of("value", left - h)) / h
        rise = (self.of("value", right) - self.of("value", left)) / (right - left)
        return np.maximum(np.abs(outer - inner), np.abs(rise - (outer + inner) / 2))

    def _refine(self, left, right):
        """Bisect a cell towards the larger jump; how large it is, 0 for a sharp bend.

        The jump of a kink stays as it is at any width, that of a step grows, and where the function
        is smooth it falls with the width. Where rounding would be seen is the end.
        """
        size = max(1.0, abs(left), np.abs(self.of("value", np.array([left, right]))).max())
        noise = 1e4 * np.finfo(float).eps * size
        place, told, jump = None, 0.0, 0.0
        while place is None or jump * (right - left) > noise * (1 + jump):
            middle = (left + right) / 2
            halves = self._jump(np.array([left, middle]), np.array([middle, right]))
            left, right = (left, middle) if halves[0] >= halves[1] else (middle, right)
            jump, beyond = float(halves.max()), min(_SLOPE_STEP, (right - left) / 10)
            left, right = left - beyond, right + beyond  # a step there was seen as well
            if place is None and right - left <= _FINEST:
                place, told = (left + right) / 2, jump
        return place, told if jump > told / 2 else 0.0

    def _one_sided(self, place):
        near, h = 2 * _FINEST, _SLOPE_STEP
        at = self.of("value",
                     np.array([place - near - h, place - near, place + near, place + near + h]))
        return (at[1] - at[0]) / h, (at[3] - at[2]) / h

    def _at_places(self):
        """At a kink, at 0 and at +-1 nothing is NaN, value is continuous, slope is right; at a kink
        it lies between the sides. Random points miss them: sin(x) / x has no value at 0.
        """
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
