"""Networks in files, pickles and copies: the same bits, bound again; damage is refused by name."""

import copy
import json
import pickle

import numpy as np
import pytest

import secondorder as so
from harness.cases import MIDDLE, network
from secondorder import files
from secondorder.nets import (Activation, AvgPool2d, Chain, Conv2d, Flatten, LayerNorm, LeakyReLU,
                              Linear, MaxPool2d, Network, Recurrent, Reshape, Skip)

RevMLP, Coupling = so.reversible_gauss_newton.RevMLP, so.reversible_gauss_newton.Coupling


class Scaled(so.Layer):
    """y = factor scale x: a layer of one's own, with an option and a parameter."""

    def __init__(self, width, factor=2.0):
        super().__init__()
        self.input_shape, self.width, self.factor = (width,), width, factor
        self.declare("scale", np.arange(1.0, 1 + width))

    def forward(self, x):
        y = self.factor * self.parameters["scale"] * x
        return y, so.nets.LinearSaved(x, y)


class Bent(so.ActivationFunction):
    """x + bend x^2."""

    def __init__(self, bend):
        self.bend = bend

    def value(self, x):
        return x + self.bend * x * x

    def slope(self, x):
        return 1 + 2 * self.bend * x

    def curvature(self, x):
        return np.full_like(x, 2 * self.bend)


class Named(Network):
    """A network of one's own."""

    def __init__(self, width, rng=None):
        super().__init__([Linear(width, 2, rng=rng)])
        self.width = width


def frozen_chain():
    chain = Chain([Linear(2, 3, rng=0), Activation("sin")])
    chain.trainable = False
    return Network([chain, Linear(3, 1, bias=False, trainable=False, rng=1)], dtype="float32")


def readout():
    return np.random.default_rng(0).normal(size=(2, 6))


NETS = {
    **{name: lambda name=name: network(name, np.random.default_rng(1)) for name in MIDDLE
       if name not in ("chain-image", "chain-sequence")},
    "float32": lambda: so.mlp([3, 4, 2], rng=0, dtype="float32"),
    "frozen": frozen_chain,
    "leaky": lambda: Network([Linear(2, 2, rng=0), Activation(LeakyReLU(0.2))]),
    "given shape": lambda: Network([Activation("tanh")], input_shape=(3, 2)),
    "strides": lambda: Network([
        Conv2d(1, 2, 3, stride=(2, 1), bias=False, rng=0), MaxPool2d(2, stride=1),
        AvgPool2d((1, 2)), Flatten(), Linear(8, 2, rng=0)], input_shape=(1, 8, 7)),
    "recurrence without input": lambda: Network([
        Recurrent(3, steps=4, activation=LeakyReLU(0.3), bias=False, rng=0)]),
    "normalised": lambda: Network([Reshape(6, (2, 3)), LayerNorm((2, 3), epsilon=1e-3),
                                   LayerNorm(3, trainable=False), Reshape((2, 3), 6)]),
    "couplings": lambda: Network([Coupling(4, 3, "second", activation="sin", bias=True, rng=0),
                                  Coupling(4, None, "first", rng=1)]),
    "reversible": lambda: RevMLP(6, 2, 8, rng=0),
    "reversible, odd": lambda: RevMLP(5, 3, 4, activation="tanh", first_activation="identity",
                                      outputs=3, bias=True, rng=1),
    "reversible, own readout": lambda: RevMLP(6, 1, None, activation=LeakyReLU(0.1), outputs=2,
                                              readout=readout(), rng=2, dtype="float32"),
}


def moved(net):
    """The net, away from what a constructor makes."""
    net.theta = net.theta + np.random.default_rng(7).normal(size=net.size).astype(net.dtype)
    return net


def require_same(net, other):
    assert type(net) is type(other) and net is not other
    assert repr(net) == repr(other) and net.dtype == other.dtype
    assert (net.input_shape, net.output_shape) == (other.input_shape, other.output_shape)
    assert np.array_equal(net.theta, other.theta) and other.theta.dtype == net.dtype
    mine, theirs = (list(n.chain.sublayers()) for n in (net, other))
    assert [(type(a), a.trainable, list(a.parameters)) for a in mine] == [
        (type(a), a.trainable, list(a.parameters)) for a in theirs]
    for a, b in zip(mine, theirs):
        for name, value in a.parameters.items():
            assert np.array_equal(value, b.parameters[name])
            assert not np.shares_memory(value, b.parameters[name])
    x = np.random.default_rng(3).normal(size=(3, *net.input_shape))
    assert np.array_equal(net(x), other(x))
    if net.size:
        before, value = net.theta.copy(), other.theta + 1
        other.theta = value
        assert np.array_equal(np.concatenate([
            p.ravel() for layer in other.chain.sublayers() if layer.trainable
            for p in layer.parameters.values()]), value), "weights are views of theta"
        assert np.array_equal(net.theta, before)


