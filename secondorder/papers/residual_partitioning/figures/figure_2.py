"""Figure 2: the classifier's cross-entropy, training and validation, on three sets of images."""

import numpy as np

from secondorder.studies import both, paired, study

from .. import PAPER
from . import curves


@study(PAPER, "figure-2",
       shows="Classifier D-400-100-36-10: cross-entropy of residual partitioning, SGD and Adam "
             "over steps",
       claims={"a-6000": "up to step 6000 residual partitioning's lowest validation loss is "
                         "at least 1.1 times the better rival's, on all sets",
               "a-20000": "the same up to step 20,000",
               "b": "on CIFAR-10 it overfits much worse: its gap at the end is more than 1.5 times "
                    "each other's (10,000 images)"},
       full=curves.FULL, quick=curves.QUICK, seconds=(6000, 6), needs=("mnist", "cifar-10"),
       smaller=curves.SMALLER,
       deviation=curves.DEVIATION)
class Figure2:
    def runs(self, settings, results):
        return curves.stages("classifier", settings, results)

    def judge(self, results, settings):
        every, end = settings["every"], settings["steps"]
        sets = curves.counted_sets(settings)
        judged = {data: curves.judged("classifier", data, settings, results) for data in sets}

        def worse(horizon):
            for data, one in judged.items():
                pairs = curves.per_seed(
                    one, lambda run: curves.lowest(run, "validation", horizon, every)).values()
                yield paired([np.log(ours / other) for ours, other in pairs],
                             f"log of the lowest validation loss over the best other's, {data}",
                             margin=np.log(1.1))

        verdicts = {f"a-{horizon}": both(*worse(horizon)) for horizon in curves.HORIZONS}
        gaps = {method: {seed: curves.gap(run, end, every) for seed, run in runs.items()}
                for method, runs in judged[sets[-1]].items()}
        verdicts["b"] = both(*(paired(
            [gaps["partitioning"][seed] - 1.5 * gaps[other][seed] for seed in gaps["partitioning"]
             if seed in gaps[other]], f"gap less 1.5 times {curves.NAMES[other]}'s")
            for other in ("sgd", "adam")))
        return verdicts

    def draw(self, results, figure, settings):
        curves.draw("classifier", "loss", results, figure,
                    "Classifier D-400-100-36-10, softplus: each method at its best rate")
