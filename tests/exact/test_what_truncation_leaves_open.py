"""Few Lanczos steps: how far the density is off by them is a part of the stated error, however many
probes there are."""

import numpy as np
import pytest

import secondorder as so


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    problem = (so.mlp([3, 6, 5, 3], rng=1), so.SoftmaxCrossEntropy(), rng.normal(size=(10, 3)),
               rng.integers(0, 3, 10))
    return problem, np.linalg.eigvalsh(so.exact.hessian(*problem))


@pytest.mark.everyday(1)
@pytest.mark.parametrize("steps", [4, 6, 8, 12])
def test_many_probes_do_not_hide_what_few_steps_leave_out(case, steps):
    """Sixty probes leave little open; the distance is that of the quadrature from the spectrum."""
    problem, eigenvalues = case
    for seed in range(4):
        density = so.exact.spectral_density(*problem, probes=60, steps=steps, rng=seed)
        assert density.total_error >= density.distance(eigenvalues) > 0.15


def test_a_spectrum_that_is_exhausted_leaves_nothing_open_but_the_probes(case):
    """As many steps as there are eigenvalues: more change nothing, the stated error neither."""
    problem, _ = case
    net, size = problem[0], problem[0].size
    whole = so.exact.spectral_density(*problem, probes=6, steps=size, width=0.05, rng=0)
    more = so.exact.spectral_density(*problem, probes=6, steps=2 * size, width=0.05, rng=0)
    np.testing.assert_allclose(more.density, whole.density, atol=1e-9)
    np.testing.assert_allclose(more.error, whole.error, atol=1e-9)
    assert net.size == 77


def test_the_spread_of_the_probes_is_a_part_of_the_error_at_every_point(case):
    """Student's t (99 %, 5 degrees of freedom) times s / sqrt(6) at least, with s the deviation of
    six curves around their mean, from the nodes and weights that are told."""
    problem, _ = case
    density = so.exact.spectral_density(*problem, probes=6, steps=77, width=0.1, rng=0)
    scaled = (density.points[:, None, None] - density.nodes) / density.width
    curves = (np.exp(-scaled**2 / 2) * density.weights).sum(axis=2) / (
        density.width * np.sqrt(2 * np.pi))  # (points, probes)
    np.testing.assert_allclose(curves.mean(axis=1), density.density, atol=1e-12)
    off = curves - curves.mean(axis=1, keepdims=True)
    s = np.sqrt((off**2).sum(axis=1) / 5)
    assert (density.error >= 4.0321 * s / np.sqrt(6) - 1e-12).all()
    assert 0 < density.total_error < 1
