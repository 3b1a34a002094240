"""Who is run by his own passes: whoever overrides anything has no entry in the compiled form."""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import (Activation, ActivationFunction, Linear, Network, Skip, SquaredError,
                              Tanh, activation_function, programs)
from secondorder.nets.entries import Entries


class Louder:
    """A mixin: twice what the class beside it makes."""

    def forward(self, x):
        y, saved = super().forward(x)
        return 2 * y, saved._replace(output=2 * y)


class Mixed(Louder, Linear):
    pass


class Masked(Linear):
    @property
    def weight(self):
        return super().weight * 0.5


class Named(Linear):
    def __init__(self, name):
        super().__init__(3, 2, rng=0)
        self.name = name

    def __repr__(self):
        return self.name


class Below(Mixed):
    pass


def test_whoever_overrides_anything_has_no_entry():
    def has_entry(layer):
        return programs.layers.find(layer) is not None

    assert all(map(has_entry, (Linear(3, 2), Named("one"))))
    assert not any(has_entry(kind(3, 2)) for kind in (Mixed, Below, Masked))
    shadowed = Linear(3, 2)
    shadowed.forward = lambda x: None
    assert not has_entry(shadowed) and has_entry(Linear(3, 2))

    class OwnHalf(Skip):
        def input_gradient(self, saved, y_bar):
            return super().input_gradient(saved, y_bar)

    assert not has_entry(OwnHalf([Activation("tanh")])) and has_entry(Skip([Activation("tanh")]))

    class Robust(SquaredError):
        def value(self, p, target):
            return super().value(p, target)

    assert programs.criteria.find(Robust()) is None is not programs.criteria.find(SquaredError())

    class Steep(Tanh):
        def slope(self, x):
            return 2 * super().slope(x)

    assert programs.functions.find(Steep()) is None is not programs.functions.find(Tanh())


def test_an_entry_registered_later_is_found():
    class Plain(so.Layer):
        def forward(self, x):
            return x, (x, x)

    entries = Entries()
    assert entries.find(Plain()) is None
    entries.register(Plain)("of plain layers")
    assert entries.find(Plain()) == "of plain layers"


def test_subclasses_are_heard_in_a_step():
    class Doubled(Linear):
        def forward(self, x):
            y, saved = super().forward(x)
            return 2 * y, saved._replace(output=2 * y)

        def backward(self, saved, y_bar):
            return super().backward(saved, 2 * y_bar)

    class Bent(so.nets.Tanh):
        def jet(self, x):
            return super().jet(x)

    net = Network([Linear(3, 4, rng=0), Activation(Bent()), Doubled(4, 2, rng=1)])
    opt = so.SGD(net, so.SquaredError(), learning_rate=0.1)
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    expected = net.theta - 0.1 * so.exact.gradient(net, so.SquaredError(), x, y)
    opt.step(x, y)
    np.testing.assert_allclose(net.theta, expected, rtol=1e-15)


def test_a_masked_layer_trains_by_its_own_weight():
    """A subclass whose `weight` is computed has no settled one."""
    net = Network([Masked(3, 4, rng=0), Activation("tanh"), Linear(4, 2, rng=1)])
    x, y = np.random.default_rng(0).normal(size=(2, 5, 3))
    y = y[:, :2]
    loss = so.SquaredError()
    opt = so.SGD(net, loss, learning_rate=0.1)
    opt.step(x, y)
    literal = net.evaluate(loss, x, y)
    assert opt.step(x, y)["loss"] == literal.loss


def test_a_layer_that_changes_the_dtype_is_named_in_a_step():
    class Upcasting(Tanh):
        def value(self, x):
            return np.tanh(x) / np.sqrt(np.float64(2))

    net = Network([Linear(3, 2, rng=0), Activation(Upcasting()), Linear(2, 2, rng=0)],
                  dtype="float32")
    opt = so.SGD(net, so.SquaredError())
    with pytest.raises(TypeError, match=r"the outputs of layer 1, Activation\(tanh\), must hold "
                                        "float32 like the network, got float64"):
        opt.step(np.ones((1, 3)), np.ones((1, 2)))


class Cube(ActivationFunction):
    """One that has no entry."""

    def value(self, x):
        return x**3

    def slope(self, x):
        return 3 * x**2

    def curvature(self, x):
        return 6 * x


@pytest.mark.parametrize("first, then", [("tanh", "relu"), ("relu", "tanh"), ("softplus", Cube()),
                                         (Cube(), "sin")])
def test_another_function_set_afterwards_counts_everywhere(first, then):
    rng = np.random.default_rng(0)
    net, x, y = so.mlp([3, 4, 2], activation=first, rng=0), *rng.normal(size=(2, 5, 3))
    problem = so.SquaredError(), x, y[:, :2]
    net(x), so.exact.gradient(net, *problem)  # so that its arrays and its program are there
    net.layers[1].function = activation_function(then)
    new = net.copy()
    assert np.array_equal(net(x), new(x))
    assert np.array_equal(so.exact.gradient(net, *problem), so.exact.gradient(new, *problem))
    np.testing.assert_allclose(net.evaluate(*problem).gradient, so.exact.gradient(net, *problem),
                               rtol=1e-13)
