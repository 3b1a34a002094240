"""The checker for a user's own layer, activation or loss: it accepts what is right and names what is wrong.

Bugs are planted one at a time into layers that are right, so that each test knows the pass and the ratio to expect.
"""

import copy
from typing import NamedTuple

import numpy as np
import pytest

from secondorder import nets, verify
from secondorder.nets import (Activation, ActivationFunction, DiagonalLoss, Layer, Linear, Loss, Skip,
                              SoftmaxCrossEntropy, SquaredError)
from secondorder.verify.findings import Recorder
from secondorder.verify.subject import Subject

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
        r, r_t, product_t = y_bar * saved.input, y_bar_tangent * saved.input, np.zeros_like(saved.product)
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
        J = saved.input[:, :, None] * self.weight + saved.product[:, :, None] * np.eye(n, dtype=H_y.dtype)
        curved = y_bar[:, :, None] * self.weight
        return J.transpose(0, 2, 1) @ H_y @ J + curved + curved.transpose(0, 2, 1)

    def __repr__(self):
        return f"{type(self).__name__}({self.input_shape[0]})"


class Scale(Layer):
    """y = a * x with one factor a channel; x may have further axes."""

    def __init__(self, shape=(3,)):
        super().__init__()
        self.input_shape = shape
        self.declare("a", np.ones(shape[0]))

    def _a(self, vector=None):
        a = self.parameters["a"] if vector is None else vector
        return a.reshape((-1,) + (1,) * (len(self.input_shape) - 1))

    def _rows(self, product):
        return product.reshape(product.shape[:2] + (-1,)).sum(axis=2)

    def forward(self, x):
        y = self._a() * x
        return y, nets.LinearSaved(x, y)

    def backward(self, saved, y_bar):
        return self._a() * y_bar, self.parameter_gradients(saved, y_bar).sum(axis=0)

    def parameter_gradients(self, saved, y_bar):
        return self._rows(y_bar * saved.input)

    def tangent(self, saved, x_tangent, theta_tangent):
        y_tangent = np.zeros_like(saved.output) if x_tangent is None else self._a() * x_tangent
        return y_tangent if theta_tangent is None else y_tangent + self._a(theta_tangent) * saved.input

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        y_second = np.zeros_like(saved.output) if x_second is None else self._a() * x_second
        if x_tangent is not None and theta_tangent is not None:
            y_second = y_second + 2 * self._a(theta_tangent) * x_tangent
        return y_second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        x_part, theta_part = self.backward(saved, y_bar_tangent)
        if theta_tangent is not None:
            x_part = x_part + self._a(theta_tangent) * y_bar
        return x_part, theta_part if x_tangent is None else theta_part + self._rows(y_bar * x_tangent).sum(axis=0)

    def input_hessian(self, saved, y_bar, H_y):
        a = np.broadcast_to(self._a(), self.input_shape).ravel()
        return a[:, None] * H_y * a


PASSES = ("backward", "tangent", "parameter_gradients", "second_tangent", "backward_tangent", "input_hessian")
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
        return tuple(function(part) if position == which else part for position, part in enumerate(result))
    return change


def wrong_passes(report):
    return {finding.pass_name for finding in report.findings}


def text_of(report, name):
    return "\n".join(str(finding) for finding in report.findings if finding.pass_name == name)


# -- what is right passes ------------------------------------------------------------------------------------

def built_in_layers():
    """Every layer of the package, with and without bias, trained and fixed, nested."""
    yield from (Linear(3, 4, rng=0), Linear(4, 2, bias=False, rng=0), Linear(3, 3, trainable=False, rng=0),
                Linear(1, 1, rng=0))
    yield from (Activation(name) for name in nets.ACTIVATIONS)
    for name in ("tanh", "relu"):
        yield Skip([Linear(3, 4, rng=1), Activation(name), Linear(4, 3, rng=2)])
    yield Skip([Linear(3, 4, rng=1, trainable=False), Activation("softplus"), Linear(4, 3, rng=2)])
    yield Skip([Skip([Linear(3, 3, rng=1)]), Activation("sin")])


@pytest.mark.parametrize("layer", list(built_in_layers()), ids=repr)
@pytest.mark.parametrize("seed", [0, 1])
def test_built_in_layers_are_ok(layer, seed):
    report = verify.layer(layer, rng=seed)
    assert report and report.ok, str(report)
    assert {check.pass_name for check in report.checks} >= {"forward", "network", *PASSES}
    assert str(report).startswith(f"{layer!r}: ok, ")


