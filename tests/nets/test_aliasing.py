"""What a caller holds and what the library keeps are different arrays."""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Activation, Network


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    return so.mlp([5, 4, 3],
                  rng=0), so.SquaredError(), rng.normal(size=(7, 5)), rng.normal(size=(7, 3))


@pytest.mark.parametrize("which", ["inputs", "targets"])
def test_data_that_change_after_an_evaluation(case, which):
    net, loss, x, y = case
    v = np.ones(net.size)
    gradient = so.exact.gradient(net, loss, x, y)
    product = so.exact.hessian_vector_product(net, loss, x, y, v)
    evaluation, operator = net.evaluate(loss, x, y), so.exact.HessianOperator(net, loss, x, y)
    (x if which == "inputs" else y)[...] = 100.0
    assert np.array_equal(evaluation.gradient, gradient) and np.array_equal(operator @ v, product)


def test_views_are_told_from_copies(case):
    """A slice of the caller's array is his as well; a converted array is not copied again."""
    net, loss, x, y = case
    whole = np.concatenate([x, x])
    evaluation = net.evaluate(loss, whole[:7], y)
    assert not np.shares_memory(evaluation.x, whole)


def test_the_gradient_is_read_only(case):
    net, loss, x, y = case
    evaluation = net.evaluate(loss, x, y)
    for gradient in (evaluation.gradient, evaluation.objective_gradient(0.1)):
        with pytest.raises(ValueError, match="read-only"):
            gradient *= 2
    so.exact.gradient(net, loss, x, y)[:] = 0  # this one is the caller's own


def test_outputs_are_never_the_inputs():
    net = Network([Activation("identity")], input_shape=(3,))
    x = np.ones((2, 3))
    net(x)[...] = 5
    assert (x == 1).all()


def test_setting_a_parameter_of_a_bound_layer_copies(case):
    net, loss, x, y = case
    layer = net.layers[0]
    layer.parameters["weight"] = np.full((4, 5), 0.25)
    assert np.shares_memory(layer.weight, net.theta) and (net.theta[:20] == 0.25).all()
    loose = layer.copy()
    loose.parameters["weight"] = np.zeros((4, 5))
    assert (net.theta[:20] == 0.25).all() and (loose.weight == 0).all()
