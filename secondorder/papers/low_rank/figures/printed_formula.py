"""Claim (ours): which form of (39), corrected or as printed, made the paper's figures?"""

import numpy as np

from secondorder.studies import counted, headline, legend_below, study

from .. import PAPER
from . import plateau

FORMS = ("exact", "printed")


@study(PAPER, "claim-printed-formula",
       shows="The rates of Figures 1 and 2, with (39) corrected and as printed",
       claims={"a": "Figure 1: the later rate is nearer to the 0.05 of the text as printed",
               "b": "Figure 2: the fall of the rate is nearer to the hundredfold of the text as "
                    "printed"},
       full=plateau.FULL, quick=plateau.QUICK, seconds=(700, 4), needs=("mnist",),
       ours=("a", "b"), smaller=plateau.SMALLER,
       deviation=plateau.DEVIATION)
class PrintedFormula:
    packed = staticmethod(plateau.packed)

    def runs(self, settings, results):
        return [run for half in (0.1, 0.2)
                for run in plateau.compared(settings, "sgd", 100, half, FORMS)]

    def judge(self, results, settings):
        def distances(half, number, target):
            return {form: {seed: abs(np.log10(number(one) / target)) for seed, one in
                           results.by_seed(curvature=form, half_width=half).items()}
                    for form in FORMS}

        told = {"a": distances(0.2, lambda one: plateau.later_rate(one, 100), 0.05),
                "b": distances(0.1, plateau.jump, 100)}
        return {letter: counted([of["printed"][s] < of["exact"][s] for s in of["exact"]],
                                [of["exact"][s] - of["printed"][s] for s in of["exact"]],
                                "distance corrected less distance printed, decades")
                for letter, of in told.items()}

    def draw(self, results, figure, settings):
        axes = figure.subplots(1, 2)
        for panel, half in zip(axes, (0.2, 0.1)):
            for form in FORMS:
                label, colour, style = plateau.LINES[form]
                plateau.draw_rates(panel, results.of(curvature=form, half_width=half), colour,
                                   style, label)
            panel.set(xlabel="iteration", yscale="log", title=f"weights within ±{half:g}")
        axes[0].axhline(0.05, color="0.5", linewidth=0.8)
        axes[0].annotate("the paper's 0.05", (0.98, 0.05), xycoords=("axes fraction", "data"),
                         ha="right", va="bottom", fontsize=8, color="0.3")
        axes[0].set_ylabel("rate, mean of the last 100")
        legend_below(figure, axes[1])
        headline(figure, f"Which curvature made the figures? {plateau.title_of(settings)}",
                 settings)
