"""Networks: one flat parameter vector, live views, copies that stay whole, and what an Evaluation
holds."""

import copy
import pickle

import numpy as np
import pytest

from harness import derivations
import secondorder as so
from harness.cases import network, relative, targets
from secondorder.nets import Activation, Chain, Evaluation, Linear, Network, Reshape, Skip, Tanh


def deep(rng=0):
    """Every kind of nesting: frozen layers, skips in skips, no bias; 27 + 8 parameters."""
    r = np.random.default_rng(rng)
    return Network([Linear(3, 4, rng=r), Activation("tanh"), Linear(4, 3, trainable=False, rng=r),
                    Skip([Linear(3, 2, bias=False, rng=r),
                          Skip([Activation("sin"), Linear(2, 2, trainable=False, rng=r)]),
                          Linear(2, 3, rng=r)]), Linear(3, 2, bias=False, rng=r)])


def linears(net):
    return [layer for layer in net.chain.sublayers() if isinstance(layer, Linear)]


def batch(net, samples=5, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(samples,
                            *net.input_shape)), rng.normal(size=(samples, *net.output_shape))


# -- one flat vector ----------------------------------------------------------------


def test_theta_is_weight_then_bias_layer_by_layer():
    net = deep()
    trained = [layer for layer in linears(net) if layer.trainable]
    expected = [p for layer in trained for p in (layer.weight, layer.bias) if p is not None]
    assert np.array_equal(net.theta, np.concatenate([p.ravel() for p in expected]))
    assert net.size == net.theta.size == 16 + 6 + 9 + 6
    assert net.slices == [slice(0, 16), slice(16, 16), slice(16, 16), slice(16, 31), slice(31, 37)]


def assert_whole(net):
    """Every trainable parameter is a writable view of theta, at its own place, and the forward pass
    sees it."""
    for layer in linears(net):
        for p in layer.parameters.values():
            assert np.shares_memory(p, net.theta) == layer.trainable
            assert p.flags.writeable
            assert p.dtype == net.dtype
            assert layer.owner() is net
    net.theta = np.arange(net.size, dtype=net.dtype) / net.size
    place = 0
    for layer in linears(net):
        for p in layer.parameters.values() if layer.trainable else ():
            assert np.array_equal(p.ravel(), net.theta[place:place + p.size])
            place += p.size
    assert place == net.size
    x, _ = batch(net)
    before = net(x)
    assert relative(before, derivations.outputs(net, x)) < (1e-14 if net.dtype == np.float64
                                                            else 1e-5)
    linears(net)[0].weight[0, 0] += 1
    assert net.theta[0] == 1 and not np.array_equal(net(x), before)


def test_a_new_network_is_whole():
    assert_whole(deep())


COPIES = {
    "copy": lambda net: net.copy(),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy-in-a-list": lambda net: copy.deepcopy([net, net.layers[0]])[0],
    "pickle": lambda net: pickle.loads(pickle.dumps(net)),
    "float32": lambda net: net.astype("float32"),
    "rebuilt-from-copied-layers": lambda net: Network([layer.copy() for layer in net.layers]),
}


@pytest.mark.parametrize("how", sorted(COPIES))
def test_copies_are_whole_and_independent(how):
    net = deep()
    home, (x, _) = net.theta.copy(), batch(net)
    here = net(x)
    twin = COPIES[how](net)
    assert relative(twin(x), here) < (1e-15 if how != "float32" else 1e-6)
    assert np.array_equal(twin.theta,
                          home.astype(twin.dtype)) and not np.shares_memory(twin.theta, net.theta)
    assert repr(twin.layers) == repr(net.layers)
    assert_whole(twin)
    assert np.array_equal(net.theta, home) and np.array_equal(net(x), here)
    assert_whole(net)
    for mine, theirs in zip(linears(net), linears(twin)):
        assert mine is not theirs and not np.shares_memory(mine.weight, theirs.weight)


