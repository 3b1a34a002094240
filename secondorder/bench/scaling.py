"""How the cost of the cases grows with width, depth and batch, in units of one gradient.

The gradient itself, and what else has no gradient timed beside it, is drawn in units of its matrix
products.
"""

import numpy as np

from secondorder.plots import COLOURS, MARKERS

from .runs import Effort, measure

FACTORS = (1, 2, 4, 8)
UNITS = {"gradient": "time in units of one gradient",
         "products": "time in units of the matrix products"}


def wider(setting, factor):
    """All widths but the last times `factor`."""
    *sizes, last = setting.sizes
    return setting.changed(widths="-".join(map(str, [*(n * factor for n in sizes), last])))


def deeper(setting, factor):
    """`factor` times as many hidden layers, all as wide as the first."""
    first, *hidden, last = setting.sizes
    widths = [first, *hidden[:1] * (factor * len(hidden)), last]
    return setting.changed(widths="-".join(map(str, widths)))


def larger(setting, factor):
    """`factor` times as many samples."""
    return setting.changed(batch=setting.batch * factor)


AXES = {"width of the hidden layers": (wider, lambda setting: setting.sizes[1]),
        "number of hidden layers": (deeper, lambda setting: len(setting.sizes) - 2),
        "samples in the batch": (larger, lambda setting: setting.batch)}


def run(cases, effort=Effort(), dtype=None, say=print):
    """Measure the curves of the cases, smallest network first; `say` gets a line of text a case.

    Returns axis -> case -> points: what `measure` returned, with ``place`` on the axis. A case
    whose `smallest` is None is passed over; a point whose matrix would be too large is left out.
    """
    curves = {axis: {} for axis in AXES}
    for case in cases:
        if case.smallest is None:
            continue
        say(f"  {case.name}")
        for axis, (grow, place) in AXES.items():
            curves[axis][case.name] = _curve(case, grow, place, effort, dtype)
    return curves


def _curve(case, grow, place, effort, dtype):
    points = []
    for factor in FACTORS:
        setting = grow(case.smallest, factor).changed(dtype=dtype)
        try:
            points.append(measure(case, setting, effort) | {"place": place(setting)})
        except MemoryError:
            break  # the next one is larger still
    return points


def unit_of(curves):
    """What times are drawn in: the first of `UNITS` that any of the points was measured in."""
    ratios = [point["ratios"] for cases in curves.values() for points in cases.values()
              for point in points]
    return next((unit for unit in UNITS if any(unit in known for known in ratios)), None)


def draw(curves, figure=None):
    """One picture an axis, one line a case; ValueError if the curves of `run` hold nothing to draw.
    """
    unit = unit_of(curves)
    if unit is None:
        raise ValueError("curves holds no point that was measured in units of a gradient or of "
                         "matrix products: there is nothing to draw")
    if figure is None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(13, 4.6), layout="constrained")
    lines = {}
    for ax, (axis, cases) in zip(figure.subplots(1, len(curves), sharey=True), curves.items()):
        ticks = set()
        for number, (name, points) in enumerate(cases.items()):
            known = [point for point in points if unit in point["ratios"]]
            if not known:
                continue
            places = [point["place"] for point in known]
            (lines[name],) = ax.loglog(places, [point["ratios"][unit] for point in known],
                                       label=name, color=COLOURS[number % len(COLOURS)],
                                       marker=MARKERS[number % len(MARKERS)],
                                       linestyle=("-", "--", ":")[number // len(COLOURS) % 3])
            ticks.update(places)
        if ticks:
            ax.set_xticks(sorted(ticks), map(str, sorted(ticks)))
        ax.minorticks_off()
        ax.set(xlabel=axis)
        ax.grid(alpha=0.3)
    _readable_times(figure.axes)
    figure.axes[0].set_ylabel(UNITS[unit])
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=4, fontsize=8)
    return figure


def _readable_times(axes):
    """Ticks at round numbers, at least three of them, on the logarithmic scale that all share."""
    values = [value for ax in axes for line in ax.lines for value in line.get_ydata()]
    low, high = min(values) / 1.15, max(values) * 1.15
    for steps in ((1, 10), (1, 3, 10), (1, 2, 5, 10), (1, 1.5, 2, 3, 4, 5, 7, 10)):
        powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
        ticks = sorted({step * 10.0**k for k in powers for step in steps})
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) >= 3:
            break
    else:  # less than a factor of two between them all
        inside = np.linspace(low, high, 4)
    axes[0].set_ylim(low, high)
    axes[0].set_yticks(inside, [f"{tick:.3g}" for tick in inside])
    for ax in axes:
        ax.minorticks_off()
