"""Claims that rest on the figures: PCH improves Gauss-Newton; EA-CG converges faster than KFI."""

from textwrap import fill

from secondorder.studies import both, legend_below, study

from .. import PAPER
from . import clock, training
from .cifar_figures import FULL, LONGER, Curves, Figure1, Figure5
from .networks import title_of
from .training import better_accuracy, by_selection, lower_loss


@study(PAPER, "claim-pch-over-gn",
       shows="PCH-1 against the Gauss-Newton matrix, both solvers, cross-entropy on Cifar-10",
       claims={"ea-cg": "with EA-CG, PCH-1 ends with the lower training loss",
               "kfi": "the same with KFI"},
       full=FULL | training.seeds_to(8), quick=training.QUICK, seconds=(2500, 8),
       needs=("cifar-10",), smaller=training.SMALLER,
       deviation=training.DEVIATION)
class PchOverGaussNewton(Curves):
    def methods(self):
        return [(solver, curvature) for curvature in ("gauss-newton", "pch-1")
                for solver in ("ea-cg", "kfi")]

    def judge(self, results, settings):
        return {solver: by_selection(
            lambda chosen, solver=solver: chosen.compared(
                (solver, "pch-1"), (solver, "gauss-newton"), lower_loss,
                "log of Gauss-Newton's final loss over PCH-1's"), self.criterion, settings, results)
            for solver in ("ea-cg", "kfi")}


CASES = Figure1, Figure5


@study(PAPER, "claim-converges",
       shows="EA-CG against KFI on Cifar-10 by both criteria, curvature PCH-1",
       claims={"faster": "EA-CG is faster in seconds by both criteria",
               "tests": "and tests better by both"},
       full=FULL | training.seeds_to(10) | LONGER, quick=training.QUICK, seconds=(9000, 15),
       needs=("cifar-10",), smaller=training.SMALLER,
       deviation=training.DEVIATION + ". With wide inputs the paper itself "
       "tells of equal times: Figures 2 and 6 judge them")
class Converges:
    def runs(self, settings, results):
        runs = []
        for curves in CASES:
            runs += training.stages(self.methods(curves), curves.criterion, settings, results)
            runs += clock.timings(curves().counted(), curves.criterion, settings)
        return runs

    def methods(self, curves):
        return [one for one in curves().methods() if one[1] == "pch-1"]

    def judge(self, results, settings):
        faster, tests = [], []
        for curves in CASES:
            pair = self.methods(curves)
            faster.append(curves().before([pair], settings, results))
            tests.append(by_selection(
                lambda chosen, pair=pair: chosen.compared(
                    *pair, better_accuracy, f"accuracy less KFI's, {chosen.criterion}"),
                curves.criterion, settings, results))
        return {"faster": both(*faster), "tests": both(*tests)}

    def draw(self, results, figure, settings):
        panels = figure.subplots(1, len(CASES))
        for axes, curves in zip(panels, CASES):
            chosen = clock.Timed("L", curves.criterion, settings, results)
            for method, curvature in self.methods(curves):
                for run in chosen.runs(method, curvature).values():
                    axes.plot(run["seconds"], run["loss"], training.STYLES[method],
                              color="C3" if method == "ea-cg" else "C0", linewidth=1)
            name = fill(title_of(settings["case"]), 60, break_on_hyphens=False)
            axes.set(xlabel="CPU seconds", yscale="log",
                     title=f"{name}\n{training.NAMES[curves.criterion]}")
            axes.title.set_fontsize(8)
        panels[0].set_ylabel("training loss")
        panels[0].plot([], [], "C3-", label="EA-CG")
        panels[0].plot([], [], "C0--", label="KFI")
        legend_below(figure, panels[0])
        figure.suptitle("EA-CG and KFI, PCH-1, chosen by the least loss of the trials, as judged; "
                        "a line a seed", fontsize=10)
