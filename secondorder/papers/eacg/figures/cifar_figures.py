"""Figures 1, 3, 5 and 7: EA-CG and KFI on Cifar-10, against seconds and against epochs."""

from secondorder.studies import alike, both, study

from .. import PAPER
from . import clock, training
from .training import CURVATURES, better_accuracy, by_selection, final, lower_loss

FULL = {**training.FULL, "case": "R5"}
WITHOUT = ("fisher", "pch-1", "pch-2")  # of Eq. (14), where the Gauss-Newton matrix is left out


class Curves:
    """SGD, and every curvature with EA-CG and with a second solver."""

    criterion, curvatures, second, over = "cross-entropy", CURVATURES, "kfi", "epochs"

    def methods(self):
        return [("sgd", "none")] + [(solver, curvature) for curvature in self.curvatures
                                    for solver in ("ea-cg", self.second)]

    def counted(self):
        """The methods that claims are about: PCH-2 is left out but for Figures 9 to 12."""
        return [one for one in self.methods() if one[1] != "pch-2"]

    def runs(self, settings, results):
        trainings = training.stages(self.methods(), self.criterion, settings, results)
        return trainings + (clock.timings(self.counted(), self.criterion, settings)
                            if self.over == "seconds" else [])

    def draw(self, results, figure, settings):
        kind = clock.Timed if self.over == "seconds" else training.Chosen
        training.draw_curves(self.counted(), self.criterion, results, figure, self.over, settings,
                             kind)

    def decide(self, judge, settings, results):
        return by_selection(judge, self.criterion, settings, results)

    def each(self, number, measure, settings, results):
        """EA-CG against KFI, for every curvature: held where it holds for all."""
        return self.decide(lambda chosen: both(*(
            chosen.compared(ours, other, number, f"{measure}, {ours[1]}")
            for ours, other in self.solvers())), settings, results)

    def before(self, pairs, settings, results):
        """Whether one method of every pair is faster than the other."""
        return clock.timed(lambda chosen: both(*(
            clock.faster(chosen, ours, other, f"seconds, {' '.join(reversed(other))} over "
                         f"{' '.join(reversed(ours))}") for ours, other in pairs)),
            self.criterion, settings, results)

    def solvers(self):
        """EA-CG and its rival with every curvature but PCH-2, as pairs."""
        return [(("ea-cg", curvature), (self.second, curvature)) for curvature in self.curvatures
                if curvature != "pch-2"]


@study(PAPER, "figure-1",
       shows="Cross-entropy on Cifar-10 against seconds: SGD, and three curvatures with EA-CG and "
             "KFI",
       claims={
           "a": "EA-CG is faster than KFI with every curvature",
           "b": "EA-CG tests better than KFI at the end, with every curvature",
           "c-loss": "the curvatures end alike under EA-CG: training losses within 10 %",
           "c-accuracy": "the same for accuracies, within 2 points",
           "d": "with KFI, Fisher is faster than Gauss-Newton and PCH-1",
           "e": "SGD is faster in seconds than all"},
       also={"b": "figure-3"},
       full=FULL | training.seeds_to(12), quick=training.QUICK, seconds=(5000, 12),
       needs=("cifar-10",), smaller=training.SMALLER,
       deviation=training.DEVIATION + "; CPU seconds of this implementation")
class Figure1(Curves):
    over = "seconds"

    def judge(self, results, settings):
        def alike_under_ea_cg(number, margin, measure):
            return self.decide(lambda chosen: both(*(
                alike([number(ours, other) for ours, other in pairs(chosen, "pch-1", curvature)],
                      margin, f"{measure}, PCH-1 against {curvature}")
                for curvature in ("fisher", "gauss-newton"))), settings, results)

        def first(ours, others):
            return self.before([(ours, other) for other in others], settings, results)

        return {"a": self.before(self.solvers(), settings, results),
                "b": self.each(better_accuracy, "accuracy, EA-CG less KFI", settings, results),
                "c-loss": alike_under_ea_cg(lower_loss, 0.1, "log of the final loss"),
                "c-accuracy": alike_under_ea_cg(better_accuracy, 0.02, "accuracy"),
                "d": first(("kfi", "fisher"), [("kfi", "gauss-newton"), ("kfi", "pch-1")]),
                "e": first(("sgd", "none"), [one for one in self.counted() if one[0] != "sgd"])}