@pytest.mark.parametrize("layer", [Quadratic(3), Quadratic(1), Scale(), Scale((2, 3, 2))], ids=repr)
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


# -- planted bugs: a factor in one result of one pass --------------------------------------------------------

FACTORS = {"sign": (-1.0, "ratio -1\n", "the ratio is -1 everywhere: the sign is flipped"),
           "two": (2.0, "ratio 2\n", "a factor 2 too much"),
           "half": (0.5, "ratio 0.5\n", "the ratio is 1/2 everywhere"),
           "mean": (1 / SAMPLES, "ratio 0.25\n", "a mean over 4 where a sum is meant?")}
RESULTS = [(name, which) for name in PASSES for which in ((0, 1) if name in PAIRS else (0,))]


@pytest.mark.parametrize("bug", FACTORS)
@pytest.mark.parametrize("name, which", RESULTS)
def test_a_wrong_factor_is_named_with_its_pass_and_ratio(name, which, bug):
    factor, ratio, hint = FACTORS[bug]
    report = verify.layer(planted(Quadratic, name, on_result(name, which, lambda part: factor * part))(3))
    assert not report and not report.ok
    assert wrong_passes(report) == {name}
    text = text_of(report, name)
    assert ratio in text and hint in text and "entry (" in text
    quantity = {"backward": ("x_bar", "weight_bar"), "tangent": ("y_tangent",), "parameter_gradients": ("weight",),
                "second_tangent": ("y_second",), "backward_tangent": ("x_bar_tangent", "weight_bar_tangent"),
                "input_hessian": ("H_x",)}[name][which]
    assert report.findings[0].compared.startswith(quantity + " ")


@pytest.mark.parametrize("bug", ["sign", "two"])
@pytest.mark.parametrize("name", [name for name in PASSES if name not in PAIRS])
def test_wrong_factors_in_a_linear_layer(name, bug):
    factor, ratio, hint = FACTORS[bug]
    report = verify.layer(planted(Linear, name, on_result(name, 0, lambda part: factor * part))(3, 4, rng=0))
    assert wrong_passes(report) == {name}
    assert ratio in text_of(report, name) and hint in text_of(report, name)


def test_one_wrong_parameter_is_told_apart_from_the_others():
    def double_bias(rows):
        rows[:, -2:] *= 2
        return rows
    bad = planted(Linear, "parameter_gradients", on_result("parameter_gradients", 0, double_bias))(3, 2, rng=0)
    finding, = verify.layer(bad).findings
    assert finding.compared.startswith("bias rows") and "ratio 2" in finding.entries


def test_one_wrong_entry_is_named_by_its_index():
    def spoil(part):
        part[2, 1] *= 1.5
        return part
    bad = planted(Quadratic, "tangent", on_result("tangent", 0, spoil))(3)
    text = verify.layer(bad).findings[0].entries
    assert text.startswith("1 of 12 entries differ") and "entry (2, 1)" in text and "ratio 1.5" in text


def test_the_cause_leads_and_wrong_passes_do_not_blame_right_ones():
    bad = planted(planted(Quadratic, "backward", on_result("backward", 0, np.negative)), "input_hessian",
                  on_result("input_hessian", 0, lambda part: 2 * part))
    report = verify.layer(bad(3))
    assert [finding.pass_name for finding in report.findings][0] == "backward"
    assert wrong_passes(report) == {"backward", "input_hessian"}
    assert "differences of forward, twice" in text_of(report, "input_hessian")
    assert str(report).index("backward:") < str(report).index("input_hessian:")


# -- planted bugs: missing terms -----------------------------------------------------------------------------

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
    assert case in first.compared and "ratio 0\n" in first.entries and "a term is missing" in first.entries


def test_a_missing_mixed_term_and_its_lost_factor():
    def drop(original, self, saved, x_t, x_2, theta_t):
        return original(self, saved, x_t, x_2, None)

    def halve(original, self, saved, x_t, x_2, theta_t):
        return (original(self, saved, x_t, x_2, theta_t) + original(self, saved, x_t, x_2, None)) / 2
    for base, args in ((Quadratic, (3,)), (Linear, (3, 4))):
        text = text_of(verify.layer(planted(base, "second_tangent", drop)(*args)), "second_tangent")
        assert "mixed term" in text and "a term is missing" in text
        text = text_of(verify.layer(planted(base, "second_tangent", halve)(*args)), "second_tangent")
        assert "mixed term" in text and "ratio 0.5" in text


