"""Claim: Adam leaves the plateau by itself, and cubic step lengths add nothing to it."""

from secondorder.studies import (LINE_STYLES, counted, exactly, headline, least, legend_below,
                                 study, undecided)

from .. import PAPER
from . import plateau

SIGMAS = (1.0, 10.0, 100.0, 1000.0)


@study(PAPER, "claim-adam",
       shows="Adam, Adagrad and Adadelta alone, and cubic steps on Adam for four sigmas",
       claims={"a": "Adam alone leaves the plateau before Adagrad and Adadelta alone",
               "b": "cubic steps on Adam gain nothing: they leave not more than 10 % earlier "
                    "(+-0.1), sigma 1000",
               "b-end": "nor do they end more than 10 % lower (+-0.2)",
               "c": "ours: two rates do not interfere. Cubic steps on Adam come within 10 % of it "
                    "at the best sigma. At 1000 their step on the plateau is below a tenth of "
                    "Adam's"},
       full=plateau.TEN, quick=plateau.QUICK, seconds=(1100, 4), needs=("mnist",),
       ours=("b-end", "c"),
       smaller=plateau.SMALLER,
       deviation=plateau.DEVIATION + "; Adam's epsilon stands behind the bias correction, "
       "TensorFlow's before it")
class AdamClaim:
    @staticmethod
    def packed(result, arguments):
        """The losses, and the first rates at sigma 1000: ten seeds of all rates are too many."""
        first = {"rate": result["rate"][:plateau.FIRST]} if arguments["sigma"] == 1000 else {}
        return plateau.losses(result, arguments) | first

    def runs(self, settings, results):
        alone = [run for base in ("adam", "adagrad", "adadelta")
                 for run in plateau.compared(settings, base, 0, 0.1, ("none",))]
        alone += plateau.compared(settings, "adam", 0, 0.2, ("none",))
        return alone + [run for half in (0.1, 0.2) for sigma in SIGMAS
                        for run in plateau.compared(settings, "adam", sigma, half, ("exact",))]

    def judge(self, results, settings):
        def of(half=0.1, base="adam", curvature="none", sigma=0.0):
            return results.by_seed(base=base, half_width=half, curvature=curvature, sigma=sigma)

        first = {base: of(base=base) for base in ("adam", "adagrad", "adadelta")}
        left = {base: {seed: plateau.leave(one) for seed, one in runs.items()}
                for base, runs in first.items()}
        seeds = list(left["adam"])
        verdicts = {"a": counted([left["adam"][s] < min(left["adagrad"][s], left["adadelta"][s])
                                  for s in seeds], list(left["adam"].values()),
                                 "iterations to leave")}
        usual = of(0.2)
        late = [plateau.leave(one) / left["adam"][seed]
                for seed, one in of(curvature="exact", sigma=1000.0).items()]
        low = [plateau.end(one) / plateau.end(usual[seed])
               for seed, one in of(0.2, curvature="exact", sigma=1000.0).items()]
        verdicts["b"] = counted([r >= 0.9 for r in late], late, "leaving over Adam's")
        verdicts["b-end"] = counted([r >= 0.9 for r in low], low, "end over Adam's")
        verdicts["c"] = self._interference(of, left, usual, seeds)
        return verdicts

    def _interference(self, of, left, usual, seeds):
        if len(seeds) < 3:
            return undecided("it takes three seeds at least", len(seeds))

        def near(sigma):
            on, off = of(curvature="exact", sigma=sigma), of(0.2, curvature="exact", sigma=sigma)
            return [max(plateau.leave(on[s]) / left["adam"][s],
                        plateau.end(off[s]) / plateau.end(usual[s])) for s in seeds]

        best = SIGMAS[least([sorted(near(sigma))[len(seeds) // 2] for sigma in SIGMAS], "sigma")]
        ratio = sorted(near(best))[len(seeds) // 2]
        step = [plateau.start_rate(one) / plateau.RATES["adam"]
                for one in of(curvature="exact", sigma=1000.0).values()]
        middle = sorted(step)[len(step) // 2]
        return exactly(ratio <= 1.1 and middle < 0.1, ratio,
                       f"worse of leaving and end over Adam's, at sigma {best:g}",
                       f"rate over Adam's on the plateau at 1000: {middle:.2g}", len(seeds))

    def draw(self, results, figure, settings):
        axes = figure.subplots(1, 2, sharex=True)
        for panel, half in zip(axes, (0.1, 0.2)):
            alone = results.of(base="adam", curvature="none", half_width=half)
            plateau.draw_losses(panel, alone, "black", "-", "Adam alone")
            for k, (sigma, style) in enumerate(zip(SIGMAS, LINE_STYLES[1:])):
                runs = results.of(base="adam", curvature="exact", sigma=sigma, half_width=half)
                plateau.draw_losses(panel, runs, f"C{k}", style, f"sigma {sigma:g}")
            panel.set(xlabel="iteration", title=f"weights within ±{half:g}", yscale="log")
        axes[0].set_ylabel("cross-entropy, mean of the watched samples")
        legend_below(figure, axes[0])
        headline(figure, f"Cubic steps on Adam: {plateau.title_of(settings)}", settings)
