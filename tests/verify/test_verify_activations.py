"""The checker for an activation function of one's own."""


import numpy as np
import pytest

from secondorder import nets, verify
from secondorder.nets import ActivationFunction

from test_verify_derivatives import FACTORS, changed, text_of, wrong_passes


@pytest.mark.everyday(8)
@pytest.mark.parametrize("name", nets.ACTIVATIONS)
@pytest.mark.parametrize("seed", range(5))
def test_built_in_activations_are_ok(name, seed):
    report = verify.activation(nets.ACTIVATIONS[name](), rng=seed)
    assert report, str(report)


@pytest.mark.parametrize("function", [nets.ELU(0.7), nets.ELU(2.5), nets.GELU("tanh")], ids=repr)
def test_built_in_activations_with_options_are_ok(function):
    report = verify.activation(function)
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


def test_activations_from_scratch_are_ok():
    for function in (Cubic(), Bump(), changed(Bump, kinks=(1.0, 9.0))):
        report = verify.activation(function)
        assert report, str(report)


@pytest.mark.everyday(6)
@pytest.mark.parametrize("base", [Cubic, nets.Tanh, nets.Softplus])
@pytest.mark.parametrize("name", ["slope", "curvature"])
@pytest.mark.parametrize("bug", ["sign", "two", "half"])
def test_wrong_activation_derivatives_are_named(base, name, bug):
    factor, ratio, hint = FACTORS[bug]
    original = getattr(base, name)
    report = verify.activation(changed(base, **{name: lambda self, x: factor * original(self, x)}))
    assert wrong_passes(report) == {name}
    assert (
        ratio in str(report)
        and hint in str(report)
        and "the largest difference is at x = " in str(report)
        and "at x = 1 against" not in str(report)
    )


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
    np.testing.assert_allclose([float(place) for place in found],
                               [float(place) for place in places], atol=1e-3)


def between_or_5(self, x):
    return np.where(x == 1, 5.0, np.sign(x - 1)).astype(x.dtype)


PLANTED = [  # base, its other methods, what is named, words
    (nets.Tanh, {"curvature": lambda self, x: np.zeros_like(x)}, "curvature", "a term is missing"),
    (Cubic, {"jet": lambda self, x: (self.value(x), self.slope(x), -self.curvature(x))}, "jet",
     "ratio -1"),
    (nets.Tanh, {"jet": lambda self, x: None}, "jet", "returns None\n    hint: is its return"),
    (nets.Tanh, {"jet": lambda self, x: x.no}, "jet", "raised AttributeError"),
    (Bump, {"slope": between_or_5}, "slope", "outside the one-sided slopes"),
    (Bump, {"slope": lambda self, x: 0.5 * np.sign(x - 1)}, "slope", "ratio 0.5"),
    (Cubic, {"piecewise_linear": True}, "piecewise_linear", "declared piecewise linear"),
    (nets.Tanh, {"slope": lambda self, x: 1 - x**2}, "slope",
     "slope is written in terms of the output, and gets the input"),
    (nets.Tanh, {"curvature": lambda self, x: -2 * x * (1 - x**2)}, "curvature",
     "curvature is written in terms of the output, and gets the input"),
    (nets.Tanh, {"value": lambda self, x: np.sinh(x) / np.cosh(x)}, "value",
     "NaN for x = -750, 750"),
    (Cubic, {"value": lambda self, x: np.tanh(x).astype(np.float64)}, "value",
     "turns float32 into float64"),
    (Cubic, {"slope": lambda self, x: np.multiply(x, 3 * x, out=x) - 1}, "slope",
     "changes its argument x in place"),
    (Cubic, {"value": lambda self, x: x**3 - x.mean()}, "value", "entry by entry"),
    (Cubic, {"curvature": lambda self, x: (6 * x).ravel()}, "curvature", "keep the shape"),
    (Cubic, {"slope": lambda self, x: x["a"]}, "slope", "raised IndexError"),
    (Cubic, {"value": lambda self, x: np.full_like(x, np.nan)}, "value", "not finite"),
    (Cubic, {"curvature": lambda self, x: None}, "curvature",
     "returns None\n    hint: is its return missing?")]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("base, methods, name, expected", PLANTED)
def test_planted_mistakes_are_named(base, methods, name, expected):
    report = verify.activation(changed(base, **methods))
    assert expected in text_of(report, name), report
    assert wrong_passes(report) == {name} or base is Cubic


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_function_of_positive_numbers_is_told_of_interval():
    root = changed(ActivationFunction, value=lambda self, x: np.sqrt(x),
                   slope=lambda self, x: 0.5 / np.sqrt(x),
                   curvature=lambda self, x: -0.25 * x**-1.5)
    assert "interval=(low, high)" in text_of(verify.activation(root), "value")
    assert verify.activation(root, interval=(0.1, 4.0))


def test_missing_activation_methods_are_named():
    with pytest.raises(TypeError, match=r"lacks curvature\(x\)"):
        verify.activation(changed(ActivationFunction, value=np.tanh, slope=np.tanh))


# -- steps -----------------------------------------------------------------------------------------

