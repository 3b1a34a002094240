"""The checker holds a layer to its contract: purity, live parameters, `forward`, copies, and what a
report draws."""

import copy

import numpy as np
import pytest

from secondorder import nets, verify
from secondorder.nets import Layer, Linear, SquaredError
from secondorder.verify.classes.layers import sample_shape

from harness.shaped_layers import Mixing
from test_verify_derivatives import (PASSES, Quadratic, QuadraticSaved, on_result,
                                     planted, text_of, wrong_passes)

# -- planted bugs: changes in place ----------------------------------------------------------------

ARGUMENTS = {"forward": ["x"], "backward": ["saved.output", "y_bar"],
             "parameter_gradients": ["saved.output", "y_bar"],
             "tangent": ["saved.output", "x_tangent", "the tangent of weight"],
             "second_tangent": ["saved.output", "moved.x_tangent", "moved.theta_tangents[0]",
                                "x_second"],
             "backward_tangent": ["saved.output", "moved.x_tangent", "moved.theta_tangents[0]",
                                  "y_bar", "y_bar_tangent"],
             "input_hessian": ["saved.output", "y_bar", "H_y"]}


@pytest.mark.parametrize("name, argument",
                         [(name, arg) for name, names in ARGUMENTS.items() for arg in names])
def test_changes_in_place_are_named(name, argument):
    def change(original, self, *args):
        result = copy.deepcopy(original(self, *args))
        inside = {"saved.output": lambda: args[0].output, "moved.x_tangent": lambda:
                  args[1].x_tangent, "moved.theta_tangents[0]": lambda: args[1].theta_tangents[0]}
        plain = [label for label in ARGUMENTS[name] if "." not in label]
        target = inside[argument]() if argument in inside else \
            args[plain.index(argument) - len(plain)]
        target *= -2
        return result
    report = verify.layer(planted(Quadratic, name, change)(3))
    finding = report.findings[0]
    assert wrong_passes(report) == {name} and "ratio -2" in finding.entries
    assert finding.compared == f"changes its argument {argument} in place"


# -- planted bugs: stale parameters, stale state ---------------------------------------------------

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
def test_stale_parameters_in_a_pass_are_found(name):
    assert wrong_passes(verify.layer(planted(Stale, name, stale)(3))) == {name}


def with_kernel(forward, self, x):
    """Keeps a copy of the weight at its first call."""
    self.kernel = self.__dict__.get("kernel", self.weight.copy())
    y = x @ self.kernel.T + (0 if self.bias is None else self.bias)
    return y, nets.LinearSaved(x, y)


def keeps_its_first_result(forward, self, x):
    if not hasattr(self, "kept") or len(self.kept[0]) != len(x):
        self.kept = forward(self, x)
    return self.kept


@pytest.mark.parametrize("made, told", [
    (lambda: planted(Stale, "forward", stale)(3), "does not follow the parameter weight"),
    (lambda: planted(Linear, "forward", with_kernel)(3, 4, rng=0), "the parameter weight"),
    (lambda: planted(Linear, "forward", with_kernel)(3, 4, bias=False, trainable=False, rng=0),
     "does not follow the parameter weight"),
    (lambda: planted(Quadratic, "forward", keeps_its_first_result)(3), "stale state")])
def test_a_stale_forward_stops_the_rest(made, told):
    report = verify.layer(made())
    assert wrong_passes(report) == {"forward"} and told in str(report), report
    assert "stale" in str(report) and "the other passes were not judged" in str(report)


def test_a_fixed_layer_below_weights_of_zero_is_not_stale():
    below, zero = Linear(2, 2, rng=0), Linear(2, 2, init=0.0)
    below.trainable = zero.trainable = False
    report = verify.layer(nets.Skip([below, zero]), (2,))
    assert report.ok, str(report)


def remembers(original, self, saved, *args):
    """Uses what the last forward pass left, in place of `saved`."""
    return original(self, self.last, *args)


class Remembers(Quadratic):
    def forward(self, x):
        y, self.last = super().forward(x)
        return y, self.last


def doubles_the_weight(original, self, *args):
    result = original(self, *args)
    self.weight *= 2
    return result


def into_a_buffer(original, self, *args):
    result = original(self, *args)
    first = result[0] if isinstance(result, tuple) else result
    buffer = self.__dict__.setdefault("buffers", {}).setdefault(
        (original.__name__, first.shape), np.empty_like(first))
    buffer[...] = first
    if original.__name__ == "forward":
        return buffer, QuadraticSaved(args[0], buffer, result[1].product)
    return (buffer, *result[1:]) if isinstance(result, tuple) else buffer


