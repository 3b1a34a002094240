"""What estimates state of their own error, measured: networks of several kinds, many seeds."""

import numpy as np
import pytest

import secondorder as so
from harness import slow
from secondorder.exact.spectra import densities
from secondorder.exact.operators import operator_of

# widths, activation, classes or numbers, samples: full rank, low rank, few parameters
NETWORKS = [([3, 6, 5, 3], "tanh", True, 10), ([2, 3, 2], "tanh", False, 12),
            ([5, 8, 6, 3], "relu", True, 30), ([4, 10, 1], "softplus", False, 40),
            ([8, 4], "tanh", True, 20), ([2, 2, 2], "sigmoid", False, 3)]
KINDS = ["hessian", "gauss-newton", "fisher-empirical"]
EXTENTS = [pytest.param((1, 4), 20, id="few"),
           pytest.param(range(len(NETWORKS)), 60, id="all", marks=pytest.mark.slow)]


def problem(place, dtype="float64"):
    sizes, activation, classes, samples = NETWORKS[place]
    rng = np.random.default_rng(place)
    net = so.mlp(sizes, activation=activation, rng=place + 1, dtype=dtype)
    x = rng.normal(size=(samples, sizes[0]))
    if classes:
        return net, so.SoftmaxCrossEntropy(), x, rng.integers(0, sizes[-1], samples)
    return net, so.SquaredError(), x, rng.normal(size=(samples, sizes[-1]))


def matrix(case, kind):
    return operator_of(kind, *case).dense().astype(float)


# -- densities -------------------------------------------------------------------------------------


@pytest.mark.parametrize("places, seeds", EXTENTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps, probes", [(3, 8), *slow([(2, 2), (2, 10), (3, 3), (8, 4)])])
def test_an_area_is_within_what_is_stated(steps, probes, kind, places, seeds):
    """In nine of ten seeds at least for each matrix, with two and three steps too."""
    for place in places:
        case = problem(place)
        eigenvalues, inside = np.linalg.eigvalsh(matrix(case, kind)), 0
        for seed in range(seeds):
            density = so.exact.spectral_density(*case, kind=kind, steps=steps, probes=probes,
                                                rng=seed)
            assert 0 < density.total_error <= 2
            inside += density.distance(eigenvalues) <= density.total_error
        assert inside >= 0.9 * seeds


def test_no_error_is_larger_than_possible():
    """Two probes: Student's factor is 64, and no density is higher than the kernel."""
    for place in range(len(NETWORKS)):
        density = so.exact.spectral_density(*problem(place), steps=4, probes=2, rng=0)
        height = 1 / (density.width * np.sqrt(2 * np.pi))
        assert (density.error <= np.maximum(density.density, height - density.density)).all()
        assert density.total_error <= 2


@pytest.mark.parametrize("place", range(len(NETWORKS)))
def test_rounding_of_single_precision_is_in_the_error(place):
    """The same starts in both precisions: they differ by less than rounding is said to make."""
    case, steps = problem(place, "float32"), 300  # the space is exhausted
    wide = so.exact.spectral_density(case[0].astype("float64"), case[1],
                                     *(a.astype(np.float32) if a.dtype.kind == "f" else a
                                       for a in case[2:]), probes=3, steps=steps, rng=0)
    single = so.exact.spectral_density(*case, probes=3, steps=steps, rng=0, width=wide.width,
                                       points=wide.points)
    nodes = wide.nodes, wide.weights
    size, eps = case[0].size, float(np.finfo(np.float32).eps)
    known = np.sqrt(size) * eps * np.abs(wide.nodes).max()
    moved = known * np.mean([densities._moved(wide.points, *rule, wide.width)
                             for rule in zip(*nodes)], axis=0)
    off = np.trapezoid(np.abs(single.density - wide.density), wide.points)
    assert off <= np.trapezoid(moved, wide.points) and (single.error >= moved * 0.99).mean() > 0.95


def test_widths_that_rounding_hides_are_refused():
    for options in ({}, {"points": [0.0, 1.0]}):
        with pytest.raises(ValueError, match="width must be at least .* rounding"):
            so.exact.spectral_density(*problem(0), steps=20, width=1e-17, rng=0, **options)


def test_widths_that_fall_between_the_points_are_refused():
    with pytest.raises(ValueError, match="width must be at least .* for 400 points") as refused:
        so.exact.spectral_density(*problem(0), steps=20, width=1e-5, rng=0)
    least = float(str(refused.value).split()[5])
    density = so.exact.spectral_density(*problem(0), steps=20, width=least * 1.01, rng=0)
    assert np.trapezoid(density.density, density.points) == pytest.approx(1, abs=0.02)
    few = so.exact.spectral_density(*problem(0), steps=20, width=1e-5, rng=0, points=[0.0, 1e-3, 1])
    assert few.density.shape == (3,)
    for area in (lambda: few.total_error, lambda: few.distance([0.0])):
        with pytest.raises(ValueError, match="areas need points at most 2 widths apart"):
            area()


def test_equal_eigenvalues_are_no_range_of_rounding():
    """All eigenvalues are 3, but for rounding: their range is no measure of a width."""
    net = so.mlp([2, 3], bias=False, rng=0)
    density = so.exact.spectral_density(net, so.SquaredError(), np.zeros((4, 2)), np.zeros((4, 3)),
                                        l2=3.0, rng=0, steps=6)
    assert density.width == pytest.approx(3 / densities.RESOLUTION, rel=1e-12)
    assert density.distance([3.0]) < 1e-10


def test_huge_counts_are_refused_with_their_name():
    with pytest.raises(MemoryError, match="probes=2000000: .* take fewer probes"):
        so.exact.spectral_density(*problem(0), probes=2 * 10**6)


# -- few Lanczos steps, whatever the number of probes ----------------------------------------------


@pytest.mark.parametrize("steps", [4, *slow([6, 8, 12])])
def test_many_probes_do_not_hide_what_few_steps_leave_out(steps):
    """Sixty probes leave little open; the distance is that of the quadrature from the spectrum."""
    case = problem(0)
    eigenvalues = np.linalg.eigvalsh(matrix(case, "hessian"))
    for seed in range(4):
        density = so.exact.spectral_density(*case, probes=60, steps=steps, rng=seed)
        assert density.total_error >= density.distance(eigenvalues) > 0.15


def test_the_spread_of_the_probes_is_a_part_of_the_error_at_every_point():
    """Student's t (99 %, 5 degrees of freedom) times s / sqrt(6) at least, with s the deviation of
    six curves around their mean, from the nodes and weights that are told."""
    density = so.exact.spectral_density(*problem(0), probes=6, steps=77, width=0.1, rng=0)
    scaled = (density.points[:, None, None] - density.nodes) / density.width
    curves = (np.exp(-scaled**2 / 2) * density.weights).sum(axis=2) / (
        density.width * np.sqrt(2 * np.pi))  # (points, probes)
    np.testing.assert_allclose(curves.mean(axis=1), density.density, atol=1e-12)
    off = curves - curves.mean(axis=1, keepdims=True)
    s = np.sqrt((off**2).sum(axis=1) / 5)
    assert (density.error >= 4.0321 * s / np.sqrt(6) - 1e-12).all()
    assert 0 < density.total_error < 1


# -- traces ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("places, seeds", EXTENTS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method, products", [
    ("hutch++", 15), *slow([("hutch++", 99), ("hutch++", "all"), ("hutchinson", 99),
                            ("hutchinson", 15)])])