class Step(ActivationFunction):
    """0 below and `height` above `at`, with slope `tilt` on both sides."""

    height, at, tilt, kinks = 1.0, 0.5, 0.0, (0.5,)

    def value(self, x):
        return (np.where(x > self.at, self.height, 0.0) + self.tilt * x).astype(x.dtype)

    def slope(self, x):
        return np.full_like(x, self.tilt)

    def curvature(self, x):
        return np.zeros_like(x)


@pytest.mark.parametrize("options", [{}, {"height": -1e-3}, {"height": 1e-5, "tilt": 1.0},
                                     {"kinks": (0.5, 2.0)},
                                     {"at": 300.0, "kinks": (300.0,)}])
def test_a_step_is_no_kink(options):
    report = verify.activation(changed(Step, **options))
    assert wrong_passes(report) == {"value"}
    assert f"jumps at the kink x = {options.get('at', 0.5):.4g}" in str(
        report
    ) and "must be continuous" in str(report)


def test_a_value_that_differs_at_the_kink_alone():
    report = verify.activation(changed(Step, height=0.0,
                                       value=lambda self, x: np.where(x == 0.5, 2.0, 0 * x)
                                       .astype(x.dtype)))
    assert wrong_passes(report) == {"value"} and "there 2" in str(report)


@pytest.mark.parametrize("options", [{"kinks": ()}, {"kinks": (-1.0,)}, {"kinks": (), "tilt": 2.0}])
def test_an_undeclared_step_is_found_where_it_is(options):
    report = verify.activation(changed(Step, **options))
    assert "value" in wrong_passes(report) and "kinks" not in wrong_passes(report)
    place = next(f.compared for f in report.findings
                 if "jumps near x = " in f.compared).rsplit(" ", 1)[1]
    assert abs(float(place) - 0.5) < 1e-3 and "no declared kink makes it right" in str(report)


def test_steep_kinks_that_are_continuous_pass():
    class Steep(ActivationFunction):
        kinks = (0.0, 100.0)

        def value(self, x):
            return np.where(x < 100, 1e3 * np.abs(x), 1e5)

        def slope(self, x):
            return np.where(x < 100, 1e3 * np.sign(x), 0.0).astype(x.dtype)

        def curvature(self, x):
            return np.zeros_like(x)

    report = verify.activation(
        changed(Steep, value=lambda self, x: Steep.value(self, x).astype(x.dtype))
    )
    assert report, str(report)


# -- kinks: where they are, and beside them --------------------------------------------------------

class Selu(ActivationFunction):
    """scale x above 0, scale rate (e^x - 1) below."""

    rate, scale, at = 1.6732632423543772, 1.0507009873554805, 0.0

    def _pieces(self, x, above, below):
        x = x - x.dtype.type(self.at)
        pieces = np.where(x > 0, above(x), self.rate * below(np.minimum(x, 0)))
        return (self.scale * pieces).astype(x.dtype)

    def value(self, x):
        return self._pieces(x, lambda x: x, np.expm1)

    def slope(self, x):
        return self._pieces(x, np.ones_like, np.exp)

    def curvature(self, x):
        return self._pieces(x, np.zeros_like, np.exp)


@pytest.mark.everyday(2)
@pytest.mark.parametrize("at", [0.0, 0.1, -2.0, 0.123456789])
def test_a_kink_is_told_where_the_function_has_it(at):
    report = verify.activation(changed(Selu, at=at))
    assert wrong_passes(report) == {"kinks"} and f"declare it: kinks = ({at:.9g},)" in str(report)
    assert verify.activation(changed(Selu, at=at, kinks=(at,)))


@pytest.mark.everyday(4)
@pytest.mark.parametrize("at", [0.0, 3.0, -40.0])
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("name", ["slope", "curvature"])
@pytest.mark.parametrize("reach", [1e-2, 1e-3, 1e-4])
def test_a_derivative_that_is_wrong_beside_a_declared_kink(name, side, reach, at):
    right = getattr(Selu, name)

    def wrong(self, x):
        beside = (side * (x - at) > 0) & (side * (x - at) < reach)
        return np.where(beside, right(self, x) + 0.25, right(self, x)).astype(x.dtype)
    report = verify.activation(changed(Selu, at=at, kinks=(at,), **{name: wrong}))
    assert name in wrong_passes(report), str(report)
    assert f"just {'above' if side > 0 else 'below'} x = {at:.4g}" in str(report)


def test_a_branch_near_0_that_is_wrong_is_found():
    """A series that a function uses for small arguments alone; no random point falls there."""
    def slope(self, x):
        return np.where(abs(x) < 1e-3, 1 - x**2 / 3, nets.Tanh.slope(self, x)).astype(x.dtype)

    def right(self, x):
        return np.where(abs(x) < 1e-3, 1 - x**2, nets.Tanh.slope(self, x)).astype(x.dtype)
    assert "slope" in wrong_passes(verify.activation(changed(nets.Tanh, slope=slope)))
    assert verify.activation(changed(nets.Tanh, slope=right))


