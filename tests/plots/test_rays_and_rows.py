"""Matrices in rows, the cubic model along a ray, rates step by step."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import secondorder as so
from secondorder import plots

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def many(count, size=6):
    found = {}
    for k in range(count):
        A = rng.normal(size=(size, size)) * 10.0**k
        found[f"M{k}"] = A + A.T
    return found


@pytest.mark.everyday(1)
@pytest.mark.parametrize("count, columns, expected", [(7, None, (2, 4)), (5, 2, (3, 2)),
                                                      (2, 3, (1, 2))])
def test_rows(count, columns, expected):
    axes = plots.matrices(many(count), columns=columns)
    assert len(axes) == count and [ax.get_title() for ax in axes] == [f"M{k}" for k in range(count)]
    rows = {round(ax.get_subplotspec().rowspan.start) for ax in axes}
    assert len(rows) == expected[0]
    assert len({ax.get_subplotspec().colspan.start for ax in axes}) == expected[1]
    figure = axes[0].figure
    assert len(figure.axes) == count + 1  # and one colour bar
    figure.canvas.draw()
    titles = [ax.title.get_window_extent() for ax in axes]
    for ax, title in zip(axes, titles):
        boxes = [other.get_window_extent() for other in axes if other is not ax]
        assert not any(title.overlaps(box) for box in boxes)


def test_scales_of_their_own():
    named = many(3)
    common, own = plots.matrices(named), plots.matrices(named, scale="own")
    ends = [ax.images[0].norm.vmax for ax in own]
    assert ends == pytest.approx([np.abs(m).max() for m in named.values()])
    assert {ax.images[0].norm.vmax for ax in common} == {max(ends)}
    assert len(own[0].figure.axes) == 6


def ray():
    """A network, its ray along minus the gradient, and the numbers of the cubic model."""
    net, loss = so.mlp([3, 4, 2], rng=0), so.SoftmaxCrossEntropy()
    x, y = rng.normal(size=(10, 3)), rng.integers(0, 2, 10)
    g = -so.exact.gradient(net, loss, x, y)
    a, h = so.low_rank.directional_curvature(net, loss, x, y, g)
    start, steps, values = net.theta.copy(), np.linspace(-1, 8, 19), []
    for s in steps:
        net.theta = start + s * g
        values.append(net.evaluate(loss, x, y).loss)
    return steps, values, a, h, np.linalg.norm(g)


@pytest.mark.parametrize("sigma", [0.01, 100.0])
def test_the_cubic_model_along_a_ray(sigma):
    steps, values, a, h, size = ray()
    ax = plots.cubic_model(steps, values, a, h, size, sigma)
    lines = {line.get_label().partition(",")[0]: line for line in ax.lines}
    expected = so.low_rank.step_length(a, h, size, sigma)

    def model(s):
        return np.interp(0, steps, values) + a * s + h * s**2 / 2 + sigma * size**3 * s**3 / 6

    if "its minimum" in lines:
        found = lines["its minimum"].get_xydata()[0]
        assert found == pytest.approx([expected, model(expected)], rel=1e-10)
    else:
        assert expected > 8
    cubic = lines["cubic model"].get_ydata()
    assert cubic == pytest.approx(model(steps))
    assert list(lines["objective"].get_ydata()) == values
    # all models touch the objective at s = 0 with its slope
    at = 2
    assert steps[at] == 0 and abs(cubic[at] - values[at]) < 1e-12


def test_rates():
    ax = plots.rates({"a": [0.1, 0.0, 0.4, np.nan], "b": [1.0, 2.0]}, title="t")
    lines = {line.get_label(): line for line in ax.lines}
    assert set(lines) == {"a", "b", "a: 1 steps not taken"}
    assert list(lines["a"].get_xdata()) == [1, 3] and list(lines["a"].get_ydata()) == [0.1, 0.4]
    assert list(lines["a: 1 steps not taken"].get_xdata()) == [2]
    assert lines["a: 1 steps not taken"].get_ydata()[0] < 0.1 and ax.get_yscale() == "log"
    plots.rates({"c": [3.0]}, ax)
    colours = [line.get_color() for line in ax.lines if line.get_linestyle() != "None"]
    assert len(set(colours)) == 3
