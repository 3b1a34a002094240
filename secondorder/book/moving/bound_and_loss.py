"""residual-partitioning: the bound, the second-order model and the loss, as the rate moves."""

import numpy as np

from ... import datasets
from ...exact import two_jet
from ...nets import SoftmaxCrossEntropy, mlp
from ...papers.residual_partitioning import bound
from .drawing import Axis, Curve, Figure, Panel, Recorded, Slider, number_text

RATES = 2.0 ** np.arange(-1, 7.5, 0.5)
PARTS = np.linspace(0, 1, 26)
STEPS = 20


def problem():
    """Net, loss, inputs, labels: 13-6-3, tanh, the wines."""
    wine = datasets.load_wine()
    x = datasets.Standardisation.fit(wine.inputs).apply(wine.inputs)
    return mlp([13, 6, 3], activation="tanh", rng=0), SoftmaxCrossEntropy(), x, wine.targets


def direction(b):
    """-W_dot / W_ddot, the step of the bound's minimum."""
    return -b.gradient / b.curvature


def along(net, loss, x, y):
    """Loss, second-order model, bound over `PARTS` of a step at every rate, (3, rates, parts)."""
    b = bound(net, loss, x, y)
    d, moved = direction(b), net.copy()
    value, slope, curvature = two_jet(net, loss, x, y, d)

    def loss_at(t):
        moved.theta = net.theta + t * d
        return moved.evaluate(loss, x, y).loss

    t = RATES[:, None] * PARTS
    return np.array([np.vectorize(loss_at)(t), value + slope * t + curvature * t**2 / 2,
                     np.vectorize(lambda t: b.value(t * d))(t)])


def trained(net, loss, x, y, rate):
    """The loss before every step, and what the bound of the step before allowed, (steps + 1, 2)."""
    net, told, allowed = net.copy(), [], np.nan
    for _ in range(STEPS + 1):
        b = bound(net, loss, x, y)
        told.append((b.loss, allowed))
        if not b.loss < 1e3:  # far outside the picture
            break
        step = rate * direction(b)
        allowed = b.value(step)
        net.theta = net.theta + step
    return np.array(told + [(np.nan, np.nan)] * (STEPS + 1 - len(told)))


def sentence(rate, losses, run):
    """What is told of one rate."""
    loss, model, allowed = losses
    last = (f"{number_text(run[-1])}" if np.isfinite(run[-1]) and run[-1] < 100
            else "out of the picture")
    return (f"Rate {number_text(rate)}: the bound allows {number_text(allowed)}, the second-order "
            f"model says {number_text(model)}, the loss goes from {number_text(run[0])} to "
            f"{number_text(loss)}. After {STEPS} steps: {last}.")


def figure():
    """The figure of the book."""
    net, loss, x, y = problem()
    curves = along(net, loss, x, y)
    runs = np.array([trained(net, loss, x, y, rate) for rate in RATES])
    best = RATES[np.argmin(curves[0, :, -1])]
    too_much = RATES[~(runs[:, -1, 0] < runs[:, 0, 0])][0]
    axis = Axis("loss", 0, 2, (0, 0.5, 1, 1.5, 2))
    one = Panel("one step at this rate", Axis("part of the step", 0, 1, (0, 0.25, 0.5, 0.75, 1)),
                axis,
                [Curve("bound", "red", Recorded(PARTS), Recorded(curves[2], (0,))),
                 Curve("second-order model", "blue", Recorded(PARTS), Recorded(curves[1], (0,))),
                 Curve("loss", "ink", Recorded(PARTS), Recorded(curves[0], (0,)))])
    many = Panel(f"{STEPS} steps at this rate", Axis("step", 0, STEPS, (0, 5, 10, 15, 20)), axis,
                 [Curve("allowed by the bound before the step", "red",
                        Recorded(np.arange(STEPS + 1)), Recorded(runs[:, :, 1], (0,)), dots=True),
                  Curve("loss", "ink", Recorded(np.arange(STEPS + 1)),
                        Recorded(runs[:, :, 0], (0,)))])
    words = [sentence(rate, curves[:, k, -1], runs[k, :, 0]) for k, rate in enumerate(RATES)]
    return Figure(
        title="A bound, and how far beyond it one may go",
        look="At rate 1 the step ends at the lowest point of the bound. From rate 2 on the bound "
             "promises nothing. Take the rate up to see how loose the bound is. One step lowers "
             f"the loss most at a rate of {number_text(best)}; over {STEPS} steps "
             f"{number_text(too_much)} is already too much.",
        source="A 13-6-3 tanh net on the 178 wines, all in one batch, before training. One unit of "
               "the rate is the step −Ẇ/Ẅ to the bound's minimum. Computed by bound of the "
               "residual_partitioning room and two_jet.",
        labels=("3", "9", "algorithm-1", "claim-learning-rate"),
        sliders=[Slider("rate", "× the bound's step", [number_text(rate) for rate in RATES],
                        list(RATES).index(4))],
        panels=[one, many], words=Recorded(words, (0,)))
