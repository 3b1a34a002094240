"""The curvature of all parameters as one matrix, in the order of theta."""

import numpy as np
import pytest

import secondorder as so
from secondorder import eacg
from secondorder.papers.eacg.equations import cases


def case(samples=6, bias=True, seed=0):
    rng = np.random.default_rng(seed)
    net = so.mlp([4, 3, 2], activation="tanh", bias=bias, rng=rng)
    return net, so.SoftmaxCrossEntropy(), rng.normal(size=(samples, 4)), rng.integers(0, 2, samples)


SOLVED = {"exact": "kronecker", "ea-closed": "rank-one", "kfi": "kfi"}


@pytest.mark.parametrize("curvature", ["pch-1", "fisher-empirical", "gauss-newton"])
@pytest.mark.parametrize("solver", SOLVED)
@pytest.mark.parametrize("name", cases.UNUSUAL)
def test_it_is_the_matrix_that_the_solvers_solve(name, solver, curvature):
    one = cases.unusual(np.random.default_rng(1), (name,), activation="tanh")[0]
    options = {"curvature": curvature, "alpha": 0.1, "l2": 0.3}
    matrix = eacg.matrix(*one.model, form=SOLVED[solver], joint=False, **options)
    assert matrix.dtype == one.network.dtype
    gradient = so.exact.gradient(*one.model) + 0.3 * one.network.theta
    step = eacg.direction(*one.model, solver=solver, **options)
    solved = np.linalg.solve(matrix.astype(float), -gradient)
    assert np.abs(solved - step).max() <= one.allowed(1e-9) * np.abs(step).max()


@pytest.mark.parametrize("bias", [True, False])
def test_one_sample_has_the_exact_blocks(bias):
    """For a batch of one the expectation approximation is none."""
    net, loss, x, y = case(samples=1, bias=bias)
    H = so.exact.hessian(net, loss, x, y)
    found = eacg.matrix(net, loss, x, y, curvature="hessian")
    inside = np.zeros(H.shape, bool)
    for where in net.slices:
        assert np.allclose(found[where, where], H[where, where], atol=1e-14)
        inside[where, where] = True
    assert not found[~inside].any() and np.abs(found[inside]).max() > 0


@pytest.mark.parametrize("form", ["kronecker", "rank-one", "kfi"])
def test_a_bias_is_a_weight_whose_input_is_1(form):
    """[W b] with inputs [h; 1] is a layer without bias, in another order of its parameters."""
    net, loss, x, y = case()
    found = eacg.matrix(net, loss, x, y, form=form, alpha=0.1)[:15, :15]
    B, wide = eacg.bias_curvatures(net, loss, x, y)[0], np.c_[x, np.ones(6)]
    A = wide.T @ wide / 6 if form != "rank-one" else np.outer(wide.mean(axis=0), wide.mean(axis=0))
    if form == "kfi":
        pi = np.sqrt(np.trace(A) / 5 / (np.trace(B) / 3))
        wanted = np.kron(B + np.sqrt(0.1) / pi * np.eye(3), A + pi * np.sqrt(0.1) * np.eye(5))
    else:
        wanted = 0.9 * np.kron(B, A) + 0.1 * np.eye(15)
    order = np.r_[[5 * i + j for i in range(3) for j in range(4)], 4, 9, 14]
    np.testing.assert_allclose(found, wanted[np.ix_(order, order)], atol=1e-14)
