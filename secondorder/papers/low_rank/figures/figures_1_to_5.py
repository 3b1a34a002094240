"""Figures 1 to 5, and where cubic steps do no harm: training with and without them."""

import numpy as np

from secondorder.studies import counted, headline, smoothed
from secondorder.studies.numbers import number

from . import plateau

ENDS = "final loss over that of the base alone"
JUMP = "rate before over after"


class Trained:
    """A figure of losses and rates; its title has a place for data and network."""

    lines, wanted = plateau.LINES, {}

    def draw(self, results, figure, settings):
        plateau.draw_errors_and_rates(results, figure, self.title.format(
            plateau.title_of(settings)), self.lines, **self.wanted)


@plateau.on_plateau(
    "figure-1", "; the caption says rate 0.01, the text 0.02: both are judged",
    shows="No plateau (weights within 0.2): gradient descent at rates 0.01 and 0.02, and cubic "
          "steps with sigma 100",
    claims={f"{letter}-{rate:g}": text.format(rate=rate) for letter, text in (
        ("a", "cubic steps bring no benefit: their final loss is at least 2/3 of gradient "
         "descent's at rate {rate:g}"),
        ("b", "cubic steps do no harm: their final loss is at most 1.5 times gradient descent's "
         "at rate {rate:g}")
    ) for rate in (0.01, 0.02)} | {"c": "the rate of cubic steps is about 0.05 (0.025 to 0.1) "
                                   "from iteration 100 on"},
    full=plateau.TEN, seconds=(400, 4))
class Figure1(Trained):
    title = "No plateau: {}, weights within ±0.2"
    lines = [(f"gradient descent, rate {rate:g}", {"curvature": "none", "rate": rate}, colour, "-.")
             for rate, colour in ((0.01, "C2"), (0.02, "C0"))] + plateau.LINES[1:]

    def runs(self, settings, results):
        slow = plateau.compared(settings, "sgd", 100, 0.2, ("none",), rate=0.01)
        return plateau.compared(settings, "sgd", 100, 0.2) + slow

    def judge(self, results, settings):
        alone = {rate: results.by_seed(curvature="none", rate=rate) for rate in (0.01, 0.02)}
        told = {f"{letter}-{rate:g}": plateau.cubic_within(
            results, plateau.end, ENDS, low, high, alone[rate])
            for letter, low, high in (("a", 1 / 1.5, np.inf), ("b", 0, 1.5)) for rate in alone}
        return told | {"c": plateau.cubic_within(
            results, lambda one: plateau.later_rate(one, 100), "later rate", 0.025, 0.1)}


FALL = "the rate of cubic steps falls tenfold within 200 iterations around leaving the plateau"


def falls(results):
    """The claim `FALL`, by both forms."""
    return plateau.cubic_within(results, plateau.fall, "fall of the rate", 10)


@plateau.on_plateau(
    "figure-2",
    shows="A plateau (weights within 0.1): gradient descent at 0.02 and cubic steps with sigma 100",
    claims={"a": "cubic steps leave the plateau, and have it behind them, before gradient descent",
            "b": "the rate of cubic steps on the plateau is about 100 times (30 to 300) the later "
                 "one",
            "c": FALL, "d": "the later rate of cubic steps is about 0.05 (0.025 to 0.1)"},
    seconds=(400, 4))
class Figure2(Trained):
    title = "Cubic steps leave a plateau: {}, weights within ±0.1"

    def runs(self, settings, results):
        return plateau.compared(settings, "sgd", 100, 0.1)

    def judge(self, results, settings):
        return {"a": plateau.leaves_first(results, (plateau.LEAVE, plateau.EXIT)),
                "b": plateau.cubic_within(results, plateau.jump, JUMP, 30, 300),
                "c": falls(results),
                "d": plateau.cubic_within(results, plateau.later_rate, "later rate", 0.025, 0.1)}


@plateau.on_plateau(
    "figure-3",
    shows="The plateau on CIFAR-10: gradient descent at 0.01 and cubic steps with sigma 1000",
    claims={"a": "cubic steps leave the plateau before gradient descent",
            "b": "the rate of cubic steps on the plateau is at least 10 times the later one",
            "c": FALL},
    full=plateau.FULL | {"data": "cifar-10"}, seconds=(450, 3), needs=("cifar-10",),
    smaller="10,000 images of CIFAR-10, 2000 iterations",
    deviation="10,000 images of CIFAR-10, 2000 iterations; the half-width of the initial weights "
    "is not stated: 0.1, as on MNIST's plateau")
