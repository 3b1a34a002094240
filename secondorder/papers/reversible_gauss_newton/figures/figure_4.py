"""Figure 4: how far the tangent kernel moves from the start, and the representations with depth."""

import numpy as np

from secondorder.studies import both, diverged, headline, legend_below, paired, study

from .. import PAPER
from . import compared
from .training import NAMES

MANY, GAP = 0.9, 0.1  # of a similarity


def last(run, name, block=None):
    """A similarity at the last look; NaN where the run diverged."""
    if diverged(run) or not run["looks"]:
        return float("nan")
    value = run["looks"][-1][name]
    return value if block is None else value[block]


def stays(method):
    """(a): the kernel's similarity with the start is 0.9 at least."""
    return lambda runs: paired([last(run, "ntk") - MANY for run in runs[method]],
                               "similarity less 0.9")


def lower(runs):
    """(a): Adam's similarity is lower than both others', by 0.1."""
    end = {method: [last(run, "ntk") for run in runs[method]] for method in compared.METHODS}
    return both(*(paired(np.subtract(end[method], end["adam"]),
                         f"similarity, {NAMES[method]} less Adam", GAP)
                  for method in ("gn", "sgd")))


def slower(runs):
    """(b): the kernel changes less between looks than Adam's."""
    moved = {method: [np.mean([1 - look["step"] for look in run["looks"][1:]])
                      if not diverged(run) and len(run["looks"]) > 1 else np.nan
                      for run in runs[method]] for method in compared.METHODS}
    return paired(np.subtract(moved["adam"], np.maximum(moved["gn"], moved["sgd"])),
                  "Adam's change less the larger of the other two")


def falls_with_depth(runs):
    """(e): the last block's CKA with the start is below the first block's."""
    return both(*(paired([last(run, "cka", 0) - last(run, "cka", -1) for run in runs[method]],
                         f"first less last, {NAMES[method]}") for method in ("gn", "adam")))


@study(PAPER, "figure-4", **compared.ON_CIFAR | {"full": compared.FOURTEEN_SEEDS},
       seconds=(9000, 5),
       shows="Tangent kernel and representations against their start, CIFAR-10",
       claims={"a-gn": "Gauss-Newton's tangent kernel has a similarity of 0.9 or more with its "
                       "start, at the end",
               "a-sgd": "SGD's tangent kernel has a similarity of 0.9 or more with its start, at "
                        "the end",
               "a-adam": "Adam's tangent kernel ends less similar to its start than both, by 0.1 "
                         "or more",
               "b": "every ten epochs the tangent kernel changes less for both than for Adam",
               "e": "the representations (CKA with the start) of Gauss-Newton and of Adam change "
                    "more in the last block than in the first"},
       deviation=compared.AT_AUTHORS + "; kernel on 100 test images, CKA on 500, every 10 epochs. "
       "The skips keep x_0 in every block, so CKA is high for anyone. One panel is the CKA of what "
       "the last block and the blocks before it added")
class Figure4(compared.OfFigure2):
    judges = {"a-gn": stays("gn"), "a-sgd": stays("sgd"), "a-adam": lower, "b": slower,
              "e": falls_with_depth}

    @staticmethod
    def packed(result, arguments):
        """What the figures of kernel and representations read."""
        return {name: [{key: look[key] for key in ("ntk", "step", "cka", "added")}
                       for look in value] if name == "looks" else value
                for name, value in result.items() if name in ("loss", "looks", "diverged")}

    def draw(self, results, figure, settings):
        told = compared.FIGURE_2.by_rule(results, settings)
        panels = figure.subplots(2, 3, sharex=True)
        shown = {"kernel, with start": lambda look: look["ntk"],
                 "kernel, with last look": lambda look: look["step"],
                 "CKA, what the last block added": lambda look: look["added"][-1],
                 "CKA, first block": lambda look: look["cka"][0],
                 "CKA, middle block": lambda look: look["cka"][2],
                 "CKA, last block": lambda look: look["cka"][-1]}
        for panel, (title, of) in zip(panels.flat, shown.items()):
            compared.draw_looks(panel, told, of, settings["cifar"]["looks"])
            panel.set_title(title, fontsize=9)
        for panel in panels[-1]:
            panel.set_xlabel("epoch")
        for panel in panels[:, 0]:
            panel.set_ylabel("similarity")
        legend_below(figure, panels[0, 0])
        headline(figure, f"What stays as it was at the start ({compared.thick_and_thin(told)})\n"
                 f"{compared.title_of(settings)}", settings)
