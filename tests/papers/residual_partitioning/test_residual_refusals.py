"""Which layers `bounded_hessian` refuses, and that parameters must be those of the evaluation."""

import numpy as np
import pytest

import secondorder as so
from secondorder.papers.residual_partitioning.method import bound_at


class Bent(so.Layer):
    """y = x + x^2 / 2, curved, and unknown to residual partitioning."""

    def forward(self, x):
        return x + x**2 / 2, so.nets.LinearSaved(x, x + x**2 / 2)

    def backward(self, saved, y_bar):
        return y_bar * (1 + saved.input), np.zeros(0)

    def tangent(self, saved, x_tangent, theta_tangent):
        return np.zeros_like(saved.output) if x_tangent is None else (1 + saved.input) * x_tangent


@pytest.mark.parametrize("layer", [Bent(), so.nets.Skip([Bent()])])
def test_bounded_hessian_does_not_leave_out_the_curvature_of_a_layer_it_does_not_know(layer):
    net = so.Network([so.Linear(3, 2, rng=0), layer, so.Linear(2, 1, rng=1)])
    with pytest.raises(TypeError, match="bounded_hessian does not support the layer Bent"):
        so.residual_partitioning.bounded_hessian(net, so.SquaredError(), np.ones((4, 3)),
                                                 np.zeros((4, 1)))


def test_a_bound_is_refused_once_the_parameters_have_changed():
    at = so.mlp([3, 2], rng=0).evaluate(so.SquaredError(), np.ones((4, 3)), np.zeros((4, 2)))
    at.network.theta = at.network.theta + 1
    with pytest.raises(RuntimeError, match="parameters have changed"):
        bound_at(at)
