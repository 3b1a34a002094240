"""The checker for your own activation: value, slope, curvature, and its kinks."""

import numpy as np

from .. import checks
from ..exact.finite_differences import Difference, central
from ..nets import ActivationFunction, activation_function
from ..checks.randomness import generator
from .channels import check_orders
from .differences import column, nested, rounding
from .findings import PROMOTES
from .recorder import Recorder, pure_call

METHODS = ("value", "slope", "curvature")
_RANGE = 6.0
_POINTS = 60
_DISTANCE = 0.02
_CELL = 1 / 64
_FINEST = 1e-4
_SUSPECTS = 12
_FARTHEST = 768.0
_TAIL_POINTS = 40
_CELLS = 4000
_GRID, _SCANNED = 1e-3, 20000


def activation(function, rng=0, tolerance=1e-8, interval=None):
    """Check an activation function: value, slope and curvature against each other, off its kinks,
    and the kinks.

    Parameters
    ----------
    function : ActivationFunction or str
        An object with `value`, `slope` and `curvature`, and optionally `kinks`, `jet`,
        `piecewise_linear`; or a name.
    rng : None, int or numpy.random.Generator
    tolerance : float
        Relative difference that is allowed on top of the predicted error of the differences.
    interval : (float, float), optional
        Where to look. By default densely within 6 of zero, or 2 beyond the outermost kink, and from
        there in blocks of doubling width to 768 on both sides, as far as the function is finite;
        there, slopes are resolved to about 2e-10 of the larger of 1 and the function. The report
        says how far that was.

    Returns
    -------
    Report
        True when nothing is wrong.

    Raises
    ------
    TypeError
        If `value`, `slope` or `curvature` is missing, or a class was given instead of an instance.
    ValueError
        If `tolerance` is not positive, `kinks` are not numbers, the name is unknown, or `interval`
        is not two finite numbers, the smaller first.
    """
    if isinstance(function, str):
        function = activation_function(function)
    _require_methods(function)
    recorder = Recorder(repr(function), tolerance)
    interval = None if interval is None else checks.interval(interval, "interval")
    return _ActivationChecks(function, recorder, generator(rng), interval).run()


def _require_methods(function):
    if isinstance(function, type):
        raise TypeError(f"function must be an instance, got the class {function.__name__}: call it "
                        "first")
    missing = [name for name in METHODS if not callable(getattr(function, name, None))
               or getattr(type(function), name, None) is getattr(ActivationFunction, name)]
    if missing:
        raise TypeError(f"activation {type(function).__name__} lacks "
                        f"{', '.join(f'{name}(x)' for name in missing)}")


