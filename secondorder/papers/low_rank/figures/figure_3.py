"""Figure 3: the plateau on CIFAR-10."""

import numpy as np

from secondorder.studies import counted, study

from .. import PAPER
from . import plateau

FULL = plateau.FULL | {"data": "cifar-10"}


@study(PAPER, "figure-3",
       shows="Gradient descent at 0.01 and cubic steps with sigma 1000 on CIFAR-10, weights within "
             "+-0.1",
       claims={f"{letter}-{form}": text + (" (as printed)" if form == "printed" else "")
               for form in ("exact", "printed")
               for letter, text in (("a", "cubic steps leave the plateau before gradient descent"),
                                    ("b", "the rate on the plateau is at least 10 times the later "
                                     "one"),
                                    ("c", "the rate falls tenfold within 200 iterations around "
                                     "leaving"))},
       full=FULL, quick=plateau.QUICK, seconds=(450, 3), needs=("cifar-10",),
       smaller="10,000 images of CIFAR-10, 2000 iterations",
       deviation="10,000 images of CIFAR-10, 2000 iterations; the half-width of the initial "
       "weights is not stated: 0.1, as on MNIST's plateau")
class Figure3:
    packed = staticmethod(plateau.packed)

    def runs(self, settings, results):
        return plateau.compared(settings, "sgd", 1000, 0.1, rate=0.01)

    def judge(self, results, settings):
        return without_band(results)

    def draw(self, results, figure, settings):
        plateau.draw_errors_and_rates(
            results, figure, f"The plateau of {plateau.title_of(settings)}, weights within ±0.1")


def without_band(results):
    """Verdicts (a) to (c) for both forms of the curvature."""
    alone, verdicts = results.by_seed(curvature="none"), {}
    for form in ("exact", "printed"):
        cubic = results.by_seed(curvature=form)
        verdicts[f"a-{form}"] = counted([plateau.leave(one) < plateau.leave(alone[seed])
                                         for seed, one in cubic.items()],
                                        [plateau.leave(one) for one in cubic.values()],
                                        "iterations to leave")
        for letter, number in (("b", plateau.jump), ("c", plateau.fall)):
            values = [number(one) for one in cubic.values()]
            verdicts[f"{letter}-{form}"] = counted(
                [np.isfinite(value) and value >= 10 for value in values], values,
                "rate before over after" if letter == "b" else "fall of the rate")
    return verdicts
