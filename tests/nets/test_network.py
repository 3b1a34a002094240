"""Networks: one flat parameter vector, live views, copies that stay whole, and what an Evaluation
holds."""

import copy
import pickle

import numpy as np
import pytest

import secondorder as so
from harness import derivations
from harness.cases import network, relative, targets
from secondorder.nets import Activation, Chain, Linear, Network, Skip, Tanh


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
    return (rng.normal(size=(samples, *net.input_shape)),
            rng.normal(size=(samples, *net.output_shape)))


# -- one flat vector -------------------------------------------------------------------------------


def assert_whole(net):
    """Every trainable parameter is a writable view of theta, at its own place, and the forward pass
    sees it."""
    net.theta = np.arange(net.size, dtype=net.dtype) / net.size
    place = 0
    for layer in linears(net):
        for p in layer.parameters.values():
            assert np.shares_memory(p, net.theta) == layer.trainable
            assert p.flags.writeable and p.dtype == net.dtype and layer.owner() is net
            if layer.trainable:
                assert np.array_equal(p.ravel(), net.theta[place:place + p.size])
                place += p.size
    assert place == net.size == 37
    x, _ = batch(net)
    before = net(x)
    assert relative(before, derivations.outputs(net, x)) < (1e-14 if net.dtype == np.float64
                                                            else 1e-5)
    linears(net)[0].weight[0, 0] += 1
    assert net.theta[0] == 1 and not np.array_equal(net(x), before)


COPIES = {
    "copy.copy": copy.copy,
    "deepcopy-in-a-list": lambda net: copy.deepcopy([net, net.layers[0]])[0],
    "pickle": lambda net: pickle.loads(pickle.dumps(net)),
    "float32": lambda net: net.astype("float32"),
    "rebuilt-from-copied-layers": lambda net: Network([layer.copy() for layer in net.layers]),
}


@pytest.mark.parametrize("how", COPIES)
def test_copies_are_whole_and_independent(how):
    net = deep()
    home, (x, _) = net.theta.copy(), batch(net)
    here, twin = net(x), COPIES[how](net)
    assert relative(twin(x), here) < (1e-15 if how != "float32" else 1e-6)
    assert np.array_equal(twin.theta, home.astype(twin.dtype))
    assert repr(twin.layers) == repr(net.layers)
    assert_whole(twin)
    assert np.array_equal(net.theta, home) and np.array_equal(net(x), here)
    assert_whole(net)


def test_assigning_weight_bias_and_theta_copies_in_place():
    net = so.mlp([3, 2, 2], rng=0)
    theta, layer = net.theta, net.layers[0]
    weight, bias, given = layer.weight, layer.bias, np.arange(6.0).reshape(2, 3)
    layer.weight, layer.bias = given, [8, 9]
    assert layer.weight is weight and layer.bias is bias and net.theta is theta
    assert np.array_equal(theta[:8], [0, 1, 2, 3, 4, 5, 8, 9])
    vector = np.linspace(0, 1, net.size)
    net.theta = vector
    given[...] = vector[...] = -1
    assert net.theta is theta and theta.min() == 0
    assert np.array_equal(weight, theta[:6].reshape(2, 3)) and np.array_equal(bias, theta[6:8])
    layer.parameters["weight"] = np.full((2, 3), 0.25)
    assert layer.weight is weight and (theta[:6] == 0.25).all()


@pytest.mark.parametrize("part, value, error", [
    ("theta", np.zeros((8, 1)), ValueError), ("theta", np.zeros(8) * 1j, TypeError),
    ("theta", np.array(["1"] * 8), TypeError), ("weight", np.zeros((3, 2)), ValueError),
    ("bias", np.zeros(1), ValueError)])
def test_what_does_not_fit_changes_nothing(part, value, error):
    net = so.mlp([3, 2], rng=0)
    before = net.theta.copy()
    with pytest.raises(error, match=f"^{part}"):
        setattr(net if part == "theta" else net.layers[0], part, value)
    assert np.array_equal(net.theta, before)


# -- who owns a layer, and what a network takes ----------------------------------------------------


@pytest.mark.parametrize("build", [lambda a: [a, Activation("tanh"), a], lambda a: [a, Skip([a])],
                                   lambda a: [Chain([a]), a]])
