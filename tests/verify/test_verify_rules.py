"""`verify.rule` on right rules and on planted mistakes: it tells whether there is a bound, and what
is wrong."""

from types import SimpleNamespace

import numpy as np
import pytest

import secondorder as so
from secondorder import verify
from secondorder.nets import ACTIVATIONS, Activation, Chain, Linear, Reshape, Skip
from secondorder.papers.residual_partitioning import Rule, rule_checks
from secondorder.papers.residual_partitioning import rules as room
from secondorder.papers.residual_partitioning.fast import bound_at
from secondorder.papers.residual_partitioning.options import Options
from secondorder.papers.residual_partitioning.rule_quadratic import Quadratic
from harness.shaped_layers import Mixing


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """Rules that a test registers are gone after it."""
    monkeypatch.setattr(room, "registry", dict(room.registry))
    monkeypatch.setattr(room, "_found", {})


class MixingRule(Rule):
    """u_out = sum |x| + |W| u at every place; Z_in = |W|^T Z; W_ddot = sum over places of Z_i
    |x_j|."""

    @staticmethod
    def forward(layer, saved, u):
        below = None if u is None else layer._mix(u, np.abs(layer.weight))
        if layer.trainable:
            own = np.abs(saved.input).sum(axis=layer.axis, keepdims=True)
            below = own + (np.zeros_like(saved.output) if below is None else below)
        return below, None

    @staticmethod
    def backward(layer, saved, context, u, g, Z, options):
        curvature = layer._outer(Z, np.abs(saved.input)).sum(axis=0)
        if u is None:
            return None, curvature
        Z_in = layer._mix(Z, np.abs(layer.weight).T)
        if options.cross and layer.trainable:
            curvature = curvature + layer._outer(np.abs(g), u).sum(axis=0)
            Z_in = Z_in + np.abs(g).sum(axis=layer.axis, keepdims=True)
        return Z_in, curvature


LAYERS = {
    "linear": lambda: Linear(3, 2, rng=0), "no bias": lambda: Linear(3, 2, bias=False, rng=0),
    "fixed": lambda: Linear(3, 2, trainable=False, rng=0),
    **{name: lambda name=name: Activation(name) for name in ACTIVATIONS},
    "skip": lambda: Skip([Linear(3, 2, rng=0), Activation("sin"), Linear(2, 3, rng=1)]),
    "chain": lambda: Chain([Linear(3, 2, rng=0), Activation("tanh")]),
    "reshape": lambda: Reshape(4, (2, 2)),
    "image": lambda: Mixing((2, 2, 2), 3, rng=0),
    "sequence": lambda: Mixing((3, 2), 2, axis=-1, rng=0),
    "fixed image": lambda: Mixing((2, 2, 1), 2, trainable=False, rng=0),
    "chain with an image": lambda: Chain([Reshape(4, (1, 2, 2)), Mixing((1, 2, 2), 2, rng=0),
                                          Activation("sin")]),
}


@pytest.mark.everyday(9)
@pytest.mark.parametrize("name", LAYERS)
def test_right_rules_are_found_right_and_tight(name):
    room.register(Mixing)(MixingRule)
    report = verify.rule(LAYERS[name]())
    assert report and report.ok, str(report)
    assert {check.pass_name for check in report.checks} == {
        "layer", "rule", "u_out", "Z_in", "curvature", "inequality", "float32", "network"}
    reached = float(report.notes[0].split("a step reaches ")[1].split()[0])
    # what goes round the inner layers may cancel against what goes through them
    composed = name == "skip"
    assert (reached > 0.9 if composed
            else "reaches 1 of what the rule allows: it is tight" in report.notes[0])
    assert len(report.notes) == 1, "no rule of the package is looser than the literal one"


def test_the_literal_rule_takes_second_derivatives_in_the_parameters_by_size():
    """Two layers in a chain: sum g y is bilinear in their weights, so that differences with steps
    of 1 give its second derivatives but for rounding."""
    layer, rng = Chain([Linear(2, 3, rng=0), Linear(3, 2, rng=1)]), np.random.default_rng(0)
    network, x, g = so.Network([layer]), rng.normal(size=(4, 2)), rng.normal(size=(4, 2))
    start, places = network.theta.copy(), range(layer.size)

    def value(*moved):
        network.theta = start + np.eye(layer.size)[list(moved)].sum(axis=0)
        return np.sum(g * network(x))

    none = value()
    second = np.array([[value(a, b) - value(a) - value(b) + none for b in places] for a in places])
    network.theta = start
    _, _, curvature = Quadratic(layer, x).literal(None, g, np.zeros((4, 2)),
                                                  Options(clip=False, cross=False))
    np.testing.assert_allclose(curvature, np.abs(second).sum(axis=1), rtol=1e-10, atol=1e-12)


