"""The figures that one moves: their numbers against computations that share no code with them, and
what a page of them is made of.
"""

import json
import re
import warnings

import numpy as np
import pytest

import secondorder as so
from harness import slow
from secondorder.book import moving
from secondorder.book.moving import bound_and_loss, drawing, pos_eig, two_inverses
from secondorder.ledger.registry import REGISTRY
from secondorder.papers.residual_partitioning.equations import cases

PAPERS = sorted(moving.FIGURES)
DIGITS = 6e-4  # relative: numbers stand in the page with four digits


def recorded(paper):
    """What the script of the page reads."""
    return json.loads(moving.figure(paper).data())


def at(value, places):
    """The lookup of moving.js, in Python."""
    found = value["of"]
    for slider in value["by"]:
        found = found[places[slider]]
    return np.array([np.nan if one is None else one for one in found], dtype=float)


def points(page, panel, curve, places):
    """x and y of a curve of the page."""
    one = page["panels"][panel]["curves"][curve]
    return at(one["x"], places), at(one["y"], places)


def position(page, slider, text):
    return page["sliders"][slider].index(text)


# -- residual partitioning -------------------------------------------------------------------------


def wines():
    wine = so.datasets.load_wine()
    return (wine.inputs - wine.inputs.mean(axis=0)) / wine.inputs.std(axis=0), wine.targets


def tanh_loss(theta, x, y):
    """Cross-entropy of a 13-6-3 tanh net, written out."""
    (W1, b1, W2, b2) = np.split(theta, np.cumsum([78, 6, 18]))
    z = np.tanh(x @ W1.reshape(6, 13).T + b1) @ W2.reshape(3, 6).T + b2
    return np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y])


@pytest.mark.parametrize("rate", ["4", *slow(["0.5", "128"])])
def test_bound_model_and_loss_of_a_step(rate):
    net, loss = so.mlp([13, 6, 3], activation="tanh", rng=0), so.SoftmaxCrossEntropy()
    x, y = wines()
    b = cases.built(net.evaluate(loss, x, y))
    d, H = -b.gradient / b.curvature, so.exact.hessian(net, loss, x, y, method="polarisation")
    start, page = tanh_loss(net.theta, x, y), recorded("residual-partitioning")
    t = float(rate) * np.linspace(0, 1, 26)
    expected = [start + b.gradient @ d * t + (b.curvature @ d**2) / 2 * t**2,
                start + b.gradient @ d * t + (d @ H @ d) / 2 * t**2,
                [tanh_loss(net.theta + one * d, x, y) for one in t]]
    for curve, values in enumerate(expected):
        across, up = points(page, 0, curve, [position(page, 0, rate)])
        np.testing.assert_allclose(across * float(rate), t, rtol=DIGITS)
        np.testing.assert_allclose(up, values, rtol=DIGITS)


def test_twenty_steps_are_those_of_the_optimizer():
    x, y = wines()
    page = recorded("residual-partitioning")
    net, told = so.mlp([13, 6, 3], activation="tanh", rng=0), []
    optimizer = so.ResidualPartitioning(net, so.SoftmaxCrossEntropy(), learning_rate=4.0)
    for _ in range(21):
        told.append(tanh_loss(net.theta, x, y))
        optimizer.step(x, y)
    steps, losses = points(page, 1, 1, [position(page, 0, "4")])
    assert list(steps) == list(range(21))
    np.testing.assert_allclose(losses, told, rtol=5 * DIGITS)


