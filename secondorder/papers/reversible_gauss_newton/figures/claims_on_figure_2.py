"""Claims on the runs of Figure 2: the tolerance of the pseudo-inverse, batches that are overfitted,
and whether Gauss-Newton generalises poorly because it learns lazily.
"""

import numpy as np

from secondorder.studies import (counted, diverged, legend_below, lowest_common, paired, smoothed,
                                 study)

from .. import PAPER
from . import compared
from .compared import OWN_RULE, final
from .figures_1_to_4 import SETS
from .training import NAMES

# -- the pseudo-inverse needs its tolerance --------------------------------------------------------


def worse_without(runs):
    ratios = [final(one) / final(other) for one, other in zip(runs["exact"], runs["gn"])]
    met = [diverged(one) or ratio > 1.1 for one, ratio in zip(runs["exact"], ratios)]
    return counted(met, ratios, "loss at the end, without over with a tolerance of 1 %", 3)


@study(PAPER, "claim-regularisation", **compared.ON_CIFAR | {
           "needs": ("mnist", "cifar-10"),
           "smaller": "CIFAR-10 at 8 x 8 pixels, MNIST with 8000 images"},
       seconds=(2600, 5),
       shows="Gauss-Newton with and without the tolerance of the pseudo-inverse",
       claims={name: f"without a tolerance of the pseudo-inverse Gauss-Newton diverges, or ends "
                     f"more than 10 % above itself with 1 % ({told})"
               for name, told in SETS.items()},
       deviation=compared.BY_RULE + "; both at the rates for 1 %. MNIST: 8000 images, d' = 1064, "
       "n = 136, 60 epochs")
class Regularisation(compared.OfFigure2):
    trainings, methods, sets, judges = OWN_RULE, ("gn",), SETS, {"": worse_without}

    def beside(self, settings, results, name, rates):
        return {"exact": [OWN_RULE.one(settings, name, seed, "exact", rates["gn"], looks=0)
                          for seed in settings["seeds"]]}

    def draw(self, results, figure, settings):
        compared.draw_panels(figure, settings, "The pseudo-inverse with and without a tolerance", [
            {"told": self.told(results, settings, name), "of": "loss", "ylabel": "training loss",
             "yscale": "log", "title": compared.title_of(settings, name)} for name in SETS],
            about="exact: without")


# -- Gauss-Newton overfits each mini-batch ---------------------------------------------------------

METHODS = ("gn", "adam")
EPOCHS = 20


def changes(run):
    """Mean change of the own batch, and of another over it: what carries over."""
    own, other = np.mean(run["change"]), np.mean(run["carried"])
    return float(-own), float(other / own)


def by_change(runs):
    """(change of the own batch, what carries over) of the runs that lower it, by the former."""
    return sorted(changes(run) for run in runs if not diverged(run) and np.mean(run["change"]) < 0)


def gap(told):
    """Adam's share that carries over less Gauss-Newton's, at a change of the own batch that both
    reach: the middle of the common range, between neighbouring rates. NaN if there is none.
    """
    pairs = {method: by_change(runs) for method, runs in told.items()}
    if not all(pairs.values()):
        return float("nan")
    low, high = (take(pairs[method][end][0] for method in METHODS)
                 for take, end in ((max, 0), (min, -1)))
    if low > high:
        return float("nan")
    gauss_newton, adam = (np.interp((low + high) / 2, *zip(*pairs[method])) for method in METHODS)
    return float(adam - gauss_newton)


@study(PAPER, "claim-batch-overfit", **compared.ON_CIFAR | {
           "full": compared.FULL | {"first": EPOCHS}, "quick": compared.QUICK | {"first": 3}},
       shows="What a step does to a batch that it has not seen, over what it does to its own, "
             "CIFAR-10",
       claims={"a": "Gauss-Newton overfits each mini-batch: at equal change of the own batch's "
                    "loss less carries over to another batch than with Adam, epochs 1 to 20"},
       seconds=(1800, 3),
       deviation=compared.SIZES + "; the other batch is of test images, not cropped; all rates "
       "of both methods, compared at the middle of the changes that both reach")
