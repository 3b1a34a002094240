"""The seven passes of every layer, one layer at a time, against derivatives taken from `forward`
alone.

`forward` itself is held against decimal arithmetic. First derivatives come from complex steps,
second ones from central differences of complex steps with their predicted error.
"""

import decimal

import numpy as np
import pytest

import secondorder as so
from harness import derivations
from harness.cases import MIDDLE, relative
from secondorder.exact import finite_differences
from secondorder.exact.finite_differences import central
from secondorder.nets import (Activation, Chain, Conv2d, Layer, LayerNorm, Linear, MaxPool2d,
                              Network, Recurrent, Reshape, Skip)

SAMPLES, STEP = 3, 1e-30


class Bench:
    """One layer with random parameters and random arguments for every pass."""

    def __init__(self, make, seed=3, width=4):
        rng = np.random.default_rng(seed)
        layers = make(rng)
        self.prototype = layers[0] if len(layers) == 1 else Chain(layers)
        size = self.prototype.size
        self.x = rng.normal(size=(SAMPLES, width))
        self.theta = rng.normal(size=size)
        self.home = self.at(self.theta)
        self.layer = self.home.layers[0]
        self.y, self.saved = y, _ = self.layer.forward(self.x)
        self.x_tangent, self.x_second = rng.normal(size=(2, SAMPLES, width))
        self.theta_tangent = rng.normal(size=size) if size else None
        self.y_bar, self.y_bar_tangent = rng.normal(size=(2, *y.shape))
        H = rng.normal(size=(SAMPLES, y.shape[1], y.shape[1]))
        self.H_y = H + H.transpose(0, 2, 1)

    def at(self, theta, dtype="float64"):
        """A network of this layer alone, with parameters theta."""
        net = Network([self.prototype.copy()], dtype=dtype, input_shape=self.x.shape[1:])
        net.theta = theta
        return net

    def forward(self, x, theta):
        dtype = "complex128" if np.iscomplexobj(x) or np.iscomplexobj(theta) else "float64"
        return self.at(theta, dtype).layers[0].forward(x.astype(dtype))[0]

    def input_jacobian(self, x, theta):
        """(S, out, in) by complex steps."""
        columns = [self.forward(x + 1j * STEP * e, theta).imag / STEP for e in np.eye(x.shape[1])]
        return np.stack(columns, axis=-1)

    def parameter_jacobian(self):
        """(S, out, p) by complex steps."""
        columns = [self.forward(self.x, self.theta + 1j * STEP * e).imag / STEP
                   for e in np.eye(self.theta.size)]
        return np.stack(columns, axis=-1) if columns else np.empty((*self.y_bar.shape, 0))

    def curve(self, t, second=0.0):
        """Inputs and parameters on the curve of the tangents, at t (which may be complex)."""
        x = self.x + t * self.x_tangent + second * t**2 / 2 * self.x_second
        return x, self.theta + (t * self.theta_tangent if self.theta_tangent is not None else 0 * t)


@pytest.fixture(params=sorted(MIDDLE), scope="module")
def bench(request):
    return Bench(MIDDLE[request.param][0])


def test_forward(bench):
    with decimal.localcontext() as context:
        context.prec = 50
        theta = derivations.decimals(bench.theta)
        exact = [derivations.run_layers([bench.layer], row, iter(theta))
                 for row in derivations.decimals(bench.x)]
    y, saved = bench.layer.forward(bench.x)
    assert relative(y, derivations.floats(exact)) < 2e-15
    assert kept(saved, "input") is bench.x and kept(saved, "output", -1) is y


def kept(saved, name, place=0):
    return getattr(saved[place] if isinstance(saved, list) else saved, name)


def test_tangent(bench):
    Jx, Jt = bench.input_jacobian(bench.x, bench.theta), bench.parameter_jacobian()
    from_x = np.einsum("sij,sj->si", Jx, bench.x_tangent)
    from_theta = Jt @ (bench.theta_tangent if bench.theta_tangent is not None else np.zeros(0))
    layer, saved = bench.layer, bench.saved
    assert relative(layer.flat_tangent(saved, bench.x_tangent, None)[0], from_x) < 1e-13
    if layer.size:
        y_tangent, moved = layer.flat_tangent(saved, None, bench.theta_tangent)
        assert relative(y_tangent, from_theta) < 1e-13 and moved.x_tangent is None
    y_tangent, moved = layer.flat_tangent(saved, bench.x_tangent, bench.theta_tangent)
    assert relative(y_tangent, from_x + from_theta) < 1e-13
    assert moved.x_tangent is bench.x_tangent or isinstance(layer, Chain)


