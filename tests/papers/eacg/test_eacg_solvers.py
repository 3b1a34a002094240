"""EA-CG's solvers against dense Kronecker solves: joint biases, penalties, awkward batches."""

import importlib

import numpy as np
import pytest

import secondorder as so
from secondorder import eacg
from secondorder.nets import Linear
from secondorder.papers.eacg import rules
from secondorder.papers.eacg.direction import direction_at
from secondorder.papers.eacg.options import HEEDED, checked
from secondorder.papers.eacg.solvers import (by_name, cholesky, conjugate_gradients,
                                             kronecker_inverse, systems)
from test_eacg_curvatures import LOSSES, case, relative

ALPHA = 0.05
FAR = {solver: {"max_cg": 200, "tolerance": 1e-13} for solver in ("ea-cg", "cg")}


def dense_direction(net, loss, x, y, curvature, solver, l2=0.0, joint=False, rank=1):
    """The direction by dense Kronecker solves, written out from (9)-(13)."""
    evaluation = net.evaluate(loss, x, y)
    gradient, out = evaluation.gradient + l2 * net.theta, np.empty(net.size)
    matrices = eacg.bias_curvatures(net, loss, x, y, curvature)
    for t, (unit, B) in enumerate(zip(rules.linear(rules.units(evaluation)), matrices)):
        (G, g), h = unit.layer.split(gradient[unit.where]), unit.saved.input
        D, d = unit.layer.split(out[unit.where])
        if joint:
            both = dense_weights(B, np.c_[h, np.ones(len(h))], np.c_[G, g], solver, ALPHA, l2, rank,
                                 t == 0)
            D[...], d[...] = both[:, :-1], both[:, -1]
            continue
        D[...] = dense_weights(B, h, G, solver, ALPHA, l2, rank, t == 0)
        weight, damping = 1 - ALPHA, ALPHA + (1 - ALPHA) * l2
        if solver.startswith("kfi"):
            weight, damping = 1, ALPHA + l2
        d[...] = -np.linalg.solve(weight * B + damping * np.eye(len(B)), g)
    return out


def dense_weights(B, h, G, solver, alpha, l2, rank, first):
    """The direction (n, m) of the weights of a layer with inputs h, from (n m, n m) matrices."""
    (n, m), A, mean = G.shape, h.T @ h / len(h), h.mean(axis=0)
    if solver.startswith("ea") or solver == "kfi-rank-one" and first:
        values, V = np.linalg.eigh(np.cov(h.T, bias=True))
        values[: max(m + 1 - rank, 0)] = 0
        A = np.outer(mean, mean) + (V * values) @ V.T
    matrix = (1 - alpha) * (np.kron(A, B) + l2 * np.eye(n * m)) + alpha * np.eye(n * m)
    if solver.startswith("kfi"):
        a = alpha + l2
        pi = np.sqrt(np.trace(A) / m / (np.trace(B) / n)) or 1.0
        matrix = np.kron(A + pi * np.sqrt(a) * np.eye(m), B + np.sqrt(a) / pi * np.eye(n))
    return -np.linalg.solve(matrix, G.ravel(order="F")).reshape(n, m, order="F")


EXTRA = {
    "ea-cg": ({}, {"literal": True}, {"rank": 3}, {"rank": 6}, {"preconditioner": "kfi"},
              {"rank": 2, "preconditioner": "kfi"}),
    "ea-closed": ({}, {"rank": 2}, {"rank": 4}, {"rank": 6}),
    "cg": ({}, {"preconditioner": "kfi"}),
    "kfi": ({}, {"literal": True}),
    "kfi-rank-one": ({}, {"literal": True}),
}


@pytest.mark.everyday(30)
@pytest.mark.parametrize("samples", (1, 3, 12))
@pytest.mark.parametrize("l2", (0.0, 0.03))
@pytest.mark.parametrize("joint", (False, True))
@pytest.mark.parametrize("solver", eacg.SOLVERS)
def test_against_dense_solves(solver, joint, l2, samples):
    for loss in ("softmax", "tukey"):
        net, criterion, x, y = case(0, "sigmoid", loss, samples=samples)
        for extra in EXTRA.get(solver, ({},)):
            found = eacg.direction(net, criterion, x, y, "pch-1", solver, ALPHA, l2=l2, joint=joint,
                                   **FAR.get(solver, {}), **extra)
            wanted = dense_direction(net, criterion, x, y, "pch-1", solver, l2, joint,
                                     extra.get("rank", 1))
            assert relative(found, wanted) < 1e-10, extra


