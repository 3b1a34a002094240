"""How the cost of the cases grows with width, depth and batch, in units of one gradient."""

from secondorder.plots import COLOURS, MARKERS

from .runs import Effort, measure

FACTORS = (1, 2, 4, 8)


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
    """Measure the curves of the cases, smallest network first.

    Parameters
    ----------
    cases : list of Case
        Those whose `smallest` is None are passed over.
    effort : Effort
    dtype : str, optional
    say : callable
        Called with a line of text a case.

    Returns
    -------
    dict of str to dict of str to list
        Axis, then case, then points: what `measure` returned, with ``place`` on the axis. A point
        whose matrix would be too large is left out.
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


def draw(curves, figure=None):
    """One picture an axis, one line a case.

    Parameters
    ----------
    curves : dict
        As `run` returns them.
    figure : matplotlib.figure.Figure, optional

    Returns
    -------
    matplotlib.figure.Figure
    """
    if figure is None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(13, 4.6), layout="constrained")
    lines = {}
    for ax, (axis, cases) in zip(figure.subplots(1, len(curves), sharey=True), curves.items()):
        ticks = set()
        for number, (name, points) in enumerate(cases.items()):
            known = [point for point in points if "gradient" in point["ratios"]]
            if not known:
                continue
            places = [point["place"] for point in known]
            (lines[name],) = ax.loglog(places, [point["ratios"]["gradient"] for point in known],
                                       label=name, color=COLOURS[number % len(COLOURS)],
                                       marker=MARKERS[number % len(MARKERS)],
                                       linestyle=("-", "--", ":")[number // len(COLOURS) % 3])
            ticks.update(places)
        if ticks:
            ax.set_xticks(sorted(ticks), map(str, sorted(ticks)))
        ax.minorticks_off()
        ax.set(xlabel=axis)
        ax.grid(alpha=0.3)
    figure.axes[0].set_ylabel("time in units of one gradient")
    if lines:
        figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=4, fontsize=8)
    return figure
