"""Figures 1 to 5, and where cubic steps do no harm: training with and without them."""

import numpy as np

from secondorder.studies import counted, headline, legend_below, smoothed, study

from .. import PAPER
from . import plateau

ENDS = "final loss over that without cubic steps"


@study(PAPER, "figure-1",
       shows="No plateau (weights within 0.2): gradient descent at rates 0.01 and 0.02, and cubic "
             "steps with sigma 100",
       claims={f"{letter}-{rate:g}": text.format(rate=rate) for letter, text in (
           ("a", "cubic steps bring no benefit: their final loss is not below 1/1.5 of gradient "
            "descent's at {rate:g}"),
           ("b", "cubic steps do no harm: their final loss is not above 1.5 times gradient "
            "descent's at {rate:g}")
       ) for rate in (0.01, 0.02)} | {"c": "the step's rate is about 0.05 (0.025 to 0.1) from "
                                      "iteration 100 on"},
       full=plateau.TEN, quick=plateau.QUICK, seconds=(400, 4), needs=("mnist",),
       smaller=plateau.SMALLER,
       deviation=plateau.DEVIATION + "; the caption says rate 0.01, the text 0.02: both are judged")
class Figure1:
    packed = staticmethod(plateau.packed)

    def runs(self, settings, results):
        slow = plateau.compared(settings, "sgd", 100, 0.2, ("none",), rate=0.01)
        return plateau.compared(settings, "sgd", 100, 0.2) + slow

    def judge(self, results, settings):
        def ends(form, rate, **limits):
            alone = results.by_seed(curvature="none", rate=rate)
            return plateau.within(plateau.ratios(results.by_seed(curvature=form), alone,
                                                 plateau.end), ENDS, **limits)

        told = {f"{letter}-{rate:g}": plateau.both_forms(lambda form: ends(form, rate, **limits))
                for letter, limits in (("a", {"low": 1 / 1.5}), ("b", {"high": 1.5}))
                for rate in (0.01, 0.02)}
        return told | {"c": plateau.both_forms(lambda form: plateau.within(
            [plateau.later_rate(one, 100) for one in results.of(curvature=form)], "later rate",
            0.025, 0.1))}

    def draw(self, results, figure, settings):
        lines = [(f"gradient descent, rate {rate:g}", {"curvature": "none", "rate": rate},
                  colour, "-.") for rate, colour in ((0.01, "C2"), (0.02, "C0"))]
        lines += [(label, {"curvature": form}, colour, style)
                  for form, (label, colour, style) in plateau.LINES.items() if form != "none"]
        plateau.draw_errors_and_rates(
            results, figure, f"No plateau: {plateau.title_of(settings)}, weights within ±0.2",
            lines)


FALL = "the rate falls tenfold within 200 iterations around leaving"


def falls(results):
    """The claim `FALL`, by both forms."""
    return plateau.both_forms(lambda form: plateau.within(
        [plateau.fall(one) for one in results.of(curvature=form)], "fall of the rate", 10))


@study(PAPER, "figure-2",
       shows="A plateau (weights within 0.1): gradient descent at 0.02 and cubic steps with sigma "
             "100",
       claims={"a": "cubic steps leave the plateau, and have it behind them, before gradient "
                    "descent",
               "b": "the rate on the plateau is about 100 times (30 to 300) the later one",
               "c": FALL, "d": "the later rate is about 0.05 (0.025 to 0.1)"},
       full=plateau.FULL, quick=plateau.QUICK, seconds=(400, 4), needs=("mnist",),
       smaller=plateau.SMALLER, deviation=plateau.DEVIATION)
class Figure2:
    packed = staticmethod(plateau.packed)

    def runs(self, settings, results):
        return plateau.compared(settings, "sgd", 100, 0.1)

    def judge(self, results, settings):
        def rate(number, measure, low, high):
            return plateau.both_forms(lambda form: plateau.within(
                [number(one) for one in results.of(curvature=form)], measure, low, high))

        return {"a": plateau.both_forms(lambda form: plateau.leaves_first(
                    results, form, (plateau.LEAVE, plateau.EXIT))),
                "b": rate(plateau.jump, "rate before over after", 30, 300),
                "c": falls(results),
                "d": rate(plateau.later_rate, "later rate", 0.025, 0.1)}

    def draw(self, results, figure, settings):
        plateau.draw_errors_and_rates(
            results, figure, f"Cubic steps leave a plateau: {plateau.title_of(settings)}, "
            "weights within ±0.1")


@study(PAPER, "figure-3",
       shows="The plateau on CIFAR-10: gradient descent at 0.01 and cubic steps with sigma 1000",
       claims={"a": "cubic steps leave the plateau before gradient descent",
               "b": "the rate on the plateau is at least 10 times the later one", "c": FALL},
       full=plateau.FULL | {"data": "cifar-10"}, quick=plateau.QUICK, seconds=(450, 3),
       needs=("cifar-10",), smaller="10,000 images of CIFAR-10, 2000 iterations",
       deviation="10,000 images of CIFAR-10, 2000 iterations; the half-width of the initial "
       "weights is not stated: 0.1, as on MNIST's plateau")
class Figure3:
    packed = staticmethod(plateau.packed)

    def runs(self, settings, results):
        return plateau.compared(settings, "sgd", 1000, 0.1, rate=0.01)

    def judge(self, results, settings):
        return {"a": plateau.both_forms(lambda form: plateau.leaves_first(results, form)),
                "b": plateau.both_forms(lambda form: plateau.within(
                    [plateau.jump(one) for one in results.of(curvature=form)],
                    "rate before over after", 10)),
                "c": falls(results)}

    def draw(self, results, figure, settings):
        plateau.draw_errors_and_rates(
            results, figure, f"The plateau of {plateau.title_of(settings)}, weights within ±0.1")


