"""Calls that nobody in his right mind makes, and that somebody has made: refused by name, before
any work, or right."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import secondorder as so
from secondorder import cli, files

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


def spoilt_later_state():
    optimizer = so.EACG(net(), CE, momentum=0.9)
    state = optimizer.state_dict()
    optimizer.load_state_dict(state | {"buffer": np.full_like(state["buffer"], np.inf)})


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
    "a schedule that is a generator": (
        lambda: so.SGD(net(), CE, learning_rate=generator_callback), TypeError, "learning_rate"),
    "an object with a generator for __call__": (
        lambda: train(callback=type("C", (), {"__call__": lambda self, record: (yield)})()),
        TypeError, "callback"),
    "memory that is NaN": (spoilt_state, ValueError, "state: first holds NaN"),
    "memory that is infinite": (spoilt_later_state, ValueError, "state: buffer holds NaN"),
    "an optimizer's network replaced": (replaced_network, AttributeError, "network"),
    "a recipe of objects": (lambda: train(recipe={"a": object()}), TypeError, "recipe"),
    "a recipe of arrays": (lambda: train(recipe={"a": np.ones(3)}), TypeError, "recipe"),
    "a recipe that holds itself": (recursive, TypeError, "recipe"),
    "a null character in a path": (lambda: train(checkpoint="a\0b"), ValueError,
                                   "checkpoint.*null character"),
    "a checkpoint behind a dangling link": (dangling, FileNotFoundError, "no such directory"),
    "a checkpoint that is a device": (lambda: train(checkpoint="/dev/null", resume=True),
                                      OSError, "/dev/null is a device, not a file"),
    "targets without rows": (lambda: so.verify.loss(CE, targets=3), ValueError, "targets"),
    "curvature of inputs too large": (lambda: so.eacg.matrix(net(), CE, 1e200 * X, Y),
                                      FloatingPointError, "curvature"),
    "drift of what is not recomputed": (lambda: so.GaussNewton(revmlp(), SE, drift_tolerance=1e-9),
                                        ValueError, "drift_tolerance.*recompute=True"),
    "all singular values truncated": (
        lambda: so.GaussNewton(revmlp(), SE, pseudo_inverse="truncate", strength=2.0), ValueError,
        "strength must be at most 1"),
    "an executor that is shut down": (shut_down, RuntimeError, "executor"),
    "a schedule that gives an array": (
        lambda: so.SGD(net(), CE, learning_rate=lambda step: np.array([0.1])).step(X, Y), TypeError,
        "learning_rate at step 0"),
    "a network in a network": (lambda: so.Network([net()]), TypeError, "layers"),
    "x and y in each other's place": (lambda: so.exact.hessian(net(), CE, Y, X), ValueError,
                                      "x has shape"),
    "network and loss in each other's place": (lambda: so.exact.hessian(CE, net(), X, Y), TypeError,
                                               "network"),
    "objects for inputs": (lambda: net()(X.astype(object)), TypeError, "x must hold real"),
    "dates for inputs": (lambda: net()(np.zeros((6, 3), "datetime64[s]")), TypeError, "x must"),
    "labels beyond int64": (lambda: net().evaluate(CE, X, np.full(6, 2**63, np.uint64)), ValueError,
                            "out of range"),
    "an operator after its network moved": (
        lambda: (operator := so.exact.HessianOperator(model := net(), CE, X, Y),
                 setattr(model, "theta", 2 * model.theta), operator @ model.theta), RuntimeError,
        "parameters have changed"),
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
    "chunks larger than the batch": lambda: np.allclose(
        so.exact.hessian(net(), CE, X, Y, batch_size=10**9), so.exact.hessian(net(), CE, X, Y)),
    "no vectors at all": lambda: (so.exact.HessianOperator(net(), CE, X, Y)
                                  @ np.ones((26, 0))).shape == (26, 0),
    "the smallest rate": lambda: so.SGD(net(), CE, learning_rate=1e-320).step(
        X, Y)["step_norm"] > 0,
    "cubic around cubic": lambda: so.CubicRegularization(so.CubicRegularization(
        so.SGD(net(), CE))).step(X, Y)["rate"] > 0,
    "a callback that empties its record": lambda: list(
        train(epochs=2, callback=lambda record: record.clear()).column("epoch")) == [0, 1, 2],
    "a rate beyond judging": lambda: "wrong" not in str(so.verify.optimizer(
        lambda network, loss: so.SGD(network, loss, learning_rate=1e200))),
    "one sample": lambda: bool(so.verify.optimizer(so.Adam, network=net(), x=X[:1], y=Y[:1])),
}


@pytest.mark.parametrize("what", RIGHT)
def test_right_all_the_same(what):
    assert RIGHT[what]()


@pytest.mark.parametrize("length", [200, 240, 250])
def test_names_as_long_as_the_system_takes(length, tmp_path):
    path = tmp_path / ("c" * length)
    train(checkpoint=path)
    assert os.listdir(tmp_path) == [path.name] and so.training.read_checkpoint(path)["epoch"] == 1


# -- the command line ------------------------------------------------------------------------------

WINE = ["train", "--data", "wine", "--epochs", "1", "--hidden", "3"]
COMMANDS = {
    "is where --out writes its history.json": [*WINE, "--out", "d", "--checkpoint",
                                               "d/history.json"],
    "is where --out writes its parameters.npz": [*WINE, "--out", "d", "--checkpoint",
                                                 "./d/../d/parameters.npz"],
    "unknown optimizer 'Adam': did you mean 'adam'": [*WINE, "--optimizer", "Adam"],
    "unknown option of adam 'network'": [*WINE, "--set", "network=3"],
    "betas must be a pair": [*WINE, "--set", "betas=__import__('os')"],
    "would leave a part empty": [*WINE, "--validation", "0.9999"],
    "expected widths such as": ["bench", "gradient", "--widths", "3x3x3-2"],
    "widths must be at least two whole numbers from 1": ["bench", "gradient", "--widths", "0-3"],
    "expected a finite number": [*WINE, "--learning-rate", "1e400"],
    "no such data file": ["train", "--data", "csv:/dev/zero"],
    "is not a finite number": ["data", "csv:passwords.csv"],
    "e is a directory, not a file": [*WINE, "--checkpoint", "e", "--out", "e"],
}


@pytest.mark.parametrize("said", COMMANDS)
def test_commands_are_refused_by_name(said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "passwords.csv").write_text("a,b\nroot:x:0,1\n")
    try:
        status = cli.main(COMMANDS[said])
    except SystemExit as stop:
        status = stop.code
    assert status == 2 and said in capsys.readouterr().err
    assert not (tmp_path / "d" / "history.json").exists()


def test_a_directory_that_takes_no_file(monkeypatch):
    """Some file systems say that they may be written to, and take nothing."""
    if not os.path.isdir("/proc/self"):
        pytest.skip("there is none here")
    with pytest.raises(PermissionError, match="cannot write to the output directory: /proc"):
        files.output_directory("/proc")