@pytest.mark.parametrize("name, case", [("second_tangent", "x_tangent alone"), ("backward_tangent", "x_tangent alone"),
                                        ("input_hessian", "of y_bar alone")])
def test_an_activation_without_its_curvature(name, case):
    def flat(original, self, saved, *args):
        return original(self, saved._replace(curvature=np.zeros_like(saved.curvature)), *args)
    report = verify.layer(planted(Activation, name, flat)("tanh"))
    assert wrong_passes(report) == {name}
    assert case in report.findings[0].compared and "a term is missing" in report.findings[0].entries
    assert verify.layer(planted(Activation, name, flat)("relu"))  # there is no curvature to lose


# -- planted bugs: transposed weight -------------------------------------------------------------------------

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


@pytest.mark.parametrize("name, position", [("tangent", 2), ("second_tangent", 3), ("backward_tangent", 2)])
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


def test_a_transposed_weight_that_does_not_conform_is_reported_as_raised():
    bad = planted(Linear, "tangent", lambda original, self, saved, x_t, theta_t: x_t @ self.weight)
    report = verify.layer(bad(3, 4, rng=0))
    assert wrong_passes(report) == {"tangent"} and "raised ValueError" in str(report)


# -- planted bugs: changes in place --------------------------------------------------------------------------

ARGUMENTS = {"forward": ("x",), "backward": ("saved", "y_bar"), "tangent": ("saved", "x_tangent", "theta_tangent"),
             "parameter_gradients": ("saved", "y_bar"),
             "second_tangent": ("saved", "x_tangent", "x_second", "theta_tangent"),
             "backward_tangent": ("saved", "x_tangent", "theta_tangent", "y_bar", "y_bar_tangent"),
             "input_hessian": ("saved", "y_bar", "H_y")}


@pytest.mark.parametrize("name, argument", [(name, arg) for name, names in ARGUMENTS.items() for arg in names])
def test_changes_in_place_are_named(name, argument):
    position = ARGUMENTS[name].index(argument)

    def change(original, self, *args):
        result = copy.deepcopy(original(self, *args))
        target = args[position].output if argument == "saved" else args[position]
        if target is not None:
            target *= -2
        return result
    report = verify.layer(planted(Quadratic, name, change)(3))
    assert wrong_passes(report) == {name}
    label = "saved.output" if argument == "saved" else argument
    finding = report.findings[0]
    assert finding.compared == f"changes its argument {label} in place" and "ratio -2" in finding.entries


@pytest.mark.parametrize("name", PASSES)
def test_changes_of_parameters_are_named(name):
    def change(original, self, *args):
        result = original(self, *args)
        self.weight *= 2
        return result
    report = verify.layer(planted(Quadratic, name, change)(3))
    assert report.findings[0].pass_name == name
    assert "changes the parameter weight in place" in text_of(report, name)


# -- planted bugs: stale parameters, stale state -------------------------------------------------------------

class Stale(Quadratic):
    """Keeps a copy of its weight from construction, for `stale` below."""

    def __init__(self, width=3, rng=0):
        super().__init__(width, rng)
        self.first_weight = self.weight.copy()


def stale(original, self, *args):
    kept = self.weight.copy()
    self.weight = self.first_weight
    try:
        return original(self, *args)
    finally:
        self.weight = kept


@pytest.mark.parametrize("name", [name for name in PASSES if name != "parameter_gradients"])
def test_stale_parameters_in_a_pass_are_named(name):
    report = verify.layer(planted(Stale, name, stale)(3))
    assert wrong_passes(report) == {name}
    assert "stale parameters" in text_of(report, name)


def test_a_forward_with_stale_parameters_stops_the_rest():
    report = verify.layer(planted(Stale, "forward", stale)(3))
    assert wrong_passes(report) == {"forward"}
    assert "does not follow the parameter weight" in str(report) and "stale parameters" in str(report)
    assert "the other passes were not judged" in str(report)


