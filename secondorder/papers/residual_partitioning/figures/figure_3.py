"""Figure 3: the classifier's accuracy, in the runs of Figure 2."""

from secondorder.studies import alike, both, study

from .. import PAPER
from . import curves


@study(PAPER, "figure-3",
       shows="Validation accuracy of the classifiers of Figure 2, at the same rates",
       claims={"maximum": "the highest accuracy differs from the best of SGD and Adam by less than "
                          "0.02 on all sets",
               "end": "the same for the accuracy at the end"},
       full=curves.FULL | {"seeds": (1, 2, 3, 4)}, quick=curves.QUICK, seconds=(6000, 6),
       needs=("mnist", "cifar-10"),
       smaller=curves.SMALLER,
       deviation=curves.DEVIATION + "; rates by the lowest loss")
class Figure3:
    def runs(self, settings, results):
        return curves.stages("classifier", settings, results)

    def judge(self, results, settings):
        verdicts = {}
        for letter, number in (("maximum", max), ("end", lambda values: values[-1])):
            sets = []
            for data in curves.counted_sets(settings):
                judged = curves.judged("classifier", data, settings, results)
                pairs = curves.per_seed(judged, lambda run: -number(run["accuracy"]))
                sets.append(alike([other - ours for ours, other in pairs.values()], 0.02,
                                  f"accuracy less the best other's, {data}"))
            verdicts[letter] = both(*sets)
        return verdicts

    def draw(self, results, figure, settings):
        curves.draw("classifier", "accuracy", results, figure,
                    "Classifier D-400-100-36-10: validation accuracy at the rates of Figure 2")
