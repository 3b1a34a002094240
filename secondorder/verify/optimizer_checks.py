"""The checker for your own optimizer: does it keep the contract that all optimizers share?

Runs that should be the same to the last bit are compared: made twice, resumed from its state,
stopped by a failure, on batches that are written over, wrapped by another method. What a step
adds is compared with the direction, and what it reports with what was measured.
"""

import copy

import numpy as np

from ..checks import check_loss, function_of, instance_of, shown, whole_number
from ..checks.randomness import generator
from ..nets import Network, SoftmaxCrossEntropy, mlp
from ..optimizers.base import Optimizer
from ..optimizers.norms import norm
from ..optimizers.wrapper import Wrapper
from .classes.loss_targets import default_targets
from .findings import PROMOTES
from .optimizer_runs import Runs, attributes, changed, difference, same, what_is_forgotten
from .recorder import Recorder

_SAMPLES = 24
SPOILT = 7.0  # what is written over a batch
STRONG = 1e3  # of the penalty's gradient over the loss's


class _Failed(FloatingPointError):
    """What a step that is made to fail raises, after the direction was asked for."""


class _Plain(Wrapper):
    """Rate times direction, written over the direction: the caller may use that array."""

    def change(self, evaluation, direction, rate):
        direction *= direction.dtype.type(rate)
        return direction


@np.errstate(all="ignore")
def optimizer(make, network=None, loss=None, x=None, y=None, steps=8, rng=0, tolerance=1e-8):
    """Check an optimizer against the contract that all optimizers share.

    - It is deterministic, and keeps float32.
    - It resumes with the same bits from `state_dict`, so that `state_names` is complete.
    - A step that fails leaves parameters and memory alone.
    - It goes on using no array of an earlier batch.
    - Parameters may be changed between two steps.
    - `step` adds what `direction` returns, at the rate that is reported; this goes downhill.
    - The penalty (l2 / 2) |theta|^2 is part of the objective: a strong one turns the direction.
    - A wrapper that adds nothing changes nothing.

    Whether `direction` is the formula that was meant is not judged: a factor, or a matrix that was
    not inverted, keeps the contract. Compare it on a small network with ``numpy.linalg.solve`` and
    a dense curvature of ``so.exact``.

    Parameters
    ----------
    make : callable
        ``make(network, loss)`` returns a new optimizer: its class, or a function that adds the
        options. What draws random numbers gets a seed there.
    network : Network, optional
        Of which copies are trained; default a small network of tanh units.
    loss : Loss, optional
        Default `SoftmaxCrossEntropy`.
    x, y : arrays, optional
        Samples and targets from which batches are drawn; default random ones.
    steps : int >= 4
        Length of the runs. A method that does something every k steps needs some more than k.
    rng : None, int or numpy.random.Generator
    tolerance : float
        Relative difference that is allowed where runs are the same but for rounding.

    Returns
    -------
    Report
        True when nothing is wrong.

    Raises
    ------
    TypeError, ValueError
        Bad arguments; `make` that returns no optimizer of the network and loss that it was given.

    Examples
    --------
    >>> import secondorder as so
    >>> bool(so.verify.optimizer(so.Adam))
    True
    >>> class Forgetful(so.SGD):
    ...     total = 0.0
    ...     def direction(self, evaluation):
    ...         self.total = 0.9 * self.total - self.gradient(evaluation)
    ...         return self.total
    >>> report = so.verify.optimizer(Forgetful)
    >>> print(report.findings[0].hint)
    total changes from step to step: list it in state_names
    """
    function_of(make, "make", 2, "a function make(network, loss) that returns an optimizer")
    steps, rng = whole_number(steps, "steps", 4), generator(rng)
    network = mlp([5, 4, 3], rng=rng) if network is None else instance_of(network, Network,
                                                                          "network")
    loss = SoftmaxCrossEntropy() if loss is None else check_loss(loss)
    if (x is None) != (y is None):
        raise ValueError("x and y go together: give both, or none")
    if x is not None:
        copy.deepcopy(network).evaluate(loss, x, y)  # refuses what does not fit
    if x is None:
        x = rng.standard_normal((_SAMPLES, *network.input_shape))
        y = default_targets(loss, _SAMPLES, network.output_shape[0], rng)
    runs = Runs(make, network, loss, x, y, steps, rng)
    recorder = Recorder(_made(runs), tolerance)
    OptimizerChecks(runs, recorder).run()
    return recorder.sorted_report()


def _made(runs):
    """What `make` makes, by name; TypeError or ValueError unless it is what was asked for."""
    network = copy.deepcopy(runs.network)
    method = runs.make(network, runs.loss)
    if not isinstance(method, Optimizer):
        raise TypeError(f"make must return an Optimizer, got {shown(method)}")
    if method.network is not network or method.loss is not runs.loss:
        raise ValueError("make must return an optimizer of the network and the loss that it is "
                         "given, got one of others")
    return type(method).__name__


