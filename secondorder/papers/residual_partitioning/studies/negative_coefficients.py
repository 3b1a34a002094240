"""Ours: do the coefficients whose absolute value is taken become negative in other networks?"""

import numpy as np

import secondorder as so
from secondorder.studies import Run, counted, diverged, least, legend_below, study

from .. import PAPER
from . import curves, networks
from .networks import BATCH, L2
from .saddle import negative_share

RATES = (30.0, 300.0, 3000.0)
SHARE = 0.01  # of the coefficients; fewer would not change a step that one would notice
TITLES = {"tanh": "six hidden tanh layers of 64", "softplus": "the paper's classifier, softplus"}


def network_of(case, inputs, seed):
    """The paper's softplus classifier, or six hidden tanh layers of 64 and logits."""
    if case == "softplus":
        return networks.network_of("classifier", inputs, seed)[0]
    return so.mlp([inputs, *[64] * 6, 10], activation="tanh", rng=seed, dtype="float32")


def shares(seed, case, data, rate, steps, every):
    """Train by residual partitioning and count negative coefficients.

    Returns
    -------
    dict
        ``loss`` of the first 2000 images and ``negative``, the share of negative coefficients of
        the hidden units over the first batch, at the start and after every `every` steps.
    """
    x, y = networks.data_of("classifier", data)
    network, loss = network_of(case, x.shape[1], seed), so.SoftmaxCrossEntropy()
    optimizer = so.ResidualPartitioning(network, loss, learning_rate=rate, l2=L2)
    rows, record = networks.batches(len(x), seed), {"loss": [], "negative": []}
    for step in range(steps + 1):
        try:
            if step % every == 0:
                record["loss"].append(float(network.evaluate(loss, x[:2000], y[:2000]).loss))
                record["negative"].append(negative_share(network, loss, x[:BATCH], y[:BATCH]))
            batch = next(rows)
            optimizer.step(x[batch], y[batch])
        except FloatingPointError as error:
            return record | {"diverged": f"step {step}: {error}"}
    return record


@study(PAPER, "claim-negative-coefficients",
       shows="Share of the coefficients that are negative before the absolute value is taken, "
             "along two trainings",
       claims={case: f"{title}: at some look to step 3000 more than 1 % are negative"
               for case, title in TITLES.items()},
       full={"data": "mnist", "steps": 3000, "every": 100, "trial": True,
             "seeds": (1, 2, 3, 4, 5)},
       quick={"data": "digits", "steps": 40, "every": 20, "trial": False, "seeds": (1,)},
       seconds=(300, 2), needs=("mnist",), ours=tuple(TITLES),
       deviation="a control of ours: the paper has no such count, and no deep tanh network")
class NegativeCoefficients:
    def runs(self, settings, results):
        runs = []
        for case in TITLES:
            if settings["trial"]:
                runs += [self.one(seed, case, rate, settings) for rate in RATES
                         for seed in curves.TRIAL_SEEDS]
            rate = self.rate(case, settings, results)
            if rate is not None:
                runs += [self.one(seed, case, rate, settings) for seed in settings["seeds"]]
        return runs

    def one(self, seed, case, rate, settings):
        return Run(shares, {"seed": seed, "case": case, "rate": rate,
                            **{name: settings[name] for name in ("data", "steps", "every")}})

    def rate(self, case, settings, results):
        """The rate with the least mean loss at the end of the trials; None while one is missing."""
        if not settings["trial"]:
            return RATES[1]
        ends = []
        for rate in RATES:
            tried = results.by_seed(case=case, rate=rate)
            if not all(seed in tried for seed in curves.TRIAL_SEEDS):
                return None
            ends.append(np.mean([np.inf if diverged(tried[seed]) else tried[seed]["loss"][-1]
                                 for seed in curves.TRIAL_SEEDS]))
        return RATES[least(ends, "rate")]

    def judged(self, case, settings, results):
        runs = results.by_seed(case=case, rate=self.rate(case, settings, results))
        return [runs[seed] for seed in settings["seeds"]]

    def judge(self, results, settings):
        verdicts = {}
        for case in TITLES:
            largest = [max(one["negative"]) for one in self.judged(case, settings, results)]
            verdicts[case] = counted([share > SHARE for share in largest], largest,
                                     "largest share of negative coefficients")
        return verdicts

    def draw(self, results, figure, settings):
        for axes, case in zip(figure.subplots(1, 2, sharey=True), TITLES):
            runs = self.judged(case, settings, results)
            steps = settings["every"] * np.arange(len(runs[0]["negative"]))
            for run in runs:
                axes.plot(steps[:len(run["negative"])], run["negative"], color="C0", alpha=0.6)
            axes.axhline(SHARE, color="0.5", linewidth=0.8, linestyle="--",
                         label="1 %, what the claim asks for")
            rate = self.rate(case, settings, results)
            axes.set(xlabel="step", title=f"{TITLES[case]}, rate {rate:g}")
            axes.title.set_fontsize(9)
        figure.axes[0].set_ylabel("share of negative coefficients")
        legend_below(figure, figure.axes[0])
        figure.suptitle(f"{networks.pictures(settings['data']).name}; a line a seed", fontsize=10)