@pytest.mark.everyday(1)
@pytest.mark.parametrize("function", [
    changed(ActivationFunction, value=lambda self, x: x * abs(x), slope=lambda self, x: 2 * abs(x),
            curvature=lambda self, x: 2 * np.sign(x)),
    changed(ActivationFunction, value=lambda self, x: np.exp(x / 8) - 1,
            slope=lambda self, x: np.exp(x / 8) / 8, curvature=lambda self, x: np.exp(x / 8) / 64),
    changed(ActivationFunction, kinks=(0.0, 0.01), value=lambda self, x: abs(x) + abs(x - 0.01),
            slope=lambda self, x: np.sign(x) + np.sign(x - 0.01),
            curvature=lambda self, x: 0 * x)])
def test_what_is_right_beside_0_passes(function):
    for seed in range(5):
        report = verify.activation(function, rng=seed)
        assert report, str(report)


@pytest.mark.everyday(4)
@pytest.mark.parametrize("at", [0.0, -1.0, 1.0])
@pytest.mark.parametrize("name", ["value", "slope"])
@pytest.mark.parametrize("there", [0.5, np.nan])
def test_one_point_that_is_wrong_is_found(name, at, there):
    right = getattr(nets.Tanh, name)
    report = verify.activation(changed(nets.Tanh, **{name: lambda self, x: np.where(
        x == at, there, right(self, x)).astype(x.dtype)}))
    assert wrong_passes(report) == {name} and f"at x = {at:g}" in str(report)


@pytest.mark.parametrize("interval", [(-1e6, 1e6), (100.0, 1e5)])
def test_what_is_right_far_out_passes_there(interval):
    """Where x is large, x + h is rounded: differences say less, and nothing is wrong."""
    report = verify.activation("sin", interval=interval)
    assert report, str(report)
    wrong = changed(nets.ACTIVATIONS["sin"], slope=lambda self, x: 1.01 * np.cos(x))
    assert "slope" in wrong_passes(verify.activation(wrong, interval=interval))


class Wave(ActivationFunction):
    """s = sin(x^3): far out it turns within the width of a step."""

    def value(self, x):
        return np.sin(x**3)

    def slope(self, x):
        return 3 * x**2 * np.cos(x**3)

    def curvature(self, x):
        return 6 * x * np.cos(x**3) - 9 * x**4 * np.sin(x**3)


def test_what_was_not_judged_is_one_note():
    report = verify.activation(Wave())
    (note,) = [note for note in report.notes if "not judged" in note]
    assert report and "slope against differences of value for x from -768" in note


class Clipped(ActivationFunction):
    """min(x, top), and `beyond` above it."""

    def __init__(self, top, beyond=None, kinks=()):
        self.top, self.beyond, self.kinks = top, top if beyond is None else beyond, kinks

    def value(self, x):
        return np.where(x > self.top, self.beyond, x).astype(x.dtype)

    def slope(self, x):
        return (x <= self.top).astype(x.dtype)

    def curvature(self, x):
        return np.zeros_like(x)


@pytest.mark.parametrize("top", [6.0, -6.0, 12.0, -24.0, 48.0, 96.0, 384.0, 5.99, 6.01])
@pytest.mark.parametrize("step", [0.0, 1.0])
def test_what_changes_where_two_stretches_meet_is_found(top, step):
    report = verify.activation(Clipped(top, top + step))
    assert wrong_passes(report) == {"value" if step else "kinks"}, report
    assert f"x = {top:.4g}" in str(report)
    assert step or verify.activation(Clipped(top, kinks=(top,)))


@pytest.mark.parametrize("kink", [4.0, -7.0, 10.0])
def test_a_kink_two_beyond_a_declared_one_is_found(kink):
    class Twice(Clipped):
        def value(self, x):
            return np.abs(x - kink) + np.abs(x - kink - 2)

        def slope(self, x):
            return np.sign(x - kink) + np.sign(x - kink - 2)

    assert wrong_passes(verify.activation(Twice(0.0, kinks=(kink,)))) == {"kinks"}
    assert verify.activation(Twice(0.0, kinks=(kink, kink + 2)))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name, low", [("slope", 2.3), ("curvature", -4.6), ("slope", 6.3)])
def test_a_narrow_stretch_that_is_wrong_is_found_with_every_seed(seed, name, low):
    tanh = nets.ACTIVATIONS["tanh"]

    def wrong(self, x):
        return getattr(tanh, name)(self, x) + 0.1 * ((x > low) & (x < low + 0.2)).astype(x.dtype)

    assert name in wrong_passes(verify.activation(changed(tanh, **{name: wrong}), rng=seed))


@pytest.mark.parametrize("steepness", [1e3, 1e5])
def test_a_sharp_bend_is_no_kink_and_no_jump(steepness):
    class Steep(ActivationFunction):
        def value(self, x):
            return np.tanh(steepness * x)

        def slope(self, x):
            return steepness * (1 - np.tanh(steepness * x) ** 2)

        def curvature(self, x):
            y = np.tanh(steepness * x)
            return -2 * steepness**2 * y * (1 - y**2)

    assert verify.activation(Steep())
