"""The rooms' twins, which write into arrays that are used again, against what they stand for."""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Activation, Chain, Linear, Network, Skip, Workspace
from secondorder.nets.in_place import in_place
from secondorder.papers.residual_partitioning.fast import sums
from secondorder.papers.residual_partitioning.in_place import curvature_sums
from secondorder.papers.residual_partitioning.options import Options
from secondorder.papers.reversible_gauss_newton.coupling import Coupling
from secondorder.papers.reversible_gauss_newton.in_place import CouplingInPlace, halves_of

DTYPES = ["float64", "float32"]


def network(dtype, activation="softplus"):
    """Nothing trained below, a frozen layer between, no bias, a skip and a chain inside."""
    rng = np.random.default_rng(0)
    return Network([Activation("sin"), Linear(4, 4, trainable=False, rng=rng),
                    Linear(4, 60, rng=rng), Activation(activation),
                    Skip([Linear(60, 60, bias=False, rng=rng), Activation("tanh")]),
                    Chain([Linear(60, 5, trainable=False, rng=rng), Activation("relu")]),
                    Linear(5, 3, rng=rng)], dtype=dtype)


def batch(rows, labels, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, 4)), (rng.integers(0, 3, rows) if labels
                                        else rng.normal(size=(rows, 3)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("output, loss", [
    ("diagonal", so.SquaredError()), ("diagonal", so.TukeyBiweight(1.0)),
    ("jensen", so.SoftmaxCrossEntropy()), ("pairwise", so.SoftmaxCrossEntropy())])
def test_curvature_sums_in_place_are_the_sums(output, loss, cross, clip, dtype):
    """Of losses with second derivatives of both signs, too."""
    net, workspace = network(dtype), Workspace()
    options = Options(clip=clip, cross=cross, output=output)
    for rows in (6, 90, 3):
        x, y = batch(rows, output != "diagonal", rows)
        expected = sums(net.evaluate(loss, x, y), options)[2]
        found = curvature_sums(net.evaluate(loss, x, y, workspace), options)
        assert found.dtype == dtype and (found > 0).any()
        np.testing.assert_allclose(found, expected, rtol=64 * np.finfo(dtype).eps,
                                   atol=np.finfo(dtype).eps * expected.max())


def test_without_a_workspace_the_sums_are_the_literal_ones():
    net, (x, y) = network("float64"), batch(5, False)
    evaluation, options = net.evaluate(so.SquaredError(), x, y), Options()
    np.testing.assert_array_equal(curvature_sums(evaluation, options),
                                  sums(evaluation, options)[2])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("moves", ["first", "second"])
@pytest.mark.parametrize("bottleneck, bias", [(7, False), (7, True), (None, True)])
def test_the_twin_of_a_coupling(bottleneck, bias, moves, dtype):
    layer = Coupling(8, bottleneck, moves, activation="tanh", bias=bias, rng=0)
    Network([layer], dtype=dtype)
    twin, rng = in_place(layer, (8,), np.dtype(dtype)), np.random.default_rng(1)
    assert type(twin) is CouplingInPlace
    for rows in (5, 9, 2):
        twin.resize(rows)
        x, x_tangent, y_bar = (rng.normal(size=(rows, 8)).astype(dtype) for _ in range(3))
        v = rng.normal(size=layer.size).astype(dtype)
        y, saved = layer.forward(x)
        np.testing.assert_array_equal(twin.forward(x)[0], y)
        for name, given in (("inverse_tangent", (x_tangent,)), ("input_gradient", (y_bar,)),
                            ("tangent", (x_tangent, v)), ("tangent", (x_tangent, None)),
                            ("tangent", (None, v))):
            np.testing.assert_array_equal(getattr(twin, name)(saved, *given),
                                          getattr(layer, name)(saved, *given))
        for name, shape in (("parameter_gradient", (layer.size,)),
                            ("parameter_gradients", (rows, layer.size))):
            out = np.full(shape, np.nan, dtype)
            getattr(twin, name)(saved, y_bar, out)
            np.testing.assert_array_equal(out, getattr(layer, name)(saved, y_bar))


def test_who_runs_the_inverse_tangents_of_a_network():
    net = so.reversible_gauss_newton.RevMLP(6, 2, 5, outputs=2, rng=0)
    couplings = [half for block in net.blocks for half in block]
    passes = Workspace().passes(net, 4)
    assert list(halves_of(net)) == list(halves_of(net, net.chain)) == couplings
    assert [twin.layer for twin in halves_of(net, passes)] == couplings
    couplings[1].forward = couplings[1].forward  # a method of its own: run by itself
    found = halves_of(net, Workspace().passes(net, 4))
    assert found[1] is couplings[1] and type(found[0]) is CouplingInPlace
