"""Figures 9 to 12: PCH-1 against PCH-2, in the trainings of Figures 1, 2, 5 and 6."""

from secondorder.studies import study

from .. import PAPER
from .curves import Asked, Curves, draw_curves
from .figures_1_to_8 import WIDE, WIDE_FULL
from .training import FULL, SHARED, seeds_to


def about(case, shared, full, seeds):
    """What is registered of a figure."""
    told = f"with {case}, PCH-1 and PCH-2 end alike under both solvers"
    return shared | {"shows": f"PCH-1 and PCH-2 with {case}", "full": full | seeds_to(seeds),
                     "seconds": (2500, 6), "claims": {
                         "loss": f"{told}: training losses within 10 %",
                         "accuracy": f"{told}: accuracies within 2 points"}}


class TwoOfThem(Curves):
    """What the four have in common."""

    curvatures = ("pch-1", "pch-2")

    def methods(self):
        return [one for one in super().methods() if one[0] != "sgd"]

    def judge(self, results, settings):
        asked = Asked(self, results, settings)
        pairs = [((solver, "pch-1"), (solver, "pch-2")) for solver in ("ea-cg", self.second)]
        return {"loss": asked.losses_alike(pairs), "accuracy": asked.accuracies_alike(pairs)}

    def draw(self, results, figure, settings):
        draw_curves(self.methods(), self.criterion, results, figure, "epochs", settings)


@study(PAPER, "figure-9", **about("cross-entropy", SHARED, FULL, 10))
class Figure9(TwoOfThem):
    pass


@study(PAPER, "figure-10", **about("cross-entropy and wide inputs", WIDE, WIDE_FULL, 13))
class Figure10(TwoOfThem):
    second = "kfi-rank-one"


@study(PAPER, "figure-11", **about("the bounded criterion (14)", SHARED, FULL, 10))
class Figure11(TwoOfThem):
    criterion = "bounded"


@study(PAPER, "figure-12", **about("(14) and wide inputs", WIDE, WIDE_FULL, 24))
class Figure12(TwoOfThem):
    criterion, second = "bounded", "kfi-rank-one"
