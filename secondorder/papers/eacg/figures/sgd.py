"""Claim: EA-CG is competitive with SGD, also at rates of SGD beyond the paper's grid."""

import numpy as np

from secondorder.studies import first_decides, study

from .. import PAPER
from . import clock, training
from .curves import draw_curves
from .figures_1_to_8 import Figure1
from .training import BETTER_ACCURACY, FULL, LOWER_LOSS, SHARED, better_accuracy, lower_loss

FREE = (0.5, 1.0, 2.0, 4.0)  # rates of SGD beyond the paper's grid
PAIR = ("ea-cg", "pch-1"), ("sgd", "none")


@study(PAPER, "claim-sgd",
       shows="EA-CG with PCH-1 against SGD with momentum",
       claims={
           "loss": "EA-CG's final training loss is at most 1.1 times SGD's",
           "loss-timed": "EA-CG's training loss at equal seconds is at most 1.1 times SGD's",
           "accuracy": "EA-CG's final accuracy is at most 2 points below SGD's",
           "tests-timed": "EA-CG's accuracy at equal seconds is at most 2 points below SGD's"},
       **SHARED | {"full": FULL | training.seeds_to(40) | {"longer": {"cross-entropy":
                                                                      {"sgd": 120}}},
                   "seconds": (1800, 6),
                   "deviation": training.DEVIATION + ", for SGD's seconds 120; SGD's loss still "
                                "falls when the training ends" + clock.TIMED_WITH})
class Sgd:
    def free(self, settings):
        """The settings with more rates; the same where the quick setting chooses none."""
        return settings | {"rates": (*settings["rates"], *FREE)} if settings["trial"] else settings

    def runs(self, settings, results):
        return (training.stages(PAIR, "cross-entropy", settings, results)
                + training.stages(PAIR[1:], "cross-entropy", self.free(settings), results)
                + clock.timings(Figure1().counted(), "cross-entropy", settings))

    def judge(self, results, settings):
        def loss_against(grid):
            return training.by_selection(lambda chosen: chosen.compared(
                *PAIR, lower_loss, LOWER_LOSS, -np.log(1.1), other_chosen=training.Chosen(
                    chosen.selection, "cross-entropy", grid, results)),
                "cross-entropy", settings, results)

        def at_equal_seconds(number, measure, margin):
            return clock.timed(lambda chosen: chosen.compared(*PAIR, number, measure, -margin),
                               "cross-entropy", settings, results)

        return {"loss": first_decides({
                    "at SGD's printed rates": loss_against(settings),
                    "at its rates up to 4": loss_against(self.free(settings))}),
                "loss-timed": at_equal_seconds(clock.at_equal_seconds, clock.EQUAL_SECONDS,
                                               np.log(1.1)),
                "accuracy": training.by_selection(lambda chosen: chosen.compared(
                    *PAIR, better_accuracy, BETTER_ACCURACY, -0.02),
                    "cross-entropy", settings, results),
                "tests-timed": at_equal_seconds(clock.accuracy_at_equal_seconds,
                                                BETTER_ACCURACY + ", at equal seconds", 0.02)}

    def draw(self, results, figure, settings):
        figure.set_figheight(2 * figure.get_figheight())
        for part, over, kind in zip(figure.subfigures(2, 1), ("epochs", "seconds"),
                                    (training.Chosen, clock.Timed)):
            draw_curves(PAIR, "cross-entropy", results, part, over, settings, kind)
