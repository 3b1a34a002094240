"""Claim (a speculation): Jensen's inequality is too loose where many parameters share a residual,
and that explains why classifiers do worse than autoencoders.
"""

import numpy as np

from secondorder.studies import (Run, both, diverged, exactly, least, legend_under, over_seeds,
                                 paired, study, undecided)

from .. import PAPER, ResidualPartitioning, bound
from ..section_3_what_is_bounded import bounded_product
from . import networks
from .networks import BATCH

KINDS = ("autoencoder", "classifier")
RATES = {"autoencoder": 300.0, "classifier": 100.0}  # of training, output rule jensen
TRIED = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 70.0, 100.0, 1000.0, 10000.0)
WIDTHS, DEPTHS = (8, 16, 32, 64), (1, 2, 3, 4)


def looseness(seed, kind, data, output, hidden, after):
    """The ratio r = d^T diag(W_ddot) d / d^T H~ d along the method's direction d.

    Returns ``ratios``: one after each number of steps in `after`; negative where d^T H~ d is.
    """
    x, y = networks.data_of(kind, data, dtype="float64")
    network, loss = networks.network_of(kind, x.shape[1], seed, "float64", tuple(hidden))
    optimizer = ResidualPartitioning(network, loss, learning_rate=RATES[kind], output=output,
                                     l2=networks.L2)
    rows, ratios = networks.batches(len(x), seed), []
    watched = x[:BATCH], y[:BATCH]
    for step in range(max(after) + 1):
        if step in after:
            quadratic = bound(network, loss, *watched, output=output)
            d = np.divide(-quadratic.gradient, quadratic.curvature, where=quadratic.curvature > 0,
                          out=np.zeros_like(quadratic.gradient))
            at = network.evaluate(loss, *watched)
            ratios.append(float(d @ (quadratic.curvature * d)
                                / (d @ bounded_product(at, d))))
        batch = next(rows)
        optimizer.step(x[batch], y[batch])
    return {"ratios": ratios}


def loss_after(seed, kind, hidden, rate, steps):
    """Training loss on the digits after some steps with output rule jensen."""
    x, y = networks.data_of(kind, "digits")
    network, loss = networks.network_of(kind, x.shape[1], seed, hidden=tuple(hidden))
    optimizer = ResidualPartitioning(network, loss, learning_rate=rate, output="jensen",
                                     l2=networks.L2)
    rows = networks.batches(len(x), seed)
    for _ in range(steps):
        batch = next(rows)
        optimizer.step(x[batch], y[batch])
    return {"loss": float(network.evaluate(loss, x, y).loss)}


@study(PAPER, "claim-loose-bound",
       shows="The bound's curvature over the curvature that it bounds",
       claims={"jensen": "with Jensen's inequality at both outputs, it is looser for the "
                         "classifier than for the autoencoder, on both sets at every look",
               "pairwise": "the same with the pairwise rule at both",
               "width": "it grows with the hidden width",
               "depth": "it grows with the depth",
               "rate": "the best rate rises with it over these networks (rank correlation above "
                       "0.5)"},
       full={"sets": ("digits", "mnist"), "after": (0, 200, 2000), "steps": 300,
             "seeds": (1, 2, 3, 4, 5)},
       quick={"sets": ("digits",), "after": (0, 10), "steps": 5, "seeds": (1,)},
       seconds=(1500, 10), needs=("mnist",),
       smaller="digits and MNIST, also smaller networks",
       deviation="a speculation in print, without a number")
