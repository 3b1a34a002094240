"""Curves by name, rows, planes, kernels, errata: what is drawn is what was given, and reads."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import secondorder as so
from harness.pictures import faults
from secondorder import plots

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 3)), RNG.integers(0, 2, 12)
NET, LOSS = so.mlp([3, 4, 2], rng=0), so.SoftmaxCrossEntropy()
D = RNG.normal(size=NET.size)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def drawn(ax):
    return {line.get_label(): line.get_xydata() for line in ax.lines}


# -- lines -----------------------------------------------------------------------------------------


def test_values_pairs_and_several_runs():
    x = np.array([1.0, 10.0, 100.0])
    ax = plots.lines({"values": [3, 2, 1], "pair": (x, x**2), "runs": [(x, x), (x, 2 * x)]},
                     references={"slope 2": (x, x**2 / 3)})
    found = drawn(ax)
    np.testing.assert_array_equal(found["values"], [[0, 3], [1, 2], [2, 1]])
    np.testing.assert_array_equal(found["pair"], np.column_stack([x, x**2]))
    np.testing.assert_array_equal(found["slope 2"], np.column_stack([x, x**2 / 3]))
    first, second = ax.lines[2:4]
    assert first.get_color() == second.get_color() and first.get_label() == "runs"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "values", "pair", "runs", "slope 2"]
    assert len({line.get_color() for line in ax.lines}) == 4


def test_what_is_not_finite_is_left_out():
    ax = plots.lines({"a": np.array([1.0, np.nan, np.inf, 2.0])})
    assert np.isnan(drawn(ax)["a"][:, 1]).tolist() == [False, True, True, False]


def test_scales_limits_and_names():
    for logarithmic in ("linear", "x", "y", "xy"):
        ax = plots.lines({"a": ([1.0, 2.0], [1.0, 3.0])}, logarithmic=logarithmic, x_limits=(4, 1),
                         y_limits=(0.5, 5), x_label="across", y_label="up", title="one")
        assert (ax.get_xscale() == "log", ax.get_yscale() == "log") == (
            "x" in logarithmic, "y" in logarithmic)
    assert ax.get_xlim() == (4, 1) and ax.get_ylim() == (0.5, 5)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("across", "up", "one")


def test_names_below_lie_over_nothing_and_numbers_are_plain():
    rates = 2.0 ** -np.arange(1, 7)
    figure = plots.row(*(lambda ax, title=title: plots.lines(
        {"a name of a method that is long": (rates, rates), "short": (rates, rates**2 + 0.1)}, ax,
        logarithmic="xy", x_label="rate", y_label="gap", title=title, show_legend="below")
        for title in ("left", "middle", "right")))
    assert not faults(figure)
    ax = figure.axes[0]
    shown = [label.get_text() for label in ax.get_xticklabels() if label.get_text()]
    assert len(shown) >= 3 and not [text for text in shown if "10" in text and "^" in text]


def test_a_curve_beneath_another_is_seen_and_has_its_markers():
    values = np.linspace(2, 1, 9)
    below, above = plots.lines({"below": values, "above": values}).lines
    assert below.get_linewidth() > above.get_linewidth() and below.get_alpha() < 1
    assert below.get_markersize() == above.get_markersize() == 4


# -- rows ------------------------------------------------------------------------------------------


def test_a_row_hands_every_picture_its_axes():
    given = []
    figure = plots.row(given.append, given.append, widths=(2, 1), height=3)
    assert given == figure.axes and len(given) == 2
    left, right = (ax.get_position().width for ax in given)
    assert left > 1.5 * right and figure.get_figheight() == 3
    shared = plots.row(lambda ax: ax.set_ylim(0, 7), lambda ax: None, share_y=True)
    assert shared.axes[1].get_ylim() == (0, 7)


def test_a_row_refuses():
    for pictures, options, error, words in (
            ((), {}, ValueError, "pictures: there is nothing"),
            ((lambda: None,), {}, TypeError, "pictures[0]"),
            ((print,), {"widths": (1, 2)}, ValueError, "widths has shape"),
            ((print, print), {"widths": (1, -1)}, ValueError, "widths must be above 0"),
            ((print,), {"height": 0}, ValueError, "height"),
            ((print,), {"share_y": "no"}, TypeError, "share_y")):
        with pytest.raises(error, match=re.escape(words)):
            plots.row(*pictures, **options)


# -- the objective along directions: the curves are the numbers that they claim to be --------------


@pytest.mark.parametrize("batch_size", [None, 5])
def test_objective_and_quadratic_model(batch_size):
    before = NET.theta.copy()
    found = drawn(so.plots.along(NET, LOSS, X, Y, D, l2=0.2, batch_size=batch_size))
    net = NET.copy()
    for t, value in found["objective"]:
        net.theta = before + t * D
        expected = net.evaluate(LOSS, X, Y).loss + 0.1 * net.theta @ net.theta
        assert value == pytest.approx(expected, rel=1e-12)
    steps = found["quadratic model"][:, 0]
    g, H = (made(NET, LOSS, X, Y, l2=0.2) for made in (so.exact.gradient, so.exact.hessian))
    start = NET.evaluate(LOSS, X, Y).loss + 0.1 * before @ before
    model = start + steps * (g @ D) + steps**2 / 2 * (D @ H @ D)
    assert np.allclose(found["quadratic model"][:, 1], model, rtol=1e-12)
    assert steps[0] == -1 and steps[-1] == 2 and (NET.theta == before).all()


def test_a_bound_as_another_model():
    bound = so.residual_partitioning.bound(NET, LOSS, X, Y)
    ax = so.plots.along(NET, LOSS, X, Y, D / 10, steps=[0.0, 0.5, 1.0], title="a ray",
                        models={"bound": bound.value, "zero": lambda d: 0.0})
    found = drawn(ax)
    assert np.allclose(found["bound"][:, 1], [bound.value(t * D / 10) for t in (0, 0.5, 1)])
    assert (found["zero"][:, 1] == 0).all() and ax.get_title() == "a ray"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "objective", "quadratic model", "bound", "zero"]
    colours = {line.get_color() for line in ax.lines[:4]}
    assert len(colours) == 4


def test_where_the_objective_overflows_the_line_ends():
    net = so.mlp([3, 4, 2], activation="identity", rng=0)
    ax = so.plots.along(net, so.SquaredError(), X, np.zeros((12, 2)), D, steps=[0.0, 1.0, 1e90])
    values = drawn(ax)["objective"][:, 1]
    assert np.isfinite(values[:2]).all() and np.isnan(values[2])
    assert np.isfinite(ax.get_ylim()).all()


def test_the_objective_along_several_directions():
    directions = {name: RNG.normal(size=NET.size) for name in ("one", "two")}
    figure = plots.row(lambda ax: plots.along(NET, LOSS, X, Y, directions, [0.0, 0.5, 1.0], l2=0.1,
                                              ax=ax, title="two"))
    (ax,) = figure.axes
    H, g = (make(NET, LOSS, X, Y, l2=0.1) for make in (so.exact.hessian, so.exact.gradient))
    for number, (name, d) in enumerate(directions.items()):
        curve, model = ax.lines[2 * number:2 * number + 2]
        assert curve.get_label() == name and curve.get_color() == model.get_color()
        net = NET.copy()
        net.theta = NET.theta + 0.5 * d
        expected = net.evaluate(LOSS, X, Y).loss + 0.05 * net.theta @ net.theta
        assert curve.get_ydata()[1] == pytest.approx(expected, rel=1e-12)
        difference = model.get_ydata()[2] - model.get_ydata()[0]
        assert difference == pytest.approx(g @ d + d @ H @ d / 2, rel=1e-9)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["one", "two", "quadratic models"] and not faults(figure)


@pytest.mark.parametrize("value", [D, "3", None])
def test_a_model_returns_a_number(value):
    with pytest.raises(TypeError, match="models: 'own' must return a number"):
        plots.along(NET, LOSS, X, Y, D, models={"own": lambda d: value})


def test_models_belong_to_one_direction():
    both = {"a": np.ones(NET.size), "b": -np.ones(NET.size)}
    with pytest.raises(ValueError, match="models are drawn along one direction"):
        plots.along(NET, LOSS, X, Y, both, models={"zero": lambda d: 0.0})


# -- planes ----------------------------------------------------------------------------------------


def test_a_plane_is_the_objective_and_points_lie_where_they_are(monkeypatch):
    across, up = RNG.normal(size=(2, NET.size))
    u = across / np.linalg.norm(across)
    v = up - (up @ u) * u
    v /= np.linalg.norm(v)
    kept = {}
    figure = Figure(layout="constrained")
    ax = figure.add_subplot()
    monkeypatch.setattr(ax, "contourf", lambda a, b, heights, **_: kept.update(
        a=a, b=b, heights=heights) or type(ax).contourf(ax, a, b, heights))
    before = NET.theta.copy()
    plots.plane(NET, LOSS, X, Y, across, up, {"step": 0.3 * u - 0.2 * v, "path": [u, v, u + v]},
                [-0.5, 0.0, 0.5], [-1.0, 1.0], l2=0.1, ax=ax, title="a plane")
    net = NET.copy()
    for i, b in enumerate((-1.0, 1.0)):
        for j, a in enumerate((-0.5, 0.0, 0.5)):
            net.theta = before + a * u + b * v
            expected = net.evaluate(LOSS, X, Y).loss + 0.05 * net.theta @ net.theta
            assert kept["heights"][i, j] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(drawn(ax)["step"], [[0.3, -0.2]], atol=1e-12)
    np.testing.assert_allclose(drawn(ax)["path"], [[1, 0], [0, 1], [1, 1]], atol=1e-12)
    assert (NET.theta == before).all() and not faults(figure)


# -- kernels, errata -------------------------------------------------------------------------------


def test_kernels_stand_side_by_side_on_one_scale():
    weights = np.arange(5 * 2 * 3, dtype=float).reshape(5, 2, 3) - 7
    (image,) = plots.kernels(weights).images
    whole = np.asarray(image.get_array().filled(np.nan))
    assert whole.shape == (2 * 3 - 1, 3 * 4 - 1)
    np.testing.assert_array_equal(whole[3:5, 4:7], weights[4])
    for gap in (whole[2], whole[:, 3], whole[:, 7], whole[3:, 8:]):
        assert np.isnan(gap).all()
    assert image.get_clim() == (-22, 22)


def test_printed_beside_corrected():
    figure = plots.row(lambda ax: plots.printed_and_corrected(
        {"(1)": (None, 1e-15), "(2)": (0.5, 0.0), "(3)": (2.0, 1e-9)}, ax, title="a note"))
    ax = figure.axes[0]
    bars = {round(bar.get_y() + bar.get_height() / 2, 6): bar.get_width() for bar in ax.patches}
    expected = {0.2: 1e-15, 1.2: 1e-17, 2.2: 1e-9, 0.8: 0.5, 1.8: 2.0}
    assert bars == pytest.approx(expected, rel=1e-9)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["(1)", "(2)", "(3)"]
    assert ax.yaxis_inverted() and ax.get_xscale() == "log"
    assert not faults(figure)
