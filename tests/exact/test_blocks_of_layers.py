"""Blocks of a layer, by `layer=`: what stands there in the whole matrix, without the rest."""

import numpy as np
import pytest

import secondorder as so
from harness import slow
from harness.cases import relative

KINDS = ("hessian", "gauss-newton", "fisher", "fisher-empirical", "fisher-sampled")
MATRICES = {
    "hessian": so.exact.hessian,
    "blocks": lambda *a, **o: so.exact.hessian(*a, method="blocks", **o),
    "products": lambda *a, **o: so.exact.hessian(*a, method="products", **o),
    "polarisation": lambda *a, **o: so.exact.hessian(*a, method="polarisation", **o),
    "gauss-newton": so.exact.gauss_newton,
    "fisher": so.exact.fisher,
    "fisher-empirical": lambda *a, **o: so.exact.fisher(*a, kind="empirical", **o),
    "fisher-sampled": lambda *a, **o: so.exact.fisher(*a, kind="sampled", rng=3, draws=2, **o)}
#: `layer`, `parameter` and where that is in theta, for mlp([3, 4, 3, 2]): 16, 15 and 8 parameters.
PLACES = [(0, None, slice(0, 16)), (2, None, slice(16, 31)), (-1, None, slice(31, 39)),
          (2, "weight", slice(16, 28)), (2, "bias", slice(28, 31)), ("2", None, slice(16, 31)),
          ("2.bias", None, slice(28, 31)), ("4", "weight", slice(31, 37)),
          (slice(0, 3), None, slice(0, 31)), (slice(1, None), None, slice(16, 39)),
          (slice(-2, None), None, slice(31, 39)), (slice(None), None, slice(0, 39))]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(2)
    net = so.mlp([3, 4, 3, 2], activation="sigmoid", rng=1)
    return net, so.SoftmaxCrossEntropy(), rng.normal(size=(9, 3)), rng.integers(0, 2, 9)


@pytest.mark.parametrize("layer, parameter, where", [*PLACES[3:6], *slow(PLACES[:3] + PLACES[6:])])
@pytest.mark.parametrize("form", MATRICES)
@pytest.mark.parametrize("batch_size", [None, 4])
def test_dense_block(problem, form, layer, parameter, where, batch_size):
    whole = MATRICES[form](*problem, l2=0.3)
    block = MATRICES[form](*problem, l2=0.3, layer=layer, parameter=parameter,
                           batch_size=batch_size)
    assert block.shape == whole[where, where].shape and block.flags.owndata
    assert relative(block, whole[where, where]) < 1e-12


@pytest.mark.parametrize("layer, parameter, where", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_diagonal_and_trace_of_a_block(problem, kind, layer, parameter, where):
    options = {"kind": kind, "l2": 0.3, "rng": 3}
    whole = so.exact.diagonal(*problem, **options)
    for batch_size in (None, 4):
        options |= {"layer": layer, "parameter": parameter, "batch_size": batch_size}
        assert relative(so.exact.diagonal(*problem, **options), whole[where]) < 1e-12
        assert so.exact.trace(*problem, **options) == pytest.approx(whole[where].sum(), rel=1e-12)


def test_a_layer_inside_others_by_its_name():
    rng = np.random.default_rng(0)
    inner = so.Linear(3, 3, rng=1)
    skip = so.Skip([inner, so.Activation("tanh")])
    net = so.Network([so.nets.Chain([so.Linear(3, 3, rng=0), skip]), so.Linear(3, 2, rng=2)])
    problem = net, so.SquaredError(), rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    whole = so.exact.hessian(*problem)
    for named in ("0.1.0", inner):
        block = so.exact.hessian(*problem, layer=named)
        assert relative(block, whole[12:24, 12:24]) < 1e-12
    assert relative(so.exact.hessian(*problem, layer="0.1"), whole[12:24, 12:24]) < 1e-12
    diagonal = so.exact.diagonal(*problem, layer="0.1.0.bias")
    assert relative(diagonal, whole.diagonal()[21:24]) < 1e-12
    assert relative(so.exact.diagonal(*problem, kind="fisher", layer="0.1.0"),
                    so.exact.fisher(*problem).diagonal()[12:24]) < 1e-12


@pytest.mark.parametrize("form", MATRICES)
def test_a_block_needs_no_room_for_the_rest(problem, form):
    """The limit of bytes is that of the block, 8 x 8 numbers."""
    assert MATRICES[form](*problem, layer=-1, max_bytes=8 * 8 * 8).shape == (8, 8)
    with pytest.raises(MemoryError, match=r"\(8, 8\)"):
        MATRICES[form](*problem, layer=-1, max_bytes=8 * 8 * 8 - 1)


def test_a_block_that_is_not_finite_names_its_layer():
    net = so.mlp([2, 2, 2], activation="identity", rng=0)
    net.layers[0].bias, net.layers[2].weight = np.zeros(2), np.full((2, 2), 1e160)
    problem = net, so.SquaredError(), np.full((1, 2), 1e-200), np.zeros((1, 2))
    with pytest.raises(FloatingPointError, match="layer 0, Linear"):
        so.exact.gauss_newton(*problem, layer=0)