@pytest.mark.parametrize("curvature", eacg.POSITIVE)
@pytest.mark.parametrize("solver", eacg.SOLVERS)
def test_always_a_descent_direction(solver, curvature):
    for seed, loss in enumerate(LOSSES):
        if curvature in ("fisher-exact", "fisher-sampled") and loss in ("bounded", "tukey"):
            continue
        net, criterion, x, y = case(seed, "tanh", loss)
        step = eacg.direction(net, criterion, x, y, curvature, solver, alpha=0.02, rng=0)
        assert step @ so.exact.gradient(net, criterion, x, y) < 0


# -- conjugate gradients ---------------------------------------------------------------------------


def random_system(seed, n=8, m=11, rank=None):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, rank or n)) / np.sqrt(n)
    return root @ root.T, rng.normal(size=(n, m)), rng.normal(size=m)


def test_stops_at_the_relative_residual_and_at_the_limit():
    B, G, mean = random_system(2)
    for tolerance in (0.5, 1e-3, 1e-8):
        found = conjugate_gradients.rank_one_literal(B, mean, G, 0.9, 0.1, 100, tolerance)
        left = 0.9 * np.outer(B @ found.solution @ mean, mean) + 0.1 * found.solution
        actual = np.linalg.norm(left + G) / np.linalg.norm(G)
        assert actual <= tolerance and abs(found.residual - actual) < 1e-10
        before = conjugate_gradients.rank_one_literal(B, mean, G, 0.9, 0.1, found.iterations - 1,
                                                      tolerance)
        assert before.residual > tolerance and before.iterations == found.iterations - 1


def test_no_product_is_made_for_a_right_side_of_zero():
    def product(p):
        raise AssertionError("a product was made")

    for tolerance in (0.0, 1e-3):
        found = conjugate_gradients.solve(product, np.zeros((3, 2)), 5, tolerance)
        assert not found.solution.any() and found[1:] == (0, 0.0)


def test_preconditioner_saves_iterations():
    net, criterion, x, y = case(3, sizes=(20, 16, 10, 4), samples=60)
    evaluation = net.evaluate(criterion, x, y)
    taken = {}
    for preconditioner in (None, "kfi"):
        options = checked("cg", 0.01, tolerance=1e-2, preconditioner=preconditioner)
        _, reports = direction_at(evaluation, evaluation.gradient, "fisher", options)
        taken[preconditioner] = sum(weights.iterations for weights, _ in reports)
    assert taken["kfi"] < taken[None]


@pytest.mark.parametrize("extra, by_mean", (({}, True), ({"rank": 3}, False),
                                            ({"solver": "cg"}, False)))
def test_preconditioner_is_of_the_system_that_is_solved(extra, by_mean, monkeypatch):
    """(11b) is preconditioned with the mean input, (11a) with all inputs."""
    asked, made = [], kronecker_inverse.preconditioner
    monkeypatch.setattr(kronecker_inverse, "preconditioner", lambda X, B, alpha: (
        asked.append((len(X), alpha)), made(X, B, alpha))[1])
    eacg.direction(*case(0), preconditioner="kfi", alpha=0.1, l2=0.3, **extra)
    damping = 0.1 / 0.9 + 0.3
    assert asked == [(1 if by_mean else 7, pytest.approx(damping))] * 3


def test_columns_are_solved_for_in_parts():
    rng, widths = np.random.default_rng(0), []
    A, P = rng.normal(size=(4, 4)), rng.normal(size=(4, kronecker_inverse.COLUMNS + 5))
    found = kronecker_inverse.by_columns(lambda p: (widths.append(p.shape[1]), A @ p)[1], P)
    assert relative(found, A @ P) < 1e-14 and widths == [kronecker_inverse.COLUMNS, 5]


