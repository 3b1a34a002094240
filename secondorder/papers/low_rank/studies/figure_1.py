"""Figure 1: where there is no plateau, cubic step lengths change little."""

from secondorder.studies import counted, study

from .. import PAPER
from . import plateau


@study(PAPER, "figure-1",
       shows="Gradient descent at .01 and .02 and cubic steps with sigma 100 on MNIST, weights "
             "within +-.2",
       claims={"a-exact": "cubic steps give no benefit: they end not below gradient descent / 1.5",
               "a-printed": "the same with the curvature as (39) is printed",
               "b-exact": "they do no harm: they end not above 1.5 times gradient descent",
               "b-printed": "the same as printed",
               "c-exact": "the rate from iteration 100 on is about .05 (.025 to .1)",
               "c-printed": "the same as printed"},
       full=plateau.FULL, quick=plateau.QUICK, seconds=(400, 4), needs=("mnist",),
       deviation=plateau.DEVIATION + "; the caption says rate .01, the text .02: both are run, and "
       "the nearer one judges (a) and (b)")
class Figure1:
    def runs(self, settings, results):
        slow = plateau.compared(settings, "sgd", 100, 0.2, ("none",), rate=0.01)
        return plateau.compared(settings, "sgd", 100, 0.2) + slow

    def judge(self, results, settings):
        alone = {rate: results.by_seed(curvature="none", rate=rate) for rate in (0.01, 0.02)}
        verdicts = {}
        for form in ("exact", "printed"):
            cubic = results.by_seed(curvature=form)
            # the end over that of each of the two rates: to help, or to harm, it must beat both
            low, high = ([pick(plateau.end(one) / plateau.end(runs[seed])
                               for runs in alone.values()) for seed, one in cubic.items()]
                         for pick in (max, min))
            verdicts[f"a-{form}"] = counted([ratio >= 1 / 1.5 for ratio in low], low,
                                            "end over gradient descent's")
            verdicts[f"b-{form}"] = counted([ratio <= 1.5 for ratio in high], high,
                                            "end over gradient descent's")
            rates = [plateau.later_rate(one, 100) for one in cubic.values()]
            verdicts[f"c-{form}"] = counted([0.025 <= rate <= 0.1 for rate in rates], rates,
                                            "later rate")
        return verdicts

    def draw(self, results, figure, settings):
        settings = results.arguments()[0]
        plateau.draw_errors_and_rates(
            results, figure, f"No plateau: {plateau.title_of(settings)}, weights within ±.2; base "
            "at .02", rate=0.02)
