"""The checker calls the passes of a layer in every way: one sample alone, tangents that are None,
float32, other lines.

Rates and float32 must raise no false alarm on layers that are right.
"""

import numpy as np
import pytest

from secondorder import nets, verify
from secondorder.nets import Activation, LayerNorm, Linear
from secondorder.verify.classes.identities import check_orders
from secondorder.verify.recorder import Recorder

from test_verify_derivatives import PASSES, Quadratic, planted, text_of, wrong_passes

# -- a batch of one --------------------------------------------------------------------------------

@pytest.mark.parametrize("name",
                         ["parameter_gradients", "tangent", "second_tangent", "input_hessian"])
def test_a_lost_sample_axis_is_found(name):
    report = verify.layer(planted(Quadratic, name,
                                  lambda original, self, *args: original(self, *args).squeeze())(3))
    assert wrong_passes(report) == {name}
    assert "of sample 0 alone" in text_of(report, name) and "wrong shape" in text_of(report, name)


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_that_is_wrong_for_one_sample_only_is_found(name):
    def change(original, self, saved, *args):
        result = original(self, saved, *args)
        factor = 2 if len(saved.input) == 1 else 1
        return tuple(factor * part for part in result) if isinstance(result,
                                                                     tuple) else factor * result
    report = verify.layer(planted(Quadratic, name, change)(3))
    assert wrong_passes(report) == {name}
    assert "of sample 0 alone" in text_of(report, name) and "ratio 2" in text_of(report, name)


@pytest.mark.parametrize("name", ["backward", "backward_tangent"])
def test_sums_over_samples_of_one_sample_are_compared_too(name):
    def change(original, self, saved, *args):
        first, second = original(self, saved, *args)
        return first, -second if len(saved.input) == 1 else second
    report = verify.layer(planted(Quadratic, name, change)(3))
    assert wrong_passes(report) == {name} and "ratio -1" in text_of(report, name)


def test_a_pass_that_raises_for_one_sample_is_found():
    def change(original, self, saved, y_bar):
        return original(self, saved, y_bar) + 0 * saved.input[1].sum()
    report = verify.layer(planted(Quadratic, "parameter_gradients", change)(3))
    assert wrong_passes(report) == {
        "parameter_gradients"
    } and "raised IndexError for a batch of one" in str(report)


# -- tangents that are None ------------------------------------------------------------------------

def test_a_tangent_of_nothing_must_be_zeros():
    def change(original, self, saved, x_t, theta_t):
        return None if x_t is None and theta_t is None else original(self, saved, x_t, theta_t)
    report = verify.layer(planted(Quadratic, "tangent", change)(3))
    assert wrong_passes(report) == {"tangent"}
    text = text_of(report, "tangent")
    assert (
        "does not return arrays with x_tangent=None, theta_tangent=None" in text
        and "returned None" in text
    )


@pytest.mark.everyday(3)
@pytest.mark.parametrize("name, first",
                         [("second_tangent", 0), ("second_tangent", 2), ("backward_tangent", 0),
                                         ("backward_tangent", 1)])
@pytest.mark.parametrize("kind", ["wrong", "raises"])
def test_every_single_none_is_tried_with_all_else_given(name, first, kind):
    """The bug shows only where one tangent is None and no other argument is."""
    def change(original, self, saved, *args):
        result = original(self, saved, *args)
        if args[first] is not None or any(arg is None or not np.any(arg)
                                          for k, arg in enumerate(args) if k != first):
            return result
        if kind == "raises":
            raise AttributeError("NoneType has no shape")
        return tuple(part + 1 for part in result) if isinstance(result, tuple) else result + 1
    report = verify.layer(planted(Quadratic, name, change)(3))
    assert wrong_passes(report) == {name}
    assert "None against zeros in its place" in str(
        report
    ) or "=None: NoneType has no shape" in str(report)


def test_none_for_two_of_three_tangents():
    def change(original, self, saved, x_t, x_2, theta_t):
        result = original(self, saved, x_t, x_2, theta_t)
        return result + 1 if x_t is None and x_2 is not None and theta_t is None else result
    report = verify.layer(planted(Quadratic, "second_tangent", change)(3))
    assert wrong_passes(report) == {"second_tangent"}
    assert "y_second with x_tangent=None, theta_tangent=None against zeros in their place" in str(
        report
    )


def test_a_layer_without_parameters_is_asked_without_theta_tangent_only():
    def change(original, self, saved, x_t, theta_t):
        assert theta_t is None
        return original(self, saved, x_t, theta_t)
    report = verify.layer(planted(Activation, "tangent", change)("tanh"))
    assert report, str(report)


# -- rates -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("layer, seed",
                         [(Activation("softplus"), 19), (Activation("softplus"), 66)], ids=str)
def test_terms_that_cancel_on_one_line_are_no_finding(layer, seed):
    report = verify.layer(layer, rng=seed)
    assert report, str(report)


@pytest.mark.parametrize("bad, ok, drawn", [(2, True, 3), (3, False, 3)])
def test_three_lines_are_drawn_before_a_rate_is_wrong(bad, ok, drawn):
    """The first `bad` lines have remainders that fall too slowly."""
    recorder, lines = Recorder("a layer", 1e-8), []

    def draw():
        lines.append(len(lines))
        order = 1 if len(lines) <= bad else 2
        return 2.0 ** -np.arange(6), lambda _: 0.1 * 2.0 ** (-order * np.arange(6)), np.zeros(6)
    assert check_orders(recorder, {"tangent": 2}, draw, scale=1.0)
    assert recorder.report.ok == ok and len(lines) == drawn
    assert ok or "falls like step^1.00, not step^2" in str(recorder.report)


