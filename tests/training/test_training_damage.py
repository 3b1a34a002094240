"""Checkpoints that are damaged, and runs that would go on with something else than was written."""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import LayerNorm, LeakyReLU

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


def test_a_damaged_file_is_named(checkpoint):
    whole = checkpoint.read_bytes()
    for raw in (whole[:-30], whole[:200] + bytes(9) + whole[209:], b"", b"text"):
        checkpoint.write_bytes(raw)
        refused(checkpoint)


class Bent(so.ActivationFunction):
    """x + bend x^2."""

    def __init__(self, bend, table=(1.0,)):
        self.bend, self.table, self.itself = bend, np.array(table), self

    def value(self, x):
        return x + self.bend * x * x

    def slope(self, x):
        return 1 + 2 * self.bend * x

    def curvature(self, x):
        return np.full_like(x, 2 * self.bend)


def net(function="tanh", middle=()):
    return so.Network([so.Linear(3, 4, rng=0), *middle, so.Activation(function),
                       so.Linear(4, 2, rng=1)])


def sgd(network=None, loss=None, rate=1e-3):
    return so.SGD(net() if network is None else network,
                  so.SquaredError() if loss is None else loss, rate)


TARGETS = np.eye(2)[Y]
OTHERS = {  # a run, another one, what the refusal names
    "the last bit of a constant": (lambda: sgd(net(LeakyReLU(0.1))),
                                   lambda: sgd(net(LeakyReLU(np.nextafter(0.1, 1)))),
                                   "negative_slope"),
    "an author's activation": (lambda: sgd(net(Bent(0.1))), lambda: sgd(net(Bent(0.2))),
                               "bend 0.1, not 0.2"),
    "an option of a layer": (lambda: sgd(net(middle=[LayerNorm(4)])),
                             lambda: sgd(net(middle=[LayerNorm(4, epsilon=1.1e-5)])), "epsilon"),
    "weights of a loss": (
        lambda: sgd(loss=so.nets.BinaryCrossEntropy(np.array([1.0, 2.0]))),
        lambda: sgd(loss=so.nets.BinaryCrossEntropy(np.array([2.0, 1.0]))), "pos_weight")}


@pytest.mark.parametrize("name", OTHERS)
def test_a_run_does_not_go_on_with_another_network_loss_or_schedule(tmp_path, name):
    one, other, words = OTHERS[name]
    train(tmp_path / "c", one(), y=TARGETS)
    optimizer = other()
    theta = optimizer.network.theta.copy()
    with pytest.raises(ValueError, match=f"was made with .*{words}"):
        train(tmp_path / "c", optimizer, y=TARGETS, resume=True)
    assert np.array_equal(optimizer.network.theta, theta)
    assert len(train(tmp_path / "c", one(), y=TARGETS, resume=True)) == 4
