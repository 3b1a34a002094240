"""A run that is interrupted anywhere: whole steps only, and the checkpoint goes on with the same
bits."""

import time
import traceback

import numpy as np
import pytest

import secondorder as so
from harness.interrupts import Interrupter, timer
from secondorder import files

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(8, 3)), RNG.integers(0, 2, 8)
METHODS = {"adam": so.Adam,
           "cubic": lambda net, loss: so.CubicRegularization(so.Momentum(net, loss), sigma=1.0),
           "truncated newton": so.TruncatedNewton}


def made(name):
    return METHODS[name](so.mlp([3, 4, 2], rng=1), so.SoftmaxCrossEntropy())


def run(optimizer, path, **more):
    return so.train(optimizer, X, Y, epochs=2, batch_size=4, rng=0, checkpoint=path, progress=False,
                    **more)


class Reference:
    """A run without an interrupt: the parameters after every step, and the records."""

    def __init__(self, name, path):
        optimizer = made(name)
        self.thetas, step = [optimizer.network.theta.copy()], optimizer.step

        def kept(x, y):
            info = step(x, y)
            self.thetas.append(optimizer.network.theta.copy())
            return info

        optimizer.step = kept
        self.records = run(optimizer, path).records
        self.state = optimizer.state_dict()

    def check(self, optimizer, error, path):
        """Whole steps, a history of what was done; and go on from the checkpoint."""
        assert np.array_equal(optimizer.network.theta, self.thetas[optimizer.steps])
        history = getattr(error, "history", None)
        if history is not None:
            assert history.stopped == "interrupt"
            for mine, theirs in zip(history.records, self.records):
                assert mine | {"seconds": 0} == theirs | {"seconds": 0}
            assert not history.records or history.records[-1].step <= optimizer.steps

    def check_resumed(self, name, path):
        optimizer = made(name)
        history = run(optimizer, path, resume=True)
        assert np.array_equal(optimizer.network.theta, self.thetas[-1])
        assert history.column("train_loss").tolist() == [r.train_loss for r in self.records]
        state = optimizer.state_dict()
        assert state.keys() == self.state.keys() and state["steps"] == self.state["steps"] == 4


def interrupted(optimizer, path, at):
    """The interrupt, or None if the run ended before it."""
    caught = []

    def work():
        try:
            run(optimizer, path)
        except KeyboardInterrupt as error:
            caught.append(error)
            raise

    came = Interrupter(lambda file: "/secondorder/training/" in file
                       or "/secondorder/optimizers/" in file, at)(work)
    return caught[0] if came else None


def sweep(name, folder, first, stride):
    reference = Reference(name, folder / "reference.npz")
    for at in range(first, 10**6, stride):
        path, optimizer = folder / f"{at}.npz", made(name)
        error = interrupted(optimizer, path, at)
        if error is None:
            break
        reference.check(optimizer, error, path)
        # an interrupt just before a with block's exit leaves it open until the frames are gone
        traceback.clear_frames(error.__traceback__)
        reference.check_resumed(name, path)
        path.unlink()
    return at


@pytest.mark.everyday(1)
@pytest.mark.parametrize("name", METHODS)
def test_an_interrupted_run_has_whole_steps_and_goes_on(name, tmp_path):
    assert sweep(name, tmp_path, first=len(name), stride=611) > 3000


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_a_run_that_is_interrupted_at_every_seventh_operation(name, tmp_path):
    assert sweep(name, tmp_path, first=len(name) % 7, stride=7) > 3000


def seconds(name, path):
    """Of a run without an interrupt."""
    optimizer, began = made(name), time.perf_counter()
    run(optimizer, path)
    path.unlink()
    return time.perf_counter() - began


# zipfile complains where it throws an archive away that is half written; the file is left alone
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_run_that_is_interrupted_by_a_signal(tmp_path):
    reference, interrupts = Reference("adam", tmp_path / "reference.npz"), 0
    longest = 1.2 * min(seconds("adam", tmp_path / "timed.npz") for _ in range(5))
    for number, delay in enumerate(np.random.default_rng(1).uniform(1e-6, longest, size=25)):
        path, optimizer = tmp_path / f"{number}.npz", made("adam")
        try:
            with timer(delay):
                run(optimizer, path)
        except KeyboardInterrupt as error:
            interrupts += 1
            reference.check(optimizer, error, path)
            traceback.clear_frames(error.__traceback__)
            reference.check_resumed("adam", path)
    assert interrupts > 3


@pytest.mark.parametrize("first, told", [(KeyboardInterrupt(), KeyboardInterrupt),
                                         (KeyError("a"), ValueError), (None, ValueError)])
def test_an_interrupt_is_told_before_the_archive_that_it_left_open(first, told, tmp_path,
                                                                   monkeypatch):
    def broken(stream, **arrays):
        try:
            if first is not None:
                raise first
        finally:
            raise ValueError("Can't close the ZIP file")

    monkeypatch.setattr(np, "savez_compressed", broken)
    with pytest.raises(told):
        files.write_arrays(tmp_path / "a.npz", x=X)
    assert not list(tmp_path.iterdir())
