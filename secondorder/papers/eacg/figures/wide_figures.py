"""Figures 2, 4, 6 and 8: an input layer that dwarfs the rest, in the place of ImageNet-10."""

import numpy as np

from secondorder.studies import alike, both, study

from .. import PAPER
from . import clock, training
from .cifar_figures import Curves, pairs
from .training import better_accuracy, final, lower_loss

FULL = {**training.WIDE, "case": "W4"}
SMALLER = "CIFAR-10 enlarged instead of ImageNet, smaller networks, 40 epochs"
DEVIATION = (training.DEVIATION + "; Cifar-10 enlarged to 64 x 64, whose pixels carry the numbers "
             "of 32 x 32, in the place of ImageNet; KFI's first layer by (13)")


class WideCurves(Curves):
    """SGD, and curvatures with EA-CG and with KFI whose first layer has one direction, (13)."""

    second = "kfi-rank-one"


def kfi_lower(ours, other):
    return -lower_loss(ours, other)


def overfits(ours, other):
    """By how much KFI's accuracy falls from its best to the end beyond 2 points, and EA-CG's stays
    within them: the smaller of the two.
    """
    def fall(run):
        return max(run["accuracy"]) - final(run, "accuracy")

    return min(fall(other) - 0.02, 0.02 - fall(ours))


SHARED = dict(quick=training.QUICK, seconds=(4000, 12), needs=("cifar-10",), smaller=SMALLER,
       deviation=DEVIATION)
ENTROPY = SHARED | {"full": FULL | training.seeds_to(20)}
BOUNDED = SHARED | {"full": FULL | training.seeds_to(7)}


@study(PAPER, "figure-2",
       shows="Cross-entropy with wide inputs against seconds",
       claims={
           "a": "EA-CG and KFI take the same time for all epochs, within 10 %",
           "b": "KFI's training loss is the lower, with every curvature",
           "c": "KFI may overfit: it ends more than 2 points below its best accuracy, EA-CG does "
                "not",
           "d": "EA-CG and KFI reach losses 2, 1.6 and 1.2 within 1.2 times SGD's seconds"},
       also={"b": "figure-4", "c": "figure-4"},
       **ENTROPY | {"full": ENTROPY["full"] | {"longer": {"cross-entropy": {"sgd": 120}}}})
class Figure2(WideCurves):
    over = "seconds"

    def judge(self, results, settings):
        def same_time(chosen):
            return both(*(alike([np.log(a["seconds"][-1] / b["seconds"][-1]) for a, b in
                                 pairs(chosen, curvature, curvature, ("ea-cg", "kfi-rank-one"))],
                                np.log(1.1), f"log of EA-CG's seconds over KFI's, {curvature}")
                          for curvature in ("fisher", "gauss-newton", "pch-1")))

        def against_sgd(chosen):
            return both(*(clock.faster(chosen, one, ("sgd", "none"), "seconds, 1.2 times "
                                       f"SGD's over {' '.join(reversed(one))}", 1.2)
                          for one in self.counted() if one[0] != "sgd"))

        def timed(judge):
            return clock.timed(judge, self.criterion, settings, results)

        return {"a": timed(same_time),
                "b": self.each(kfi_lower, "log of the final loss", settings, results),
                "c": self.each(overfits, "fall of the accuracy", settings, results),
                "d": timed(against_sgd)}


@study(PAPER, "figure-4", shows="The trainings of Figure 2 against epochs; Figure 2 has its claims",
       claims={}, **ENTROPY)
class Figure4(WideCurves):
    def judge(self, results, settings):
        return {}


class BoundedWide(WideCurves):
    criterion, curvatures = "bounded", ("fisher", "pch-1", "pch-2")

    def accuracies_alike(self, settings, results):
        return self.decide(lambda chosen: both(*(
            alike([better_accuracy(a, b) for a, b in
                   pairs(chosen, curvature, curvature, ("ea-cg", "kfi-rank-one"))], 0.02,
                  f"accuracy, EA-CG less KFI, {curvature}") for curvature in ("fisher", "pch-1"))),
            settings, results)


@study(PAPER, "figure-6", shows="The bounded criterion (14) with wide inputs against seconds",
       claims={"a": "EA-CG has the lower training loss, with every curvature",
               "b": "the accuracies are alike, within 2 points"},
       also={"a": "figure-8", "b": "figure-8"}, **BOUNDED)
class Figure6(BoundedWide):
    over = "seconds"

    def judge(self, results, settings):
        return {"a": self.each(lower_loss, "log of the final loss", settings, results),
                "b": self.accuracies_alike(settings, results)}


@study(PAPER, "figure-8", shows="The trainings of Figure 6 against epochs",
       claims={"c": "PCH-1 with KFI has the best accuracy, by 2 points at least"}, **BOUNDED)
class Figure8(BoundedWide):
    def judge(self, results, settings):
        def best(chosen):
            others = [one for one in self.methods() if one[1] != "pch-2"
                      and one != ("kfi-rank-one", "pch-1")]
            return both(*(chosen.compared(("kfi-rank-one", "pch-1"), other, better_accuracy,
                                          f"accuracy less {other[1]} {other[0]}'s", 0.02)
                          for other in others))

        return {"c": self.decide(best, settings, results)}