def test_what_the_reader_is_told_of_rates():
    """Lowest bound at rate 1, none from 2 on; the loss turns where the sentence says."""
    page, allowed, after = recorded("residual-partitioning"), {}, {}
    for k, rate in enumerate(page["sliders"][0]):
        allowed[rate], after[rate] = (points(page, 0, curve, [k])[1][-1] for curve in (0, 2))
    start = points(page, 0, 2, [0])[1][0]
    assert min(allowed, key=allowed.get) == "1" and abs(allowed["2"] - start) < DIGITS * start
    look = moving.figure("residual-partitioning").look
    best, = re.findall(r"most at a rate of ([\d.]+);", look)
    assert best == min(after, key=after.get)
    too_much, = re.findall(r"20 steps ([\d.]+) is already", look)
    k = position(page, 0, too_much)
    assert points(page, 1, 1, [k - 1])[1][-1] < start
    assert not points(page, 1, 1, [k])[1][-1] < start
    assert np.all(bound_and_loss.RATES == [2.0**e for e in np.arange(-1, 7.5, 0.5)])


# -- low rank --------------------------------------------------------------------------------------


def test_the_numbers_of_an_axis_rise_from_one_end_to_the_other():
    axes = [axis for paper in PAPERS for panel in moving.figure(paper).panels
            for axis in (panel.x, panel.y)]
    for axis in axes:
        shares = [axis.share(one) for one in (axis.low, *axis.ticks, axis.high)]
        assert shares[0] == 0 and shares[-1] == 1 and (np.diff(shares[1:-1]) > 0).all(), axis
        assert min(shares) == 0 and max(shares) == 1, axis


@pytest.mark.parametrize("sigma, h", [("6", "−3"), ("4", "6"), ("64", "0"), ("24", "−6")])
def test_the_cubic_model_and_its_step(sigma, h):
    page = recorded("low-rank")
    places = [position(page, 0, sigma), position(page, 1, h)]
    s, c = float(h.replace("−", "-")), float(sigma)
    cubic = np.polynomial.Polynomial([0, -6, s / 2, c / 6])
    for curve, model in ((0, cubic - np.polynomial.Polynomial([0, 0, 0, c / 6])), (1, cubic)):
        across, up = points(page, 0, curve, places)
        np.testing.assert_allclose(up, model(across), rtol=DIGITS, atol=1e-9)
    root, = (z.real for z in cubic.deriv().roots() if z.real > 0)
    (step,), (low,) = points(page, 0, 3, places)
    np.testing.assert_allclose([step, low], [root, cubic(root)], rtol=DIGITS)
    np.testing.assert_allclose(points(page, 1, 2, places), [[c], [root]], rtol=DIGITS)
    (newton,), _ = points(page, 0, 2, places)
    assert np.isnan(newton) if s <= 0 else abs(newton - 6 / s) < DIGITS * newton


def test_the_still_picture_is_the_step_of_the_pencil():
    """Tutorial 00: slope -6, curvature -3, sigma 6, step 2."""
    assert "σ = 6, h = −3: the cubic step is s = 2." in moving.figure("low-rank").said()


# -- EA-CG -----------------------------------------------------------------------------------------


def block_by_differences():
    """Hessian and gradient in the two hidden biases, by differences of losses written out."""
    x, y = wines()
    theta = so.mlp([13, 2, 3], activation="tanh", rng=5).theta.copy()

    def value(change):
        moved = theta.copy()
        moved[26:28] += change
        W1, b1, W2, b2 = np.split(moved, np.cumsum([26, 2, 6]))
        z = np.tanh(x @ W1.reshape(2, 13).T + b1) @ W2.reshape(3, 2).T + b2
        return np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y])

    e = 1e-4 * np.eye(2)
    H = [[(value(a + b) - value(a - b) - value(b - a) + value(-a - b)) / 4e-8 for a in e]
         for b in e]
    return np.array(H), np.array([(value(a) - value(-a)) / 2e-4 for a in e])


@pytest.mark.parametrize("gamma, alpha", [("1", "0.02"), ("0", "0.1"), ("−0.5", "0.5"),
                                          ("−1", "0.01")])
