"""The checker for an activation function of one's own."""


import numpy as np
import pytest

from harness import slow
from secondorder import nets, verify
from secondorder.nets import ActivationFunction

from test_verify_derivatives import FACTORS, changed, text_of, wrong_passes


def cls(value, slope, curvature=np.zeros_like, kinks=(), **others):
    """A class of activation functions, from functions of x, whose dtype they keep."""
    methods = {"value": value, "slope": slope, "curvature": curvature}
    kept = {name: lambda self, x, f=f: np.asarray(f(x)).astype(x.dtype)
            for name, f in methods.items()}
    return type("Own", (ActivationFunction,), kept | {"kinks": kinks} | others)


def own(*functions, **options):
    return cls(*functions, **options)()


@pytest.mark.parametrize("name", nets.ACTIVATIONS)
@pytest.mark.parametrize("seed", [0, *slow(range(1, 5))])
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


def bump(kinks=(1.0,), slope=lambda x: np.sign(x - 1)):
    return own(lambda x: np.abs(x - 1), slope, kinks=kinks)


def tanh_of(k):
    return own(lambda x: np.tanh(k * x), lambda x: k * (1 - np.tanh(k * x) ** 2),
               lambda x: -2 * k**2 * np.tanh(k * x) * (1 - np.tanh(k * x) ** 2))


RIGHT = [nets.ELU(0.7), nets.ELU(2.5), nets.GELU("tanh"), Cubic(), bump(), bump(kinks=(1.0, 9.0)),
         # sharp bends are no kinks and no jumps, and steep kinks are continuous
         tanh_of(1e3), tanh_of(1e5),
         own(lambda x: np.where(x < 100, 1e3 * np.abs(x), 1e5),
             lambda x: np.where(x < 100, 1e3 * np.sign(x), 0.0), kinks=(0.0, 100.0)),
         # beside 0
         own(lambda x: x * abs(x), lambda x: 2 * abs(x), lambda x: 2 * np.sign(x)),
         own(lambda x: np.exp(x / 8) - 1, lambda x: np.exp(x / 8) / 8,
             lambda x: np.exp(x / 8) / 64),
         own(lambda x: abs(x) + abs(x - 0.01), lambda x: np.sign(x) + np.sign(x - 0.01),
             kinks=(0.0, 0.01))]


@pytest.mark.parametrize("number", range(len(RIGHT)))
@pytest.mark.parametrize("seed", [0, *slow(range(1, 4))])
def test_what_is_right_passes(number, seed):
    report = verify.activation(RIGHT[number], rng=seed)
    assert report, str(report)


@pytest.mark.parametrize("base", [Cubic, nets.Tanh, nets.Softplus])
@pytest.mark.parametrize("name", ["slope", "curvature"])
@pytest.mark.parametrize("bug", ["sign", "two", "half"])
def test_wrong_activation_derivatives_are_named(base, name, bug):
    factor, ratio, hint = FACTORS[bug]
    original = getattr(base, name)
    report = verify.activation(changed(base, **{name: lambda self, x: factor * original(self, x)}))
    assert wrong_passes(report) == {name}
    assert ratio in str(report) and hint in str(report)
    assert "the largest difference is at x = " in str(report)
    assert "at x = 1 against" not in str(report)


