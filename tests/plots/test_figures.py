"""Every figure of the package is drawn and looked at by matplotlib's own boxes: texts do not
overlap nor leave the picture, legends lie over nothing, every panel has a title and names at its
axes."""

import re
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
from secondorder.cli.tour import rates, running, sections
from secondorder.plots.style import legend, reveal, style

ROOT = Path(__file__).resolve().parents[2]


def records(low, high, count=31, validation=1.3, key="epoch"):
    losses = np.geomspace(high, low, count)
    return [{key: n, "train_loss": loss, "validation_loss": validation * loss,
             "train_accuracy": 1 - loss / high / 2, "validation_accuracy": 1 - loss / high}
            for n, loss in enumerate(losses)]


def new(width=8, height=5):
    return Figure(figsize=(width, height), layout="constrained")


@pytest.mark.everyday(2)
@pytest.mark.parametrize("low, high", [(0.3, 0.62), (5.0, 25.0), (1e-9, 1e3), (1.0, 1.02)])
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
    assert len(shown) >= 2
    assert not any("e-" in text for text in shown), shown
    if high < 1e4 * low:
        assert all(float(text) > 0 for text in shown), shown


def test_panels_that_share_a_legend():
    figure = new(13)
    left, right = figure.subplots(1, 2, sharey=True)
    runs = {f"method number {n}": records(0.1 / (n + 1), 2.3) for n in range(5)}
    plots.learning_curves(runs, left, show_legend=False, title="by epochs")
    plots.learning_curves(runs, right, title="the same")
    assert left.get_legend() is None and not faults(figure)


def test_a_figure_without_a_layout_gets_one():
    figure = Figure(figsize=(10, 4))
    for ax in figure.subplots(1, 2):
        plots.learning_curves({"one": records(0.1, 2), "two": records(0.2, 2)}, ax, title="runs")
    assert not faults(figure)


def test_curves_that_hide_each_other_are_told_apart():
    figure = new()
    same, other = records(0.1, 2.0), records(0.05, 2.0)
    ax = plots.learning_curves({"right": same, "moore-penrose": same, "Adam": other},
                               figure.add_subplot(), title="runs")
    wide = [line.get_label() for line in ax.lines if line.get_linewidth() > 2]
    assert wide == ["right, training", "right, validation"]
    ax = plots.errors_over_steps([0, 1, 2], {"pch-1": [1, 2, 3], "pch-2": [1, 2, 3.001],
                                             "fisher": [2, 4, 5]}, new().add_subplot())
    assert [line.get_linewidth() > 2 for line in ax.lines] == [True, False, False]
    lines = ax.plot([0, 1], [1, np.nan]) + ax.plot([], [])
    reveal(ax, lines)  # what is not drawn hides nothing
    assert all(line.get_linewidth() < 2 for line in lines)


def test_spectra():
    rng, figure = np.random.default_rng(0), new()
    plots.spectrum({f"curvature number {n}": rng.normal(size=40) * 10.0**rng.integers(-9, 3, 40)
                    for n in range(6)}, figure.add_subplot(), title="eigenvalues")
    assert not faults(figure)


@pytest.mark.parametrize("values, low, high", [(np.geomspace(0.5, 16, 50), 0.05, 50),
                                               (-np.geomspace(0.5, 16, 50), -50, -0.05)])
def test_a_spectrum_of_one_sign_fills_its_panel(values, low, high):
    ax = plots.spectrum(values, new().add_subplot(), title="one sign")
    bottom, top = ax.get_ylim()
    assert low < bottom < values.min() and values.max() < top < high


@pytest.mark.slow
def test_bound_beside_hessian():
    rng, net = np.random.default_rng(0), so.mlp([3, 4, 2], rng=0)
    x, y = rng.normal(size=(9, 3)), rng.integers(0, 2, 9)
    made = so.residual_partitioning.bound(net, so.SoftmaxCrossEntropy(), x, y, output="pairwise")
    H = so.residual_partitioning.bounded_hessian(net, so.SoftmaxCrossEntropy(), x, y)
    for size in ((15, 4.2), (13, 4.4)):
        figure = new(*size)
        axes = plots.bound_beside_hessian(H, made.curvature, net, figure)
        assert not faults(figure)
    left, middle = (ax.images[0].norm for ax in axes[:2])
    assert left.vmax == np.abs(H).max() and middle.vmax == made.curvature.max()
    assert axes[2].get_ylim()[0] > 0  # nothing is negative, and no room is left for it


def test_errors_of_many_curvatures():
    count = 16
    values = {f"curvature {n}": np.array([1.0 + n, 0.0, 1e-17, 0.5]) for n in range(count)}
    figure = new(17, 5)
    left, right = figure.subplots(1, 2)
    plots.errors_over_steps([0, 1, 2, 3], {name: v + 0.1 for name, v in values.items()}, left,
                            norm=[20.0] * 4, title="over steps")
    plots.errors_by_layer(values, right, "by layer", y_label="error, mean over the run")
    assert not faults(figure)
    assert right.get_ylabel() == "error, mean over the run"
    assert plots.errors_by_layer(values, new().add_subplot()).get_ylabel() == "error"
    assert sorted(text.get_text() for text in right.texts) == ["0"] * count + ["1e-17"] * count
    looks = {(bars.patches[0].get_facecolor(), bars.patches[0].get_hatch())
             for bars in right.containers}
    assert len(looks) == count
    assert len({(line.get_color(), line.get_marker()) for line in left.lines[:-1]}) == count