def test_copying_an_evaluation_keeps_it_consistent():
    net = deep()
    evaluation = net.evaluate(so.SquaredError(), *batch(net))
    twin = copy.deepcopy(evaluation)
    net.theta = net.theta * 0
    assert np.isfinite(twin.gradient).all() and twin.network is not net
    with pytest.raises(RuntimeError, match="changed"):
        evaluation.gradient


# -- assignment ----------------------------------------------------------------


def test_assigning_weight_bias_and_theta_copies_in_place():
    net = so.mlp([3, 2, 2], rng=0)
    theta, layer = net.theta, net.layers[0]
    weight, bias = layer.weight, layer.bias
    given = np.arange(6.0).reshape(2, 3)
    layer.weight, layer.bias = given, [8, 9]
    assert layer.weight is weight and layer.bias is bias and net.theta is theta
    assert np.array_equal(theta[:8], [0, 1, 2, 3, 4, 5, 8, 9])
    given[...] = -1
    assert theta[0] == 0
    vector = np.linspace(0, 1, net.size)
    net.theta = vector
    assert net.theta is theta
    assert np.array_equal(weight, vector[:6].reshape(2, 3))
    assert np.array_equal(bias, vector[6:8])
    vector[...] = 7
    assert theta[-1] == 1


@pytest.mark.parametrize("assign, shape", [
    (lambda net: setattr(net, "theta", np.zeros((8, 1))), r"\(8, 1\), expected \(8,\)"),
    (lambda net: setattr(net, "theta", 0.0), r"\(\), expected \(8,\)"),
    (lambda net: setattr(net.layers[0], "weight", np.zeros((3, 2))),
     r"weight .*\(3, 2\), expected \(2, 3\)"),
    (lambda net: setattr(net.layers[0], "bias", np.zeros(1)), r"bias .*\(1,\), expected \(2,\)"),
])
def test_wrong_shapes_are_refused_and_nothing_changes(assign, shape):
    net = so.mlp([3, 2], rng=0)
    before = net.theta.copy()
    with pytest.raises(ValueError, match=shape):
        assign(net)
    assert np.array_equal(net.theta, before)


@pytest.mark.parametrize("value", [np.zeros(8) * 1j, np.array(["1"] * 8), np.array([None] * 8)])
def test_wrong_dtypes_are_refused(value):
    net = so.mlp([3, 2], rng=0)
    before = net.theta.copy()
    with pytest.raises(TypeError, match="theta must hold float64"):
        net.theta = value
    with pytest.raises(TypeError, match="weight .* must hold float64"):
        net.layers[0].weight = value[:6].reshape(2, 3)
    assert np.array_equal(net.theta, before)


def test_a_layer_without_bias_takes_none():
    layer = so.mlp([3, 2], bias=False, rng=0).layers[0]
    assert layer.bias is None
    with pytest.raises(ValueError, match="without a bias"):
        layer.bias = np.zeros(2)


# -- who owns a layer ----------------------------------------------------------------


@pytest.mark.parametrize("build", [
    lambda a: [a, Activation("tanh"), a],
    lambda a: [a, Skip([a])],
    lambda a: [Skip([Activation("tanh"), a]), Skip([Skip([a])])],
    lambda a: [Chain([a]), a],
])
def test_one_layer_twice_is_refused(build):
    layer = Linear(3, 3, rng=0)
    with pytest.raises(ValueError, match="twice"):
        Network(build(layer))
    Network([layer])  # the refusal left the layer free


def test_one_layer_in_two_networks_is_refused():
    layer = Linear(3, 3, rng=0)
    first = Network([layer])
    theta = first.theta.copy()
    for layers in ([layer], [Skip([layer])], [Linear(3, 3), Chain([layer])], first.layers):
        with pytest.raises(ValueError, match="another network"):
            Network(layers)
    assert np.array_equal(first.theta, theta) and np.shares_memory(layer.weight, first.theta)
    second = Network([layer.copy()])
    second.theta = 0 * theta
    assert np.array_equal(first.theta, theta)


