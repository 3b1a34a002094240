"""The cubic model beside the objective, along a ray."""

import numpy as np

from ..checks import increasing, non_negative, positive_number, real_array, real_number
from .style import BLACK, BLUE, GREEN, VERMILION, axes_of, finished


def cubic_model(steps, objective, slope, curvature, norm, sigma, ax=None, title=None):
    """The objective along a ray theta + s g, and what models of it say.

    Drawn are the objective, its tangent f + a s, the quadratic f + a s + h s^2 / 2 and the cubic
    model of [low-rank] Eq. (37),

        f + a s + h s^2 / 2 + sigma |g|^3 s^3 / 6,

    whose minimiser over s > 0 is marked, where it has one on the picture.

    Parameters
    ----------
    steps : array_like, shape (n,)
        s, increasing, n at least 2.
    objective : array_like, shape (n,)
        At theta + s g; f is its value at s = 0, interpolated where 0 lies between two steps.
    slope, curvature : float
        a = g . gradient and h = g^T H g.
    norm : float
        |g|, not negative.
    sigma : float
        Weight of the cubic term, positive.
    ax : matplotlib.axes.Axes, optional
    title : str, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        No numbers, steps that do not increase or do not reach 0.
    """
    steps = increasing(steps, "steps")
    objective = real_array(objective, "objective", steps.shape, ": one value a step")
    if not steps[0] <= 0 <= steps[-1]:
        raise ValueError(f"steps must reach from 0 or below to 0 or above, got {steps[0]:g} to "
                         f"{steps[-1]:g}: the models begin at 0")
    slope, curvature = real_number(slope, "slope"), real_number(curvature, "curvature")
    norm, sigma = non_negative(norm, "norm"), positive_number(sigma, "sigma")
    start = float(np.interp(0.0, steps, objective))
    tangent = start + slope * steps
    quadratic = tangent + curvature / 2 * steps**2
    third = sigma * norm**3
    cubic = quadratic + third / 6 * steps**3
    ax = axes_of(ax)
    ax.plot(steps, objective, color=BLACK, linewidth=2, label="objective")
    ax.plot(steps, tangent, color=GREEN, linestyle=":", label="tangent")
    ax.plot(steps, quadratic, color=BLUE, linestyle="--", label="quadratic model")
    ax.plot(steps, cubic, color=VERMILION, linestyle="-.", label="cubic model")
    best = _minimiser(slope, curvature, third)
    if best is not None and steps[0] <= best <= steps[-1]:
        low = start + slope * best + curvature / 2 * best**2 + third / 6 * best**3
        ax.plot([best], [low], color=VERMILION, marker="o", linestyle="none",
                label=f"its minimum, s = {best:.3g}")
    room = np.ptp(objective) or 1.0
    ax.set_ylim(objective.min() - 0.6 * room, objective.max() + 0.6 * room)
    ax.set(xlabel="step s along the direction", ylabel="objective")
    return finished(ax, title)


def _minimiser(a, h, third):
    """s > 0 with a + h s + third s^2 / 2 = 0, the minimum; None where the model has none."""
    if not a < 0 or third == 0:
        return -a / h if a < 0 < h else None
    return -2 * a / (h + np.sqrt(h * h - 2 * a * third))
