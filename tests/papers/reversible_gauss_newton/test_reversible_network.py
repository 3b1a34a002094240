"""RevMLP is a network like any other, and can be run backwards."""


import numpy as np
import pytest

import secondorder as so
from harness.reversible_cases import batch, network
from secondorder.papers.reversible_gauss_newton import Coupling, RevMLP


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("bottleneck", (None, 5))
@pytest.mark.parametrize("moves", ("first", "second"))
@pytest.mark.parametrize("activation", ("tanh", "relu"))
def test_all_passes_of_a_half_coupled_layer(bottleneck, moves, activation):
    layer = Coupling(6, bottleneck, moves, activation, bias=True, init=0.5, fixed_init=0.8, rng=0)
    report = so.verify.layer(layer)
    assert report.ok, str(report)


@pytest.mark.parametrize("w_too", (True, False))
def test_v_may_be_trained_inside_a_chain(w_too, rng):
    layer = Coupling(6, 5, "second", "tanh", bias=True, init=0.5, fixed_init=0.8, rng=0)
    layer.fixed.trainable, layer.trained.trainable = True, w_too
    assert layer.size == 5 * 3 + w_too * 3 * 6
    report = so.verify.layer(layer.copy())
    assert report.ok, str(report)
    net = so.Network([so.nets.Chain([layer, so.Activation("tanh")]), so.Linear(6, 3, rng=1)])
    x = rng.normal(size=(4, 6))
    J = so.exact.jacobian(net, x).reshape(4, 3, net.size)
    np.testing.assert_allclose(so.reversible_gauss_newton.ntk(net, x),
                               np.einsum("scp,tdp->sctd", J, J), rtol=1e-12, atol=1e-15)


def test_readouts(rng):
    U, given = RevMLP(8, 1, 4, outputs=3, rng=rng).readout, rng.normal(size=(3, 8))
    np.testing.assert_allclose(U @ U.T, np.eye(3), atol=1e-12)
    net = RevMLP(8, 2, 4, readout=given, rng=rng)
    x = rng.normal(size=(5, 8))
    np.testing.assert_allclose(net(x), net.features(x) @ given.T, rtol=1e-12)
    assert RevMLP(8, 1, 4, rng=rng).readout is None and net.output_shape == (3,)


def test_only_w_and_biases_are_trained(rng):
    net = network(rng, bias=True, outputs=2)
    assert net.size == 3 * 2 * (3 * 16 + 3)
    before = [value.copy() for value in net.fixed_parameters()]
    so.train(so.Adam(net, so.SoftmaxCrossEntropy()), *batch(rng, net), epochs=3, rng=0)
    assert len(before) == 7 and all(map(np.array_equal, before, net.fixed_parameters()))


def test_initial_weights(rng):
    net = RevMLP(40, 2, 3000, first_activation="identity", bias=True, rng=rng)
    first, second = net.blocks
    small = RevMLP(40, 1, 3000, init=1e-3, rng=rng).blocks[0].W1
    for drawn, deviation in ((first.Va, 3000**-0.5), (first.W1, (2 / 3020) ** 0.5),
                             (second.W2, (4 / 3020) ** 0.5), (small, 1e-3)):
        assert np.isclose(drawn.std(), deviation, rtol=0.02)
    assert not first.first.trained.bias.any()


@pytest.mark.parametrize("options, words", [
    ({"outputs": 7}, "at most the width 6"), ({"readout": np.ones((7, 6))}, "full row rank 7"),
    ({"readout": np.eye(5)}, "readout"), ({"outputs": 3, "readout": np.ones((2, 6))}, "readout"),
    ({"init": -1.0}, "init"), ({"init": "xaver"}, "init"), ({"blocks": 0}, "blocks")], ids=str)
def test_bad_settings_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        RevMLP(**{"d": 6, "blocks": 1, "bottleneck": 4} | options)


@pytest.mark.parametrize("value", (np.nan, 1e308))
def test_results_that_are_not_finite_are_refused(value):
    net = RevMLP(6, 2, 4, rng=0)
    net.blocks[0].W1[...] = value
    x = np.full((3, 6), 9.0)
    for name in ("features", "inverse"):
        with pytest.raises(FloatingPointError, match="not finite"):
            getattr(net, name)(x)