# -- planted mistakes ------------------------------------------------------------------------------

def changed(forward=None, backward=None):
    """The right rule with its results changed: (value, layer, saved, u) -> value, or -> (Z_in,
    curvature)."""
    class Changed(MixingRule):
        @staticmethod
        def forward(layer, saved, u):
            u_out, context = MixingRule.forward(layer, saved, u)
            return (forward(u_out, layer, saved, u) if forward else u_out), context

        @staticmethod
        def backward(layer, saved, context, u, g, Z, options):
            found = MixingRule.backward(layer, saved, context, u, g, Z, options)
            return backward(*found, layer, saved, u, g, Z, options) if backward else found
    return Changed


def maybe(value, factor):
    return None if value is None else factor * value


def signed(Z_in, curvature, layer, saved, u, g, Z, options):
    return None if u is None else layer._mix(Z, layer.weight.T), curvature


def transposed(Z_in, curvature, layer, saved, u, g, Z, options):
    return None if u is None else layer._mix(Z, np.abs(layer.weight)), curvature


def without_cross(Z_in, curvature, layer, saved, u, g, Z, options):
    return MixingRule.backward(layer, saved, None, u, g, Z, Options(options.clip, False))


def half_of_cross(Z_in, curvature, layer, saved, u, g, Z, options):
    plain = without_cross(Z_in, curvature, layer, saved, u, g, Z, options)
    return maybe(Z_in, 1) if u is None else (Z_in + plain[0]) / 2, (curvature + plain[1]) / 2


WRONG = {  # rule, what is named, words that must stand in the report
    "u halved": (changed(lambda u, *_: u / 2), "u_out", "the ratio is 1/2 everywhere"),
    "u of the parameters missing": (changed(lambda u_out, layer, saved, u: layer._mix(
        np.zeros_like(saved.input) if u is None else u, np.abs(layer.weight))), "u_out",
                                    "no bound"),
    "u from below missing": (changed(lambda u_out, layer, saved, u: np.abs(saved.input).sum(
        axis=layer.axis, keepdims=True) + np.zeros_like(saved.output)), "u_out",
                             "no bound (affine part"),
    "Z halved": (changed(backward=lambda Z_in, c, *_: (maybe(Z_in, 0.5), c)), "Z_in",
                 "the ratio is 1/2 everywhere"),
    "Z transposed": (changed(backward=transposed), "Z_in",
                     "it is |J| Z: the matrix must be transposed"),
    "Z with signs": (changed(backward=signed), "Z_in",
                     "must be an array of shape (3, 2, 2, 2), finite and not negative"),
    "curvature halved": (changed(backward=lambda Z_in, c, *_: (Z_in, c / 2)), "curvature",
                         "a factor 2 is missing"),
    "curvature of the mean": (changed(backward=lambda Z_in, c, *_: (Z_in, c / 3)), "curvature",
                              "a factor 3 is missing (a mean over 3 where a sum is meant?)"),
    "curvature missing": (changed(backward=lambda Z_in, c, *_: (Z_in, 0 * c)), "curvature",
                          "a term is missing"),
    "curvature negative": (changed(backward=lambda Z_in, c, *_: (Z_in, -c)), "curvature",
                           "not negative"),
    "products missing": (changed(backward=without_cross), "Z_in", "no bound (products of changes"),
    "half of the products": (changed(backward=half_of_cross), "curvature",
                             "no bound (products of changes"),
    "wrong shape": (changed(lambda u_out, *_: u_out[:, 0]), "u_out", "it is shape (3, 2, 2)"),
    "nothing trained below": (changed(lambda u_out, layer, saved,
                                      u: u_out * (0.5 if u is None else 1)), "u_out",
                              "no bound (nothing trained below"),
    "not a number": (changed(backward=lambda Z_in, c, *_: (Z_in, c * np.nan)), "curvature",
                     "from nan to nan"),
}


