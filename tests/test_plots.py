"""Pictures show the numbers they were given: read back from the artists, not from the pixels."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import secondorder as so
from secondorder import plots


@pytest.fixture
def ax():
    return Figure(layout="constrained").add_subplot()


@pytest.fixture
def net():
    return so.mlp([3, 2, 2], rng=0)


def draw(ax):
    ax.figure.canvas.draw()
    return ax


def test_learning_curves(ax):
    records = [{"epoch": e, "train_loss": 1.0 / (e + 1), "validation_loss": 1.5 / (e + 1)} for e in range(4)]
    plain = [{"epoch": 0, "train_loss": 3.0}, {"epoch": 2, "train_loss": 2.0}, {"step": 9}]
    assert plots.learning_curves({"A": records, "B": plain}, ax) is ax
    lines = draw(ax).lines
    assert [line.get_label() for line in lines] == ["A, training", "A, validation", "B, training"]
    np.testing.assert_array_equal(lines[1].get_ydata(), [1.5, 0.75, 0.5, 0.375])
    np.testing.assert_array_equal(lines[2].get_xdata(), [0, 2])
    assert lines[0].get_color() == lines[1].get_color() != lines[2].get_color()
    assert lines[0].get_linestyle() != lines[1].get_linestyle()
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()) == ("epoch", "loss", "log")
    with pytest.raises(ValueError, match="train_accuracy"):
        plots.learning_curves({"A": records}, ax, quantity="accuracy")


def test_blocks_cover_theta(net):
    skip = so.nets.Skip([so.nets.Linear(3, 3, rng=0), so.nets.Activation("tanh")])
    nested = so.nets.Network(
        [skip, so.nets.Linear(3, 2, trainable=False, rng=0), so.nets.Linear(2, 2, bias=False, rng=0)]
    )
    assert plots.parameter_blocks(net) == [("W1", 0, 6), ("b1", 6, 8), ("W2", 8, 12), ("b2", 12, 14)]
    assert plots.parameter_blocks(nested) == [("W1", 0, 9), ("b1", 9, 12), ("W2", 12, 16)]
    assert nested.size == 16


def test_heat_map(ax, net):
    matrix = np.diag(np.linspace(-1.0, 4.0, net.size))
    plots.hessian_heat_map(matrix, net, ax)
    image = draw(ax).images[0]
    np.testing.assert_array_equal(image.get_array(), matrix)
    assert image.norm.vmin == -4.0 and image.norm.vmax == 4.0, "the colour of zero lies in the middle"
    red, green, blue, _ = image.cmap(image.norm(4.0))
    assert red > 2 * blue and image.cmap(image.norm(-4.0))[2] > 2 * image.cmap(image.norm(-4.0))[0]
    assert min(image.cmap(image.norm(0.0))[:3]) > 0.95
    assert [label.get_text() for label in ax.get_xticklabels()] == ["W1", "b1", "W2", "b2"]
    edges = sorted({line.get_xdata()[0] for line in ax.lines if line.get_xdata()[0] == line.get_xdata()[1]})
    assert edges == [5.5, 7.5, 11.5]


@pytest.mark.parametrize("matrix", [np.ones((2, 3)), np.full((14, 14), np.nan), np.ones((3, 3))])
def test_heat_map_refuses(ax, net, matrix):
    with pytest.raises(ValueError, match="matrix"):
        plots.hessian_heat_map(matrix, net, ax)


def test_spectrum(ax):
    plots.spectrum([2.0, -1.0, 0.0, 1e-18, 5.0], ax)
    lines = {line.get_label(): line.get_ydata().tolist() for line in draw(ax).lines[:3]}
    assert lines == {"positive: 2": [5.0, 2.0], "zero to rounding: 2": [1e-18, 0.0], "negative: 1": [-1.0]}
    assert ax.get_yscale() == "symlog"
    low, high = ax.get_ylim()
    assert low < -1 and high > 5
    with pytest.raises(ValueError, match="eigenvalues"):
        plots.spectrum([], ax)


def test_bound_beside_hessian(net):
    rng = np.random.default_rng(0)
    hessian = rng.normal(size=(net.size, net.size))
    hessian += hessian.T
    curvature = np.abs(hessian).sum(axis=1)
    axes = plots.bound_beside_hessian(hessian, curvature, net, Figure(figsize=(13, 4)))
    left, middle = axes[0].images[0], axes[1].images[0]
    np.testing.assert_array_equal(left.get_array(), hessian)
    np.testing.assert_array_equal(middle.get_array(), np.diag(curvature))
    assert left.norm.vmax == middle.norm.vmax == curvature.max()
    shown = np.concatenate([line.get_ydata() for line in axes[2].lines[:-1]])
    np.testing.assert_allclose(np.sort(shown), np.linalg.eigvalsh(np.diag(curvature) - hessian))


def test_error_against_step(ax):
    steps = np.logspace(-6, -1, 6)
    plots.error_against_step(steps, steps**2, ax, predicted=2 * steps**2)
    plots.error_against_step(steps, steps, ax, label="other")
    lines = draw(ax).lines
    assert [line.get_label() for line in lines] == ["measured", "predicted", "other"]
    np.testing.assert_array_equal(lines[1].get_ydata(), 2 * steps**2)
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", "log", "step", "error")


def test_own_axes_without_an_argument(net):
    ax = plots.hessian_heat_map(np.eye(net.size))
    assert ax.figure.axes
    from matplotlib import pyplot

    pyplot.close(ax.figure)
