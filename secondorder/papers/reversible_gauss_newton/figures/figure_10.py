"""Figure 10: CKA with the start, block by block."""

from secondorder.studies import alike, both, headline, legend_below, study

from .. import PAPER
from . import compared
from .figure_4 import blocks_claims, last

BLOCKS = range(6)


@study(PAPER, "figure-10",
       shows="CKA of all six blocks with their start, CIFAR-10",
       claims={"c-gn": "Gauss-Newton: every block's CKA ends at 0.9 or more",
               "c-sgd": "SGD: the same", "c-adam": "Adam: it ends below 0.9 in every block",
               "d": "Gauss-Newton and SGD are alike: within 0.05 in every block"},
       full=compared.FOURTEEN_SEEDS, quick=compared.QUICK, seconds=(9000, 5),
       needs=("cifar-10",),
       smaller=compared.SMALLER,
       deviation=compared.DEVIATION + "; on 500 test images, every 10 epochs")
class Figure10(compared.OfFigure2):
    def judge(self, results, settings):
        def like(runs):
            return both(*(alike([last(one, "cka", block) - last(other, "cka", block)
                                 for one, other in zip(runs["gn"], runs["sgd"])], 0.05,
                                f"Gauss-Newton's CKA less SGD's, block {block + 1}")
                          for block in BLOCKS))

        return compared.by_letter({
            rule: {**blocks_claims(runs, BLOCKS), "d": like(runs)}
            for rule, runs in compared.by_rule(results, settings).items()})

    def draw(self, results, figure, settings):
        told = compared.by_rule(results, settings)
        panels = figure.subplots(2, 3, sharex=True, sharey=True)
        for block, panel in enumerate(panels.flat):
            compared.draw_looks(panel, told, lambda look: look["cka"][block],
                                settings["cifar"]["looks"])
            panel.set_title(f"block {block + 1}", fontsize=9)
        legend_below(figure, panels[0, 0])
        for panel in panels[-1]:
            panel.set_xlabel("epoch")
        figure.supylabel("CKA with the start", fontsize=10)
        headline(figure, f"Representations against their start ({compared.THICK_AND_THIN})\n"
                 f"{compared.title_of(settings)}", settings)