def test_backward(bench):
    """Whole, in halves, flat: the same numbers, for one gradient and for several."""
    Jx, Jt = bench.input_jacobian(bench.x, bench.theta), bench.parameter_jacobian()
    layer, saved, y_bar = bench.layer, bench.saved, bench.y_bar
    x_bar, *bars = layer.backward(saved, y_bar)
    assert relative(x_bar, np.einsum("sij,si->sj", Jx, y_bar)) < 1e-13
    assert np.array_equal(layer.input_gradient(saved, y_bar), x_bar)
    several = np.stack([y_bar, bench.y_bar_tangent, 2 * y_bar])  # as many as samples
    assert relative(layer.input_gradient(saved, several)[::2], np.stack([x_bar, 2 * x_bar])) < 1e-13
    assert len(bars) == len(layer.parameters) + len(layer.children)
    if layer.size:
        expected = np.einsum("sip,si->p", Jt, y_bar)
        theta_bar = layer.parameter_gradient(saved, y_bar)
        assert theta_bar.shape == (layer.size,) and relative(theta_bar, expected) < 1e-13
        assert relative(layer.parameter_gradient(saved, several)[2], 2 * expected) < 1e-13
        for piece, bar in zip(layer.split(theta_bar), bars):
            assert piece is None or np.array_equal(piece, bar)
    else:
        assert layer.parameter_gradient(saved, y_bar).size == 0


def test_parameter_gradients(bench):
    rows = bench.layer.flat_parameter_gradients(bench.saved, bench.y_bar)
    assert rows.shape == (SAMPLES, bench.layer.size)
    if bench.layer.size:
        assert relative(rows, np.einsum("sip,si->sp", bench.parameter_jacobian(),
                                        bench.y_bar)) < 1e-13


@pytest.mark.parametrize("moves", ["input", "parameters", "both"])
def test_second_tangent(bench, moves):
    """Second derivative along x + t x_tangent + t^2/2 x_second, theta + t theta_tangent, from
    `forward` alone."""
    layer = bench.layer
    x_tangent, x_second = (None, None) if moves == "parameters" else (bench.x_tangent,
                                                                      bench.x_second)
    theta_tangent = None if moves == "input" else bench.theta_tangent
    if x_tangent is None and theta_tangent is None:
        return  # nothing moves
    moved = layer.flat_tangent(bench.saved, x_tangent, theta_tangent)[1]
    ours = layer.second_tangent(bench.saved, moved, x_second)

    def velocity(t):
        t = t[0] + 1j * STEP
        x, theta = bench.curve(t, second=1.0)
        x = bench.x if x_tangent is None else x
        theta = bench.theta if theta_tangent is None else theta
        return bench.forward(x, theta).imag / STEP

    difference = central(velocity, np.zeros(1))
    assert ours.shape == bench.y_bar.shape
    assert difference.excess(ours[..., None]) <= 1
    several = [None if a is None else np.stack([a] * SAMPLES) for a in
               (x_tangent, theta_tangent, x_second)]
    moved = layer.flat_tangent(bench.saved, *several[:2])[1]
    for one in layer.second_tangent(bench.saved, moved, several[2]):
        assert relative(one, ours) < 1e-13


@pytest.mark.parametrize("moves", ["input", "parameters", "both"])
def test_backward_tangent(bench, moves):
    """The derivative of `backward` while x, theta and y_bar move, by a complex step through
    `backward`; as many directions as samples."""
    layer, saved = bench.layer, bench.saved
    x_tangent = bench.x_tangent if moves in ("input", "both") else None
    theta_tangent = bench.theta_tangent if moves in ("parameters", "both") else None
    if x_tangent is None and theta_tangent is None:
        return  # nothing moves
    t = 1j * STEP
    x, theta = bench.curve(t)
    x = bench.x.astype(complex) if x_tangent is None else x
    theta = bench.theta if theta_tangent is None else theta
    other = bench.at(theta, "complex128").layers[0]
    there = other.forward(x)[1]
    y_bar = bench.y_bar + t * bench.y_bar_tangent
    expected = [other.input_gradient(there, y_bar).imag / STEP]
    if layer.size:
        expected.append(other.parameter_gradient(there, y_bar).imag / STEP)
    moved = layer.flat_tangent(saved, x_tangent, theta_tangent)[1]
    whole = layer.backward_tangent(saved, moved, bench.y_bar, bench.y_bar_tangent)
    assert relative(whole[0], expected[0]) < 1e-13
    scales = np.array([1.0, -2.0, 0.5])

    def along(a):
        return None if a is None else np.multiply.outer(scales, a)

    moved = layer.flat_tangent(saved, along(x_tangent), along(theta_tangent))[1]
    out = np.empty((SAMPLES, layer.size)) if layer.size else None
    x_bars = layer.flat_backward_tangent(saved, moved, bench.y_bar, along(bench.y_bar_tangent),
                                         out, needed=True)
    for k, scale in enumerate(scales):
        assert relative(x_bars[k], scale * expected[0]) < 1e-13
        if layer.size:
            assert relative(out[k], scale * expected[1]) < 1e-13


