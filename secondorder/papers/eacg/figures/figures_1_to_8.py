"""Figures 1 to 8: EA-CG and KFI, against seconds and against epochs.

Figures 1, 3, 5 and 7 are about Cifar-10. In Figures 2, 4, 6 and 8 an input layer that dwarfs the
rest stands in the place of ImageNet-10, and KFI's first layer has one direction, (13).
"""

import numpy as np

from secondorder.studies import diverged, smoothed, study

from .. import PAPER
from . import clock, training
from .curves import Asked, Curves
from .training import FULL, SHARED, seeds_to

WITHOUT = ("fisher", "pch-1", "pch-2")  # of Eq. (14), where the Gauss-Newton matrix is left out
#: EA-CG's 40 epochs end before KFI's have come to the last of the three losses.
LONGER = {"longer": {"bounded": {"ea-cg": 80}}}
ENTROPY = SHARED | {"full": FULL | seeds_to(12), "seconds": (5000, 12)}
BOUNDED = SHARED | {"full": FULL | seeds_to(10), "seconds": (4000, 10),
                    "deviation": training.DEVIATION + "; losses lie between 0.018 and 0.731"}


@study(PAPER, "figure-1",
       shows="Cross-entropy on Cifar-10 against seconds: SGD, and three curvatures with EA-CG and "
             "KFI",
       claims={
           "a": "EA-CG is faster than KFI with every curvature",
           "b": "EA-CG tests better than KFI at the end, with every curvature",
           "c-loss": "the curvatures end alike under EA-CG: training losses within 10 %",
           "c-accuracy": "the curvatures end alike under EA-CG: accuracies within 2 points",
           "d": "with KFI, Fisher is faster than Gauss-Newton and PCH-1",
           "e": "SGD is faster in seconds than all",
           "pch-ea-cg": "PCH-1 improves on Gauss-Newton: with EA-CG its final training loss is "
                        "lower",
           "pch-kfi": "PCH-1 improves on Gauss-Newton: with KFI its final training loss is lower"},
       also={"a": "conclusions", "b": "figure-3, conclusions", "pch-ea-cg": "introduction",
             "pch-kfi": "introduction"},
       **ENTROPY | {"deviation": training.DEVIATION + clock.TIMED_WITH})
class Figure1(Curves):
    over = "seconds"

    def judge(self, results, settings):
        asked = Asked(self, results, settings)
        under_ea_cg = [(("ea-cg", "pch-1"), ("ea-cg", other)) for other in ("fisher",
                                                                            "gauss-newton")]
        sgd = [(("sgd", "none"), one) for one in self.counted() if one[0] != "sgd"]
        fisher = [(("kfi", "fisher"), ("kfi", other)) for other in ("gauss-newton", "pch-1")]
        pch = {f"pch-{solver}": asked.lower([((solver, "pch-1"), (solver, "gauss-newton"))])
               for solver in ("ea-cg", "kfi")}
        return {"a": asked.faster(self.solvers()), "b": asked.tests_better(self.solvers()),
                "c-loss": asked.losses_alike(under_ea_cg),
                "c-accuracy": asked.accuracies_alike(under_ea_cg),
                "d": asked.faster(fisher), "e": asked.faster(sgd), **pch}


@study(PAPER, "figure-3", shows="The trainings of Figure 1 against epochs",
       claims={"a": "KFI has the lower training loss at equal epochs from epoch 5 on, with every "
                    "curvature"}, **ENTROPY)
class Figure3(Curves):
    def judge(self, results, settings):
        def least_lead(ours, other):
            """The smallest lead of KFI from epoch 5 on, in units of the loss."""
            rows = list(zip(ours["loss"], other["loss"]))
            return min(left - right for left, right in rows[min(5, len(rows) - 1):])

        return {"a": Asked(self, results, settings).all(
            self.solvers(), least_lead, "least lead of {other} over {ours} in training loss")}


@study(PAPER, "figure-5",
       shows="The bounded criterion (14) on Cifar-10 against seconds",
       claims={
           "a-faster": "with the criterion (14), EA-CG is faster than KFI with every curvature",
           "a-tests": "with (14), EA-CG tests better than KFI with every curvature",
           "b": "with (14), Fisher with EA-CG has the least training loss"},
       also={"a-faster": "conclusions", "a-tests": "figure-7, conclusions", "b": "figure-7"},
       **BOUNDED | {"full": BOUNDED["full"] | LONGER,
                    "deviation": BOUNDED["deviation"] + clock.TIMED_WITH})
class Figure5(Curves):
    criterion, curvatures, over = "bounded", WITHOUT, "seconds"

    def judge(self, results, settings):
        asked, fisher = Asked(self, results, settings), ("ea-cg", "fisher")
        return {"a-faster": asked.faster(self.solvers()),
                "a-tests": asked.tests_better(self.solvers()),
                "b": asked.lower([(fisher, one) for one in self.methods() if one != fisher])}


