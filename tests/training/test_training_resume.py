"""Which runs may go on from a checkpoint: not fewer epochs, not two at a time, not another one."""

import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import secondorder as so
from secondorder import files
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


WHILE_ANOTHER_RUNS = """
import sys, numpy as np, secondorder as so
rng = np.random.default_rng(0)
x, y = rng.normal(size=(20, 3)), rng.integers(0, 2, size=20)
def wait(record):
    print("recorded", flush=True)
    sys.stdin.readline()
so.train(so.SGD(so.mlp([3, 4, 2], rng=0), so.SoftmaxCrossEntropy()), x, y, epochs=3, batch_size=10,
         rng=0, checkpoint=sys.argv[1], resume=True, callback=wait)
"""


@pytest.mark.slow
def test_two_processes_on_one_checkpoint(tmp_path):
    path = tmp_path / "c"
    with subprocess.Popen([sys.executable, "-c", WHILE_ANOTHER_RUNS, path], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == "recorded\n"
        before = path.read_bytes()
        with pytest.raises(BlockingIOError, match="another run is writing to .*c; "):
            train(path, resume=True)
        assert path.read_bytes() == before
        assert len(train(tmp_path / "d")) == 4  # another file of the same directory is free
        other.communicate("\n" * 5)
    assert other.returncode == 0 and read_checkpoint(path)["epoch"] == 3
    assert sorted(os.listdir(tmp_path)) == ["c", "d"]
    assert len(train(path, resume=True)) == 4


@pytest.mark.slow
def test_a_killed_run_keeps_nobody_off(tmp_path):
    path = tmp_path / "c"
    with subprocess.Popen([sys.executable, "-c", WHILE_ANOTHER_RUNS, path], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        other.kill()
    assert len(os.listdir(tmp_path)) == 2  # the lock that was left
    assert len(train(path, resume=True)) == 4
    assert os.listdir(tmp_path) == ["c"]


def test_threads_on_one_checkpoint(tmp_path):
    ends = []

    def compete():
        try:
            ends.append(train(tmp_path / "c", epochs=30, resume=True))
        except BlockingIOError as error:
            ends.append(error)

    threads = [threading.Thread(target=compete) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ends) == 4 and any(not isinstance(end, Exception) for end in ends)
    assert os.listdir(tmp_path) == ["c"]


def test_a_probe_that_another_run_clears_away_is_no_trouble(tmp_path, monkeypatch):
    close = os.close

    def cleared(handle):
        close(handle)
        for probe in tmp_path.glob(".probe.*"):
            probe.unlink()
    monkeypatch.setattr(os, "close", cleared)
    files.require_writable(tmp_path / "c")
    assert not os.listdir(tmp_path)


def _take_turns(path, count):
    done = 0
    for _ in range(count):
        try:
            with files.one_writer(path / "c"):
                mark = path / "inside"
                handle = os.open(mark, os.O_CREAT | os.O_EXCL)  # fails if another one is inside
                os.close(handle)
                mark.unlink()
                done += 1
        except BlockingIOError:
            pass
        files.remove_stale(path)
    os._exit(0 if done else 3)


@pytest.mark.slow
def test_never_two_writers_at_once(tmp_path):
    """Four processes take turns, and clear away meanwhile what killed runs left."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_take_turns, args=(tmp_path, 200)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4


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