def test_input_hessian(bench):
    """sum_ij J_ia H_ij J_jb + sum_i y_bar_i d^2 y_i / dx_a dx_b, index by index."""
    J = bench.input_jacobian(bench.x, bench.theta)
    width, outs = J.shape[2], J.shape[1]
    # all samples move alike
    second = central(lambda e: bench.input_jacobian(bench.x + e, bench.theta), np.zeros(width))
    expected, error = np.zeros((SAMPLES, width, width)), np.zeros((SAMPLES, width, width))
    for s in range(SAMPLES):
        for a in range(width):
            for b in range(width):
                expected[s, a, b] = sum(J[s, i, a] * bench.H_y[s, i, j] * J[s, j, b]
                                        for i in range(outs) for j in range(outs))
                expected[s, a, b] += sum(bench.y_bar[s, i] * second.value[s, i, a, b]
                                         for i in range(outs))
                error[s, a, b] = sum(abs(bench.y_bar[s, i]) * second.error[s, i, a, b]
                                     for i in range(outs)) + 1e-13
    ours = bench.layer.input_hessian(bench.saved, bench.y_bar, bench.H_y)
    assert ours.shape == expected.shape and np.all(np.abs(ours - expected) <= error)
    assert relative(ours, ours.transpose(0, 2, 1)) < 1e-14


# -- single layers ----------------------------------------------------------------


def test_initialisers():
    rng = np.random.default_rng(0)
    layer = Linear(400, 100, rng=rng)
    for values in (layer.weight, layer.bias):
        assert 0.8 / 20 < np.abs(values).max() <= 1 / 20 and abs(values.mean()) < 0.01
    layer = Linear(400, 100, init="xavier", rng=rng)
    ends = np.sqrt(6 / 500) * np.array([-1, 1])
    assert np.allclose([layer.weight.min(), layer.weight.max()], ends, rtol=1e-3)
    assert abs(layer.weight.mean()) < 0.02 * ends[1]
    assert 0.99 * np.sqrt(6 / 500) < np.abs(layer.weight).max() <= np.sqrt(6 / 500)
    assert not layer.bias.any()
    layer = Linear(400, 100, init=0.7, rng=rng)
    assert 0.69 < layer.weight.max() <= 0.7 and -0.7 <= layer.weight.min() < -0.69
    assert 0.6 < np.abs(layer.bias).max() <= 0.7
    layer = Linear(
        4, 3, init=lambda shape, fan_in, fan_out, rng: np.full(shape, fan_in + 10 * fan_out)
    )
    assert (layer.weight == 34).all() and (layer.bias == 34).all()


# -- a user's own layer ----------------------------------------------------------------


@pytest.mark.parametrize("name, arguments", [
    ("forward", 1), ("backward", 2), ("parameter_gradients", 2), ("tangent", 2),
    ("second_tangent", 3), ("backward_tangent", 4), ("input_hessian", 3)])
def test_a_missing_pass_is_named(name, arguments):
    mine = type("Mine", (Layer,), {})()
    mine.declare("gain", 1.0)
    with pytest.raises(TypeError, match=f"Mine does not define the pass {name}"):
        getattr(mine, name)(*[0] * arguments)


