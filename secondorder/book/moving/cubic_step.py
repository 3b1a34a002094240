"""low-rank: the cubic model along a direction and its step, as sigma and the curvature move."""

import numpy as np

from ...papers.low_rank import step_length
from ...papers.low_rank.eq_08_09_cubic_model import eq_8_change
from .drawing import Axis, Curve, Figure, Panel, Recorded, Slider, number_text

SLOPE, NORM = -6.0, 1.0  # a and |g| of tutorial 00
SIGMAS = (4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 40, 48, 64)
CURVATURES = np.arange(-6.0, 6.5, 0.5)
STEPS = np.linspace(0, 4, 33)


def steps():
    """s of (37), (sigmas, curvatures)."""
    return np.array([[step_length(SLOPE, h, NORM, sigma) for h in CURVATURES] for sigma in SIGMAS])


def models():
    """The model's change over `STEPS`, (sigmas, curvatures, steps)."""
    return np.array([[[eq_8_change(SLOPE, h, NORM, sigma, s) for s in STEPS] for h in CURVATURES]
                     for sigma in SIGMAS])


def lowest(lengths):
    """The model's change at its step, (sigmas, curvatures)."""
    return np.array([[eq_8_change(SLOPE, h, NORM, sigma, s) for h, s in zip(CURVATURES, row)]
                     for sigma, row in zip(SIGMAS, lengths)])


def quadratics():
    """The same without the cubic term, (curvatures, steps)."""
    return np.array([[eq_8_change(SLOPE, h, NORM, 0.0, s) for s in STEPS] for h in CURVATURES])


def newton():
    """-a / h, Newton's step along the direction; infinite where h = 0."""
    with np.errstate(divide="ignore"):
        return -SLOPE / CURVATURES


def sentence(sigma, h, s, newtons):
    """What the still reader is told of one pair."""
    begin = f"σ = {sigma}, h = {number_text(h)}: the cubic step is s = {number_text(s)}. "
    if h > 0:
        return begin + f"Newton's step −a/h = {number_text(newtons)} is longer."
    if h < 0:
        return begin + f"Newton's step −a/h = {number_text(newtons)} would go uphill."
    return begin + "Newton's step −a/h does not exist."


def figure():
    """The figure of the book."""
    lengths, by_h, by_both = steps(), newton(), (0, 1)
    ahead = np.where(CURVATURES > 0, by_h, np.nan)
    bottom = [eq_8_change(SLOPE, h, NORM, 0.0, s) for h, s in zip(CURVATURES, ahead)]
    sigma_axis = Axis("σ, weight of the cubic term", 4, 64, (4, 8, 16, 32, 64), log=True)
    model = Panel(
        "the models", Axis("step s along the direction", 0, 4, (0, 1, 2, 3, 4)),
        Axis("change of the model", -30, 10, (-30, -20, -10, 0, 10)),
        [Curve("quadratic model a s + h s²/2", "blue", Recorded(STEPS),
               Recorded(quadratics(), (1,))),
         Curve("cubic model, with σ|g|³s³/6", "red", Recorded(STEPS), Recorded(models(), by_both)),
         Curve("Newton's step −a/h", "blue", Recorded(ahead[:, None], (1,)),
               Recorded(np.array(bottom)[:, None], (1,)), dots=True),
         Curve("cubic step", "red", Recorded(lengths[..., None], by_both),
               Recorded(lowest(lengths)[..., None], by_both), dots=True)])
    length = Panel(
        "the step at this curvature", sigma_axis, Axis("step s", 0, 4, (0, 1, 2, 3, 4)),
        [Curve("Newton's step −a/h", "blue", Recorded((4.0, 64.0)),
               Recorded(np.column_stack([ahead, ahead]), (1,))),
         Curve("cubic step at every σ", "red", Recorded(SIGMAS), Recorded(lengths.T, (1,))),
         Curve("at this σ", "red", Recorded(np.array(SIGMAS, float)[:, None], (0,)),
               Recorded(lengths[..., None], by_both), dots=True)])
    words = [[sentence(sigma, h, s, n) for h, s, n in zip(CURVATURES, row, by_h)]
             for sigma, row in zip(SIGMAS, lengths)]
    return Figure(
        title="A step where the curvature is negative",
        look="Take the curvature h below zero: the quadratic model has no lowest point, the cubic "
             "one keeps its step. Then take σ up: the step shortens, and h matters less and less.",
        source="Slope a = −6 and length |g| = 1, as in tutorial 00; there h = −3 and σ = 6 give "
               "s = 2. Computed by eq_8_change and step_length of the low_rank room.",
        labels=("8", "9", "37", "41"),
        sliders=[Slider("σ, weight of the cubic term", "", [str(sigma) for sigma in SIGMAS],
                        SIGMAS.index(6)),
                 Slider("h, curvature along the direction", "",
                        [number_text(h) for h in CURVATURES], list(CURVATURES).index(-3))],
        panels=[model, length], words=Recorded(words, by_both))
