"""The checker calls the passes of a layer in every way: one sample alone, several directions at
once.
"""

import numpy as np
import pytest

from secondorder import nets, verify
from secondorder.nets import Activation, ScaleShift

from test_verify_derivatives import (PASSES, Quadratic, planted, text_of,
                                     wrong_passes)

# -- a batch of one --------------------------------------------------------------------------------

def parts(result, change):
    return tuple(map(change, result)) if isinstance(result, tuple) else change(result)


def doubled_alone(original, self, saved, *args):
    factor = 2 if len(saved.input) == 1 else 1
    return parts(original(self, saved, *args), lambda part: factor * part)


def squeezed(original, self, saved, *args):
    return parts(original(self, saved, *args), np.squeeze)


def second_negative_alone(original, self, saved, *args):
    first, second = original(self, saved, *args)
    return first, -second if len(saved.input) == 1 else second


def needs_two(original, self, saved, *args):
    return parts(original(self, saved, *args), lambda part: part + 0 * saved.input[1].sum())


@pytest.mark.parametrize("names, change, told", [
    (PASSES, doubled_alone, "ratio 2"), (PASSES[1:4] + PASSES[5:], squeezed, "wrong shape"),
    (("backward", "backward_tangent"), second_negative_alone, "ratio -1"),
    (("parameter_gradients",), needs_two, "raised IndexError for a batch of one")])
def test_what_is_wrong_for_one_sample_alone_is_found(names, change, told):
    for name in names:
        report = verify.layer(planted(Quadratic, name, change)(3))
        assert wrong_passes(report) == {name} and told in text_of(report, name), report
        assert "of sample 0 alone" in text_of(report, name) or change is needs_two


# -- several directions ----------------------------------------------------------------------------

def summed_over_directions(original, self, saved, *args):
    """With as many directions as samples the shape is right."""
    y_bar = args[0] if original.__name__ == "parameter_bars" else args[2]
    if y_bar.ndim == 3:
        return np.sum(y_bar * saved.input, axis=0), np.sum(y_bar, axis=0)
    return original(self, saved, *args)


def along_the_wrong_axis(original, self, saved, x_t, v=None, c=None):
    y_t = original(self, saved, x_t)
    return y_t if v is None else y_t + v * saved.input + c  # (K, n) against (S, n)


def none_is_one(original, self, saved, first, *rest):
    x_t = getattr(first, "x_tangent", first)
    return original(self, saved, first, *rest) + (x_t is None)


@pytest.mark.parametrize("name, change, told", [
    ("parameter_bars", summed_over_directions, "for 4 directions at once against one after"),
    ("parameter_bars_tangent", summed_over_directions, "for 4 directions at once against one"),
    ("tangent", along_the_wrong_axis, "directions stand in front: samples are axis -2"),
    ("tangent", none_is_one, "x_tangent=None against zeros"),
    ("second_tangent", none_is_one, "x_tangent=None against zeros"),
    ("input_gradient_tangent", none_is_one, "x_tangent=None against zeros")])
def test_what_is_wrong_for_many_directions_is_found(name, change, told):
    bad = planted(ScaleShift, name, change)
    bad.many_directions = True
    report = verify.layer(bad(3), (3,))
    whole = name.replace("parameter_bars", "backward").replace("input_gradient", "backward")
    assert report.findings[0].pass_name == whole and told in str(report), report


# -- a layer that was not made ---------------------------------------------------------------------

class Unmade(Activation):
    """Forgets super().__init__()."""

    def __init__(self):
        self.function = nets.Tanh()


@pytest.mark.parametrize("layer", [Unmade(), nets.Skip([Unmade()])])
def test_a_forgotten_init_is_said_in_one_sentence(layer):
    report = verify.layer(layer)
    assert wrong_passes(report) == {"__init__"}
    assert "Layer.__init__ was not called: begin Unmade.__init__ with super().__init__()" in str(
        report)
