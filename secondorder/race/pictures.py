"""The picture of a problem: training loss over CPU seconds and over work."""

import numpy as np

from secondorder import plots
from secondorder.studies.pictures import legend_below

from .full import marks_of
from .methods import METHODS
from .problems import TRAINED

LOWEST = 1e-6  # a loss that a picture shows
COLOURS = (plots.BLACK, plots.ORANGE, plots.BLUE, plots.VERMILION, plots.GREEN, plots.SKY,
           plots.PURPLE)
LINES = (":", "--", "-", "-", "-", "-", "-.")
LOOKS = dict(zip(METHODS, zip(COLOURS, LINES)))
LABELS = {"seconds": "CPU seconds of steps", "work": "work, in gradients of the batch"}


def draw(record, figure):
    """Draw the median over the seeds of every method; a curve ends where a run diverged."""
    panels = figure.subplots(1, 2, sharey=True)
    for panel, rule in zip(panels, LABELS):
        for key, entry in record["methods"].items():
            marks = marks_of(entry[rule].get("limit", record.get(rule, 1.0)))
            curves = [np.array(run["curve"], float) for run in entry[rule]["runs"]]
            if curves:  # a run that diverged is null in a file, and infinite here
                curves = np.nan_to_num(curves, nan=np.inf, posinf=np.inf)
                losses = np.maximum(np.median(curves, axis=0), LOWEST)
                colour, style = LOOKS.get(key, (plots.BLACK, "-"))
                panel.plot(marks, np.where(np.isfinite(losses), losses, np.nan), color=colour,
                           linestyle=style, label=entry["title"])
        panel.set(xscale="log", yscale="log", xlabel=LABELS[rule])
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("training loss")
    if panels[0].lines:
        legend_below(figure, panels[0], rows=2)
    seeds = max((len(entry["seconds"]["runs"]) for entry in record["methods"].values()), default=0)
    figure.suptitle(f"{record['title']}; {TRAINED} images" +
                    (f", median of {seeds} seeds" if seeds > 1 else ""), fontsize=9)
