"""A room's twins, which write into arrays that are used again, against what they stand for."""

import numpy as np
import pytest

import secondorder as so
from secondorder.nets import Activation, Chain, Linear, Network, Skip, Workspace
from secondorder.papers.residual_partitioning.fast import sums
from secondorder.papers.residual_partitioning.in_place import curvature_sums
from secondorder.papers.residual_partitioning.options import Options

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
