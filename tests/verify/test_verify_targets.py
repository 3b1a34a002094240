"""Which targets a loss takes is found out; only what somebody wrote is named; small errors can be
read; what could not be judged is not called wrong."""

import textwrap

import numpy as np
import pytest

import secondorder as so
from secondorder import verify
from secondorder.checks import labels
from secondorder.ledger.mismatch import entry_line
from secondorder.nets import DiagonalLoss, Loss
from secondorder.verify.recorder import Recorder

from test_verify_derivatives import changed, text_of, wrong_passes
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
@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value):RuntimeWarning")
def test_a_right_loss_is_right_whatever_targets_it_takes(loss, seed):
    report = verify.loss(loss(), rng=seed)
    assert report, str(report)


@pytest.mark.parametrize("loss", [SoftLabels, AnyWeights])
def test_what_was_found_out_is_said(loss):
    (note,) = [note for note in verify.loss(loss()).notes if "followed" not in note]
    assert "judged with one-hot rows, probabilities" in note and "give targets=" in note
    assert "convex" in note


@pytest.mark.parametrize("base", [SoftLabels, AnyWeights, Divergence, Deviance, OwnLabels])
@pytest.mark.parametrize("factor", [-1.0, 2.0, 1 + 1e-6])
@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value):RuntimeWarning")
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
    (note,) = [note for note in report.notes if "followed" not in note]
    assert "nothing is wrong with one-hot rows, probabilities" in note and "give targets=" in note


def test_convex_is_claimed_in_vain():
    class Concave(SoftLabels):
        def value(self, p, t):
            return -SoftLabels.value(self, p, t)

        def gradient(self, p, t):
            return -SoftLabels.gradient(self, p, t)

        def hessian(self, p, t):
            return -SoftLabels.hessian(self, p, t)

    assert wrong_passes(verify.loss(Concave())) == {"convex"}


def test_labels_that_are_no_class_are_to_be_refused():
    careless = changed(OwnLabels, prepare_target=lambda self, target, shape, dtype: target)
    report = verify.loss(careless)
    (finding,) = report.findings
    assert (finding.pass_name, finding.compared) == (
        "prepare_target", "takes the label -1, with classes 0 to 3")
    assert "checks.labels(target, shape)" in finding.hint
    assert not verify.loss(careless, targets=np.array([0, 3, 1])).ok

    def compared(self, target, shape, dtype):
        return (np.asarray(target)[:, None] == np.arange(shape[1])).astype(dtype)

    report = verify.loss(changed(SoftLabels, prepare_target=compared), targets=np.array([0, 3, 1]))
    assert "takes the label -1" in str(report) and "takes the label 4" in str(report)


def test_a_loss_without_prepare_target_is_told_how_to_take_labels():
    class Forgotten(OwnLabels):
        prepare_target = Loss.prepare_target

    with pytest.raises(ValueError) as raised:
        verify.loss(Forgotten())
    lines = str(raised.value).partition("prepare_target:\n")[2].partition(";")[0]
    given = {}
    exec("import secondorder\n" + textwrap.dedent(lines), given)
    Forgotten.prepare_target = given["prepare_target"]
    assert verify.loss(Forgotten()).ok
    with pytest.raises(ValueError, match="one column per output .*y.:, None..$"):
        so.SquaredError().prepare_target(np.zeros(3), (3, 4), np.dtype("float64"))


# -- only what was written -------------------------------------------------------------------------


@pytest.mark.parametrize("change", [
    lambda H, p: 2 * H, lambda H, p: H.astype(np.float64), lambda H, p: H[:, 0],
    lambda H, p: H / len(p), lambda H, p: [][0], lambda H, p: H * np.nan])
@pytest.mark.parametrize("base, name", [(AnyWeights, "hessian"), (Deviance, "hessian_diagonal")])
@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value):RuntimeWarning")
def test_what_follows_from_a_wrong_hessian_is_not_named(base, name, change):
    original = getattr(base, name)
    bad = changed(base, **{name: lambda self, p, t: change(original(self, p, t), p)})
    assert wrong_passes(verify.loss(bad)) <= {name, "convex"}
    assert name in wrong_passes(verify.loss(bad))


def test_a_product_of_ones_own_is_named():
    bad = changed(AnyWeights, hessian_product=lambda self, p, t, v: 2 * v)
    assert wrong_passes(verify.loss(bad)) == {"hessian_product"}


# -- small errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [1e-6, -1e-6, 3e-9, -2.5e-12])
def test_a_small_error_is_not_printed_as_a_ratio_of_1(error):
    line = entry_line((0,), 0.7 * (1 + error), 0.7)
    ratio = line.partition("ratio ")[2]
    sign, size = ratio.split()[1:]
    assert ratio.startswith("1 ") and sign == ("+" if error > 0 else "-")
    assert float(size) == pytest.approx(abs(error), rel=0.06)
    left, right = line.partition(" ratio")[0].rstrip(",").split(": ")[1].split(", ")
    assert left.split()[1] != right.split()[1]


# -- too inaccurate is not wrong -------------------------------------------------------------------


def test_what_cannot_be_judged_is_not_called_wrong():
    recorder = Recorder("Rough()", 1e-8)
    assert not recorder.compare("backward", "x_bar", np.ones(3), np.ones(3), 0.1)
    text = str(recorder.sorted_report())
    assert "too inaccurate to judge in backward" in text.splitlines()[0] and "wrong" not in text
    assert not recorder.report.ok and "right in float64" not in text
    recorder.compare("tangent", "y_tangent", np.ones(3), np.zeros(3))
    first = str(recorder.sorted_report()).splitlines()[0]
    assert "wrong in tangent; too inaccurate to judge in backward" in first


def test_a_rough_layer_is_not_called_wrong():
    class Rough(so.Activation):
        """tanh with a ripple that no difference quotient gets through."""

        def forward(self, x):
            y, saved = super().forward(x)
            return y + 1e-5 * np.sin(1e9 * x), saved

    report = verify.layer(Rough("tanh"), input_shape=(3,))
    assert not report and "too inaccurate to judge" in str(report).splitlines()[0]
    assert "differences are too inaccurate to judge" in text_of(report, "backward")
