"""Dense matrices are summed over parts of the batch."""

import numpy as np
import pytest

import secondorder as so
from secondorder.exact import symmetric

MATRICES = {
    "hessian": lambda *problem: so.exact.hessian(*problem, method="blocks"),
    "gauss_newton": so.exact.gauss_newton,
    **{
        kind: lambda *problem, kind=kind: so.exact.fisher(*problem, kind=kind, rng=1, draws=2)
        for kind in ("exact", "empirical", "sampled")
    },
}


def problem(sizes, samples):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(samples, sizes[0])), rng.integers(0, sizes[-1], samples)
    return so.mlp(sizes, rng=0), so.SoftmaxCrossEntropy(), x, y


@pytest.mark.parametrize("name", MATRICES)
def test_parts_give_the_whole(name, monkeypatch):
    """In one part, in some, and sample by sample."""
    given = problem([5, 7, 6, 3], 37)
    whole, parts = MATRICES[name](*given), []
    part = symmetric.part_of
    monkeypatch.setattr(symmetric, "part_of",
                        lambda e, where: parts.append(where) or part(e, where))
    assert np.array_equal(MATRICES[name](*given), whole) and not parts
    monkeypatch.setattr(symmetric, "SMALLEST_PART", 1)
    np.testing.assert_allclose(MATRICES[name](*given), whole, atol=1e-15)
    assert 2 < len(parts) < 37 and parts[0].stop == parts[1].start and parts[-1].start < 37
    parts.clear()
    monkeypatch.setattr(
        symmetric, "_parts", lambda samples, *_: [slice(i, i + 1) for i in range(samples)]
    )
    np.testing.assert_allclose(MATRICES[name](*given), whole, atol=1e-15)
    assert len(parts) == 37


@pytest.mark.parametrize("name", MATRICES)
def test_every_matrix_is_exactly_symmetric(name):
    """Also where it is larger than a tile that is copied at a time."""
    matrix = MATRICES[name](*problem([9, 20, 20, 5], 4))
    assert len(matrix) > sum(symmetric.TILE) and np.array_equal(matrix, matrix.T) and matrix.any()


@pytest.mark.parametrize("name", MATRICES)
def test_what_is_not_finite_is_named(name):
    """Inputs of 1e160, weights of 1e-160: ordinary outputs, second derivatives of 1e320."""
    net, _, x, _ = problem([3, 4, 2], 5)
    net.layers[0].weight = 1e-160 * net.layers[0].weight
    loss = so.SquaredError()
    assert np.isfinite(so.exact.gradient(net, loss, 1e160 * x, np.zeros((5, 2)))).all()
    with pytest.raises(FloatingPointError, match="parameters of layer 0, Linear"):
        MATRICES[name](net, loss, 1e160 * x, np.zeros((5, 2)))


def test_what_is_not_finite_off_the_diagonal_is_named():
    """p = b a x: between a and b stands (p - t) x = 1e310; on the diagonal (b x)^2, (a x)^2."""
    net, loss = so.mlp([1, 1, 1], activation="identity", bias=False), so.SquaredError()
    net.theta, x, t = [1e-160, 1e-10], np.array([[1e160]]), np.array([[1e150]])
    assert np.isfinite(so.exact.hessian(net, loss, x, 0 * t)).all()
    with pytest.raises(
        FloatingPointError, match="the Hessian in the parameters of layer 0, Linear"
    ):
        so.exact.hessian(net, loss, x, t)
