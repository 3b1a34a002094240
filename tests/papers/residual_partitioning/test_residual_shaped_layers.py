"""Rules of convolutions and pooling: judged one by one, and in networks."""

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative
from harness.shaped_networks import problem
from secondorder.nets import AvgPool2d, Conv2d, Flatten, MaxPool2d
from secondorder.papers.residual_partitioning import bound, bounded_hessian

LAYERS = {
    "convolution": (Conv2d(1, 2, 2, padding=1, stride=(2, 1), rng=0), (1, 2, 2)),
    "convolution, no bias": (Conv2d(2, 1, (1, 2), bias=False, rng=0), (2, 1, 3)),
    "convolution, fixed": (Conv2d(1, 2, 2, trainable=False, rng=0), (1, 2, 3)),
    "mean": (AvgPool2d(2, 1), (1, 3, 3)), "largest": (MaxPool2d(2), (1, 2, 4)),
    "flatten": (Flatten(), (2, 2)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_rule(name):
    report = so.verify.rule(*LAYERS[name])
    assert report.ok and "it is tight" in report.notes[0], str(report)


@pytest.mark.parametrize("way", ["abs", "max"])
def test_bounds_lie_above_the_hessians(way):
    net, loss, x, y = problem("convolutional")
    for output in ("jensen", "pairwise"):
        for cross, H in ((False, bounded_hessian(net, loss, x, y)),
                         (True, so.exact.hessian(net, loss, x, y, method="products"))):
            found = bound(net, loss, x, y, output, way, cross)
            least = np.linalg.eigvalsh(np.diag(found.curvature) - H)[0]
            assert least >= -1e-12 * found.curvature.max() and found.curvature.min() >= 0
    assert relative(found.gradient, so.exact.gradient(net, loss, x, y)) < 1e-13


@pytest.mark.parametrize("name, layer", [("normalised", "LayerNorm"), ("recurrent", "Recurrent")])
def test_layers_without_a_rule_are_refused_by_name(name, layer):
    net, loss, x, y = problem(name)
    for call in (lambda: bound(net, loss, x, y), lambda: bounded_hessian(net, loss, x, y),
                 lambda: so.ResidualPartitioning(net, loss)):
        with pytest.raises(TypeError, match=rf"does not support the layer {layer}\(.*supported "
                                            "layers: Linear, .*Conv2d"):
            call()