# -- closed forms ----------------------------------------------------------------------------------


def test_singular_curvature_is_no_trouble():
    for rank in (1, 3):
        B, G, mean = random_system(5, rank=rank)
        system = systems.System(B, mean[None] * np.ones((4, 1)), np.ones((4, 8)), G, G, ALPHA, 0.0)
        wanted = systems.dense_solution(system)
        for solve in (by_name.ea_closed, by_name.ea_cg, by_name.cg):
            out = np.empty_like(G)
            solve(system, checked(alpha=ALPHA, max_cg=200), False, out)
            assert relative(out, wanted) < 1e-9


def test_curvature_that_is_too_negative_is_named():
    with pytest.raises(FloatingPointError, match="not positive definite"):
        cholesky.damped_solve(-np.eye(3), np.ones(3), 0.95, 0.05)


# -- awkward batches -------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", eacg.SOLVERS)
def test_zero_gradient_gives_zero(solver):
    net, criterion, x, _ = case(6, "tanh", "squared")
    y = net(x)
    assert not eacg.direction(net, criterion, x, y, "pch-1", solver).any()


@pytest.mark.parametrize("value", (0.0, 1.0))
@pytest.mark.parametrize("solver", eacg.SOLVERS)
def test_constant_inputs(solver, value):
    net, criterion, x, y = case(7, "sigmoid", "bounded")
    step = eacg.direction(net, criterion, np.full_like(x, value), y, "pch-2", solver, alpha=0.1)
    assert np.isfinite(step).all()
    if value == 0:
        assert not net.layers[0].split(step[net.slices[0]])[0].any()


@pytest.mark.parametrize("solver", eacg.SOLVERS)
def test_dead_units(solver):
    net, criterion, x, y = case(8, "relu", "softmax")
    net.layers[0].bias[:] = -100
    step = eacg.direction(net, criterion, x, y, "pch-1", solver, alpha=0.1)
    assert np.isfinite(step).all() and not step[net.slices[0]].any()


@pytest.mark.parametrize("solver", eacg.SOLVERS)
def test_single_precision(solver):
    net, criterion, x, y = case(9, samples=30)
    near = {"tolerance": 1e-6} if solver in FAR else {}
    found = eacg.direction(net.astype("float32"), criterion, x, y, "pch-1", solver, alpha=0.1,
                           **near)
    assert found.dtype == np.float32
    assert relative(found, eacg.direction(net, criterion, x, y, "pch-1", solver, alpha=0.1)) < 1e-4


# -- Cholesky --------------------------------------------------------------------------------------


