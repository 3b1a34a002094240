"""Diagonals and exact traces against the dense matrices."""

import numpy as np
import pytest

import secondorder as so
from harness import slow
from harness.cases import LOSSES, MIDDLE, network, relative, targets
from secondorder.exact import diagonals
from secondorder.nets import Reshape

DENSE = {
    "hessian": lambda *problem, **options: so.exact.hessian(
        *problem, method="polarisation", **options),
    "gauss-newton": so.exact.gauss_newton,
    "fisher": so.exact.fisher,
    "fisher-empirical": lambda *problem, **options: so.exact.fisher(
        *problem, kind="empirical", **options),
    "fisher-sampled": lambda *problem, **options: so.exact.fisher(
        *problem, kind="sampled", rng=3, draws=2, **options),
}
OPTIONS = {"fisher-sampled": {"rng": 3, "draws": 2}}


def draw(middle, loss="softmax", samples=4, **options):
    rng = np.random.default_rng(0)
    net, loss = network(middle, rng, **options), LOSSES[loss]()
    return net, loss, rng.normal(size=(samples, 2)), targets(loss, rng, samples)


@pytest.mark.parametrize("kind", DENSE)
@pytest.mark.parametrize("middle", [*list(MIDDLE)[::5], *slow(
    name for k, name in enumerate(MIDDLE) if k % 5)])
def test_every_layer_in_the_middle(middle, kind):
    loss = "bounded" if kind in ("hessian", "gauss-newton", "fisher-empirical") else "softmax"
    problem, options = draw(middle, loss), OPTIONS.get(kind, {})
    expected = DENSE[kind](*problem, l2=0.2).diagonal()
    assert relative(so.exact.diagonal(*problem, kind=kind, l2=0.2, **options), expected) < 1e-12
    trace = so.exact.trace(*problem, kind=kind, l2=0.2, **options)
    assert trace == pytest.approx(expected.sum(), rel=1e-12)
    assert (trace.standard_error, trace.margin, trace.method) == (0, 0, "exact")


def test_the_recursion_in_parts(monkeypatch):
    """Where the Hessians in the outputs would take too much room, a few samples at a time."""
    problem, parts = draw("skip-nested", samples=7), []
    expected, part_of = so.exact.diagonal(*problem), diagonals.part_of
    monkeypatch.setattr(diagonals, "part_of",
                        lambda e, where: parts.append(where) or part_of(e, where))
    widest = max(kept.output[0].size for kept in problem[0].evaluate(*problem[1:]).saved)
    for room, lengths in ((7 * widest**2, []), (3 * widest**2, [3, 3, 1]), (1, 7 * [1])):
        monkeypatch.setattr(diagonals, "ROOM", room)
        parts.clear()
        assert relative(so.exact.diagonal(*problem), expected) < 1e-14
        assert [part.stop - part.start for part in parts] == lengths


def test_unit_vectors_in_blocks_and_chunks(monkeypatch):
    problem = draw("chain-image")
    expected = so.exact.diagonal(*problem)
    monkeypatch.setattr(diagonals, "UNITS", 4)
    assert relative(so.exact.diagonal(*problem, batch_size=3), expected) < 1e-12


def test_which_method_is_taken():
    """Linear layers by recursion, also inside others; layers that it does not know by products."""
    net = draw("chain-image")[0]
    assert so.exact.diagonal_methods(net) == ("recursion", None, "products", None, "recursion")
    net = draw("skip-nested")[0]
    assert so.exact.diagonal_methods(net) == ("recursion", None, "recursion", None, "recursion")

    class Own(so.Linear):
        pass

    net = so.Network([Reshape((2, 1), 2), Own(2, 2, rng=0), so.Skip([Own(2, 2, rng=0)]),
                      so.Skip([so.Linear(2, 2, trainable=False)])])
    assert so.exact.diagonal_methods(net) == (None, "products", "products", None)


def test_straight_networks_need_no_hessians(monkeypatch):
    """ReLU: the Gauss-Newton diagonal is the Hessian's, by squares of gradients."""
    rng = np.random.default_rng(2)
    problem = (so.mlp([2, 5, 4, 3], activation="relu", rng=0), so.SoftmaxCrossEntropy(),
               rng.normal(size=(6, 2)), rng.integers(0, 3, 6))
    monkeypatch.setattr(diagonals, "recursion_sum", None)
    found = so.exact.diagonal(*problem)
    assert relative(found, so.exact.hessian(*problem).diagonal()) < 1e-12
    assert np.array_equal(found, so.exact.diagonal(*problem, kind="gauss-newton"))


def test_no_model_no_fisher():
    with pytest.raises(TypeError, match="no exact or sampled Fisher matrix"):
        so.exact.diagonal(*draw("linear", "tukey"), kind="fisher")


def test_overflow_is_named():
    net, x = so.mlp([2, 2, 2], activation="identity", bias=False, init=0.5, rng=0), np.ones((1, 2))
    net.layers[-1].weight[...], net.layers[0].weight[...] = 1e160, [[1, -1], [1, -1]]
    with pytest.raises(FloatingPointError, match="the diagonal of the Hessian in the parameters of "
                                                 "layer 0, Linear"):
        so.exact.diagonal(net, so.SquaredError(), x, np.zeros((1, 2)))