@pytest.mark.everyday(3)
@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_are_named(name):
    wrong, blamed, words = WRONG[name]
    room.register(Mixing)(wrong)
    report = verify.rule(Mixing((2, 2, 2), 2, rng=1), samples=3)
    assert not report.ok and blamed in {finding.pass_name
                                        for finding in report.findings}, str(report)
    assert words in str(report)
    others = {"u_out", "Z_in", "curvature"} - {blamed}
    if name not in ("products missing", "half of the products"):
        assert not others & {finding.pass_name
                             for finding in report.findings}, "only what is wrong is blamed"


@pytest.mark.parametrize("factor, part", [(2, "u_out"), (2, "Z_in"), (3, "curvature")])
def test_a_rule_that_is_too_large_is_a_bound_and_said_to_be_loose(factor, part):
    def backward(Z_in, curvature, *_):
        return maybe(Z_in, factor if part == "Z_in"
                     else 1), curvature * (factor if part == "curvature" else 1)
    room.register(Mixing)(changed(lambda u, *_: u * (factor if part == "u_out" else 1), backward))
    report = verify.rule(Mixing((2, 2, 2), 2, rng=1))
    assert report.ok, str(report)
    assert "tight" not in report.notes[0]
    assert any(note.startswith(f"{part} is {factor} times |")
               and note.endswith("looser than it need be")
               for note in report.notes), report.notes


def test_other_fractions_are_a_bound_too():
    """Half of every change for what is below, half for the parameters, whatever their sizes."""
    class Halves(MixingRule):
        @staticmethod
        def backward(layer, saved, context, u, g, Z, options):
            if u is None or not layer.trainable:
                return MixingRule.backward(layer, saved, context, u, g, Z, options)
            below = layer._mix(u, np.abs(layer.weight))
            own = np.abs(saved.input).sum(axis=layer.axis, keepdims=True)
            share = Z / (below + own)  # Z / u_out, the coefficient of the paper
            Z_in = layer._mix(2 * share * below, np.abs(layer.weight).T)
            curvature = layer._outer(2 * share * own, np.abs(saved.input)).sum(axis=0)
            if options.cross:
                curvature = curvature + layer._outer(np.abs(g), u).sum(axis=0)
                Z_in = Z_in + np.abs(g).sum(axis=layer.axis, keepdims=True)
            return Z_in, curvature
    room.register(Mixing)(Halves)
    report = verify.rule(Mixing((2, 2, 2), 2, rng=1))
    assert report.ok and "it is tight" in report.notes[0]
    assert any("other fractions, as tight" in note for note in report.notes)


# -- layers that bend ------------------------------------------------------------------------------

class Curved(Activation):
    """An activation that has a rule of its own in these tests."""

    def __init__(self):
        super().__init__("sin")


def bent(term, linear=1.0):
    class Bent(Rule):
        @staticmethod
        def forward(layer, saved, u):
            return maybe(u, np.abs(saved.slope)), None

        @staticmethod
        def backward(layer, saved, context, u, g, Z, options):
            nothing = np.empty(0)
            if u is None:
                return None, nothing
            return np.abs(linear * np.abs(saved.slope) * Z + term(g * saved.curvature) * u), nothing
    return Bent


@pytest.mark.parametrize("term", [lambda bend: -bend, lambda bend: bend / 2])
def test_what_a_layer_bends_must_be_bounded(term):
    room.register(Curved)(bent(term))
    report = verify.rule(Curved())
    assert "no bound (second derivatives of the layer" in str(report)
    assert "Z_in" in {finding.pass_name for finding in report.findings}


def test_bends_may_be_bounded_by_their_size():
    room.register(Curved)(bent(np.abs))
    assert verify.rule(Curved()).ok


class Power(so.Layer):
    """y = x exp(t), with one trained number for all units."""

    def __init__(self):
        super().__init__()
        self.declare("t", np.zeros(1))

    def forward(self, x):
        y = x * np.exp(self.parameters["t"])
        return y, so.nets.LinearSaved(x, y)

    def backward(self, saved, y_bar):
        return y_bar * np.exp(self.parameters["t"]), np.sum(y_bar * saved.output).reshape(1)

    def parameter_gradients(self, saved, y_bar):
        return np.sum(y_bar * saved.output, axis=1, keepdims=True)

    def tangent(self, saved, x_tangent, theta_tangent):
        e = np.exp(self.parameters["t"])
        return ((0 if x_tangent is None else x_tangent) * e
                + saved.output * (0 if theta_tangent is None else theta_tangent))

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        t, e = 0 if theta_tangent is None else theta_tangent, np.exp(self.parameters["t"])
        return ((0 if x_second is None else x_second) * e + 2
                * (0 if x_tangent is None else x_tangent) * e * t
                + saved.output * t**2)

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        t, e = 0 if theta_tangent is None else theta_tangent, np.exp(self.parameters["t"])
        moved = (0 if x_tangent is None else x_tangent) * e + saved.output * t
        theta_part = np.sum(y_bar_tangent * saved.output + y_bar * moved).reshape(1)
        return y_bar_tangent * e + y_bar * e * t, theta_part

    def input_hessian(self, saved, y_bar, H_y):
        return H_y * np.exp(2 * self.parameters["t"])


