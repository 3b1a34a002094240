"""Figure 1: where there is no plateau, cubic step lengths change little."""

from secondorder.studies import counted, study

from .. import PAPER
from . import plateau

RATES = (0.01, 0.02)  # of gradient descent: the caption's, and the text's
FORMS = {"exact": "", "printed": ", with the curvature as (39) is printed"}
CLAIMS = {
    "a": "cubic steps give no benefit: they end not below gradient descent at {rate:g} / 1.5",
    "b": "they do no harm: they end not above 1.5 times gradient descent at {rate:g}"}


@study(PAPER, "figure-1",
       shows="Gradient descent at 0.01 and 0.02 and cubic steps with sigma 100 on MNIST, weights "
             "within +-0.2",
       claims={f"{letter}-{form}-{rate:g}": text.format(rate=rate) + more
               for letter, text in CLAIMS.items() for form, more in FORMS.items()
               for rate in RATES}
       | {f"c-{form}": f"the rate from iteration 100 on is about 0.05 (0.025 to 0.1){more}"
          for form, more in FORMS.items()},
       full=plateau.TEN, quick=plateau.QUICK, seconds=(400, 4), needs=("mnist",),
       smaller=plateau.SMALLER,
       deviation=plateau.DEVIATION + "; the caption says rate 0.01, the text 0.02: both are judged")
class Figure1:
    packed = staticmethod(plateau.packed)

    def runs(self, settings, results):
        slow = plateau.compared(settings, "sgd", 100, 0.2, ("none",), rate=0.01)
        return plateau.compared(settings, "sgd", 100, 0.2) + slow

    def judge(self, results, settings):
        verdicts = {}
        for form in FORMS:
            cubic = results.by_seed(curvature=form)
            for rate in RATES:
                alone = results.by_seed(curvature="none", rate=rate)
                ratios = [plateau.end(one) / plateau.end(alone[seed])
                          for seed, one in cubic.items()]
                verdicts[f"a-{form}-{rate:g}"] = counted(
                    [ratio >= 1 / 1.5 for ratio in ratios], ratios, "end over gradient descent's")
                verdicts[f"b-{form}-{rate:g}"] = counted(
                    [ratio <= 1.5 for ratio in ratios], ratios, "end over gradient descent's")
            rates = [plateau.later_rate(one, 100) for one in cubic.values()]
            verdicts[f"c-{form}"] = counted([0.025 <= rate <= 0.1 for rate in rates], rates,
                                            "later rate")
        return verdicts

    def draw(self, results, figure, settings):
        lines = [(f"gradient descent, rate {rate:g}", {"curvature": "none", "rate": rate},
                  colour, "-.") for rate, colour in zip(RATES, ("C2", "C0"))]
        lines += [(label, {"curvature": form}, colour, style)
                  for form, (label, colour, style) in plateau.LINES.items() if form != "none"]
        plateau.draw_lines(results, figure, lines,
                           f"No plateau: {plateau.title_of(settings)}, weights within ±0.2")
