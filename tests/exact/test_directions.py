"""Several vectors in one pass, and the block of a layer or a parameter, against dense matrices."""

import numpy as np
import pytest

import secondorder as so
from harness import slow
from harness.cases import LOSSES, MIDDLE, network, relative, targets
from secondorder.exact import curvature

MATRICES = {
    "HessianOperator": lambda *problem, **options: so.exact.hessian(
        *problem, method="polarisation", **options),
    "GaussNewtonOperator": so.exact.gauss_newton,
    "FisherOperator": so.exact.fisher,
}
def draw(middle, loss="softmax", samples=4, seed=0, **options):
    rng = np.random.default_rng(seed)
    net, loss = network(middle, rng, **options), LOSSES[loss]()
    return net, loss, rng.normal(size=(samples, 2)), targets(loss, rng, samples)


@pytest.mark.parametrize("operator", ["HessianOperator", "GaussNewtonOperator"])
@pytest.mark.parametrize("middle", [*sorted(MIDDLE)[::2], *slow(sorted(MIDDLE)[1::2])])
def test_all_columns_at_once(middle, operator):
    """Every layer in the middle; one direction, as many as there are samples, and seven, one of
    them zero.
    """
    problem = draw(middle, "bounded" if operator == "HessianOperator" else "softmax")
    A = getattr(so.exact, operator)(*problem, l2=0.2)
    V = np.random.default_rng(1).normal(size=(A.shape[0], 7))
    V[:, 3] = 0
    expected = MATRICES[operator](*problem, l2=0.2) @ V
    for K in (1, 4, 7):
        assert relative(A @ V[:, :K], expected[:, :K]) < 1e-12


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_take_as_many_directions_as_there_are_samples(loss):
    net, loss, x, y = draw("linear", loss)
    A = so.exact.HessianOperator(net, loss, x, y)
    V = np.random.default_rng(1).normal(size=(A.shape[0], 4))
    assert relative(A @ V, np.stack([A @ v for v in V.T], axis=1)) < 1e-13


@pytest.mark.parametrize("operator", MATRICES)
def test_as_many_directions_as_the_cache_has_room_for(operator, monkeypatch):
    """In one pass, in passes of two directions and of one, and vector by vector."""
    A = getattr(so.exact, operator)(*draw("skip-nested", samples=5))
    V = np.random.default_rng(1).normal(size=(A.shape[0], 5))
    whole = A @ V
    assert relative(whole, np.stack([A @ v for v in V.T], axis=1)) < 1e-13
    of_one = sum(kept.output.size for kept in A.evaluation.saved)
    passes, tangents = [], so.Chain.tangents
    monkeypatch.setattr(so.Chain, "tangents", lambda chain, saved, x, v: (
        passes.append(v.shape[:-1]) if chain is A.network.chain else None)
        or tangents(chain, saved, x, v))
    for numbers, expected in ((2**20, [(5,)]), (2 * of_one, [(2,), (2,), (1,)]), (1, 5 * [()])):
        monkeypatch.setattr(curvature, "NUMBERS", numbers)
        passes.clear()
        assert relative(A @ V, whole) < 1e-14 and passes == expected


def test_an_authors_loss_takes_one_direction_at_a_time():
    """As many directions as samples, where a wrong axis would have the right shape."""
    class Cosh(so.Loss):
        """log cosh of the sum of the residuals of a sample"""

        def value(self, p, target):
            return np.log(np.cosh(np.sum(p - target, axis=1)))

        def gradient(self, p, target):
            return np.tanh(np.sum(p - target, axis=1, keepdims=True)) * np.ones_like(p)

        def hessian(self, p, target):
            bend = 1 / np.cosh(np.sum(p - target, axis=1)) ** 2
            return bend[:, None, None] * np.ones((1, p.shape[1], p.shape[1]))

        def hessian_product(self, p, target, v):
            assert v.ndim == 2
            bend = 1 / np.cosh(np.sum(p - target, axis=1)) ** 2
            return (bend * np.sum(v, axis=1))[:, None] * np.ones_like(p)

    rng = np.random.default_rng(0)
    net = so.mlp([2, 3, 3], rng=0)
    problem = net, Cosh(), rng.normal(size=(4, 2)), rng.normal(size=(4, 3))
    H = so.exact.HessianOperator(*problem)
    differences = so.exact.finite_differences
    expected = differences.central(differences.gradient_of_objective(*problem), net.theta)
    assert expected.excess(H @ np.eye(net.size)) <= 1
    V = rng.normal(size=(net.size, 4))
    assert relative(H @ V, np.stack([H @ v for v in V.T], axis=1)) < 1e-13


# -- blocks of layers ------------------------------------------------------------------------------


def parameters(net):
    """Every trained parameter of every layer, with its place in theta found by changing it."""
    for layer in net.chain.sublayers():
        for name, value in layer.parameters.items():
            if layer.trainable:
                before = net.theta.copy()
                value += 1
                where = np.flatnonzero(net.theta != before)
                value -= 1
                net.theta = before
                yield layer, name, where


@pytest.mark.parametrize("operator", MATRICES)
@pytest.mark.parametrize("middle", ["linear", "linear-frozen", "skip-nested", "chain-image"])
def test_block_of_every_parameter(middle, operator):
    problem = draw(middle)
    net, matrix = problem[0], MATRICES[operator](*problem, l2=0.3)
    found = 0
    for layer, name, where in parameters(net):
        for batch_size in (None, 3):
            block = getattr(so.exact, operator)(*problem, l2=0.3, layer=layer, parameter=name,
                                                batch_size=batch_size)
            assert relative(block.dense(), matrix[np.ix_(where, where)]) < 1e-12
            v = np.arange(1.0, 1 + len(where))
            assert relative(block @ v, matrix[np.ix_(where, where)] @ v) < 1e-12
        found += len(where)
    assert found == net.size


@pytest.mark.parametrize("layer, parameter, error, words", [
    (9, None, ValueError, "layer 9 is out of range: the network has 5 layers"),
    ("9.weight", None, ValueError, "there is no '9.weight'"),
    ("0.wieght", None, ValueError, "unknown parameter 'wieght': did you mean 'weight'"),
    (slice(0, 4, 2), None, ValueError, "in a row"),
    (1.5, None, TypeError, "layer must be a whole number, a name, a slice or a Layer"),
    (so.Linear(2, 3), None, ValueError, "is not in this network"),
    (None, "weight", ValueError, "parameter='weight' needs layer")])
def test_places_that_do_not_exist(layer, parameter, error, words):
    with pytest.raises(error, match=words):
        so.exact.HessianOperator(*draw("linear"), layer=layer, parameter=parameter)
