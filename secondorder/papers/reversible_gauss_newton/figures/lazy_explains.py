"""Claim: Gauss-Newton learns lazily, and that is why it generalises poorly."""

import numpy as np

from secondorder.studies import counted, diverged, legend_below, lowest_common, smoothed, study

from .. import PAPER
from . import compared
from .training import NAMES


def points(told, seed):
    """(method, rule, change of the kernel from its start, test accuracy) of the runs of a seed,
    read where each first comes down to the lowest training loss that all of them reach.
    """
    runs = [(method, rule, told[rule][method][seed]) for rule in told for method in told[rule]]
    runs = [one for one in runs if not diverged(one[2]) and one[2]["looks"]]
    if not runs:
        return []
    level = lowest_common(*(smoothed(run["loss"]) for _, _, run in runs))
    rows = []
    for method, rule, run in runs:
        epoch, kernel = compared.kernel_at(run, level)
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
        told = compared.FIGURE_2.by_rule(results, settings)
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
