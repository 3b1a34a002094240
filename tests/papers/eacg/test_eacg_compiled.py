"""EA-CG's compiled functions beside the literal ones: conjugate gradients, s G + w m^T."""

import numpy as np
import pytest

import secondorder as so
from secondorder.papers.eacg import compiled
from secondorder.papers.eacg.solvers import conjugate_gradients, systems


def system(n, k, seed=0):
    """A positive definite B (n, n) whose spectrum spans two decades, and a right side (k + n,)."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return Q @ np.diag(np.geomspace(0.1, 10, n)) @ Q.T, rng.normal(size=k + n)


def both(*given):
    """The solution by the literal form and by the compiled one."""
    with so.literal():
        literal = conjugate_gradients.damped(*given)
    with so.literal(False):
        return literal, conjugate_gradients.damped(*given)


@pytest.mark.parametrize("n, k", [(1, 0), (7, 0), (7, 1), (20, 3)])
@pytest.mark.parametrize("most, tolerance", [(0, 1e-12), (3, 1e-12), (100, 1e-3), (100, 1e-10)])
def test_both_forms_take_the_same_steps(n, k, most, tolerance):
    B, right = system(n, k)
    literal, quick = both(B, 0.9, 0.3, right, most, tolerance)
    assert quick.iterations == literal.iterations <= most
    # after as many steps as there are eigenvalues what is left is rounding
    assert quick.residual == pytest.approx(literal.residual, rel=1e-4, abs=1e-9)
    np.testing.assert_allclose(quick.solution, literal.solution, atol=1e-9)


@pytest.mark.parametrize("k", [0, 2])
def test_the_solution_is_that_of_a_dense_system(k):
    B, right = system(9, k)
    matrix = 0.3 * np.eye(9 + k)
    matrix[k:, k:] += 0.9 * B
    for found in both(B, 0.9, 0.3, right, 100, 1e-13):
        np.testing.assert_allclose(found.solution, np.linalg.solve(matrix, right), rtol=1e-10)


@pytest.mark.parametrize("form", [np.asfortranarray, np.float32, lambda B: np.tile(B, 2)[:, :8]])
def test_a_matrix_of_another_layout_or_dtype(form):
    B, right = system(8, 1)
    wanted = conjugate_gradients.damped(B, 0.9, 0.3, right, 50, 1e-12).solution
    found = conjugate_gradients.damped(form(B), 0.9, 0.3, right, 50, 1e-12).solution
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize("diagonal", [(-2.0, -1.0, -3.0), (-0.25, -0.25)])
def test_no_step_is_taken_without_curvature(diagonal):
    """Of -0.25 and the damping 0.25 the sum is 0."""
    for found in both(np.diag(diagonal), 1.0, 0.25, np.ones(len(diagonal)), 10, 1e-8):
        assert found.iterations == 0 and not found.solution.any() and found.residual == 1


def test_a_residual_of_exactly_the_tolerance_is_enough():
    """diag(1, 3) on (1, 1): after one product half of the right side is left."""
    B = np.diag([0.75, 2.75])
    for tolerance, iterations in ((0.5, 1), (np.nextafter(0.5, 0), 2), (1.0, 0)):
        for found in both(B, 1.0, 0.25, np.ones(2), 10, tolerance):
            assert found.iterations == iterations
            if iterations == 1:
                assert found.residual == 0.5 and found.solution.tolist() == [0.5, 0.5]


def test_a_right_side_of_zero_takes_no_product():
    for found in both(np.full((3, 3), np.nan), 0.9, 0.1, np.zeros(4), 10, 1e-8):
        assert found.iterations == 0 and not found.solution.any() and found.residual == 0


@pytest.mark.parametrize("literal", [False, True])
def test_what_is_not_finite_is_named(literal):
    with so.literal(literal):
        with pytest.raises(FloatingPointError, match="product is not finite"):
            conjugate_gradients.damped(np.full((2, 2), np.nan), 0.9, 0.1, np.ones(2), 5, 1e-8)
        with pytest.raises(FloatingPointError, match="norm of the right side"), np.errstate(
                invalid="ignore"):
            conjugate_gradients.damped(np.eye(2), 0.9, 0.1, np.full(2, np.inf), 5, 1e-8)


@pytest.mark.parametrize("dtype", ("float64", "float32"))
def test_combined_in_one_pass(dtype):
    rng = np.random.default_rng(0)
    G, w, mean = (rng.normal(size=shape).astype(dtype) for shape in ((5, 8), 5, 8))
    out, s = np.empty((5, 9), dtype)[:, :-1], np.dtype(dtype).type(-0.3)
    compiled.combined(s, G, w, mean, out)
    np.testing.assert_allclose(out, systems.combined(s, G, w, mean),
                               rtol=1e-5 if dtype == "float32" else 1e-14)