def power_rule(own):
    class PowerRule(Rule):
        @staticmethod
        def forward(layer, saved, u):
            return np.abs(saved.output) + (0 if u is None else u
                                           * np.exp(layer.parameters["t"])), None

        @staticmethod
        def backward(layer, saved, context, u, g, Z, options):
            e = np.exp(layer.parameters["t"])
            curvature = np.sum(Z * np.abs(saved.output)).reshape(1) + own * abs(
                np.sum(g * saved.output)
            )
            if u is None:
                return None, curvature
            Z_in = Z * e
            if options.cross:
                Z_in, curvature = Z_in + np.abs(g) * e, curvature + np.sum(np.abs(g) * u) * e
            return Z_in, curvature
    return PowerRule


def test_a_layer_that_bends_along_its_parameters():
    assert verify.layer(Power(), (3,)).ok
    room.register(Power)(power_rule(1))
    assert verify.rule(Power(), (3,)).ok
    room.register(Power)(power_rule(0))
    report = verify.rule(Power(), (3,), draws=6)
    assert not report.ok and "|B|^T Z" in str(report)
    assert "no bound (second derivatives of the layer" in str(report)


@pytest.mark.parametrize("nested", [False, True])
def test_bounded_hessian_of_layers_of_ones_own(nested):
    """It lies between the bound and, with the products of changes put back, the true Hessian."""
    room.register(Power)(power_rule(1))
    room.register(Mixing)(MixingRule)
    rng = np.random.default_rng(3)
    inner = [Linear(4, 4, rng=0), Power(), Reshape(4, (2, 2)), Mixing((2, 2), 2, axis=-1, rng=1),
             Reshape((2, 2), 4)]
    layers = [Linear(3, 4, rng=2), *([Skip([Chain(inner)])] if nested else inner),
              Activation("tanh"), Linear(4, 2, rng=3)]
    net = so.Network(layers)
    net.theta += rng.normal(size=net.size) / 3
    case = so.SoftmaxCrossEntropy(), rng.normal(size=(5, 3)), rng.integers(0, 2, 5)
    H = so.residual_partitioning.bounded_hessian(net, *case)
    b = so.residual_partitioning.bound(net, *case, output="pairwise")
    assert np.linalg.eigvalsh(np.diag(b.curvature) - H)[0] > -1e-12 * b.curvature.max()
    assert np.abs(H - H.T).max() < 1e-13

    def objective(delta):
        """The loss where every change of a weight meets the input of its layer as it was."""
        at = net.evaluate(*case)
        outputs = without_products(net.layers, at.saved, at.x, delta)
        return np.mean(case[0].value(outputs, at.y))

    for v in rng.normal(size=(4, net.size)):
        step = 1e-4
        second = (objective(step * v) - 2 * objective(0 * v) + objective(-step * v)) / step**2
        assert second == pytest.approx(v @ H @ v, rel=1e-5, abs=1e-6)


def without_products(layers, saved, moved, delta):
    """Outputs where the inputs have moved to `moved` and the parameters by `delta`, no products."""
    for layer, kept in zip(layers, saved):
        size, delta_of = layer.size, delta[:layer.size]
        delta = delta[size:]
        if isinstance(layer, Skip):
            moved = moved + without_products(layer.layers, kept.inner, moved, delta_of)
        elif isinstance(layer, Chain):
            moved = without_products(layer.layers, kept, moved, delta_of)
        else:
            there = layer.forward(moved)[0]
            if size:
                home = {name: value.copy() for name, value in layer.parameters.items()}
                for name, change in zip(layer.parameters, layer.split(delta_of)):
                    layer.parameters[name][...] += change
                there = there + layer.forward(kept.input)[0] - kept.output
                for name, value in home.items():
                    layer.parameters[name][...] = value
            moved = there
    return moved


# -- what does not run -----------------------------------------------------------------------------

