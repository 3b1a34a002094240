"""Reversible networks by compiled passes against the literal ones."""


import numpy as np
import pytest

import secondorder as so
from harness.two_forms import both, check_every_quantity, close
from secondorder.nets import Activation, Linear, Network, SoftmaxCrossEntropy, SquaredError
from secondorder.papers.reversible_gauss_newton import Coupling, RevMLP


def moved(net, rng=3):
    """The network with other numbers: biases begin at 0."""
    rng = np.random.default_rng(rng)
    net.theta = net.theta + rng.normal(size=net.size) / 5
    return net


def v_trained_too(dtype):
    """Couplings inside others' company, one of which trains V."""
    rng = np.random.default_rng(0)
    second = Coupling(6, 9, "second", "tanh", bias=True, rng=rng)
    second.fixed.trainable = True
    return Network([Linear(5, 6, rng=rng), so.Skip([
        Coupling(6, 9, "first", "softplus", rng=rng), Activation("sin"), second]),
        Linear(6, 4, rng=rng)], dtype=dtype)


NETS = {
    "readout": lambda dtype: RevMLP(7, 2, 9, "tanh", outputs=4, bias=True, rng=0, dtype=dtype),
    "first activation": lambda dtype: RevMLP(6, 2, 5, "relu", "identity", 4, "first", rng=0,
                                             dtype=dtype),
    "no bottleneck": lambda dtype: RevMLP(4, 2, None, "sigmoid", rng=0, dtype=dtype),
    "V trained": v_trained_too}


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_quantity_is_the_literal_one(name, dtype):
    net, rng = moved(NETS[name](dtype)), np.random.default_rng(1)
    for samples in (11, 1):
        x = rng.normal(size=(samples, *net.input_shape))
        check_every_quantity(net, SquaredError(), x, rng.normal(size=(samples, 4)))


def test_steps_run_compiled_and_are_the_literal_ones():
    """A shorter last batch; two optimizers that take turns."""
    rng, ends = np.random.default_rng(1), []
    x, labels = rng.normal(size=(30, 7)), rng.integers(0, 4, 30)
    for literal in (False, True):
        net = moved(NETS["readout"]("float64"))
        methods = [so.SGD(net, SoftmaxCrossEntropy(), 0.1),
                   so.Adam(net, SoftmaxCrossEntropy(), 0.01, l2=0.1)]
        with so.literal(literal):
            for rows in (slice(0, 12), slice(12, 24), slice(24, 30)):
                for method in methods:
                    method.step(x[rows], labels[rows])
        ends.append(net.theta.copy())
    np.testing.assert_allclose(*ends, rtol=1e-9)


class Undecided(Coupling):
    def forward(self, x):
        return super().forward(x)


def test_a_coupling_of_the_authors_runs_literally(capsys):
    net = Network([Undecided(4, 3, "first", rng=0)])
    net.summary()
    assert "literal passes run: Undecided has no compiled form" in capsys.readouterr().out
    close(*both(lambda: net(np.ones((2, 4)))))
