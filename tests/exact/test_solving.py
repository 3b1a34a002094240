"""Systems with curvature matrices: against dense linear algebra, retrained linear models, and what
is not positive definite refused with its smallest eigenvalue."""


import contextlib

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

import secondorder as so
from harness.cases import relative
from secondorder.exact.spectra.solving import _guarded, factor

DENSE = {"hessian": so.exact.hessian, "gauss-newton": so.exact.gauss_newton,
         "fisher": so.exact.fisher,
         "fisher-empirical": lambda *a: so.exact.fisher(*a, kind="empirical"),
         "fisher-sampled": lambda *a: so.exact.fisher(*a, kind="sampled", rng=3)}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(2)
    net = so.mlp([3, 4, 2], rng=1)
    return net, so.SoftmaxCrossEntropy(), rng.normal(size=(9, 3)), rng.integers(0, 2, 9)


def ridge(samples=12, outputs=1, l2=0.02, seed=0):
    """A linear model at the minimum of its objective, and its matrix of features."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(samples, 3)), rng.normal(size=(samples, outputs))
    net = so.mlp([3, outputs], rng=0)
    net.theta = trained(x, y, np.full(samples, 1 / samples), l2)
    return net, x, y


def trained(x, y, weights, l2, without=None):
    """theta at the minimum of sum_s weights_s |y - output|^2 / 2 + l2 |theta|^2 / 2, by least
    squares; parameter number `without` is held at 0."""
    features = np.hstack([x, np.ones((len(x), 1))])
    stays = [i for i in range(features.shape[1]) if i != without]
    rows = np.vstack([np.sqrt(weights)[:, None] * features[:, stays],
                      np.sqrt(l2) * np.eye(len(stays))])
    right = np.vstack([np.sqrt(weights)[:, None] * y, np.zeros((len(stays), y.shape[1]))])
    W = np.zeros((y.shape[1], features.shape[1]))
    W[:, stays] = np.linalg.lstsq(rows, right, rcond=None)[0].T
    return np.concatenate([W[:, :-1].ravel(), W[:, -1]])


def objective(net, x, y, theta, l2):
    W, b = theta[:-1], theta[-1]
    return np.sum((x @ W + b - y[:, 0]) ** 2) / 2 / len(x) + l2 / 2 * theta @ theta


# -- the solution ----------------------------------------------------------


@pytest.mark.parametrize("kind", DENSE)
@pytest.mark.parametrize("method", ["auto", "cholesky", "cg"])
@pytest.mark.parametrize("batch_size", [None, 4])
def test_against_dense_linear_algebra(problem, kind, method, batch_size):
    C, rng = DENSE[kind](*problem), np.random.default_rng(0)
    A = C + (0.3 + 0.2) * np.eye(len(C))
    for v in (rng.normal(size=len(C)), rng.normal(size=(len(C), 3))):
        found = so.exact.solve(*problem, v, kind, 0.3, method, rng=3, l2=0.2,
                               batch_size=batch_size)
        assert found.solution.shape == v.shape
        assert relative(found.solution, np.linalg.solve(A, v)) < 1e-9
        left = np.linalg.norm(A @ found.solution - v, axis=0) / np.linalg.norm(v, axis=0)
        assert found.residual == pytest.approx(left.max(), abs=1e-14) and found.residual < 1e-10
        assert found.method == ("cg" if method == "cg" else "cholesky")
        assert (found.iterations > 0) == (method == "cg")


@pytest.mark.parametrize("method", ["cholesky", "cg"])
def test_a_block_of_a_layer(problem, method):
    C = so.exact.gauss_newton(*problem)[16:, 16:] + 0.1 * np.eye(10)
    v = np.arange(10.0)
    found = so.exact.solve(*problem, v, "gauss-newton", 0.1, method, layer="2")
    assert relative(found.solution, np.linalg.solve(C, v)) < 1e-9


@pytest.mark.parametrize("method", ["cg", "cholesky"])
def test_right_sides_whose_squares_vanish_or_overflow(problem, method):
    v = np.random.default_rng(0).normal(size=problem[0].size)
    found = so.exact.solve(*problem, v, "gauss-newton", 0.1, method)
    for unit in (2.0**-600, 2.0**-900, 2.0**600):
        scaled = so.exact.solve(*problem, np.stack([v * unit, v], axis=1), "gauss-newton", 0.1,
                                method)
        assert relative(scaled.solution / [unit, 1], found.solution[:, None] * [1, 1]) < 1e-12
        assert scaled.residual < 1e-9


# -- what is not positive definite -----------------------------------------


@pytest.mark.parametrize("method", ["cholesky", "cg"])
def test_an_indefinite_matrix_is_refused_with_its_smallest_eigenvalue(problem, method):
    H = so.exact.hessian(*problem)
    values, vectors = np.linalg.eigh(H)
    assert values[0] < -1e-3
    with pytest.raises(np.linalg.LinAlgError, match="Hessian .* not positive definite") as caught:
        so.exact.solve(*problem, vectors @ np.ones(len(H)), method=method)
    stated = float(str(caught.value).split("found is ")[1].split(";")[0])
    assert stated == pytest.approx(values[0], rel=0.02)
    damping = 1.01 * -stated + 1e-6
    assert so.exact.solve(*problem, np.ones(len(H)), "hessian", damping, method).residual < 1e-9


@pytest.mark.parametrize("method", ["cholesky", "cg"])
def test_a_singular_matrix_is_refused(method):
    """4 samples of one output, 21 parameters: rank 4."""
    rng = np.random.default_rng(0)
    net = so.mlp([3, 4, 1], rng=0)
    problem = net, so.SquaredError(), rng.normal(size=(4, 3)), rng.normal(size=(4, 1))
    with pytest.raises(np.linalg.LinAlgError, match="Gauss-Newton .* not positive definite"):
        so.exact.solve(*problem, rng.normal(size=net.size), "gauss-newton", method=method)


def test_a_matrix_that_is_singular_to_rounding():
    """It has a Cholesky factor, of which nothing is known."""
    A = np.array([[1.0, 0.0], [0.0, 1e-17]])
    with pytest.raises(np.linalg.LinAlgError, match="A is not .* found is 1e-17; do this"):
        factor(A, "A", "do this")
    A[1, 1] = 1e-14
    assert np.allclose(factor(A, "A", "do this"), np.diag([1.0, 1e-7]))
    with pytest.raises(np.linalg.LinAlgError):  # in single precision that is nothing
        factor(A.astype(np.float32), "A", "do this")
    with pytest.raises(np.linalg.LinAlgError):  # four rows, each off by an eps, say nothing of it
        factor(np.diag([1, 1, 1, 2.0**-50]), "A", "do this")
    assert factor(np.diag([1, 1, 1, 2.0**-48]), "A", "do this")[3, 3] == 2.0**-24


def test_conjugate_gradients_stop_where_a_direction_is_flat_to_rounding():
    """Beside the largest curvature that was seen: two eps of it, for two parameters."""
    first, second = np.eye(2)
    for least, refused in ((2 * np.finfo(float).eps, True), (3 * np.finfo(float).eps, False)):
        product = _guarded(aslinearoperator(np.diag([1.0, least])), "A")
        product(first)
        with pytest.raises(np.linalg.LinAlgError) if refused else contextlib.nullcontext():
            product(second)


def test_iterations_that_do_not_suffice_are_an_error(problem):
    with pytest.raises(RuntimeError, match="2 iterations left a residual of"):
        so.exact.solve(*problem, np.ones(problem[0].size), "gauss-newton", 1e-3, "cg",
                       max_iterations=2)


# -- influence and saliency, by training a linear model anew ---------------


@pytest.mark.parametrize("method", ["cholesky", "cg"])
def test_influence_is_leaving_one_out(method):
    """For a linear model leaving a sample out moves theta by C^-1 g / N / (1 - leverage)."""
    l2 = 0.02
    net, x, y = ridge(l2=l2)
    problem, x_new = (net, so.SquaredError(), x, y), np.array([[0.3, -1.0, 2.0]])
    s = so.exact.solve(*problem, so.exact.jacobian(net, x_new)[0].T, method=method, l2=l2)
    influence = so.exact.sample_gradients(*problem) @ s.solution / len(x)
    features = np.hstack([x, np.ones((len(x), 1))])
    C = features.T @ features / len(x) + l2 * np.eye(4)
    for i in range(len(x)):
        weights = np.full(len(x), 1 / len(x))
        weights[i] = 0
        again = trained(x, y, weights, l2)
        moved = np.append(x_new[0], 1) @ (again - net.theta)
        leverage = features[i] @ np.linalg.solve(C, features[i]) / len(x)
        assert influence[i, 0] / (1 - leverage) == pytest.approx(moved, rel=1e-8)


def test_saliency_is_what_the_objective_rises_by():
    """Of a linear model: with the other weights as they are, and with them trained anew."""
    l2 = 0.02
    net, x, y = ridge(l2=l2, seed=3)
    problem = net, so.SquaredError(), x, y
    damage = so.exact.diagonal(*problem, l2=l2) * net.theta**2 / 2
    inverse = so.exact.solve(*problem, np.eye(net.size), l2=l2).solution
    surgeon = net.theta**2 / (2 * np.diag(inverse))
    before = objective(net, x, y, net.theta, l2)
    for i in range(net.size):
        cut = net.theta.copy()
        cut[i] = 0
        assert damage[i] == pytest.approx(objective(net, x, y, cut, l2) - before, rel=1e-9)
        again = trained(x, y, np.full(len(x), 1 / len(x)), l2, without=i)
        assert surgeon[i] == pytest.approx(objective(net, x, y, again, l2) - before, rel=1e-9)
    assert (surgeon <= damage * (1 + 1e-12)).all() and (surgeon < 0.99 * damage).any()
