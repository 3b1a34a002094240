"""The compiled form of the two numbers of a step length against the literal one."""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Activation, Chain, Linear, Network, Workspace
from secondorder.papers.low_rank.curvature import directional_curvature_at

NETS = {
    "bent": [Activation("sin"), Linear(4, 7), Activation("tanh"), Chain([Linear(7, 6, bias=False),
             Activation("softplus")]), so.Skip([Linear(6, 6), Activation("sigmoid")]),
             Linear(6, 3)],
    "straight": [Linear(4, 7), Activation("leaky_relu"), Linear(7, 3)],
    "normalised": [Linear(4, 7), so.LayerNorm(7), Activation("tanh"), Linear(7, 3)],
}


def network(kind, dtype):
    net = Network([layer.copy() for layer in NETS[kind]], dtype=dtype, input_shape=(4,))
    net.theta = np.random.default_rng(0).normal(size=net.size) / 2
    return net


@pytest.mark.parametrize("kind", NETS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("loss", [so.SquaredError(), so.SoftmaxCrossEntropy()], ids=repr)
def test_the_compiled_curvature_is_the_literal_one(kind, dtype, loss):
    """Also where a layer has no second tangent of its own: then by a product."""
    net, rng, workspace = network(kind, dtype), np.random.default_rng(1), Workspace()
    eps = float(np.finfo(dtype).eps)
    for rows in (6, 9, 1):
        x, y = rng.normal(size=(rows, 4)), rng.integers(0, 3, rows)
        if isinstance(loss, so.SquaredError):
            y = rng.normal(size=(rows, 3))
        v = rng.normal(size=net.size).astype(dtype)
        for own in (None, workspace):
            found = directional_curvature_at(net.evaluate(loss, x, y, own), v, l2=0.1)
            with so.literal():
                literal = directional_curvature_at(net.evaluate(loss, x, y), v, l2=0.1)
            assert found == pytest.approx(literal, rel=1e4 * eps)
        wide = net.astype("float64")
        product = so.exact.hessian_vector_product(wide, loss, x, y, v.astype(float), l2=0.1)
        assert found[1] == pytest.approx(v.astype(float) @ product, rel=1e4 * eps)