def test_49_series_look_different():
    assert len({style(number) for number in range(49)}) == 49


def test_error_against_step():
    figure, steps = new(7), np.logspace(-11, 0, 34)
    ax = plots.error_against_step(steps, steps**2 + 1e-16 / steps, figure.add_subplot(),
                                  predicted=2 * steps**2, label="central difference",
                                  title="a product")
    ax.axhline(1e-16, label="exact")
    legend(ax)
    assert not faults(figure)


@pytest.mark.slow
def test_rays_rates_and_matrices():
    figure, steps = new(13), np.linspace(-1, 3, 41)
    left, right = figure.subplots(1, 2)
    plots.cubic_model(steps, 2 - steps + steps**2, -1.0, 2.0, 1.0, 1.0, left, title="a ray")
    plots.rates({"SGD": np.geomspace(1, 0.1, 30), "Adam": [0.5] * 30}, right, title="rates")
    assert not faults(figure)
    net = so.mlp([3, 4, 2], rng=0)
    named = {f"curvature {n}": 10.0**n * np.eye(net.size) for n in range(4)}
    for options in ({}, {"columns": 2}, {"columns": 2, "scale": "own"}):
        figure = plots.matrices(named, net, **options).flat[0].figure
        assert not faults(figure)


@pytest.mark.slow
def test_reports_of_verify():
    figure = new(13)
    for ax in figure.subplots(1, 2, sharey=True):
        so.verify.loss(so.SquaredError()).plot(ax)
    assert not faults(figure)


@pytest.mark.slow
def test_the_line_of_a_plateau_does_not_lag_and_its_text_is_in_the_picture():
    loss = np.r_[np.full(20, 2.3), np.linspace(2.2, 1.5, 21)]
    kept = {"loss": loss.tolist(), "rate": np.geomspace(20, 0.1, 400).tolist()}
    figure = new()
    above, below = figure.subplots(2, 1, sharex=True)
    rates.draw(kept, "exact", above, below)
    rates.finish(above, below)
    above.set_title("a title")
    assert not faults(figure)
    middle = below.lines[1]
    np.testing.assert_allclose(middle.get_ydata(), np.array(kept["rate"])[
        middle.get_xdata().astype(int)], rtol=1e-12)  # of a monotone rate
    at = rates.leaving(kept)
    assert at == 260 and above.lines[1].get_xdata()[0] == at
    assert f"first below {rates.EXIT:g} at {at}" == above.lines[1].get_label()
    assert loss[at // rates.EVERY] < rates.EXIT < loss[at // rates.EVERY - 1]


# -- what looks at the figures ----------------------------------------------------------------


def test_faults_are_seen():
    figure = Figure()
    ax = figure.add_subplot()
    ax.plot([0, 1], [0, 1], label="a line")
    ax.legend(loc="center")
    ax.text(0.5, 0.9, "one", transform=ax.transAxes)
    ax.text(0.51, 0.9, "two", transform=ax.transAxes)
    figure.text(0.97, 0.5, "beyond the edge")
    said = "\n".join(faults(figure))
    for words in ("'one' lies over 'two'", "legend of '' lies over data", "without a title",
                  "x axis of '' has no name", "y axis of '' has no name",
                  "'beyond the edge' leaves the figure"):
        assert words in said
    bars = Figure()
    ax = bars.add_subplot()
    ax.bar([1, 2], [1, 2], label="bars")
    ax.legend(loc="upper right")
    assert any("over data" in fault for fault in faults(bars))
    two = Figure()
    left, right = two.subplots(1, 2)
    left.plot([0, 1], label="a long name of a line")
    left.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    assert any("over other axes" in fault for fault in faults(two))


def capture(monkeypatch):
    """All figures that are saved from now on; none is written."""
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: drawn.append(self))
    monkeypatch.setattr("secondorder.files.write_figure", lambda path, figure, **_:
                        drawn.append(figure))
    return drawn


@pytest.mark.parametrize("tutorial", sorted(path.name for path in ROOT.glob("tutorials/[0-9]*.py")))
def test_a_figure_of_a_tutorial_is_one_call(tutorial):
    """Only the diagram of tutorial 00 is drawn stroke by stroke, in a function of its own."""
    text = (ROOT / "tutorials" / tutorial).read_text(encoding="utf-8")
    by_hand = re.findall(r"\.(?:subplots?|add_subplot|plot|loglog|semilog[xy]|barh?|imshow)\(",
                         text)
    assert by_hand == ([".add_subplot("] if tutorial == "00_pencil.py" else [])
    assert text.count("figures.show(") >= 1


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
    for name, value in (("EPOCHS", 3), ("AUTOENCODER_EPOCHS", 3), ("CLASSIFIER_EPOCHS", 3),
                        ("CURVATURE_EPOCHS", 1), ("PLATEAU_ITERATIONS", 60)):
        monkeypatch.setattr(sections, name, value)
    drawn = capture(monkeypatch)
    training, validation = running._digits(0)
    for _, section, _ in sections.SECTIONS:
        section(tmp_path, training, validation, 0, lambda *_: None)
    assert len(drawn) == 7 and not [fault for figure in drawn for fault in faults(figure)]
