"""The checker for your own activation: value, slope, curvature, and its kinks."""

import numpy as np

from ... import checks
from ...checks.randomness import generator
from ...nets import ActivationFunction, activation_function
from ..differences import at_zero, nested, rounding
from ..recorder import SAFETY, Recorder, pure_call, require_methods
from .activation_places import DISTANCE, FARTHEST, METHODS, SPECIAL, Places, cell

_RANGE = 6.0
_FEWEST = 120
_TAIL_POINTS = 40  # at which is asked how far value is finite
#: Where a method is not finite for all x below zero.
BELOW = ("sqrt, log and x**1.5 are NaN where x < 0: choose another form there. With "
         "interval=(low, high) only a part of the line is looked at")
_EXTREMES = np.array([-750.0, 750.0])  # exp of them overflows, or is 0


@np.errstate(all="ignore")
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
        Where to look. By default densely within 6 of zero, or 2 beyond the outermost kink: a wrong
        stretch of 1/32 is seen. From there in blocks of doubling width to 768 on both sides, as far
        as the function is finite; there a stretch of 1/30 of the block's beginning is seen.
        In the blocks, slopes are resolved to about 2e-10 of the larger of 1 and the function.

    Returns
    -------
    Report
        True when nothing is wrong.

    Raises
    ------
    TypeError, ValueError
        A class instead of an instance, or one that lacks a method; other arguments that are not as
        above.
    """
    if isinstance(function, str):
        function = activation_function(function)
    require_methods(function, "activation", METHODS,
                    [getattr(ActivationFunction, name) for name in METHODS])
    recorder = Recorder(repr(function), tolerance)
    interval = None if interval is None else checks.interval(interval, "interval")
    return _ActivationChecks(function, recorder, generator(rng), interval).run()


class _ActivationChecks(Places):
    """One activation function with points off its declared kinks."""

    def __init__(self, function, recorder, rng, interval):
        self.function, self.recorder, self.rng = function, recorder, rng
        self.kinks = np.asarray(getattr(function, "kinks", ()), dtype=float).ravel()
        if not np.isfinite(self.kinks).all():
            raise ValueError(f"kinks must be finite numbers, got {checks.shown(function.kinks)}")
        reach = max(_RANGE, *(np.abs(self.kinks) + 2)) if self.kinks.size else _RANGE
        self.core = (-reach, reach) if interval is None else interval
        points = self._points(*self.core)
        if len(points) < 2:
            raise ValueError(f"interval {interval} holds no points off the kinks "
                             f"{tuple(self.kinks.tolist())}")
        self.x = points[:len(points) // 2 * 2].reshape(2, -1)
        self.tails = [] if interval is not None else [*self._blocks(-1.0), *self._blocks(1.0)]
        self.extremes = _EXTREMES if interval is None else _EXTREMES[
            (_EXTREMES > interval[0]) & (_EXTREMES < interval[1])]
        self.undeclared = []

    def _points(self, low, high):
        """A random point in every cell of an interval, off the kinks."""
        edges = np.linspace(low, high, 1 + max(_FEWEST, round((high - low) / cell(low, high))))
        points = self.rng.uniform(edges[:-1], edges[1:])
        return points[self._distance(points) > DISTANCE]

    def _blocks(self, side):
        """Intervals of doubling width beyond the core on one side, as far as value is finite."""
        near = self.core[1]
        while near < FARTHEST:
            far = min(2 * near, FARTHEST)
            try:
                values = self.of("value", side * np.linspace(near, far, _TAIL_POINTS))
                if not np.isfinite(values).all():
                    return
            except Exception:  # what value raises is reported where value itself is checked
                return
            yield tuple(sorted((side * near, side * far)))
            near = far

    def run(self):
        self.usable = usable = [self._usable(name) for name in METHODS]
        recorder = self.recorder
        if usable[0]:
            recorder.unit = np.abs(self.of("value", self.x)).max() / np.abs(self.x).max()
            self._find_kinks()
            recorder.fact("kinks", "none undeclared", True, "")
            self._derivative("slope", "value", usable[1], self.x)
            slope_right = usable[1] and not recorder.wrong("slope")
            self._derivative("curvature", "slope" if slope_right else None, usable[2], self.x)
            if all(usable):
                self._at_places()
            self._beside(usable)
            if all(usable) and not recorder.wrong("slope", "curvature"):
                self._tails()
        if all(usable):
            self._jet()
            self._flags()
        return recorder.sorted_report()

    # -- what every method owes --------------------------------------------------------------------

    def _usable(self, name):
        """Shape, dtype, purity, entry by entry; whether the numbers can be compared at all."""
        recorder, x = self.recorder, self.x
        try:
            result = pure_call(recorder, name, getattr(self.function, name), ("x",), (x,))
            if recorder.nothing(name, result):
                return False
            result = np.asarray(result)
            narrow = np.asarray(getattr(self.function, name)(x.astype(np.float32)))
            part = self.of(name, x[:, ::-3])
            extreme = self.of(name, self.extremes)
        except Exception as problem:  # whatever a user's method raises is the finding
            return recorder.raised(name, problem)
        if not recorder.fact(name, "shape", result.shape == x.shape, "must keep the shape of x",
                             f"x has shape {x.shape}, the result {result.shape}"):
            return False
        recorder.keeps_dtype(name, "float64", result, "x")
        recorder.keeps_dtype(name, "float32", narrow, "x")
        nan = ", ".join(f"{x:g}" for x in self.extremes[np.isnan(extreme)])
        wrong = x[~np.isfinite(result)]
        below = 0 < wrong.size == (x < 0).sum() and wrong.max() < 0
        if not recorder.fact(name, "finite", not wrong.size, "is not finite for ordinary inputs",
                             "first at x = " + ", ".join(f"{x:.6g}" for x in wrong[:1]),
                             BELOW if below else ""):
            return False
        recorder.fact(name, "no NaN", not nan, f"is NaN for x = {nan}",
                      hint="inf / inf or inf - inf: choose the form by the sign of x")
        return recorder.compare(name, f"{name} of some entries against the same entries of {name}",
                                part, result[:, ::-3], names=("of some", "of all"),
                                hint="must act entry by entry")

    # -- derivatives -------------------------------------------------------------------------------

    def _tails(self):
        """slope and curvature beyond the core; faults of one block are not reported again later."""
        for low, high in self.tails:
            x = self._points(low, high)
            for name, source in (("slope", "value"), ("curvature", "slope")):
                if not self.recorder.wrong("slope", name):
                    size = np.maximum(1.0, np.abs(self.of(source, x)))
                    self._derivative(name, source, True, x, rounding(size),
                                     f" for x from {low:g} to {high:g}")

    def _derivative(self, name, source, usable, x, noise=0.0, over=""):
        """slope against differences of value; curvature against those of slope, or twice value."""
        if not usable:
            return
        if source == "value":
            reference, against = self._slope_reference(x), "differences of value"
        elif source == "slope":
            reference = at_zero(lambda t: self.of("slope", x + t))
            against = "differences of slope"
        else:
            reference = nested(lambda t: self._slope_reference(x + t))
            against = "differences of value, twice"
        computed = self.of(name, x)
        near = self._near_undeclared(x)
        far = np.where(np.abs(x) > FARTHEST, np.abs(x), 0.0)  # x + h itself is rounded there
        # what cancels inside a method is rounded like the largest of its values
        noise = noise + rounding(self._largest(source or "value"))
        noise = noise + rounding(far * np.maximum(np.abs(reference.value), np.abs(computed)))
        error = np.where(near, np.inf, reference.error + noise)
        if not self.recorder.compare(name, f"{name} against {against}{over}", computed.ravel(),
                                     reference.value.ravel(), error.ravel(),
                                     names=(name, "differences"), optional=bool(over)):
            finding = self.recorder.report.findings[-1]
            finding.hint = finding.hint or self._of_output(name, x, reference, error)
            gap = np.where(near, 0, np.abs(computed - reference.value))
            off = x[gap > 1e-3 * gap.max()]
            finding.entries += (f"\n  the largest difference is at x = {x.flat[np.argmax(gap)]:.6g}"
                                f"; they differ for x from {off.min():.4g} to {off.max():.4g}")

    def _of_output(self, name, x, reference, error):
        """A hint where the method would be right for value(x) in the place of x."""
        try:
            mine = self.of(name, self.of("value", x))
        except Exception:  # the method was judged at x: this is a hint alone
            return ""
        slack = SAFETY * error + 1e-6 * (np.abs(reference.value).max() or 1.0)
        return (f"it is right for value(x) in the place of x: {name} is written in terms of the "
                "output, and gets the input" if np.all(np.abs(mine - reference.value) <= slack)
                else "")

    def _largest(self, name):
        """The largest entry of a method in the core."""
        low, high = self.core
        places = [place for place in SPECIAL if low < place < high]
        values = np.abs(self.of(name, np.array([*self.x.ravel(), *places])))
        return values[np.isfinite(values)].max(initial=0.0)

    def _jet(self):
        if not callable(getattr(self.function, "jet", None)):
            return
        try:
            jet = self.function.jet(self.x.copy())
        except Exception as problem:  # whatever a user's method raises is the finding
            self.recorder.raised("jet", problem)
            return
        if self.recorder.nothing("jet", jet):
            return
        for name, got in zip(METHODS, jet):
            self.recorder.compare("jet", f"{name} of jet against {name}", np.asarray(got),
                                  self.of(name, self.x), names=("jet", name))

    # -- flags -------------------------------------------------------------------------------------

    def _flags(self):
        """`piecewise_linear`, where stated, must be true of the function."""
        if getattr(self.function, "piecewise_linear", False):
            second = nested(lambda t: self._slope_reference(self.x + t))
            self.recorder.compare("piecewise_linear",
                                  "curvature of a function declared piecewise linear",
                                  np.zeros(self.x.shape), second.value,
                                  np.where(self._near_undeclared(self.x), np.inf, second.error),
                                  names=("zero", "differences"), scale=1.0)
