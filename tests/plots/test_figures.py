"""Figures are drawn and looked at by matplotlib's own boxes: texts do not overlap nor leave the
picture, legends lie over nothing, every panel has a title and names at its axes."""

import runpy
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import secondorder as so
from harness.pictures import faults
from secondorder import plots
from secondorder.cli.tour import running, sections

ROOT = Path(__file__).resolve().parents[2]


def records(low, high, count=31):
    return [{"epoch": n, "train_loss": loss, "validation_loss": 1.3 * loss}
            for n, loss in enumerate(np.geomspace(high, low, count))]


def new(width=8, height=5):
    return Figure(figsize=(width, height), layout="constrained")


@pytest.mark.parametrize("low, high", [
    (0.3, 0.62), *(pytest.param(*ends, marks=pytest.mark.slow)
                   for ends in [(5.0, 25.0), (1e-9, 1e3), (1.0, 1.02)])])
def test_learning_curves_of_every_range(low, high):
    """Narrow ranges have plain numbers (0.6), wide ones powers of ten; all have at least two."""
    figure = new()
    ax = plots.learning_curves({"SGD, rate 0.1": records(low, high), "Adam": records(low, high / 2),
                                "residual partitioning, rate 10": records(2 * low, high)},
                               figure.add_subplot(), title="digits", y_label="cross-entropy")
    assert not faults(figure)
    bottom, top = ax.get_ylim()
    shown = [label.get_text() for label, place in zip(ax.get_yticklabels(), ax.get_yticks())
             if bottom <= place <= top and label.get_text()]
    assert len(shown) >= 2 and not any("e-" in text for text in shown), shown


def test_names_below_lie_over_nothing_and_numbers_are_plain():
    x = 2.0 ** -np.arange(1, 7)
    figure = plots.row(*(lambda ax, title=title: plots.lines(
        {"a name of a method that is long": (x, x), "short": (x, x**2 + 0.1)}, ax,
        logarithmic="xy", x_label="rate", y_label="gap", title=title, show_legend="below")
        for title in ("left", "middle", "right")))
    assert not faults(figure)
    shown = [label.get_text() for label in figure.axes[0].get_xticklabels() if label.get_text()]
    assert len(shown) >= 3 and not [text for text in shown if "^" in text]


@pytest.mark.slow
def test_matrices_and_a_bound():
    rng, net = np.random.default_rng(0), so.mlp([3, 4, 2], rng=0)
    named = {f"curvature {n}": 10.0**n * np.eye(net.size) for n in range(4)}
    for options in ({}, {"columns": 2}, {"columns": 2, "scale": "own"}):
        assert not faults(plots.matrices(named, net, **options).flat[0].figure)
    problem = net, so.SoftmaxCrossEntropy(), rng.normal(size=(9, 3)), rng.integers(0, 2, 9)
    made = so.residual_partitioning.bound(*problem, output="pairwise")
    H, figure = so.residual_partitioning.bounded_hessian(*problem), new(13, 4.4)
    axes = plots.bound_beside_hessian(H, made.curvature, net, figure)
    assert not faults(figure)
    left, middle = (ax.images[0].norm for ax in axes[:2])
    assert left.vmax == np.abs(H).max() and middle.vmax == made.curvature.max()
    assert axes[2].get_ylim()[0] > 0  # nothing is negative, and no room is left for it


def capture(monkeypatch):
    """All figures that are saved from now on; none is written."""
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: drawn.append(self))
    monkeypatch.setattr("secondorder.files.write_figure", lambda path, figure, **_:
                        drawn.append(figure))
    return drawn


@pytest.mark.slow
@pytest.mark.parametrize("tutorial", sorted(path.name for path in ROOT.glob("tutorials/[0-9]*.py")))
def test_figures_of_the_tutorials(tutorial, tmp_path, monkeypatch):
    drawn = capture(monkeypatch)
    monkeypatch.setattr(sys, "argv", [tutorial, str(tmp_path)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(ROOT / "tutorials" / tutorial), run_name="__main__")
    found = [fault for figure in drawn for fault in faults(figure)]
    if tutorial.startswith("09"):  # the page of `compare`: heat maps name weights, not their axes
        found = [fault for fault in found if "has no name" not in fault]
    assert drawn and not found


@pytest.mark.slow
def test_figures_of_the_tour(tmp_path, monkeypatch):
    """All of them, from short runs."""
    for name, value in (("EPOCHS", 3), ("CLASSIFIER_EPOCHS", 3), ("CURVATURE_EPOCHS", 1),
                        ("PLATEAU_ITERATIONS", 60)):
        monkeypatch.setattr(sections, name, value)
    drawn = capture(monkeypatch)
    running.run(tmp_path, 0, lambda *_: None)
    assert len(drawn) == 7 and not [fault for figure in drawn for fault in faults(figure)]
