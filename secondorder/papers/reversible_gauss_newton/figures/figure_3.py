"""Figure 3: by how much a step changes the loss of its own mini-batch."""

import numpy as np

from secondorder.studies import diverged, headline, legend_below, paired, study

from .. import PAPER
from . import compared


def change(run, first, last):
    """|mean per cent| over epochs `first` to `last`, from 1; NaN where the run diverged."""
    told = run["change"][first - 1:last]
    return abs(float(np.mean(told))) if told and not diverged(run) else float("nan")


def ratios(runs, first, last):
    """log of Gauss-Newton's change over the larger of the others'."""
    return [float(np.log(change(one, first, last) / np.max([
        change(runs[other][seed], first, last) for other in ("adam", "sgd")])))
        for seed, one in enumerate(runs["gn"])]


def fifths(run):
    """Four fifths of the epochs."""
    return 4 * len(run["loss"]) // 5


@study(PAPER, "figure-3", **compared.ON_CIFAR, seconds=(3000, 5),
       shows="Per cent by which a step changes the loss of its own batch, CIFAR-10",
       claims={"a": "in epochs 1 to 5 a step of Gauss-Newton changes its own batch's loss by twice "
                    "as much as one of Adam or SGD, or more",
               "b": "over the first four fifths of the epochs a step of Gauss-Newton changes its "
                    "own batch's loss most of the three",
               "c": "Gauss-Newton's lead in this change is smaller late (last five of these "
                    "epochs) than early (first five)"},
       deviation=compared.AT_AUTHORS + "; every fifth step is measured")
class Figure3(compared.OfFigure2):
    judges = {
        "a": lambda runs: paired(ratios(runs, 1, 5), "log ratio of changes", np.log(2)),
        "b": lambda runs: paired(ratios(runs, 1, fifths(runs["gn"][0])), "log ratio of changes"),
        "c": lambda runs: paired(np.subtract(ratios(runs, 1, 5), ratios(
            runs, max(1, fifths(runs["gn"][0]) - 4), fifths(runs["gn"][0]))),
            "early log ratio less late one")}

    def draw(self, results, figure, settings):
        panel, told = figure.subplots(), compared.FIGURE_2.by_rule(results, settings)
        compared.draw_by_rule(panel, told, "change", log=False)
        panel.axhline(0, color="0.6", linewidth=0.8)
        panel.set_ylabel("change of the own batch's loss, per cent")
        legend_below(figure, panel)
        headline(figure, f"What a step does to its own batch ({compared.thick_and_thin(told)})\n"
                 f"{compared.title_of(settings)}", settings)