def claims(base):
    """(a) to (c) of Figures 4 and 5."""
    return {"a": f"cubic steps leave the plateau before {base} alone",
            "b": f"their rate is above {base}'s on the plateau, and more than 3 times the later "
                 "one",
            "c": f"with {base} the rate rises and falls less than with gradient descent (Figure 2)"}


class OtherBase:
    """Figures 4 and 5: a base with sigma 1000, beside the runs of Figure 2."""

    packed = staticmethod(plateau.packed)

    def runs(self, settings, results):
        return (plateau.compared(settings, self.base, 1000, 0.1)
                + plateau.compared(settings, "sgd", 100, 0.1, ("exact", "printed")))

    def judge(self, results, settings):
        return {"a": plateau.both_forms(
                    lambda form: plateau.leaves_first(results, form, base=self.base)),
                "b": plateau.both_forms(lambda form: self.larger(results, form)),
                "c": plateau.both_forms(lambda form: self.smaller_than_descent(results, form))}

    def rise(self, one, base=None):
        """The rate on the plateau over the base's own."""
        return plateau.start_rate(one) / plateau.RATES[base or self.base]

    def larger(self, results, form):
        cubic = results.of(base=self.base, curvature=form)
        return counted([self.rise(one) > 1 and plateau.jump(one) > 3 for one in cubic],
                       [plateau.jump(one) for one in cubic], "rate before over after")

    def smaller_than_descent(self, results, form):
        descent = results.by_seed(base="sgd", curvature=form)
        cubic = results.by_seed(base=self.base, curvature=form)
        return counted([self.rise(one) < self.rise(descent[seed], "sgd")
                        and plateau.jump(one) < plateau.jump(descent[seed])
                        for seed, one in cubic.items()],
                       [self.rise(one) for one in cubic.values()], "rate over the base's")

    def draw(self, results, figure, settings):
        plateau.draw_errors_and_rates(
            results, figure, f"{self.base.capitalize()} off the plateau: "
            f"{plateau.title_of(settings)}, weights within ±0.1", base=self.base)


@study(PAPER, "figure-4",
       shows="The plateau with Adagrad at 0.1, alone and with cubic steps, sigma 1000",
       claims=claims("Adagrad"), full=plateau.FULL, quick=plateau.QUICK, seconds=(400, 3),
       needs=("mnist",), smaller=plateau.SMALLER, deviation=plateau.DEVIATION)
class Figure4(OtherBase):
    base = "adagrad"


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


@study(PAPER, "figure-5",
       shows="The plateau with Adadelta at 1, alone and with cubic steps, sigma 1000",
       claims=claims("Adadelta") | {"d": "the rate drops at least fivefold up to leaving and then "
                                    "rises again twofold"},
       full=plateau.TEN, quick=plateau.QUICK, seconds=(800, 3), needs=("mnist",),
       smaller=plateau.SMALLER, deviation=plateau.DEVIATION)
class Figure5(OtherBase):
    base = "adadelta"

    @staticmethod
    def packed(result, arguments):
        """What verdicts and figure need, and three digits of the rates."""
        record = plateau.packed(result, arguments)
        return record | {"rate": plateau.three_digits(record["rate"])}

    def judge(self, results, settings):
        def rises_again(form):
            told = [second_rise(one) for one in results.of(base="adadelta", curvature=form)]
            return counted([met for met, _ in told], [rise for _, rise in told],
                           "rise of the rate after leaving")

        return super().judge(results, settings) | {"d": plateau.both_forms(rises_again)}


@study(PAPER, "claim-no-harm",
       shows="No plateau (weights within 0.2): Adagrad and Adadelta, alone and with cubic steps, "
             "sigma 1000",
       claims={base: f"with cubic steps {base.capitalize()} ends within a factor 1.5 of itself "
               "alone" for base in ("adagrad", "adadelta")},
       full=plateau.TEN, quick=plateau.QUICK, seconds=(700, 6), needs=("mnist",),
       smaller=plateau.SMALLER, deviation=plateau.DEVIATION)
class NoHarm:
    packed = staticmethod(plateau.losses)

    def runs(self, settings, results):
        return [run for base in ("adagrad", "adadelta")
                for run in plateau.compared(settings, base, 1000, 0.2)]

    def judge(self, results, settings):
        def ends(base, form):
            alone = results.by_seed(base=base, curvature="none")
            cubic = results.by_seed(base=base, curvature=form)
            return plateau.within(plateau.ratios(cubic, alone, plateau.end), ENDS, 1 / 1.5, 1.5)

        return {base: plateau.both_forms(lambda form: ends(base, form))
                for base in ("adagrad", "adadelta")}

    def draw(self, results, figure, settings):
        axes = figure.subplots(1, 2, sharey=True)
        for panel, base in zip(axes, ("adagrad", "adadelta")):
            for curvature, (label, colour, style) in plateau.LINES.items():
                plateau.draw_losses(panel, results.of(base=base, curvature=curvature), colour,
                                    style, label)
            panel.set(title=base.capitalize(), xlabel="iteration", yscale="log")
        axes[0].set_ylabel(plateau.LOSS)
        legend_below(figure, axes[0])
        headline(figure, f"Well-chosen bases: {plateau.title_of(settings)}, weights within ±0.2",
                 settings)