class Figure3(Trained):
    title = "The plateau of {}, weights within ±0.1"

    def runs(self, settings, results):
        return plateau.compared(settings, "sgd", 1000, 0.1, rate=0.01)

    def judge(self, results, settings):
        return {"a": plateau.leaves_first(results),
                "b": plateau.cubic_within(results, plateau.jump, JUMP, 10), "c": falls(results)}


def claims(base):
    """(a) to (c) of Figures 4 and 5."""
    return {"a": f"cubic steps leave the plateau before {base} alone",
            "b": f"the rate of cubic steps on {base} is above {base}'s own on the plateau, and "
                 "more than 3 times the later one",
            "c": f"with {base} the rate of cubic steps rises and falls less than with gradient "
                 "descent (Figure 2)"}


class OtherBase(Trained):
    """Figures 4 and 5: a base with sigma 1000, beside the runs of Figure 2."""

    def __init__(self):
        self.title = self.base.capitalize() + " off the plateau: {}, weights within ±0.1"
        self.wanted = {"base": self.base}

    def runs(self, settings, results):
        return (plateau.compared(settings, self.base, 1000, 0.1)
                + plateau.compared(settings, "sgd", 100, 0.1, ("exact", "printed")))

    def judge(self, results, settings):
        def rises(form, base):
            """Seed -> the rate on the plateau over the base's own, and over the later one."""
            runs = results.by_seed(base=base, curvature=form)
            return {seed: (plateau.start_rate(one) / plateau.RATES[base], plateau.jump(one))
                    for seed, one in runs.items()}

        def larger(form):
            told = rises(form, self.base).values()
            return counted([rise > 1 and jump > 3 for rise, jump in told],
                           [jump for _, jump in told], JUMP)

        def smaller_than_descent(form):
            told, descent = rises(form, self.base), rises(form, "sgd")
            return counted([rise < descent[seed][0] and jump < descent[seed][1]
                            for seed, (rise, jump) in told.items()],
                           [rise for rise, _ in told.values()], "rate over the base's own")

        usual = [rise for form in plateau.FORMS.values() for rise, _ in rises(form, "sgd").values()]
        return {"a": plateau.leaves_first(results, base=self.base),
                "b": plateau.both_forms(larger), "c": plateau.both_forms(smaller_than_descent)
                .with_note(f"with gradient descent {number(np.median(usual))}")}


@plateau.on_plateau(
    "figure-4", shows="The plateau with Adagrad at 0.1, alone and with cubic steps, sigma 1000",
    claims=claims("Adagrad"), seconds=(400, 3))
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


def kept(result, arguments):
    """What verdicts and figure need, and three digits of the rates."""
    record = plateau.packed(result, arguments)
    return record | {"rate": [plateau.rounded(rate, 3) for rate in record["rate"]]}


@plateau.on_plateau(
    "figure-5", keep=kept,
    shows="The plateau with Adadelta at 1, alone and with cubic steps, sigma 1000",
    claims=claims("Adadelta") | {"d": "the rate of cubic steps on Adadelta drops at least "
                                 "fivefold up to leaving the plateau and then rises again twofold"},
    full=plateau.TEN, seconds=(800, 3))
class Figure5(OtherBase):
    base = "adadelta"

    def judge(self, results, settings):
        def rises_again(form):
            told = [second_rise(one) for one in results.of(base="adadelta", curvature=form)]
            return counted([met for met, _ in told], [rise for _, rise in told],
                           "rise of the rate after leaving")

        return super().judge(results, settings) | {"d": plateau.both_forms(rises_again)}


@plateau.on_plateau(
    "claim-no-harm", keep=plateau.losses,
    shows="No plateau (weights within 0.2): Adagrad and Adadelta, alone and with cubic steps, "
          "sigma 1000",
    claims={base: f"cubic steps on {base.capitalize()} neither help nor harm: the final loss is "
                  "within a factor 1.5 of that of the base alone"
            for base in ("adagrad", "adadelta")},
    full=plateau.TEN, seconds=(700, 6))
class NoHarm:
    def runs(self, settings, results):
        return [run for base in ("adagrad", "adadelta")
                for run in plateau.compared(settings, base, 1000, 0.2)]

    def judge(self, results, settings):
        return {base: plateau.cubic_within(
            results, plateau.end, ENDS, 1 / 1.5, 1.5,
            results.by_seed(base=base, curvature="none"), base=base)
            for base in ("adagrad", "adadelta")}

    def draw(self, results, figure, settings):
        panels = figure.subplots(1, 2, sharey=True)
        plateau.draw_losses(figure, panels, results, plateau.LINES,
                            {base.capitalize(): {"base": base} for base in ("adagrad", "adadelta")})
        panels[0].set_yscale("log")
        headline(figure, f"Well-chosen bases: {plateau.title_of(settings)}, weights within ±0.2",
                 settings)