def test_a_rule_that_raises_or_writes_into_its_arguments():
    class Raises(MixingRule):
        @staticmethod
        def forward(layer, saved, u):
            return u + 1, None

    class Writes(MixingRule):
        @staticmethod
        def backward(layer, saved, context, u, g, Z, options):
            Z *= 2
            return MixingRule.backward(layer, saved, context, u, g, Z, options)

    room.register(Mixing)(Raises)
    report = verify.rule(Mixing((2, 2, 2), 2, rng=0))
    assert "raised TypeError (u = None: nothing below is trained)" in str(report)
    room.register(Mixing)(Writes)
    assert "changes u, Z or g in place" in str(verify.rule(Mixing((2, 2, 2), 2, rng=0)))


def test_a_rule_that_leaves_single_precision():
    def wide(values):
        return None if values is None else values.astype(float)

    for name, rule in (("u_out", changed(lambda u_out, *_: wide(u_out))),
                       ("Z_in", changed(backward=lambda Z, c, *_: (wide(Z), c))),
                       ("curvature", changed(backward=lambda Z, c, *_: (Z, wide(c))))):
        room.register(Mixing)(rule)
        report = verify.rule(Mixing((2, 2, 2), 2, rng=0))
        assert f"{name} turns float32 into float64" in str(report)
        assert "no bound" not in str(report)


def test_a_wrong_layer_is_told_before_its_rule():
    class Wrong(Mixing):
        def backward(self, saved, y_bar):
            x_bar, theta_bar = super().backward(saved, y_bar)
            return x_bar, 2 * theta_bar
    room.register(Wrong)(MixingRule)
    report = verify.rule(Wrong((2, 2, 2), 2, rng=0))
    assert [finding.pass_name for finding in report.findings] == ["layer"]
    assert "the layer's own passes are wrong" in str(report) and "a factor 2 too much" in str(
        report
    )


