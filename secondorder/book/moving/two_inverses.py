"""reversible-gauss-newton: what two inverses make of a batch and of wines that are not in it."""

import warnings

import numpy as np

from ... import datasets
from ...nets import SquaredError
from ...papers.reversible_gauss_newton import RankWarning, RevMLP, direction
from .drawing import Axis, Curve, Figure, Panel, Recorded, Slider, number_text

SAMPLES, STEPS, RATE = 60, 8, 0.5
RATIOS = (4, 3, 2, 1.5, 1.25, 1.1, 1, 0.9, 0.8, 0.66, 0.5, 0.33, 0.25, 0.125)
INVERSES = ("right", "moore-penrose")
NAMES = {"right": "right inverse", "moore-penrose": "Moore-Penrose"}
CORNERS = np.array([[-1.0, -0.5], [1.0, -0.5], [0.0, 1.0]])  # output 2 - 1, and 3 - their mean
WORDS = ((-1.0, -0.9), (1.0, -0.9), (0.0, 1.45))


def problem():
    """Inputs (178, 14) and one-hot targets (178, 3), in random order: `SAMPLES` to be fitted."""
    wine = datasets.load_wine()
    x = datasets.Standardisation.fit(wine.inputs).apply(wine.inputs)
    order = np.random.default_rng(0).permutation(len(x))
    return np.column_stack([x, np.zeros(len(x))])[order], np.eye(3)[wine.targets[order]]


def width(ratio):
    """d', the features of a half block, for n / d' = ratio."""
    return round(SAMPLES / ratio)


def outputs(ratio, inverse, x, y):
    """Of all wines after `STEPS` steps on the first `SAMPLES`; NaN where a step overflows."""
    net, loss = RevMLP(14, 2, width(ratio), outputs=3, rng=1), SquaredError()
    batch = slice(SAMPLES)
    try:
        for _ in range(STEPS):
            net.theta = net.theta + RATE * direction(net, loss, x[batch], y[batch],
                                                     inverse=inverse, pseudo_inverse="exact")
    except FloatingPointError:
        return np.full(y.shape, np.nan)
    return net(x)


def error(outputs, y):
    """Root of the mean squared error of an output; 1000 for all that is larger or not a number."""
    value = np.sqrt(np.mean((outputs - y) ** 2))
    return value if value < 1e3 else 1e3


def recorded():
    """Outputs (inverses, ratios, 178, 3), and errors (inverses, ratios, 2) of batch and others."""
    x, y = problem()
    with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", RankWarning)  # with fewer features than samples
        out = np.array([[outputs(ratio, inverse, x, y) for ratio in RATIOS]
                        for inverse in INVERSES])
        errors = [[[error(one[part], y[part]) for part in (slice(SAMPLES), slice(SAMPLES, None))]
                   for one in row] for row in out]
    return out, np.array(errors), y


def in_the_plane(outputs):
    """Three outputs as a point: one-hot targets are the corners of a triangle; (..., 2)."""
    return outputs @ CORNERS


def plane(inverse, points, classes):
    """The panel of one inverse: test points by class, and the batch on top."""
    curves = [Curve(f"class {k + 1}, not in the batch", style,
                    Recorded(points[:, SAMPLES:, 0][:, classes[SAMPLES:] == k], (0,)),
                    Recorded(points[:, SAMPLES:, 1][:, classes[SAMPLES:] == k], (0,)), dots=True)
              for k, style in enumerate(("blue many", "green many square", "red many"))]
    curves.append(Curve("the batch", "ink many", Recorded(points[:, :SAMPLES, 0], (0,)),
                        Recorded(points[:, :SAMPLES, 1], (0,)), dots=True))
    return Panel(NAMES[inverse], Axis("output 2 − output 1", -3, 3, (-2, -1, 0, 1, 2)),
                 Axis("output 3 − mean of outputs 1 and 2", -2, 2.5, (-1, 0, 1, 2)), curves,
                 [(x, y, f"class {k + 1}") for k, (x, y) in enumerate(WORDS)])


def sentence(ratio, errors):
    """What is told of one ratio."""
    def told(value):
        return "above 100" if value > 100 else number_text(value)

    (right_batch, right), (mp_batch, mp) = errors
    return (f"n / d′ = {number_text(SAMPLES / width(ratio))} ({width(ratio)} features for "
            f"{SAMPLES} wines). Error on the batch: right inverse {told(right_batch)}, "
            f"Moore-Penrose {told(mp_batch)}. On the {178 - SAMPLES} others: {told(right)} and "
            f"{told(mp)}.")


def figure():
    """The figure of the book."""
    all_outputs, errors, y = recorded()
    points, classes = in_the_plane(all_outputs), y.argmax(axis=1)
    ratios = np.array([SAMPLES / width(ratio) for ratio in RATIOS])
    curves = []
    for inverse, style, own in zip(INVERSES, ("ink", "purple"), errors):
        curves += [Curve(f"{NAMES[inverse]}, others", style, Recorded(ratios), Recorded(own[:, 1])),
                   Curve(f"{NAMES[inverse]}, batch", f"{style} dashed", Recorded(ratios),
                         Recorded(own[:, 0])),
                   Curve("", style, Recorded(ratios[:, None], (0,)), Recorded(own[:, 1:], (0,)),
                         dots=True)]
    error_panel = Panel(
        "error at every n / d′", Axis("n / d′", 0.125, 4, (0.125, 0.25, 0.5, 1, 2, 4), log=True),
        Axis("root mean square error", 0.003, 10, (0.01, 0.1, 1, 10), log=True), curves)
    return Figure(
        title="Two inverses that fit a batch alike",
        look="Take n / d′ down from 4. Above 1 the right inverse has too few features to fit the "
             "batch; near 1 all points leave its picture. Below 1 both fit the batch, each class "
             "in one point. Only Moore-Penrose keeps the other wines near their class.",
        source=f"{SAMPLES} of 178 wines, a RevMLP of width 14 with two blocks (ReLU), one-hot "
               f"targets, {STEPS} Gauss-Newton steps at rate {RATE}, one seed. Computed by "
               "direction of the reversible_gauss_newton room.",
        labels=("8", "16", "17", "extension-moore-penrose"),
        sliders=[Slider("n / d′, samples over features", "",
                        [number_text(ratio) for ratio in ratios], RATIOS.index(0.5))],
        panels=[*(plane(inverse, own, classes) for inverse, own in zip(INVERSES, points)),
                error_panel],
        words=Recorded([sentence(ratio, errors[:, k]) for k, ratio in enumerate(RATIOS)], (0,)))
