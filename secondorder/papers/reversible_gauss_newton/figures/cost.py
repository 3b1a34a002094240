"""Claims: a Gauss-Newton step costs, and keeps, nearly what one of gradient descent does; how large
the networks are.
"""

import time
import tracemalloc

import numpy as np

import secondorder as so
from secondorder.studies import Run, exactly, repeated, study, undecided

from .. import PAPER, RevMLP
from .training import LOSS, optimizer_of

FULL = {"shapes": {"mnist": [784, 2, 8000, 1024], "cifar": [768, 6, 1600, 205]}, "rounds": 3,
        "seeds": (0,)}
QUICK = {"shapes": {"mnist": [64, 2, 96, 48], "cifar": [48, 6, 64, 24]}, "rounds": 2,
         "seeds": (0,)}
SMALLER = "CIFAR-10 at 16 x 16 pixels, d' = 1600"
DEVIATION = ("MNIST at the printed size; CIFAR-10 at 16 x 16 pixels, d' = 1600, n = 205: the "
             "printed network has 147 million weights. Gram matrices instead of the printed "
             "singular values")


def step(seed, inputs, blocks, width, batch, method, rounds):
    """Least CPU seconds of a step, and most bytes held in it, network included."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((batch, inputs)).astype("float32")
    y = rng.integers(0, 10, batch)
    small = RevMLP(4, 1, 8, outputs=2, rng=0, dtype="float32")  # what is imported late stays out
    optimizer_of(small, method, 1e-3).step(np.ones((2, 4)), [0, 1])
    tracemalloc.start()
    try:
        network = RevMLP(inputs, blocks, width, outputs=10, init=1e-3, rng=seed, dtype="float32")
        optimizer = optimizer_of(network, method, 1e-3)
        optimizer.step(x, y)
        tracemalloc.reset_peak()
        optimizer.step(x, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    times = []
    for _ in range(rounds):
        began = time.process_time()
        optimizer.step(x, y)
        times.append(time.process_time() - began)
    return {"seconds": min(times), "bytes": peak}


def step_runs(settings):
    names = ("inputs", "blocks", "width", "batch")
    return [Run(step, {"seed": seed, "method": method, "rounds": settings["rounds"],
                       **dict(zip(names, shape))})
            for seed in settings["seeds"] for shape in settings["shapes"].values()
            for method in ("gn", "sgd")]


def ratios(results, shape, number):
    """Gauss-Newton's over gradient descent's, one a repeat."""
    runs = [results.by_seed(method=method, blocks=shape[1], width=shape[2])
            for method in ("gn", "sgd")]
    return [runs[0][seed][number] / runs[1][seed][number] for seed in runs[0] if seed in runs[1]]


def judged(results, settings, number, limit):
    """One verdict a network, which all repeats share."""
    verdicts = {}
    for name, shape in settings["shapes"].items():
        values = ratios(results, shape, number)
        verdicts[name] = repeated(*(
            exactly(value <= limit, value, "Gauss-Newton over gradient descent")
            for value in values)) if values else undecided("no runs")
    return verdicts


def claims(limit):
    """What is asked of each network."""
    return {name: f"at most {limit} times gradient descent's ({name})" for name in FULL["shapes"]}


def bars(results, figure, number, limit, label):
    panel = figure.subplots()
    told = {(one["inputs"], one["blocks"], one["width"], one["batch"]): None
            for one in results.arguments()}
    for k, shape in enumerate(told):
        value = float(np.median(ratios(results, shape, number)))
        panel.bar(k, value, width=0.5)
        panel.annotate(f"{value:.2f}", (k, value), ha="center", va="bottom")
    panel.axhline(limit, color="0.3", linewidth=0.8)
    panel.annotate(f"limit {limit}", (0.5, limit), ha="center", va="bottom")
    panel.set_ylim(0, 1.3 * max(limit, panel.dataLim.ymax))
    panel.set_xticks(range(len(told)), [f"{d} inputs, {L} blocks, d' = {w}, n = {n}"
                                        for d, L, w, n in told])
    panel.set_ylabel(label)
    figure.suptitle("A step of Gauss-Newton beside one of gradient descent (random data, float32)",
                    fontsize=10)


@study(PAPER, "claim-cost", shows="CPU time of a Gauss-Newton step over one of gradient descent",
       claims=claims(1.5),
       full=FULL | {"seeds": (0, 1, 2, 3, 4)}, quick=QUICK, seconds=(170, 1),
       smaller=SMALLER,
       deviation=DEVIATION + "; 1.5 is our reading of "
       "'nearly'")
class Cost:
    def runs(self, settings, results):
        return step_runs(settings)

    def judge(self, results, settings):
        return judged(results, settings, "seconds", 1.5)

    def draw(self, results, figure, settings):
        bars(results, figure, "seconds", 1.5, "CPU time over gradient descent's")


@study(PAPER, "claim-memory", shows="Memory of a Gauss-Newton step over gradient descent's",
       claims=claims(1.1),
       full=FULL, quick=QUICK, seconds=(80, 1), smaller=SMALLER,
       deviation=DEVIATION + "; network included")
class Memory:
    def runs(self, settings, results):
        return step_runs(settings)

    def judge(self, results, settings):
        return judged(results, settings, "bytes", 1.1)

    def draw(self, results, figure, settings):
        bars(results, figure, "bytes", 1.1, "peak memory over gradient descent's")


NAMES = {"mnist": "MNIST", "cifar": "CIFAR-10"}
PRINTED = {"mnist": (784, 2, 8000, 12_544_000), "cifar": (3072, 6, 8000, 147_456_000)}


def weights(inputs, blocks, width, share):
    """Trained weights of a network with a `share`-th of the bottleneck, times that share: every
    weight matrix is (d/2, d').
    """
    network = RevMLP(inputs, blocks, width // share, outputs=10, rng=0, dtype="float32")
    return {"weights": share * so.exact.gradient(network, LOSS, np.zeros((1, inputs)), [0]).size}


@study(PAPER, "claim-size", shows="Trained weights of the two networks",
       claims={name: f"the network for {name} has {told[-1]:,} trained weights"
               for name, told in PRINTED.items()},
       full={"seeds": (0,)}, quick={"seeds": (0,)}, seconds=(2, 1),
       deviation="counted on networks with a hundredth of the bottleneck")
class Size:
    def runs(self, settings, results):
        return [Run(weights, {"inputs": d, "blocks": L, "width": width, "share": 100})
                for d, L, width, _ in PRINTED.values()]

    def judge(self, results, settings):
        verdicts = {}
        for name, (d, L, width, count) in PRINTED.items():
            number = results.of(inputs=d, blocks=L, width=width)[0]["weights"]
            verdicts[name] = exactly(number == count, number, "trained weights")
        return verdicts

    def draw(self, results, figure, settings):
        for k, (name, (d, L, width, count)) in enumerate(PRINTED.items()):
            number = results.of(inputs=d, blocks=L, width=width)[0]["weights"]
            figure.text(0.5, 0.6 - 0.2 * k, f"{NAMES[name]}: {number:,} trained weights, "
                        f"{count:,} in print", ha="center", fontsize=14)
