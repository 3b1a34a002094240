"""`verify.rule` on right rules and on planted mistakes: it tells whether there is a bound, and what
is wrong."""

import numpy as np
import pytest

import secondorder as so
from secondorder import verify
from secondorder.nets import ACTIVATIONS, Activation, Chain, Linear, Reshape, Skip
from harness import slow
from harness.shaped_layers import Mixing

room = so.residual_partitioning


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """Rules that a test registers are gone after it."""
    for functions in (room.up, room.down):
        monkeypatch.setattr(functions, "registry", dict(functions.registry))
        monkeypatch.setattr(functions, "_found", {})


def register(cls, up, down):
    room.up.register(cls)(up)
    room.down.register(cls)(down)


def up(layer, x, u):
    """u_out = sum |x| + |W| u at every place."""
    below = layer._mix(np.zeros_like(x) if u is None else u, np.abs(layer.weight))
    if layer.trainable:
        below = below + np.abs(x).sum(axis=layer.axis, keepdims=True)
    return below


def down(layer, x, u, Y_dot, Z, correct, cross):
    """Z_in = |W|^T Z; W_ddot = mean over samples of Z_i |x_j|, summed over places."""
    W_ddot = layer._outer(Z, np.abs(x)).mean(axis=0)
    if u is None:
        return None, [W_ddot]
    Z_in = layer._mix(Z, np.abs(layer.weight).T)
    if cross and layer.trainable:
        W_ddot = W_ddot + layer._outer(np.abs(Y_dot), u).mean(axis=0)
        Z_in = Z_in + np.abs(Y_dot).sum(axis=layer.axis, keepdims=True)
    return Z_in, [W_ddot]


LAYERS = {
    "linear": lambda: Linear(3, 2, rng=0), "no bias": lambda: Linear(3, 2, bias=False, rng=0),
    "fixed": lambda: Linear(3, 2, trainable=False, rng=0),
    **{name: lambda name=name: Activation(name) for name in ACTIVATIONS},
    "skip": lambda: Skip([Linear(3, 2, rng=0), Activation("sin"), Linear(2, 3, rng=1)]),
    "chain": lambda: Chain([Linear(3, 2, rng=0), Activation("tanh")]),
    "reshape": lambda: Reshape(4, (2, 2)),
    "image": lambda: Mixing((2, 2, 2), 3, rng=0),
    "sequence": lambda: Mixing((3, 2), 2, axis=-1, rng=0),
}


@pytest.mark.parametrize("name", [*list(LAYERS)[::3], *slow(
    [name for k, name in enumerate(LAYERS) if k % 3])])
def test_right_rules_are_found_right_and_tight(name):
    register(Mixing, up, down)
    report = verify.rule(LAYERS[name](), draws=2)
    assert report and report.ok, str(report)
    assert "reaches 1 of what the rule allows: it is tight" in report.notes[0]


def scaled(part, factor):
    """The right rule with one result multiplied."""
    def new_up(layer, saved, u):
        return up(layer, saved, u) * (factor if part == "u_out" else 1)

    def new_down(layer, *given):
        Z_in, (W_ddot,) = down(layer, *given)
        if part == "Z_in" and Z_in is not None:
            Z_in = factor * Z_in
        return Z_in, [W_ddot * (factor if part == "W_ddot" else 1)]
    return new_up, new_down


def transposed(layer, saved, u, Y_dot, Z, correct, cross):
    Z_in, W_ddot = down(layer, saved, u, Y_dot, Z, correct, cross)
    return None if u is None else layer._mix(Z, np.abs(layer.weight)), W_ddot


def signed(layer, saved, u, Y_dot, Z, correct, cross):
    Z_in, W_ddot = down(layer, saved, u, Y_dot, Z, correct, cross)
    return None if u is None else layer._mix(Z, layer.weight.T), W_ddot


def without_cross(layer, saved, u, Y_dot, Z, correct, cross):
    return down(layer, saved, u, Y_dot, Z, correct, False)


def writing(layer, saved, u, Y_dot, Z, correct, cross):
    Z *= 2
    return down(layer, saved, u, Y_dot, Z, correct, cross)


