"""The training loop: batches, records, callback, progress, and what happens when numbers are no
longer finite."""

import functools
import io
import json
import pickle
import warnings

import numpy as np
import pytest

import secondorder as so
from secondorder.training import History, Record, TrainingStopped, evaluate

train = functools.partial(so.train, last_batch="keep")  # three batches an epoch: 10, 10 and 3 of 23


def problem(samples=23, seed=3):
    """Labels of three overlapping clusters, inputs (samples, 4)."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=samples)
    return rng.normal(size=(samples, 4)) + np.eye(3, 4)[y], y


def make(kind=so.SGD, rng=0, dtype="float64", **settings):
    net = so.mlp([4, 5, 3], rng=rng, dtype=dtype)
    return kind(net, so.SoftmaxCrossEntropy(), **({"learning_rate": 0.1} | settings))


class Spy(so.SGD):
    """SGD that keeps the batches it was given."""

    def step(self, x, y):
        if not hasattr(self, "batches"):
            self.batches = []
        self.batches.append((x.copy(), y.copy()))
        return super().step(x, y)


def test_batches_cover_every_epoch_once():
    x, y = problem()
    optimizer = make(Spy)
    history = train(optimizer, x, y, epochs=2, batch_size=10, rng=7)
    assert [len(b[0]) for b in optimizer.batches] == [10, 10, 3] * 2
    rng = np.random.default_rng(7)
    for epoch in range(2):
        order = rng.permutation(23)
        seen_x, seen_y = zip(*optimizer.batches[3 * epoch:3 * epoch + 3])
        np.testing.assert_array_equal(np.concatenate(seen_x), x[order])
        np.testing.assert_array_equal(np.concatenate(seen_y), y[order])
    assert [record.step for record in history.records] == [0, 3, 6]
    still = make(Spy)
    train(still, x, y, epochs=1, batch_size=100, shuffle=False)
    assert len(still.batches) == 1 and np.array_equal(still.batches[0][0], x)


def test_same_as_the_steps_by_hand():
    x, y = problem()
    optimizer, by_hand = make(so.Adam, l2=0.01), make(so.Adam, l2=0.01)
    train(optimizer, x, y, epochs=3, batch_size=10, rng=1)
    rng = np.random.default_rng(1)
    for _ in range(3):
        order = rng.permutation(23)
        for start in (0, 10, 20):
            by_hand.step(x[order[start:start + 10]], y[order[start:start + 10]])
    assert np.array_equal(optimizer.network.theta, by_hand.network.theta)


def test_records():
    (x, y), (xv, yv) = problem(), problem(9, seed=4)
    optimizer = make(so.TruncatedNewton, learning_rate=1.0, l2=0.1)
    seen = []
    history = train(optimizer, x, y, epochs=3, batch_size=10, validation=(xv, yv), rng=0,
                    callback=seen.append)
    net, loss = optimizer.network, optimizer.loss
    assert history.method == "TruncatedNewton" and history.stopped is None and len(history) == 4
    assert history.column("epoch").tolist() == [0, 1, 2, 3]
    assert history.column("step").tolist() == [0, 3, 6, 9]
    start, last = history.records[0], history.records[-1]
    assert start.train_loss == pytest.approx(so.mlp([4, 5, 3], rng=0).evaluate(loss, x, y).loss,
                                             rel=1e-14)
    assert last["train_loss"] == pytest.approx(net.evaluate(loss, x, y).loss, rel=1e-14)
    assert last["validation_loss"] == pytest.approx(net.evaluate(loss, xv, yv).loss, rel=1e-14)
    assert last["train_accuracy"] == np.mean(net(x).argmax(1) == y)
    assert last["validation_accuracy"] == np.mean(net(xv).argmax(1) == yv)
    assert start.seconds == 0 and np.all(np.diff(history.column("seconds")) > 0)
    assert "gradient_norm" not in start
    assert last.learning_rate == 1.0 and 0 < last.cg_iterations <= 50
    assert np.isnan(history.column("cg_iterations")[0])
    assert not np.isnan(history.column("cg_iterations")[1:]).any()
    assert seen == history.records and seen[0] is not history.records[0]
    assert json.loads(json.dumps(history.to_dict()))["records"] == [dict(record)
                                                                    for record in history.records]
    copied = pickle.loads(pickle.dumps(history))
    assert copied.to_dict() == history.to_dict() and copied.records[1].epoch == 1


def test_callback_may_stop():
    x, y = problem()
    optimizer = make()

    def stop(intermediate_result):
        if intermediate_result.epoch == 2:
            raise StopIteration

    history = train(optimizer, x, y, epochs=10, batch_size=10, callback=stop)
    assert history.stopped == "callback"
    assert history.column("epoch").tolist() == [0, 1, 2]
    assert optimizer.steps == 6


class Exploding(so.SGD):
    """SGD whose fifth step goes far away, or fails on the spot."""

    def __init__(self, network, loss, learning_rate, how):
        super().__init__(network, loss, learning_rate)
        self.how = how

    def direction(self, evaluation):
        direction = super().direction(evaluation)
        if self.steps == 4:
            direction[:] = {"far": 1e308, "nan": np.nan}[self.how]
        return direction


@pytest.mark.parametrize("how, step", [("far", 6), ("nan", 5)])
def test_not_finite(how, step):
    (x, y), optimizer = problem(), make(Exploding, learning_rate=1.0, how=how)
    thetas = []
    step_before = optimizer.step
    optimizer.step = lambda x, y: thetas.append(optimizer.network.theta.copy()) or step_before(x, y)
    with pytest.raises(TrainingStopped, match=rf"epoch 2, step {step}: .*layer") as caught:
        train(optimizer, x, y, epochs=4, batch_size=10, rng=0)
    error = caught.value
    assert isinstance(error, FloatingPointError) and isinstance(error.__cause__, FloatingPointError)
    assert (error.epoch,
            error.step) == (2, step) and error.history.column("epoch").tolist() == [0, 1]
    theta = optimizer.network.theta
    assert np.abs(theta).max() < 100 and any(np.array_equal(theta, other) for other in thetas[3:5])
    assert np.isfinite(evaluate(optimizer.network, optimizer.loss, x, y)[0])
    copied = pickle.loads(pickle.dumps(error))
    assert copied.step == step
    assert copied.history.to_dict() == error.history.to_dict()
    assert str(copied) == str(error)


def test_not_finite_before_the_first_step():
    (x, y), optimizer = problem(), make()
    optimizer.network.layers[2].weight = np.full((3, 5), 1e308)
    optimizer.network.layers[0].bias = np.full(5, 5.0)
    theta = optimizer.network.theta.copy()
    with pytest.raises(TrainingStopped, match="epoch 0, step 0.*layer 2") as caught:
        train(optimizer, x, y)
    assert "epoch 0, step 0" in caught.value.history.stopped
    assert np.array_equal(optimizer.network.theta, theta)


def test_interrupt_keeps_the_history():
    x, y = problem()
    optimizer = make()

    def interrupt(intermediate_result):
        if intermediate_result.epoch == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        train(optimizer, x, y, epochs=10, callback=interrupt)
    assert caught.value.history.column("epoch").tolist() == [0, 1, 2, 3]
    assert caught.value.history.stopped == "interrupt"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream, progress, lines", [
    (Terminal(), None, 1), (io.StringIO(), None, 0), (io.StringIO(), True, 1),
    (Terminal(), False, 0)])
def test_progress(monkeypatch, stream, progress, lines):
    monkeypatch.setattr("sys.stderr", stream)
    x, y = problem()
    train(make(), x, y, epochs=2, batch_size=10, validation=(x, y), progress=progress)
    text = stream.getvalue()
    assert text.count("\n") == lines and text.count("\r") == 3 * lines
    assert not lines or ("epoch 2/2  step 6  loss " in text and text.endswith("\n"))


x, y = problem()
BAD = [({"batch_size": None}, TypeError, "batch_size"),
       ({"checkpoint": "."}, IsADirectoryError, "directory"),
       ({"progress": "yes"}, TypeError, "progress"),
       ({"validation": (x, y[:5])}, ValueError, "validation: .*23.*5"),
       ({"validation": (x[:, :3], y)}, ValueError, r"validation: .*\(23, 3\)"),
       ({"validation": (x, y + 9)}, ValueError, "validation: .*out of range"),
       ({"x": np.array([["a"] * 4] * 23)}, TypeError, "real numbers"),
       ({"y": y.astype(float)}, TypeError, "integers"),
       ({"y": np.where(np.arange(23) == 22, -1, y)}, ValueError, "sample 22"),
       ({"y": 3}, ValueError, r"\(\)"), ({"rng": -1}, ValueError, "^rng must be .*-1")]


@pytest.mark.parametrize("change, error, words", BAD)
def test_bad_arguments_are_refused_before_any_work(change, error, words):
    optimizer = make()
    theta = optimizer.network.theta.copy()
    called = []
    arguments = {"x": x, "y": y, "callback": called.append} | change
    with pytest.raises(error, match=words):
        train(optimizer, **arguments)
    assert np.array_equal(optimizer.network.theta, theta) and optimizer.steps == 0 and not called


def test_a_run_that_ends_above_its_start_warns():
    """Penalty included: where that falls by more than the loss rises, all is well."""
    x, y = problem()
    with pytest.warns(UserWarning, match=r"ends above its start: .* rose from 1\.\d+ to .*rate"):
        train(make(learning_rate=100.0), x, y, epochs=2, rng=0)
    optimizer = make(l2=1.0)
    optimizer.network.theta = 3 * optimizer.network.theta
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(make(), x, y, epochs=2, rng=0)
        history = train(optimizer, x, y, epochs=1, rng=0)
    assert history.records[-1].train_loss > 0


def test_what_is_meant_is_said():
    (x, y), optimizer = problem(), make()
    for call, words in (
            (lambda: so.train(optimizer.network, optimizer.loss, x, y),
             r"in so.train\(so.Adam\(network, loss\), x, y\), got .*Network"),
            (lambda: so.Adam(optimizer.network, optimizer.loss, lr=0.1),
             "Adam takes no argument 'lr': learning_rate is meant"),
            (lambda: so.SGD(optimizer.network, optimizer.loss, weight_decay=0.1),
             "SGD takes no argument 'weight_decay': l2 is meant")):
        with pytest.raises(TypeError, match=words):
            call()


@pytest.mark.parametrize("samples", [1023, 1025, 2500])
def test_a_large_set_is_weighted_by_its_samples(samples):
    """The loss of 1024 and of the one after it count as 1024 to 1."""
    net, loss, rng = so.mlp([4, 3], rng=0), so.SquaredError(), np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(samples - 1, 4)), np.full((1, 4), 50.0)])
    y = np.zeros((samples, 3))
    value, accuracy = evaluate(net, loss, x, y)
    assert accuracy is None
    assert value == pytest.approx((0.5 * net(x)**2).sum(axis=1).mean(), rel=1e-12)


class Reporting(so.SGD):
    """It reports its step, at every second step something else, and what lies deeper."""

    def direction(self, evaluation):
        self.details.update(number=float(self.steps), name="reporting")
        if self.steps % 2:
            self.details["odd"] = float(self.steps)
        self.details["outer"] = {"inner": {"number": 2.0 * self.steps}, "flag": True}
        return super().direction(evaluation)


def test_a_mean_is_over_the_steps_that_reported_it_since_the_last_record():
    """Two epochs, steps 0 to 5, then one, 6 to 8; of the odd ones 1, 3 and 5, then 7."""
    history = train(make(Reporting), *problem(), epochs=3, batch_size=10, rng=0, evaluate_every=2)
    assert history.column("number")[1:].tolist() == [2.5, 7.0]
    assert history.column("odd")[1:].tolist() == [3.0, 7.0]
    assert history.column("outer.inner.number")[1:].tolist() == [5.0, 14.0]
    assert history.column("outer.flag")[1:].tolist() == [1.0, 1.0]
    assert "name" not in history.names
    assert np.isnan(history.column("number")[0])


def test_history_and_record():
    history = History("SGD", [Record(epoch=0, train_loss=2.0), Record(epoch=1, train_loss=1.0)])
    assert history.column("train_loss").tolist() == [2.0, 1.0]
    with pytest.raises(ValueError, match="did you mean 'train_loss'"):
        history.column("trainloss")
    with pytest.raises(AttributeError, match="train_loss"):
        history.records[0].validation_loss
