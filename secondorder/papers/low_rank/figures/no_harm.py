"""Claim: where Adagrad and Adadelta do well, cubic step lengths make no meaningful difference."""

from secondorder.studies import counted, headline, legend_below, study

from .. import PAPER
from . import plateau

BASES = ("adagrad", "adadelta")


@study(PAPER, "claim-no-harm",
       shows="Adagrad and Adadelta with and without cubic steps, weights within +-0.2, sigma 1000",
       claims={f"{base}-{form}": f"{base.capitalize()} with cubic steps ({form} curvature) ends "
               f"within a factor 1.5 of {base.capitalize()} alone" for base in BASES
               for form in ("exact", "printed")},
       full=plateau.TEN, quick=plateau.QUICK, seconds=(700, 6), needs=("mnist",),
       smaller=plateau.SMALLER,
       deviation=plateau.DEVIATION)
class NoHarm:
    packed = staticmethod(plateau.losses)

    def runs(self, settings, results):
        return [run for base in BASES for run in plateau.compared(settings, base, 1000, 0.2)]

    def judge(self, results, settings):
        verdicts = {}
        for base in BASES:
            alone = results.by_seed(base=base, curvature="none")
            for form in ("exact", "printed"):
                ratios = [plateau.end(one) / plateau.end(alone[seed])
                          for seed, one in results.by_seed(base=base, curvature=form).items()]
                verdicts[f"{base}-{form}"] = counted([1 / 1.5 <= r <= 1.5 for r in ratios], ratios,
                                                     "end over the base's")
        return verdicts

    def draw(self, results, figure, settings):
        axes = figure.subplots(1, 2, sharey=True)
        for panel, base in zip(axes, BASES):
            for curvature, (label, colour, style) in plateau.LINES.items():
                plateau.draw_losses(panel, results.of(base=base, curvature=curvature), colour,
                                    style, label)
            panel.set(title=base.capitalize(), xlabel="iteration", yscale="log")
        axes[0].set_ylabel("cross-entropy, mean of the watched samples")
        legend_below(figure, axes[0])
        headline(figure, f"Well-chosen bases: {plateau.title_of(settings)}, weights within ±0.2",
                 settings)
