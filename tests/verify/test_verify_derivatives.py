"""The checker for a user's own layer, activation or loss: it accepts what is right and names what
is wrong.

Bugs are planted one at a time into layers that are right, so that each test knows the pass and the
ratio to expect.
"""

from typing import NamedTuple

import numpy as np
import pytest

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
        return r @ self.weight + y_bar * saved.product, (r.T @ saved.input).ravel()

    def parameter_gradients(self, saved, y_bar):
        r = y_bar * saved.input
        return (r[:, :, None] * saved.input[:, None, :]).reshape(len(r), -1)

    def tangent(self, saved, x_tangent, theta_tangent):
        y_tangent = np.zeros_like(saved.output)
        if x_tangent is not None:
            y_tangent += x_tangent @ self.weight.T * saved.input + saved.product * x_tangent
        if theta_tangent is not None:
            y_tangent += saved.input @ self.split(theta_tangent)[0].T * saved.input
        return y_tangent

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        y_second = Quadratic.tangent(self, saved, x_second, None)
        if x_tangent is not None:
            y_second += 2 * (x_tangent @ self.weight.T) * x_tangent
        if x_tangent is not None and theta_tangent is not None:
            W_t = self.split(theta_tangent)[0]
            y_second += 2 * (x_tangent @ W_t.T * saved.input + saved.input @ W_t.T * x_tangent)
        return y_second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        r = y_bar * saved.input
        r_t = y_bar_tangent * saved.input
        product_t = np.zeros_like(saved.product)
        theta_part = np.zeros_like(self.weight)
        if x_tangent is not None:
            r_t = r_t + y_bar * x_tangent
            product_t += x_tangent @ self.weight.T
            theta_part += r.T @ x_tangent
        x_part = r_t @ self.weight + y_bar_tangent * saved.product
        if theta_tangent is not None:
            W_t = self.split(theta_tangent)[0]
            product_t += saved.input @ W_t.T
            x_part += r @ W_t
        theta_part += r_t.T @ saved.input
        return x_part + y_bar * product_t, theta_part.ravel()

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
        if name not in PAIRS:
            return function(result)
        return tuple(function(part) if position == which else part
                     for position, part in enumerate(result))
    return change


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


@pytest.mark.everyday(16)
@pytest.mark.parametrize("layer", list(built_in_layers()), ids=repr)
@pytest.mark.parametrize("seed", [0, 1])
def test_built_in_layers_are_ok(layer, seed):
    report = verify.layer(layer, rng=seed)
    assert report and report.ok, str(report)
    assert {check.pass_name for check in report.checks} >= {"forward", "network", *PASSES}
    assert str(report).startswith(f"{layer!r}: ok, ")


@pytest.mark.parametrize("layer", [Quadratic(3), Quadratic(1)], ids=repr)
def test_layers_from_scratch_are_ok(layer):
    report = verify.layer(layer)
    assert report, str(report)


def test_a_layer_larger_than_the_number_of_differences_is_sampled():
    assert verify.layer(Linear(24, 20, rng=0))
    bad = planted(Linear, "parameter_gradients", on_result("parameter_gradients", 0, np.negative))
    assert wrong_passes(verify.layer(bad(24, 20, rng=0))) == {"parameter_gradients"}


def test_samples_and_input_shape_are_used():
    report = verify.layer(Activation("tanh"), input_shape=(2, 3), samples=7)
    assert report, str(report)
    bad = planted(Quadratic, "backward", on_result("backward", 1, lambda theta_bar: theta_bar / 7))
    assert "the ratio is 1/7 everywhere" in str(verify.layer(bad(3), samples=7))


def test_reports_are_reproducible():
    bad = planted(Quadratic, "tangent", on_result("tangent", 0, np.negative))(3)
    assert str(verify.layer(bad, rng=5)) == str(verify.layer(bad, rng=5))
    assert str(verify.layer(bad, rng=5)) != str(verify.layer(bad, rng=6))


# -- planted bugs: a factor in one result of one pass ----------------------------------------------

FACTORS = {"sign": (-1.0, "ratio -1\n", "the ratio is -1 everywhere: the sign is flipped"),
           "two": (2.0, "ratio 2\n", "a factor 2 too much"),
           "half": (0.5, "ratio 0.5\n", "the ratio is 1/2 everywhere"),
           "mean": (1 / SAMPLES, "ratio 0.25\n", "a mean over 4 where a sum is meant?")}
RESULTS = [(name, which) for name in PASSES for which in ((0, 1) if name in PAIRS else (0,))]