def test_fixed_parameters_can_go_stale_too():
    class Frozen(Linear):
        def __init__(self):
            super().__init__(3, 4, trainable=False, rng=0)
            self.kernel = self.weight.copy()

        def forward(self, x):
            y = x @ self.kernel.T
            return y, nets.LinearSaved(x, y)
    report = verify.layer(Frozen())
    assert wrong_passes(report) == {"forward"} and "does not follow the fixed parameters weight, bias" in str(report)


def test_an_alias_of_the_weight_goes_stale_when_the_array_moves():
    class Alias(Linear):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            self.kernel = self.weight

        def forward(self, x):
            y = x @ self.kernel.T + self.bias
            return y, nets.LinearSaved(x, y)
    report = verify.layer(Alias(3, 4, rng=0))
    assert wrong_passes(report) == {"forward"} and "stale parameters" in str(report)


def test_an_attribute_that_does_not_set_the_parameter():
    class Plain(Scale):
        def __init__(self):
            super().__init__()
            self.a = self.parameters["a"].copy()
    report = verify.layer(Plain())
    assert wrong_passes(report) == {"forward"}
    assert "after layer.a = value" in str(report)


def test_a_forward_that_keeps_its_first_result():
    class Cached(Quadratic):
        kept = None

        def forward(self, x):
            if self.kept is None or len(self.kept[0]) != len(x):
                self.kept = super().forward(x)
            return self.kept
    report = verify.layer(Cached(3))
    assert wrong_passes(report) == {"forward"} and "stale state" in str(report)
    used = Cached(3)
    used.forward(np.random.default_rng(9).standard_normal((SAMPLES, 3)))
    assert "y does not follow x" in str(verify.layer(used))


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_that_uses_the_last_forward_instead_of_saved(name):
    class Remembers(Quadratic):
        def forward(self, x):
            y, self.last = super().forward(x)
            return y, self.last
    bad = planted(Remembers, name, lambda original, self, saved, *args: original(self, self.last, *args))
    report = verify.layer(bad(3))
    assert wrong_passes(report) == {name}
    text = text_of(report, name)
    assert "changes after another forward call" in text and "stale state" in text


@pytest.mark.parametrize("name", ("forward", *PASSES))
def test_a_buffer_that_is_used_again_is_found(name):
    def change(original, self, *args):
        result = original(self, *args)
        buffers = self.__dict__.setdefault("buffers", {})
        first = result[0] if isinstance(result, tuple) else result
        buffer = buffers.setdefault((name, first.shape), np.empty_like(first))
        buffer[...] = first
        if name == "forward":
            return buffer, QuadraticSaved(args[0], buffer, result[1].product)
        return (buffer, result[1]) if isinstance(result, tuple) else buffer
    report = verify.layer(planted(Quadratic, name, change)(3))
    assert wrong_passes(report) == {name} and "a later call overwrites" in str(report)


# -- forward and its contract --------------------------------------------------------------------------------

@pytest.mark.parametrize("change, expected", [
    (lambda f, self, x: f(self, x)[0], "must return the pair"),
    (lambda f, self, x: (f(self, x)[0].sum(axis=0), f(self, x)[1]), "one row a sample"),
    (lambda f, self, x: (f(self, x)[0] / 0.0, f(self, x)[1]), "non-finite"),
    (lambda f, self, x: f(self, x - x.mean(axis=0)), "a sample leaks"),
    (lambda f, self, x: f(self, x + np.random.default_rng().standard_normal(x.shape)), "deterministic"),
    (lambda f, self, x: (f(self, x)[0].astype(np.float32), f(self, x)[1]), "float64 inputs into float32"),
    (lambda f, self, x: (f(self, x)[0], (x,)), "saved has no field"),
    (lambda f, self, x: (f(self, x)[0], f(self, x)[1]._replace(input=2 * x)), "saved.input against x"),
    (lambda f, self, x: (f(self, x)[0][:, :2], f(self, x)[1]._replace(output=f(self, x)[0][:, :2])), "output_shape"),
    (lambda f, self, x: [][0], "raised IndexError"),
])
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_forward_owes(change, expected):
    report = verify.layer(planted(Quadratic, "forward", change)(3))
    assert not report and report.findings[0].pass_name == "forward"
    assert expected in text_of(report, "forward")


def test_size_must_count_the_parameters():
    class Short(Quadratic):
        size = 5
    assert "layer.size is 5, the trainable parameters have 9 entries" in str(verify.layer(Short(3)))


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_that_raises_is_named_and_the_others_are_judged(name):
    def fail(original, self, *args):
        raise KeyError("lost")
    report = verify.layer(planted(Quadratic, name, fail)(3))
    assert wrong_passes(report) == {name} and "raised KeyError" in str(report)
    assert {check.pass_name for check in report.checks} >= set(PASSES)


