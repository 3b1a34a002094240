"""Figures 9 to 12: PCH-1 against PCH-2, in the trainings of Figures 1, 2, 5 and 6."""

from secondorder.studies import alike, both, study

from .. import PAPER
from . import training
from .cifar_figures import FULL, Curves, pairs
from .training import better_accuracy, lower_loss
from .wide_figures import DEVIATION, SMALLER, WideCurves
from .wide_figures import FULL as WIDE

CLAIMS = {"loss": "PCH-1 and PCH-2 end alike under both solvers: training losses within 10 %",
          "accuracy": "the same for the accuracies, within 2 points"}


class TwoOfThem:
    """What the four have in common; the methods are those of the figure that a class names."""

    curvatures = ("pch-1", "pch-2")

    def methods(self):
        return [one for one in super().methods() if one[0] != "sgd"]

    def judge(self, results, settings):
        def near(number, margin, measure):
            return self.decide(lambda chosen: both(*(
                alike([number(a, b) for a, b in pairs(chosen, "pch-1", "pch-2", (solver, solver))],
                      margin, f"{measure}, PCH-1 against PCH-2, {solver}")
                for solver in ("ea-cg", self.second))), settings, results)

        return {"loss": near(lower_loss, 0.1, "log of the final loss"),
                "accuracy": near(better_accuracy, 0.02, "accuracy")}

    def draw(self, results, figure, settings):
        training.draw_curves(self.methods(), self.criterion, results, figure, "epochs", settings)


@study(PAPER, "figure-9", shows="PCH-1 and PCH-2, cross-entropy, Cifar-10", claims=CLAIMS,
       full=FULL | training.seeds_to(10), quick=training.QUICK, seconds=(2500, 6),
       needs=("cifar-10",), smaller=training.SMALLER,
       deviation=training.DEVIATION)
class Figure9(TwoOfThem, Curves):
    pass


@study(PAPER, "figure-10", shows="PCH-1 and PCH-2, cross-entropy, wide inputs", claims=CLAIMS,
       full=WIDE | training.seeds_to(13), quick=training.QUICK, seconds=(2000, 6),
       needs=("cifar-10",), smaller=SMALLER,
       deviation=DEVIATION)
class Figure10(TwoOfThem, WideCurves):
    pass


@study(PAPER, "figure-11", shows="PCH-1 and PCH-2, bounded criterion, Cifar-10", claims=CLAIMS,
       full=FULL | training.seeds_to(10), quick=training.QUICK, seconds=(2500, 6),
       needs=("cifar-10",), smaller=training.SMALLER,
       deviation=training.DEVIATION)
class Figure11(TwoOfThem, Curves):
    criterion = "bounded"


@study(PAPER, "figure-12", shows="PCH-1 and PCH-2, bounded criterion, wide inputs", claims=CLAIMS,
       full=WIDE | training.seeds_to(24), quick=training.QUICK, seconds=(2000, 6),
       needs=("cifar-10",), smaller=SMALLER,
       deviation=DEVIATION)
class Figure12(TwoOfThem, WideCurves):
    criterion = "bounded"