def raises(original, self, *args):
    raise KeyError("lost")


FAULTS = {  # a fault of any pass, and what is told
    "another state": (Remembers, remembers, "stale state: take what is needed from `saved`"),
    "a parameter": (Quadratic, doubles_the_weight, "changes the parameter weight in place"),
    "a buffer": (Quadratic, into_a_buffer, "a later call overwrites"),
    "raises": (Quadratic, raises, "raised KeyError"),
    "no return": (Quadratic, lambda original, self, *args: None,
                  "returns None\n    hint: is its return missing?")}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", PASSES)
def test_what_any_pass_may_do_wrong(name, fault):
    base, change, told = FAULTS[fault]
    report = verify.layer(planted(base, name, change)(3))
    assert report.findings[0].pass_name == name and told in text_of(report, name), report
    assert fault == "a parameter" or wrong_passes(report) == {name}
    assert {check.pass_name for check in report.checks} >= set(PASSES), "the others are judged"
    assert fault != "no return" or len(report.findings) == 1


# -- forward and its contract ----------------------------------------------------------------------

@pytest.mark.parametrize("change, expected", [
    (lambda f, self, x: f(self, x)[0], "must return the pair"),
    (lambda f, self, x: (f(self, x)[0].sum(axis=0), f(self, x)[1]), "one row per sample"),
    (lambda f, self, x: f(self, x + np.random.default_rng().standard_normal(x.shape)),
     "deterministic"),
    (lambda f, self, x: (f(self, x)[0].astype(np.float32), f(self, x)[1]),
     "float64 inputs into float32"),
    (lambda f, self, x: (f(self, x)[0][:, :2], f(self, x)[1]._replace(output=f(self, x)[0][:, :2])),
     "define output_shape(self, input_shape)"),
    (lambda f, self, x: [][0], "raised IndexError"),
    (lambda f, self, x: (np.sqrt(f(self, x)[0]), f(self, x)[1]), "gives non-finite outputs"),
    (into_a_buffer, "a later call overwrites"),
    (lambda f, self, x: f(self, x - x.mean(axis=0)), "row 0 of y after the other rows of x")])
def test_what_forward_owes(change, expected):
    report = verify.layer(planted(Quadratic, "forward", change)(3))
    assert report.findings[0].pass_name == "forward" and expected in str(report)


# -- the layer that was passed in ------------------------------------------------------------------

def test_the_layer_is_not_changed():
    layer = Quadratic(3)
    before = copy.deepcopy(layer.__dict__)
    verify.layer(layer)
    verify.layer(planted(Quadratic, "tangent", on_result("tangent", 0, np.negative))(3))
    assert layer.__dict__.keys() == before.keys()
    np.testing.assert_array_equal(layer.weight, before["parameters"]["weight"])


@pytest.mark.parametrize("name", ["tangent", "second_tangent"])
def test_a_pass_that_is_not_finite_is_told_as_that_alone(name):
    def spoiled(original, self, *args):
        result = original(self, *args)
        result[0, 0] = np.nan
        return result

    report = verify.layer(planted(Quadratic, name, spoiled)(3))
    assert wrong_passes(report) == {name} and "is not finite everywhere" in str(report)


# -- what is written by hand is judged ------------------------------------------------------------

class Two(Layer):
    """`forward` and `backward` alone."""

    input_shape = (3,)

    def __init__(self, sign=1.0):
        super().__init__()
        self.sign = sign
        self.declare("weight", np.linspace(-1, 1, 6).reshape(2, 3))
        self.declare("bias", np.array([0.3, -0.2]))

    def output_shape(self, input_shape):
        return (2,)

    def forward(self, x):
        z = x @ self.parameters["weight"].T + self.parameters["bias"]
        return np.tanh(z), (x, np.tanh(z))

    def backward(self, saved, y_bar):
        x, y = saved
        z_bar = self.sign * y_bar * (1 - y**2)
        return z_bar @ self.parameters["weight"], z_bar.T @ x, z_bar.sum(axis=0)