@pytest.mark.everyday(6)
@pytest.mark.parametrize("bug", FACTORS)
@pytest.mark.parametrize("name, which", RESULTS)
def test_a_wrong_factor_is_named_with_its_pass_and_ratio(name, which, bug):
    factor, ratio, hint = FACTORS[bug]
    report = verify.layer(planted(Quadratic, name,
                                  on_result(name, which, lambda part: factor * part))(3))
    assert not report and not report.ok
    assert wrong_passes(report) == {name}
    text = text_of(report, name)
    assert ratio in text and hint in text and "entry (" in text
    quantity = {"backward": ("x_bar", "weight_bar"), "tangent": ("y_tangent",),
                "parameter_gradients": ("weight",),
                "second_tangent": ("y_second",),
                "backward_tangent": ("x_bar_tangent", "weight_bar_tangent"),
                "input_hessian": ("H_x",)}[name][which]
    assert report.findings[0].compared.startswith(quantity + " ")


def test_one_wrong_parameter_is_told_apart_from_the_others():
    def double_bias(rows):
        rows[:, -2:] *= 2
        return rows
    bad = planted(Linear, "parameter_gradients",
                  on_result("parameter_gradients", 0, double_bias))(3, 2, rng=0)
    finding, = verify.layer(bad).findings
    assert finding.compared.startswith("bias rows") and "ratio 2" in finding.entries


def test_one_wrong_entry_is_named_by_its_index():
    def spoil(part):
        part[2, 1] *= 1.5
        return part
    bad = planted(Quadratic, "tangent", on_result("tangent", 0, spoil))(3)
    text = verify.layer(bad).findings[0].entries
    assert (
        text.startswith("1 of 12 entries differ") and "entry (2, 1)" in text and "ratio 1.5" in text
    )


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

def without(position):
    """Leave out what depends on one argument by passing None (tangents) or zero for it."""
    def change(original, self, *args):
        args = list(args)
        args[position] = None
        return original(self, *args)
    return change


@pytest.mark.parametrize("name, position, case", [
    ("tangent", 1, "x_tangent alone"), ("tangent", 2, "theta_tangent alone"),
    ("second_tangent", 2, "x_second alone"), ("second_tangent", 1, "x_tangent alone"),
    ("backward_tangent", 1, "x_tangent alone"), ("backward_tangent", 2, "theta_tangent alone")])
def test_a_missing_term_shows_as_zero_in_its_own_case(name, position, case):
    report = verify.layer(planted(Quadratic, name, without(position))(3))
    assert wrong_passes(report) == {name}
    first = report.findings[0]
    assert (
        case in first.compared
        and "ratio 0\n" in first.entries
        and "a term is missing" in first.entries
    )


def test_a_missing_mixed_term_and_its_lost_factor():
    def drop(original, self, saved, x_t, x_2, theta_t):
        return original(self, saved, x_t, x_2, None)

    def halve(original, self, saved, x_t, x_2, theta_t):
        return (original(self, saved, x_t, x_2, theta_t)
                + original(self, saved, x_t, x_2, None)) / 2
    for base, args in ((Quadratic, (3,)), (Linear, (3, 4))):
        text = text_of(verify.layer(planted(base, "second_tangent", drop)(*args)), "second_tangent")
        assert "mixed term" in text and "a term is missing" in text
        text = text_of(verify.layer(planted(base, "second_tangent", halve)(*args)),
                       "second_tangent")
        assert "mixed term" in text and "ratio 0.5" in text


@pytest.mark.parametrize("name, case", [("second_tangent", "x_tangent alone"),
                                        ("backward_tangent", "x_tangent alone"),
                                        ("input_hessian", "of y_bar alone")])
def test_an_activation_without_its_curvature(name, case):
    def flat(original, self, saved, *args):
        return original(self, saved._replace(curvature=np.zeros_like(saved.curvature)), *args)
    report = verify.layer(planted(Activation, name, flat)("tanh"))
    assert wrong_passes(report) == {name}
    assert case in report.findings[0].compared and "a term is missing" in report.findings[0].entries
    assert verify.layer(planted(Activation, name, flat)("relu"))  # there is no curvature to lose


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


@pytest.mark.parametrize("name, position",
                         [("tangent", 2), ("second_tangent", 3), ("backward_tangent", 2)])
def test_a_transposed_tangent_is_recognised(name, position):
    def change(original, self, *args):
        args = list(args)
        if args[position - 0] is not None:
            args[position] = args[position].reshape(3, 3).T.ravel()
        return original(self, *args)
    report = verify.layer(planted(Quadratic, name, change)(3))
    assert wrong_passes(report) == {name}
    if name != "second_tangent":  # there the parameters enter through the mixed term only
        assert "a weight is transposed" in text_of(report, name)


@pytest.mark.parametrize("name", PAIRS)
def test_a_transposed_parameter_gradient_is_recognised(name):
    bad = planted(Quadratic, name, on_result(name, 1, lambda part: part.reshape(3, 3).T.ravel()))
    report = verify.layer(bad(3))
    assert wrong_passes(report) == {name}
    assert "transposed" in text_of(report, name)
