"""Calls that nobody in his right mind makes, and that somebody has made: refused by name, before
any work, or right."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import secondorder as so
from secondorder import cli

rng = np.random.default_rng(0)
X, Y, R = rng.normal(size=(6, 3)), np.arange(6) % 2, rng.normal(size=(6, 2))
CE, SE = so.SoftmaxCrossEntropy(), so.SquaredError()


def net(**options):
    return so.mlp([3, 4, 2], rng=0, **options)


def revmlp(**options):
    return so.RevMLP(4, 2, 24, outputs=2, rng=0, **options)


def train(**options):
    return so.train(so.SGD(net(), CE), X, Y, **{"epochs": 1} | options)


def generator_callback(record):
    yield record


async def coroutine_callback(record):
    return record


def spoilt_state():
    optimizer = so.Adam(net(), CE)
    state = optimizer.state_dict()
    optimizer.load_state_dict(state | {"first": np.full_like(state["first"], np.nan)})


def replaced_network():
    so.Adam(net(), CE).network = so.mlp([3, 2], rng=0)


def recursive():
    recipe = {}
    recipe["self"] = recipe
    train(recipe=recipe)


def shut_down():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    so.exact.gradient(net(), CE, X, Y, batch_size=2, executor=executor)


def dangling():
    os.symlink("nowhere/c", "link")
    train(checkpoint="link")


REFUSED = {
    "a callback that is a generator": (lambda: train(callback=generator_callback), TypeError,
                                       "callback.*generator"),
    "a callback that is a coroutine": (lambda: train(callback=coroutine_callback), TypeError,
                                       "callback.*coroutine"),
    "memory that is NaN": (spoilt_state, ValueError, "state: first holds NaN"),
    "an optimizer's network replaced": (replaced_network, AttributeError, "network"),
    "a recipe of objects": (lambda: train(recipe={"a": object()}), TypeError, "recipe"),
    "a recipe that holds itself": (recursive, TypeError, "recipe"),
    "a checkpoint behind a dangling link": (dangling, FileNotFoundError, "no such directory"),
    "a checkpoint that is a device": (lambda: train(checkpoint="/dev/null", resume=True),
                                      OSError, "/dev/null is a device, not a file"),
    "curvature of inputs too large": (lambda: so.eacg.matrix(net(), CE, 1e200 * X, Y),
                                      FloatingPointError, "curvature"),
    "drift of what is not recomputed": (lambda: so.GaussNewton(revmlp(), SE, drift_tolerance=1e-9),
                                        ValueError, "drift_tolerance.*recompute=True"),
    "an executor that is shut down": (shut_down, RuntimeError, "executor"),
    "a schedule that gives an array": (
        lambda: so.SGD(net(), CE, learning_rate=lambda step: np.array([0.1])).step(X, Y), TypeError,
        "learning_rate at step 0"),
    "a network in a network": (lambda: so.Network([net()]), TypeError, "layers"),
    "labels beyond int64": (lambda: net().evaluate(CE, X, np.full(6, 2**63, np.uint64)), ValueError,
                            "out of range"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_by_name(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, error, said = REFUSED[what]
    with pytest.raises(error, match=said) as caught:
        call()
    assert len(str(caught.value)) < 600
    assert [name for name in os.listdir(tmp_path) if name != "link"] == []  # nothing was left


RIGHT = {
    "strides of any kind": lambda: np.allclose(net()(np.asfortranarray(X)[::-1])[::-1], net()(X)),
    "a broadcast batch": lambda: net()(np.broadcast_to(X[:1], (6, 3))).shape == (6, 2),
    "half precision inputs": lambda: net()(X.astype(np.float16)).dtype == np.float64,
    "a batch larger than the set": lambda: len(train(batch_size=10**12)) == 2,
    "a callback that empties its record": lambda: list(
        train(epochs=2, callback=lambda record: record.clear()).column("epoch")) == [0, 1, 2],
    "a rate beyond judging": lambda: "wrong" not in str(so.verify.optimizer(
        lambda network, loss: so.SGD(network, loss, learning_rate=1e200))),
    "one sample": lambda: bool(so.verify.optimizer(so.Adam, network=net(), x=X[:1], y=Y[:1])),
}


@pytest.mark.parametrize("what", RIGHT)
def test_right_all_the_same(what):
    assert RIGHT[what]()


def test_names_as_long_as_the_system_takes(tmp_path):
    path = tmp_path / ("c" * 250)
    train(checkpoint=path)
    assert os.listdir(tmp_path) == [path.name] and so.training.read_checkpoint(path)["epoch"] == 1


# -- the command line ------------------------------------------------------------------------------

WINE = ["train", "--data", "wine", "--epochs", "1", "--hidden", "3"]
COMMANDS = {
    "is where --out writes its history.json": [*WINE, "--out", "d", "--checkpoint",
                                               "d/history.json"],
    "unknown optimizer 'Adam': did you mean 'adam'": [*WINE, "--optimizer", "Adam"],
    "unknown option of adam 'network'": [*WINE, "--set", "network=3"],
    "betas must be a pair": [*WINE, "--set", "betas=__import__('os')"],
    "would leave a part empty": [*WINE, "--validation", "0.9999"],
    "expected widths such as": ["bench", "gradient", "--widths", "3x3x3-2"],
    "widths must be at least two whole numbers from 1": ["bench", "gradient", "--widths", "0-3"],
    "expected a finite number": [*WINE, "--learning-rate", "1e400"],
    "no such data file": ["train", "--data", "csv:/dev/zero"],
    "e is a directory, not a file": [*WINE, "--checkpoint", "e", "--out", "e"],
}


@pytest.mark.parametrize("said", COMMANDS)
def test_commands_are_refused_by_name(said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        status = cli.main(COMMANDS[said])
    except SystemExit as stop:
        status = stop.code
    assert status == 2 and said in capsys.readouterr().err
    assert not (tmp_path / "d" / "history.json").exists()