def test_a_layer_of_two_passes_is_judged_on_these():
    report = verify.layer(Two())
    assert report and {check.pass_name for check in report.checks} >= {"forward", "backward"}
    assert "tangent" not in {check.pass_name for check in report.checks}
    assert any("does not write them by hand: tangent, parameter_gradients, second_tangent, "
               "backward_tangent, input_hessian" in note for note in report.notes)
    (told,) = [note for note in report.notes if "Hessian of a small network" in note]
    assert float(told.split("right to ")[1].split()[0]) < 1e-6
    assert wrong_passes(verify.layer(Two(-1.0))) == {"backward"}


def test_passes_are_chosen_by_name():
    bad = planted(Quadratic, "tangent", on_result("tangent", 0, np.negative))(3)
    assert wrong_passes(verify.layer(bad)) == {"tangent"}
    report = verify.layer(bad, passes=("backward",))
    assert report and {check.pass_name for check in report.checks} <= {
        "deepcopy", "forward", "backward", "input_gradient", "parameter_gradient"}
    assert wrong_passes(verify.layer(bad, passes=("tangent", "second_tangent"))) == {"tangent"}
    with pytest.raises(ValueError, match="passes has 'tangent', which Two does not write"):
        verify.layer(Two(), passes=["tangent"])
    with pytest.raises(TypeError, match="passes must be a sequence of names"):
        verify.layer(Two(), passes="backward")


@pytest.mark.parametrize("change, told", [
    (lambda x_bar, W, b: (x_bar, [W, b]), ""), (lambda x_bar, W, b: [x_bar, W, b], ""),
    (lambda x_bar, W, b: (x_bar, {"weight": W, "bias": b}), "it returned a tuple (a ndarray, a "
     "dict)\n    hint: arrays stand one after the other, in the order of declare"),
    (lambda x_bar, W, b: (x_bar, W), "it returned a tuple (a ndarray, a ndarray)"),
    (lambda x_bar, W, b: (x_bar, W, b.tolist()), "a tuple (a ndarray, a ndarray, a list ("),
    (lambda x_bar, W, b: ([x_bar], W, b), "a tuple (a list (a ndarray), a ndarray, a ndarray)"),
    (lambda x_bar, W, b: (x_bar, np.concatenate([W.ravel(), b])), "(a ndarray, a ndarray)"),
    (lambda x_bar, W, b: x_bar, "must return x_bar, an array for weight, an array for bias"),
    (lambda x_bar, W, b: (x_bar, b, W), "this is what belongs to bias: the arrays stand in"),
    (lambda x_bar, W, b: (x_bar, W.T, b), "weight_bar is transposed")])
def test_what_backward_returns_is_told_part_by_part(change, told):
    report = verify.layer(planted(Two, "backward", lambda original, self, *args: change(
        *original(self, *args)))())
    assert report.ok == (not told) and told in str(report), report


def of(forward, backward, **others):
    """A layer of two passes; `others` are its parameters."""
    def init(self):
        Layer.__init__(self)
        for name, value in others.items():
            self.declare(name, np.array(value))

    return type("Own", (Layer,), {"input_shape": (3,), "__init__": init, "forward": forward,
                                  "backward": backward})()


def test_a_pass_without_parameters_returns_a_tuple_all_the_same():
    sine = lambda self, x: (np.sin(x), x)  # noqa: E731
    assert "return (x_bar,), with a comma" in str(verify.layer(of(
        sine, lambda self, x, y_bar: y_bar * np.cos(x))))
    assert verify.layer(of(sine, lambda self, x, y_bar: (y_bar * np.cos(x),)))


# -- what no layer can be -------------------------------------------------------------------------

def handed_on(self, saved, y_bar):
    return (y_bar,)


@pytest.mark.parametrize("forward, told", [
    (lambda self, x: (x - x.mean(axis=0), x), "statistics over the batch cannot be expressed"),
    (lambda self, x: (x * (np.random.default_rng().random(x.shape) > 0.5), x),
     "draw random numbers outside"),
    (lambda self, x: (np.eye(3)[x[:, 0]], x), "one-hot rows"),
    (lambda self, x, z: (x + z, x), "a layer has one input: put the others beside it"),
    (lambda self, x: (x + 0.5 * (x > 0.3), x), "jumps from")])
def test_what_the_contract_cannot_express_is_told_with_what_to_do(forward, told):
    report = verify.layer(of(forward, handed_on))
    assert wrong_passes(report) == {"forward"} and told in str(report), report


