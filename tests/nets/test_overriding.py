"""Whoever overrides a pass, subclass or mixin, is heard: no faster path of a parent goes round it.
"""

import numpy as np
import pytest

import secondorder as so
from secondorder.exact import finite_differences
from secondorder.nets import Activation, Linear, Network, Skip
from secondorder.papers.reversible_gauss_newton.eq_14_15_coupling import Coupling


class Doubling:
    """Twice what the layer beside it makes: `forward` and `backward` only."""

    def forward(self, x):
        y, saved = super().forward(x)
        return 2 * y, saved._replace(output=2 * y)

    def backward(self, saved, y_bar):
        return super().backward(saved, 2 * y_bar)


class Mixed(Doubling, Linear):
    pass


class DoubledCoupling(Doubling, Coupling):
    pass


class DoubledSkip(Doubling, Skip):
    pass


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("layer", [
    Mixed(4, 4, rng=0), DoubledCoupling(4, 7, "first", activation="tanh", rng=0),
    DoubledSkip([Linear(4, 4, rng=0), Activation("tanh")])], ids=lambda layer: type(layer).__name__)
def test_a_layer_with_its_own_backward(layer, first):
    """As the first layer only the parameters' half is asked for, elsewhere both."""
    layers = [layer.copy()] if first else [Linear(4, 4, rng=1), layer.copy()]
    net, loss, rng = Network(layers), so.SquaredError(), np.random.default_rng(0)
    x, y = rng.normal(size=(6, 4)), rng.normal(size=(6, 4))
    gradient = so.exact.gradient(net, loss, x, y)
    assert finite_differences.central(finite_differences.objective(net, loss, x, y),
                                      net.theta).excess(gradient) <= 1
