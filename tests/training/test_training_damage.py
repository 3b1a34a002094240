"""Checkpoints that are damaged, and runs that would go on with something else than was written."""

import json
import threading
import warnings

import numpy as np
import pytest

import secondorder as so
from secondorder import files
from secondorder.nets import LayerNorm, LeakyReLU
from secondorder.training import read_checkpoint

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(20, 3)), rng.integers(0, 2, size=20)
DAMAGED = "not a checkpoint of a training run, or a damaged one"


def make():
    return so.Adam(so.mlp([3, 4, 2], rng=0), so.SoftmaxCrossEntropy())


def train(path, optimizer=None, epochs=3, x=X, y=Y, **options):
    return so.train(make() if optimizer is None else optimizer, x, y, epochs=epochs, batch_size=10,
                    rng=0, checkpoint=path, **options)


@pytest.fixture
def checkpoint(tmp_path):
    train(tmp_path / "c.npz", epochs=2)
    return tmp_path / "c.npz"


def refused(path, words=""):
    optimizer = make()
    start = optimizer.network.theta.copy()
    with pytest.raises(ValueError, match=f"c.npz: {DAMAGED}: .*{words}"):
        train(path, optimizer, resume=True)
    assert np.array_equal(optimizer.network.theta, start) and optimizer.steps == 0


def test_an_earlier_version_is_refused_by_name(tmp_path):
    np.savez(tmp_path / "c.npz", text=np.array(json.dumps({"format": 3, "content": {}})))
    refused(tmp_path / "c.npz", "it has format 3, this version reads 5: .* begin it anew")


def test_a_damaged_file_is_named(checkpoint):
    whole = checkpoint.read_bytes()
    for raw in (whole[:-30], whole[:200] + bytes(9) + whole[209:], b"", b"text"):
        checkpoint.write_bytes(raw)
        refused(checkpoint)


def rewritten(path, change):
    """The checkpoint with another content, written again: what no checksum tells."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    record = json.loads(arrays.pop("text").item())
    change(record["content"]["dict"], arrays)
    files.write_arrays(path, text=np.array(json.dumps(record)), **arrays)


def put(name, value):
    return lambda content, arrays: content.update({name: value})


def renamed(name):
    return lambda content, arrays: content.update({name[::-1]: content.pop(name)})


CHANGES = {
    "theta renamed": (renamed("theta"), "it has no theta"),
    "a step of text": (put("step", "x"), "its step is 'x', not a int"),
    "another epoch": (put("epoch", 1), "its epoch is 1, the last record's 2"),
    "an empty generator": (put("generator", {"dict": {}}), ""),
    "an empty state": (put("state", {"dict": {}}), "state"),
    "no history": (put("history", {"list": []}), ""),
    "no such array": (put("theta", {"array": "array_99"}), "array_99"),
    "another theta": (put("theta", {"array": "array_0"}), "")}


@pytest.mark.parametrize("name", CHANGES)
def test_a_content_that_does_not_fit(checkpoint, name):
    change, words = CHANGES[name]

    def both(content, arrays):
        arrays["array_0"] = np.ones(3) if name == "another theta" else arrays["array_0"]
        change(content, arrays)

    rewritten(checkpoint, both)
    refused(checkpoint, words)


# -- another network, another loss -----------------------------------------------------------------


def test_a_checkpoint_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="^no such checkpoint: "):
        read_checkpoint(tmp_path / "none.npz")


class Bent(so.ActivationFunction):
    """x + bend x^2."""

    def __init__(self, bend, table=(1.0,), helper=None):
        self.bend, self.table, self._own = bend, np.array(table), {"deep": [bend]}
        if helper is not None:
            self.helper = helper

    def value(self, x):
        return x + self.bend * x * x

    def slope(self, x):
        return 1 + 2 * self.bend * x

    def curvature(self, x):
        return np.full_like(x, 2 * self.bend)


class Power(so.Loss):
    """c |p - t|^2 / 2, c kept under another name than the constructor's argument."""

    def __init__(self, constant=1.0):
        self.c = constant

    def prepare_target(self, target, shape, dtype):
        return np.asarray(target, dtype)

    def value(self, p, t):
        return self.c * ((p - t) ** 2).sum(axis=1) / 2

    def gradient(self, p, t):
        return self.c * (p - t)


class Shifted(so.Linear):
    """A layer of the package with an option more, which no constructor takes."""

    shift = 0.0


def net(function=None, last=None, middle=None):
    layers = [so.Linear(3, 4, rng=0), *([] if middle is None else [middle]),
              so.Activation("tanh" if function is None else function),
              so.Linear(4, 2, rng=1) if last is None else last]
    return so.Network(layers)


def shifted(shift):
    layer = Shifted(4, 2, rng=1)
    layer.shift = shift
    return layer


