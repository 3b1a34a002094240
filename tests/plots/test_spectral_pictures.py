"""The picture of a spectral density shows its numbers."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import secondorder as so
from harness.pictures import faults
from secondorder import plots


@pytest.fixture(scope="module")
def density():
    rng = np.random.default_rng(0)
    return so.exact.spectral_density(so.mlp([3, 4, 2], rng=0), so.SquaredError(),
                                     rng.normal(size=(9, 3)), np.ones((9, 2)), steps=12, rng=0)


def test_curve_error_and_exact_spectrum(density):
    figure = Figure(figsize=(8, 5), layout="constrained")
    ax = figure.add_subplot()
    values = np.linspace(-0.1, 1, 26)
    assert plots.spectral_density(density, values, ax, title="digits") is ax
    estimate, exact = ax.lines
    lowest = density.density.max() * 1e-6
    np.testing.assert_array_equal(estimate.get_xdata(), density.points)
    np.testing.assert_array_equal(estimate.get_ydata(), np.maximum(density.density, lowest))
    np.testing.assert_array_equal(exact.get_ydata(),
                                  np.maximum(density.smoothed(values), lowest))
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert band.max() == (density.density + density.error).max() and band.min() == lowest
    assert ax.get_yscale() == "log" and ax.get_title() == "digits"
    assert estimate.get_label() == "estimate, 10 probes"
    assert not faults(figure)


def test_two_densities_have_two_colours(density):
    ax = plots.spectral_density(density, label="before")
    plots.spectral_density(density, ax=ax, label="after")
    assert ax.lines[0].get_color() != ax.lines[1].get_color()
    assert [line.get_label() for line in ax.lines] == ["before", "after"]
