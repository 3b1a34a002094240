"""Inputs wider than the batch: every solver by inner products is the dense solve, and nothing of
the square of their width is made.
"""

import tracemalloc

import numpy as np
import pytest

import secondorder as so
from secondorder import eacg
from secondorder.papers.eacg.options import checked
from secondorder.papers.eacg.solvers import by_name, conjugate_gradients, kronecker_inverse, systems
from test_eacg_curvatures import relative
from test_eacg_solvers import dense_weights

WIDTH = 150_528  # 224 x 224 pixels in three colours
FAR = {"max_cg": 300, "tolerance": 1e-14}
OPTIONS = [("kfi", {}), ("kfi-rank-one", {}), ("exact", {}), ("cg", FAR),
           ("cg", FAR | {"preconditioner": "kfi"}), ("ea-cg", FAR), ("ea-cg", FAR | {"rank": 3}),
           ("ea-closed", {"rank": 3})]


def system_of(S, m, rank, alpha, l2, dtype=float, n=4):
    """A layer's system with inputs (S, m) of some rank; its gradient is the one they have."""
    rng = np.random.default_rng(S * m + rank)
    X = (rng.normal(size=(S, rank)) @ rng.normal(size=(rank, m))).astype(dtype)
    deltas, W = (rng.normal(size=shape).astype(dtype) for shape in ((S, n), (n, m)))
    root = rng.normal(size=(n, n))
    G = deltas.T @ X / S + np.asarray(l2, dtype) * W
    return systems.System((root @ root.T / n).astype(dtype), X, deltas, W, G, alpha, l2)


def dense(system, solver, extra):
    return dense_weights(system.B, system.X, system.G, solver, system.alpha, system.l2,
                         extra.get("rank", 1), first=True)


def found(system, solver, extra):
    out = np.full_like(system.G, np.nan)
    options = checked(solver, system.alpha, system.l2, **extra)
    by_name.solve_weights(system, options, True, out)
    return out


@pytest.mark.parametrize("S, m, rank", [(3, 9, 3), (3, 9, 1), (6, 7, 4), (7, 7, 5), (9, 6, 6),
                                        (1, 5, 1)])
@pytest.mark.parametrize("alpha, l2", [(0.3, 0.0), (0.01, 0.0), (1e-5, 0.0), (0.02, 0.5)])
@pytest.mark.parametrize("solver, extra", [*OPTIONS, ("kfi", {"literal": True}),
                                           ("kfi-rank-one", {"literal": True})])
def test_the_dense_solve_at_small_sizes(solver, extra, alpha, l2, S, m, rank):
    system = system_of(S, m, rank, alpha, l2)
    wanted = dense(system, solver, extra)
    assert relative(found(system, solver, extra), wanted) < 1e-8


@pytest.mark.parametrize("literal, formed", [(True, True), (False, False)])
def test_the_literal_kfi_forms_the_matrix_of_wide_inputs(literal, formed):
    """A (1000, 1000) takes 8 MB, and nothing else here takes as much."""
    system = system_of(3, 1000, 3, 0.02, 0.0)
    tracemalloc.start()
    by_name.solve_weights(system, checked("kfi", 0.02, 0.0, literal=literal), True,
                          np.empty_like(system.G))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (peak > 8 * 1000**2) == formed


@pytest.mark.parametrize("l2", (0.0, 0.1))
@pytest.mark.parametrize("solver, extra", OPTIONS)
def test_inputs_of_zero(solver, extra, l2):
    system = system_of(3, 8, 2, 0.1, l2)
    system.X[...] = 0
    system.G[...] = l2 * system.W
    np.testing.assert_allclose(found(system, solver, extra), dense(system, solver, extra),
                               rtol=1e-10)


def test_single_precision_stays_near_the_double_one():
    """KFI's gradient part is no difference of large numbers, however weak the damping."""
    system = system_of(5, 300, 5, 1e-6, 0.0, np.float32)
    B, X, deltas = (a.astype(float) for a in (system.B, system.X, system.deltas))
    wanted = kronecker_inverse.direction(X.T @ X / 5, B, deltas.T @ X / 5, 1e-6)
    assert relative(found(system, "kfi", {}), wanted) < 1e-4


