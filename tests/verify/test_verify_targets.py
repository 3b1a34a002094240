"""Which targets a loss takes is found out; only what somebody wrote is named."""

import numpy as np
import pytest

from secondorder import verify
from secondorder.checks import labels
from secondorder.nets import DiagonalLoss, Loss

from test_verify_derivatives import changed, wrong_passes
from test_verify_losses import LogCosh


def log_sum_exp(p):
    top = p.max(axis=1, keepdims=True)
    return top + np.log(np.exp(p - top).sum(axis=1, keepdims=True))


def softmax(p):
    return np.exp(p - log_sum_exp(p))


class SoftLabels(Loss):
    """Cross-entropy of rows that sum to one, as people write it: the gradient is q - t."""

    convex = True

    def value(self, p, t):
        return np.sum(t * (log_sum_exp(p) - p), axis=1)

    def gradient(self, p, t):
        return softmax(p) - t

    def hessian(self, p, t):
        q = softmax(p)
        return q[:, :, None] * (np.eye(p.shape[1], dtype=p.dtype) - q[:, None, :])


class AnyWeights(SoftLabels):
    """Rows of any positive sum."""

    def gradient(self, p, t):
        return softmax(p) * t.sum(axis=1, keepdims=True) - t

    def hessian(self, p, t):
        return SoftLabels.hessian(self, p, t) * t.sum(axis=1)[:, None, None]


class Divergence(AnyWeights):
    """Kullback-Leibler: log t is NaN for negative targets and 0 log 0 for one-hot rows."""

    def value(self, p, t):
        return super().value(p, t) + np.sum(t * np.log(t), axis=1)


class Deviance(DiagonalLoss):
    """Of a Poisson model with mean exp(p): positive targets."""

    convex = True

    def value(self, p, t):
        return np.sum(np.exp(p) - t * p + t * np.log(t), axis=1)

    def gradient(self, p, t):
        return np.exp(p) - t

    def hessian_diagonal(self, p, t):
        return np.exp(p)


class OwnLabels(SoftLabels):
    """Integer labels (S,) and nothing else."""

    def prepare_target(self, target, shape, dtype):
        return labels(target, shape)

    def value(self, p, t):
        return SoftLabels.value(self, p, np.eye(p.shape[1], dtype=p.dtype)[t])

    def gradient(self, p, t):
        return SoftLabels.gradient(self, p, np.eye(p.shape[1], dtype=p.dtype)[t])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", [SoftLabels, AnyWeights, Divergence, Deviance, OwnLabels])
def test_a_right_loss_is_right_whatever_targets_it_takes(loss, seed):
    report = verify.loss(loss(), rng=seed)
    assert report, str(report)


@pytest.mark.parametrize("base", [SoftLabels, AnyWeights, Divergence, Deviance, OwnLabels])
@pytest.mark.parametrize("factor", [-1.0, 2.0, 1 + 1e-6])
def test_a_wrong_one_is_still_wrong(base, factor):
    for name in ("gradient", "hessian_diagonal" if base is Deviance else "hessian"):
        original = getattr(base, name)
        bad = changed(base, **{name: lambda self, p, t, f=original: (factor * f(self, p, t)).astype(
            p.dtype)})
        report = verify.loss(bad)
        assert name in wrong_passes(report) <= {name, "convex"}, str(report)


def test_a_loss_of_real_numbers_that_is_wrong_for_negative_ones():
    """It does not tell classes apart: being right with probabilities does not excuse it."""
    def gradient(self, p, t):
        return np.where(t < 0, 1.5, 1.0).astype(p.dtype) * np.tanh(p - t)

    report = verify.loss(changed(LogCosh, gradient=gradient))
    assert wrong_passes(report) == {"gradient"}


def test_labels_that_are_no_class_are_to_be_refused():
    careless = changed(OwnLabels, prepare_target=lambda self, target, shape, dtype: target)
    report = verify.loss(careless)
    assert wrong_passes(report) == {"prepare_target"} and "takes the label -1" in str(report)

    def compared(self, target, shape, dtype):
        return (np.asarray(target)[:, None] == np.arange(shape[1])).astype(dtype)

    report = verify.loss(changed(SoftLabels, prepare_target=compared), targets=np.array([0, 3, 1]))
    assert "takes the label -1" in str(report) and "takes the label 4" in str(report)