def test_a_bend_is_no_jump():
    assert verify.layer(of(lambda self, x: (x + 0.5 * np.maximum(x - 0.3, 0), x),
                           lambda self, x, y_bar: (np.where(x > 0.3, 1.5 * y_bar, y_bar),)))


def test_a_rough_layer_is_not_called_wrong():
    class Rough(nets.Activation):
        """tanh with a ripple that no difference quotient gets through."""

        def forward(self, x):
            y, saved = super().forward(x)
            return y + 1e-5 * np.sin(1e9 * x), saved

    report = verify.layer(Rough("tanh"), input_shape=(3,))
    assert not report and "too inaccurate to judge" in str(report).splitlines()[0]
    assert "wrong in" not in str(report)


@pytest.mark.parametrize("off, right", [(1e-12, True), (1e-7, False)])
def test_a_tangent_is_compared_to_rounding(off, right):
    report = verify.layer(planted(Quadratic, "tangent", on_result(
        "tangent", 0, lambda part: (1 + off) * part))(3))
    assert report.ok == right, report


@pytest.mark.parametrize("ask, expected", [
    (lambda: verify.layer(Quadratic(3), samples=1), "samples"),
    (lambda: verify.layer(Quadratic(3), tolerance=0), "tolerance"),
    (lambda: verify.layer(Quadratic(3), input_shape=()), "input_shape"),
    (lambda: verify.layer(Quadratic(3), input_shape=(5,)), "takes inputs of shape"),
    (lambda: verify.layer(Quadratic(3), sizes=(1, -1)), "sizes"),
    (lambda: verify.layer(Quadratic(3), sizes=3), "sizes"),
    (lambda: verify.layer(Layer()), "does not define forward"),
    (lambda: verify.layer(object()), "layer must be a Layer"),
    (lambda: verify.layer(np.zeros((400, 400))), "layer must be a Layer.{1,200}$"),
    (lambda: verify.layer(Quadratic), "layer must be a Layer, got .*Quadratic"),
    (lambda: verify.activation(nets.Tanh), "got the class Tanh"),
    (lambda: verify.activation(nets.ActivationFunction()), "lacks value, slope, curvature"),
    (lambda: verify.loss(nets.Loss()), "Loss lacks value, gradient, hessian"),
    (lambda: verify.loss(SquaredError), "got the class SquaredError")])
def test_what_is_refused(ask, expected):
    with pytest.raises((TypeError, ValueError), match=expected):
        ask()


# -- far out ---------------------------------------------------------------------------------------

class FarBranch(nets.Activation):
    """An activation layer whose backward is wrong for |x| > 10."""

    def backward(self, saved, y_bar):
        (x_bar,) = super().backward(saved, y_bar)
        return (x_bar * np.where(np.abs(saved.input) > 10, 2.0, 1.0).astype(x_bar.dtype),)


def test_a_layer_that_is_wrong_far_out():
    report = verify.layer(FarBranch("softplus"))
    assert "backward" in wrong_passes(report) and "at inputs of size 8" in str(report)
    assert verify.layer(FarBranch("softplus"), sizes=(1.0,))


# -- images and sequences --------------------------------------------------------------------------


@pytest.mark.parametrize("made", [lambda: Mixing((2, 3, 2), 3, rng=0),
                                  lambda: Mixing((3, 2), 4, axis=-1, rng=0),
                                  lambda: nets.Reshape((2, 3, 2), (4, 3)),
                                  lambda: nets.Skip([Mixing((2, 2, 2), 2, rng=0),
                                                     nets.Activation("sin")])])
def test_layers_for_images_and_sequences(made):
    report = verify.layer(made())
    assert report.ok and {check.pass_name for check in report.checks} >= {"network", *PASSES}


@pytest.mark.parametrize("made, shape", [
    (lambda: nets.Activation("sin"), (5,)), (lambda: nets.ScaleShift(4), (4,)),
    (lambda: Linear(7, 3, rng=0), (7,)), (lambda: nets.Skip([Linear(6, 6, rng=0)]), (6,)),
    (lambda: nets.Recurrent(7, 3, rng=0), (4, 7)), (lambda: nets.Conv2d(1, 2, 3, rng=0), (1, 5, 4)),
    (lambda: nets.Conv2d(3, 2, 5, rng=0), (3, 12, 10))])
def test_a_shape_is_found_where_nobody_says_one(made, shape):
    assert sample_shape(made(), None) == shape