class OptimizerChecks:
    """All comparisons; each is a run of its own, so that none stands in the way of another."""

    def __init__(self, runs, recorder):
        self.runs, self.recorder = runs, recorder
        self.half = len(runs.batches) // 2

    def run(self):
        """Run all of them; where runs are not repeatable the others would only say so again."""
        first = {"step": self._runs, "deterministic": self._deterministic}
        if not all(self._attempt(name, check) for name, check in first.items()):
            self.recorder.note("all other checks were left out: they compare runs")
            return
        resumed = {"parameters": self._parameters_moved, "failure": self._failure}
        if not self._attempt("resume", self._resume):  # they would only say so again
            self.recorder.note(f"{', '.join(resumed)} were left out: they resume runs, too")
            resumed = {}
        for name, check in {**resumed, "direction": self._direction, "penalty": self._penalty,
                            "aliasing": self._aliasing, "wrapper": self._wrapper,
                            "float32": self._single}.items():
            self._attempt(name, check)

    def _attempt(self, name, check):
        """A check, which is given how to record a fact under its name; whether nothing is wrong."""
        def owes(what, holds, told, entries="", hint="", kind="fact"):
            return self.recorder.fact(name, what, holds, told, entries, hint, kind)

        try:
            check(owes)
        except Exception as problem:  # whatever a user's method raises is the finding
            self.recorder.raised(name, problem)
        return not self.recorder.wrong(name)

    def _same(self, owes, what, one, other, told, hint=""):
        """Two traces must be the same to the last bit."""
        apart = difference(one, other)
        return owes(what, not apart, told, apart, hint)

    def _goes_on(self, owes, what, optimizer, told, hint="", after=None):
        """An optimizer after so many steps, default half of all, goes on as the whole run did."""
        after = self.half if after is None else after
        return self._same(owes, what, self.whole[after:], self.runs.trace(optimizer, after), told,
                          hint)

    # -- the same run, twice -----------------------------------------------------------------------

    def _runs(self, owes):
        self.whole, start = self.runs.trace(self.runs.fresh()), self.runs.network.theta
        owes("moves the parameters", (self.whole != start).any(),
             "no step has moved the parameters")

    def _deterministic(self, owes):
        self._same(owes, "two runs alike", self.whole, self.runs.trace(self.runs.fresh()),
                   "two optimizers that were made alike take different steps",
                   "draw from a generator of the optimizer's own, with a seed that make gives: "
                   "np.random.default_rng([self.seed, self.steps])")

    def _resume(self, owes):
        for number in (1, self.half):
            optimizer = self.runs.at(number)
            other = self.runs.fresh(optimizer.network)
            other.load_state_dict(optimizer.state_dict())
            if not self._goes_on(owes, f"after step {number}", other,
                                 f"a run resumed after step {number} goes on with other numbers",
                                 what_is_forgotten(self.runs), number):
                return

    def _parameters_moved(self, owes):
        """Anybody may change the parameters between two steps."""
        one = self.runs.at(self.half)
        one.network.theta = 0.5 * one.network.theta + one.network.theta.dtype.type(0.01)
        other = self.runs.fresh(one.network)
        other.load_state_dict(one.state_dict())
        self._same(owes, "changed by somebody else",
                   *(self.runs.trace(optimizer, self.half) for optimizer in (one, other)),
                   "after somebody changed the parameters it goes on from others",
                   "read self.network.theta at every step; keep no copy of it")

    # -- a step that fails -------------------------------------------------------------------------

    def _failure(self, owes):
        optimizer = self.runs.at(self.half)
        before, theta = copy.deepcopy(optimizer.state_dict()), optimizer.network.theta.copy()

        def change(self, evaluation, direction, rate):
            raise _Failed("made to fail")

        kind = type(optimizer)
        optimizer.__class__ = type(kind.__name__, (kind,), {"change": change})
        try:
            optimizer.step(*self.runs.batches[self.half])
        except _Failed:
            pass
        else:
            self.recorder.note("no failing step was looked at: its steps do not call change()")
            return
        finally:
            optimizer.__class__ = kind
        owes("parameters", same(theta, optimizer.network.theta),
             "a step that failed has moved the parameters")
        names = changed(before, optimizer.state_dict())
        if owes("memory", not names, f"a step that failed has changed the memory: {names}",
                hint="memory is replaced, not written into: self.total = self.total + g, not +="):
            self._goes_on(owes, "the run after it", optimizer,
                          "after a step that failed the run goes on with other numbers")

    # -- the direction is what a step adds ---------------------------------------------------------

    def _direction(self, owes):
        asked = self.runs.fresh()
        before = asked.network.theta.copy()
        asked.direction(asked.evaluate(*self.runs.batches[0]))
        if not owes("leaves theta alone", same(before, asked.network.theta),
                    "direction changes network.theta",
                    hint="return the change; step adds it, times the rate"):
            return
        for number in (0, self.half):
            self._added(number)
        cosines = []
        for x, y in self.runs.batches[:3]:
            first = self.runs.fresh()
            evaluation = first.evaluate(x, y)
            cosines.append(_cosine(first.gradient(evaluation), first.direction(evaluation)))
        owes("downhill", min(cosines) < 1e-8, "goes uphill in the first step, whatever the batch: "
             "the direction is added, not subtracted",
             f"cosine of direction and gradient: {min(cosines):.3g} and above")

    def _added(self, number):
        """The change of one step against direction (or `change`), and the report against both."""
        recorder, (x, y) = self.recorder, self.runs.batches[number]
        stepped, asked = self.runs.at(number), self.runs.at(number)
        before = stepped.network.theta.copy()
        info = stepped.step(x.copy(), y.copy())
        added = stepped.network.theta - before
        evaluation = asked.evaluate(x, y)
        loss, direction = evaluation.loss, asked.direction(evaluation)
        expected, what = info["learning_rate"] * direction, "learning_rate * direction"
        if type(asked).change is not Optimizer.change:
            expected = np.array(asked.change(evaluation, direction.copy(), info["learning_rate"]))
            what = "change(evaluation, direction, rate)"
        rounding = 4 * np.finfo(before.dtype).eps * (np.abs(before) + np.abs(added))
        recorder.compare("direction", f"what step {number + 1} adds against {what}", added,
                         expected, rounding, names=("added", what.partition("(")[0]))
        told = {"loss": loss, "direction_norm": norm(direction), "step_norm": norm(added)}
        for name, value in told.items():
            slack = 1e-6 * abs(value) + (norm(rounding) if name == "step_norm" else 0.0)
            recorder.compare("info", f"{name} of step {number + 1}", info[name], value, slack,
                             names=("reported", "measured"), scale=max(abs(value), 1e-300))

    def _penalty(self, owes):
        """With a penalty that outweighs the loss, a step shrinks the parameters."""
        if self.recorder.wrong("direction"):  # it would only say so again
            return
        (x, y), plain, penalized = self.runs.batches[0], self.runs.fresh(), self.runs.fresh()
        theta = plain.network.theta.astype(np.float64)
        if not theta.any():
            self.recorder.note("the penalty was left out: all parameters are zero")
            return
        gradient = plain.evaluate(x, y).gradient
        penalized.l2 = plain.l2 + STRONG * (1 + norm(gradient) / norm(theta))
        one, other = (method.direction(method.evaluate(x, y)) for method in (plain, penalized))
        if owes("has an effect", not same(one, other),
                "a penalty does not change the direction: l2 has no effect",
                hint="use self.gradient(evaluation), the objective's; evaluation.gradient is the "
                     "loss's alone"):
            cosine = _cosine(theta, other)
            owes("shrinks", cosine < 0, f"with a strong penalty, l2 = {penalized.l2:.3g}, the "
                 "direction does not shrink the parameters",
                 f"cosine of direction and parameters: {cosine:.3g}",
                 "the penalty's gradient is +l2 theta, and a step subtracts it")

    # -- arrays that belong to somebody else -------------------------------------------------------

    def _aliasing(self, owes):
        """The caller loads the next batch into the same arrays, as readers of large files do."""
        optimizer, trace, unchanged = self.runs.fresh(), [], True
        for x, y in self.runs.batches:
            mine, targets = x.copy(), y.copy()
            optimizer.step(mine, targets)
            unchanged = unchanged and same(mine, x) and same(targets, y)
            trace.append(optimizer.network.theta.copy())
            mine[...], targets[...] = SPOILT, 0
        owes("batch left alone", unchanged, "a step changes its batch")
        self._same(owes, "batches belong to the caller", self.whole, np.array(trace),
                   "it goes on using the arrays of an earlier batch", "keep a copy")

    # -- wrapped, and wrapping ---------------------------------------------------------------------

    def _wrapper(self, owes):
        if type(self.runs.fresh()).change is Optimizer.change:
            expected, actual = self.whole, self.runs.trace(_Plain(self.runs.fresh()))
            self.recorder.compare(
                "wrapper", "steps inside a wrapper that adds rate * direction against steps alone",
                actual, expected, 1e2 * np.finfo(actual.dtype).eps * (1 + np.abs(expected)),
                names=("wrapped", "alone"),
                hint="a wrapper calls direction and observe, not step: advance memory in them")

    def _single(self, owes):
        network, dtype_hint = self.runs.network, "make arrays with the dtype of network.theta"
        if network.dtype != np.float64 or type(network) is not Network:
            self.recorder.note("float32 was left out: it is checked on plain float64 networks")
            return
        try:
            narrow = self.runs.fresh(network.astype("float32"))
            self.runs.trace(narrow)
        except FloatingPointError as problem:  # its numbers are smaller
            self.recorder.note(f"float32 was not judged: {problem}")
        except TypeError as problem:
            owes("runs", False, f"a float32 network: {problem}", kind=PROMOTES,
                 hint=f"write constants as Python numbers; {dtype_hint}")
        else:
            wide = [name for name, value in attributes(narrow).items()
                    if name in narrow.state_names and getattr(value, "dtype", None) == np.float64
                    and np.shape(value) == narrow.network.theta.shape]
            owes("memory", not wide, f"memory in float64: {', '.join(wide)}", hint=dtype_hint,
                 kind=PROMOTES)


def _cosine(a, b):
    a = a.astype(np.float64)
    return float(a @ b) / (norm(a) * norm(b) or 1.0)