@study(PAPER, "figure-7", shows="The trainings of Figure 5 against epochs",
       claims={"a": "with (14), EA-CG and KFI end alike at equal epochs: training losses within "
                    "10 %, with every curvature"}, **BOUNDED)
class Figure7(Curves):
    criterion, curvatures = "bounded", WITHOUT

    def judge(self, results, settings):
        return {"a": Asked(self, results, settings).losses_alike(self.solvers())}


# -- wide inputs -----------------------------------------------------------------------------------

WIDE_FULL = FULL | {"batches": (500,), "case": "W4"}
WIDE = SHARED | {
    "seconds": (4000, 12),
    "smaller": "CIFAR-10 enlarged instead of ImageNet, smaller networks, 40 epochs",
    "deviation": training.DEVIATION + "; Cifar-10 enlarged to 64 x 64, whose pixels carry the "
                 "numbers of 32 x 32, in the place of ImageNet; KFI's first layer by (13)"}
ENTROPY_WIDE = WIDE | {"full": WIDE_FULL | seeds_to(20)}
BOUNDED_WIDE = WIDE | {"full": WIDE_FULL | seeds_to(7)}


def fall(run):
    """Mean accuracy of epochs 10 to 15 less that of epochs 36 to 40, in a training of 40."""
    if diverged(run):
        return np.nan
    return smoothed(run["accuracy"], 6)[:16][-1] - smoothed(run["accuracy"], 5)[-1]


@study(PAPER, "figure-2",
       shows="Cross-entropy with wide inputs against seconds",
       claims={
           "a": "with wide inputs, EA-CG and KFI take the same time for all epochs, within 10 %",
           "b": "with wide inputs, KFI's training loss is the lower, with every curvature",
           "c": "with wide inputs, KFI may overfit: its accuracy falls from epochs 10-15 to epochs "
                "36-40, with every curvature",
           "c-less": "with wide inputs, EA-CG's accuracy falls less than KFI's, with every "
                     "curvature",
           "d": "with wide inputs, EA-CG and KFI reach losses 2, 1.6 and 1.2 within 1.2 times "
                "SGD's seconds"},
       also={"b": "figure-4", "c": "figure-4"}, ours=("c-less",),
       **ENTROPY_WIDE | {"full": ENTROPY_WIDE["full"] | {"longer": {"cross-entropy":
                                                                    {"sgd": 120}}},
                         "deviation": WIDE["deviation"] + clock.TIMED_WITH})
class Figure2(Curves):
    second, over = "kfi-rank-one", "seconds"

    def judge(self, results, settings):
        asked, pairs = Asked(self, results, settings), self.solvers()
        return {"a": asked.same_time(pairs),
                "b": asked.lower([(other, ours) for ours, other in pairs]),
                "c": asked.all(pairs, lambda ours, other: fall(other), "fall of {other}"),
                "c-less": asked.all(pairs, lambda ours, other: fall(other) - fall(ours),
                                    "fall of {other} less that of {ours}"),
                "d": asked.faster([(one, ("sgd", "none")) for one in self.counted()
                                   if one[0] != "sgd"], 1.2)}


@study(PAPER, "figure-4", shows="The trainings of Figure 2 against epochs; Figure 2 has its claims",
       claims={}, **ENTROPY_WIDE)
class Figure4(Curves):
    second = "kfi-rank-one"

    def judge(self, results, settings):
        return {}


@study(PAPER, "figure-6", shows="The bounded criterion (14) with wide inputs against seconds",
       claims={"a": "with (14) and wide inputs, EA-CG has the lower training loss, with every "
                    "curvature",
               "b": "with (14) and wide inputs, EA-CG and KFI test alike, within 2 points"},
       also={"a": "figure-8", "b": "figure-8"}, **BOUNDED_WIDE)
class Figure6(Curves):
    criterion, curvatures, second, over = "bounded", WITHOUT, "kfi-rank-one", "seconds"

    def judge(self, results, settings):
        asked = Asked(self, results, settings)
        return {"a": asked.lower(self.solvers()), "b": asked.accuracies_alike(self.solvers())}


@study(PAPER, "figure-8", shows="The trainings of Figure 6 against epochs",
       claims={"c": "with (14) and wide inputs, PCH-1 with KFI has the best accuracy, by 2 "
                    "points at least"}, **BOUNDED_WIDE)
class Figure8(Curves):
    criterion, curvatures, second = "bounded", WITHOUT, "kfi-rank-one"

    def judge(self, results, settings):
        ours = ("kfi-rank-one", "pch-1")
        return {"c": Asked(self, results, settings).tests_better(
            [(ours, other) for other in self.counted() if other != ours], 0.02)}
