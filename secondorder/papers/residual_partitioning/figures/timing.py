"""Timing in the text: a step takes 1.36 times Adam's and 1.66 times SGD's."""

import time

import numpy as np

from secondorder.studies import Run, both, exactly, legend_below, repeated, study

from .. import PAPER
from . import networks
from .networks import BATCH, METHODS

PRINTED = {"adam": 1.36, "sgd": 1.66}
CASES = [(kind, inputs) for kind in ("autoencoder", "classifier") for inputs in (784, 3072)]


def step_ratios(seed, kind, inputs, rounds, steps):
    """Residual partitioning's step over each other method's, by `median_ratio`."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (BATCH, inputs)).astype("float32")
    y = x if kind == "autoencoder" else rng.integers(0, 10, BATCH)
    optimizers = {}
    for method, (optimizer, options) in METHODS.items():
        network, loss = networks.network_of(kind, inputs, seed)
        optimizers[method] = optimizer(network, loss, learning_rate=1e-4, **options)
    return {other: median_ratio(optimizers, "partitioning", other, x, y, rounds, steps)
            for other in PRINTED}


def median_ratio(optimizers, ours, other, x, y, rounds, steps):
    """Median over blocks, in alternation, of the CPU seconds of one method's steps over
    another's.
    """
    ratios = []
    for _ in range(rounds):
        seconds = []
        for method in (ours, other):
            optimizers[method].step(x, y)  # the caches hold the other method's arrays
            began = time.process_time()
            for _ in range(steps):
                optimizers[method].step(x, y)
            seconds.append(time.process_time() - began)
        ratios.append(seconds[0] / seconds[1])
    return float(np.median(ratios))


@study(PAPER, "timing",
       shows="CPU time of a step of residual partitioning over one of SGD and of Adam, one thread",
       claims={f"{kind}-{inputs}"[:20]: f"{kind} with {inputs} inputs: at most 1.36 times Adam's "
                                        "step and 1.66 times SGD's, each + 10 %"
               for kind, inputs in CASES},
       full={"rounds": 15, "steps": 20, "seeds": (0, 1, 2, 3, 4)},
       quick={"rounds": 3, "steps": 3, "seeds": (0,)}, seconds=(60, 4),
       deviation="the methods of this package instead of PyTorch's, one thread instead of 16 "
                 "cores; network and data of the paper's figures are not stated")
class Timing:
    def runs(self, settings, results):
        return [Run(step_ratios, {"seed": seed, "kind": kind, "inputs": inputs,
                                  "rounds": settings["rounds"], "steps": settings["steps"]})
                for seed in settings["seeds"] for kind, inputs in CASES]

    def judge(self, results, settings):
        verdicts = {}
        for kind, inputs in CASES:
            verdicts[f"{kind}-{inputs}"[:20]] = repeated(*(both(*(
                exactly(times[other] <= 1.1 * printed, times[other],
                        f"step over {networks.NAMES[other]}'s", f"printed: {printed}")
                for other, printed in PRINTED.items()))
                for times in results.of(kind=kind, inputs=inputs)))
        return verdicts

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        for k, (other, printed) in enumerate(PRINTED.items()):
            values = [np.median([one[other] for one in results.of(kind=kind, inputs=inputs)])
                      for kind, inputs in CASES]
            places = np.arange(len(CASES)) + 0.35 * k
            bars = axes.bar(places, values, 0.33, color=("C2", "C0")[k], hatch=("", "//")[k],
                            label=f"over {networks.NAMES[other]}'s (printed: {printed})")
            axes.bar_label(bars, fmt="%.2f", label_type="center",
                           bbox={"facecolor": "white", "linewidth": 0, "pad": 2})
            axes.axhline(printed, color=("C2", "C0")[k], linestyle=("-", "--")[k], linewidth=0.8)
        axes.set(xticks=np.arange(len(CASES)) + 0.17,
                 xticklabels=[f"{kind}\n{inputs} inputs" for kind, inputs in CASES],
                 ylabel="CPU time of a step over the other's",
                 title="A step of residual partitioning over one of Adam and of SGD; lines: as "
                       "printed")
        legend_below(figure, axes)