def test_a_layer_stands_in_one_place(build):
    layer = Linear(3, 3, rng=0)
    with pytest.raises(ValueError, match="twice"):
        Network(build(layer))
    first = Network([layer])  # the refusal left the layer free
    for layers in ([layer], [Skip([layer])]):
        with pytest.raises(ValueError, match="another network"):
            Network(layers)
    del first
    assert Network([layer], dtype="float32")(np.ones((1, 3))).dtype == np.float32


def test_mlp_alternates_linear_and_activation():
    net = so.mlp([5, 4, 3, 2], activation="relu")
    assert [type(layer) for layer in net.layers] == [Linear, Activation, Linear, Activation, Linear]
    assert net.input_shape == (5,) and net.output_shape == (2,) and net.size == 24 + 15 + 8
    net = so.mlp([5, 4, 2], activation=Tanh(), output="sigmoid", bias=False, rng=4)
    names = [layer.function.name for layer in net.layers[1::2]]
    assert names == ["tanh", "sigmoid"] and net.size == 20 + 8
    assert np.array_equal(net.theta, so.mlp([5, 4, 2], bias=False,
                                            rng=np.random.default_rng(4)).theta)
    assert not so.mlp([3, 2], init="xavier").layers[0].bias.any()


class Halves(so.Layer):
    """Every second entry of the last axis: takes any shape, and changes it."""

    def output_shape(self, input_shape):
        return (*input_shape[:-1], input_shape[-1] // 2)

    def forward(self, x):
        return x[..., ::2], x


@pytest.mark.parametrize("front, found", [
    ([Activation("tanh")], (3,)), ([Skip([Activation("tanh")])], (3,)),
    ([Halves()], None), ([Chain([Activation("tanh"), Halves()])], None)])
def test_an_input_shape_is_taken_through_layers_that_keep_it_alone(front, found):
    layers = [*(layer.copy() for layer in front), Linear(3, 2, rng=0)]
    if found:
        assert Network(layers).input_shape == found
    else:
        with pytest.raises(ValueError, match="input_shape"):
            Network(layers)
        assert Network(layers, input_shape=(6,))(np.ones((4, 6))).shape == (4, 2)


# -- evaluations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("middle", ["linear", "skip-nested", "sigmoid", "chain"])
def test_deltas_are_gradients_in_the_layers_outputs(middle):
    """Of each sample's own loss, not divided by S: shift one layer's output and run the rest of the
    network."""
    net, loss = network(middle, np.random.default_rng(2)), so.SoftmaxCrossEntropy()
    x, _ = batch(net)
    y = targets(loss, np.random.default_rng(3), len(x))
    e = net.evaluate(loss, x, y)
    assert np.array_equal(e.outputs, net(x)) and np.array_equal(e.losses, loss.value(net(x), y))
    assert e.loss == pytest.approx(sum(e.losses) / 5, rel=1e-15) and e.samples == 5
    twin = net.astype("complex128")
    for i, delta in enumerate(e.deltas):
        for unit in range(delta.shape[1]):
            rows = x.astype(complex)
            for k, layer in enumerate(twin.layers):
                rows = layer.forward(rows)[0]
                if k == i:
                    rows = rows + 1e-30j * np.eye(delta.shape[1])[unit]
            assert relative(delta[:, unit], loss.value(rows, y).imag / 1e-30) < 1e-13


@pytest.mark.parametrize("part", ["deltas", "gradient"])
@pytest.mark.parametrize("layer", [0, 2])
def test_a_stale_evaluation_refuses(part, layer):
    """Also where a layer changed that is not trained."""
    net = deep()
    e = net.evaluate(so.SquaredError(), *batch(net))
    twin = copy.deepcopy(e)
    net.layers[layer].weight[0, 0] += 1e-12
    with pytest.raises(RuntimeError, match="changed"):
        getattr(e, part)
    assert np.isfinite(twin.gradient).all()


def test_what_is_not_finite_or_has_another_dtype_names_its_layer():
    class Upcasting(Tanh):
        def value(self, x):
            return np.tanh(x) / np.sqrt(np.float64(2))

    net = Network([Linear(3, 2, rng=0), Activation(Upcasting())], dtype="float32")
    with pytest.raises(TypeError, match=r"layer 1, Activation\(tanh\)"):
        net(np.ones((1, 3)))
    net = so.mlp([3, 2, 2], activation="identity", rng=0)
    net.layers[2].weight[...] = 1e200
    with pytest.raises(FloatingPointError, match="layer 2, Linear"):
        net(np.full((1, 3), 1e200))
