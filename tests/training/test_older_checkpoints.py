"""Checkpoints that an earlier version wrote, when the papers' rooms stood one folder higher: they
go on, and where something differs they are refused by name.

`written_before/` holds one checkpoint of two epochs a method, and in `ends.npz` the parameters that
the version of that time reached after four.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest

import secondorder as so

FOLDER = Path(__file__).parent / "written_before"
LOSS = so.SoftmaxCrossEntropy()


def net():
    return so.mlp([4, 5, 3], activation="softplus", rng=0)


METHODS = {
    "adam": lambda: so.Adam(net(), LOSS, so.optimizers.ExponentialDecay(0.1, 0.5, 4)),
    "partitioning": lambda: so.ResidualPartitioning(net(), LOSS, l2=0.01),
    "eacg": lambda: so.EACG(net(), LOSS, momentum=0.5),
    "cubic": lambda: so.CubicRegularization(so.Momentum(net(), LOSS, 0.1), sigma=1.0,
                                            adaptive=True),
    "gauss_newton": lambda: so.GaussNewton(
        so.reversible_gauss_newton.RevMLP(4, 1, 60, outputs=3, rng=0), LOSS, 0.1),
}
OTHERS = {
    "adam": (lambda: so.Adam(net(), LOSS, 0.1), "learning_rate"),
    "partitioning": (lambda: so.ResidualPartitioning(net(), LOSS, l2=0.02), "l2 0.01, not 0.02"),
    "eacg": (lambda: so.EACG(net(), LOSS, momentum=0.6), "momentum 0.5, not 0.6"),
    "cubic": (lambda: so.CubicRegularization(so.SGD(net(), LOSS, 0.1), sigma=1.0, adaptive=True),
              "base's method 'Momentum', not 'SGD'"),
    "gauss_newton": (lambda: so.GaussNewton(
        so.reversible_gauss_newton.RevMLP(4, 1, 60, outputs=3, rng=1), LOSS, 0.1),
        "fixed parameters"),
}


def data():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 23)
    return rng.normal(size=(23, 4)) + np.eye(3, 4)[y], y


def go_on(optimizer, name, folder, inputs=None):
    path = shutil.copy(FOLDER / f"{name}.npz", folder)
    x, y = data()
    return so.train(optimizer, x if inputs is None else inputs, y, epochs=4, batch_size=10, rng=1,
                    checkpoint=path, resume=True)


@pytest.mark.filterwarnings("ignore:the features of")
@pytest.mark.filterwarnings("ignore:checkpoint .* whether these are as they were")
@pytest.mark.parametrize("name", METHODS)
def test_a_run_goes_on_where_it_stopped(name, tmp_path):
    """To where it went then; roundings of a pass may have changed since."""
    optimizer = METHODS[name]()
    history = go_on(optimizer, name, tmp_path)
    with np.load(FOLDER / "ends.npz") as ends:
        np.testing.assert_allclose(optimizer.network.theta, ends[name], rtol=1e-7, atol=1e-9)
    assert len(history) == 5 and optimizer.steps == 4 * 2  # the last batch of 3 joins the second


@pytest.mark.parametrize("name", OTHERS)
def test_other_settings_are_refused_by_name(name, tmp_path):
    make, words = OTHERS[name]
    optimizer = make()
    theta = optimizer.network.theta.copy()
    with pytest.raises(ValueError, match=f"checkpoint .*{name}.npz: was made with .*{words}"):
        go_on(optimizer, name, tmp_path)
    assert np.array_equal(optimizer.network.theta, theta) and optimizer.steps == 0


def test_what_it_does_not_tell_is_said(tmp_path):
    with pytest.warns(UserWarning, match="adam.npz: whether these .*: constants of layers and lo"):
        go_on(METHODS["adam"](), "adam", tmp_path)


def test_other_data_are_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match="adam.npz: was made with train data other than these"):
        go_on(METHODS["adam"](), "adam", tmp_path, inputs=data()[0] + 1)
