"""EACG as an optimizer: direction, memory, reports, settings, what it refuses."""

import numpy as np
import pytest

import secondorder as so
from harness.shaped_networks import problem
from secondorder import eacg
from test_eacg_curvatures import case, relative


@pytest.mark.parametrize("solver", eacg.SOLVERS)
def test_a_step_adds_rate_times_direction(solver):
    net, loss, x, y = case(0)
    options = {"l2": 0.05, "solver": solver, "alpha": 0.1, "max_cg": 30, "tolerance": 1e-8}
    wanted, before = eacg.direction(net, loss, x, y, **options), net.theta.copy()
    so.EACG(net, loss, **options).step(x, y)
    np.testing.assert_allclose(net.theta - before, 0.1 * wanted, rtol=1e-12, atol=1e-15)


def test_reports():
    net, loss, x, y = case(2)
    info = so.EACG(net, loss, max_cg=3, tolerance=1e-12).step(x, y)
    assert 0 < info["cg_iterations"] <= 18 and 0 < info["cg_residual"] < 1
    info = so.EACG(net, loss, max_cg=300, tolerance=1e-3).step(x, y)
    assert info["cg_residual"] <= 1e-3
    info = so.EACG(net, loss, solver="ea-closed").step(x, y)
    assert info["cg_iterations"] == 0 and info["cg_residual"] == 0


def test_momentum():
    """Also where it is set after construction."""
    net, loss, x, y = case(3)
    twin = net.copy()
    opt, plain = so.EACG(net, loss), so.EACG(twin, loss)
    opt.momentum, buffer = 0.7, 0
    for _ in range(4):
        twin.theta = net.theta
        buffer = 0.7 * buffer + plain.direction(plain.evaluate(x, y))
        before = net.theta.copy()
        opt.step(x, y)
        np.testing.assert_allclose(net.theta - before, 0.1 * buffer, rtol=1e-10, atol=1e-14)


def test_settings_that_are_changed_are_taken_or_refused():
    net, loss, x, y = case(4)
    changed = {"curvature": "gauss-newton", "solver": "kfi", "alpha": 0.3, "max_cg": 2,
               "tolerance": 0.5}
    opt, limits = so.EACG(net, loss), {"max_cg": 20, "tolerance": 1e-2, "alpha": 0.02}
    for name, value in changed.items():
        setattr(opt, name, value)
        limits[name] = value
        np.testing.assert_array_equal(opt.direction(opt.evaluate(x, y)),
                                      eacg.direction(net, loss, x, y, **limits))
    for name, value in {"curvature": "hessian", "solver": "none", "alpha": 1.0, "max_cg": 0,
                        "tolerance": -1.0, "momentum": 1.0}.items():
        with pytest.raises(ValueError, match=name):
            setattr(opt, name, value)


def test_sampled_targets_change_from_step_to_step():
    net, loss, x, y = case(5)
    opt = so.EACG(net, loss, curvature="fisher-sampled", rng=0)
    evaluation = opt.evaluate(x, y)
    assert relative(opt.direction(evaluation), opt.direction(evaluation)) > 1e-6


def test_refused_before_the_first_step():
    net, loss, x, y = case(8)
    with pytest.raises(TypeError, match="negative log-likelihood"):
        so.EACG(net, so.BoundedCriterion(), curvature="fisher-exact")
    for function in (eacg.direction, eacg.bias_curvatures, eacg.matrix):
        with pytest.raises(ValueError, match="fisher-empirical"):
            function(net, loss, x, y, "fisher")


@pytest.mark.parametrize("name, layer", [("convolutional", "Conv2d"), ("recurrent", "Recurrent"),
                                         ("normalised", "Reshape")])
def test_other_layers_are_refused_by_name(name, layer):
    net, loss, x, y = problem(name)
    for call in (lambda: so.EACG(net, loss), lambda: so.eacg.direction(net, loss, x, y),
                 lambda: so.eacg.bias_curvatures(net, loss, x, y, curvature="pch-1")):
        with pytest.raises(TypeError, match=rf"EA-CG does not support the layer {layer}\(.*"
                                            "supported layers: Linear, Activation, Chain"):
            call()