def failing(layer, saved, u, Y_dot, Z, correct, cross):
    raise RuntimeError("not yet written")


def double(layer, saved, u, *others):
    Z_in, W_ddot = down(layer, saved, u, *others)
    return Z_in, [W_ddot[0].astype(float)]


def without_parameters(layer, x, u):
    return layer._mix(np.zeros_like(x) if u is None else u, np.abs(layer.weight))


WRONG = {  # the rule, what is named, words that must stand in the report
    "u halved": (*scaled("u_out", 0.5), "u_out", "the ratio is 1/2 everywhere"),
    "u of the parameters missing": (without_parameters, down, "u_out", "no bound"),
    "Z halved": (*scaled("Z_in", 0.5), "Z_in", "the ratio is 1/2 everywhere"),
    "Z transposed": (up, transposed, "Z_in", "no bound"),
    "Z with signs": (up, signed, "Z_in", "not negative"),
    "W_ddot of a third": (*scaled("W_ddot", 1 / 3), "W_ddot", "a factor 3 is missing"),
    "W_ddot missing": (*scaled("W_ddot", 0), "W_ddot", "no bound"),
    "not a number": (*scaled("W_ddot", np.nan), "W_ddot", "not negative"),
    "products missing": (up, without_cross, "inequality", "no bound (products of changes"),
    "a wrong shape": (lambda *given: up(*given)[:, 0], down, "u_out", "must be an array of shape"),
    "arguments written to": (up, writing, "rule", "changes u or Z in place"),
    "an exception": (up, failing, "rule", "raised RuntimeError in float64: not yet written"),
    "float64 alone": (up, double, "W_ddot", "dtype float32"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_are_named(name):
    wrong_up, wrong_down, blamed, words = WRONG[name]
    register(Mixing, wrong_up, wrong_down)
    report = verify.rule(Mixing((2, 2, 2), 2, rng=1))
    named = {finding.pass_name for finding in report.findings}
    assert not report.ok and blamed in named, str(report)
    assert words in str(report)
    if blamed in ("u_out", "Z_in", "W_ddot"):
        assert named <= {blamed, "inequality"}, "only what is wrong is blamed"


@pytest.mark.parametrize("part", ["u_out", *slow(["Z_in", "W_ddot"])])
def test_a_rule_that_is_too_large_is_a_bound_and_not_tight(part):
    register(Mixing, *scaled(part, 2))
    report = verify.rule(Mixing((2, 2, 2), 2, rng=1))
    # with u twice as large everything above is
    assert report.ok and "tight" not in report.notes[0], str(report)


class Curved(Activation):
    """An activation that has a rule of its own in these tests."""

    def __init__(self):
        super().__init__("sin")


@pytest.mark.parametrize("term, right", [(lambda bend: bend, True), (np.abs, True),
                                         (lambda bend: -bend, False),
                                         (lambda bend: bend / 2, False)])
def test_what_a_layer_bends_must_be_bounded(term, right):
    def down_curved(layer, saved, u, Y_dot, Z, correct, cross):
        bend = term(Y_dot * saved.curvature) * u
        return correct(np.abs(saved.slope) * Z + bend), ()

    register(Curved, lambda layer, saved, u: np.abs(saved.slope) * u, down_curved)
    report = verify.rule(Curved())
    assert report.ok == right
    assert right or "no bound (second derivatives of the layer" in str(report)


def test_a_layer_without_a_rule_or_with_wrong_passes_is_told():
    with pytest.raises(TypeError, match="does not support the layer Mixing"):
        verify.rule(Mixing((2, 2, 2), 2))

    class Doubled(Mixing):
        def tangent(self, x, x_tangent, W_tangent):
            return 2 * super().tangent(x, x_tangent, W_tangent)

    register(Doubled, up, down)
    report = verify.rule(Doubled((2, 2, 2), 2, rng=0))
    assert not report.ok and "the layer's own passes are wrong" in str(report)


def test_a_layer_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match="check a smaller layer"):
        verify.rule(Linear(40, 40))
