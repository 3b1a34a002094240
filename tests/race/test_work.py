"""Work by formula against counted multiplications of one literal step.

Factorisations and solves are LAPACK's and are not counted: their share is added from the formula.
"""

import warnings

import pytest

import secondorder as so
from harness import literal_count as counting
from secondorder.race import work
from secondorder.race.entrants import ENTRANTS
from secondorder.race.problems import PROBLEMS


def measured(problem, method):
    """(counted, formula) in multiplications, the layers, and what the step reports."""
    about, entrant = PROBLEMS[problem], ENTRANTS[method]
    (x, y), _ = about.parts(1)
    rows = about.rows(len(x))
    network = about.network(1)
    layers = work.passes(network, rows)
    second = entrant.second[1] if entrant.second else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        count, info = counting.step(lambda: about.network(1), lambda net: entrant.make(
            net, about.loss, entrant.default, second), x[:rows], y[:rows])
    formula = work.step_work(method, network, rows)(info) * work.gradient(layers)
    return count, formula, layers, info


@pytest.mark.parametrize("method, within", [
    ("momentum", 0), ("adam", 0), ("square-root", 0), ("unit", 0), ("cubic-sgd", 0),
    ("cubic-adam", 0), ("partitioning", 0.02), ("ea-cg", 0.01)])
@pytest.mark.parametrize("problem", ["digits", "wine"])
def test_products_alone(problem, method, within):
    count, formula, _, _ = measured(problem, method)
    assert count == pytest.approx(formula, rel=within or 1e-12)


def test_the_literal_product_with_the_hessian_goes_below_the_first_layer():
    """It makes two products there that the compiled one and the formula leave out."""
    count, formula, layers, info = measured("digits", "truncated-newton")
    wasted = 2 * layers[0].down * (info["cg_iterations"] + 1)
    assert count == pytest.approx(formula + wasted, rel=1e-12)


def test_kfac_without_its_factorisations():
    count, formula, layers, _ = measured("digits", "kfac")
    lapack = sum(2 * n**3 / 3 + n * n + m**3 / 3 + n * n * m + n * m * m
                 for m, n in ((layer.inputs, layer.outputs) for layer in layers))
    assert count == pytest.approx(formula - lapack, rel=1e-3)


def test_kfac_where_inputs_are_wider_than_the_batch():
    """5 samples, 50 inputs: the Gram matrix of the batch, or the mean input alone."""
    layers = work.passes(so.mlp([50, 4, 3], rng=0), 5)
    of_B = 5 * 4**2 + 2 * 4**3 / 3 + 4**2 + 5 * 3**2 + 2 * 3**3 / 3 + 3**2
    second = layers[1].down + 5 * 4**2 + 4**3 / 3 + 3**2 * 4 + 3 * 4**2
    gram = 5**2 * 50 + 5**3 / 3 + 4**2 * 5 + 4 * 5**2 + 5 * 4 * 50
    assert work.kfac(layers, 5, 3, {}) == pytest.approx(of_B + second + gram, rel=1e-12)
    alone = 4**2 * 5 + 5 * 4 * 50 + 4 * 50
    assert work.kfac(layers, 5, 3, {}, True) == pytest.approx(of_B + second + alone, rel=1e-12)


def test_the_kernel_without_its_factor():
    count, formula, layers, info = measured("digits", "gauss-newton")
    assert info["rank"] == info["full_rank"] == 1000
    assert count == pytest.approx(formula - 1000**3 / 3 - 1000**2, rel=0.01)


def test_the_right_inverse_without_its_eigenvalues():
    count, formula, layers, _ = measured("one-batch", "gauss-newton")
    eigenvalues = 8 * 9 * 96**3
    assert count == pytest.approx(formula - eigenvalues, rel=0.15)  # two solves are LAPACK's


@pytest.mark.parametrize("problem, expected", [
    ("digits", 3 * 100 * (60 * 30 + 30 * 10) + 2 * 100 * 64 * 60),
    ("convolution", 2 * 100 * 64 * 8 * 9 + 3 * 100 * (16 * 16 * 72 + 10 * 64))])
def test_a_gradient(problem, expected):
    network = PROBLEMS[problem].network(1)
    assert work.gradient(work.passes(network, 100)) == expected


def test_a_method_of_ones_own_counts_as_a_gradient():
    network = PROBLEMS["digits"].network(1)
    assert work.step_work("Signs", network, 100)({}) == 1