@pytest.mark.parametrize("smallest", (1.0, 1e-9))
@pytest.mark.parametrize("scale", (1.0, 1e-12))
@pytest.mark.parametrize("damping", (1e-4, 3e-6))
def test_a_narrow_matrix_is_solved_as_accurately_as_a_wide_one(smallest, scale, damping):
    """Refined where that is enough, in float64 where the system is too badly conditioned."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(90, 90)))[0]
    B = ((Q * np.geomspace(smallest, 100, 90)) @ Q.T).astype(np.float32)
    B, right = (B + B.T) / 2, scale * rng.normal(size=(90, 2))
    B = B + np.float32(abs(np.linalg.eigvalsh(B.astype(float))[0])) * np.eye(90, dtype="float32")
    wanted = np.linalg.solve(0.9 * B.astype(np.float64) + damping * np.eye(90), right)
    found = cholesky.damped_solve(B, right, 0.9, damping)
    assert found.dtype == np.float64 and relative(found, wanted) < 1e-7


@pytest.mark.parametrize("scale", (0, 1, -1))
@pytest.mark.parametrize("dtype", ("float32", "float64"))
def test_a_matrix_is_factorised_in_its_own_precision(dtype, scale, monkeypatch):
    seen, factor = [], cholesky.cho_factor
    monkeypatch.setattr(cholesky, "cho_factor", lambda matrix, **options: (
        seen.append(matrix.dtype), factor(matrix, **options))[1])
    cholesky.damped_solve(np.eye(3, dtype=dtype), np.full(3, scale), 0.9, 0.1)
    assert seen == [dtype]


@pytest.mark.parametrize("factor, factorised", ((0, 0), (1e-4, 0), (0.99, 0), (1.01, 1)))
def test_a_matrix_far_below_the_damping_is_not_factorised(factor, factorised, monkeypatch):
    """weight |B| against a hundredth of the damping; as accurate as with a factor."""
    rng = np.random.default_rng(1)
    B, right = rng.normal(size=(70, 40)), rng.normal(size=70)
    B = B @ B.T
    B = (factor * 0.01 * 0.2 / 0.8 / np.linalg.norm(B) * B).astype(np.float32)
    seen, factorise = [], cholesky.cho_factor
    monkeypatch.setattr(cholesky, "cho_factor", lambda *matrix, **options: (
        seen.append(matrix), factorise(*matrix, **options))[1])
    found = cholesky.damped_solve(B, right, 0.8, 0.2)
    wanted = np.linalg.solve(0.8 * B.astype(np.float64) + 0.2 * np.eye(70), right)
    assert len(seen) == factorised and relative(found, wanted) < 1e-7


# -- what overflows --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("samples", (3, 7))  # fewer than inputs, and more
@pytest.mark.parametrize("solver", eacg.SOLVERS)
def test_inputs_that_overflow_are_refused_with_the_layers_name(solver, samples):
    seen = "square of the mean input" if solver.startswith("ea") else "second moment of the inputs"
    net, criterion, x, y = case(0, "relu", samples=samples)
    opt = eacg.EACG(net, criterion, solver=solver)
    before = net.theta.copy()
    for scale in (1e160, 1e200):
        for call in (lambda: eacg.direction(net, criterion, x * scale, y, solver=solver),
                     lambda: opt.step(x * scale, y)):
            with pytest.raises(FloatingPointError, match=f"{seen} of linear layer 1 is not"):
                call()
    assert (net.theta == before).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("solver", "rank"), (("ea-cg", 1), ("ea-closed", 1), ("ea-closed", 2)))
def test_solvers_that_see_only_the_mean_care_only_for_it(solver, rank):
    net, criterion, x, y = case(0, "sigmoid", samples=4)
    x[1::2] = -x[::2]  # the mean is 0
    x *= 1e200
    if rank == 1:
        step = eacg.direction(net, criterion, x, y, solver=solver)
        assert np.isfinite(step).all()
    else:
        with pytest.raises(FloatingPointError, match="second moment of the inputs"):
            eacg.direction(net, criterion, x, y, solver=solver, rank=rank)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_product_of_factors_that_overflows_and_the_layer_of_any_trouble(monkeypatch):
    net = so.mlp([4, 3, 2], activation="relu", rng=0)
    x, y = np.ones((5, 4)), np.zeros((5, 2))
    units = rules.units(net.evaluate(so.SquaredError(), x, y))
    options = checked("exact", 0.1)
    big, small = np.eye(3) * 1e308 / 3, np.eye(3) * 1e308 / 50
    directions = importlib.import_module("secondorder.papers.eacg.direction")
    directions.require_finite_factors(units[0], small, options, 0)  # trace A = 20
    with pytest.raises(FloatingPointError, match="weights of linear layer 1 is not finite"):
        directions.require_finite_factors(units[0], big, options, 0)

    def trouble(unit, *args):
        if unit.layer is net.layers[2]:
            raise FloatingPointError("trouble")

    monkeypatch.setattr(directions, "layer_direction", trouble)
    for below in (True, False):
        net = so.Network([Linear(4, 3, trainable=below, rng=0), so.Activation("relu"),
                          Linear(3, 2, rng=0)])
        with pytest.raises(FloatingPointError, match="^linear layer 2: trouble"):
            eacg.direction(net, so.SquaredError(), x, y)


@pytest.mark.parametrize("solver", ("ea-cg", "cg"))
def test_one_product_along_the_gradient(solver):
    """The first iterate is a multiple of the gradient, in every layer's weights and biases."""
    net, criterion, x, y = case(3)
    step = eacg.direction(net, criterion, x, y, solver=solver, max_cg=1, tolerance=0.0)
    gradient = so.exact.gradient(net, criterion, x, y)
    for layer, where in zip(net.layers, net.slices):
        for d, g in zip(layer.split(step[where]), layer.split(gradient[where])):
            factor = np.vdot(d, g) / np.vdot(g, g)
            assert factor < 0 and relative(d, factor * g) < 1e-10