class _ActivationChecks:
    """One activation function with points off its declared kinks."""

    def __init__(self, function, recorder, rng, interval):
        self.function, self.recorder, self.rng = function, recorder, rng
        self.kinks = np.asarray(getattr(function, "kinks", ()), dtype=float).ravel()
        if not np.isfinite(self.kinks).all():
            raise ValueError(f"kinks must be finite numbers, got {getattr(function, 'kinks')!r}")
        reach = max(_RANGE, *(np.abs(self.kinks) + 2)) if self.kinks.size else _RANGE
        self.core = (-reach, reach) if interval is None else interval
        points = np.concatenate([rng.uniform(*self.core, _POINTS), rng.standard_normal(_POINTS)])
        points = points[(points > self.core[0]) & (points < self.core[1])]
        points = points[self._distance(points) > _DISTANCE]
        if len(points) < 2:
            raise ValueError(f"interval {interval} holds no points off the kinks "
                             f"{tuple(self.kinks)}")
        self.x = np.sort(points[:len(points) // 2 * 2]).reshape(2, -1)
        self.tails = [] if interval is not None else [*self._blocks(-1.0), *self._blocks(1.0)]
        self.undeclared = []

    def _blocks(self, side):
        """Intervals of doubling width beyond the core on one side, as far as value is finite."""
        near = self.core[1]
        while near < _FARTHEST:
            far = min(2 * near, _FARTHEST)
            try:
                with np.errstate(all="ignore"):
                    values = self.of("value", side * np.linspace(near, far, _TAIL_POINTS))
                if not np.isfinite(values).all():
                    return
            except Exception:  # what value raises is reported where value itself is checked
                return
            yield tuple(sorted((side * near, side * far)))
            near = far

    def _distance(self, points):
        points = np.asarray(points)
        if not self.kinks.size:
            return np.full(points.shape, np.inf)
        return np.abs(points[..., None] - self.kinks).min(axis=-1)

    def of(self, name, x):
        """One method on a copy of x, as an array."""
        return np.asarray(getattr(self.function, name)(np.array(x)))

    def run(self):
        usable = [self._usable(name) for name in METHODS]
        if usable[0]:
            self._find_kinks(*self.core)
            with np.errstate(over="ignore", invalid="ignore"):
                for region in self.tails:
                    self._find_kinks(*region)
            self.undeclared = [self._snapped(place) for place in self.undeclared]
            self._tell_kinks()
            self._derivative("slope", "value", usable[1], self.x)
            slope_right = usable[1] and not self.recorder.wrong("slope")
            self._derivative("curvature", "slope" if slope_right else None, usable[2], self.x)
            self._scan(usable)
            self._at_special_points(usable)
            self._beside(usable)
            if all(usable) and not self.recorder.wrong("slope", "curvature"):
                self._tails()
            low, high = (f([end for region in (self.core, *self.tails) for end in region])
                         for f in (min, max))
            self.recorder.note(f"looked at x from {low:g} to {high:g} (set another range with "
                               "interval=)")
        if all(usable):
            self._jet()
            self._flags()
            self._at_kinks()
            if not self.recorder.wrong():
                self._rates()
            self._curves()
        return self.recorder.sorted_report()

    # -- what every method owes --------------------------------------------------------------------

    def _usable(self, name):
        """Shape, dtype, purity, entry by entry; whether the numbers can be compared at all."""
        recorder, x = self.recorder, self.x
        try:
            result = np.asarray(pure_call(recorder, name, getattr(self.function, name), ("x",),
                                          (x,)))
            narrow = np.asarray(getattr(self.function, name)(x.astype(np.float32)))
            part = self.of(name, x[:, ::-3])
            extreme = self._extremes(name)
        except Exception as problem:  # whatever a user's method raises is the finding
            return recorder.fact(name, "runs", False, f"raised {type(problem).__name__}: {problem}")
        if not recorder.fact(name, "shape", result.shape == x.shape, "must keep the shape of x",
                             f"x has shape {x.shape}, the result {result.shape}"):
            return False
        for given, got in (("float64", result), ("float32", narrow)):
            recorder.fact(
                name, f"keeps {given}", got.dtype == given, f"turns {given} into {got.dtype}",
                hint="write constants as Python numbers and make arrays with the dtype of x",
                kind=PROMOTES if given == "float32" else "fact")
        recorder.fact(name, "no NaN", not np.isnan(extreme).any(), "is NaN for inputs of +-750",
                      hint="inf / inf or inf - inf: choose the form by the sign of x")
        return (recorder.fact(name, "finite", np.isfinite(result).all(),
                              "is not finite for ordinary inputs")
                and recorder.compare(name, f"{name} of some entries against the same entries of "
                                           f"{name}", part,
                                     result[:, ::-3], names=("of some", "of all"),
                                     hint="must act entry by entry"))

    def _extremes(self, name):
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self.of(name, np.array([-750.0, 750.0]))

    # -- derivatives -------------------------------------------------------------------------------

    def _slope_reference(self, x):
        return column(central(lambda t: self.of("value", x + t[0]), np.zeros(1)))

    def _tails(self):
        """slope and curvature beyond the core; faults of one block are not reported again later."""
        for low, high in self.tails:
            x = np.sort(self.rng.uniform(low, high, _TAIL_POINTS))
            where = f" for x from {low:g} to {high:g}"
            with np.errstate(over="ignore", invalid="ignore"):
                for name, source in (("slope", "value"), ("curvature", "slope")):
                    if not self.recorder.wrong("slope", name):
                        size = np.maximum(1.0, np.abs(self.of(source, x)))
                        self._derivative(name, source, True, x, rounding(size), where)

    def _derivative(self, name, source, usable, x, noise=0.0, where=""):
        """slope against differences of value; curvature against those of slope, or twice value."""
        if not usable:
            return
        if source == "value":
            reference, against = self._slope_reference(x), "differences of value"
        elif source == "slope":
            reference = column(central(lambda t: self.of("slope", x + t[0]), np.zeros(1)))
            against = "differences of slope"
        else:
            reference = nested(lambda t: self._slope_reference(x + t))
            against = "differences of value, twice"
        computed = self.of(name, x)
        near = self._near_undeclared(x)
        error = np.where(near, np.inf, reference.error + noise)
        if not self.recorder.compare(name, f"{name} against {against}{where}", computed,
                                     reference.value, error,
                                     names=(name, "differences"), optional=bool(where)):
            finding = self.recorder.report.findings[-1]
            worst = np.argmax(np.where(near, 0, np.abs(computed - reference.value)))
            finding.entries += f"\n  the largest difference is at x = {x.flat[worst]:.6g}"

    def _scan(self, usable):
        """slope and curvature on a fine grid: a short interval holds no random point."""
        low, high = self.core
        x = np.arange(low, high, max(_GRID, (high - low) / _SCANNED)) + _GRID / np.e
        x = x[(x < high) & (self._distance(x) > _DISTANCE)]
        for name, source in (("slope", "value"), ("curvature", "slope")):
            if (x.size and usable[METHODS.index(name)] and usable[METHODS.index(source)]
                    and not self.recorder.wrong("slope", name)):
                self._derivative(name, source, True, x, rounding(1.0), " on a fine grid")

    def _at_special_points(self, usable):
        """value and slope at 0 and +-1, which random points miss: sin(x) / x has no value at 0."""
        for place in (0.0, -1.0, 1.0):
            if place in self.kinks or not self.core[0] < place < self.core[1]:
                continue
            if self._near_undeclared(np.array([place]))[0]:
                continue
            with np.errstate(all="ignore"):
                self._continuous(place, f"x = {place:g}", "a formula of its own for one point?")
                x = np.array([place])
                if usable[1] and not self.recorder.wrong("slope", "value"):
                    reference = self._slope_reference(x)
                    self.recorder.compare(
                        "slope", f"slope at x = {place:g} against differences of value",
                        self.of("slope", x), reference.value, reference.error + rounding(1.0),
                        names=("slope", "differences"), optional=True, scale=1.0)

    def _beside(self, usable):
        """slope and curvature on both sides of kinks, of 0 and of +-1, where functions change their
        form, one-sided and up to a millionth: random points keep away from kinks, and rarely fall
        into a narrow interval.
        """
        for name, source in (("slope", "value"), ("curvature", "slope")):
            if not (usable[METHODS.index(name)] and usable[METHODS.index(source)]):
                continue
            if self.recorder.wrong("slope", name, "kinks", "value"):
                return
            for place in sorted({*self.kinks.tolist(), 0.0, -1.0, 1.0}):
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
        distances = _DISTANCE * 2.0 ** -np.arange(0.5, 15) * max(1.0, abs(place))
        x = place + side * distances
        others = self.kinks[self.kinks != place]
        clear = [distance < np.abs(others - point).min(initial=np.inf) for distance, point
                 in zip(distances, x)]
        return x[np.array(clear) & (x > self.core[0]) & (x < self.core[1])]

    def _one_sided_reference(self, source, x, place):
        """Differences of a method at points beside a place, with steps that stay on their side."""
        eps = np.finfo(float).eps
        steps = np.minimum(np.abs(x - place) / 4, eps ** (1 / 3))
        parts = [column(central(lambda t, point=point: self.of(source, np.array([point + t[0]])),
                                np.zeros(1), h)) for point, h in zip(x, steps)]
        value, error = (np.concatenate(part) for part in zip(*parts))
        size = np.maximum(1.0, np.abs(self.of(source, x)))  # of what may cancel inside
        return Difference(value, error + 5 * eps * size / steps)

    def _near_undeclared(self, x):
        """Near undeclared kinks the kinks are reported, not the wrong entries beside them."""
        near = np.zeros(x.shape, dtype=bool)
        for kink in self.undeclared:
            near |= np.abs(x - kink) < _DISTANCE
        return near

    def _jet(self):
        if not callable(getattr(self.function, "jet", None)):
            return
        for name, got in zip(METHODS, self.function.jet(self.x.copy())):
            self.recorder.compare("jet", f"{name} of jet against {name}", np.asarray(got),
                                  self.of(name, self.x), names=("jet", name))

    def _rates(self):
        """Taylor remainders over all points at once, along lines that stay off the kinks."""
        steps = _DISTANCE / 2 * 2.0 ** -np.arange(5)
        value, slope, curvature = (self.of(name, self.x) for name in METHODS)

        def draw():
            direction = self.rng.uniform(0.5, 1.0, self.x.shape)
            terms = value, direction * slope, direction**2 / 2 * curvature

            def remainders(order):
                return np.array([np.abs(self.of("value", self.x + t * direction) - sum(
                    term * t**k for k, term in enumerate(terms[:order]))).max() for t in steps])

            return steps, remainders
        check_orders(self.recorder, {"slope": 2, "curvature": 3}, draw, scale=np.abs(value).max()
                     + 1)

    def _curves(self):
        steps = np.logspace(-1, -9, 33)
        for name, source in (("slope", "value"), ("curvature", "slope")):
            expected = self.of(name, self.x)
            size = float(np.linalg.norm(expected)) or 1.0
            errors = [np.linalg.norm((self.of(source, self.x + h) - self.of(source, self.x - h))
                                     / (2 * h) - expected)
                      / size for h in steps]
            self.recorder.report.curves[name] = steps, np.array(errors)

    # -- kinks and flags ---------------------------------------------------------------------------

    def _find_kinks(self, low, high):
        """Look for kinks and jumps of value that are not declared."""
        cell = max(_CELL, (high - low) / _CELLS)
        edges = np.arange(low, high, cell) + cell / np.e
        if len(edges) < 2:
            return
        # of slopes over 1e-5, with room to spare
        noise = 1e-8 * np.abs(self.of("value", edges)).max()
        jumps = self._jump(edges[:-1], edges[1:])
        for cell in np.argsort(-jumps)[:_SUSPECTS]:
            place, jump = self._refine(edges[cell], edges[cell + 1])
            known = np.concatenate([self.kinks, self.undeclared])
            if jump > max(0.3 * jumps[cell], 1e-3,
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
        h = 1e-5
        outer = (self.of("value", right + h) - self.of("value", right)) / h
        inner = (self.of("value", left) - self.of("value", left - h)) / h
        rise = (self.of("value", right) - self.of("value", left)) / (right - left)
        return np.maximum(np.abs(outer - inner), np.abs(rise - (outer + inner) / 2))

    def _refine(self, left, right):
        """Bisect a cell towards the larger jump."""
        while right - left > _FINEST:
            middle = (left + right) / 2
            halves = self._jump(np.array([left, middle]), np.array([middle, right]))
            left, right = (left, middle) if halves[0] >= halves[1] else (middle, right)
        return (left + right) / 2, float(self._jump(np.array([left]), np.array([right]))[0])

    def _one_sided(self, place):
        near, h = 2 * _FINEST, 1e-5
        at = self.of("value",
                     np.array([place - near - h, place - near, place + near, place + near + h]))
        return (at[1] - at[0]) / h, (at[3] - at[2]) / h

    def _at_kinks(self):
        """At a kink value is continuous, the slope is one of the one-sided slopes or between them,
        nothing is NaN.
        """
        for kink in self.kinks:
            at = {name: float(self.of(name, np.array([kink]))[0]) for name in METHODS}
            self.recorder.fact("kinks", f"finite at {kink:.4g}",
                               all(np.isfinite(list(at.values()))),
                               f"not finite at the kink x = {kink:.4g}", str(at))
            self._continuous(kink, f"the kink x = {kink:.4g}",
                             "at a kink the slope jumps; value must be continuous")
            left, right = self._one_sided(kink)
            low, high = min(left, right), max(left, right)
            slack = 1e-2 * (abs(left) + abs(right) + 1e-3)
            self.recorder.fact("slope", f"between the sides at {kink:.4g}",
                               low - slack <= at["slope"] <= high + slack,
                               f"at the kink x = {kink:.4g} the slope is {at['slope']:.6g}, "
                               "outside the one-sided slopes",
                               f"left {left:.6g}, right {right:.6g}")

    def _continuous(self, kink, where, hint):
        """The rise of value across a place must vanish with the distance; that of a step stays."""
        at = {distance: self.of("value", kink + distance * max(1.0, abs(kink))
                                * np.array([-1.0, 0.0, 1.0]))
              for distance in (1e-5, 1e-9)}
        wide, near = (float(np.abs(np.diff(values)).max()) for values in at.values())
        before, here, after = at[1e-9]
        self.recorder.fact("value", f"continuous at {kink:.4g}", near <= 0.1 * wide + 1e-8
                           * (1 + abs(here)), f"jumps at {where}",
                           f"left {before:.6g}, at the {'kink' if 'kink' in where else 'point'} "
                           f"{here:.6g}, right {after:.6g}", hint)

    def _flags(self):
        """`piecewise_linear` and `monotone`, where stated, must be true of the function."""
        if getattr(self.function, "piecewise_linear", False):
            second = nested(lambda t: self._slope_reference(self.x + t))
            self.recorder.compare("piecewise_linear",
                                  "curvature of a function declared piecewise linear",
                                  np.zeros(self.x.shape), second.value,
                                  np.where(self._near_undeclared(self.x), np.inf, second.error),
                                  names=("zero", "differences"), scale=1.0)
        if getattr(self.function, "monotone", False):
            lowest = float(self._slope_reference(self.x).value.min())
            self.recorder.fact("monotone", "slope >= 0", lowest > -1e-6,
                               f"declared monotone, but its slope goes down to {lowest:.6g}")