def test_a_trace_is_within_its_margin(method, products, kind, dtype, places, seeds):
    """Also where nothing but rounding is left: few parameters, low rank, products enough."""
    for place in places:
        case = problem(place, dtype)
        count = 3 * case[0].size + 3 if products == "all" else products
        exact, rounding_alone = so.exact.trace(*case, kind=kind), count >= 3 * case[0].size
        found = [so.exact.trace(*case, kind=kind, method=method, products=count, rng=seed)
                 for seed in range(seeds)]
        inside = sum(abs(estimate - exact) <= estimate.margin for estimate in found)
        if method == "hutch++" and rounding_alone:
            size = np.abs(np.linalg.eigvalsh(matrix(case, kind))).sum()
            eps = float(np.finfo(dtype).eps)
            assert inside == seeds
            assert all(0 < estimate.margin < 1e3 * eps * size for estimate in found)
        assert inside >= 0.85 * seeds


@pytest.mark.parametrize("method", ["hutchinson", "hutch++"])
def test_a_billion_products_are_refused_at_the_door(method):
    with pytest.raises(MemoryError, match="products=1000000000: .* take fewer, or method='exact'"):
        so.exact.trace(*problem(0), method=method, products=10**9)
    assert so.exact.trace(*problem(0), products=10**9) == so.exact.trace(*problem(0))


# -- refusals --------------------------------------------------------------------------------------


def test_huge_numbers_of_draws_are_refused_with_their_name():
    draws = 10**30
    for call in (lambda: so.exact.fisher(*problem(0), kind="sampled", draws=draws, rng=0),
                 lambda: so.exact.trace(*problem(0), kind="fisher-sampled", draws=draws, rng=0),
                 lambda: so.exact.FisherOperator(*problem(0), "sampled", draws=draws, rng=0)):
        with pytest.raises(MemoryError, match=f"draws={draws}: .* take fewer draws"):
            call()
