"""Networks whose layers bend differently, and the point where nothing slopes."""

import numpy as np
from harness.cases import relative

import secondorder as so
from secondorder.papers.low_rank.curvature import sample_curvatures_at
from secondorder.papers.low_rank.diagonal import hessian_diagonal_at
from secondorder.nets import Activation, Linear, Network


def test_diagonal_where_only_a_deeper_activation_is_curved():
    """A shortcut that looks at the first activation alone takes this network for straight."""
    rng = np.random.default_rng(3)
    net = Network([Linear(3, 4, init=0.9, rng=rng), Activation("relu"),
                   Linear(4, 4, init=0.9, rng=rng), Activation("tanh"),
                   Linear(4, 3, init=0.9, rng=rng)])
    loss, x, y = so.SoftmaxCrossEntropy(), rng.normal(size=(6, 3)), rng.integers(0, 3, 6)
    found = hessian_diagonal_at(net.evaluate(loss, x, y))
    assert relative(found, np.diag(so.exact.hessian(net, loss, x, y, method="products"))) < 1e-13


def test_a_stationary_point_is_no_ascent():
    net = so.mlp([2, 1], bias=False, rng=0)
    x = np.array([[1.0, 2.0], [-1.0, 0.5]])
    optimizer = so.CubicRegularization(so.SGD(net, so.SquaredError()))
    info = optimizer.step(x, net(x))
    assert info["slope"] == 0 and info["descent"] is True
    assert (optimizer.ascents, optimizer.skipped) == (0, 1)


def test_sample_curvatures_where_a_layer_has_one_parameter():
    rng = np.random.default_rng(4)
    net, loss = so.mlp([1, 1, 2], activation="tanh", bias=False, rng=rng), so.SquaredError()
    x, y = rng.normal(size=(3, 1)), rng.normal(size=(3, 2))
    slopes, bends, lengths = sample_curvatures_at(net.evaluate(loss, x, y))
    for s in range(3):
        one = net, loss, x[s:s + 1], y[s:s + 1]
        g, H = so.exact.gradient(*one), so.exact.hessian(*one, method="products")
        found = [slopes[s], bends[s], lengths[s]]
        assert np.allclose(found, [-g @ g, g @ H @ g, np.linalg.norm(g)], rtol=1e-12, atol=0)