def test_a_pass_that_raises_in_float32_only():
    def narrow(original, self, saved, y_bar):
        if y_bar.dtype != np.float64:
            raise TypeError("doubles only")
        return original(self, saved, y_bar)
    report = verify.layer(planted(Quadratic, "parameter_gradients", narrow)(3))
    assert wrong_passes(report) == {"float32"} and "raised TypeError: doubles only" in str(report)


def test_a_pass_that_does_not_take_none():
    def plain(original, self, saved, x_t, theta_t):
        return x_t @ self.weight.T * saved.input + saved.product * x_t + 0 * theta_t.sum()
    report = verify.layer(planted(Quadratic, "tangent", plain)(3))
    assert "a tangent that is None means zero" in text_of(report, "tangent")


@pytest.mark.parametrize("name, which", RESULTS)
def test_wrong_shapes_are_named(name, which):
    bad = planted(Quadratic, name, on_result(name, which, lambda part: part[:-1]))
    report = verify.layer(bad(3))
    assert wrong_passes(report) == {name} and "shape" in text_of(report, name)


@pytest.mark.parametrize("name, which", RESULTS)
def test_float32_must_stay_float32(name, which):
    bad = planted(Quadratic, name, on_result(name, which, lambda part: part.astype(np.float64)))
    report = verify.layer(bad(3))
    assert wrong_passes(report) == {name} and "turns float32 into float64" in str(report)


def test_halves_of_backward_must_agree_with_it():
    bad = planted(Linear, "input_gradient", lambda original, self, *args: -original(self, *args))

    class Halves(bad):
        input_gradient = bad.input_gradient

        def backward(self, saved, y_bar):
            return y_bar @ self.weight, Linear.parameter_gradient(self, saved, y_bar)
    report = verify.layer(Halves(3, 4, rng=0))
    assert wrong_passes(report) == {"input_gradient"} and "ratio -1" in str(report)


# -- the layer that was passed in ----------------------------------------------------------------------------

def test_the_layer_is_not_changed():
    layer = Quadratic(3)
    before = copy.deepcopy(layer.__dict__)
    verify.layer(layer)
    verify.layer(planted(Quadratic, "tangent", on_result("tangent", 0, np.negative))(3))
    assert layer.__dict__.keys() == before.keys()
    np.testing.assert_array_equal(layer.weight, before["parameters"]["weight"])


def test_a_layer_inside_a_network_is_not_changed():
    net = nets.mlp([3, 4, 2], rng=0)
    theta = net.theta.copy()
    assert verify.layer(net.layers[0])
    np.testing.assert_array_equal(net.theta, theta)
    assert net.layers[0].owner() is net


def test_parameters_are_restored_exactly_after_an_exception():
    layer = Quadratic(3)
    kept = layer.weight.copy()
    subject = Subject(layer, Recorder("layer", 1e-8), (3,), 2, np.random.default_rng(0))
    with pytest.raises(RuntimeError):
        with subject.at(subject.theta + 1):
            np.testing.assert_array_equal(layer.weight, (kept.ravel() + 1).reshape(3, 3))
            raise RuntimeError
    np.testing.assert_array_equal(layer.weight, kept)


@pytest.mark.parametrize("deepcopy, expected", [
    (lambda self, memo: self, "shares weight with the layer"),
    (lambda self, memo: [][0], "raised IndexError"),
    (lambda self, memo: Quadratic(3, rng=1), "other parameters")])
def test_a_bad_deepcopy_is_reported(deepcopy, expected):
    layer = type("Uncopied", (Quadratic,), {"__deepcopy__": deepcopy})(3)
    kept = layer.weight.copy()
    report = verify.layer(layer)
    assert wrong_passes(report) == {"deepcopy"} and expected in str(report)
    np.testing.assert_array_equal(layer.weight, kept)


class Duck:
    """The seven passes of `Scale` without the base class."""

    def __init__(self):
        self.parameters = {"a": np.array([1.0, 2.0, -1.0])}
        self.input_shape, self.size = (3,), 3

    _a, _rows = Scale._a, Scale._rows
    forward, backward, parameter_gradients = Scale.forward, Scale.backward, Scale.parameter_gradients
    tangent, second_tangent = Scale.tangent, Scale.second_tangent
    backward_tangent, input_hessian = Scale.backward_tangent, Scale.input_hessian


