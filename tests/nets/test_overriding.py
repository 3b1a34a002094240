"""Whoever overrides a pass, subclass or mixin, is heard: no faster path of a parent goes round
it."""

import numpy as np
import pytest

import secondorder as so
from secondorder.exact import finite_differences
from secondorder.nets import Activation, Layer, Linear, Network, Skip, Tanh
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


class Derived(Linear):
    def forward(self, x):
        y, saved = super().forward(x)
        return 2 * y, saved._replace(output=2 * y)

    def backward(self, saved, y_bar):
        return super().backward(saved, 2 * y_bar)


class DoubledCoupling(Doubling, Coupling):
    pass


class DoubledSkip(Doubling, Skip):
    pass


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("layer", [
    Mixed(4, 4, rng=0), Derived(4, 4, rng=0),
    DoubledCoupling(4, 7, "first", activation="tanh", rng=0),
    DoubledSkip([Linear(4, 4, rng=0), Activation("tanh")])], ids=lambda layer: type(layer).__name__)
def test_a_layer_with_its_own_backward(layer, first):
    """As the first layer only the parameters' half is asked for, elsewhere both."""
    layers = [layer.copy()] if first else [Linear(4, 4, rng=1), layer.copy()]
    net, loss, rng = Network(layers), so.SquaredError(), np.random.default_rng(0)
    x, y = rng.normal(size=(6, 4)), rng.normal(size=(6, 4))
    gradient = so.exact.gradient(net, loss, x, y)
    assert finite_differences.central(finite_differences.objective(net, loss, x, y),
                                      net.theta).excess(gradient) <= 1
    before = net.theta.copy()
    so.SGD(net, loss, learning_rate=0.1).step(x, y)
    np.testing.assert_allclose(net.theta, before - 0.1 * gradient, rtol=1e-13)


def test_a_half_that_is_overridden_last_wins():
    class Half(Derived):
        def input_gradient(self, saved, y_bar):
            return 7 * y_bar @ self.weight

    layer = Half(3, 2, rng=0)
    saved = layer.forward(np.ones((2, 3)))[1]
    np.testing.assert_allclose(layer.input_gradient(saved, np.ones((2, 2))), 7 * np.ones((2, 2))
                               @ layer.weight)


def test_a_forgotten_constructor_is_named():
    class Forgetful(Layer):
        def __init__(self):
            self.declare("gain", np.ones(2))

    with pytest.raises(TypeError,
                       match=r"Forgetful must call super\(\).__init__\(\) before it declares "
                             r"parameters"):
        Forgetful()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_layer_that_changes_the_dtype_is_named(dtype):
    class Upcasting(Tanh):
        def value(self, x):
            return np.tanh(x) / np.sqrt(np.float64(2))

    net = Network([Linear(3, 2, rng=0), Activation(Upcasting()), Linear(2, 2, rng=0)], dtype=dtype)
    if dtype == "float64":
        assert net(np.ones((1, 3))).dtype == np.float64
    else:
        with pytest.raises(TypeError,
                           match=r"the outputs of layer 1, Activation\(tanh\), must hold "
                                 r"float32.*got float64"):
            net(np.ones((1, 3)))


@pytest.mark.parametrize("wrong, error, message", [
    (lambda v: v.sum(), ValueError, r"value must have shape \(4,\), one row per sample, got \(\)"),
    (lambda v: v[:, None], ValueError,
     r"value must have shape \(4,\), one row per sample, got \(4, 1\)"),
    (lambda v: v.astype(np.float32), TypeError,
     "value must hold float64 like the network, got float32")])
def test_a_loss_of_another_form_is_refused(wrong, error, message):
    class Odd(so.SquaredError):
        def value(self, p, target):
            return wrong(super().value(p, target))

    with pytest.raises(error, match=message):
        so.mlp([3, 2], rng=0).evaluate(Odd(), np.ones((4, 3)), np.zeros((4, 2)))


@pytest.mark.parametrize("name", ["direction", "change"])
@pytest.mark.parametrize("kind", [so.SGD, so.Momentum, so.Adagrad, so.Adadelta, so.Adam,
                                  so.ResidualPartitioning])
def test_a_step_in_one_pass_does_not_go_round_an_override(kind, name):
    """Subclass or mixin: the step is what was written, not what the parent's kernel does."""
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
    mixed.step(x, y)
    twin.step(x, y)
    assert np.array_equal(net.theta[2:], start[2:])
    np.testing.assert_allclose(net.theta[:2], twin.network.theta[:2], rtol=1e-14)
    assert (net.theta[:2] != start[:2]).all()
