"""Claim of the abstract: competitive with or better than SGD and Adam."""

import numpy as np

from secondorder.studies import (DID_NOT_HOLD, HELD, Verdict, both, legend_below, over_seeds,
                                 paired, study)

from .. import PAPER
from . import curves


@study(PAPER, "claim-competitive",
       shows="Lowest validation losses of Figures 1 and 2 over the best other method's",
       claims={"autoencoder": "at most 1.05 times the best other's on all sets",
               "classifier": "the same on half of the sets"},
       full=curves.FULL, quick=curves.QUICK, seconds=(9800, 10), needs=("mnist", "cifar-10"),
       smaller=curves.SMALLER,
       deviation=curves.DEVIATION + "; 'competitive' as 5 % is our reading")
class Competitive:
    def runs(self, settings, results):
        return [run for kind in ("autoencoder", "classifier")
                for run in curves.stages(kind, settings, results)]

    def judge(self, results, settings):
        verdicts = {kind: [self.near(kind, data, results, settings)
                           for data in curves.counted_sets(settings)]
                    for kind in ("autoencoder", "classifier")}
        kinds = [one.verdict for one in verdicts["classifier"]]
        half = (HELD if 2 * kinds.count(HELD) >= len(kinds) else
                DID_NOT_HOLD if 2 * kinds.count(DID_NOT_HOLD) > len(kinds) else None)
        first = next((one for one in verdicts["classifier"] if one.verdict == half),
                     verdicts["classifier"][0])
        return {"autoencoder": both(*verdicts["autoencoder"]),
                "classifier": first if half else Verdict("undecided", first.effect, first.spread,
                                                         first.seeds, first.measure,
                                                         first.because)}

    def near(self, kind, data, results, settings):
        pairs = curves.per_seed(curves.judged(kind, data, settings, results), self.lowest(settings))
        return paired([np.log(1.05 * other / ours) for ours, other in pairs.values()],
                      f"log of 1.05 times the best other's loss over ours, {data}")

    def lowest(self, settings):
        return lambda run: curves.lowest(run, "validation", settings["steps"], settings["every"])

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        lowest, labels = {method: [] for method in curves.LOOKS}, []
        for kind in ("autoencoder", "classifier"):
            for data in dict.fromkeys(one["data"] for one in results.arguments(kind=kind)):
                labels.append(f"{kind}\n{data}")
                for method in lowest:
                    losses = [min(one["validation"]) for one, told in zip(
                        results.of(kind=kind, data=data, method=method),
                        results.arguments(kind=kind, data=data, method=method))
                        if told["seed"] not in curves.TRIAL_SEEDS]
                    lowest[method].append(float(np.mean(losses)) if losses else np.nan)
        best = np.nanmin(list(lowest.values()), axis=0)
        for k, (method, (colour, marker)) in enumerate(curves.LOOKS.items()):
            axes.plot(np.arange(len(labels)) + 0.1 * (k - 1), np.array(lowest[method]) / best,
                      marker, color=colour, label=curves.NAMES[method])
        axes.axhline(1.05, color="0.6", linewidth=0.8)
        axes.set_xticks(range(len(labels)), labels, fontsize=8)
        axes.set(ylabel="lowest validation loss over the best method's",
                 title=f"Competitive? {over_seeds(settings['seeds'], 'mean')}; line: 5 % above the "
                 "best")
        legend_below(figure, axes)
