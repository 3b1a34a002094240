"""EACG as an optimizer: direction, memory, reports, what it refuses, what it allocates."""

import tracemalloc

import numpy as np
import pytest
from harness.forms import compiled_only, form  # noqa: F401  both forms

import secondorder as so
from harness.shaped_networks import problem
from secondorder import eacg
from secondorder.compiled.updates import BLOCK
from secondorder.papers.eacg.direction import direction_at
from test_eacg_curvatures import case, relative


def optimizer(net, loss, **options):
    return so.EACG(net, loss, **{"rng": 0} | options)


@pytest.mark.parametrize("solver", eacg.SOLVERS)
@pytest.mark.parametrize("l2", (0.0, 0.05))
def test_direction_is_that_of_the_room(solver, l2):
    net, loss, x, y = case(0, "sigmoid", "softmax")
    limits = {"max_cg": 30, "tolerance": 1e-8} if solver in ("ea-cg", "cg") else {}
    opt = optimizer(net, loss, l2=l2, solver=solver, alpha=0.1, **limits)
    wanted = eacg.direction(net, loss, x, y, "pch-1", solver, 0.1, l2=l2, **limits)
    np.testing.assert_array_equal(opt.direction(opt.evaluate(x, y)), wanted)
    before = net.theta.copy()
    opt.step(x, y)
    np.testing.assert_allclose(net.theta - before, 0.1 * wanted, rtol=1e-12, atol=1e-15)


def test_reports():
    net, loss, x, y = case(2)
    info = optimizer(net, loss, max_cg=3, tolerance=1e-12).step(x, y)
    assert 0 < info["cg_iterations"] <= 18 and 0 < info["cg_residual"] < 1
    info = optimizer(net, loss, max_cg=300, tolerance=1e-3).step(x, y)
    assert info["cg_residual"] <= 1e-3
    info = optimizer(net, loss, solver="ea-closed").step(x, y)
    assert info["cg_iterations"] == 0 and info["cg_residual"] == 0


def test_the_largest_residual_of_all_layers_is_reported():
    net, loss, x, y = case(2)
    opt = optimizer(net, loss, max_cg=2, tolerance=1e-12)
    evaluation = opt.evaluate(x, y)
    _, reports = direction_at(evaluation, evaluation.gradient, "pch-1", opt.options)
    made = [report for pair in reports for report in pair if report is not None]
    residuals = [report.residual for report in made]
    info = opt.step(x, y)
    assert info["cg_residual"] == pytest.approx(max(residuals)) and max(residuals) > min(residuals)
    assert info["cg_iterations"] == sum(report.iterations for report in made)


def test_momentum():
    net, loss, x, y = case(3)
    twin = net.copy()
    opt, plain = optimizer(net, loss, momentum=0.7), optimizer(twin, loss)
    buffer = 0
    for _ in range(4):
        twin.theta = net.theta
        buffer = 0.7 * buffer + plain.direction(plain.evaluate(x, y))
        before = net.theta.copy()
        opt.step(x, y)
        np.testing.assert_allclose(net.theta - before, 0.1 * buffer, rtol=1e-10, atol=1e-14)


def test_sampled_targets_change_from_step_to_step():
    net, loss, x, y = case(5)
    opt = optimizer(net, loss, curvature="fisher-sampled")
    evaluation = opt.evaluate(x, y)
    assert relative(opt.direction(evaluation), opt.direction(evaluation)) > 1e-6


def test_joint_rank_and_preconditioner_reach_the_solver():
    net, loss, x, y = case(6)
    for extra in ({"joint": True}, {"rank": 3}, {"preconditioner": "kfi"}, {"literal": True}):
        opt = optimizer(net, loss, max_cg=40, tolerance=1e-6, **extra)
        wanted = eacg.direction(net, loss, x, y, alpha=0.02, max_cg=40, tolerance=1e-6, **extra)
        np.testing.assert_array_equal(opt.direction(opt.evaluate(x, y)), wanted)


def peak_of_a_warm_step(opt, x, y):
    for _ in range(2):
        opt.step(x, y)
    tracemalloc.start()
    opt.step(x, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@compiled_only
@pytest.mark.parametrize("solver", ("ea-cg", "ea-closed"))
def test_a_warm_step_makes_no_more_arrays_as_long_as_the_parameters_than_one_of_sgd(solver):
    net = so.mlp([3000, 40, 10], activation="sigmoid", rng=0, dtype="float32")
    x = np.random.default_rng(0).normal(size=(20, 3000)).astype(np.float32)
    y, loss = np.arange(20) % 10, so.SoftmaxCrossEntropy()
    extra = peak_of_a_warm_step(optimizer(net, loss, l2=1e-3, solver=solver), x, y)
    extra -= peak_of_a_warm_step(so.SGD(net, loss, l2=1e-3), x, y)
    assert extra < net.theta.nbytes / 4


def test_refused_before_the_first_step():
    net, _, _, _ = case(8)
    with pytest.raises(TypeError, match="negative log-likelihood"):
        optimizer(net, so.BoundedCriterion(), curvature="fisher-exact")


@pytest.mark.parametrize("name, layer", [("convolutional", "Conv2d"), ("recurrent", "Recurrent"),
                                         ("normalised", "Reshape")])
def test_other_layers_are_refused_by_name(name, layer):
    net, loss, x, y = problem(name)
    for call in (lambda: so.EACG(net, loss), lambda: so.eacg.direction(net, loss, x, y),
                 lambda: so.eacg.bias_curvatures(net, loss, x, y, curvature="pch-1")):
        with pytest.raises(TypeError, match=rf"EA-CG does not support the layer {layer}\(.*"
                                            "supported layers: Linear, Activation, Chain"):
            call()


# its steps are those of the base around its formula
ByFormula = type("EACG", (so.EACG,), {"fused": None})


@pytest.mark.parametrize("options", ({}, {"l2": 0.03}, {"momentum": 0.8}))
def test_one_pass_moves_and_reports_as_the_steps_of_the_base_do(options):
    net, loss, x, y = case(10, sizes=(60, 40, 20, 4))  # more than a pass takes at once
    twin, infos = net.copy(), []
    assert net.size > 2 * BLOCK
    one, other = optimizer(net, loss, **options), optimizer(twin, loss, **options)
    other.__class__ = ByFormula
    for _ in range(3):
        infos = [opt.step(x, y) for opt in (one, other)]
        assert infos[0].keys() == infos[1].keys()
        for name, value in infos[0].items():
            np.testing.assert_allclose(value, infos[1][name], rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(net.theta, twin.theta, rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("options", ({"momentum": 0.9}, {"curvature": "fisher-sampled"}))
def test_a_step_taken_again_without_the_pass_advances_the_memory_once(options):
    net, loss, x, y = case(12)
    net.layers[0].bias[0] = 1e200  # its square overflows, and with it what the pass adds up
    twin = net.copy()
    one, other = optimizer(net, loss, **options), optimizer(twin, loss, **options)
    other.__class__ = ByFormula
    for _ in range(3):
        for opt in (one, other):
            opt.step(x, y)
        np.testing.assert_array_equal(net.theta, twin.theta)
    for name, value in one.state_dict().items():
        np.testing.assert_array_equal(value, other.state_dict()[name], err_msg=name)
