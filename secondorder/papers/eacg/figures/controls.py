"""Claims about SGD: competitive with it, and how much of EA-CG is SGD at the rate eta / alpha."""

from textwrap import fill

import numpy as np

from secondorder.studies import (alike, both, counted, diverged, exactly, first_decides,
                                 legend_below, study, undecided)

from .. import PAPER
from . import clock, training
from .cifar_figures import Figure1
from .training import better_accuracy, final, lower_loss

FREE = (0.5, 1.0, 2.0, 4.0)  # rates of SGD beyond the paper's grid


@study(PAPER, "claim-sgd",
       shows="EA-CG with PCH-1 against SGD with momentum, also at rates beyond the paper's grid",
       claims={
           "loss": "the final training loss is at most 1.1 times SGD's, at SGD's printed rates",
           "loss-timed": "the training loss at equal seconds is at most 1.1 times SGD's",
           "accuracy": "the accuracy is at most 2 points below SGD's, at the printed rates",
           "tests-timed": "the same at equal seconds"},
       full={**training.FULL, **training.seeds_to(40), "case": "R5",
             "longer": {"cross-entropy": {"sgd": 120}}}, quick=training.QUICK,
       seconds=(1800, 6), needs=("cifar-10",),
       smaller=training.SMALLER,
       deviation=training.DEVIATION + ", for SGD's seconds 120; SGD's loss still falls when the "
       "training ends")
class Sgd:
    methods = (("ea-cg", "pch-1"), ("sgd", "none"))

    def free(self, settings):
        return {**settings, "rates": (*settings["rates"], *FREE)}

    def runs(self, settings, results):
        own = training.stages(self.methods, "cross-entropy", settings, results)
        own += clock.timings(Figure1().counted(), "cross-entropy", settings)
        if not settings["trial"]:
            return own
        return own + training.stages([("sgd", "none")], "cross-entropy", self.free(settings),
                                     results)

    def judge(self, results, settings):
        def against(settings_of_sgd, number, measure, margin):
            def judge(chosen):
                sgd = training.Chosen(chosen.selection, "cross-entropy", settings_of_sgd, results)
                return chosen.compared(("ea-cg", "pch-1"), ("sgd", "none"), number, measure,
                                       -margin, sgd)

            return training.by_selection(judge, "cross-entropy", settings, results)

        free = self.free(settings) if settings["trial"] else settings
        loss = "log of SGD's final loss over ours; it may be 1 / 1.1"
        accuracy = "accuracy less SGD's; it may be -0.02"

        def at_equal_seconds(number, measure, margin):
            return clock.timed(lambda chosen: chosen.compared(
                *self.methods, number, measure, -margin), "cross-entropy", settings, results)

        return {"loss": first_decides({
                    told: against(grid, lower_loss, loss, np.log(1.1)) for told, grid in (
                        ("at SGD's printed rates", settings), ("at its rates up to 4", free))}),
                "loss-timed": at_equal_seconds(
                    clock.at_equal_seconds, loss.replace("final loss", "loss at equal seconds"),
                    np.log(1.1)),
                "accuracy": against(settings, better_accuracy, accuracy, 0.02),
                "tests-timed": at_equal_seconds(clock.accuracy_at_equal_seconds, accuracy, 0.02)}

    def draw(self, results, figure, settings):
        methods = list(self.methods)
        if settings["trial"]:  # a line of its own, where the free rates choose another point
            free = self.free(settings)
            points = [training.chosen("sgd", "none", "cross-entropy", grid, results).get("L")
                      for grid in (settings, free)]
            if points[0] != points[1]:
                methods.append(("sgd", "none", free, f", rate {points[1][0]:g}"))
        figure.set_figheight(2 * figure.get_figheight())
        above, below = figure.subfigures(2, 1)
        training.draw_curves(methods, "cross-entropy", results, above, "epochs", settings)
        training.draw_curves(self.methods, "cross-entropy", results, below, "seconds", settings,
                             clock.Timed)


@study(PAPER, "claim-eta-alpha",
       shows="EA-CG with PCH-1 against SGD at the rate eta / alpha, pair by pair",
       claims={"alike": "at alpha 0.05 and above both end alike: training losses within 10 %",
               "corner": "at (0.2, 0.01) SGD diverges or stays on the plateau, EA-CG does not"},
       full={**training.FULL, "case": "R5", "epochs": 15, "alphas": (0.01, 0.02, 0.05, 0.1),
             "batches": (100,)},
       quick={**training.QUICK, "alphas": (0.01, 0.1)}, seconds=(900, 4), needs=("cifar-10",),
       ours=("alike", "corner"),
       smaller=training.SMALLER,
       deviation="SGD without momentum's share: momentum 0.9 at (1 - 0.9) eta / alpha")