@pytest.mark.parametrize("iterations", (1, 2, 4, 6))
def test_a_span_takes_the_same_steps_as_arrays_of_the_weights_size(iterations):
    system = system_of(3, 11, 3, 0.1, 0.2)
    F = system.X.T / np.sqrt(3)
    (Q, A), G, (weight, damping) = systems.orthonormal(F), system.G, (0.9, 0.1)
    literal = conjugate_gradients.solve(
        lambda P: weight * systems.batch_product(system.B, P, system.X) + damping * P, -G,
        iterations, 1e-14)
    rest = G - G @ Q @ Q.T
    s, V, short = conjugate_gradients.in_span(system.B, systems.size(rest), G @ Q, A, weight,
                                              damping, iterations, 1e-14)
    assert short.iterations == literal.iterations == iterations
    assert relative(s * rest + V @ Q.T, literal.solution) < 1e-9
    assert abs(short.residual - literal.residual) < 1e-9
    assert np.allclose(Q.T @ Q, np.eye(3)) and np.allclose(Q @ A @ Q.T, F @ F.T)


@pytest.mark.parametrize("solver, extra", OPTIONS, ids=str)
def test_nothing_of_the_square_of_the_width(solver, extra):
    """At the width of a large image all arrays are as long as the inputs or the weights.

    (6.2 times as much of memory as both take with Python 3.11, 7.9 times with 3.12 and 3.13.)
    """
    few = {"max_cg": 5} if "max_cg" in extra else {}
    net = so.mlp([WIDTH, 6, 3], activation="sigmoid", rng=0, dtype="float32")
    x = np.random.default_rng(0).normal(size=(8, WIDTH)).astype(np.float32)
    case = net, so.SoftmaxCrossEntropy(), x, np.arange(8) % 3
    options = {"solver": solver, "l2": 0.01} | extra | few
    eacg.direction(*case, **options)  # what is imported on first use counts for nobody
    tracemalloc.start()
    eacg.direction(*case, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8.3 * (x.nbytes + net.theta.nbytes) < WIDTH**2 / 100


def test_kfi_preconditions_in_the_span_as_on_the_weights():
    system, rng = system_of(4, 9, 4, 0.2, 0.0), np.random.default_rng(5)
    Q, A = systems.orthonormal(system.X.T / 2)
    V = rng.normal(size=(4, 4))
    inside = kronecker_inverse.damped_inverse(A, system.B, 0.2, system.G.shape)(V)
    whole = kronecker_inverse.preconditioner(system.X, system.B, 0.2)(V @ Q.T)
    assert relative(inside @ Q.T, whole) < 1e-12


def test_kfi_solves_for_as_many_columns_as_there_are_samples(monkeypatch):
    """With rank-S factors nothing of width m is solved for."""
    widths, made = [], kronecker_inverse.damped_solver

    def watched(*arguments):
        solve = made(*arguments)
        return lambda right: (widths.append(right.shape[-1]), solve(right))[1]

    monkeypatch.setattr(kronecker_inverse, "damped_solver", watched)
    for solver in ("kfi", "kfi-rank-one"):
        found(system_of(5, 400, 5, 0.1, 0.0), solver, {})
    assert widths and max(widths) <= 5


def test_the_posterior_of_a_wide_layer():
    """Laplace's approximation: eigenvectors of the inputs' span, and tau across it."""
    rng = np.random.default_rng(0)
    net, x = so.mlp([30, 3, 2], rng=0), rng.normal(size=(6, 30))
    case = net, so.SquaredError(), x, rng.normal(size=(6, 2))
    for joint in (True, False):
        made = eacg.posterior(*case, 0.3, joint=joint)
        block = made._blocks[0]
        assert block.U.shape[1] <= 6
        draws = made._root(np.eye(net.size))
        inverse = made._inverse(np.eye(net.size))
        assert relative(draws @ draws.T, inverse) < 1e-12
        precision = 6 * eacg.matrix(*case, "gauss-newton", joint=joint) + 0.3 * np.eye(net.size)
        assert relative(inverse, np.linalg.inv(precision)) < 1e-10
        assert abs(made.log_determinant + np.linalg.slogdet(inverse)[1]) < 1e-9
