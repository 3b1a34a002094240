"""Figure 5: Adadelta off the plateau, and its rate's second rise."""

import numpy as np

from secondorder.studies import counted, smoothed, study

from .. import PAPER
from . import plateau
from .figure_4 import claims, judged, runs_of


def second_rise(result):
    """Whether the trailing mean of the rate falls fivefold up to leaving and comes back to twice
    its smallest value within 1000 iterations after; and by how much it does.
    """
    mean, left = smoothed(result["rate"], plateau.MEAN), plateau.leave(result)
    before, after = mean[100:left], mean[left:left + 1000]
    if len(before) == 0 or len(after) == 0:
        return False, float("nan")
    falls = before.max() / before[-1] >= 5
    rise = float((after / np.minimum.accumulate(after)).max())
    return bool(falls and rise >= 2), rise


@study(PAPER, "figure-5", shows="Adadelta at 1 and cubic steps with sigma 1000 on MNIST, weights "
       "within +-0.1", claims=claims(("d", "the rate drops at least fivefold up to leaving and "
                                     "then rises again twofold")),
       full=plateau.TEN, quick=plateau.QUICK, seconds=(800, 3), needs=("mnist",),
       smaller=plateau.SMALLER,
       deviation=plateau.DEVIATION)
class Figure5:
    @staticmethod
    def packed(result, arguments):
        """What verdicts and figure need, and three digits of the rates."""
        record = plateau.packed(result, arguments)
        return record | {"rate": plateau.three_digits(record["rate"])}

    def runs(self, settings, results):
        return runs_of(settings, "adadelta")

    def judge(self, results, settings):
        verdicts = judged(results, "adadelta")
        for form in ("exact", "printed"):
            told = [second_rise(one) for one in results.of(base="adadelta", curvature=form)]
            verdicts[f"d-{form}"] = counted([met for met, _ in told], [rise for _, rise in told],
                                            "rise of the rate after leaving")
        return verdicts

    def draw(self, results, figure, settings):
        plateau.draw_errors_and_rates(
            results, figure, f"Adadelta off the plateau: {plateau.title_of(settings)}, weights "
            "within ±0.1", base="adadelta")
