"""The checker for a loss of one's own."""

import math

import numpy as np
import pytest

from secondorder import nets, verify
from secondorder.nets import DiagonalLoss, Loss, SoftmaxCrossEntropy, SquaredError

from test_verify_derivatives import FACTORS, changed, text_of, wrong_passes

# -- losses --------------------------------------------------------------------------------------------------

LOSSES = [SquaredError(), SoftmaxCrossEntropy(), nets.BoundedCriterion(), nets.TukeyBiweight(), nets.TukeyBiweight(0.8)]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("seed", [0, 1, 2])
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
        return self.value(p, target)[:, None, None] * (outer + np.eye(p.shape[1], dtype=p.dtype) / 2)


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
@pytest.mark.parametrize("base, name", [(LogCosh, "gradient"), (LogCosh, "hessian_diagonal"), (Coupled, "gradient"),
                                        (SoftmaxCrossEntropy, "gradient"), (SoftmaxCrossEntropy, "hessian"),
                                        (SoftmaxCrossEntropy, "hessian_product"),
                                        (SoftmaxCrossEntropy, "hessian_diagonal")])
def test_wrong_loss_derivatives_are_named(base, name, bug):
    factor, ratio, hint = FACTORS[bug]
    original = getattr(base, name)
    bad = changed(base, **{name: lambda self, *args: factor * original(self, *args)})
    report = verify.loss(bad, outputs=3)
    forms = {name} if base is SoftmaxCrossEntropy or name == "gradient" else {"hessian", "hessian_product", name}
    assert wrong_passes(report) == forms
    assert ratio in text_of(report, name) and hint in text_of(report, name)


def test_a_mean_over_the_batch_in_the_gradient():
    bad = changed(LogCosh, gradient=lambda self, p, target: np.tanh(p - target) / len(p))
    report = verify.loss(bad, samples=5)
    assert "gradient" in wrong_passes(report) and "averaged over the batch" in text_of(report, "gradient")


def test_a_batch_that_leaks_is_found():
    bad = changed(LogCosh, value=lambda self, p, target: LogCosh.value(self, p - p.mean(axis=0), target))
    report = verify.loss(bad)
    assert wrong_passes(report) == {"value"} and "a sample leaks" in str(report)


def test_an_asymmetric_hessian_is_found():
    def lopsided(self, p, target):
        H = Coupled.hessian(self, p, target)
        H[:, 0, 1] *= 1.001
        return H
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
    ({"value": lambda self, p, t: LogCosh.value(self, p, t).mean()}, "value", "shape (), expected (5,)"),
    ({"gradient": lambda self, p, t: np.tanh(p - t).sum(axis=0)}, "gradient", "expected (5, 4)"),
    ({"gradient": lambda self, p, t: np.tanh(np.subtract(p, t, out=p))}, "gradient", "changes its argument p in place"),
    ({"value": lambda self, p, t: LogCosh.value(self, p, t).astype(np.float64)}, "value", "turns float32 into float64"),
    ({"gradient": lambda self, p, t: [][0]}, "gradient", "raised IndexError"),
    ({"value": lambda self, p, t: np.full(len(p), np.inf)}, "value", "not finite"),
])
def test_what_loss_methods_owe(methods, name, expected):
    report = verify.loss(changed(LogCosh, **methods))
    assert name in wrong_passes(report) and expected in text_of(report, name)


def test_a_wrong_gradient_does_not_blame_the_hessian():
    bad = changed(Coupled, gradient=lambda self, p, t: -Coupled.gradient(self, p, t))
    report = verify.loss(bad, targets=np.zeros((3, 4)))
    assert wrong_passes(report) == {"gradient"}


def test_missing_loss_methods_are_named():
    with pytest.raises(TypeError, match=r"Bare lacks gradient\(p, target\), hessian\(p, target\)"):
        verify.loss(type("Bare", (Loss,), {"value": LogCosh.value})())
    with pytest.raises(TypeError, match=r"lacks hessian_diagonal\(p, target\)"):
        verify.loss(type("Half", (DiagonalLoss,), {"value": LogCosh.value, "gradient": LogCosh.gradient})())


@pytest.mark.parametrize("options", [{"outputs": 0}, {"samples": 1}, {"outputs": 2.0}, {"tolerance": -1}])
def test_bad_loss_options_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        verify.loss(SquaredError(), **options)


def test_a_loss_that_takes_no_default_target():
    class Picky(SquaredError):
        def prepare_target(self, target, shape, dtype):
            raise ValueError("words only")
    with pytest.raises(ValueError, match="takes none of the default targets.*words only"):
        verify.loss(Picky())