class LooseBound:
    def runs(self, settings, results):
        after = list(settings["after"])
        runs = [Run(looseness, {"seed": seed, "kind": kind, "data": data, "output": output,
                                "hidden": list(networks.HIDDEN[kind]), "after": after})
                for seed in settings["seeds"] for data in settings["sets"]
                for output in ("jensen", "pairwise") for kind in KINDS]
        for seed in settings["seeds"]:
            for hidden in sizes():
                runs.append(Run(looseness, {"seed": seed, "kind": "classifier", "data": "digits",
                                            "output": "jensen", "hidden": hidden, "after": [0]}))
        return runs + [Run(loss_after, {"seed": seed, "kind": "classifier", "hidden": hidden,
                                        "rate": rate, "steps": settings["steps"]})
                       for seed in settings["seeds"][:3] for hidden in sizes() for rate in TRIED]

    def judge(self, results, settings):
        verdicts = {output: self.looser(results, output, settings)
                    for output in ("jensen", "pairwise")}
        for letter, growing in (("width", [[n, n] for n in WIDTHS]),
                                ("depth", [[16] * n for n in DEPTHS])):
            values = [[one["ratios"][0] for one in results.of(hidden=hidden, after=[0])]
                      for hidden in growing]
            factors = WIDTHS if letter == "width" else DEPTHS
            slopes = [np.polyfit(np.log(factors), np.log(np.abs(column)), 1)[0]
                      for column in zip(*values)]
            verdicts[letter] = paired(slopes, "slope of log r")
        verdicts["rate"] = self.ranked(results, settings)
        return verdicts

    def looser(self, results, output, settings):
        verdicts = []
        for data in settings["sets"]:
            of = {kind: results.by_seed(kind=kind, data=data, output=output,
                                        hidden=list(networks.HIDDEN[kind]),
                                        after=list(settings["after"])) for kind in KINDS}
            for look in range(len(settings["after"])):
                verdicts.append(paired([
                    log_ratio(of["classifier"][seed], look) - log_ratio(of["autoencoder"][seed],
                                                                        look)
                    for seed in settings["seeds"]], "log r, classifier less autoencoder"))
        return both(*verdicts)

    def ranked(self, results, settings):
        """Rank correlation of the best rate with r over the networks."""
        from scipy.stats import spearmanr

        if len(settings["seeds"]) < 3:
            return undecided("it takes three seeds at least", len(settings["seeds"]))
        ratios, best = zip(*best_rates(results).values())
        if len(set(best)) == 1:
            return undecided(f"the best rate of all networks is {best[0]:g}", 3)
        correlation = float(spearmanr(ratios, best).statistic)
        return exactly(correlation > 0.5, correlation, "rank correlation",
                       f"{len(best)} networks, best rates from {min(best):g} to {max(best):g}", 3)

    def draw(self, results, figure, settings):
        panels = figure.subplots(1, 3, width_ratios=(1, 1, 2))
        told = over_seeds(settings["seeds"], "mean")
        rates_of = best_rates(results)
        for axes, name, growing, factors in (
                (panels[0], "hidden width (two layers)", [(n, n) for n in WIDTHS], WIDTHS),
                (panels[1], "hidden layers of 16", [(16,) * n for n in DEPTHS], DEPTHS)):
            ratios, rates = zip(*(rates_of[hidden] for hidden in growing))
            axes.plot(factors, ratios, "o-", label="r at the start")
            axes.plot(factors, rates, "s--", color="C2", label="best rate, 3 seeds")
            axes.set(xlabel=name, ylim=(0, None), title=f"classifiers, digits; {told}")
            axes.set_xticks(factors, map(str, factors))
            legend_under(axes)
        self._networks(panels[2], results)
        for axes in panels:
            axes.title.set_fontsize(8)
        figure.suptitle("How loose the bound is: its curvature over what it bounds, along its own "
                        "step", fontsize=10)

    def _networks(self, axes, results):
        """The paper's two networks, a line a seed from the start to later looks."""
        arguments = [one for one in results.arguments() if len(one.get("after", ())) > 1]
        cases = [(data, output) for data in dict.fromkeys(one["data"] for one in arguments)
                 for output in ("jensen", "pairwise")]
        for k, kind in enumerate(KINDS):
            for place, (data, output) in enumerate(cases):
                runs = [one for one, told in zip(
                    results.of(kind=kind, data=data, output=output),
                    results.arguments(kind=kind, data=data, output=output))
                    if len(told["after"]) > 1 and not diverged(one)]
                for one in runs:
                    looks = len(one["ratios"])
                    axes.plot(place + 0.4 * k + 0.13 * np.arange(looks), np.abs(one["ratios"]),
                              ("o-", "s--")[k], color=f"C{k}", markersize=4, linewidth=1)
            axes.plot([], [], ("o-", "s--")[k], color=f"C{k}", label=kind)
        axes.set_xticks(np.arange(len(cases)) + 0.3, [f"{data}\n{output}" for data, output in
                                                      cases], fontsize=8)
        after = ", ".join(map(str, arguments[0]["after"]))
        axes.set(yscale="log", ylabel="|r|", title=f"the paper's networks after {after} steps")
        legend_under(axes)


def sizes():
    """Hidden units of the networks of growing width and depth, each once."""
    return [[n, n] for n in WIDTHS] + [[16] * n for n in DEPTHS if n != 2]


def log_ratio(result, look):
    """log |r|; NaN where the run diverged before."""
    if diverged(result):
        return float("nan")
    return float(np.log(np.abs(result["ratios"][look])))


def best_rates(results):
    """Hidden units of a network -> (r at the start, rate of the lowest loss)."""
    pairs = {}
    for hidden in sizes():
        losses = [np.mean([np.inf if diverged(one) else one["loss"]
                           for one in results.of(hidden=hidden, rate=rate)]) for rate in TRIED]
        ratios = [one["ratios"][0] for one in results.of(hidden=hidden, after=[0])]
        pairs[tuple(hidden)] = float(np.mean(ratios)), TRIED[least(losses, "rate")]
    return pairs
