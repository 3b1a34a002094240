"""Claim: what minimising the bound promises, the local second-order model achieves."""

import numpy as np

import secondorder as so
from secondorder.studies import Run, diverged, exactly, over_seeds, study, undecided

from .. import PAPER, ResidualPartitioning
from ..hessian import bounded_hessian_product
from . import networks

KINDS, RATES = ("autoencoder", "classifier"), (0.3, 1.0, 1.9)


def steps_kept(seed, kind, rate, cross, steps):
    """Of a training on the digits in float64: at how many steps a decrease was as large as
    promised, up to 1e-9 of the promise.

    Returns
    -------
    dict
        ``steps``, and of these the numbers for ``bounded`` (the quadratic without the products of
        Eq. (4)), ``true`` (the second-order model) and ``loss`` (of the batch); ``least``: the
        smallest ratio of decrease over promise of each.
    """
    x, y = networks.data_of(kind, "digits", dtype="float64")
    network, loss = networks.network_of(kind, x.shape[1], seed, "float64")
    optimizer = ResidualPartitioning(network, loss, learning_rate=rate, cross=cross)
    rows = networks.batches(len(x), seed)
    ratios = {"bounded": [], "true": [], "loss": []}
    for _ in range(steps):
        batch = next(rows)
        at = x[batch], y[batch]
        theta, gradient = network.theta.copy(), so.exact.gradient(network, loss, *at)
        start = network.evaluate(loss, *at).loss
        info = optimizer.step(*at)
        step, reached = network.theta - theta, network.evaluate(loss, *at).loss
        network.theta = theta  # the models are those of the point where the step began
        here, slope = network.evaluate(loss, *at), gradient @ step
        curvatures = {"bounded": step @ bounded_hessian_product(here, step),
                      "true": step @ so.exact.hessian_vector_product(network, loss, *at, step)}
        decreases = {name: -slope - curvature / 2 for name, curvature in curvatures.items()}
        decreases["loss"] = start - reached
        for name, decrease in decreases.items():
            ratios[name].append(float(decrease / info["bound_decrease"]))
        network.theta = theta + step
    return {"steps": steps, "least": {name: min(values) for name, values in ratios.items()},
            "met": {name: sum(value >= 1 - 1e-9 for value in values)
                    for name, values in ratios.items()}}


@study(PAPER, "claim-promised-decrease",
       shows="At how many steps a model, and the loss, fall by what the bound promised",
       claims={"bounded": "the quadratic without the products of Eq. (4): at every step",
               "true": "the true second-order model, as printed: at every step",
               "true-cross": "the same with the products bounded too: at every step",
               "loss": "the loss of the batch: at every step"},
       full={"steps": 500, "seeds": (1, 2, 3)}, quick={"steps": 15, "seeds": (1,)},
       seconds=(700, 6), deviation="digits; no penalty; rates 0.3, 1 and 1.9")
class PromisedDecrease:
    def runs(self, settings, results):
        return [Run(steps_kept, {"seed": seed, "kind": kind, "rate": rate, "cross": cross,
                                 "steps": settings["steps"]})
                for seed in settings["seeds"] for kind in KINDS for rate in RATES
                for cross in (False, True)]

    def judge(self, results, settings):
        return {letter: share(results.of(cross=cross), name, len(settings["seeds"]))
                for letter, cross, name in (("bounded", False, "bounded"), ("true", False, "true"),
                                            ("true-cross", True, "true"), ("loss", False, "loss"))}

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        names = {"bounded": "quadratic without\nthe products of (4)",
                 "true": "true second-order\nmodel", "loss": "loss of\nthe batch"}
        for k, kind in enumerate(KINDS):
            for c, cross in enumerate((False, True)):
                runs = results.of(kind=kind, cross=cross)
                places = np.arange(3) + 0.2 * (2 * k + c)
                axes.bar(places, [100 * met(runs, name) for name in names], 0.18,
                         color=f"C{k}", hatch=("", "//")[c],
                         label=f"{kind}, products {'bounded too' if cross else 'dropped'}")
        axes.set_xticks(np.arange(3) + 0.3, names.values())
        axes.set(ylabel="steps that keep the promise, %", ylim=(0, 118),
                 title="What the bound promises at rates 0.3, 1 and 1.9: digits, "
                 + over_seeds(settings["seeds"], "all steps"))
        axes.legend(fontsize=7, loc="upper center", ncols=2)


def met(runs, name):
    """Share of all steps at which the promise was kept."""
    return (sum(one["met"][name] for one in runs) / sum(one["steps"] for one in runs)
            if runs else float("nan"))


def share(runs, name, seeds):
    """Held if the promise was kept at every step of every run."""
    done = [one for one in runs if not diverged(one)]
    if not done:
        return undecided("no run came to its end")
    fraction = met(done, name)
    return exactly(fraction == 1, fraction, "share of steps",
                   f"smallest decrease over promise {min(one['least'][name] for one in done):.3g}",
                   seeds)
