"""The checker for a user's own layer, activation or loss: it accepts what is right and names what
is wrong.

Bugs are planted one at a time into layers that are right, so that each test knows the pass and the
ratio to expect.
"""

from typing import NamedTuple

import numpy as np
import pytest

from harness import slow
from secondorder import nets, verify
from secondorder.nets import Activation, Layer, Linear, Skip

SAMPLES = 4


class QuadraticSaved(NamedTuple):
    """input x, output y, and the product x W^T."""

    input: np.ndarray
    output: np.ndarray
    product: np.ndarray


class Quadratic(Layer):
    """y = (x W^T) * x: a layer from scratch in which every second-derivative term is there."""

    def __init__(self, width=3, rng=0):
        super().__init__()
        self.input_shape = (width,)
        self.declare("weight", np.random.default_rng(rng).standard_normal((width, width)))

    @property
    def weight(self):
        return self.parameters["weight"]

    @weight.setter
    def weight(self, value):
        self.assign("weight", value)

    def forward(self, x):
        product = x @ self.weight.T
        y = product * x
        return y, QuadraticSaved(x, y, product)

    def backward(self, saved, y_bar):
        r = y_bar * saved.input
        return r @ self.weight + y_bar * saved.product, r.T @ saved.input

    def parameter_gradients(self, saved, y_bar):
        r = y_bar * saved.input
        return (r[:, :, None] * saved.input[:, None, :],)

    def tangent(self, saved, x_tangent, W_tangent):
        return (x_tangent @ self.weight.T * saved.input + saved.product * x_tangent
                + saved.input @ W_tangent.T * saved.input)

    def second_tangent(self, saved, moved, x_second):
        x_t, (W_t,) = moved.x_tangent, moved.theta_tangents
        return (x_second @ self.weight.T * saved.input + saved.product * x_second
                + 2 * (x_t @ self.weight.T) * x_t
                + 2 * (x_t @ W_t.T * saved.input + saved.input @ W_t.T * x_t))

    def backward_tangent(self, saved, moved, y_bar, y_bar_tangent):
        x_t, (W_t,) = moved.x_tangent, moved.theta_tangents
        r = y_bar * saved.input
        r_t = y_bar_tangent * saved.input + y_bar * x_t
        product_t = x_t @ self.weight.T + saved.input @ W_t.T
        return (r_t @ self.weight + r @ W_t + y_bar_tangent * saved.product + y_bar * product_t,
                r_t.T @ saved.input + r.T @ x_t)

    def input_hessian(self, saved, y_bar, H_y):
        n = H_y.shape[1]
        J = saved.input[:, :, None] * self.weight + saved.product[:, :, None] * np.eye(
            n, dtype=H_y.dtype
        )
        curved = y_bar[:, :, None] * self.weight
        return J.transpose(0, 2, 1) @ H_y @ J + curved + curved.transpose(0, 2, 1)

    def __repr__(self):
        return f"{type(self).__name__}({self.input_shape[0]})"


PASSES = ("backward", "tangent", "parameter_gradients", "second_tangent", "backward_tangent",
          "input_hessian")
PAIRS = ("backward", "backward_tangent")


def planted(base, name, change):
    """A subclass of `base` in which pass `name` is change(original, self, *args)."""
    original = getattr(base, name)
    return type(base.__name__, (base,), {name: lambda self, *args: change(original, self, *args)})


def on_result(name, which, function):
    """A change of one of the results of a pass."""
    def change(original, self, *args):
        result = original(self, *args)
        if not isinstance(result, tuple):
            return function(result)
        return tuple(function(part) if position == which else part
                     for position, part in enumerate(result))
    return change


def with_moved(change):
    """A change of `moved` on the way into a pass: change(x_tangent, theta_tangents)."""
    def changed(original, self, saved, moved, *rest):
        x_tangent, theta_tangents = change(moved.x_tangent, moved.theta_tangents)
        return original(self, saved, moved._replace(x_tangent=x_tangent,
                                                    theta_tangents=theta_tangents), *rest)
    return changed


