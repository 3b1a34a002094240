"""Convolutions, recurrences and normalisation in the low-rank paper's method: cubic steps take
them, the factors of fully-connected layers refuse them by name."""

import numpy as np
import pytest

import secondorder as so
from harness.cases import relative
from harness.shaped_networks import NETWORKS, problem


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("rates", ["single", "variable"])
def test_the_step_is_the_minimiser_of_the_dense_cubic_model(name, rates):
    net, loss, x, y = problem(name, samples=8)
    sigma, start = 30.0, net.theta.copy()
    g, H = -so.exact.gradient(net, loss, x, y), so.exact.hessian(net, loss, x, y, method="products")
    so.CubicRegularization(so.SGD(net, loss), sigma=sigma, rates=rates).step(x, y)
    model = ((-g**2, H.diagonal() * g**2, np.abs(g)) if rates == "variable"
             else (-g @ g, g @ H @ g, np.linalg.norm(g)))
    assert relative(net.theta - start, so.low_rank.step_length(*model, sigma) * g) < 1e-10


@pytest.mark.parametrize("name, layer", [("convolutional", "Conv2d"), ("recurrent", "Recurrent"),
                                         ("normalised", "Reshape|LayerNorm")])
def test_what_is_for_fully_connected_networks_says_so(name, layer):
    net, loss, x, y = problem(name)
    v = np.ones(net.size)
    calls = [lambda: so.low_rank.hessian(net, loss, x, y),
             lambda: so.low_rank.SampleHessian(net, loss, x[:1], y[:1]),
             lambda: so.low_rank.directional_curvature(net, loss, x, y, v, form="printed"),
             *(lambda rates=rates: so.CubicRegularization(so.SGD(net, loss), rates=rates)
               for rates in ("printed", "layer", "layer printed", "separate", "option 1",
                             "option 2"))]
    for call in calls:
        with pytest.raises(TypeError, match=f"does not support the layer ({layer}).*supported "
                                            "layers: Linear, Activation"):
            call()