# -- mlp ----------------------------------------------------------------


def test_mlp_alternates_linear_and_activation():
    net = so.mlp([5, 4, 3, 2], activation="relu")
    assert [type(layer) for layer in net.layers] == [Linear, Activation, Linear, Activation, Linear]
    assert net.input_shape == (5,) and net.output_shape == (2,) and net.size == 24 + 15 + 8
    assert {layer.function.name for layer in net.layers[1::2]} == {"relu"}
    net = so.mlp([5, 4, 2], activation=Tanh(), output="sigmoid", bias=False)
    names = [layer.function.name if isinstance(layer, Activation) else "linear"
             for layer in net.layers]
    assert names == ["linear", "tanh", "linear", "sigmoid"]
    assert net.size == 20 + 8
    assert len(so.mlp([5, 2]).layers) == 1


class Halves(so.Layer):
    """Every second entry of the last axis: takes any shape, and changes it."""

    def output_shape(self, input_shape):
        return (*input_shape[:-1], input_shape[-1] // 2)

    def forward(self, x):
        y = x[..., ::2]
        return y, so.nets.LinearSaved(x, y)


@pytest.mark.parametrize("made", [
    lambda linear: [Halves(), linear], lambda linear: [Activation("tanh"), Halves(), linear],
    lambda linear: [Chain([Activation("tanh"), Halves()]), linear],
    lambda linear: [Chain([Halves(), linear])]])
def test_an_input_shape_is_not_taken_from_behind_a_layer_that_changes_it(made):
    with pytest.raises(ValueError,
                       match=r"input_shape must be given, as .*Halves.* takes inputs of more than "
                             r"one"):
        Network(made(Linear(3, 2, rng=0)))
    net = Network(made(Linear(3, 2, rng=0)), input_shape=(6,))
    assert net.input_shape == (6,) and net(np.ones((4, 6))).shape == (4, 2)
    with pytest.raises(ValueError,
                       match=r"Linear\(3, 2\) takes an input of shape \(3,\), got \(4,\)"):
        Network(made(Linear(3, 2, rng=0)), input_shape=(8,))


@pytest.mark.parametrize("made", [
    lambda linear: [Activation("tanh"), linear],
    lambda linear: [Chain([Activation("tanh")]), Chain([linear])],
    lambda linear: [Skip([Activation("tanh")]), linear], lambda linear: [linear, Halves()]])
def test_an_input_shape_is_taken_through_layers_that_keep_it(made):
    assert Network(made(Linear(3, 2, rng=0))).input_shape == (3,)


def test_an_input_shape_that_nobody_states():
    with pytest.raises(ValueError, match="input_shape must be given, as no layer states its own"):
        Network([Activation("tanh"), Skip([Activation("sin")])])


def test_mlp_is_drawn_from_its_rng():
    assert np.array_equal(so.mlp([3, 2, 2], rng=4).theta,
                          so.mlp([3, 2, 2], rng=np.random.default_rng(4)).theta)
    assert not np.array_equal(so.mlp([3, 2, 2], rng=4).theta, so.mlp([3, 2, 2], rng=5).theta)
    assert not so.mlp([3, 2], init="xavier").layers[0].bias.any()


# -- forward and Evaluation ----------------------------------------------------------------


def test_evaluation_fields():
    net, loss = deep(), so.SquaredError()
    x, y = batch(net)
    e = net.evaluate(loss, x, y)
    assert isinstance(e, Evaluation)
    assert e.network is net
    assert e.loss_function is loss
    assert e.samples == 5
    assert np.array_equal(e.outputs, net(x)) and np.array_equal(e.losses, loss.value(net(x), y))
    assert isinstance(e.loss, float) and e.loss == pytest.approx(sum(e.losses) / 5, rel=1e-15)
    assert len(e.deltas) == len(e.saved) == len(net.layers) and e.gradient.shape == (net.size,)
    assert np.array_equal(e.deltas[-1], e.outputs - y)


@pytest.mark.parametrize("middle", ["linear", "skip-nested", "sigmoid", "chain"])
def test_deltas_are_gradients_in_the_layers_outputs(middle):
    """Of each sample's own loss, not divided by S: shift one layer's output and run the rest of the
    network."""
    net, loss = network(middle, np.random.default_rng(2)), so.SoftmaxCrossEntropy()
    x, _ = batch(net)
    y = targets(loss, np.random.default_rng(3), len(x))
    e = net.evaluate(loss, x, y)
    twin = net.astype("complex128")
    for i, delta in enumerate(e.deltas):
        for unit in range(delta.shape[1]):
            rows = x.astype(complex)
            for k, layer in enumerate(twin.layers):
                rows = layer.forward(rows)[0]
                if k == i:
                    rows = rows + 1e-30j * np.eye(delta.shape[1])[unit]
            assert relative(delta[:, unit], loss.value(rows, y).imag / 1e-30) < 1e-13


def test_a_batch_is_the_mean_of_its_parts():
    net, loss = deep(), so.TukeyBiweight()
    x, y = batch(net, samples=7)
    whole = net.evaluate(loss, x, y)
    parts = [net.evaluate(loss, x[i:i + 1], y[i:i + 1]) for i in range(7)]
    assert whole.loss == pytest.approx(np.mean([p.loss for p in parts]), rel=1e-14)
    assert relative(whole.gradient, np.mean([p.gradient for p in parts], axis=0)) < 1e-14


def test_a_stale_evaluation_refuses():
    net = deep()
    for stale in ("deltas", "gradient"):
        e = net.evaluate(so.SquaredError(), *batch(net))
        net.layers[0].weight[0, 0] += 1e-12
        with pytest.raises(RuntimeError, match="changed"):
            getattr(e, stale)
    e = net.evaluate(so.SquaredError(), *batch(net))
    e.deltas
    net.theta = net.theta + 1
    with pytest.raises(RuntimeError, match="changed"):
        e.gradient


def test_inputs_are_not_changed():
    net = deep()
    x, y = batch(net)
    before = x.copy(), y.copy()
    net.evaluate(so.SquaredError(), x, y).gradient
    assert np.array_equal(x, before[0]) and np.array_equal(y, before[1])


def test_an_evaluation_notices_a_changed_layer_that_is_not_trained():
    net = Network([Linear(2, 3, trainable=False, rng=0), Activation("tanh"), Linear(3, 2, rng=1)])
    evaluation = net.evaluate(so.SquaredError(), np.ones((2, 2)), np.zeros((2, 2)))
    net.layers[0].weight += 1.0
    with pytest.raises(RuntimeError, match="changed since this evaluation"):
        evaluation.gradient


def test_a_layer_can_be_used_again_when_its_network_is_gone():
    layer = Linear(3, 3, trainable=False, rng=0)
    net = Network([layer])
    del net
    again = Network([layer, Linear(3, 2, rng=0)], dtype="float32")
    assert layer.weight.dtype == np.float32 and again(np.ones((1, 3))).dtype == np.float32


@pytest.mark.parametrize("arguments, error, words", [
    ((4, (2, 3)), ValueError, r"\(4,\) and output_shape \(2, 3\) have different numbers"),
    (((2, 0), 0), ValueError, r"input_shape must be at least 1, got 0"),
    ((4, (2.0, 2)), TypeError, "output_shape must be a whole number, got 2.0"),
])
def test_reshape_takes_shapes(arguments, error, words):
    with pytest.raises(error, match=words):
        Reshape(*arguments)
    net = Network([Reshape(6, [1, 2, 3]), Reshape((1, 2, 3), 6)])
    assert repr(net.layers[0]) == "Reshape((6,), (1, 2, 3))" and net.output_shape == (6,)
    with pytest.raises(ValueError, match=r"takes an input of shape \(6,\), got \(4,\)"):
        Network([Linear(3, 4, rng=0), Reshape(6, 6)])