def wrong_passes(report):
    return {finding.pass_name for finding in report.findings}


def text_of(report, name):
    return "\n".join(str(finding) for finding in report.findings if finding.pass_name == name)


def changed(base, **methods):
    """An instance of a subclass of `base` with other methods."""
    return type(base.__name__, (base,), methods)()


# -- what is right passes --------------------------------------------------------------------------

def built_in_layers():
    """Every layer of the package, with and without bias, trained and fixed, nested."""
    yield from (Linear(3, 4, rng=0), Linear(4, 2, bias=False, rng=0),
                Linear(3, 3, trainable=False, rng=0),
                Linear(1, 1, rng=0))
    yield from (Activation(name) for name in nets.ACTIVATIONS)
    for name in ("tanh", "relu"):
        yield Skip([Linear(3, 4, rng=1), Activation(name), Linear(4, 3, rng=2)])
    yield Skip([Linear(3, 4, rng=1, trainable=False), Activation("softplus"), Linear(4, 3, rng=2)])
    yield Skip([Skip([Linear(3, 3, rng=1)]), Activation("sin")])
    yield nets.ScaleShift(3, trainable=False)
    yield from (Quadratic(3), Quadratic(1))


@pytest.mark.parametrize("layer", list(built_in_layers()), ids=repr)
@pytest.mark.parametrize("seed", [0, *slow([1])])
def test_built_in_layers_are_ok(layer, seed):
    report = verify.layer(layer, rng=seed)
    assert report and report.ok, str(report)
    assert {check.pass_name for check in report.checks} >= {"forward", "network", *PASSES}
    assert str(report).startswith(f"{layer!r}: ok, ")


@pytest.mark.parametrize("shape", [(3,), (3, 2, 2), (3, 4)])
def test_scales_of_features_are_ok_at_every_place(shape):
    report = verify.layer(nets.ScaleShift(3), shape)
    assert report, str(report)
    bad = planted(nets.ScaleShift, "tangent", lambda f, self, saved, x_t, v=None, c=None: f(
        self, saved, x_t, v, None if c is None else 0 * c))
    bad.many_directions = True
    assert wrong_passes(verify.layer(bad(3), shape)) == {"tangent"}


def test_a_layer_larger_than_the_number_of_differences_is_sampled():
    assert verify.layer(Linear(24, 20, rng=0))
    bad = planted(Linear, "parameter_gradients", on_result("parameter_gradients", 0, np.negative))
    assert wrong_passes(verify.layer(bad(24, 20, rng=0))) == {"parameter_gradients"}


def test_samples_and_input_shape_are_used():
    report = verify.layer(Activation("tanh"), input_shape=(2, 3), samples=7)
    assert report, str(report)
    bad = planted(Quadratic, "backward", on_result("backward", 1, lambda W_bar: W_bar / 7))
    assert "the ratio is 1/7 everywhere" in str(verify.layer(bad(3), samples=7))


# -- planted bugs: a factor in one result of one pass ----------------------------------------------

FACTORS = {"sign": (-1.0, "ratio -1\n", "the ratio is -1 everywhere: the sign is flipped"),
           "two": (2.0, "ratio 2\n", "a factor 2 too much"),
           "half": (0.5, "ratio 0.5\n", "the ratio is 1/2 everywhere"),
           "mean": (1 / SAMPLES, "ratio 0.25\n", "a mean over 4 where a sum is meant?")}
RESULTS = [(name, which) for name in PASSES for which in ((0, 1) if name in PAIRS else (0,))]


@pytest.mark.parametrize("bug", FACTORS)
@pytest.mark.parametrize("name, which", RESULTS)
def test_a_wrong_factor_is_named_with_its_pass_and_ratio(name, which, bug):
    factor, ratio, hint = FACTORS[bug]
    report = verify.layer(planted(Quadratic, name,
                                  on_result(name, which, lambda part: factor * part))(3))
    assert not report and wrong_passes(report) == {name}
    text = text_of(report, name)
    assert ratio in text and hint in text and "entry (" in text


