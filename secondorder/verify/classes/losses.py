"""The checker for your own loss: value, gradient, Hessian in its three forms, flags, and its
model of targets.
"""

import numpy as np

from ...checks import plain_array, whole_number
from ...checks.networks import LOSS_PASSES
from ...checks.randomness import generator
from ...exact.finite_differences import Difference
from ...nets import DiagonalLoss, Loss
from ..differences import central, jumps_along, nested, stacked
from ..recorder import Recorder, pure_call, require_methods
from .loss_model import check_far, check_model
from .loss_targets import CLASSES, REAL, check_labels, targets_taken, tells_classes_apart

#: Sizes of the outputs at which the derivatives are compared: residuals in the middle and far out.
SIZES = (1.0, 3.0, 8.0)
#: How far lines are followed for jumps of the value.
LENGTHS = (1.0, 8.0)
#: At least this many outputs are drawn of each size.
_FEWEST = 60
_REDRAWS = 30
_SMOOTH = 1e-4


@np.errstate(all="ignore")
def loss(loss, outputs=4, targets=None, samples=5, rng=0, tolerance=1e-8):
    """Check a loss: its derivatives in the output, sample by sample, its shapes and its flags.

    Parameters
    ----------
    loss : Loss
        An instance of a subclass of `secondorder.nets.Loss`, or any object with its methods.
    outputs : int >= 1
        Width C of the output.
    targets : array_like, optional
        Targets as the user gives them, one row per sample.  Default: what the loss takes of real
        numbers (S, C), labels, one-hot rows, probabilities and positive numbers. A loss that tells
        classes apart (it does not change when one number is added to all outputs) is judged with
        classes alone, any other with real numbers if it takes them.
    samples : int >= 2
        Ignored when `targets` is given.
    rng : None, int or numpy.random.Generator
    tolerance : float
        Relative difference that is allowed on top of the predicted error of the differences.

    Returns
    -------
    Report
        True when nothing is wrong.

    Raises
    ------
    TypeError, ValueError
        A class instead of an instance, or one that lacks a method; a loss that takes none of the
        default targets; other arguments that are not as above.
    """
    require_methods(loss, "loss", LOSS_PASSES, [Loss.value, Loss.gradient, Loss.hessian,
                                                DiagonalLoss.hessian_diagonal])
    outputs, samples = whole_number(outputs, "outputs", 1), whole_number(samples, "samples", 2)
    rng = generator(rng)
    recorder = Recorder(repr(loss), tolerance)
    if targets is None:
        cases = _cases(loss, samples, outputs, rng, recorder)
    else:
        targets = plain_array(targets, "targets")
        shape = (len(targets) if targets.ndim else 0, outputs)
        if shape[0] < 2:
            raise ValueError(f"targets must have two or more rows, got shape {targets.shape}")
        prepared = loss.prepare_target(targets, shape, np.dtype("float64"))
        cases = [("targets", targets, np.asarray(prepared))]
    for case in cases:
        LossChecks(loss, recorder, rng, outputs, *case).run()
    return recorder.sorted_report()


def _cases(loss, samples, outputs, rng, recorder):
    """Targets that the loss takes: real numbers, unless it tells classes apart."""
    taken = targets_taken(loss, samples, outputs, rng)
    classes = [taken[name] for name in CLASSES if name in taken]
    if REAL not in taken:
        return classes or list(taken.values())
    if not (classes and tells_classes_apart(loss, classes, outputs, rng)):
        return [taken[REAL]]
    recorder.note(f"judged with {', '.join(name for name, *_ in classes)}, as a loss that tells "
                  f"classes apart: if it is meant for {REAL}, give targets=")
    return classes


def _written(loss):
    """The methods that somebody wrote: what a base derives from them is right if they are."""
    kind = type(loss)
    return [name for name in LOSS_PASSES if name != "prepare_target" and not any(
        getattr(kind, name, None) is vars(base).get(name) for base in (Loss, DiagonalLoss))]