TARGETS = np.eye(2)[Y]
CROSS = so.SoftmaxCrossEntropy
OTHERS = {
    "the last bit of a constant": (net(LeakyReLU(0.1)), net(LeakyReLU(np.nextafter(0.1, 1))),
                                   "negative_slope"),
    "an author's activation": (net(Bent(0.1)), net(Bent(0.2)), "bend 0.1, not 0.2"),
    "an author's array": (net(Bent(0.1)), net(Bent(0.1, (2.0,))), "table"),
    "an option of a layer": (net(middle=LayerNorm(4)), net(middle=LayerNorm(4, epsilon=1.1e-5)),
                             "epsilon"),
    "a subclass": (net(last=shifted(0.0)), net(last=shifted(-0.0)), "shift 0.0, not '-0.0'"),
    "a layer inside": (net(middle=so.Skip([so.Linear(4, 4, rng=0), so.Activation(LeakyReLU(0.1))])),
                       net(middle=so.Skip([so.Linear(4, 4, rng=0),
                                           so.Activation(LeakyReLU(0.2))])), "negative_slope"),
}
LOSSES = {
    "a bound": (so.BoundedCriterion(delta=5.0), so.BoundedCriterion(delta=5.5), "delta"),
    "Tukey": (so.TukeyBiweight(c=4.0), so.TukeyBiweight(c=4.000000001), "4.000000001"),
    "weights": (so.nets.BinaryCrossEntropy(np.array([1.0, 2.0])),
                so.nets.BinaryCrossEntropy(np.array([2.0, 1.0])), "pos_weight"),
    "an author's": (Power(1.0), Power(2.0), "c 1.0, not 2.0")}


@pytest.mark.parametrize("name", OTHERS)
def test_a_run_does_not_go_on_with_another_network(tmp_path, name):
    one, other, words = OTHERS[name]
    train(tmp_path / "c", so.SGD(one.copy(), CROSS()))
    theta = other.theta.copy()
    with pytest.raises(ValueError, match=f"was made with (layers|network).*{words}"):
        train(tmp_path / "c", so.SGD(other, CROSS()), resume=True)
    assert np.array_equal(other.theta, theta)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(train(tmp_path / "c", so.SGD(one.copy(), CROSS()), resume=True)) == 4


@pytest.mark.parametrize("name", LOSSES)
def test_a_run_does_not_go_on_with_another_loss(tmp_path, name):
    one, other, words = LOSSES[name]
    y = Y if name == "a bound" else TARGETS
    train(tmp_path / "c", so.SGD(net(), one, 1e-3), y=y)
    with pytest.raises(ValueError, match=f"was made with .*{words}"):
        train(tmp_path / "c", so.SGD(net(), other, 1e-3), y=y, resume=True)
    assert len(train(tmp_path / "c", so.SGD(net(), one, 1e-3), y=y, resume=True)) == 4


class Coupled(so.reversible_gauss_newton.Coupling):
    """A layer of the package that holds slices and other layers, as an author's."""


class Memory(Bent):
    """One with a lock, which nobody can describe."""

    def __init__(self, bend):
        super().__init__(bend)
        self.lock, self.itself = threading.Lock(), self


def test_an_argument_that_older_checkpoints_lack_is_told(tmp_path):
    """`safeguard` of residual partitioning stands in `added`; False is silent, True is refused."""
    def made(**options):
        return so.ResidualPartitioning(net(), CROSS(), **options)

    train(tmp_path / "c", made())
    with pytest.raises(ValueError, match="safeguard"):
        train(tmp_path / "c", made(safeguard=True), epochs=4, resume=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(tmp_path / "c", made(), epochs=4, resume=True)


def test_attributes_of_any_kind(tmp_path):
    def coupled(kind, function=None):
        coupling = kind(4, 3, "first", activation=LeakyReLU(0.1) if function is None else function,
                        rng=0)
        return so.SGD(so.Network([so.Linear(3, 4, rng=0), coupling, so.Linear(4, 2, rng=1)]),
                      CROSS())

    train(tmp_path / "c", coupled(Coupled))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(tmp_path / "c", coupled(Coupled), epochs=4, resume=True)
    with pytest.raises(ValueError, match="class 'Coupled', not 'Coupling'|network"):
        train(tmp_path / "c", coupled(so.reversible_gauss_newton.Coupling), epochs=4, resume=True)
    train(tmp_path / "d", coupled(Coupled, Memory(0.1)))
    with pytest.warns(UserWarning, match="cannot be told: .*lock of "):
        train(tmp_path / "d", coupled(Coupled, Memory(0.1)), epochs=4, resume=True)
    with pytest.raises(ValueError, match="bend 0.1, not 0.2"):
        train(tmp_path / "d", coupled(Coupled, Memory(0.2)), epochs=4, resume=True)


class Twice:
    """A schedule of a schedule."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, step):
        return 2 * self.inner(step)


def test_a_schedule_inside_another(tmp_path):
    decays = [Twice(so.optimizers.ExponentialDecay(0.1, factor, 5)) for factor in (0.5, 0.6)]
    train(tmp_path / "c", so.SGD(net(), CROSS(), decays[0]))
    with pytest.raises(ValueError, match="factor 0.5, not 0.6"):
        train(tmp_path / "c", so.SGD(net(), CROSS(), decays[1]), resume=True)


@pytest.mark.parametrize("make, words", [
    (lambda: so.SGD(net(Bent(0.1, helper=lambda x: x)), CROSS()), "helper of function of layer 1"),
    (lambda: so.SGD(net(), CROSS(), lambda step: 0.1), "learning_rate of SGD")])
def test_what_cannot_be_told_is_said(tmp_path, make, words):
    train(tmp_path / "c", make())
    with pytest.warns(UserWarning, match=f"whether these are as they were cannot be told: {words}"):
        train(tmp_path / "c", make(), epochs=4, resume=True)
