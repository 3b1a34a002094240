"""Curvature along a direction against dense Hessians, for layers of every kind."""

import numpy as np
import pytest
from harness.cases import LOSSES, MIDDLE, network, targets

import secondorder as so
from secondorder.exact.conjugate_gradients import dot
from secondorder.papers.low_rank.eq_37_43_step_length import eq_38_39, pairs

L2 = 0.2


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("middle", MIDDLE)
def test_exact_form_for_every_layer(middle, loss):
    rng = np.random.default_rng(3)
    net, loss = network(middle, rng), LOSSES[loss]()
    x, y, v = rng.normal(size=(5, 2)), targets(loss, rng, 5), rng.normal(size=net.size)
    a, h = so.low_rank.directional_curvature(net, loss, x, y, v, l2=L2)
    H = so.exact.hessian(net, loss, x, y, method="products", l2=L2)
    g = so.exact.gradient(net, loss, x, y, l2=L2)
    assert abs(h - v @ H @ v) < 1e-13 * (np.abs(v) @ np.abs(H) @ np.abs(v))
    assert abs(a - v @ g) < 1e-13 * (np.abs(v) @ np.abs(g))


@pytest.mark.parametrize("total", (dot, lambda a, b: pairs(a[None], b[None])[0, 0] * len(a)),
                         ids=("dot", "pairs"))
def test_products_of_float32_are_summed_in_float64(total):
    """Large terms cancel, and what is left of them is beyond float32."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 4000)).astype(np.float32)
    a, b = np.concatenate([a, a, a[:3]]), np.concatenate([b, -b, b[:3]])
    expected = float(np.sum(a[-3:].astype(np.float64) * b[-3:].astype(np.float64)))
    assert abs(total(a[:, None], b[:, None]) - expected) < 1e-12


def test_directions_and_evaluations_that_are_refused():
    net, loss = so.mlp([3, 4, 3], activation="relu", rng=0), so.SoftmaxCrossEntropy()
    x, y, v = np.ones((1, 3)), np.array([1]), np.ones(net.size)
    assert so.low_rank.directional_curvature(net, loss, x, y, 0 * v) == (0.0, 0.0)
    with (np.errstate(over="ignore", invalid="ignore"),
          pytest.raises(FloatingPointError, match="curvature")):
        so.low_rank.directional_curvature(net, loss, x, y, v * 1e200)
    evaluation = net.evaluate(loss, x, y)
    net.theta = net.theta + 1
    with pytest.raises(RuntimeError, match="changed"):
        eq_38_39(evaluation, v)
