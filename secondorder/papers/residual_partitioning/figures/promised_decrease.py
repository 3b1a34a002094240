"""Claim: what minimising the bound promises, the local second-order model achieves."""

import numpy as np

import secondorder as so
from secondorder.studies import Run, diverged, exactly, headline, legend_below, study, undecided

from .. import PAPER, ResidualPartitioning
from ..section_3_what_is_bounded import bounded_product
from . import networks

KINDS, RATES = ("autoencoder", "classifier"), (0.3, 1.0, 1.9)


def steps_kept(seed, kind, rate, cross, steps):
    """Of a training on the digits in float64: at how many steps a decrease was as large as
    promised, up to 1e-9 of the promise.

    Of these ``steps`` the numbers for ``bounded`` (the quadratic without the products of Eq. (4)),
    ``true`` (the second-order model) and ``loss`` (of the batch); ``least``: the smallest ratio of
    decrease over promise of each; ``curved``: by how much the decrease falls short of the slope's,
    over what the bound allows, at every step (1: just the promise).
    """
    x, y = networks.data_of(kind, "digits", dtype="float64")
    network, loss = networks.network_of(kind, x.shape[1], seed, "float64")
    optimizer = ResidualPartitioning(network, loss, learning_rate=rate, cross=cross)
    rows = networks.batches(len(x), seed)
    ratios = {"bounded": [], "true": [], "loss": []}
    curved = {name: [] for name in ratios}
    for _ in range(steps):
        batch = next(rows)
        at = x[batch], y[batch]
        theta, gradient = network.theta.copy(), so.exact.gradient(network, loss, *at)
        start = network.evaluate(loss, *at).loss
        info = optimizer.step(*at)
        step, reached = network.theta - theta, network.evaluate(loss, *at).loss
        network.theta = theta  # the models are those of the point where the step began
        here, slope = network.evaluate(loss, *at), gradient @ step
        curvatures = {"bounded": step @ bounded_product(here, step),
                      "true": step @ so.exact.hessian_vector_product(network, loss, *at, step)}
        decreases = {name: -slope - curvature / 2 for name, curvature in curvatures.items()}
        decreases["loss"] = start - reached
        for name, decrease in decreases.items():
            ratios[name].append(float(decrease / info["bound_decrease"]))
            missed = (-slope - decrease) / (-slope - info["bound_decrease"])
            curved[name].append(float(f"{missed:.3g}"))
        network.theta = theta + step
    return {"steps": steps, "least": {name: min(values) for name, values in ratios.items()},
            "met": {name: sum(value >= 1 - 1e-9 for value in values)
                    for name, values in ratios.items()},
            "curved": curved}


@study(PAPER, "claim-promised-decrease",
       shows="At how many steps a model, and the loss, fall by what the bound promised",
       claims={"bounded": "the quadratic without the products of Eq. (4): at every step",
               "true": "the true second-order model, as printed: at every step",
               "true-cross": "the same with the products bounded too: at every step",
               "loss": "the loss of the batch: at every step"},
       full={"steps": 500, "seeds": (1, 2, 3)}, quick={"steps": 15, "seeds": (1,)},
       seconds=(700, 6), smaller="digits",
       deviation="digits; no penalty; rates 0.3, 1 and 1.9")
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
        names = {"bounded": "quadratic without the products of (4)",
                 "true": "true second-order model", "loss": "loss of the batch"}
        for panel, name in zip(figure.subplots(1, 3, sharex=True, sharey=True), names):
            for k, kind in enumerate(KINDS):
                for cross in (False, True):
                    missed = np.sort(np.concatenate(
                        [run["curved"][name] for run in results.of(kind=kind, cross=cross)]))
                    share = 100 * np.arange(1, len(missed) + 1) / len(missed)
                    panel.plot(missed, share, color=f"C{k}", linestyle="--" if cross else "-",
                               label=f"{kind}, products {'bounded too' if cross else 'dropped'}")
            panel.axvline(1, color="grey", linewidth=0.8)
            panel.set_xscale("log")
            panel.set_xticks([0.001, 0.01, 0.1, 1], ["0.001", "0.01", "0.1", "1"])
            panel.set_title(names[name], fontsize=9)
        figure.axes[1].set_xlabel("curvature along the step / the bound's (up to 1: the promise "
                                  "is kept)")
        figure.axes[0].set_ylabel("steps up to this share, %")
        headline(figure, "What is there of the bound's curvature, at rates 0.3, 1 and 1.9: digits",
                 settings, "all steps")
        legend_below(figure, figure.axes[0], rows=2)


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