class Square(Layer):
    """y = w x^2 + b, entry by entry, as an author writes it: one direction, one batch."""

    input_shape = (4,)

    def __init__(self, trainable=True, listed=False):
        super().__init__(trainable)
        self.listed = listed
        self.declare("w", [1.0, -0.5, 2.0, 0.3])
        self.declare("b", np.zeros(4))

    def forward(self, x):
        return self.parameters["w"] * x**2 + self.parameters["b"], x

    def backward(self, x, y_bar):
        assert y_bar.shape == x.shape
        bars = (y_bar * x**2).sum(axis=0), y_bar.sum(axis=0)
        x_bar = 2 * y_bar * self.parameters["w"] * x
        return (x_bar, [*bars]) if self.listed else (x_bar, *bars)

    def parameter_gradients(self, x, y_bar):
        return y_bar * x**2, y_bar

    def tangent(self, x, x_tangent, v, c):
        assert x_tangent.shape == x.shape and v.shape == c.shape == (4,)
        return 2 * self.parameters["w"] * x * x_tangent + v * x**2 + c, "left here"

    def backward_tangent(self, x, moved, y_bar, y_bar_tangent):
        (v, _), t, w = moved.theta_tangents, moved.x_tangent, self.parameters["w"]
        assert moved.left == "left here" and y_bar_tangent.shape == x.shape
        return (2 * (y_bar_tangent * w * x + y_bar * v * x + y_bar * w * t),
                (y_bar_tangent * x**2 + y_bar * 2 * x * t).sum(axis=0), y_bar_tangent.sum(axis=0))

    def second_tangent(self, x, moved, x_second):
        (v, _), t, w = moved.theta_tangents, moved.x_tangent, self.parameters["w"]
        return 2 * w * x * x_second + 4 * v * x * t + 2 * w * t**2

    def input_hessian(self, x, y_bar, H_y):
        J = 2 * self.parameters["w"] * x
        return (J[:, :, None] * H_y * J[:, None, :]
                + np.einsum("sj,jk->sjk", 2 * y_bar * self.parameters["w"], np.eye(4)))


@pytest.mark.parametrize("layers", [
    [Square(), Linear(4, 4, rng=0), Square(listed=True)],
    [Linear(4, 4, rng=0), Square(trainable=False), Skip([Square(), Linear(4, 4, rng=1)])],
    [Skip([Linear(4, 4, rng=0)]), Chain([Square(), Activation("tanh")])]],
    ids=["plain", "fixed", "nested"])
def test_an_authors_layer_knows_one_direction_only(layers):
    """It stands first, in the middle, last, fixed, inside others; the network is none the wiser."""
    net, rng = Network([layer.copy() for layer in layers]), np.random.default_rng(0)
    x, y = rng.normal(size=(2, 5, 4))
    loss, V = so.SquaredError(), rng.normal(size=(net.size, 5))
    objective = finite_differences.objective(net, loss, x, y)
    assert central(objective, net.theta).excess(so.exact.gradient(net, loss, x, y)) <= 1
    H = so.exact.hessian(net, loss, x, y)
    at = finite_differences.gradient_of_objective(net, loss, x, y)
    assert central(at, net.theta).excess(H) <= 1
    assert relative(so.exact.HessianOperator(net, loss, x, y) @ V, H @ V) < 1e-13
    rows = so.exact.sample_gradients(net, loss, x, y)
    assert relative(rows.mean(axis=0), so.exact.gradient(net, loss, x, y)) < 1e-14
    assert so.exact.two_jet(net, loss, x, y, V[:, 0])[2] == pytest.approx(V[:, 0] @ H @ V[:, 0],
                                                                          rel=1e-13)


@pytest.mark.parametrize("wrong, error", [(lambda bars: bars[:1], TypeError),
                                          (lambda bars: [bars[0][:1], bars[1]], ValueError)])
def test_what_an_authors_backward_returns_is_looked_at(wrong, error):
    class Wrong(Square):
        def backward(self, x, y_bar):
            x_bar, *bars = super().backward(x, y_bar)
            return x_bar, *wrong(bars)

    with pytest.raises(error, match="backward|expected"):
        so.exact.gradient(Network([Wrong()]), so.SquaredError(), np.ones((2, 4)), np.ones((2, 4)))


def test_what_decides_shapes_is_not_set_afterwards_and_all_else_is_taken():
    conv, norm = Conv2d(1, 2, 3, rng=0), LayerNorm(3)
    for layer, name in ((conv, "padding"), (MaxPool2d(2), "stride"), (norm, "shape"),
                        (Linear(2, 3), "in_features"), (Recurrent(2, 3, rng=0), "hidden_size"),
                        (Chain([norm]), "layers"), (Reshape(4, (2, 2)), "input_shape"),
                        (so.mlp([2, 2]), "dtype")):
        with pytest.raises(AttributeError, match=name):
            setattr(layer, name, 2)
    x = np.random.default_rng(0).normal(size=(4, 3))
    norm.epsilon = 0.5
    assert np.array_equal(norm.forward(x)[0], LayerNorm(3, epsilon=0.5).forward(x)[0])
    layer = Recurrent(3, steps=2, rng=0)
    layer.steps, layer.activation = 3, "softplus"
    other = Recurrent(3, steps=3, activation="softplus", rng=0)
    assert np.array_equal(layer.forward(x)[0], other.forward(x)[0])
    for layer, name, bad in ((norm, "epsilon", 0), (layer, "steps", 0)):
        with pytest.raises(ValueError, match=name):
            setattr(layer, name, bad)