def test_lines_that_cross_kinks_judge_nothing():
    """Where a kink adds more than a tenth of the remainder."""
    recorder, steps = Recorder("a layer", 1e-8), 2.0 ** -np.arange(6)
    for kinks, judged in ((0.2, False), (0.01, True)):
        assert check_orders(recorder, {"tangent": 2}, lambda k=kinks: (
            steps, lambda order: 0.1 * steps, k * 0.1 * steps), scale=1.0) == judged
        assert bool(recorder.report) != judged


# -- hints that must not be wrong ------------------------------------------------------------------

def test_stale_parameters_are_no_hint_for_what_was_not_run_again():
    class Plain(Linear):
        def forward(self, x):
            y, saved = super().forward(x)
            return y, tuple(saved)
    report = verify.layer(Plain(3, 4, rng=0))
    assert "saved has no field input" in text_of(report, "forward")
    assert "stale parameters" not in str(report)


# -- float32 ---------------------------------------------------------------------------------------

def test_terms_that_cancel_in_float32_are_a_note():
    """Each row over its own size: of two features (c, -c) / sqrt(c^2 + eps) is left."""
    report = verify.layer(LayerNorm(2), (2,))
    assert report, str(report)
    assert any("in float32, and it is rounding" in note for note in report.notes)


@pytest.mark.parametrize("name", ["tangent", "parameter_gradients"])
def test_a_steady_error_in_float32_is_a_finding(name):
    def change(original, self, saved, *args):
        result = original(self, saved, *args)
        return result * (1.001 if result.dtype == np.float32 else 1)
    report = verify.layer(planted(Quadratic, name, change)(3))
    assert wrong_passes(report) == {name} and "ratio 1.001" in str(report)
    assert f"right in float64; inaccurate in float32 in {name};" in str(report)
    assert not any("rounding" in note for note in report.notes)


@pytest.mark.parametrize("name", ["tangent", "second_tangent", "backward_tangent"])
def test_cancelling_terms_do_not_hide_a_wrong_factor(name):
    def change(original, self, *args):
        result = original(self, *args)
        return tuple(1.001 * part for part in result) if isinstance(result,
                                                                    tuple) else 1.001 * result
    assert name in wrong_passes(verify.layer(planted(LayerNorm, name, change)(2), (2,)))


# -- a layer that was not made ---------------------------------------------------------------------

class Unmade(Activation):
    """Forgets super().__init__()."""

    def __init__(self):
        self.function = nets.Tanh()


def test_a_forgotten_init_is_said_in_one_sentence():
    report = verify.layer(Unmade())
    assert wrong_passes(report) == {"__init__"}
    assert "Layer.__init__ was not called: begin Unmade.__init__ with super().__init__()" in str(
        report
    )


def test_a_forgotten_init_inside_another_layer():
    layer = nets.Skip([Unmade()])
    assert "Layer.__init__ was not called: begin Unmade.__init__" in str(verify.layer(layer))


# -- right numbers in a wrong shape ----------------------------------------------------------------

def test_swapped_axes_are_named():
    recorder = Recorder("mine", 1e-8)
    recorder.compare("backward", "of W", np.zeros((2, 3, 4)), np.zeros((2, 4, 3)))
    recorder.compare("forward", "of b", np.zeros((2, 3)), np.zeros((2, 4)))
    swapped, other = recorder.report.findings
    assert "transposed" in swapped.hint and not other.hint


@pytest.mark.parametrize("name, change, hint", [
    ("backward", lambda x_bar, W_bar: (x_bar, W_bar.reshape(2, 3)),
     "the numbers are right: flatten them by .ravel()"),
    ("backward", lambda x_bar, W_bar: (x_bar, W_bar.reshape(2, 3).T),
     "right but transposed: swap the last two axes, then .ravel()"),
    ("backward", lambda x_bar, W_bar: (x_bar, W_bar.reshape(2, 3).T.ravel()),
     "right but transposed: weight has the shape (2, 3)"),
    ("backward", lambda x_bar, W_bar: (x_bar.ravel(), W_bar), "keep the shape (4, 3)"),
    ("backward", lambda x_bar, W_bar: (x_bar, 2 * W_bar.reshape(2, 3)), ""),
    ("parameter_gradients", lambda rows: rows.reshape(len(rows), 2, 3),
     "flatten them by .reshape(len(x), -1)"),
    ("parameter_gradients", lambda rows: rows.ravel(), "is a .ravel() too much?")])
def test_right_numbers_in_a_wrong_shape_are_told(name, change, hint):
    original = getattr(nets.Linear, name)

    class Misshapen(nets.Linear):
        pass

    def misshapen(self, *args):
        result = original(self, *args)
        return change(*result) if isinstance(result, tuple) else change(result)

    setattr(Misshapen, name, misshapen)
    report = verify.layer(Misshapen(3, 2, bias=False), input_shape=(3,), samples=4)
    (told,) = {finding.hint for finding in report.findings if finding.pass_name == name}
    assert hint in told and bool(hint) == bool(told), str(report)


def test_a_wrong_shape_is_told_once():
    class Rows(nets.Linear):
        def backward_tangent(self, *args):
            x_bar, theta_bar = super().backward_tangent(*args)
            return x_bar, theta_bar[None]
    assert len(verify.layer(Rows(3, 2, rng=0)).findings) == 1
