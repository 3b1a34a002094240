"""Claim: what minimising the bound promises, the local second-order model achieves."""

import numpy as np

import secondorder as so
from secondorder.studies import (Run, diverged, exactly, headline, legend_below, readings, study,
                                 undecided)

from .. import PAPER, ResidualPartitioning
from ..section_3_what_is_bounded import bounded_product
from . import networks
from .networks import KINDS

RATES = (0.3, 1.0, 1.9)
NAMES = {"true": "true second-order model", "bounded": "the model without the products of (4)",
         "loss": "loss of the batch"}


def steps_kept(seed, kind, rate, steps):
    """Of a training on the digits in float64: at how many steps a decrease was as large as
    promised, up to 1e-9 of the promise.

    Of these ``steps`` the numbers for ``bounded`` (the quadratic without the products of Eq. (4)),
    ``true`` (the second-order model) and ``loss`` (of the batch); ``least``: the smallest ratio of
    decrease over promise of each; ``curved``: by how much the decrease falls short of the slope's,
    over what the bound allows, at every step (1: just the promise).
    """
    x, y = networks.data_of(kind, "digits", dtype="float64")
    network, loss = networks.network_of(kind, x.shape[1], seed, "float64")
    optimizer = ResidualPartitioning(network, loss, learning_rate=rate)
    rows = networks.batches(len(x), seed)
    ratios, curved = ({name: [] for name in NAMES} for _ in range(2))
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
       shows="How much of the bound's curvature a model, and the loss, have along each step",
       claims={"model": "the decrease that minimising the bound promises is achieved by the local "
                        "second-order model, at every step",
               "loss": "the decrease that the bound promises is achieved by the loss of the batch "
                       "too, at every step"},
       full={"steps": 500, "seeds": (1, 2, 3)}, quick={"steps": 15, "seeds": (1,)},
       seconds=(100, 6), ours=("loss",), smaller="digits",
       deviation="digits, no penalty, rates 0.3, 1 and 1.9; beyond 2 nothing is promised")
class PromisedDecrease:
    def runs(self, settings, results):
        return [Run(steps_kept, {"seed": seed, "kind": kind, "rate": rate,
                                 "steps": settings["steps"]})
                for seed in settings["seeds"] for kind in KINDS for rate in RATES]

    def judge(self, results, settings):
        done = [run for run in results.of() if not diverged(run)]
        if not done:
            return dict.fromkeys(("model", "loss"), undecided("no run came to its end"))

        def share(name):
            """Held if the promise was kept at every step of every run."""
            kept = np.mean([run["met"][name] / run["steps"] for run in done])
            least = min(run["least"][name] for run in done)
            return exactly(kept == 1, kept, "share of steps",
                           f"smallest decrease over promise {least:.3g}", len(settings["seeds"]))

        return {"model": readings({NAMES[name]: share(name) for name in ("true", "bounded")},
                                  decides=NAMES["true"]), "loss": share("loss")}

    def draw(self, results, figure, settings):
        for panel, name in zip(figure.subplots(1, 3, sharex=True, sharey=True), NAMES):
            for k, kind in enumerate(KINDS):
                missed = np.sort(np.concatenate([run["curved"][name]
                                                 for run in results.of(kind=kind)]))
                panel.plot(missed, 100 * np.arange(1, len(missed) + 1) / len(missed),
                           "-" if k else "--", color=f"C{k}", label=kind)
            panel.axvline(1, color="grey", linewidth=0.8)
            panel.set_xscale("log")
            panel.set_xticks([0.001, 0.01, 0.1, 1], ["0.001", "0.01", "0.1", "1"])
            panel.set_title(NAMES[name], fontsize=9)
        figure.axes[1].set_xlabel("curvature along the step / the bound's (up to 1: the promise "
                                  "is kept)")
        figure.axes[0].set_ylabel("steps up to this share, %")
        headline(figure, "What is there of the bound's curvature, at rates 0.3, 1 and 1.9: digits",
                 settings, "all steps")
        legend_below(figure, figure.axes[0])
