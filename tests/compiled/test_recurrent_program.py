"""Recurrences by compiled passes against the literal ones."""

import numpy as np
import pytest

import secondorder as so
from harness.everyday import all_but
from harness.two_forms import check_every_quantity
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
