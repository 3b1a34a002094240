"""Rules of convolutions, pooling and recurrences: judged one by one, in networks, in training."""

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative
from harness.everyday import all_but
from harness.shaped_networks import problem
from secondorder.nets import (AvgPool2d, Conv2d, Flatten, LayerNorm, MaxPool2d, Network, Recurrent)
from secondorder.papers.residual_partitioning import bound, bounded_hessian

LAYERS = {
    "convolution": (Conv2d(1, 2, 2, padding=1, stride=(2, 1), rng=0), (1, 2, 2), True),
    "convolution, no bias": (Conv2d(2, 1, (1, 2), bias=False, rng=0), (2, 1, 3), True),
    "convolution, fixed": (Conv2d(1, 2, 2, trainable=False, rng=0), (1, 2, 3), True),
    "mean": (AvgPool2d(2, 1), (1, 3, 3), True), "largest": (MaxPool2d(2), (1, 2, 4), True),
    "flatten": (Flatten(), (2, 2), True),
    "autonomous": (Recurrent(2, steps=3, rng=0), (2,), False),
    "autonomous, one step": (Recurrent(2, steps=1, activation="softplus", rng=0), (2,), True),
    "with input": (Recurrent(2, 2, bias=False, rng=0), (3, 2), False),
    "with input, fixed": (Recurrent(1, 2, trainable=False, rng=0), (2, 1), False),
}


@pytest.mark.parametrize("name", all_but(LAYERS, *(LAYERS.keys() - {"autonomous", "convolution"})))
def test_rule(name):
    layer, shape, tight = LAYERS[name]
    report = so.verify.rule(layer, shape)
    assert report, str(report)
    assert any("it is tight" in note for note in report.notes) == tight


@pytest.mark.everyday(1)
@pytest.mark.parametrize("name", ["convolutional", "recurrent"])
@pytest.mark.parametrize("way", ["abs", "max"])
def test_bounds_lie_above_the_hessians(name, way):
    net, loss, x, y = problem(name)
    for output in ("jensen", "pairwise"):
        for cross, H in ((False, bounded_hessian(net, loss, x, y)),
                         (True, so.exact.hessian(net, loss, x, y, method="products"))):
            found = bound(net, loss, x, y, output, way, cross)
            least = np.linalg.eigvalsh(np.diag(found.curvature) - H)[0]
            assert least >= -1e-12 * found.curvature.max()
            assert found.curvature.min() >= 0
        assert relative(found.gradient, so.exact.gradient(net, loss, x, y)) < 1e-13


@pytest.mark.parametrize("bias", [True, False])
def test_a_recurrence_is_bounded_like_its_unrolled_network(bias):
    """Curvatures of the copies add up, for the bound and for what is bounded."""
    rng = np.random.default_rng(4)
    layer = Recurrent(3, steps=3, bias=bias, rng=rng)
    chain = []
    for _ in range(3):
        linear = so.Linear(3, 3, bias=bias)
        linear.weight = layer.weight
        if bias:
            linear.bias = layer.bias
        chain += [linear, so.Activation("tanh")]
    front, back = so.Linear(2, 3, rng=rng), so.Linear(3, 2, rng=rng)
    net = Network([front.copy(), layer.copy(), back.copy()])
    unrolled = Network([front, *chain, back])
    x, y, end = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), 9 + 3 * layer.size
    for way, cross in (("abs", False), ("max", True)):
        ours = bound(net, so.SquaredError(), x, y, "auto", way, cross)
        theirs = bound(unrolled, so.SquaredError(), x, y, "auto", way, cross)
        copies = theirs.curvature[9:end].reshape(3, layer.size).sum(axis=0)
        assert relative(ours.curvature, np.concatenate([theirs.curvature[:9], copies,
                                                        theirs.curvature[end:]])) < 1e-13
    ones = np.zeros((unrolled.size, net.size))
    ones[:9, :9], ones[end:, 9 + layer.size:] = np.eye(9), np.eye(8)
    ones[9:end, 9:9 + layer.size] = np.tile(np.eye(layer.size), (3, 1))
    H = bounded_hessian(unrolled, so.SquaredError(), x, y)
    assert relative(bounded_hessian(net, so.SquaredError(), x, y), ones.T @ H @ ones) < 1e-12


def test_a_normalisation_is_refused_by_name():
    net, loss, x, y = problem("normalised")
    for call in (lambda: bound(net, loss, x, y), lambda: so.ResidualPartitioning(net, loss)):
        with pytest.raises(TypeError, match=r"residual partitioning does not support the layer "
                                            r"LayerNorm\(.*supported layers: Linear, .*Conv2d"):
            call()
    with pytest.raises(TypeError, match="does not support the layer LayerNorm"):
        so.verify.rule(LayerNorm(3))