def test_limits_where_none_are_given():
    assert (checked().max_cg, checked().tolerance) == (50, 1e-10)
    opt = eacg.EACG(*case(0)[:2])
    assert (opt.max_cg, opt.tolerance) == (20, 1e-2)


#: A value of every option that not all solvers heed.
CHOSEN = {"max_cg": 50, "tolerance": 1e-10, "rank": 2, "preconditioner": "kfi", "literal": True}


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("solver", eacg.SOLVERS)
def test_an_option_has_an_effect_or_is_refused(solver, name):
    """Also one that has the value that would be assumed."""
    given = {name: CHOSEN[name]}
    if name in HEEDED[solver]:
        assert getattr(checked(solver, **given), name) == CHOSEN[name]
        return
    for call in (lambda: eacg.direction(*case(0), solver=solver, **given),
                 lambda: eacg.EACG(*case(0)[:2], solver=solver, **given)):
        with pytest.raises(ValueError, match=f"^{name}=.* has no effect with solver='{solver}'"):
            call()


def test_a_literal_form_that_there_is_none_of_is_refused():
    for name, value in (("rank", 2), ("preconditioner", "kfi")):
        with pytest.raises(ValueError, match=f"literal=True has no effect with {name}"):
            checked(literal=True, **{name: value})


@pytest.mark.parametrize("function", (eacg.direction, eacg.bias_curvatures))
def test_complex_networks_are_refused(function):
    net, criterion, x, y = case(0)
    with pytest.raises(ValueError, match="real parameters, got complex128"):
        function(net.astype("complex128"), criterion, x, y)


def test_what_is_orthogonal_to_the_mean_input_keeps_its_small_norm():
    rng = np.random.default_rng(0)
    G, mean = 1e-3 * rng.normal(size=(3, 4)), rng.normal(size=4)
    across = G - np.outer(G @ mean, mean) / (mean @ mean)
    np.testing.assert_allclose(conjugate_gradients.coordinates(G, mean).across,
                               np.linalg.norm(across), rtol=1e-10)


@pytest.mark.parametrize("least", [1e-4, 1e-6])
def test_a_right_side_of_the_other_sign_gives_the_other_solution(least):
    """To the bit, also where single precision does not do; residuals are all of one sign."""
    B, right = np.array([[1, least - 1], [least - 1, 1]], dtype=np.float32), np.full(2, 3.7)
    one, other = (cholesky.damped_solve(B, sign * right, 0.9, 1e-9) for sign in (1, -1))
    assert (one == -other).all()
    wanted = np.linalg.solve(0.9 * B.astype(float) + 1e-9 * np.eye(2), right)
    assert relative(one, wanted) < 1e-7


@pytest.mark.parametrize("unit", [2.0**-600, 2.0**-900])
@pytest.mark.parametrize("literal", [True, False])
def test_gradients_whose_squares_vanish(unit, literal):
    """What is solved for is linear in the right side."""
    B, rng = np.diag([1.0, 2.0, 3.0]) + 0.1, np.random.default_rng(0)
    G, mean = rng.normal(size=(3, 4)), rng.normal(size=4)
    solve = (conjugate_gradients.rank_one_literal if literal
             else conjugate_gradients.rank_one_coefficients)
    arguments = (mean, 0.7, 0.3, 50, 1e-12)
    if literal:
        found, plain = (solve(B, mean, G * u, *arguments[1:]).solution / u for u in (unit, 1.0))
    else:
        found, plain = (s * G + np.outer(w / u, mean) for u in (unit, 1.0)
                        for s, w, _ in [solve(B, G * u, *arguments)])
    assert relative(found, plain) < 1e-12