@pytest.mark.parametrize("change, told", [
    (lambda part: part[:-1], "shape"), (lambda part: part.astype(float), "turns float32 into")])
@pytest.mark.parametrize("name, which", RESULTS)
def test_a_result_of_another_shape_or_dtype_is_named(name, which, change, told):
    report = verify.layer(planted(Quadratic, name, on_result(name, which, change))(3))
    assert wrong_passes(report) == {name} and told in text_of(report, name)


def test_the_cause_leads_and_wrong_passes_do_not_blame_right_ones():
    bad = planted(planted(Quadratic, "backward", on_result("backward", 0, np.negative)),
                  "input_hessian",
                  on_result("input_hessian", 0, lambda part: 2 * part))
    report = verify.layer(bad(3))
    assert [finding.pass_name for finding in report.findings][0] == "backward"
    assert wrong_passes(report) == {"backward", "input_hessian"}
    assert "differences of forward, twice" in text_of(report, "input_hessian")
    assert str(report).index("backward:") < str(report).index("input_hessian:")


# -- planted bugs: missing terms -------------------------------------------------------------------

def zero(*arrays):
    return [np.zeros_like(array) for array in arrays]


def without_x(x_tangent, theta_tangents):
    return np.zeros_like(x_tangent), theta_tangents


def without_theta(x_tangent, theta_tangents):
    return x_tangent, zero(*theta_tangents)


@pytest.mark.parametrize("name, change, case", [
    ("tangent", lambda f, self, saved, x_t, W_t: f(self, saved, 0 * x_t, W_t), "x_tangent alone"),
    ("tangent", lambda f, self, saved, x_t, W_t: f(self, saved, x_t, 0 * W_t),
     "theta_tangent alone"),
    ("second_tangent", lambda f, self, saved, moved, x_2: f(self, saved, moved, 0 * x_2),
     "x_second alone"),
    ("second_tangent", with_moved(without_x), "x_tangent alone"),
    ("backward_tangent", with_moved(without_x), "x_tangent alone"),
    ("backward_tangent", with_moved(without_theta), "theta_tangent alone")])
def test_a_missing_term_shows_as_zero_in_its_own_case(name, change, case):
    report = verify.layer(planted(Quadratic, name, change)(3))
    assert wrong_passes(report) == {name}
    first = report.findings[0]
    assert (
        case in first.compared
        and "ratio 0\n" in first.entries
        and "a term is missing" in first.entries
    )


def test_a_missing_mixed_term_and_its_lost_factor():
    drop = with_moved(without_theta)

    def halve(original, self, *args):
        return (original(self, *args) + drop(original, self, *args)) / 2
    for base, args in ((Quadratic, (3,)), (Linear, (3, 4))):
        text = text_of(verify.layer(planted(base, "second_tangent", drop)(*args)), "second_tangent")
        assert "mixed term" in text and "a term is missing" in text
        text = text_of(verify.layer(planted(base, "second_tangent", halve)(*args)),
                       "second_tangent")
        assert "mixed term" in text and "ratio 0.5" in text


# -- planted bugs: transposed weight ---------------------------------------------------------------

def transposed_weight(original, self, *args):
    kept = self.weight.copy()
    self.weight = kept.T
    try:
        return original(self, *args)
    finally:
        self.weight = kept


@pytest.mark.parametrize("name", [name for name in PASSES if name != "parameter_gradients"])
def test_a_transposed_weight_is_recognised(name):
    report = verify.layer(planted(Quadratic, name, transposed_weight)(3))
    assert wrong_passes(report) == {name}
    assert "a weight is transposed" in text_of(report, name) and "ratio" in text_of(report, name)