def test_a_duck_typed_layer_is_checked():
    report = verify.layer(Duck())
    assert report, str(report)
    assert "not a subclass of Layer" in str(report)
    bad = type("BadDuck", (Duck,), {"tangent": lambda self, *args: -Scale.tangent(self, *args)})()
    assert wrong_passes(verify.layer(bad)) == {"tangent"}


def test_missing_passes_are_named():
    class Partial(Layer):
        forward, backward = Scale.forward, Scale.backward
    with pytest.raises(TypeError, match=r"Partial lacks the passes tangent\(saved, x_tangent, theta_tangent\), param"):
        verify.layer(Partial())
    with pytest.raises(TypeError, match=r"object lacks the passes forward\(x\)"):
        verify.layer(object())
    one = type("One", (Duck,), {"input_hessian": None})
    with pytest.raises(TypeError, match=r"One lacks the pass input_hessian\(saved, y_bar, H_y\)"):
        verify.layer(one())


@pytest.mark.parametrize("options, expected", [
    ({"samples": 1}, "samples"), ({"samples": 2.0}, "samples"), ({"samples": True}, "samples"),
    ({"tolerance": 0}, "tolerance"), ({"tolerance": np.nan}, "tolerance"), ({"input_shape": (0,)}, "input_shape"),
    ({"input_shape": ()}, "input_shape"), ({"input_shape": (2.5,)}, "input_shape")])
def test_bad_options_are_refused(options, expected):
    with pytest.raises(ValueError, match=expected):
        verify.layer(Quadratic(3), **options)


def test_a_class_is_not_an_instance():
    with pytest.raises(TypeError, match="got the class Quadratic"):
        verify.layer(Quadratic)
    with pytest.raises(TypeError, match="got the class Tanh"):
        verify.activation(nets.Tanh)
    with pytest.raises(TypeError, match="got the class SquaredError"):
        verify.loss(SquaredError)


def test_a_wrong_input_shape_is_reported_as_such():
    report = verify.layer(Linear(3, 4, rng=0), input_shape=(5,))
    assert "raised ValueError for x of shape (4, 5)" in str(report) and "is input_shape right?" in str(report)


# -- the picture ---------------------------------------------------------------------------------------------

def test_curves_fall_with_the_step_for_right_passes_and_stay_for_wrong_ones():
    good = verify.layer(Quadratic(3)).curves
    assert set(good) == {"backward", "tangent", "second_tangent", "backward_tangent"}
    bad = verify.layer(planted(Quadratic, "tangent", on_result("tangent", 0, lambda part: 2 * part))(3)).curves
    assert good["tangent"][1].min() < 1e-8 and bad["tangent"][1].min() > 0.1
    for steps, errors in good.values():
        assert steps.shape == errors.shape and np.isfinite(errors).all()


@pytest.mark.parametrize("make", [lambda: verify.layer(Quadratic(3)), lambda: verify.activation(nets.Tanh()),
                                  lambda: verify.loss(SoftmaxCrossEntropy())])
def test_plot_draws_every_curve(make):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    report = make()
    axes = report.plot()
    assert len(axes.lines) == len(report.curves) and axes.get_xscale() == "log"
    own = pyplot.figure().add_subplot()
    assert report.plot(own) is own
    pyplot.close("all")


def test_plot_without_curves_says_why():
    with pytest.raises(ValueError, match="nothing to draw"):
        verify.layer(planted(Stale, "forward", stale)(3)).plot()


# -- activations ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", nets.ACTIVATIONS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_built_in_activations_are_ok(name, seed):
    report = verify.activation(nets.ACTIVATIONS[name](), rng=seed)
    assert report, str(report)


class Cubic(ActivationFunction):
    """s = x^3 - x, as a user would write it."""

    def value(self, x):
        return x**3 - x

    def slope(self, x):
        return 3 * x**2 - 1

    def curvature(self, x):
        return 6 * x


class Bump(ActivationFunction):
    """s = |x - 1| with its kink declared."""

    kinks = (1.0,)

    def value(self, x):
        return np.abs(x - 1)

    def slope(self, x):
        return np.sign(x - 1)

    def curvature(self, x):
        return np.zeros_like(x)


