"""The pictures of the race: losses over work and seconds, valleys of rates, ranks, batches."""

import numpy as np

from secondorder import plots
from secondorder.studies import LINE_STYLES, legend_below, over_seeds

from . import tuning
from .entrants import ENTRANTS
from .problems import PROBLEMS

COLOURS = (plots.BLACK, plots.BLUE, plots.VERMILION, plots.GREEN, plots.SKY, plots.ORANGE,
           plots.PURPLE)
#: Method -> colour, line: first-order methods dotted or dashed, controls thin.
LOOKS = {key: (COLOURS[k % len(COLOURS)], LINE_STYLES[k // len(COLOURS) * 2])
         for k, key in enumerate(ENTRANTS)}
POINTS = 40
FLOOR = 1e-4  # losses below count as this
SHORT = {"momentum": "SGD, momentum", "adam": "Adam", "partitioning": "res. partitioning",
         "cubic-sgd": "cubic, SGD", "cubic-adam": "cubic, Adam", "ea-cg": "EA-CG",
         "gauss-newton": "Gauss-Newton", "kfac": "KFAC", "truncated-newton": "tr. Newton",
         "square-root": "cubic, h = 0", "unit": "g / |g|"}


def loss_at(result, name, value, read="loss"):
    """The loss at so many seconds, so much work or so many steps; of a run that diverged before,
    the loss that it began with.
    """
    loss = tuning.at(result, name, value, read)
    return max(loss if np.isfinite(loss) else result[read][0], FLOOR)


def draw_problem(field, figure, seeds):
    """Training loss over work (rule G) and over seconds (rule S), mean of the logarithm: over the
    field's seeds of the methods that are compared, over `seeds` of the others.
    """
    panels = figure.subplots(1, 2, sharey=True)
    for panel, name, rule, limit in ((panels[0], "work", "G", field.limits.work),
                                     (panels[1], "seconds", "S", field.limits.seconds)):
        for key in field.entrants:
            draw_curve(panel, key, list(field.runs(key, rule).values()), name, limit)
        panel.axvline(limit, color="0.7", linewidth=0.8)
        panel.set(xscale="log", yscale="log")
    panels[0].set(xlabel="work, in gradients of the batch (rule G)", ylabel="training loss")
    panels[1].set(xlabel="CPU seconds of steps (rule S)")
    legend_below(figure, panels[1], rows=3)
    figure.suptitle(f"{PROBLEMS[field.problem].title}; "
                    f"{over_seeds(field.settings['seeds'], 'mean of logs')} of what is compared, "
                    f"{len(seeds)} of the rest\ngrey: T, and Adam's work in T", fontsize=9)


def draw_curve(panel, key, runs, name, limit):
    """One method's loss; where it has not made its first step the loss at the start."""
    if not runs:
        return
    colour, style = LOOKS[key]
    at = limit * np.logspace(-2.5, 0, POINTS)
    logs = [[np.log(loss_at(run, name, value)) for value in at] for run in runs]
    panel.plot(at, np.exp(np.mean(logs, axis=0)), color=colour, linestyle=style,
               linewidth=1.0 if ENTRANTS[key].kind == "control" else 1.8, label=ENTRANTS[key].title)


def draw_noise(advantages, batches, figure):
    """The advantage at equal work, seed by seed, over the batch."""
    panel = figure.subplots()
    sizes = [batches[problem] for problem in advantages]
    seeds = sorted({seed for told in advantages.values() for seed in told})
    for k, seed in enumerate(seeds):
        panel.plot(sizes, [told.get(seed, np.nan) for told in advantages.values()],
                   color=COLOURS[k % len(COLOURS)], linestyle=LINE_STYLES[k % len(LINE_STYLES)],
                   marker="o", label=f"seed {seed}")
    panel.axhline(0, color="0.7", linewidth=0.8)
    panel.set(xscale="log", xlabel="samples in a batch",
              ylabel="log of SGD's or Adam's loss\nover the papers' best method's")
    legend_below(figure, panel)
    figure.suptitle("Digits at equal work: above 0 the papers' best method is ahead", fontsize=9)


def draw_valleys(losses, figure):
    """Heat maps, one a problem: log of the loss at T over the best of the method, by half decades
    around the selected point. Dots: at most twice the least loss of all methods.
    """
    columns = min(4, len(losses))
    panels = np.atleast_1d(figure.subplots(-(-len(losses) // columns), columns, squeeze=False))
    shown = None
    for panel, (problem, methods) in zip(panels.flat, losses.items()):
        methods = {key: told for key, told in methods.items() if told}
        if not methods:
            continue
        block = np.array([list(told.values()) for told in methods.values()])
        block = np.log10(np.maximum(block, FLOOR))
        low = block <= block.min() + np.log10(2)
        block = block - block.min(axis=1, keepdims=True)
        half = block.shape[1] // 2
        shown = panel.imshow(block, aspect="auto", cmap="viridis_r", vmin=0, vmax=2,
                             extent=(-half / 2 - 0.25, half / 2 + 0.25, len(block) - 0.5, -0.5))
        rows, places = np.nonzero(low)
        panel.plot((places - half) / 2, rows, "o", color="white", markeredgecolor="k",
                   markersize=2.5, markeredgewidth=0.5)
        panel.set_yticks(range(len(methods)), [SHORT[key] for key in methods], fontsize=6)
        panel.set_title(problem, fontsize=8)
        panel.set_xlabel("decades from the selected rate", fontsize=7)
        panel.tick_params(axis="x", labelsize=7)
    for panel in panels.flat[len(losses):]:
        panel.set_visible(False)
    if shown is not None:
        bar = figure.colorbar(shown, ax=list(panels.flat), shrink=0.8)
        bar.set_label("decades of loss above the least", fontsize=7)
        bar.ax.tick_params(labelsize=7)
    figure.suptitle("Loss at T around the selected rate (sigma), seed 100; dots: at most twice the "
                    "least loss of all methods", fontsize=9)


def draw_ranks(fields, figure):
    """A table: rank by loss at T, and the log ratio to the best with its 95 % interval."""
    panel = figure.subplots()
    panel.set_axis_off()
    columns = list(fields)
    cells = [[cell(field, key) for field in fields.values()] for key in ENTRANTS]
    table = panel.table(cells, rowLabels=[SHORT[key] for key in ENTRANTS], colLabels=columns,
                        loc="center", cellLoc="center")
    table.auto_set_font_size(False)
    table.set_fontsize(6.5)
    table.scale(1, 1.5)
    figure.suptitle("Rank by training loss at T; log of the loss over the best method's, and its "
                    "95 % interval over seeds", fontsize=9)


def cell(field, key):
    """Rank, log ratio to the best method's runs seed by seed, half the interval."""
    from secondorder.studies.verdicts import half_width

    finals = field.final()
    if key not in finals:
        return "-"
    order = sorted(finals, key=finals.get)
    best, mine = field.runs(order[0]), field.runs(key)
    gaps = [np.log(loss_at(mine[seed], "seconds", field.limits.seconds)
                   / loss_at(best[seed], "seconds", field.limits.seconds)) for seed in mine]
    half = f" ± {half_width(gaps):.2f}" if len(gaps) > 1 and order[0] != key else ""
    return f"{order.index(key) + 1}: {np.mean(gaps):.2f}{half}"
