"""How far the checker looks, and the order in which it tells what it found."""

import numpy as np
import pytest

import secondorder as so
from secondorder import nets, verify
from secondorder.verify.classes import activation_places

from test_verify_activations import own
from test_verify_derivatives import changed
from test_verify_losses import LogCosh


def promoting(factor):
    """Wrong by a factor in hessian; value and hessian promote float32."""
    def hessian(self, p, target):
        return factor * np.eye(p.shape[1]) * self.hessian_diagonal(p, target)[:, None, :]
    return changed(LogCosh, hessian=hessian, value=lambda self, p, target: LogCosh.value(
        self, p, target).astype(float))


def test_a_mismatch_comes_before_findings_about_single_precision():
    text = str(verify.loss(promoting(2.0)))
    assert "factor 2 too much" in text
    assert (
        "wrong in hessian; promotes float32 in value, hessian;"
        in text
    )
    assert text.index("factor 2") < text.index("turns float32 into float64")
    assert text.index("turns float32") < len(text) and text.count("turns float32") >= 2


def test_a_loss_that_only_promotes_is_right_in_float64():
    report = verify.loss(promoting(1.0))
    assert not report and "right in float64; promotes float32 in value, hessian" in str(report)
    assert "wrong in" not in str(report) and {finding.kind for finding in report.findings} == {
        "promotes float32"
    }


def test_one_finding_of_every_kind_is_shown():
    from secondorder.verify.findings import PROMOTES
    from secondorder.verify.recorder import Recorder

    recorder = Recorder("subject", 1e-8)
    recorder.find("gradient", "turns float32", kind=PROMOTES)
    for k in range(6):
        recorder.find("gradient", f"mismatch {k}", kind="mismatch")
    recorder.find("gradient", "a fact")
    text = str(recorder.sorted_report())
    assert (
        "mismatch 3" in text
        and "mismatch 4" not in text
        and "a fact" in text
        and "turns float32" in text
    )
    assert "and 2 more in this pass" in text


def tailed(place, wrong="slope"):
    """sin whose slope, or curvature, is wrong beyond a place."""
    right = getattr(nets.ACTIVATIONS["sin"], wrong)
    return changed(nets.ACTIVATIONS["sin"], **{wrong: lambda self, x: (
        right(self, x) + 0.01 * (np.abs(x) > place)).astype(x.dtype)})


@pytest.mark.parametrize("wrong", ["slope", "curvature"])
@pytest.mark.parametrize("place", [6.5, 20.0, 100.0, 500.0])
def test_a_wrong_tail_is_found(wrong, place):
    report = verify.activation(tailed(place, wrong))
    assert {finding.pass_name for finding in report.findings} == {wrong}, str(report)
    assert "for x from" in str(report)


def test_the_range_is_stated_and_may_be_set():
    assert verify.activation(tailed(1e9))
    assert "looked at x from -768 to 768" in str(verify.activation(tailed(1e9)))
    report = verify.activation(tailed(3.0), interval=(-2, 2.5))
    assert report and "looked at x from -2 to 2.5" in str(report)
    assert not verify.activation(tailed(3.0), interval=(-2, 4))


def test_a_function_that_overflows_is_looked_at_as_far_as_it_is_finite():
    with np.errstate(over="ignore"):
        report = verify.activation(own(np.exp, np.exp, np.exp))
    assert report and "looked at x from -768 to 384" in str(report), str(report)


def test_nothing_is_asked_outside_of_an_interval():
    root = own(np.sqrt, lambda x: 0.5 / np.sqrt(x), lambda x: -0.25 * x**-1.5, kinks=(-3.0,))
    with np.errstate(invalid="raise"):
        report = verify.activation(root, interval=(0.5, 5))
    assert report, str(report)


class FarBranch(so.Activation):
    """An activation layer whose backward is wrong for |x| > 10."""

    def __init__(self):
        super().__init__("softplus")

    def backward(self, saved, y_bar):
        (x_bar,) = super().backward(saved, y_bar)
        return (x_bar * np.where(np.abs(saved.input) > 10, 2.0, 1.0).astype(x_bar.dtype),)


def test_a_layer_that_is_wrong_far_out():
    report = verify.layer(FarBranch())
    assert "backward" in {finding.pass_name for finding in report.findings}
    assert "at inputs of size 8" in str(report)
    near = verify.layer(FarBranch(), sizes=(1.0,))
    assert near and "inputs up to |x| = " in str(near)


@pytest.mark.parametrize("value", [3, (1, 2, 3), "ab", (2, 1), (0, np.inf), (1, "x"), (), (1, -1)])
def test_bad_intervals_and_sizes(value):
    with pytest.raises((TypeError, ValueError), match="interval"):
        verify.activation("tanh", interval=value)
    if value not in ((1, 2, 3), (2, 1)):
        with pytest.raises((TypeError, ValueError), match="sizes"):
            verify.layer(so.Linear(2, 2), sizes=value)
    with pytest.raises(ValueError, match="interval.*no points"):
        verify.activation("relu", interval=(-activation_places.DISTANCE / 2, 0.0))