def test_the_form_is_corrected_and_the_step_solves_the_system(gamma, alpha):
    page, (H, g) = recorded("ea-cg"), block_by_differences()
    places = [position(page, 0, gamma), position(page, 1, alpha)]
    factor, weight = float(gamma.replace("−", "-")), float(alpha)
    (low, high), V = np.linalg.eigh(H)
    assert low < 0 < high
    B = factor * low * np.outer(V[:, 0], V[:, 0]) + high * np.outer(V[:, 1], V[:, 1])
    x, y = points(page, 0, 2, places)
    form = (B[0, 0] * x**2 + 2 * B[0, 1] * x * y + B[1, 1] * y**2) / 2
    near = np.hypot(x, y) < 4  # elsewhere the form is a small difference
    assert near.sum() > 60
    np.testing.assert_allclose(form[near], pos_eig.LEVEL, rtol=2e-2)
    step = np.array([one[-1] for one in points(page, 0, 3, places)])
    left = ((1 - weight) * B + weight * np.eye(2)) @ step
    np.testing.assert_allclose(left, -g, rtol=2e-3, atol=2e-5)
    downhill = step @ V[:, 0] * (g @ V[:, 0]) < 0
    words = page["words"]["of"][places[0]][places[1]]
    assert words.endswith(f"the step goes {'downhill' if downhill else 'uphill'}.")
    assert downhill == ((1 - weight) * factor * low + weight > 0)
    told = re.search(r"becomes (.+?), and .* damped to (.+?)\. ", words)
    said = [float(one.replace("−", "-")) for one in told.groups()]
    expected = [factor * low, (1 - weight) * factor * low + weight]
    np.testing.assert_allclose(said, expected, rtol=6e-3, atol=1e-6)


def test_from_gamma_0_on_no_step_goes_uphill():
    page = recorded("ea-cg")
    words = page["words"]["of"]
    zero = position(page, 0, "0")
    assert all(one.endswith("downhill.") for row in words[zero:] for one in row)
    assert any(one.endswith("uphill.") for row in words[:zero] for one in row)
    assert "−0," not in json.dumps(words, ensure_ascii=False)


# -- reversible Gauss-Newton -----------------------------------------------------------------------


@pytest.mark.parametrize("text", ["2", "0.5", "0.125"])
def test_moore_penrose_is_least_squares_with_the_jacobian(text):
    page = recorded("reversible-gauss-newton")
    place = position(page, 0, text)
    net = so.reversible_gauss_newton.RevMLP(14, 2, round(60 / float(text)), outputs=3, rng=1)
    x, y = two_inverses.problem()
    for _ in range(8):
        J = so.exact.jacobian(net, x[:60]).reshape(180, -1)
        net.theta = net.theta - 0.5 * J.T @ np.linalg.lstsq(J @ J.T, (net(x[:60]) - y[:60]).ravel(),
                                                            rcond=None)[0]
    out, classes = net(x), y.argmax(axis=1)
    for k in range(3):
        across, up = points(page, 1, k, [place])
        seen = out[60:][classes[60:] == k]
        np.testing.assert_allclose(across, seen[:, 1] - seen[:, 0], rtol=2e-3, atol=2e-3)
        np.testing.assert_allclose(up, seen[:, 2] - (seen[:, 0] + seen[:, 1]) / 2, rtol=2e-3,
                                   atol=2e-3)
    (_,), (others,) = points(page, 2, 5, [place])
    np.testing.assert_allclose(others, np.sqrt(np.mean((out[60:] - y[60:]) ** 2)), rtol=2e-3)


def test_the_right_inverse_solves_for_the_batch_where_it_can():
    """The first step by hand: J d = -eps below n / d' = 1, not above."""
    x, y = two_inverses.problem()
    left = {}
    for text in ("2", "0.5"):
        net = so.reversible_gauss_newton.RevMLP(14, 2, round(60 / float(text)), outputs=3, rng=1)
        J, eps = so.exact.jacobian(net, x[:60]).reshape(180, -1), net(x[:60]) - y[:60]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", so.reversible_gauss_newton.RankWarning)
            d = two_inverses.direction(net, so.SquaredError(), x[:60], y[:60], inverse="right",
                                       pseudo_inverse="exact")
        left[text] = np.linalg.norm(J @ d + eps.ravel()) / np.linalg.norm(eps)
    assert left["0.5"] < 1e-9 < 0.1 < left["2"]