class EtaAlpha:
    def pairs(self, settings):
        return [(rate, alpha, batch) for rate in settings["rates"] for alpha in settings["alphas"]
                for batch in settings["batches"]]

    def sgd_point(self, point):
        rate, alpha, batch = point
        return float(f"{(1 - training.MOMENTUM) * rate / alpha:.6g}"), 0.0, batch

    def runs(self, settings, results):
        return [training.one(seed, *method, "cross-entropy", settings)
                for seed in settings["seeds"] for point in self.pairs(settings)
                for method in (("ea-cg", "pch-1", point), ("sgd", "none", self.sgd_point(point)))]

    def by_method(self, point, results):
        """(EA-CG's runs, SGD's) by seed."""
        return [results.by_seed(method=method, rate=rate, alpha=alpha, batch=batch)
                for method, (rate, alpha, batch) in (("ea-cg", point),
                                                     ("sgd", self.sgd_point(point)))]

    def judge(self, results, settings):
        near = []
        for point in self.pairs(settings):
            if point[1] >= 0.05:
                ours, sgd = self.by_method(point, results)
                near.append(alike([lower_loss(ours[seed], sgd[seed]) for seed in ours], 0.1,
                                  "log of the final loss, SGD over EA-CG"))
        ours, sgd = self.by_method((0.2, 0.01, settings["batches"][0]), results)
        corner = [training.started(ours[seed], "cross-entropy") and not diverged(ours[seed])
                  and (diverged(sgd[seed]) or not training.started(sgd[seed], "cross-entropy"))
                  for seed in ours]
        return {"alike": both(*near) if near else undecided("no such alpha"),
                "corner": counted(corner, [final(ours[seed]) for seed in ours],
                                  "EA-CG's final loss", least=3)}

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        for k, alpha in enumerate(settings["alphas"]):
            left, right = [], []
            for one, told in zip(results.of(method="ea-cg", alpha=alpha),
                                 results.arguments(method="ea-cg", alpha=alpha)):
                other = results.by_seed(method="sgd", rate=self.sgd_point(
                    (told["rate"], alpha, told["batch"]))[0])[told["seed"]]
                left.append(final(one))
                right.append(final(other))
            axes.plot(right, left, "osD^v"[k], color=f"C{k}", label=f"alpha {alpha:g}")
        axes.axline((1, 1), slope=1, color="0.6", linewidth=0.8)
        axes.set(xscale="log", yscale="log", xlabel="final training loss of SGD at eta / alpha",
                 ylabel="of EA-CG at (eta, alpha)",
                 title="EA-CG beside SGD at the rate eta / alpha, a mark a seed and pair:\n"
                 + training.title_of(settings["case"]))
        axes.title.set_fontsize(9)
        legend_below(figure, axes)


@study(PAPER, "claim-13-unstable",
       shows="KFI with (12) in every layer, and with (13) in the first, over the grid",
       claims={"a": "at one point of the grid at least, of one of three networks, (13) diverges "
                    "and (12) does not"},
       full={**training.FULL, "cases": ("R5", "Q", "W4"),
             "epochs": {"R5": 10, "Q": 40, "W4": 3}},
       quick={**training.QUICK, "cases": ("Q",), "epochs": {"Q": 3}}, seconds=(1800, 4),
       needs=("cifar-10",),
       smaller=training.SMALLER,
       deviation="10 epochs, of digits 40, with wide inputs 3: there Figures 2, 4, 6 and 8 train "
       "with (13) for 40. 10,000 images and smaller networks, named in the titles")
class Unstable:
    def runs(self, settings, results):
        return [training.one(seed, method, "pch-1", point, "cross-entropy",
                             {**settings, "case": case}, epochs=settings["epochs"][case])
                for case in settings["cases"] for seed in settings["seeds"]
                for method in ("kfi", "kfi-rank-one")
                for point in training.points(method, settings)]

    def judge(self, results, settings):
        points = [(case, point) for case in settings["cases"]
                  for point in training.points("kfi", settings)]
        only = sum(self.lost("kfi-rank-one", case, point, results)
                   and not self.lost("kfi", case, point, results) for case, point in points)
        return {"a": exactly(only > 0, only, "points of the grid", f"of {len(points)} points",
                             len(settings["seeds"]))}

    def lost(self, method, case, point, results):
        """Whether a seed diverged: ended, or with a loss above that of uniform outputs."""
        rate, alpha, batch = point
        runs = results.of(method=method, case=case, rate=rate, alpha=alpha, batch=batch)
        return any(diverged(one) or not final(one) < np.log(10) + 0.5 for one in runs)

    def draw(self, results, figure, settings):
        panels = np.atleast_1d(figure.subplots(1, len(settings["cases"])))
        points = training.points("kfi", settings)
        for axes, case in zip(panels, settings["cases"]):
            for k, method in enumerate(("kfi", "kfi-rank-one")):
                for place, (rate, alpha, batch) in enumerate(points):
                    ends = [final(one) for one in results.of(method=method, case=case, rate=rate,
                                                             alpha=alpha, batch=batch)]
                    axes.plot([place + 0.2 * k] * len(ends), ends, "os"[k], color=f"C{k}",
                              label=("(12) in every layer", "(13) in the first")[k] if not place
                              else None)
            axes.axhline(np.log(10), color="0.6", linewidth=0.8)
            axes.set_xticks(range(len(points)), [f"{rate:g}, {alpha:g}, {batch}"
                                                 for rate, alpha, batch in points], fontsize=7,
                            rotation=90)
            axes.set(xlabel="rate, alpha, batch", title=fill(training.title_of(case), 30))
            axes.title.set_fontsize(8)
        panels[0].set_ylabel("final training loss (line: log 10)")
        figure.suptitle("KFI by (12) and with (13), a mark a seed", fontsize=10)
        legend_below(figure, panels[0])