class BatchOverfit:
    def runs(self, settings, results):
        return [OWN_RULE.one(settings, "cifar", seed, method, rate, looks=0,
                             epochs=settings["first"])
                for method in METHODS for rate in OWN_RULE.grid(settings, method)
                for seed in settings["seeds"]]

    def judge(self, results, settings):
        gaps = [gap({method: [results.of(method=method, rate=rate, seed=seed)[0]
                              for rate in OWN_RULE.grid(settings, method)] for method in METHODS})
                for seed in settings["seeds"]]
        return {"a": paired(gaps, "Adam's share minus Gauss-Newton's, at a change both reach")}

    def draw(self, results, figure, settings):
        panel = figure.subplots()
        for method in METHODS:
            colour, style = compared.STYLES[method]
            for number, seed in enumerate(settings["seeds"]):
                pairs = by_change(results.of(method=method, seed=seed))
                if pairs:
                    panel.plot(*zip(*pairs), style, marker="os"[method == "adam"], color=colour,
                               label=NAMES[method] if number == 0 else None)
        panel.axhline(0, color="0.7", linewidth=0.8)
        panel.set(xlabel="fall of the own batch's loss by a step, per cent",
                  ylabel="share that carries over to another batch")
        # at one rate another batch loses ten times what the own one gains
        panel.set_yscale("symlog", linthresh=0.2)
        panel.yaxis.set_major_formatter("{x:g}")
        legend_below(figure, panel)
        figure.suptitle(f"Mark a rate, line a seed: {compared.title_of(settings)}", fontsize=10)


# -- does Gauss-Newton generalise poorly because it learns lazily? ---------------------------------


def points(told, seed):
    """(method, rule, change of the kernel from its start, test accuracy) of the runs of a seed,
    read where each first comes down to the lowest training loss that all of them reach.
    """
    runs = [(method, rule, told[rule][method][seed]) for rule in told for method in told[rule]]
    runs = [one for one in runs if not diverged(one[2]) and one[2]["looks"]]
    curves = [smoothed(run["loss"]) for *_, run in runs]
    rows = []
    for (method, rule, run), T in zip(runs, curves):
        epoch = int(np.flatnonzero(T <= lowest_common(*curves))[0])
        at = np.linspace(0, len(T), len(run["looks"]))
        kernel = np.interp(epoch + 1, at, [look["ntk"] for look in run["looks"]])
        rows.append((method, rule, 1 - kernel, run["accuracy"][epoch]))
    return rows


def correlation(rows):
    """Of change and accuracy; NaN where one of them is the same for all, or rows are few."""
    x, y = (np.array([one[k] for one in rows]) for k in (2, 3))
    if len(rows) < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(np.argsort(np.argsort(x)), np.argsort(np.argsort(y)))[0, 1])


@study(PAPER, "claim-lazy-explains", **compared.ON_CIFAR | {"full": compared.FIVE_SEEDS},
       seconds=(3000, 5),
       shows="Test accuracy over the change of the tangent kernel, at equal training loss, "
             "CIFAR-10",
       claims={"a": "the less the tangent kernel changes, the lower the test accuracy: over three "
                    "methods at two rates each the rank correlation is above 0, at the lowest "
                    "training loss that all reach"},
       deviation=compared.AT_AUTHORS + "; the authors' rates and the best ones together, a "
       "correlation over six runs a seed, and no proof of a cause")
class LazyExplains(compared.OfFigure2):
    def _points(self, results, settings):
        """`points` of every seed."""
        told = self.told(results, settings)
        seeds = min(len(runs) for methods in told.values() for runs in methods.values())
        return [points(told, seed) for seed in range(seeds)]

    def judge(self, results, settings):
        values = [correlation(rows) for rows in self._points(results, settings)]
        return {"a": counted([value > 0 for value in values], values, "rank correlation", 3)}

    def draw(self, results, figure, settings):
        panel, told = figure.subplots(), self._points(results, settings)
        for seed, rows in enumerate(told):
            for method, rule, change, accuracy in rows:
                panel.plot(change, accuracy, {"gn": "o", "adam": "s", "sgd": "^"}[method],
                           color=compared.STYLES[method][0],
                           markerfacecolor="none" if rule == "B" else None,
                           label=NAMES[method] if rule != "B" and seed == 0 else None)
        panel.set(xlabel="1 - similarity of the kernel with its start", ylabel="test accuracy")
        legend_below(figure, panel)
        figure.suptitle(f"At equal training loss, {len(told)} seeds (open marks: best rates)\n"
                        f"{compared.title_of(settings)}", fontsize=10)
