"""The checker for a loss of one's own."""

import math

import numpy as np
import pytest

from harness import slow
from secondorder import nets, verify
from secondorder.nets import DiagonalLoss, Loss, SoftmaxCrossEntropy, SquaredError

from test_verify_derivatives import FACTORS, changed, text_of, wrong_passes

LOSSES = [SquaredError(), SoftmaxCrossEntropy(), nets.BoundedCriterion(), nets.TukeyBiweight(),
          nets.TukeyBiweight(0.8)]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("seed", [0, *slow([1, 2])])
def test_built_in_losses_are_ok(loss, seed):
    report = verify.loss(loss, rng=seed)
    assert report, str(report)


class LogCosh(DiagonalLoss):
    """sum over outputs of log cosh(p - target), as a user would write it."""

    convex = True

    def value(self, p, target):
        r = np.abs(p - target)
        return np.sum(r + np.log1p(np.exp(-2 * r)) - math.log(2), axis=1)

    def gradient(self, p, target):
        return np.tanh(p - target)

    def hessian_diagonal(self, p, target):
        return 1 - np.tanh(p - target) ** 2


class Coupled(Loss):
    """exp of the sum of squares over 4: a Hessian that is full."""

    convex = True

    def value(self, p, target):
        return np.exp(np.sum((p - target) ** 2, axis=1) / 4)

    def gradient(self, p, target):
        return self.value(p, target)[:, None] * (p - target) / 2

    def hessian(self, p, target):
        r = p - target
        outer = r[:, :, None] * r[:, None, :] / 4
        return self.value(p, target)[:, None, None] * (outer + np.eye(p.shape[1], dtype=p.dtype)
                                                       / 2)


def test_losses_from_scratch_are_ok():
    assert verify.loss(LogCosh())
    report = verify.loss(Coupled(), outputs=2, targets=0.1 * np.arange(6.0).reshape(3, 2))
    assert report, str(report)


def test_targets_of_the_user_are_used():
    report = verify.loss(SoftmaxCrossEntropy(), outputs=3, targets=[0, 2, 1, 1])
    assert report and "value with targets" not in str(report)
    with pytest.raises(ValueError, match="out of range"):
        verify.loss(SoftmaxCrossEntropy(), outputs=3, targets=[0, 3])


@pytest.mark.parametrize("bug", FACTORS)
@pytest.mark.parametrize("base, name", [(LogCosh, "gradient"), (LogCosh, "hessian_diagonal"),
                                        (Coupled, "gradient"),
                                        (SoftmaxCrossEntropy, "gradient"),
                                        (SoftmaxCrossEntropy, "hessian"),
                                        (SoftmaxCrossEntropy, "hessian_product"),
                                        (SoftmaxCrossEntropy, "hessian_diagonal")])
def test_wrong_loss_derivatives_are_named(base, name, bug):
    factor, ratio, hint = FACTORS[bug]
    original = getattr(base, name)
    bad = changed(base, **{name: lambda self, *args: factor * original(self, *args)})
    report = verify.loss(bad, outputs=3)
    assert wrong_passes(report) == {name}, "what is derived from it was written by nobody"
    assert ratio in text_of(report, name) and hint in text_of(report, name)


def lopsided(self, p, target):
    H = Coupled.hessian(self, p, target)
    H[:, 0, 1] *= 1.001
    return H


def test_an_asymmetric_hessian_is_found():
    report = verify.loss(changed(Coupled, hessian=lopsided), targets=np.zeros((3, 2)), outputs=2)
    assert wrong_passes(report) >= {"hessian"} and "0, 1): hessian" in text_of(report, "hessian")
    assert any("transpose" in finding.compared for finding in report.findings)


@pytest.mark.parametrize("base, flag, wrong", [
    (nets.TukeyBiweight, "convex", {"convex"}), (nets.BoundedCriterion, "convex", {"convex"}),
    (SoftmaxCrossEntropy, "diagonal_hessian", {"diagonal_hessian"}),
    (Coupled, "diagonal_hessian", {"diagonal_hessian"})])
def test_flags_of_a_loss_must_be_true(base, flag, wrong):
    targets = {} if base is not Coupled else {"targets": np.zeros((3, 4))}
    report = verify.loss(changed(base, **{flag: True}), **targets)
    assert wrong_passes(report) == wrong and f"{flag} is True, but" in str(report)