def test_what_cannot_be_checked_is_refused():
    with pytest.raises(TypeError, match="residual partitioning does not support the layer Mixing"):
        verify.rule(Mixing((2, 2, 2), 2))
    with pytest.raises(ValueError,
                       match="has 2052 variables, more than 1500: check a smaller layer"):
        verify.rule(Linear(25, 2, rng=0), samples=80)
    for options in ({"samples": 1}, {"draws": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            verify.rule(Linear(2, 2, rng=0), **options)


@pytest.mark.parametrize("place", [0, -1])
def test_a_bound_of_a_network_that_fails_for_one_parameter_is_found(place, monkeypatch):
    """Less a number on the diagonal, the difference has one negative eigenvalue (interlacing)."""
    def spoilt(*args):
        curvature = bound_at(*args).curvature.copy()
        curvature[place] = -2 * curvature.max()
        return SimpleNamespace(curvature=curvature)

    assert verify.rule(Linear(2, 2, rng=0), draws=1).ok
    monkeypatch.setattr(rule_checks, "bound_at", spoilt)
    report = verify.rule(Linear(2, 2, rng=0), draws=1)
    assert not report.ok and "in a network with the layer inside" in str(report)


@pytest.mark.slow
def test_layers_of_large_networks_are_checked_alone():
    report = verify.rule(Linear(60, 12, rng=0), draws=1)
    assert report.ok and "the check inside a network was left out" in report.notes[0]


# -- the explicit quadratic ------------------------------------------------------------------------

def test_the_explicit_form_is_that_of_finite_steps():
    """Second differences of <w, (y - y0)^2> / 2 + <g, y> at finite steps, without any pass but
    forward."""
    rng = np.random.default_rng(0)
    layer = Chain([Mixing((1, 2, 1), 2, rng=0), Activation("sin")])
    net = so.Network([layer], input_shape=(1, 2, 1))
    x = rng.normal(size=(2, 1, 2, 1))
    at = Quadratic(layer, x)
    weights, g = np.exp(rng.normal(size=at.y.shape)), rng.normal(size=at.y.shape)
    M, home, step = at.form(weights, g, True), net.theta.copy(), 1e-4

    def value(v):
        net.theta = home + v[x.size:]
        change = layer.forward(x + v[:x.size].reshape(x.shape))[0] - at.y
        net.theta = home
        return np.sum(weights * change**2) / 2 + np.sum(g * change)

    for v in rng.normal(size=(5, len(M))):
        second = (value(step * v) - 2 * value(0 * v) + value(-step * v)) / step**2
        assert second == pytest.approx(v @ M @ v, rel=1e-5)


@pytest.mark.parametrize("cross", [True, False])
def test_the_literal_rule_of_a_linear_layer_entry_by_entry(cross):
    """Gradients of both signs: mixed second derivatives of <g, W x + b> are g_i in x_j and W_ij."""
    rng = np.random.default_rng(3)
    layer, x = Linear(3, 2, rng=rng), rng.normal(size=(4, 3))
    u, g, Z = rng.random((4, 3)), rng.normal(size=(4, 2)), rng.random((4, 2))
    Z_in, W_ddot = np.zeros((4, 3)), np.zeros((2, 3))
    for s, i, j in np.ndindex(4, 2, 3):
        Z_in[s, j] += abs(layer.weight[i, j]) * Z[s, i] + cross * abs(g[s, i])
        W_ddot[i, j] += abs(x[s, j]) * Z[s, i] + cross * abs(g[s, i]) * u[s, j]
    _, found, curvature = Quadratic(layer, x).literal(u, g, Z, Options(clip=False, cross=cross))
    np.testing.assert_allclose(found, Z_in, rtol=1e-13)
    np.testing.assert_allclose(curvature, [*W_ddot.ravel(), *Z.sum(axis=0)], rtol=1e-13)


@pytest.mark.parametrize("clip", [True, False])
def test_the_literal_rule_of_an_activation_entry_by_entry(clip):
    """|s'| Z + u g s'', of either sign: its size, or nothing where it is negative."""
    rng = np.random.default_rng(4)
    x, u, Z = rng.normal(size=(4, 3)), 5 * rng.random((4, 3)), rng.random((4, 3))
    g, Z_in = rng.normal(size=(4, 3)), np.zeros((4, 3))
    for s, i in np.ndindex(4, 3):
        slope = 1 - np.tanh(x[s, i]) ** 2
        Z_in[s, i] = slope * Z[s, i] - 2 * u[s, i] * g[s, i] * np.tanh(x[s, i]) * slope
    assert Z_in.min() < 0 < Z_in.max()
    _, found, _ = Quadratic(Activation("tanh"), x).literal(u, g, Z, Options(clip=clip, cross=True))
    np.testing.assert_allclose(found, np.maximum(Z_in, 0) if clip else np.abs(Z_in), rtol=1e-12)


@pytest.mark.parametrize("clip", [True, False])
def test_the_literal_rule_counts_second_derivatives_of_two_inputs_by_size(clip):
    """y_i = tanh(w_i . x): d^2 <g, y> / dx_j dx_k = sum_i g_i tanh''(w_i . x) w_ij w_ik, which is
    added by its size for k other than j."""
    rng = np.random.default_rng(5)
    inner, x = Linear(3, 2, bias=False, trainable=False, rng=rng), rng.normal(size=(4, 3))
    u, g, Z = 9 * rng.random((4, 3)), rng.normal(size=(4, 2)), 0.1 * rng.random((4, 2))
    W, t = inner.weight, np.tanh(x @ inner.weight.T)
    own, others = np.zeros((4, 3)), np.zeros((4, 3))
    for s, j in np.ndindex(4, 3):
        for k in range(3):
            second = sum(-2 * g[s, i] * t[s, i] * (1 - t[s, i]**2) * W[i, j] * W[i, k]
                         for i in range(2))
            if k == j:
                own[s, j] += second * u[s, j]
            else:
                others[s, j] += abs(second) * u[s, k]
        own[s, j] += sum((1 - t[s, i]**2) * abs(W[i, j]) * Z[s, i] for i in range(2))
    assert own.min() < 0 < own.max() and others.max() > 0.1
    layer = Chain([inner, Activation("tanh")])
    _, found, _ = Quadratic(layer, x).literal(u, g, Z, Options(clip=clip, cross=True))
    np.testing.assert_allclose(found, (np.maximum(own, 0) if clip else np.abs(own)) + others,
                               rtol=1e-11)


class DoubleOnlyRule(MixingRule):
    """Right, but not at home in single precision."""

    @staticmethod
    def forward(layer, saved, u):
        if u is not None and u.dtype == np.float32:
            raise TypeError("float64 wanted")
        return MixingRule.forward(layer, saved, u)


def test_a_rule_that_raises_in_single_precision_is_told():
    room.register(Mixing)(DoubleOnlyRule)
    report = verify.rule(Mixing((2, 2, 2), 3, rng=0))
    assert not report.ok and "raised TypeError in float32: float64 wanted" in str(report)
