"""Which runs may go on from a checkpoint: not fewer epochs, not another one."""


import numpy as np
import pytest

import secondorder as so
from secondorder.training import read_checkpoint

rng = np.random.default_rng(0)
x, y = rng.normal(size=(20, 3)), rng.integers(0, 2, size=20)


def make(seed=0):
    return so.SGD(so.mlp([3, 4, 2], rng=seed), so.SoftmaxCrossEntropy())


def train(path, epochs=3, x=x, **options):
    return so.train(make(), x, y, epochs=epochs, batch_size=10, rng=0, checkpoint=path, **options)


def test_fewer_epochs_than_were_done_are_refused(tmp_path):
    train(tmp_path / "c", epochs=4)
    before = (tmp_path / "c").read_bytes()
    optimizer = make()
    start = optimizer.network.theta.copy()
    with pytest.raises(ValueError, match="epochs is 3, but checkpoint .*c holds a run of 4 epochs"):
        so.train(optimizer, x, y, epochs=3, batch_size=10, rng=0, checkpoint=tmp_path / "c",
                 resume=True)
    assert (tmp_path / "c").read_bytes() == before
    assert np.array_equal(optimizer.network.theta, start)
    assert len(train(tmp_path / "c", epochs=4, resume=True)) == 5
    assert len(train(tmp_path / "c", epochs=5, resume=True)) == 6


# -- another run is told by what its caller said -------------------------------------------------


def test_recipe_is_named_where_a_run_differs(tmp_path):
    train(tmp_path / "c", recipe={"data": "digits", "seed": 0, "set": [["rho", 0.5]]})
    for recipe, said in (({"data": "digits", "seed": 1, "set": [["rho", 0.5]]},
                          "made with seed 0, not 1;"),
                         ({"data": "wine", "seed": 3, "set": []},
                          r"data 'digits', not 'wine', seed 0, not 3, set \[\['rho', 0.5\]\], "
                          r"not \[\];"),
                         ({"data": "digits", "seed": 0, "set": [["rho", 0.5]]},
                          "made with train data's numbers other than these, not these;")):
        with pytest.raises(ValueError, match=said):
            train(tmp_path / "c", x=x + 1, recipe=recipe, resume=True)
    # words alone do not make it another run
    assert len(train(tmp_path / "c", recipe={"data": "the digits"}, resume=True)) == 4
    assert read_checkpoint(tmp_path / "c")["recipe"] == {"data": "digits", "seed": 0,
                                                         "set": [["rho", 0.5]]}
    with pytest.raises(ValueError, match=r"train data's shapes \[\[20, 3\], \[20\]\], not"):
        so.train(make(), x[:10], y[:10], batch_size=10, rng=0, checkpoint=tmp_path / "c",
                 resume=True)


class Scaled(so.nets.ActivationFunction):
    """Its factor stands in a slot, under another name than the argument's."""

    __slots__ = ("k",)
    name = "scaled"

    def __init__(self, factor):
        self.k = factor

    def value(self, x):
        return self.k * x

    def slope(self, x):
        return np.full_like(x, self.k)

    def curvature(self, x):
        return np.zeros_like(x)


def test_what_stands_in_slots_is_compared(tmp_path):
    def run(factor, **options):
        net = so.Network([so.Linear(4, 3, rng=0), so.Activation(Scaled(factor))])
        so.train(so.SGD(net, so.SquaredError(), 0.1), np.ones((5, 4)), np.ones((5, 3)),
                 rng=0, checkpoint=tmp_path / "run.npz", **options)

    run(0.5, epochs=1)
    with pytest.raises(ValueError, match="function's k 0.5, not 0.7"):
        run(0.7, epochs=2, resume=True)
