"""Claims that rest on the figures: PCH improves Gauss-Newton; EA-CG converges faster than KFI."""

from textwrap import fill

from secondorder.studies import both, legend_below, study

from .. import PAPER
from . import clock, training
from .cifar_figures import FULL, Curves, Figure1, Figure5
from .networks import title_of
from .training import better_accuracy, by_selection, lower_loss
from .wide_figures import DEVIATION, BoundedWide, Figure2, WideCurves
from .wide_figures import FULL as WIDE


@study(PAPER, "claim-pch-over-gn",
       shows="PCH-1 against the Gauss-Newton matrix, both solvers, cross-entropy on Cifar-10",
       claims={"ea-cg": "with EA-CG, PCH-1 ends with the lower training loss",
               "kfi": "the same with KFI"},
       full=FULL | training.seeds_to(8), quick=training.QUICK, seconds=(2500, 8),
       needs=("cifar-10",), deviation=training.DEVIATION)
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


CASES = {"figure-1": (Figure1, FULL), "figure-2": (Figure2, WIDE), "figure-5": (Figure5, FULL),
         "figure-6": (BoundedWide, WIDE)}


@study(PAPER, "claim-converges",
       shows="EA-CG against KFI in the four cases, curvature PCH-1",
       claims={"faster": "EA-CG is faster in seconds in all four",
               "tests": "and tests better in all four"},
       full={**FULL, **training.seeds_to(6), "wide": "W4"}, quick={**training.QUICK, "wide": "Q"},
       seconds=(9000, 15), needs=("cifar-10",), deviation=DEVIATION)
class Converges:
    def cases(self, settings):
        """(curves, settings of the case) of the four."""
        for curves, own in CASES.values():
            wide = issubclass(curves, WideCurves)
            yield curves(), {**settings, "case": settings["wide"] if wide else settings["case"],
                             "batches": own["batches"] if settings["trial"] else
                             settings["batches"]}

    def runs(self, settings, results):
        runs = {}
        for curves, own in self.cases(settings):
            asked = training.stages(self.methods(curves), curves.criterion, own, results)
            for run in asked + clock.timings(curves.counted(), curves.criterion, own):
                runs[run.name] = run
        return list(runs.values())

    def methods(self, curves):
        return [one for one in curves.methods() if one[1] == "pch-1"]

    def judge(self, results, settings):
        faster, tests = [], []
        for curves, own in self.cases(settings):
            ours, other = self.methods(curves)
            faster.append(curves.before([(ours, other)], own, results))
            tests.append(by_selection(
                lambda chosen, ours=ours, other=other: chosen.compared(
                    ours, other, better_accuracy, "accuracy less KFI's"),
                curves.criterion, own, results))
        return {"faster": both(*faster), "tests": both(*tests)}

    def draw(self, results, figure, settings):
        cases = list(self.cases(settings))
        panels = figure.subplots(1, len(cases))
        for axes, (curves, own) in zip(panels, cases):
            chosen = clock.Timed("L", curves.criterion, own, results, 0)
            for method, curvature in self.methods(curves):
                for run in chosen.runs(method, curvature).values():
                    axes.plot(run["seconds"], run["loss"], training.STYLES[method],
                              color="C3" if method == "ea-cg" else "C0", linewidth=1)
            name = fill(title_of(own["case"]), 30, break_on_hyphens=False)
            axes.set(xlabel="CPU seconds", yscale="log",
                     title=f"{name}\n{training.NAMES[curves.criterion]}")
            axes.title.set_fontsize(7)
        panels[0].set_ylabel("training loss")
        panels[0].plot([], [], "C3-", label="EA-CG")
        panels[0].plot([], [], "C0--", label="KFI")
        legend_below(figure, panels[0])
        figure.suptitle("EA-CG and KFI, PCH-1, chosen by the least loss of the trials, as judged; "
                        "a line a seed", fontsize=10)