@pytest.mark.parametrize("methods, name, expected", [
    ({"value": lambda self, p, t: LogCosh.value(self, p, t).mean()}, "value",
     "shape (), expected (5,)"),
    ({"gradient": lambda self, p, t: np.tanh(p - t).sum(axis=0)}, "gradient", "expected (5, 4)"),
    ({"gradient": lambda self, p, t: np.tanh(np.subtract(p, t, out=p))}, "gradient",
     "changes its argument p in place"),
    ({"value": lambda self, p, t: LogCosh.value(self, p, t).astype(np.float64)}, "value",
     "turns float32 into float64"),
    ({"gradient": lambda self, p, t: [][0]}, "gradient", "raised IndexError"),
    ({"value": lambda self, p, t: np.full(len(p), np.inf)}, "value", "not finite"),
    ({"value": lambda self, p, t: None}, "value", "returns None\n    hint: is its return missing?"),
    ({"value": lambda self, p, t: LogCosh.value(self, p - p.mean(axis=0), t)}, "value",
     "a sample leaks"),
    ({"gradient": lambda self, p, t: np.tanh(p - t) / len(p)}, "gradient",
     "a mean over 5 where a sum is meant"),
    ({"value": lambda self, p, t: np.sum(np.log(np.cosh(p - t)), axis=1)}, "value",
     "is not finite with"),
])
def test_what_loss_methods_owe(methods, name, expected):
    report = verify.loss(changed(LogCosh, **methods))
    assert name in wrong_passes(report) and expected in text_of(report, name)


class Picky(SquaredError):
    def prepare_target(self, target, shape, dtype):
        raise ValueError("words only")


@pytest.mark.parametrize("loss, options, told", [
    (SquaredError(), {"outputs": 0}, "outputs"), (SquaredError(), {"samples": 1}, "samples"),
    (SquaredError(), {"tolerance": -1}, "tolerance"),
    (Picky(), {}, "takes none of the default targets.*words only")])
def test_what_is_refused(loss, options, told):
    with pytest.raises(ValueError, match=told):
        verify.loss(loss, **options)


# -- branches that are far out ---------------------------------------------------------------------

def tukey_with(name, change):
    """A biweight whose `name` is change(residual, right result)."""
    original = getattr(nets.TukeyBiweight, name)
    return changed(nets.TukeyBiweight,
                   **{name: lambda self, p, t: change(p - t, original(self, p, t))})


@pytest.mark.parametrize("seed", [0, *slow(range(1, 5))])
@pytest.mark.parametrize("where", [lambda r: np.abs(r) > 4.685, lambda r: r < -3, lambda r: r > 10],
                         ids=["outliers", "below -3", "above 10"])
@pytest.mark.parametrize("name", ["gradient", "hessian_diagonal"])
def test_a_branch_for_outliers_that_is_wrong(name, where, seed):
    report = verify.loss(tukey_with(name, lambda r, right: np.where(where(r), right + 0.1, right)),
                         rng=seed)
    assert name in wrong_passes(report)
    assert "the largest difference is at p = [" in text_of(report, name)


@pytest.mark.parametrize("loss", [nets.BoundedCriterion(50, 0.9), nets.TukeyBiweight(1.0)],
                         ids=repr)
@pytest.mark.parametrize("seed", [5, *slow([46, 49, 59])])
def test_flat_losses_are_no_false_alarm(loss, seed):
    report = verify.loss(loss, rng=seed)
    assert report, str(report)


# -- far outputs -----------------------------------------------------------------------------------

class NaiveEntropy(SoftmaxCrossEntropy):
    """Right in the middle; -log(exp / sum) overflows far out."""

    def value(self, p, target):
        return -np.sum(target * np.log(np.exp(p) / np.exp(p).sum(axis=1, keepdims=True)), axis=1)


@pytest.mark.parametrize("loss, name", [
    (NaiveEntropy(), "value"),
    (changed(SoftmaxCrossEntropy, gradient=lambda self, p, t: np.exp(p)
             / np.exp(p).sum(axis=1, keepdims=True)
             * t.sum(axis=1, keepdims=True) - t), "gradient"),
    (changed(SquaredError, fisher=lambda self, p: SquaredError.fisher(self, p) * (
        np.exp(p[:, :, None]) / np.exp(p[:, :, None]))), "fisher")])
def test_overflow_for_far_outputs_is_found(loss, name):
    report = verify.loss(loss)
    assert name in wrong_passes(report)
    assert "is not finite with" in text_of(report, name) and "p = [" in text_of(report, name)


