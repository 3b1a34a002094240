"""How a run ends: the history survives whatever ends it, and a checkpoint lets it go on with the
same bits."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from test_training import problem

import secondorder as so
from secondorder.training import loop, read_checkpoint


def make(kind=so.SGD, **settings):
    return kind(so.mlp([4, 5, 3], rng=0), so.SoftmaxCrossEntropy(), **settings)


x, y = problem()


# -- the last batch -------------------------------------------------------------------------------

SIZES = [
    (23, 10, "keep", [10, 10, 3]), (23, 10, "merge", [10, 13]), (23, 10, "drop", [10, 10]),
    (25, 10, "merge", [10, 10, 5]), (20, 10, "drop", [10, 10]), (7, 10, "drop", [7]),
    (23, "all", "drop", [23]), (5, 1, "merge", [1] * 5), (13, 9, "merge", [13]),
]


@pytest.mark.parametrize("samples, size, last, expected", SIZES)
def test_sizes_of_batches(samples, size, last, expected):
    slices = loop.batches(samples, size, last)
    assert [len(range(samples)[part]) for part in slices] == expected
    order = np.arange(samples)
    assert np.concatenate([order[part]
                           for part in slices]).tolist() == order[:sum(expected)].tolist()


def test_a_tiny_last_batch_undoes_what_truncated_newton_has_won():
    """The default serves second-order methods: 1438 digits in batches of 1400 leave 38, which alone
    mislead."""
    digits = so.datasets.scale(so.datasets.load_digits(), (-1, 1))
    ends = {}
    for last in ("merge", "keep"):
        optimizer = so.TruncatedNewton(so.mlp([64, 32, 10], rng=0), so.SoftmaxCrossEntropy())
        history = so.train(optimizer, digits.inputs[:1438], digits.targets[:1438], epochs=8,
                           batch_size=1400,
                           rng=0, last_batch=last)
        ends[last] = history.records[-1].train_loss
    assert ends["merge"] < 0.5 * ends["keep"]


# -- whatever ends a run --------------------------------------------------------------------------


def test_schedule_that_underflows_keeps_the_history():
    optimizer = make(learning_rate=lambda step: 0.5 * 0.0 ** (step // 3))
    with pytest.raises((ValueError, FloatingPointError), match="learning_rate") as caught:
        so.train(optimizer, x, y, epochs=9, batch_size="all", rng=0)
    history = caught.value.history
    assert history.column("epoch").tolist() == [0, 1, 2, 3] and "learning_rate" in history.stopped
    assert optimizer.steps == 3


# -- checkpoints ----------------------------------------------------------------------------------

class Dropping(so.Momentum):
    """A method with memory of several kinds, nested, and a generator of its own."""

    state_names = (*so.Momentum.state_names, "count")

    def __init__(self, network, loss, seed=0, **settings):
        super().__init__(network, loss, **settings)
        self.own, self.count = np.random.default_rng(seed), 0

    def direction(self, evaluation):
        self.count += 1
        direction = super().direction(evaluation)
        return direction * (self.own.random(direction.shape) < 0.7)

    def state_dict(self):
        inner = {"generator": self.own.bit_generator.state, "pair": (1, [2.5, None]), "ok": True}
        return super().state_dict() | {"base": inner}

    def load_state_dict(self, state):
        self.own.bit_generator.state = state["base"]["generator"]
        assert state["base"]["pair"] == (1, [2.5, None]) and state["base"]["ok"] is True
        super().load_state_dict({name: value for name, value in state.items() if name != "base"})


METHODS = {
    "sgd": lambda: make(learning_rate=0.5),
    "adam": lambda: make(so.Adam, learning_rate=so.optimizers.ExponentialDecay(0.1, 0.5, 4)),
    "truncated newton": lambda: make(so.TruncatedNewton),
    "residual partitioning": lambda: make(so.ResidualPartitioning, l2=0.01),
    "nested": lambda: make(Dropping, learning_rate=0.3),
    "float32": lambda: so.Adam(so.mlp([4, 5, 3], rng=0, dtype="float32"), so.SoftmaxCrossEntropy()),
}
SETTINGS = {"batch_size": 5, "validation": problem(9, seed=8), "evaluate_every": 2}


class Stop(Exception):
    pass


def stop_at(epoch):
    def callback(record):
        if record.epoch >= epoch:
            raise Stop

    return callback


def timeless(history):
    return [{name: value for name, value in record.items() if name != "seconds"}
            for record in history.records]


@pytest.mark.parametrize("name", METHODS)
def test_resume_is_bit_for_bit(name, tmp_path):
    whole = METHODS[name]()
    expected = so.train(whole, x, y, epochs=7, rng=1, **SETTINGS)
    with pytest.raises(Stop):
        so.train(METHODS[name](), x, y, epochs=7, rng=1, checkpoint=tmp_path / "c",
                 callback=stop_at(3), **SETTINGS)
    optimizer = METHODS[name]()
    history = so.train(optimizer, x, y, epochs=7, rng=99, checkpoint=tmp_path / "c", resume=True,
                       **SETTINGS)
    assert optimizer.network.theta.tobytes() == whole.network.theta.tobytes()
    assert timeless(history) == timeless(expected)
    assert history.column("epoch").tolist() == [0, 2, 4, 6, 7]
    assert np.all(np.diff(history.column("seconds")) > 0)
    assert os.listdir(tmp_path) == ["c"]
    mine, theirs = optimizer.state_dict(), whole.state_dict()
    assert mine.keys() == theirs.keys() and optimizer.steps == whole.steps
    assert all(np.array_equal(mine[key], theirs[key]) for key in optimizer.state_names)
    again = so.train(METHODS[name](), x, y, epochs=7, rng=1, checkpoint=tmp_path / "c", resume=True,
                     **SETTINGS)
    assert timeless(again) == timeless(expected), "a finished run has nothing left to do"


def test_resume_without_a_checkpoint_begins_anew(tmp_path):
    history = so.train(make(), x, y, epochs=2, rng=1, checkpoint=tmp_path / "c", resume=True)
    assert history.column("epoch").tolist() == [0, 1, 2]
    content = read_checkpoint(tmp_path / "c")
    assert content["epoch"] == 2 and len(content["history"]) == 3
    assert content["theta"].shape == (43,)
    longer = so.train(make(), x, y, epochs=4, rng=1, checkpoint=tmp_path / "c", resume=True)
    assert longer.column("epoch").tolist() == [0, 1, 2, 3, 4]


def test_checkpoint_is_not_overwritten(tmp_path):
    so.train(make(), x, y, epochs=1, checkpoint=tmp_path / "c")
    before = (tmp_path / "c").read_bytes()
    with pytest.raises(FileExistsError, match="resume"):
        so.train(make(), x, y, epochs=1, checkpoint=tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == before


OTHERS = {
    "layers": lambda: (so.SGD(so.mlp([4, 6, 3], rng=0), so.SoftmaxCrossEntropy()), {}),
    "loss": lambda: (so.SGD(so.mlp([4, 5, 3], rng=0), so.BoundedCriterion()), {}),
    "Adam": lambda: (make(so.Adam), {}),
    "train data": lambda: (make(), {"x": x + 1e-12}),
    "validation data": lambda: (make(), {"validation": (x, y)}),
    "shuffle": lambda: (make(), {"shuffle": False}),
}


@pytest.mark.parametrize("what", OTHERS)
def test_checkpoint_of_another_run_is_refused(what, tmp_path):
    so.train(make(), x, y, epochs=1, rng=1, checkpoint=tmp_path / "c")
    optimizer, change = OTHERS[what]()
    theta = optimizer.network.theta.copy()
    arguments = {"x": x, "y": y, "rng": 1} | change
    with pytest.raises(ValueError, match=what):
        so.train(optimizer, epochs=2, checkpoint=tmp_path / "c", resume=True, **arguments)
    assert np.array_equal(theta, optimizer.network.theta) and optimizer.steps == 0


class Directed(so.SGD):
    """Made with an array and a function."""

    def __init__(self, network, loss, weights, function=len):
        super().__init__(network, loss, 0.1)
        self.weights, self.function = weights, function


def test_memory_is_no_setting(tmp_path):
    """An adapted damping does not stand in the way; another function does."""
    optimizer = make(so.TruncatedNewton)
    before, kept = optimizer.state_dict(), tmp_path / "kept"
    so.train(optimizer, x, y, epochs=2, rng=1, checkpoint=kept)
    assert optimizer.state_dict() != before, "the memory has to have moved for this test"
    so.train(make(so.TruncatedNewton), x, y, epochs=3, rng=1, checkpoint=kept, resume=True)
    so.train(optimizer, x, y, epochs=4, rng=1, checkpoint=kept, resume=True)
    so.train(make(Directed, weights=np.ones(3)), x, y, epochs=1, checkpoint=tmp_path / "f")
    other = make(Directed, weights=np.ones(3), function=max)
    with pytest.raises(ValueError, match="function 'len', not 'max'"):
        so.train(other, x, y, epochs=2, checkpoint=tmp_path / "f", resume=True)


def test_a_setting_assigned_after_making_counts(tmp_path):
    so.train(make(so.Momentum), x, y, epochs=1, checkpoint=tmp_path / "c")
    optimizer = make(so.Momentum)
    optimizer.momentum = 0.5
    with pytest.raises(ValueError, match="momentum 0.9, not 0.5"):
        so.train(optimizer, x, y, epochs=2, checkpoint=tmp_path / "c", resume=True)


LONG_RUN = """
import sys
import numpy as np
import secondorder as so
rng = np.random.default_rng(0)
x, y = rng.normal(size=(300, 20)), rng.integers(0, 5, 300)
optimizer = so.TruncatedNewton(so.mlp([20, 15, 5], rng=0), so.SoftmaxCrossEntropy(), l2=1e-3)
history = so.train(optimizer, x, y, epochs=int(sys.argv[2]), batch_size=50, rng=1,
                   checkpoint=sys.argv[1],
                   resume=True, callback=lambda record: print(record.epoch, flush=True))
"""


@pytest.mark.slow
def test_resume_after_sigkill_is_bit_for_bit(tmp_path):
    """The same command again and again, killed each time without warning, ends where one run
    ends."""
    (tmp_path / "run.py").write_text(LONG_RUN)

    def start(name):
        command = [sys.executable, str(tmp_path / "run.py"), str(tmp_path / name), "40"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    whole = start("whole")
    assert whole.communicate(timeout=100)[0].split()[-1] == "40" and whole.returncode == 0
    rng, kills = np.random.default_rng(5), 0
    for _ in range(3):
        process = start("killed")
        process.stdout.readline()
        time.sleep(rng.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
    assert kills, "the run was too short to be killed"
    last = start("killed")
    assert last.communicate(timeout=100)[0] is not None and last.returncode == 0
    one, other = read_checkpoint(tmp_path / "whole"), read_checkpoint(tmp_path / "killed")
    assert one["theta"].tobytes() == other["theta"].tobytes()
    assert one["generator"] == other["generator"]
    for mine, theirs in zip(one["history"], other["history"], strict=True):
        assert json.dumps(mine | {"seconds": 0}) == json.dumps(theirs | {"seconds": 0})
    assert one["state"]["damping"] == other["state"]["damping"]
