"""Figure 2: off a plateau, gradient descent with and without cubic step lengths."""

import numpy as np

from secondorder.studies import counted, study, undecided

from .. import PAPER
from . import plateau

CONSTANT = (0.02, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # rates of the control, without decay


@study(PAPER, "figure-2",
       shows="Gradient descent at 0.02 and cubic steps with sigma 100 on MNIST, weights within "
             "+-0.1",
       claims={"a-exact": "cubic steps leave the plateau, and have it behind them, before "
                          "gradient descent (exact curvature)",
               "a-printed": "the same with the curvature as (39) is printed",
               "b-exact": "the rate on the plateau is 30 to 300 times the later one",
               "b-printed": "the same as printed",
               "c-exact": "the rate falls tenfold within 200 iterations around leaving",
               "c-printed": "the same as printed",
               "d-exact": "the later rate is about 0.05 (0.025 to 0.1)",
               "d-printed": "the same as printed",
               "e": "control, ours: no constant rate from 0.02 to 30 leaves as early"},
       full=plateau.FULL, quick=plateau.QUICK, seconds=(900, 6), needs=("mnist",),
       ours=("e",),
       smaller=plateau.SMALLER,
       deviation=plateau.DEVIATION)
class Figure2:
    packed = staticmethod(plateau.packed)

    def runs(self, settings, results):
        rates = [plateau.run(settings, seed, base="sgd", rate=rate, curvature="none", sigma=0.0,
                             half_width=0.1, decay=1.0)
                 for seed in settings["seeds"] for rate in CONSTANT]
        return plateau.compared(settings, "sgd", 100, 0.1) + rates

    def judge(self, results, settings):
        alone = results.by_seed(curvature="none", rate=0.02, decay=None)
        verdicts = {}
        for form in ("exact", "printed"):
            cubic = results.by_seed(curvature=form)
            pairs = [(cubic[seed], alone[seed]) for seed in cubic]
            verdicts |= {f"a-{form}": counted([plateau.leave(one) < plateau.leave(base)
                                               and plateau.first_below(one, plateau.EXIT)
                                               < plateau.first_below(base, plateau.EXIT)
                                               for one, base in pairs],
                                              [plateau.leave(one) for one in cubic.values()],
                                              "iterations to leave")}
            told = {"b": (plateau.jump, 30, 300, "rate before over after"),
                    "c": (plateau.fall, 10, np.inf, "fall of the rate"),
                    "d": (plateau.later_rate, 0.025, 0.1, "later rate")}
            for letter, (number, low, high, measure) in told.items():
                values = [number(one) for one in cubic.values()]
                verdicts[f"{letter}-{form}"] = counted([low <= value <= high for value in values],
                                                       values, measure)
        verdicts["e"] = self._control(results)
        return verdicts

    def _control(self, results):
        cubic, best = results.by_seed(curvature="exact"), {}
        for one, arguments in zip(results.of(decay=1.0), results.arguments(decay=1.0)):
            best[arguments["seed"]] = min(plateau.leave(one), best.get(arguments["seed"], 2001))
        if not best:
            return undecided("no control runs")
        return counted([plateau.leave(cubic[seed]) < best[seed] for seed in cubic],
                       list(best.values()), "iterations to leave at the best constant "
                       "rate (2001: never)")

    def draw(self, results, figure, settings):
        plateau.draw_errors_and_rates(
            results, figure, f"Cubic steps leave a plateau: {plateau.title_of(settings)}, "
            "weights within ±0.1", half_width=0.1, decay=None)
