"""Layers that are not trained in compiled networks, and LayerNorm over parts of a sample."""

import numpy as np
import pytest

import secondorder as so
from harness.two_forms import both, check_every_quantity, close
from secondorder.nets import Activation, Chain, Linear, Network, SoftmaxCrossEntropy, SquaredError


def frozen(where, dtype="float64", bias=True, rng=0):
    """Fixed layers first, in the middle, last, or in a chain and a skip that hold trained ones."""
    rng = np.random.default_rng(rng)

    def linear(n_in, n_out, trainable=True):
        return Linear(n_in, n_out, bias=bias, trainable=trainable, rng=rng)

    fixed = {name: name != where for name in ("first", "middle", "last")}
    inside = where != "inside"
    net = Network([
        linear(6, 8, fixed["first"]), Activation("tanh"), so.LayerNorm(8, trainable=inside),
        so.Skip([linear(8, 7), Activation("sin"),
                 Chain([linear(7, 8, inside), so.Skip([linear(8, 8, inside)])])]),
        linear(8, 9, fixed["middle"]), Activation("softplus"), linear(9, 5, fixed["last"])],
        dtype=dtype)
    for parameters in (net.theta, *net.fixed_parameters()):
        parameters += rng.normal(size=parameters.shape) / 5  # a LayerNorm begins with 1 and 0
    return net


PLACES = ["first", "middle", "last", "inside"]


def problem(samples, shape=(6,)):
    rng = np.random.default_rng(1)
    return rng.normal(size=(samples, *shape)), rng.integers(0, 5, samples)


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_quantity_beside_fixed_layers_is_the_literal_one(where, dtype):
    for samples, bias in ((11, True), (1, False)):
        check_every_quantity(frozen(where, dtype, bias), SoftmaxCrossEntropy(), *problem(samples))


@pytest.mark.parametrize("where", PLACES)
def test_fixed_values_may_be_set_in_place(where):
    net, (x, _) = frozen(where), problem(4)
    before = net(x)
    layer = next(a for a in net.chain.sublayers() if isinstance(a, Linear) and not a.trainable)
    layer.weight = np.zeros_like(layer.weight)
    close(*both(lambda: net(x)))
    assert np.abs(net(x) - before).max() > 0.01


def test_a_network_of_which_nothing_is_trained_gives_its_outputs():
    net = Network([Linear(6, 5, trainable=False, rng=0), so.LayerNorm(5, trainable=False)])
    close(*both(lambda: net(problem(3)[0])))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("trainable", [True, False])
def test_blocks_of_a_sample_are_normalised_one_by_one(dtype, trainable):
    """Over one axis, over two of three, and of one number; first and behind other layers."""
    rng = np.random.default_rng(0)
    net = Network([so.LayerNorm(4, trainable=trainable), so.Flatten(), Linear(24, 24, rng=rng),
                   so.nets.Reshape(24, (2, 3, 4)), so.LayerNorm((3, 4), 0.1, trainable=trainable),
                   so.Skip([so.LayerNorm(4), Activation("tanh")]), so.Flatten(),
                   Linear(24, 5, rng=rng), so.nets.Reshape(5, (5, 1)), so.LayerNorm(1),
                   so.Flatten()], dtype=dtype, input_shape=(2, 3, 4))
    for parameters in (net.theta, *net.fixed_parameters()):
        parameters += rng.normal(size=parameters.shape) / 5
    for samples in (9, 1):
        x = rng.normal(size=(samples, 2, 3, 4))
        check_every_quantity(net, SquaredError(), x, rng.normal(size=(samples, 5)))