class LossChecks:
    """One loss with one kind of targets.

    The derivatives are compared in blocks of outputs of the sizes `SIZES`: a loss may have other
    branches far out.
    """

    def __init__(self, loss, recorder, rng, outputs, case, given, target):
        self.loss, self.recorder, self.rng, self.case = loss, recorder, rng, case
        self.given, self.target = given, target
        self.p = rng.standard_normal((len(target), outputs))
        self.v = rng.standard_normal(self.p.shape)
        self.told, self.called = set(), "value"

    def run(self):
        samples, outputs = self.p.shape
        shapes = {"value": (samples,), "gradient": (samples, outputs),
                  "hessian": (samples, outputs, outputs),
                  "hessian_product": (samples, outputs), "hessian_diagonal": (samples, outputs)}
        self.usable = {name: name in _written(self.loss) and self._usable(name, shape)
                       for name, shape in shapes.items()}
        if not self.usable["value"]:
            self.recorder.note(f"{self.case}: the derivatives were not judged; they are "
                               "compared with value")
            return
        check_labels(self)
        point = self.p, self.target, self.v
        times = -(-_FEWEST // self.p.size)
        self.p, self.target, self.v = (np.concatenate([rows] * times) for rows in point)
        for size in SIZES:
            try:
                self._draw_off_kinks(size)
                self._block(size)
            except Exception as problem:  # whatever a user's method raises is the finding
                self.recorder.raised(self.called, problem, "runs far out",
                                     f" with {self.case} at outputs of size {size:g}")
                return
        self.p, self.target, self.v = point
        self._follow_lines()
        self._draw_off_kinks(1.0)
        if self.usable["hessian"]:
            H = self.of("hessian")
            self.recorder.compare("hessian", "hessian against its transpose", H,
                                  H.transpose(0, 2, 1), names=("hessian", "transposed"),
                                  scale=np.abs(H).max() or 1.0)
        check_far(self)
        check_model(self)

    def _block(self, size):
        """Gradient, Hessian in its three forms and flags at the outputs `p` of one block."""
        usable, wrong = self.usable, self.recorder.wrong
        self.recorder.unit = float(np.abs(self.of("value")).max())
        if usable["gradient"]:
            self._compare("gradient", size, self._gradient_reference(self.p),
                          "differences of value")
        units = np.eye(self.p.shape[1])
        if usable["gradient"] and not wrong("gradient"):
            against = "differences of gradient"
            H = central(lambda u: self.of("gradient", p=self.p + u), np.zeros(len(units)))
        else:
            against = "differences of value, twice"
            H = stacked([nested(lambda t, e=e: self._gradient_reference(self.p + t * e))
                         for e in units])
        forms = {"hessian": H, "hessian_diagonal": [np.einsum("sii->si", side) for side in H],
                 "hessian_product": [np.einsum("sij,sj->si", *pair) for pair in
                                     zip(H, (self.v, np.abs(self.v)))]}
        for name, reference in forms.items():
            if usable[name]:
                self._compare(name, size, Difference(*reference), against)
        self._flags(H)

    def extra(self, name):
        """What a method takes beside p and target."""
        return (self.v,) if name == "hessian_product" else ()

    def of(self, name, p=None):
        """One method on copies, as an array."""
        self.called = name
        p = np.array(self.p if p is None else p)
        return np.asarray(getattr(self.loss, name)(p, self.target.copy(),
                                                   *map(np.array, self.extra(name))))

    def _compare(self, name, size, reference, against):
        """Compare a method with a Difference; faults of one block are not reported again later."""
        if name in self.told:
            return
        where = "" if size == 1 else f" at outputs of size {size:g}"
        computed = self.of(name)
        if not self.recorder.compare(name, f"{name} with {self.case}{where} against {against}",
                                     computed, reference.value, reference.error,
                                     names=(name, "differences"), optional=size > 1):
            self.told.add(name)
            if computed.shape == reference.value.shape:  # one branch may be wrong
                gap = np.abs(computed - reference.value)
                worst = np.unravel_index(np.argmax(gap), gap.shape)[0]
                p, target = (np.array2string(rows[worst], precision=4, threshold=8)
                             for rows in (self.p, self.target))
                self.recorder.report.findings[-1].entries += (
                    f"\n  the largest difference is at p = {p}, target = {target}")

    # -- what every method owes --------------------------------------------------------------------

    def _usable(self, name, shape):
        """Shape, purity, dtype, samples apart; whether the numbers can be compared at all."""
        recorder, p, extra = self.recorder, self.p, self.extra(name)
        try:
            method = getattr(self.loss, name)
            result = pure_call(recorder, name, method, ("p", "target", "v"),
                               (p, self.target, *extra))
            if recorder.nothing(name, result):
                return False
            result = np.asarray(result)
            if not recorder.fact(
                name, "shape", result.shape == shape, f"has the wrong shape with {self.case}",
                f"shape {result.shape}, expected {shape}: one row per sample, nothing averaged"):
                return False
            alone = np.asarray(method(p[:1].copy(), self.target[:1].copy(),
                                      *(arg[:1].copy() for arg in extra)))
            single = self.loss.prepare_target(self.given, p.shape, np.dtype("float32"))
            narrow = np.asarray(method(p.astype(np.float32), single,
                                       *(arg.astype(np.float32) for arg in extra)))
        except Exception as problem:  # whatever a user's method raises is the finding
            return recorder.raised(name, problem, case=f" with {self.case}")
        if not recorder.fact(name, "finite", np.isfinite(result).all(),
                             "is not finite for ordinary outputs"):
            return False
        recorder.keeps_dtype(name, "float32", narrow)
        return recorder.compare(
            name, f"{name} of sample 0 in the batch against sample 0 alone", result[:1], alone,
            names=("in the batch", "alone"), scale=np.abs(result).max() or 1.0,
            hint="a sample leaks into another one, or something is averaged over the batch")

    def _draw_off_kinks(self, size):
        """Draw p of a size, each row until wide differences are accurate there: no kink is near."""
        best = np.full(len(self.p), np.inf)
        drawn = best_drawn = size * self.rng.standard_normal(self.p.shape)
        for _ in range(_REDRAWS):
            difference = self._gradient_reference(drawn, step=2e-3)
            roughness = difference.error.max(axis=1) / (np.abs(difference.value).max() or 1.0)
            better = roughness < best
            best_drawn = np.where(better[:, None], drawn, best_drawn)
            best = np.where(better, roughness, best)
            if (best < _SMOOTH).all():
                break
            drawn = np.where((best < _SMOOTH)[:, None], best_drawn,
                             size * self.rng.standard_normal(self.p.shape))
        self.p = best_drawn

    def _gradient_reference(self, p, step=None):
        """Differences of value in every output, all samples at once: (S, C)."""
        return central(lambda u: self.of("value", p=p + u), np.zeros(p.shape[1]), step)

    # -- flags, lines ------------------------------------------------------------------------------

    def _flags(self, reference):
        """What the flags promise must be true of the differences."""
        H, error = reference
        slack = 20 * float(error.max()) + 1e-7
        off = H - np.einsum("sii->si", H)[:, :, None] * np.eye(H.shape[1])
        if getattr(self.loss, "diagonal_hessian", False):
            self.recorder.fact(
                "diagonal_hessian", "off-diagonal entries", np.abs(off).max() <= slack,
                "diagonal_hessian is True, but the Hessian has off-diagonal entries up to "
                f"{np.abs(off).max():.6g}", hint="methods rely on this flag; set it to False")
        if getattr(self.loss, "convex", False):
            lowest = np.linalg.eigvalsh(H).min(axis=1)
            sample = int(np.argmin(lowest))
            self.recorder.fact(
                "convex", "smallest eigenvalue", lowest[sample] >= -slack * H.shape[1],
                "convex is True, but the Hessian of a sample has the eigenvalue "
                f"{lowest[sample]:.6g}", f"at p = {np.array2string(self.p[sample], precision=4)}",
                "methods rely on this flag; set it to False")

    def _follow_lines(self):
        """Values along lines: no jump, and no bend down where the loss says that it is convex."""
        rows = np.arange(len(self.p))
        for length in LENGTHS:
            def values(t, length=length):
                p = self.p + t[:, :, None] * self.v
                given = np.concatenate([self.target[rows]] * len(t))
                return np.asarray(self.loss.value(p.reshape(-1, p.shape[-1]), given),
                                  dtype=float).reshape(len(t), -1, 1)
            self.called = "value"
            jumps = jumps_along(values, length)
            for t, row, before, after in jumps[:1]:
                p = np.array2string(self.p[row] + t * self.v[row], precision=4, threshold=8)
                target = np.array2string(self.target[row], precision=4, threshold=8)
                self.recorder.fact(
                    "value", "continuous", False, f"jumps with {self.case}: from {before:.6g} to "
                    f"{after:.6g}", f"at p = {p}, target = {target}",
                    "branches must meet: is a constant of one of them missing?")
            if jumps:
                return
            self.recorder.fact("value", f"continuous over {length:g}", True, "")
            if getattr(self.loss, "convex", False):
                self._convex_along(values(np.linspace(-length, length, 257)[:, None])[:, :, 0])

    def _convex_along(self, values):
        bends = np.diff(values, 2, axis=0)
        slack = 1e-9 * np.abs(values).max()
        down = ~(bends >= -slack) & np.isfinite(bends)
        self.recorder.fact("convex", "along lines", not down.any(), "convex is True, but along a "
                           "line the value bends down", hint="methods rely on this flag; set it to "
                           "False")
