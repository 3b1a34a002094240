"""Claim: EA-CG is competitive with SGD, also at rates of SGD beyond the paper's grid."""

import numpy as np

from secondorder.studies import first_decides, study

from .. import PAPER
from . import clock, training
from .curves import draw_curves
from .figures_1_to_12 import Figure1
from .training import FULL, SHARED
from .trainings import (BETTER_ACCURACY, EQUAL_SECONDS, LOWER_LOSS, Trainings, better_accuracy,
                        lower_loss)

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
    def both(self, settings, results):
        """The trainings at the printed rates, and those with more rates of SGD: the same where the
        quick setting chooses none.
        """
        more = {"rates": (*settings["rates"], *FREE)} if settings["trial"] else {}
        return [Trainings("cross-entropy", one, results) for one in (settings, settings | more)]

    def runs(self, settings, results):
        printed, free = self.both(settings, results)
        return (printed.stages(PAIR) + free.stages(PAIR[1:])
                + printed.timings(Figure1().counted()))

    def judge(self, results, settings):
        printed, free = self.both(settings, results)
        lower = *PAIR, lower_loss, LOWER_LOSS, -np.log(1.1)
        asked = {"loss-timed": (clock.at_equal_seconds, EQUAL_SECONDS, -np.log(1.1)),
                 "tests-timed": (clock.accuracy_at_equal_seconds,
                                 BETTER_ACCURACY + ", at equal seconds", -0.02)}
        return {"loss": first_decides({
                    f"at {words}": printed.shared(lambda at, other=other: printed.compared(
                        at, *lower, against=other))
                    for words, other in (("SGD's rates of the paper's grid", printed),
                                         ("its rates up to 4", free))}),
                "accuracy": printed.all([PAIR], better_accuracy, BETTER_ACCURACY, -0.02)} | {
            letter: printed.timed(lambda at, what=what: printed.compared(at, *PAIR, *what))
            for letter, what in asked.items()}

    def draw(self, results, figure, settings):
        figure.set_figheight(2 * figure.get_figheight())
        for part, over in zip(figure.subfigures(2, 1), ("epochs", "seconds")):
            draw_curves(PAIR, self.both(settings, results)[0], part, over)