@pytest.mark.parametrize("name", NETS)
def test_there_and_back(name, tmp_path):
    net = moved(NETS[name]())
    net.save(tmp_path / "net.npz")
    require_same(net, so.load(tmp_path / "net.npz"))
    assert [path.name for path in tmp_path.iterdir()] == ["net.npz"]


@pytest.mark.parametrize("name", NETS)
def test_pickles_and_copies(name):
    net = moved(NETS[name]())
    require_same(net, pickle.loads(pickle.dumps(net)))
    require_same(net, copy.copy(net))


def test_every_layer_and_activation_is_among_them():
    made = [layer for make in NETS.values() for layer in make().chain.sublayers()]
    kinds = {type(layer) for layer in made}
    functions = {type(layer.function) for layer in made if hasattr(layer, "function")}
    for room in (so.nets, so.reversible_gauss_newton):
        for name in room.__all__:
            thing = getattr(room, name)
            if isinstance(thing, type) and issubclass(thing, so.Layer) and thing is not so.Layer:
                assert thing in kinds, name
            if isinstance(thing, type) and issubclass(thing, so.ActivationFunction):
                assert thing in functions | {so.ActivationFunction, so.nets.Identity}, name


def own_net():
    return Network([Scaled(2, factor=3.0), Activation(Bent(0.25)), Linear(2, 1, rng=0)])


def test_classes_of_ones_own(tmp_path):
    path = tmp_path / "own.npz"
    for net, classes in ((own_net(), [Scaled, Bent]), (Named(3, rng=1), [Named])):
        moved(net).save(path)
        require_same(net, so.load(path, classes=classes))
        with pytest.raises(TypeError, match=f"own.npz: it holds '{classes[0].__name__}', a class "
                                            "that is not of this package; give it with classes="):
            so.load(path)
    with pytest.raises(TypeError, match="it holds 'Named'"):
        so.load(path, classes=[Scaled])


class Secret(Scaled):
    def __init__(self, width, hidden_option=1):
        super().__init__(width)


class Holding(Scaled):
    def __init__(self, width, held=print):
        super().__init__(width)
        self.held = held


@pytest.mark.parametrize("layer, words", [
    (Secret(2), "its constructor takes hidden_option, which is no attribute of it"),
    (Holding(2), "held of Holding.* cannot be saved: it is a builtin_function_or_method")])
def test_what_cannot_be_saved(layer, words, tmp_path):
    """Nothing is written, and an older file stays."""
    path = tmp_path / "net.npz"
    path.write_bytes(b"older")
    with pytest.raises(TypeError, match=words):
        Network([layer]).save(path)
    assert path.read_bytes() == b"older" and len(list(tmp_path.iterdir())) == 1


# -- damage ----------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "net.npz"
    Network([Linear(3, 4, rng=0), Activation(LeakyReLU(0.2)), Skip([Linear(4, 4, rng=1)])]).save(
        path)
    return path


def refused(path, words="not a network that was saved, or a damaged one"):
    with pytest.raises(ValueError, match=words) as caught:
        so.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("length", [0, 10, 300, -1])
def test_a_file_that_breaks_off(saved, length):
    saved.write_bytes(saved.read_bytes()[:length])
    refused(saved)


@pytest.mark.parametrize("change, words", [
    (lambda told, arrays: told.update(format="secondorder network 99"), "secondorder network 99"),
    (lambda told, arrays: told["layers"][0].update(room="os"), "'Linear' of 'os' is no Layer"),
    (lambda told, arrays: told["layers"][0].update({"class": "Network"}), "'Network' of 'nets' is"),
    (lambda told, arrays: told.update(input_shape=None), ""),
    (lambda told, arrays: arrays.pop("1.bias"), "1.bias"),
    (lambda told, arrays: arrays.update({"9.weight": np.ones(2)}), "arrays of no layer: 9.weight"),
    (lambda told, arrays: arrays.update({"1.bias": np.ones(4, "f4")}), r"float32 \(4,\)")])
def test_a_structure_that_is_wrong(saved, change, words):
    with np.load(saved) as archive:
        arrays = {name: archive[name] for name in archive.files}
    told = json.loads(arrays.pop("structure").item())
    change(told, arrays)
    files.write_arrays(saved, structure=np.array(json.dumps(told)), **arrays)
    refused(saved, f"not a network that was saved, or a damaged one: .*{words}")


class Bomb:
    """What is unpickled makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_no_code_is_run_on_loading(saved, tmp_path):
    """An object array in the file is refused, not unpickled; so is a pickle by itself."""
    mark = tmp_path / "run"
    with np.load(saved) as archive:
        arrays = {name: archive[name] for name in archive.files}
    bomb = np.array([Bomb(mark)], dtype=object)
    for name in ("1.bias", "structure"):
        np.savez(saved, **arrays | {name: bomb})
        refused(saved)
    saved.write_bytes(pickle.dumps(Bomb(mark)))
    refused(saved, "it is no .npz archive")
    assert not mark.exists()
