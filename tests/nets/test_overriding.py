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


def test_a_half_that_is_overridden_last_wins():
    class Half(Mixed):
        def input_gradient(self, saved, y_bar):
            return 7 * y_bar @ self.weight

    layer = Half(3, 2, rng=0)
    saved = layer.forward(np.ones((2, 3)))[1]
    np.testing.assert_allclose(layer.input_gradient(saved, np.ones((2, 2))),
                               7 * np.ones((2, 2)) @ layer.weight)
    assert Linear.many_directions and not Half.many_directions


@pytest.mark.parametrize("name", ["direction", "change"])
@pytest.mark.parametrize("kind", [so.Momentum, so.Adam, so.ResidualPartitioning])
def test_a_step_in_one_pass_does_not_go_round_an_override(kind, name):
    """The step is what was written, not what the parent's kernel does."""
    class Zeroed:
        pass

    def zeroed(self, *arguments):
        result = getattr(super(Zeroed, self), name)(*arguments)
        result[2:] = 0
        return result

    setattr(Zeroed, name, zeroed)
    net, rng = so.mlp([3, 2], rng=0), np.random.default_rng(0)
    x, y = rng.normal(size=(9, 3)), rng.normal(size=(9, 2))
    twin = kind(net.copy(), so.SquaredError(), learning_rate=0.1)
    mixed = type("Mixed", (Zeroed, kind), {})(net, so.SquaredError(), learning_rate=0.1)
    start = net.theta.copy()
    mixed.step(x, y), twin.step(x, y)
    assert np.array_equal(net.theta[2:], start[2:]) and (net.theta[:2] != start[:2]).all()
    np.testing.assert_allclose(net.theta[:2], twin.network.theta[:2], rtol=1e-14)
