"""Claim: the weight of the cubic term needs to be right in its order of magnitude only."""

import numpy as np

from secondorder.studies import counted, diverged, study

from .. import PAPER
from . import plateau

SIGMAS = (1.0, 10.0, 100.0, 1000.0, 10000.0)


def deviation(result):
    """Standard deviation of the rate from iteration 100 on; NaN without."""
    rate = np.array(result["rate"][100:])
    return float("nan") if diverged(result) or not len(rate) else float(rate.std())


def variation(result):
    """The standard deviation over the mean."""
    return deviation(result) / plateau.later_rate(result, 100)


@study(PAPER, "claim-sigma",
       shows="Gradient descent and Adagrad with cubic steps, sigma from 1 to 10,000",
       claims={"a-plateau": "over sigma 10, 100, 1000 the iteration of leaving varies by less than "
                            "1.5 times (weights within +-0.1)",
               "a-usual": "over the same the final loss varies by less than 1.5 times (+-0.2)",
               "b": "from 10 to 1000 the variability of the rate changes more than its mean "
                    "(+-0.2), read as standard deviation over mean",
               "b-deviation": "the same, read as the standard deviation itself",
               "c": "Adagrad's rate varies more at 100 than at 1000 (+-0.2)"},
       full=plateau.TEN, quick=plateau.QUICK, seconds=(1800, 10), needs=("mnist",),
       smaller=plateau.SMALLER,
       deviation=plateau.DEVIATION)
class Sigma:
    @staticmethod
    def packed(result, arguments):
        """The losses and, where they are compared, three digits of the rates."""
        if arguments["half_width"] != 0.2 or not 10 <= arguments["sigma"] <= 1000:
            return plateau.losses(result, arguments)
        return plateau.losses(result, arguments) | {
            "rate": plateau.three_digits(result["rate"])}

    def runs(self, settings, results):
        sweep = [plateau.run(settings, seed, base="sgd", rate=0.02, curvature="exact", sigma=sigma,
                             half_width=half) for seed in settings["seeds"] for sigma in SIGMAS
                 for half in (0.1, 0.2)]
        return sweep + [plateau.run(settings, seed, base="adagrad", rate=0.1, curvature="exact",
                                    sigma=sigma, half_width=0.2)
                        for seed in settings["seeds"] for sigma in (100.0, 1000.0)]

    def judge(self, results, settings):
        def over(half, number, base="sgd"):
            """Seed -> the number at each sigma of 10, 100, 1000."""
            rows = {sigma: results.by_seed(base=base, sigma=sigma, half_width=half)
                    for sigma in (10.0, 100.0, 1000.0)}
            return [[number(rows[sigma][seed]) for sigma in rows if seed in rows[sigma]]
                    for seed in settings["seeds"]]

        spreads = {letter: [max(row) / min(row) for row in over(half, number)]
                   for letter, half, number in (("a-plateau", 0.1, plateau.leave),
                                                ("a-usual", 0.2, plateau.end))}
        verdicts = {letter: counted([value < 1.5 for value in values], values,
                                    "largest over smallest")
                    for letter, values in spreads.items()}
        means = over(0.2, lambda one: plateau.later_rate(one, 100))
        for letter, number in (("b", variation), ("b-deviation", deviation)):
            logs = [abs(np.log(v[2] / v[0])) - abs(np.log(m[2] / m[0]))
                    for v, m in zip(over(0.2, number), means)]
            verdicts[letter] = counted([value > 0 for value in logs], logs,
                                       "log change of the variability less the mean's")
        adagrad = {sigma: results.by_seed(base="adagrad", sigma=sigma) for sigma in (100.0, 1000.0)}
        ratios = [variation(adagrad[100.0][seed]) / variation(adagrad[1000.0][seed])
                  for seed in settings["seeds"]]
        verdicts["c"] = counted([value > 1 for value in ratios], ratios,
                                "variation at 100 over that at 1000")
        return verdicts

    def draw(self, results, figure, settings):
        rows = figure.subplots(2, 2)
        axes, (rates, shares) = rows
        for panel, half, number, name in ((axes[0], 0.1, plateau.leave, "iterations to leave"),
                                          (axes[1], 0.2, plateau.end, "final loss")):
            for k, (sigma, marker) in enumerate(zip(SIGMAS, "osD^v")):
                values = [number(one) for one in results.of(base="sgd", sigma=sigma,
                                                            half_width=half)]
                panel.plot([sigma] * len(values), values, marker, color=f"C{k}", alpha=0.7)
            panel.set(xscale="log", yscale="log", xlabel="sigma", ylabel=name,
                      title=f"weights within ±{half:g}")
        compared = SIGMAS[1:-1]
        for k, (number, marker, name) in enumerate(((lambda one: plateau.later_rate(one, 100), "o",
                                                     "mean"), (deviation, "s", "deviation"))):
            draw_seeds(rates, results, "sgd", compared, number, f"C{k}", marker, name)
        for k, (base, marker, name) in enumerate((("sgd", "o", "gradient descent"),
                                                  ("adagrad", "s", "Adagrad"))):
            draw_seeds(shares, results, base, compared, variation, f"C{k}", marker, name)
        for panel, name in ((rates, "later rate"),
                            (shares, "deviation over mean")):
            panel.set(xscale="log", yscale="log", xlabel="sigma", ylabel=name,
                      title="weights within ±0.2")
            panel.legend(fontsize=7)
        figure.suptitle(f"How much sigma matters: {plateau.title_of(settings)}; a mark a seed",
                        fontsize=10)


def draw_seeds(panel, results, base, sigmas, number, colour, marker, name):
    """A mark a seed at each sigma, weights within +-0.2."""
    marks = [(sigma, number(one)) for sigma in sigmas
             for one in results.of(base=base, sigma=sigma, half_width=0.2)]
    panel.plot(*zip(*marks), marker, color=colour, alpha=0.7, label=name)
