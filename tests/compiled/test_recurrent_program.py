"""Recurrences by compiled passes against the literal ones."""

import numpy as np
import pytest

import secondorder as so
from harness.everyday import all_but
from harness.two_forms import both, check_every_quantity, close
from secondorder.nets import Activation, Linear, Network, SquaredError


def sequences(dtype, bias=True, trainable=True, activation="tanh", T=4):
    """An input at every step; first in the network."""
    return Network([so.Recurrent(3, 5, activation=activation, bias=bias, trainable=trainable,
                                 rng=0), Activation("sin"), Linear(5, 4, rng=1)],
                   dtype=dtype, input_shape=(T, 3))


def states(dtype, bias=True, trainable=True, activation="softplus", T=3):
    """No input but the first state; first, and last."""
    return Network([so.Recurrent(4, steps=T, activation=activation, bias=bias,
                                 trainable=trainable, rng=0), Linear(4, 4, rng=1),
                    so.Recurrent(4, steps=2, activation="leaky_relu", rng=2)], dtype=dtype)


def behind(dtype, bias=True, trainable=True, activation="sigmoid", T=3):
    """Both kinds behind other layers, inside skips, before what normalises."""
    rng = np.random.default_rng(0)
    return Network([Linear(5, 6, rng=rng), so.Skip([so.Recurrent(6, steps=T, rng=rng)]),
                    so.nets.Reshape(6, (3, 2)),
                    so.Recurrent(2, 7, activation=activation, bias=bias, trainable=trainable,
                                 rng=rng),
                    so.LayerNorm(7), Linear(7, 4, trainable=False, rng=rng)], dtype=dtype)


@pytest.mark.parametrize("make", [sequences, states, behind])
@pytest.mark.parametrize("dtype", all_but(["float64", "float32"], "float32"))
def test_every_quantity_is_the_literal_one(make, dtype):
    rng = np.random.default_rng(1)
    for samples, bias, trainable in ((9, True, True), (1, False, True), (3, True, False)):
        net = make(dtype, bias, trainable)
        x = rng.normal(size=(samples, *net.input_shape))
        check_every_quantity(net, SquaredError(), x, rng.normal(size=(samples, 4)))


@pytest.mark.parametrize("make", [sequences, states, behind])
@pytest.mark.parametrize("activation", ["identity", "relu", "sin"])
def test_any_activation_and_one_step_alone(make, activation):
    rng = np.random.default_rng(1)
    for T in (1, 3):
        net = make("float64", activation=activation, T=T if make is not behind else 1)
        x = rng.normal(size=(5, *net.input_shape))
        check_every_quantity(net, SquaredError(), x, rng.normal(size=(5, 4)))


def test_steps_with_a_shorter_last_batch_are_the_literal_ones():
    rng, ends = np.random.default_rng(1), []
    x, y = rng.normal(size=(20, 4, 3)), rng.normal(size=(20, 4))
    for literal in (False, True):
        net = sequences("float64")
        methods = [so.SGD(net, SquaredError(), 0.1), so.Adam(net, SquaredError(), 0.01)]
        with so.literal(literal):
            for rows in (slice(0, 8), slice(8, 16), slice(16, 20)):
                for method in methods:
                    method.step(x[rows], y[rows])
        ends.append(net.theta.copy())
    np.testing.assert_allclose(*ends, rtol=1e-9)


class Own(so.nets.Tanh):
    def slope(self, x):
        return super().slope(x)


def test_an_activation_of_the_authors_runs_literally(capsys):
    net = Network([so.Recurrent(2, steps=2, activation=Own(), rng=0)])
    net.summary()
    assert "literal passes run: " in capsys.readouterr().out
    close(*both(lambda: net(np.ones((3, 2)))))
