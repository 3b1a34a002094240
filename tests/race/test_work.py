"""Work by formula, against sums written out for a network 5-4-3 and six samples."""

import pytest

import secondorder as so
from secondorder.race import work
from secondorder.race.methods import METHODS, Method
from secondorder.race.problems import PROBLEMS

S = 6
FIRST, SECOND = S * 5 * 4, S * 4 * 3  # a product in either layer
#: up in both, weights in both, down in the second.
GRADIENT = 2 * FIRST + 3 * SECOND
NETWORK = so.mlp([5, 4, 3], rng=0)
LAYERS = work.layers_of(NETWORK, S)


def test_a_gradient():
    assert work.gradient(LAYERS) == GRADIENT
    classifier = work.layers_of(PROBLEMS["classifier"].network(1), 100)
    assert work.gradient(classifier) == 100 * (2 * 784 * 128
                                               + 3 * (128 * 64 + 64 * 32 + 32 * 10))


def test_residual_partitioning_and_cubic_steps():
    assert work.partitioning(LAYERS, {}) == FIRST + SECOND + 2 * SECOND
    assert work.cubic(LAYERS, {}) == (FIRST + SECOND) + 2 * SECOND


def test_ea_cg():
    """12 iterations in four systems (weights and bias of two layers): 3 each."""
    top = 10 * 3**3
    step = 3 * 3 * 4 + 3 * 4 * 4 + S * 4 * 4
    iterations = 3 * (2 * 4**2 + 2 * 3**2)
    assert work.ea_cg(LAYERS, {"cg_iterations": 12}) == top + step + iterations + 5 * 4 + 4 * 3
    closed = work.layers_of(so.mlp([5, 4, 3], output="tanh", bias=False, rng=0), S)
    carried = 3 * 3 * 3 + 3 * 3 * 3 + S * 3 * 3  # tanh by a layer with W = I
    assert work.ea_cg(closed, {"cg_iterations": 12}) == (
        top + step + carried + 6 * (4**2 + 3**2) + 5 * 4 + 4 * 3)


@pytest.mark.parametrize("samples", [6, 2])
def test_kfi(samples):
    """With inputs narrower than the batch by E[h h^T], else by the batch's Gram matrix."""
    layers = work.layers_of(NETWORK, samples)
    total = samples * 4 * 3  # the second backward pass
    for m, n in ((5, 4), (4, 3)):
        total += samples * n * n  # E[g g^T]
        total += n**3 / 3 + n * n * m  # its factor, and the solve for W
        total += n**3 / 3 + n * n  # and for b, whose damping is another
        if samples == 6:
            total += samples * m * m + m**3 / 3 + m * m * n
        else:
            total += samples**2 * m + samples**3 / 3 + n * samples**2 + 2 * n * samples * m
    assert work.kfi(layers, {}) == pytest.approx(total, rel=1e-12)


def test_truncated_newton():
    """Three products and one for the prediction; the step and one halving are tried."""
    product = 2 * FIRST + 4 * SECOND
    told = work.truncated_newton(LAYERS, {"cg_iterations": 3, "halvings": 1})
    assert told == 4 * product + 2 * (FIRST + SECOND)


def test_the_unit_is_a_gradient_of_the_problems_batch():
    problem = PROBLEMS["classifier"]
    network = problem.network(1)
    own = Method("mine", "", None, 1.0)
    assert work.step_work(own, network, problem, 100)({}) == 1.0
    assert work.step_work(own, network, problem, 1000)({}) == 10.0
    newton = METHODS["truncated-newton"]
    assert work.step_work(newton, network, problem, 1000)({"cg_iterations": 0, "halvings": 0}) > 20