@study(PAPER, "figure-3",
       shows="The trainings of Figure 1 against epochs",
       claims={"a": "KFI has the lower training loss at equal epochs from epoch 5 on, with every "
                    "curvature"},
       full=FULL | training.seeds_to(12), quick=training.QUICK, seconds=(5000, 12),
       needs=("cifar-10",), smaller=training.SMALLER,
       deviation=training.DEVIATION)
class Figure3(Curves):
    def judge(self, results, settings):
        def below(ours, other):
            """The smallest lead of KFI from epoch 5 on, in units of the loss."""
            rows = list(zip(ours["loss"], other["loss"]))
            return min(left - right for left, right in rows[min(5, len(rows) - 1):])

        return {"a": self.each(below, "least lead of KFI's loss", settings, results)}


BOUNDED = dict(full=FULL | training.seeds_to(10), quick=training.QUICK, seconds=(4000, 10),
               needs=("cifar-10",),
               smaller=training.SMALLER,
       deviation=training.DEVIATION + "; losses lie between 0.018 and 0.731")
#: EA-CG's 40 epochs end before KFI's have come to the last of the three losses.
LONGER = {"longer": {"bounded": {"ea-cg": 80}}}


@study(PAPER, "figure-5",
       shows="The bounded criterion (14) on Cifar-10 against seconds",
       claims={
           "a-faster": "EA-CG is faster than KFI with every curvature",
           "a-tests": "EA-CG tests better than KFI with every curvature",
           "b": "Fisher with EA-CG has the least training loss"},
       also={"a-tests": "figure-7", "b": "figure-7"},
       **BOUNDED | {"full": BOUNDED["full"] | LONGER})
class Figure5(Curves):
    criterion, curvatures, over = "bounded", WITHOUT, "seconds"

    def judge(self, results, settings):
        return {"a-faster": self.before(self.solvers(), settings, results),
                "a-tests": self.each(better_accuracy, "accuracy, EA-CG less KFI", settings,
                                     results),
                "b": fisher_least(self, settings, results)}


@study(PAPER, "figure-7",
       shows="The trainings of Figure 5 against epochs",
       claims={"a": "EA-CG and KFI end alike at equal epochs: training losses within 10 %, with "
                    "every curvature"}, **BOUNDED)
class Figure7(Curves):
    criterion, curvatures = "bounded", WITHOUT

    def judge(self, results, settings):
        near = self.decide(lambda chosen: both(*(
            alike([lower_loss(ours, other) for ours, other in
                   pairs(chosen, curvature, curvature, ("ea-cg", "kfi"))], 0.1,
                  f"log of the final loss, {curvature}") for curvature in ("fisher", "pch-1"))),
            settings, results)
        return {"a": near}


def fisher_least(figure, settings, results):
    """Whether Fisher with EA-CG ends with a lower loss than every other pair."""
    others = [one for one in figure.methods() if one != ("ea-cg", "fisher")]
    return figure.decide(lambda chosen: both(*(
        chosen.compared(("ea-cg", "fisher"), other, lower_loss,
                        f"log of the final loss, {other[1]} {other[0]}") for other in others)),
        settings, results)


def pairs(chosen, ours, other, solvers=("ea-cg", "ea-cg")):
    """Runs of two pairs by seed, those that left the plateau; none if one did not."""
    left, right = chosen.runs(solvers[0], ours), chosen.runs(solvers[1], other)
    both_ = [(left[seed], right[seed]) for seed in left if seed in right]
    going = all(training.started(run, chosen.criterion) for pair in both_ for run in pair)
    return [(a, b) for a, b in both_ if final(a) == final(a) and final(b) == final(b)] if going \
        else []
