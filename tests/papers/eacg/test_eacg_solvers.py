"""EA-CG's solvers: both forms of conjugate gradients, awkward batches, precision, memory.

That they solve what they say is in the equations, and in `test_eacg_matrix`.
"""

import tracemalloc

import numpy as np
import pytest

import secondorder as so
from secondorder import eacg
from secondorder.papers.eacg.eq_09_11_ea_cg import (Limits, eq_10a_bias, eq_10a_bias_compiled,
                                                    eq_10b_ea_cg, eq_10b_ea_cg_as_printed)
from test_eacg_curvatures import case, relative


# -- conjugate gradients ---------------------------------------------------------------------------


def system(seed, n=8, m=11, rank=None):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, rank or n)) / np.sqrt(n)
    return root @ root.T, rng.normal(size=(n, m)), rng.normal(size=(5, m))


@pytest.mark.parametrize("rank", (None, 1, 3))  # a singular curvature is no trouble
@pytest.mark.parametrize("limits", (Limits(1, 0), Limits(4, 0), Limits(100, 1e-3), Limits(100, 0.5),
                                    Limits(100, 1e-8)))
def test_both_forms_take_the_same_steps(limits, rank):
    """And end at the relative residual, or at the limit."""
    B, G, X = system(2, rank=rank)
    short, printed = (solve(B, G, X, 0.1, 0.0, limits)
                      for solve in (eq_10b_ea_cg, eq_10b_ea_cg_as_printed))
    mean = X.mean(axis=0)
    left = 0.9 * np.outer(B @ short.x @ mean, mean) + 0.1 * short.x + G
    assert short.iterations == printed.iterations <= limits.max_cg
    assert short.residual <= limits.tolerance or short.iterations == limits.max_cg
    assert relative(short.x, printed.x) < 1e-9
    for one in (short, printed):
        assert abs(one.residual - np.linalg.norm(left) / np.linalg.norm(G)) < 1e-9
    one, other = (solve(B, G[:, 0], 0.1, 0.2, limits)
                  for solve in (eq_10a_bias, eq_10a_bias_compiled))
    assert one.iterations == other.iterations and relative(other.x, one.x) < 1e-9


@pytest.mark.parametrize("solve", (eq_10b_ea_cg, eq_10b_ea_cg_as_printed))
@pytest.mark.parametrize("unit", (2.0**-600, 2.0**-900, 2.0**600))
def test_gradients_whose_squares_vanish_or_overflow(unit, solve):
    """What is solved for is linear in the right side."""
    B, G, X = system(0)
    found, plain = (solve(B, G * u, X, 0.3, 0.0, Limits(50, 1e-12)).x / u for u in (unit, 1.0))
    assert relative(found, plain) < 1e-12
    one = eq_10a_bias_compiled(B, G[:, 0] * unit, 0.3, 0.0, Limits()).x / unit
    assert relative(one, eq_10a_bias(B, G[:, 0], 0.3, 0.0, Limits()).x) < 1e-9


# -- awkward batches -------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", eacg.SOLVERS)
def test_gradients_inputs_and_slopes_of_zero(solver):
    net, criterion, x, _ = case(6, "tanh", "squared")
    assert not eacg.direction(net, criterion, x, net(x), "pch-1", solver).any()
    for value in (0.0, 1.0):
        net, criterion, x, y = case(7, "sigmoid", "bounded")
        step = eacg.direction(net, criterion, np.full_like(x, value), y, "pch-2", solver)
        assert np.isfinite(step).all()
        assert net.layers[0].split(step[net.slices[0]])[0].any() == (value != 0)
    net, criterion, x, y = case(8, "relu", "softmax")
    net.layers[0].bias[:] = -100
    step = eacg.direction(net, criterion, x, y, "pch-1", solver)
    assert np.isfinite(step).all() and not step[net.slices[0]].any()


@pytest.mark.parametrize("samples", (4, 30))
@pytest.mark.parametrize("solver", eacg.SOLVERS)
def test_single_precision(solver, samples):
    net, criterion, x, y = case(9, samples=samples)
    found = eacg.direction(net.astype("float32"), criterion, x, y, "pch-1", solver, tolerance=1e-6)
    assert found.dtype == np.float32
    assert relative(found, eacg.direction(net, criterion, x, y, "pch-1", solver)) < 1e-4


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("scale", (1e160, 1e200))
@pytest.mark.parametrize("samples", (3, 7))  # fewer than inputs, and more
@pytest.mark.parametrize("solver", eacg.SOLVERS)
def test_inputs_that_overflow_are_refused_with_the_layers_name(solver, samples, scale):
    net, criterion, x, y = case(0, "relu", samples=samples)
    before = net.theta.copy()
    with pytest.raises(FloatingPointError, match="weights of linear layer 1 is not finite"):
        so.EACG(net, criterion, solver=solver).step(x * scale, y)
    assert (net.theta == before).all()


def test_rounding_that_leaves_a_system_indefinite_is_told():
    net, criterion, x, y = case(0, "identity", "squared")
    net.layers[2].weight[...] *= 1e10  # B^1 has rank 3 of 6, and the damping is lost beside it
    with pytest.raises(FloatingPointError, match="linear layer 1 indefinite: take a larger alpha"):
        eacg.direction(net, criterion, x, y, "gauss-newton", "ea-closed", alpha=1e-9)


@pytest.mark.parametrize("function", (eacg.direction, eacg.bias_curvatures))
def test_complex_networks_are_refused(function):
    net, criterion, x, y = case(0)
    with pytest.raises(ValueError, match="real parameters, got complex128"):
        function(net.astype("complex128"), criterion, x, y)


# -- memory ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", eacg.SOLVERS)
def test_only_the_printed_kfi_forms_a_matrix_of_wide_inputs(solver):
    """Of 6000 inputs it takes 144 MB in float32; all else is as long as the inputs or weights."""
    width = 3000 if solver == "kfi-printed" else 6000
    net = so.mlp([width, 6, 3], activation="sigmoid", rng=0, dtype="float32")
    x = np.random.default_rng(0).normal(size=(8, width)).astype(np.float32)
    model = net, so.SoftmaxCrossEntropy(), x, np.arange(8) % 3
    eacg.direction(*model, solver=solver, l2=0.01, max_cg=5)  # what is compiled counts for nobody
    tracemalloc.start()
    eacg.direction(*model, solver=solver, l2=0.01, max_cg=5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (peak > 4 * width**2) == (solver == "kfi-printed")
    assert solver == "kfi-printed" or peak < 15 * (x.nbytes + net.theta.nbytes)
