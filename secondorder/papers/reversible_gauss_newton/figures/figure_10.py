"""Figure 10: CKA with the start, block by block."""

from secondorder.studies import alike, both, headline, legend_below, paired, study

from .. import PAPER
from . import compared
from .figure_4 import MANY, Figure4, last

BLOCKS = range(6)


def all_stay(method):
    """(c): every block's CKA with the start is 0.9 at least."""
    return lambda runs: paired([min(last(run, "cka", block) for block in BLOCKS) - MANY
                                for run in runs[method]], "least CKA less 0.9")


def all_leave(runs):
    """(c): Adam's CKA is below 0.9 in every block."""
    return paired([MANY - max(last(run, "cka", block) for block in BLOCKS)
                   for run in runs["adam"]], "0.9 less the largest CKA")


def like_sgd(runs):
    """(d): Gauss-Newton and SGD are alike in every block."""
    return both(*(alike([last(one, "cka", block) - last(other, "cka", block)
                         for one, other in zip(runs["gn"], runs["sgd"])], 0.05,
                        f"Gauss-Newton's CKA less SGD's, block {block + 1}")
                  for block in BLOCKS))


@study(PAPER, "figure-10", **compared.ON_CIFAR | {"full": compared.FOURTEEN_SEEDS},
       seconds=(9000, 5), shows="CKA of all six blocks with their start, CIFAR-10",
       claims={"c-gn": "Gauss-Newton's representations have a CKA of 0.9 or more with their start "
                       "in every block, at the end",
               "c-sgd": "SGD's representations have a CKA of 0.9 or more with their start in every "
                        "block",
               "c-adam": "Adam's representations end below a CKA of 0.9 in every block",
               "d": "Gauss-Newton's and SGD's CKA are alike, within 0.05 in every block"},
       also={letter: "figure-4" for letter in ("c-gn", "c-sgd", "c-adam")},
       deviation=compared.AT_AUTHORS + "; on 500 test images, every 10 epochs")
class Figure10(compared.OfFigure2):
    judges = {"c-gn": all_stay("gn"), "c-sgd": all_stay("sgd"), "c-adam": all_leave, "d": like_sgd}
    packed = staticmethod(Figure4.packed)

    def draw(self, results, figure, settings):
        told = compared.FIGURE_2.by_rule(results, settings)
        panels = figure.subplots(2, 3, sharex=True, sharey=True)
        for block, panel in enumerate(panels.flat):
            compared.draw_looks(panel, told, lambda look: look["cka"][block],
                                settings["cifar"]["looks"])
            panel.set_title(f"block {block + 1}", fontsize=9)
        legend_below(figure, panels[0, 0])
        for panel in panels[-1]:
            panel.set_xlabel("epoch")
        figure.supylabel("CKA with the start", fontsize=10)
        headline(figure, f"Representations against their start ({compared.thick_and_thin(told)})\n"
                 f"{compared.title_of(settings)}", settings)