def test_a_declared_parameter_is_an_attribute_and_lives_in_theta():
    class Shift(Layer):
        def __init__(self):
            super().__init__()
            self.declare("b", np.zeros(3))

        def forward(self, x):
            return x + self.b, x

    net = Network([Shift()], input_shape=(3,))
    net.layers[0].b = [1, 2, 3]
    assert net.theta.tolist() == [1, 2, 3] and net.layers[0].copy().b.tolist() == [1, 2, 3]
    net.theta = [4, 5, 6]
    assert net.layers[0].b.tolist() == [4, 5, 6] and np.shares_memory(net.layers[0].b, net.theta)
    with pytest.raises(ValueError, match="b of Shift"):
        net.layers[0].b = [1, 2]
    with pytest.raises(AttributeError, match="'c'"):
        net.layers[0].c


class Soft(Layer):
    """Two passes: y_i = g_i x_i / sqrt(1 + |x|^2), or with |x_i| in its place."""

    input_shape = (3,)

    def __init__(self, bent=False):
        super().__init__()
        self.bent = bent
        self.declare("g", [1.0, -0.5, 2.0])

    def forward(self, x):
        root = np.sqrt(1 + (x * x).sum(axis=1, keepdims=True))
        above = np.abs(x) if self.bent else x  # abs of a complex number is no analytic function
        return self.parameters["g"] * above / root, (x, above, root)

    def backward(self, saved, y_bar):
        (x, above, root), g = saved, self.parameters["g"]
        slope = np.sign(x.real) if self.bent else 1
        along = (y_bar * g * above).sum(axis=1, keepdims=True)
        return y_bar * g * slope / root - x * along / root**3, (y_bar * above / root).sum(axis=0)


@pytest.mark.parametrize("bent", [False, True])
def test_two_passes_are_enough(bent, capsys):
    """The others come from differences, a hundred thousandth of what float64 has at worst."""
    rng = np.random.default_rng(0)
    net = Network([Linear(4, 3, rng=0), Soft(bent), Activation("tanh"), Linear(3, 2, rng=1)])
    loss, (x, y) = so.SquaredError(), (rng.normal(size=(5, 4)), rng.normal(size=(5, 2)))
    at = finite_differences.gradient_of_objective(net, loss, x, y)
    H = so.exact.hessian(net, loss, x, y)
    assert relative(H, central(at, net.theta).value) < 1e-7
    V = rng.normal(size=(net.size, 3))
    assert relative(so.exact.HessianOperator(net, loss, x, y) @ V, H @ V) < 1e-10
    rows = so.exact.sample_gradients(net, loss, x, y)
    assert relative(rows.mean(axis=0), so.exact.gradient(net, loss, x, y)) < 1e-14
    v = V[:, 0]
    assert so.exact.two_jet(net, loss, x, y, v)[2] == pytest.approx(v @ H @ v, rel=1e-7)
    evaluation = net.evaluate(loss, x, y)
    H_y = loss.hessian(evaluation.outputs, evaluation.y)
    found = net.chain.input_hessian(evaluation.saved, evaluation.deltas[-1], H_y)

    def input_gradient(x):
        there = net.evaluate(loss, x.reshape(5, 4), y)
        return net.chain.input_gradient(there.saved, there.deltas[-1])

    for j, e in enumerate(np.eye(4)):
        columns = (input_gradient(x + 1e-6 * e) - input_gradient(x - 1e-6 * e)) / 2e-6
        assert relative(found[:, :, j], columns) < 1e-7
    assert net.chain.parts[1].numerical.analytic["backward_tangent"] == (not bent)
    net.summary()
    assert "tangent, second_tangent, backward_tangent, input_hessian by" in capsys.readouterr().out
    small = net.astype("float32")
    assert so.exact.hessian(small, loss, x, y).dtype == np.float32