def test_a_loss_that_is_too_large_by_right_gets_a_note():
    report = verify.loss(Coupled(), outputs=2, targets=0.1 * np.arange(6.0).reshape(3, 2))
    assert (
        report
        and "value is too large for float64 at outputs of 1000 and was not judged there"
        in report.notes
    )


# -- the model of the targets ----------------------------------------------------------------------

def label_of(rows):
    return np.argmax(rows, axis=1)


SCORES = "is not the mean of score score^T"
MODEL_BUGS = {
    "doubled": (SoftmaxCrossEntropy, "fisher", lambda f, self, p: 2 * f(self, p), "ratio 2"),
    "diagonal only": (SoftmaxCrossEntropy, "fisher",
                      lambda f, self, p: f(self, p) * np.eye(p.shape[1], dtype=p.dtype), SCORES),
    "mean over the batch": (SoftmaxCrossEntropy, "fisher", lambda f, self, p: f(self, p) / len(p),
                            "a mean over 5 where a sum is meant"),
    "wide": (SquaredError, "sample_targets", lambda f, self, p, rng: p + 2 * (f(self, p, rng) - p),
             "ratio 0.25"),
    "uniform": (SoftmaxCrossEntropy, "sample_targets", lambda f, self, p, rng: f(self, 0 * p, rng),
                SCORES),
    "global seed": (SquaredError, "sample_targets",
                    lambda f, self, p, rng: f(self, p, np.random.default_rng()),
                    "in the same state"),
    "refused": (SoftmaxCrossEntropy, "sample_targets",
                lambda f, self, p, rng: label_of(f(self, p, rng)) + 7,
                "prepare_target refuses"),
    "float64": (SquaredError, "fisher", lambda f, self, p: f(self, p).astype(float),
                "turns float32 into float64")}


@pytest.mark.parametrize("bug", MODEL_BUGS)
def test_wrong_models_of_the_targets_are_named(bug):
    base, name, change, expected = MODEL_BUGS[bug]
    original = getattr(base, name)
    report = verify.loss(changed(base, **{name: lambda self, *args: change(original, self, *args)}))
    told = "fisher" if "ratio" in expected or expected == SCORES else name
    assert told in wrong_passes(report) <= {"fisher", "sample_targets"}
    assert expected in text_of(report, told)


# -- where branches meet ---------------------------------------------------------------------------

class Branches(DiagonalLoss):
    """r^2 / (2 beta) within beta, |r| - offset beyond; only beta / 2 makes the branches meet."""

    convex = True

    def __init__(self, beta, offset, floor=0.0):
        self.beta, self.offset, self.floor = beta, offset, floor

    def value(self, p, target):
        r = np.abs(p - target)
        return np.where(r < self.beta, r * r / (2 * self.beta) + self.floor * (p > target),
                        r - self.offset).sum(axis=1).astype(p.dtype)

    def gradient(self, p, target):
        return np.clip((p - target) / self.beta, -1, 1)

    def hessian_diagonal(self, p, target):
        return (np.abs(p - target) < self.beta).astype(p.dtype) / p.dtype.type(self.beta)


@pytest.mark.parametrize("seed", [0, *slow(range(1, 5))])
@pytest.mark.parametrize("beta, offset, floor, right", [
    (2.0, 1.0, 0.0, True), (0.5, 0.25, 0.0, True), (2.0, 0.5, 0.0, False), (0.5, 0.5, 0.0, False),
    (1.0, 0.5, 1.0, False), (1.0, 0.5, 1e-3, False)])
def test_values_that_jump_between_branches_are_found(seed, beta, offset, floor, right):
    report = verify.loss(Branches(beta, offset, floor), rng=seed)
    assert report.ok == right, report
    assert right or (wrong_passes(report) == {"value"} and "value: jumps" in str(report))


def test_a_loss_that_bends_down_at_a_kink_is_not_convex():
    class Capped(Branches):
        def value(self, p, target):
            return np.minimum(np.abs(p - target), 1).sum(axis=1)

        def gradient(self, p, target):
            r = p - target
            return np.where(np.abs(r) < 1, np.sign(r), 0).astype(p.dtype)

        def hessian_diagonal(self, p, target):
            return np.zeros_like(p)

    loss = Capped(1.0, 0.5)
    assert wrong_passes(verify.loss(loss)) == {"convex"}
    loss.convex = False
    assert verify.loss(loss)
