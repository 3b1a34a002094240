"""What a run reports, by hand: means over steps, accuracies."""


import numpy as np
import pytest
from test_training_endings import make

import secondorder as so
from secondorder.training import evaluate

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(23, 4)), RNG.integers(0, 3, 23)


# -- accuracies and means --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint8", "uint32", "int8", "int64"])
def test_labels_of_any_whole_dtype_have_an_accuracy(dtype):
    net, loss = so.mlp([4, 5, 3], rng=0), so.SoftmaxCrossEntropy()
    value, accuracy = evaluate(net, loss, X, Y.astype(dtype))
    assert accuracy == np.mean(net(X).argmax(axis=1) == Y)
    assert value == pytest.approx(net.evaluate(loss, X, Y).loss, rel=1e-14)


@pytest.mark.parametrize("samples", [1023, 1025, 2500])
def test_a_large_set_is_weighted_by_its_samples(samples):
    """The loss of 1024 and of the one after it count as 1024 to 1."""
    net, loss = so.mlp([4, 3], rng=0), so.SquaredError()
    x = np.concatenate([RNG.normal(size=(samples - 1, 4)), np.full((1, 4), 50.0)])
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
    history = so.train(make(Reporting), X, Y, epochs=3, batch_size=10, last_batch="keep", rng=0,
                       evaluate_every=2)
    assert history.column("number")[1:].tolist() == [2.5, 7.0]
    assert history.column("odd")[1:].tolist() == [3.0, 7.0]
    assert history.column("outer.inner.number")[1:].tolist() == [5.0, 14.0]
    assert history.column("outer.flag")[1:].tolist() == [1.0, 1.0]
    assert "name" not in history.names
    assert np.isnan(history.column("number")[0])


def test_a_callback_gets_a_copy_of_each_record():
    def spoil(record):
        record["train_loss"] = -1.0
        record["mine"] = 1

    history = so.train(make(), X, Y, epochs=2, rng=0, callback=spoil)
    assert min(history.column("train_loss")) > 0 and "mine" not in history.names


