"""Pictures show the numbers they were given: read back from the artists, not from the pixels."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import secondorder as so
from secondorder import plots

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 3)), RNG.integers(0, 2, 12)
NET, LOSS = so.mlp([3, 4, 2], rng=0), so.SoftmaxCrossEntropy()
D = RNG.normal(size=NET.size)


@pytest.fixture
def ax():
    return Figure(layout="constrained").add_subplot()


def drawn(ax):
    return {line.get_label(): line.get_xydata() for line in ax.lines}


def objective_at(theta, l2):
    net = NET.copy()
    net.theta = theta
    return net.evaluate(LOSS, X, Y).loss + l2 / 2 * theta @ theta


# -- curves ----------------------------------------------------------------------------------------


def test_learning_curves(ax):
    records = [{"epoch": e, "train_loss": 1.0 / (e + 1), "validation_loss": 1.5 / (e + 1)}
               for e in range(4)]
    plain = [{"epoch": 0, "train_loss": 3.0}, {"epoch": 2, "train_loss": 1e300}, {"step": 9}]
    assert plots.learning_curves({"A": records, "B": plain}, ax) is ax
    training, validation, other = ax.lines
    assert list(drawn(ax)) == ["A, training", "A, validation", "B, training"]
    np.testing.assert_array_equal(validation.get_ydata(), [1.5, 0.75, 0.5, 0.375])
    np.testing.assert_array_equal(other.get_xydata(), [[0, 3], [2, np.nan]])
    assert training.get_color() == validation.get_color() != other.get_color()
    assert training.get_linestyle() != validation.get_linestyle()
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()) == ("epoch", "loss", "log")
    history = so.training.History("SGD", [so.training.Record(epoch=e, train_loss=3.0 - e)
                                          for e in range(3)])
    one = plots.learning_curves(history, Figure().add_subplot(), title="one run")
    assert list(drawn(one)) == ["SGD, training"] and one.get_title() == "one run"


def test_lines_of_values_pairs_and_several_runs(ax):
    x = np.array([1.0, 10.0, 100.0])
    plots.lines({"values": [3, np.inf, 1], "pair": (x, x**2), "runs": [(x, x), (x, 2 * x)]}, ax,
                {"slope 2": (x, x**2 / 3)}, "x", x_label="across", x_limits=(400, 1))
    found = drawn(ax)
    np.testing.assert_array_equal(found["values"], [[0, 3], [1, np.nan], [2, 1]])
    np.testing.assert_array_equal(found["pair"], np.column_stack([x, x**2]))
    np.testing.assert_array_equal(found["slope 2"], np.column_stack([x, x**2 / 3]))
    first, second = ax.lines[2:4]
    assert first.get_color() == second.get_color() and first.get_label() == "runs"
    assert len({line.get_color() for line in ax.lines}) == 4
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlim()) == ("log", "linear", (400, 1))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "values", "pair", "runs", "slope 2"]


def test_a_curve_beneath_another_is_wide_and_pale():
    values = np.linspace(2, 1, 9)
    below, above, other = plots.lines({"below": values, "above": values, "other": 3 - values}).lines
    assert below.get_linewidth() > above.get_linewidth() == other.get_linewidth()
    assert below.get_alpha() < 1


def test_a_row_hands_every_picture_its_axes():
    given = []
    figure = plots.row(given.append, given.append, widths=(2, 1), height=3)
    assert given == figure.axes and len(given) == 2
    left, right = (ax.get_position().width for ax in given)
    assert left > 1.5 * right and figure.get_figheight() == 3
    shared = plots.row(lambda ax: ax.set_ylim(0, 7), lambda ax: None, share_y=True)
    assert shared.axes[1].get_ylim() == (0, 7)


# -- the objective along directions ----------------------------------------------------------------


def test_the_objective_its_quadratic_model_and_a_bound(ax):
    bound = so.residual_partitioning.bound(NET, LOSS, X, Y)
    before, d = NET.theta.copy(), D / 10
    plots.along(NET, LOSS, X, Y, d, [-0.5, 0.0, 1.0], {"bound": bound.value}, l2=0.2, ax=ax)
    found = drawn(ax)
    g, H = (made(NET, LOSS, X, Y, l2=0.2) for made in (so.exact.gradient, so.exact.hessian))
    start = objective_at(before, 0.2)
    for k, t in enumerate((-0.5, 0.0, 1.0)):
        model = start + t * (g @ d) + t**2 / 2 * (d @ H @ d)
        for name, expected in (("objective", objective_at(before + t * d, 0.2)),
                               ("quadratic model", model), ("bound", bound.value(t * d))):
            assert found[name][k].tolist() == pytest.approx([t, expected], rel=1e-12)
    assert (NET.theta == before).all()
    both = {"a": np.ones(NET.size), "b": -np.ones(NET.size)}
    with pytest.raises(ValueError, match="models"):
        plots.along(NET, LOSS, X, Y, both, models={"zero": lambda d: 0.0})


def test_several_directions_and_a_line_that_ends_where_the_objective_overflows(ax):
    both = {"one": D, "two": np.ones(NET.size)}
    plots.along(NET, LOSS, X, Y, both, [0.0, 0.5, 1.0], ax=ax)
    for number, (name, d) in enumerate(both.items()):
        curve, model = ax.lines[2 * number:2 * number + 2]
        assert curve.get_label() == name and curve.get_color() == model.get_color()
        assert curve.get_ydata()[1] == pytest.approx(objective_at(NET.theta + d / 2, 0), rel=1e-12)
    net = so.mlp([3, 4, 2], activation="identity", rng=0)
    far = plots.along(net, so.SquaredError(), X, np.zeros((12, 2)), D, steps=[0.0, 1.0, 1e90])
    values = drawn(far)["objective"][:, 1]
    assert np.isfinite(values[:2]).all() and np.isnan(values[2])


def test_a_plane_is_the_objective_and_points_lie_where_they_are(ax, monkeypatch):
    across, up = RNG.normal(size=(2, NET.size))
    u = across / np.linalg.norm(across)
    v = up - (up @ u) * u
    v /= np.linalg.norm(v)
    kept, contours = {}, ax.contourf
    monkeypatch.setattr(ax, "contourf", lambda a, b, heights, **options: kept.update(
        heights=heights) or contours(a, b, heights, **options))
    plots.plane(NET, LOSS, X, Y, across, up, {"step": 0.3 * u - 0.2 * v, "path": [u, v, u + v]},
                [-0.5, 0.0, 0.5], [-1.0, 1.0], l2=0.1, ax=ax)
    for i, b in enumerate((-1.0, 1.0)):
        for j, a in enumerate((-0.5, 0.0, 0.5)):
            expected = objective_at(NET.theta + a * u + b * v, 0.1)
            assert kept["heights"][i, j] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(drawn(ax)["step"], [[0.3, -0.2]], atol=1e-12)
    np.testing.assert_allclose(drawn(ax)["path"], [[1, 0], [0, 1], [1, 1]], atol=1e-12)


@pytest.mark.parametrize("sigma", [0.01, 100.0])
def test_the_cubic_model_along_a_ray(sigma, ax):
    g, net, steps = -so.exact.gradient(NET, LOSS, X, Y), NET.copy(), np.linspace(-1, 8, 19)
    a, h = so.low_rank.directional_curvature(net, LOSS, X, Y, g)
    values, size = [objective_at(NET.theta + s * g, 0) for s in steps], np.linalg.norm(g)
    plots.cubic_model(steps, values, a, h, size, sigma, ax)
    found = {name.partition(",")[0]: points for name, points in drawn(ax).items()}
    best = so.low_rank.step_length(a, h, size, sigma)

    def model(s):
        return np.interp(0, steps, values) + a * s + h * s**2 / 2 + sigma * size**3 * s**3 / 6

    assert ("its minimum" in found) == (best <= 8)
    if best <= 8:
        assert found["its minimum"][0] == pytest.approx([best, model(best)], rel=1e-10)
    assert found["cubic model"][:, 1] == pytest.approx(model(steps))
    assert found["objective"][:, 1].tolist() == values


# -- matrices, spectra, kernels, errata ------------------------------------------------------------


def test_blocks_cover_theta():
    skip = so.Skip([so.Linear(3, 3, rng=0), so.Activation("tanh")])
    nested = so.Network([skip, so.Linear(3, 2, trainable=False, rng=0),
                         so.Linear(2, 2, bias=False, rng=0)])
    assert plots.parameter_blocks(so.mlp([3, 2, 2])) == [
        ("W1", 0, 6), ("b1", 6, 8), ("W2", 8, 12), ("b2", 12, 14)]
    # the number is that of the layer in the network, whose second is fixed
    assert plots.parameter_blocks(nested) == [("W1", 0, 9), ("b1", 9, 12), ("W3", 12, 16)]
    reversible = so.RevMLP(4, 1, 6, outputs=2, rng=0)
    assert [name for name, *_ in plots.parameter_blocks(reversible)] == ["W1", "W2"]


def test_heat_map(ax):
    net = so.mlp([3, 2, 2], rng=0)
    matrix = np.diag(np.linspace(-1.0, 4.0, net.size))
    plots.hessian_heat_map(matrix, net, ax)
    ax.figure.canvas.draw()
    image = ax.images[0]
    np.testing.assert_array_equal(image.get_array(), matrix)
    assert (image.norm.vmin, image.norm.vmax) == (-4.0, 4.0)
    red, green, blue, _ = image.cmap(image.norm(4.0))
    assert red > 2 * blue and min(image.cmap(image.norm(0.0))[:3]) > 0.95
    assert [label.get_text() for label in ax.get_xticklabels()] == ["W1", "b1", "W2", "b2"]
    assert sorted({line.get_xdata()[0] for line in ax.lines
                   if line.get_xdata()[0] == line.get_xdata()[1]}) == [5.5, 7.5, 11.5]


@pytest.mark.parametrize("scale", ["common", "own"])
def test_matrices_in_rows_on_one_scale_or_their_own(scale):
    named = {f"M{k}": np.diag([-(10.0**k), 1.0]) for k in range(5)}
    axes = plots.matrices(named, columns=2, scale=scale)
    places = [ax.get_subplotspec() for ax in axes]
    assert [ax.get_title() for ax in axes] == list(named)
    assert [(one.rowspan.start, one.colspan.start) for one in places] == [
        (0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]
    ends = [ax.images[0].norm.vmax for ax in axes]
    assert ends == ([1e4] * 5 if scale == "common" else [10.0**k for k in range(5)])
    assert len(axes[0].figure.axes) == 5 + (1 if scale == "common" else 5)  # colour bars


def test_spectrum(ax):
    plots.spectrum([2.0, -1.0, 0.0, 1e-18, 5.0], ax)
    found = {name: points[:, 1].tolist() for name, points in drawn(ax).items()
             if not name.startswith("_")}
    assert found == {"positive: 2": [5.0, 2.0], "zero to rounding: 2": [1e-18, 0.0],
                     "negative: 1": [-1.0]}
    low, high = ax.get_ylim()
    assert ax.get_yscale() == "symlog" and low < -1 and high > 5
    one_sign = plots.spectrum(np.geomspace(0.5, 16, 50), Figure().add_subplot())
    assert 0.05 < one_sign.get_ylim()[0] < 0.5 and 16 < one_sign.get_ylim()[1] < 50


def test_several_spectra_hide_nothing(ax):
    plots.spectrum({"first": [3.0, -2.0], "second": [100.0, 1.0]}, ax)
    lines = {line.get_label(): line for line in ax.lines if line.get_marker() in "os"}
    assert list(lines) == ["first, positive: 1", "first, negative: 1", "second, positive: 2"]
    low, high = ax.get_ylim()
    assert low < -2 and high > 100
    colours = [line.get_color() for line in lines.values()]
    assert colours[0] == colours[1] != colours[2]


def test_kernels_stand_side_by_side_on_one_scale():
    weights = np.arange(5 * 2 * 3, dtype=float).reshape(5, 2, 3) - 7
    (image,) = plots.kernels(weights).images
    whole = np.asarray(image.get_array().filled(np.nan))
    assert whole.shape == (2 * 3 - 1, 3 * 4 - 1)
    np.testing.assert_array_equal(whole[3:5, 4:7], weights[4])
    for gap in (whole[2], whole[:, 3], whole[:, 7], whole[3:, 8:]):
        assert np.isnan(gap).all()
    assert image.get_clim() == (-22, 22)


def test_printed_beside_corrected(ax):
    plots.printed_and_corrected({"(1)": (None, 1e-15), "(2)": (0.5, 0.0), "(3)": (2.0, 1e-9)}, ax)
    bars = {round(bar.get_y() + bar.get_height() / 2, 6): bar.get_width() for bar in ax.patches}
    assert bars == pytest.approx({0.2: 1e-15, 1.2: 1e-17, 2.2: 1e-9, 0.8: 0.5, 1.8: 2.0}, rel=1e-9)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["(1)", "(2)", "(3)"]


# -- doors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("call, error, name", [
    (lambda: plots.hessian_heat_map(np.triu(np.ones((3, 3)))), ValueError, "matrix"),
    (lambda: plots.matrices({}), TypeError, "named"),
    (lambda: plots.spectrum({}), ValueError, "eigenvalues"),
    (lambda: plots.spectrum([1.0], ax=3), TypeError, "ax"),
    (lambda: plots.learning_curves({"a": []}), ValueError, "histories"),
    (lambda: plots.lines({"a": ["x"]}), TypeError, "named"),
    (lambda: plots.errors_by_layer({}), ValueError, "errors"),
    (lambda: plots.row(), ValueError, "pictures"),
    (lambda: plots.plane(NET, LOSS, X, Y, D, 2 * D), ValueError, "up"),
    (lambda: plots.along(NET, LOSS, X, Y, {}), ValueError, "direction"),
    (lambda: plots.cubic_model([1.0, 2.0], [1, 2], 0, 0, 1, 1), ValueError, "steps"),
    (lambda: plots.kernels(np.ones((2, 2))), ValueError, "weights")])
def test_what_cannot_be_drawn(call, error, name):
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    with pytest.raises(error, match=f"^{name}"):
        call()
    assert pyplot.get_fignums() == before, "no empty figure is left behind"
