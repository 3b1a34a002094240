"""Pictures show the numbers they were given: read back from the artists, not from the pixels."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import secondorder as so
from harness.pictures import faults
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
    records = [{"epoch": e, "train_loss": 1.0 / (e + 1), "validation_loss": 1.5 / (e + 1)}
               for e in range(4)]
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
        [skip, so.nets.Linear(3, 2, trainable=False, rng=0),
         so.nets.Linear(2, 2, bias=False, rng=0)]
    )
    assert plots.parameter_blocks(net) == [("W1", 0, 6), ("b1", 6, 8), ("W2", 8, 12),
                                           ("b2", 12, 14)]
    assert plots.parameter_blocks(nested) == [("W1", 0, 9), ("b1", 9, 12), ("W3", 12, 16)], (
        "the number is that of the layer in the network, whose second is fixed")
    reversible = so.reversible_gauss_newton.RevMLP(4, 1, 6, outputs=2, rng=0)
    assert [name for name, *_ in plots.parameter_blocks(reversible)] == ["W1", "W2"], (
        "of a coupling, whose V is fixed, the trained part counts")
    assert nested.size == 16


def test_heat_map(ax, net):
    matrix = np.diag(np.linspace(-1.0, 4.0, net.size))
    plots.hessian_heat_map(matrix, net, ax)
    image = draw(ax).images[0]
    np.testing.assert_array_equal(image.get_array(), matrix)
    assert image.norm.vmin == -4.0 and image.norm.vmax == 4.0, (
        "the colour of zero lies in the middle"
    )
    red, green, blue, _ = image.cmap(image.norm(4.0))
    assert red > 2 * blue and image.cmap(image.norm(-4.0))[2] > 2 * image.cmap(image.norm(-4.0))[0]
    assert min(image.cmap(image.norm(0.0))[:3]) > 0.95
    assert [label.get_text() for label in ax.get_xticklabels()] == ["W1", "b1", "W2", "b2"]
    edges = sorted({line.get_xdata()[0] for line in ax.lines if line.get_xdata()[0]
                    == line.get_xdata()[1]})
    assert edges == [5.5, 7.5, 11.5]


def test_spectrum(ax):
    plots.spectrum([2.0, -1.0, 0.0, 1e-18, 5.0], ax)
    lines = {line.get_label(): line.get_ydata().tolist() for line in draw(ax).lines[:3]}
    assert lines == {"positive: 2": [5.0, 2.0], "zero to rounding: 2": [1e-18, 0.0],
                     "negative: 1": [-1.0]}
    assert ax.get_yscale() == "symlog"
    low, high = ax.get_ylim()
    assert low < -1 and high > 5


def test_spectra_on_the_same_axes_hide_nothing(ax):
    plots.spectrum([3.0, -2.0], ax, label="first")
    plots.spectrum([100.0, 1.0], ax, label="second")
    lines = {line.get_label(): line for line in draw(ax).lines if line.get_gid() == "eigenvalues"}
    assert list(lines) == ["first, positive: 1", "first, negative: 1", "second, positive: 2"]
    low, high = ax.get_ylim()
    assert low < -2 and high > 100, "the negative eigenvalue of the first one is in the picture"
    colours = [line.get_color() for line in lines.values()]
    assert colours[0] == colours[1] != colours[2] and colours[0] == plots.COLOURS[0]
    other = plots.spectrum({"first": [3.0, -2.0], "second": [100.0, 1.0]}, Figure().add_subplot())
    assert [line.get_label() for line in other.lines if line.get_gid()
            == "eigenvalues"] == list(lines)
    assert "symmetric logarithm" in ax.get_ylabel()


def test_learning_curves_of_a_single_run(ax):
    history = so.training.History("SGD", [so.training.Record(epoch=e, train_loss=3.0 - e)
                                          for e in range(3)])
    plots.learning_curves(history, ax, title="one run")
    assert [line.get_label()
            for line in draw(ax).lines] == ["SGD, training"] and ax.get_title() == "one run"
    ticks = [tick for tick in ax.get_xticks() if 0 <= tick <= 2]
    assert ticks == [0, 1, 2], "whole epochs"
    plain = plots.learning_curves(history.records, Figure().add_subplot())
    assert plain.lines[0].get_label() == "training"


def test_matrices_share_one_scale_and_one_colour_bar(net):
    small, large = np.diag(np.linspace(-1, 1, net.size)), 7.0 * np.eye(net.size)
    axes = plots.matrices({"small": small, "large": large}, net, Figure(layout="constrained"))
    images = [ax.images[0] for ax in axes]
    assert [ax.get_title() for ax in axes] == ["small", "large"]
    assert all((image.norm.vmin, image.norm.vmax) == (-7.0, 7.0) for image in images)
    np.testing.assert_array_equal(images[0].get_array(), small)
    figure = axes[0].figure
    bars = [ax for ax in figure.axes if ax not in list(axes)]
    assert len(bars) == 1
    assert all(text in bars[0].get_ylabel() for text in ("symmetric logarithm", "0.007"))


@pytest.mark.slow
def test_colour_bars_lie_over_nothing():
    figure = Figure(figsize=(12, 3.5))
    axes = figure.subplots(1, 3)
    for ax in axes:
        plots.hessian_heat_map(np.eye(5), ax=ax)
    figure.draw_without_rendering()
    boxes = [ax.get_tightbbox() for ax in figure.axes]
    for i, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[:i])


SYMMETRIC = np.eye(3)
BAD = {
    "not symmetric": (lambda: plots.hessian_heat_map(np.triu(np.ones((3, 3)))), ValueError,
                      "not symmetric"),
    "of another size": (lambda: plots.hessian_heat_map(SYMMETRIC, so.mlp([3, 2])), ValueError,
                        "network of 8 parameters"),
    "by name": (lambda: plots.matrices({"A": np.triu(np.ones((3, 3)))}), ValueError,
                "'A': .*not symmetric"),
    "axes": (lambda: plots.spectrum([1.0], ax=3), TypeError, "ax must be a matplotlib Axes"),
    "no spectrum": (lambda: plots.spectrum({}), ValueError, "eigenvalues"),
    "text": (lambda: plots.error_against_step(["a"], [1]), TypeError, "steps"),
    "errors below 0": (lambda: plots.error_against_step([1, 2], [-1, 1]), ValueError, "sizes"),
    "no error": (lambda: plots.error_against_step([1, 2], [0, 0]), ValueError, "sizes"),
    "no error of a run": (lambda: plots.errors_over_steps([1, 2], {"a": [0, -1]}), ValueError,
                          "none is above 0"),
    "a loss in words": (lambda: plots.learning_curves({"a": [{"epoch": 0, "train_loss": "x"}]}),
                        TypeError, "'epoch' and 'train_loss' of a record must be numbers"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_drawn(name):
    from matplotlib import pyplot

    call, error, words = BAD[name]
    before = pyplot.get_fignums()
    with pytest.raises(error, match=words):
        call()
    assert pyplot.get_fignums() == before, "no empty figure is left behind"


def test_one_palette_everywhere(ax):
    steps = np.logspace(-6, -1, 6)
    for label in ("a", "b", "c"):
        plots.error_against_step(steps, steps, ax, predicted=steps, label=label)
    own = [line.get_color() for line in ax.lines if line.get_label() in "abc"]
    assert own == list(plots.COLOURS[:3])
    report = so.verify.loss(so.SquaredError()).plot(Figure().add_subplot())
    assert [line.get_color() for line in report.lines] == list(plots.COLOURS[:2])


def test_a_large_heat_map_shows_the_largest_entry_of_every_square():
    from secondorder.plots.matrices import _fewer

    assert _fewer(np.eye(700)).shape == (700, 700)
    large = np.zeros((1500, 1500))  # squares of three
    large[4, 7] = large[7, 4] = -2.0
    large[3, 6] = large[6, 3] = 1.0
    large[1499, 1499] = 5.0
    few = _fewer(large)
    assert few.shape == (500, 500) and few[1, 2] == few[2, 1] == -2.0 and few[499, 499] == 5.0
    assert np.count_nonzero(few) == 3
    ax = plots.hessian_heat_map(large, limit=1.0)
    assert list(ax.images[0].get_extent()) == [-0.5, 1499.5, 1499.5, -0.5]


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


# -- numbers at the ends of what there is ----------------------------------------------------------

EXTREMES = {
    "matrices": lambda v, ax: plots.matrices({"a": v * np.eye(3), "b": -v * np.eye(3)},
                                             figure=ax.figure)[0],
    "heat map": lambda v, ax: plots.hessian_heat_map(v * np.eye(3), ax=ax),
    "spectrum": lambda v, ax: plots.spectrum([v, v / 2, -v], ax=ax),
    "error against step": lambda v, ax: plots.error_against_step([0.1, 0.2], [v, 1.0], ax=ax),
    "errors over steps": lambda v, ax: plots.errors_over_steps([1, 2], {"a": [v, 1.0]}, ax=ax),
    "errors by layer": lambda v, ax: plots.errors_by_layer({"a": [v, 1.0]}, ax=ax),
    "printed and corrected": lambda v, ax: plots.printed_and_corrected({"(1)": (v, v / 2)}, ax=ax),
    "rates": lambda v, ax: plots.rates({"a": [v, 1.0]}, ax=ax)}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", EXTREMES)
def test_what_is_too_small_is_drawn_as_zero_and_what_is_too_large_is_named(name, ax):
    for size in (5e-324, 1e-310, 1e-200, 1e200):
        EXTREMES[name](size, Figure().add_subplot()).figure.canvas.draw()
    for size in (1e300, 1e308):
        with pytest.raises(ValueError, match=r"holds 1e\+30[08], and up to 1e\+200 can be drawn"):
            EXTREMES[name](size, ax)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("last", [0.0, np.nan, np.inf, 1e308])
def test_one_loss_that_is_zero_or_no_number_leaves_the_axis_logarithmic(last, ax):
    plots.learning_curves([{"epoch": k, "train_loss": loss}
                           for k, loss in enumerate((1.0, 0.1, last))], ax=ax)
    ax.figure.canvas.draw()
    assert ax.get_yscale() == "log" and ax.get_ylim()[1] < 10