def test_what_the_reader_is_told_of_the_two_inverses():
    page = recorded("reversible-gauss-newton")
    ratios, right = points(page, 2, 0, [0])
    batch, shortest, own = (points(page, 2, curve, [0])[1] for curve in (1, 3, 4))
    few, near, many = ratios > 1.4, np.abs(ratios - 1) < 0.11, ratios < 0.7
    assert few.sum() > 3 and near.sum() == 3 and many.sum() > 4
    assert np.all(batch[few] > 0.1) and np.all(right[near] > 100)
    assert np.all(batch[many] < 0.02) and np.all(own[many] < 0.02)
    assert np.all(right[many] > 2 * shortest[many])


# -- the page --------------------------------------------------------------------------------------


def test_the_four_papers_have_one_and_bridges_none():
    first = {"residual-partitioning", "low-rank", "ea-cg", "reversible-gauss-newton"}
    assert first <= set(moving.FIGURES) <= set(REGISTRY.rooms()) - {"bridges"}
    assert moving.figure("bridges") is None and moving.figure("a paper of the user's") is None


@pytest.mark.parametrize("paper", PAPERS)
def test_a_figure_is_labelled_and_names_labels_that_exist(paper):
    figure = moving.figure(paper)
    known = {label for entry in REGISTRY.select(paper) for label in entry.labels}
    assert set(figure.labels) <= known
    for panel in figure.panels:
        assert panel.title and panel.x.name and panel.y.name and any(c.name for c in panel.curves)
    for slider in figure.sliders:
        assert slider.label and 0 <= slider.start < len(slider.texts) == len(set(slider.texts))
    assert len(figure.data()) < 200_000 and "</" not in figure.data()


@pytest.mark.parametrize("paper", PAPERS)
def test_every_recorded_value_has_a_place_for_every_position(paper):
    page = recorded(paper)
    sizes = [len(texts) for texts in page["sliders"]]
    values = [page["words"], *(curve[axis] for panel in page["panels"] for curve in panel["curves"]
                               for axis in "xy")]
    for value in values:
        shape = np.array(value["of"], dtype=object).shape
        assert shape[:len(value["by"])] == tuple(sizes[k] for k in value["by"])
    assert all(np.shape(at(curve["x"], [0, 0])) == np.shape(at(curve["y"], [0, 0]))
               for panel in page["panels"] for curve in panel["curves"])


def test_the_still_picture_has_the_dots_where_the_numbers_are():
    pictures = "".join(moving.figure("low-rank").pictures())
    paths = dict(re.findall(r'data-curve="(\d)" d="(.*?)"', pictures))
    assert list(paths) == list("0123456")
    across = drawing.LEFT + 2 / 4 * (drawing.RIGHT - drawing.LEFT)  # s = 2 of 0 to 4
    up = drawing.BOTTOM - 20 / 40 * (drawing.BOTTOM - drawing.TOP)  # -10 of -30 to 10
    assert paths["3"] == f"M{across:.1f} {up:.1f}h0"
    assert paths["2"] == "", "no Newton step where the curvature is negative"


def test_a_line_breaks_where_there_is_no_number():
    axis = drawing.Axis("t", 0, 1, ())
    curve = drawing.Curve("", "ink", drawing.Recorded((0, 0.5, 1, 1)),
                          drawing.Recorded((0, np.nan, 0, 1)))
    text = drawing.path(drawing.Panel("", axis, axis, [curve]), curve, [])
    assert re.fullmatch(r"M46\.0 232\.0M352\.0 232\.0L352\.0 26\.0", text)


@pytest.mark.parametrize("low, high, value, share", [(1, 100, 10, 0.5), (0.1, 1000, 1, 0.25)])
def test_a_logarithmic_axis(low, high, value, share):
    assert drawing.Axis("", low, high, (), log=True).share(value) == pytest.approx(share)
