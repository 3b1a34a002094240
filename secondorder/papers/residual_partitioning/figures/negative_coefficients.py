"""Ours: do the coefficients whose absolute value is taken become negative in other networks?"""

import numpy as np

import secondorder as so
from secondorder.studies import Run, chosen, counted, diverged, legend_below, study

from .. import PAPER
from . import curves, networks
from .networks import BATCH, L2
from .saddle import negative_share

RATES = {"classifier": (30.0, 300.0, 3000.0), "autoencoder": (3.0, 30.0, 300.0)}
SHARE = 0.01  # of the coefficients; fewer would not change a step that one would notice
TITLES = {"tanh": "six hidden tanh layers of 64", "softplus": "the paper's classifier, softplus",
          "autoencoder": "the paper's autoencoder",
          "autoencoder-digits": "the paper's autoencoder, on digits"}


def data_of(case, settings):
    return "digits" if case.endswith("digits") else settings["data"]


def kind_of(case):
    return "autoencoder" if case.startswith("autoencoder") else "classifier"


def network_of(case, inputs, seed):
    """Network and loss: the paper's, or six hidden tanh layers of 64 and logits."""
    if case != "tanh":
        return networks.network_of(kind_of(case), inputs, seed)
    return (so.mlp([inputs, *[64] * 6, 10], activation="tanh", rng=seed, dtype="float32"),
            so.SoftmaxCrossEntropy())


def shares(seed, case, data, rate, steps, every):
    """Train by residual partitioning and count negative coefficients, every `every` steps.

    Returns ``loss`` of the first 2000 images and ``negative``, the share of negative coefficients
    of the hidden units over the first batch.
    """
    x, y = networks.data_of(kind_of(case), data)
    network, loss = network_of(case, x.shape[1], seed)
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
             "along four trainings",
       claims={case: f"{title}: at some look to step 3000 more than 1 % are negative"
               for case, title in TITLES.items()},
       full={"data": "mnist", "steps": 3000, "every": 100, "trial": True,
             "seeds": (1, 2, 3, 4, 5)},
       quick={"data": "digits", "steps": 40, "every": 20, "trial": False, "seeds": (1,)},
       seconds=(300, 2), needs=("mnist",), ours=tuple(TITLES),
       smaller="digits and 8000 images of MNIST, 3000 steps",
       deviation="a control of ours: the paper has no such count, and no deep tanh network")
class NegativeCoefficients:
    def runs(self, settings, results):
        runs = []
        for case in TITLES:
            if settings["trial"]:
                runs += [self.one(seed, case, rate, settings) for rate in RATES[kind_of(case)]
                         for seed in curves.TRIAL_SEEDS]
            rate = self.rate(case, settings, results)
            if rate is not None:
                runs += [self.one(seed, case, rate, settings) for seed in settings["seeds"]]
        return runs

    def one(self, seed, case, rate, settings):
        return Run(shares, {"seed": seed, "case": case, "rate": rate,
                            "data": data_of(case, settings), "steps": settings["steps"],
                            "every": settings["every"]})

    def rate(self, case, settings, results):
        """The rate with the least mean loss at the end of the trials; None while one is missing."""
        rates = RATES[kind_of(case)]
        if not settings["trial"]:
            return rates[1]
        best = chosen(results, [{"case": case, "rate": rate} for rate in rates],
                      lambda run: np.inf if diverged(run) else run["loss"][-1], curves.TRIAL_SEEDS)
        return best and best["rate"]

    def judged(self, case, settings, results):
        runs = results.by_seed(case=case, rate=self.rate(case, settings, results))
        return [runs[seed] for seed in settings["seeds"]]

    def judge(self, results, settings):
        verdicts = {}
        for case in TITLES:
            largest = [max(one["negative"]) for one in self.judged(case, settings, results)]
            verdicts[case] = counted(
                [share > SHARE for share in largest], largest,
                "largest share of negative coefficients")
            others = [max(one["negative"]) for one in self.elsewhere(case, settings, results)]
            if others:
                verdicts[case] = verdicts[case].with_note(
                    f"at other rates up to {max(others):.3g}")
        return verdicts

    def elsewhere(self, case, settings, results):
        """The trials at other rates."""
        best = self.rate(case, settings, results)
        return [one for rate in RATES[kind_of(case)] if rate != best
                for one in results.of(case=case, rate=rate)]

    def draw(self, results, figure, settings):
        for axes, case in zip(figure.subplots(2, 2, sharey=True).flat, TITLES):
            runs = self.judged(case, settings, results)
            steps = settings["every"] * np.arange(len(runs[0]["negative"]))
            for run in self.elsewhere(case, settings, results):
                axes.plot(steps[:len(run["negative"])], run["negative"], ":", color="0.5")
            for run in runs:
                axes.plot(steps[:len(run["negative"])], run["negative"], color="C0", alpha=0.6)
            axes.axhline(SHARE, color="0.5", linewidth=0.8, linestyle="--",
                         label="1 %, what the claim asks for")
            rate = self.rate(case, settings, results)
            axes.set(xlabel="step", title=f"{TITLES[case]}, rate {rate:g}")
            axes.title.set_fontsize(9)
        for axes in figure.axes[::2]:
            axes.set_ylabel("negative coefficients")
        figure.axes[0].plot([], [], color="C0", label="at the best rate")
        figure.axes[0].plot([], [], ":", color="0.5", label="trials at other rates")
        legend_below(figure, figure.axes[0])
        name = networks.pictures(settings["data"]).name
        figure.suptitle(f"{name} where nothing else is said; a line a seed", fontsize=10)