def changed(base, **methods):
    return type(base.__name__, (base,), methods)()


def test_activations_from_scratch_are_ok():
    for function in (Cubic(), Bump(), changed(Bump, kinks=(1.0, 9.0))):
        report = verify.activation(function)
        assert report, str(report)


@pytest.mark.parametrize("base", [Cubic, nets.Tanh, nets.Softplus])
@pytest.mark.parametrize("name", ["slope", "curvature"])
@pytest.mark.parametrize("bug", ["sign", "two", "half"])
def test_wrong_activation_derivatives_are_named(base, name, bug):
    factor, ratio, hint = FACTORS[bug]
    original = getattr(base, name)
    report = verify.activation(changed(base, **{name: lambda self, x: factor * original(self, x)}))
    assert wrong_passes(report) == {name}
    assert ratio in str(report) and hint in str(report) and "the largest difference is at x = " in str(report)


def test_a_missing_curvature_is_named():
    report = verify.activation(changed(nets.Tanh, curvature=lambda self, x: np.zeros_like(x)))
    assert wrong_passes(report) == {"curvature"} and "a term is missing" in str(report)


def test_a_wrong_jet_is_named():
    def jet(self, x):
        return self.value(x), self.slope(x), -self.curvature(x)
    report = verify.activation(changed(Cubic, jet=jet))
    assert wrong_passes(report) == {"jet"} and "ratio -1" in str(report)


@pytest.mark.parametrize("function, places", [
    (changed(Bump, kinks=()), ["1"]),
    (changed(Bump, kinks=(-1.0,)), ["1"]),
    (changed(nets.ReLU, kinks=()), ["0"]),
    (changed(ActivationFunction, value=lambda self, x: np.clip(x, -0.7, 2.3),
             slope=lambda self, x: ((x > -0.7) & (x < 2.3)).astype(x.dtype),
             curvature=lambda self, x: np.zeros_like(x)), ["-0.7", "2.3"])])
def test_undeclared_kinks_are_found_where_they_are(function, places):
    report = verify.activation(function)
    assert wrong_passes(report) == {"kinks"}
    found = [finding.compared.rsplit(" ", 1)[1] for finding in report.findings]
    np.testing.assert_allclose([float(place) for place in found], [float(place) for place in places], atol=1e-3)


def test_a_slope_at_a_kink_lies_between_the_sides():
    def slope(self, x):
        return np.where(x == 1, 5.0, np.sign(x - 1)).astype(x.dtype)
    report = verify.activation(changed(Bump, slope=slope))
    assert wrong_passes(report) == {"slope"} and "outside the one-sided slopes" in str(report)


@pytest.mark.parametrize("methods, name, expected", [
    ({"value": lambda self, x: np.tanh(x).astype(np.float64)}, "value", "turns float32 into float64"),
    ({"slope": lambda self, x: np.multiply(x, 3 * x, out=x) - 1}, "slope", "changes its argument x in place"),
    ({"value": lambda self, x: x**3 - x.mean()}, "value", "entry by entry"),
    ({"curvature": lambda self, x: (6 * x).ravel()}, "curvature", "keep the shape"),
    ({"slope": lambda self, x: x["a"]}, "slope", "raised IndexError"),
    ({"value": lambda self, x: np.full_like(x, np.nan)}, "value", "not finite"),
])
def test_what_activation_methods_owe(methods, name, expected):
    report = verify.activation(changed(Cubic, **methods))
    assert name in wrong_passes(report) and expected in text_of(report, name)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_in_the_tails_is_found():
    report = verify.activation(changed(nets.Tanh, value=lambda self, x: np.sinh(x) / np.cosh(x)))
    assert wrong_passes(report) == {"value"} and "NaN for inputs of +-750" in str(report)


@pytest.mark.parametrize("flag", ["piecewise_linear", "monotone"])
def test_flags_of_an_activation_must_be_true(flag):
    report = verify.activation(changed(Cubic, **{flag: True}))
    assert wrong_passes(report) == {flag}
    assert verify.activation(changed(nets.ReLU, monotone=True))


def test_missing_activation_methods_are_named():
    with pytest.raises(TypeError, match=r"lacks curvature\(x\)"):
        verify.activation(changed(ActivationFunction, value=np.tanh, slope=np.tanh))


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
        return np.sum(np.log(np.cosh(p - target)), axis=1)

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
