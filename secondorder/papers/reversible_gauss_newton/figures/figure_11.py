"""Figure 11: how alike the representations of two methods are."""

import numpy as np

from secondorder.studies import both, diverged, headline, legend_below, paired, study

from .. import PAPER
from . import compared
from .figure_10 import BLOCKS
from .training import NAMES


def between(one, other):
    """CKA of every block between two runs of a seed, at the end; NaN where one diverged."""
    if diverged(one) or diverged(other):
        return np.full(len(BLOCKS), np.nan)
    return np.array([np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b))
                     for a, b in zip(one["grams"], other["grams"])])


def nearer(runs):
    """(f): CKA with SGD is above that with Adam in every block."""
    gaps = np.array([between(one, sgd) - between(one, adam) for one, adam, sgd in zip(
        runs["gn"], runs["adam"], runs["sgd"])])
    return both(*(paired(gaps[:, block], f"CKA with SGD less with Adam, block {block + 1}")
                  for block in BLOCKS))


@study(PAPER, "figure-11", **compared.ON_CIFAR | {"full": compared.FIVE_SEEDS}, seconds=(3000, 5),
       shows="CKA of Gauss-Newton's representations with Adam's and with SGD's, CIFAR-10",
       claims={"f": "Gauss-Newton's representations have a higher CKA with SGD's than with Adam's, "
                    "in every block"},
       deviation=compared.AT_AUTHORS + "; at the end of training and on 60 test images")
class Figure11(compared.OfFigure2):
    judges = {"f": nearer}

    @staticmethod
    def packed(result, arguments):
        """The losses, by which rates are chosen, and the Gram matrices in whole numbers of length
        300: so CKA is right to 0.005. What is packed is packed as it is.
        """
        told = {name: value for name, value in result.items() if name in ("loss", "diverged")}
        if "grams" in result:
            told["grams"] = [np.rint(300 * (gram / np.linalg.norm(gram))).astype(int).tolist()
                             for gram in map(np.asarray, result["grams"])]
        return told

    def draw(self, results, figure, settings):
        told = compared.FIGURE_2.by_rule(results, settings)
        panels = figure.subplots(1, len(told), sharey=True)
        for panel, (rule, runs) in zip(panels, told.items()):
            for k, other in enumerate(("adam", "sgd")):
                rows = np.array([between(one, two) for one, two in zip(runs["gn"], runs[other])])
                at, (colour, style) = np.arange(1, 7) + 0.1 * k, compared.STYLES[other]
                for row in rows:
                    panel.plot(at, row, "os"[k], color=colour, alpha=0.7)
                panel.plot(at, rows.mean(axis=0), style, color=colour,
                           label=f"with {NAMES[other]}")
            panel.set_title(compared.WORDS[rule], fontsize=9)
            panel.set_xlabel("block")
        panels[0].set_ylabel("CKA of Gauss-Newton's representations, at the end")
        legend_below(figure, panels[0])
        headline(figure, f"Whose representations are alike: {compared.title_of(settings)}",
                 settings, "lines: mean")