PLANTED = [  # what the methods owe: base, other methods, what is named, words
    (nets.Tanh, {"curvature": lambda self, x: np.zeros_like(x)}, "curvature", "a term is missing"),
    (Cubic, {"jet": lambda self, x: (self.value(x), self.slope(x), -self.curvature(x))}, "jet",
     "ratio -1"),
    (nets.Tanh, {"jet": lambda self, x: None}, "jet", "returns None\n    hint: is its return"),
    (nets.Tanh, {"jet": lambda self, x: x.no}, "jet", "raised AttributeError"),
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


@pytest.mark.parametrize("base, methods, name, expected", PLANTED)
def test_planted_mistakes_are_named(base, methods, name, expected):
    report = verify.activation(changed(base, **methods))
    assert expected in text_of(report, name), report
    assert wrong_passes(report) == {name} or base is Cubic


def test_a_function_of_positive_numbers_is_told_of_interval():
    root = own(np.sqrt, lambda x: 0.5 / np.sqrt(x), lambda x: -0.25 * x**-1.5, kinks=(-3.0,))
    assert "interval=(low, high)" in text_of(verify.activation(root), "value")
    assert verify.activation(root, interval=(0.1, 4.0))


# -- kinks and steps -------------------------------------------------------------------------------

def step(height=1.0, at=0.5, tilt=0.0, kinks=(0.5,)):
    """0 below and `height` above `at`, with slope `tilt` on both sides."""
    return own(lambda x: np.where(x > at, height, 0.0) + tilt * x,
               lambda x: np.full_like(x, tilt), kinks=kinks)


def clipped(top, beyond=None, kinks=()):
    """min(x, top), and `beyond` above it."""
    return own(lambda x: np.where(x > top, top if beyond is None else beyond, x),
               lambda x: x <= top, kinks=kinks)


def twice(kink, kinks):
    """|x - kink| + |x - kink - 2|."""
    return own(lambda x: np.abs(x - kink) + np.abs(x - kink - 2),
               lambda x: np.sign(x - kink) + np.sign(x - kink - 2), kinks=kinks)


SCALE, RATE = 1.0507009873554805, 1.6732632423543772


def selu(at=0.0, kinks=(), **methods):
    """scale (x - at) above `at`, scale rate (e^(x - at) - 1) below."""
    def pieces(above, below):
        return lambda x: SCALE * np.where(x > x.dtype.type(at), above(x - x.dtype.type(at)),
                                          RATE * below(np.minimum(x - x.dtype.type(at), 0)))
    three = {"value": pieces(lambda x: x, np.expm1), "slope": pieces(np.ones_like, np.exp),
             "curvature": pieces(np.zeros_like, np.exp)}
    for name, method in methods.items():
        three[name] = method(three[name])
    return own(*three.values(), kinks=kinks)


@pytest.mark.parametrize("function, places", [
    (bump(kinks=()), [1]), (bump(kinks=(-1.0,)), [1]), (changed(nets.ReLU, kinks=()), [0]),
    (own(lambda x: np.clip(x, -0.7, 2.3), lambda x: (x > -0.7) & (x < 2.3)), [-0.7, 2.3]),
    (own(lambda x: np.minimum(x, 41.0), lambda x: x < 41), [41]), (twice(4.0, (4.0,)), [6]),
    (twice(-7.0, (-7.0,)), [-5]), (twice(10.0, (10.0,)), [12]),
    *[(clipped(top), [top])
      for top in (6.0, -6.0, 12.0, -24.0, 48.0, 96.0, 384.0, 5.99, 6.01)],
    *[(selu(at), [at]) for at in (0.0, 0.1, -2.0, 0.123456789)]])
def test_undeclared_kinks_are_found_where_they_are(function, places):
    report = verify.activation(function)
    assert wrong_passes(report) == {"kinks"}, report
    found = [float(finding.hint.partition("(")[2].rstrip(",)")) for finding in report.findings]
    np.testing.assert_allclose(sorted(found), places, atol=1e-9)
    assert verify.activation(changed(type(function), kinks=(*function.kinks, *found)))


@pytest.mark.parametrize("function, told", [
    (step(), "jumps at the kink x = 0.5"), (step(-1e-3), "jumps at the kink x = 0.5"),
    (step(1e-5, tilt=1.0), "jumps at the kink x = 0.5"),
    (step(kinks=(0.5, 2.0)), "jumps at the kink x = 0.5"),
    (step(at=300.0, kinks=(300.0,)), "jumps at the kink x = 300"),
    (step(kinks=()), "jumps near x = 0.5"), (step(kinks=(-1.0,)), "jumps near x = 0.5"),
    (step(tilt=2.0, kinks=()), "jumps near x = 0.5"),
    (own(lambda x: np.where(x == 0.5, 2.0, 0 * x), lambda x: 0 * x, kinks=(0.5,)), "there 2"),
    *[(clipped(top, top + 1), f"x = {top:.4g}") for top in (6.0, -24.0, 384.0, 5.99)]])
def test_a_step_is_no_kink(function, told):
    report = verify.activation(function)
    assert wrong_passes(report) == {"value"} and told in str(report), report
    assert "must be continuous" in str(report) or "no declared kink makes it right" in str(report)


def test_a_slope_at_a_kink_lies_between_the_sides():
    report = verify.activation(bump(slope=lambda x: np.where(x == 1, 5.0, np.sign(x - 1))))
    assert wrong_passes(report) == {"slope"} and "outside the one-sided slopes" in str(report)


@pytest.mark.parametrize("at", [0.0, 3.0, -40.0])
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("name", ["slope", "curvature"])
@pytest.mark.parametrize("reach", [1e-3, *slow([1e-2, 1e-4])])
def test_a_derivative_that_is_wrong_beside_a_declared_kink(name, side, reach, at):
    def wrong(right):
        return lambda x: right(x) + 0.25 * ((side * (x - at) > 0) & (side * (x - at) < reach))
    report = verify.activation(selu(at, (at,), **{name: wrong}))
    assert name in wrong_passes(report), str(report)
    assert f"just {'above' if side > 0 else 'below'} x = {at:.4g}" in str(report)


def test_a_branch_near_0_that_is_wrong_is_found():
    """A series that a function uses for small arguments alone; no random point falls there."""
    def slope(third):
        return lambda self, x: np.where(abs(x) < 1e-3, 1 - x**2 / third,
                                        nets.Tanh.slope(self, x)).astype(x.dtype)
    assert "slope" in wrong_passes(verify.activation(changed(nets.Tanh, slope=slope(3))))
    assert verify.activation(changed(nets.Tanh, slope=slope(1)))


@pytest.mark.parametrize("at", [0.0, -1.0, 1.0])
@pytest.mark.parametrize("name", ["value", "slope"])
@pytest.mark.parametrize("there", [0.5, np.nan])
def test_one_point_that_is_wrong_is_found(name, at, there):
    right = getattr(nets.Tanh, name)
    report = verify.activation(changed(nets.Tanh, **{name: lambda self, x: np.where(
        x == at, there, right(self, x)).astype(x.dtype)}))
    assert wrong_passes(report) == {name} and f"at x = {at:g}" in str(report)


@pytest.mark.parametrize("seed", [0, 1, *slow(range(2, 10))])
@pytest.mark.parametrize("name, low", [("slope", 2.3), ("curvature", -4.6), ("slope", 6.3)])
def test_a_narrow_stretch_that_is_wrong_is_found_with_every_seed(seed, name, low):
    tanh = nets.ACTIVATIONS["tanh"]

    def wrong(self, x):
        return getattr(tanh, name)(self, x) + 0.1 * ((x > low) & (x < low + 0.2)).astype(x.dtype)

    assert name in wrong_passes(verify.activation(changed(tanh, **{name: wrong}), rng=seed))


# -- far out ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("interval", [(-1e6, 1e6), (100.0, 1e5)])
def test_what_is_right_far_out_passes_there(interval):
    """Where x is large, x + h is rounded: differences say less, and nothing is wrong."""
    report = verify.activation("sin", interval=interval)
    assert report, str(report)
    wrong = changed(nets.ACTIVATIONS["sin"], slope=lambda self, x: 1.01 * np.cos(x))
    assert "slope" in wrong_passes(verify.activation(wrong, interval=interval))


@pytest.mark.parametrize("wrong", ["slope", "curvature"])
@pytest.mark.parametrize("place", [3.0, 500.0, *slow([6.5, 20.0, 100.0, 1e9])])
def test_a_wrong_tail_is_found(wrong, place):
    right = getattr(nets.ACTIVATIONS["sin"], wrong)
    tailed = changed(nets.ACTIVATIONS["sin"], **{wrong: lambda self, x: (
        right(self, x) + 0.01 * (np.abs(x) > place)).astype(x.dtype)})
    report = verify.activation(tailed)
    assert wrong_passes(report) == ({wrong} if place < 768 else set()), str(report)
    assert verify.activation(tailed, interval=(-2, 2.5))


def test_a_function_that_overflows_is_looked_at_as_far_as_it_is_finite():
    assert verify.activation(own(np.exp, np.exp, np.exp))


@pytest.mark.parametrize("value", [3, "ab", (2, 1), (0, np.inf), (-0.01, 0.0)])
def test_a_bad_interval_is_refused(value):
    with pytest.raises((TypeError, ValueError), match="interval"):
        verify.activation("relu", interval=value)
