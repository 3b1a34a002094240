"""Claims: a Gauss-Newton step costs, and keeps, nearly what one of gradient descent does; how large
the networks are.
"""

import time
import tracemalloc

import numpy as np

import secondorder as so
from secondorder.studies import Run, exactly, repeated, study

from .. import PAPER, RevMLP
from .training import LOSS, optimizer_of

METHODS = ("gn", "sgd")
NAMES = {"mnist": "MNIST", "cifar": "CIFAR-10"}
PRINTED = {"mnist": (784, 2, 8000, 12), "cifar": (3072, 6, 8000, 147)}  # the last: million weights
SHARE = 100  # the printed networks are counted with a hundredth of their bottleneck
LIMITS = {"seconds": 1.5, "bytes": 1.1}
TOLD = {"seconds": "CPU time", "bytes": "peak memory"}


def compare(seed, inputs, blocks, width, batch, rounds):
    """Median CPU seconds of a step by both methods, which take turns, and the most bytes that a
    step holds, network included.
    """
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((batch, inputs)).astype("float32")
    y = rng.integers(0, 10, batch)

    def of(method):
        return optimizer_of(RevMLP(inputs, blocks, width, outputs=10, init=1e-3, rng=seed,
                                   dtype="float32"), method, 1e-3)

    peaks, times = {}, {name: [] for name in METHODS}
    for method in METHODS:
        small = RevMLP(4, 1, 8, outputs=2, rng=0, dtype="float32")
        optimizer_of(small, method, 1e-3).step(np.ones((2, 4)), [0, 1])  # late imports stay out
        tracemalloc.start()
        optimizer = of(method)
        optimizer.step(x, y)
        tracemalloc.reset_peak()
        optimizer.step(x, y)
        peaks[method] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        del optimizer
    optimizers = {method: of(method) for method in METHODS}
    for method, optimizer in rounds * list(optimizers.items()):
        began = time.process_time()
        optimizer.step(x, y)
        times[method].append(time.process_time() - began)
    return {"seconds": {method: float(np.median(times[method])) for method in METHODS},
            "bytes": peaks}


def weights(inputs, blocks, width):
    """Trained weights of a network: every weight matrix is (d/2, d')."""
    network = RevMLP(inputs, blocks, width // SHARE, outputs=10, rng=0, dtype="float32")
    return {"weights": SHARE * so.exact.gradient(network, LOSS, np.zeros((1, inputs)), [0]).size}


def ratios(results, shape, number):
    """Gauss-Newton's over gradient descent's, one a repeat."""
    return [told[number]["gn"] / told[number]["sgd"]
            for told in results.of(inputs=shape[0], width=shape[2], batch=shape[3])]


@study(PAPER, "claim-cost",
       shows="CPU time and memory of a Gauss-Newton step over one of gradient descent",
       claims={f"{number}-{name}": f"a step of Gauss-Newton takes at most {LIMITS[number]} times "
               f"the {TOLD[number]} of one of gradient descent ({NAMES[name]})"
               for number in LIMITS for name in NAMES}
       | {f"size-{name}": f"the network for {NAMES[name]} has {told[-1]} million trained weights"
          for name, told in PRINTED.items()},
       full={"shapes": {"mnist": (784, 2, 8000, 1024), "cifar": (768, 6, 1600, 205)}, "rounds": 5,
             "seeds": (0, 1, 2)},
       quick={"shapes": {"mnist": (64, 2, 96, 48), "cifar": (48, 6, 64, 24)}, "rounds": 2,
              "seeds": (0,)}, seconds=(250, 1),
       smaller="CIFAR-10 at 16 x 16 pixels, d' = 1600; MNIST as printed",
       deviation="MNIST at the printed size; CIFAR-10 at 16 x 16 pixels, d' = 1600, n = 205: the "
       "printed network is counted alone. Gram matrices instead of the printed singular values. "
       "The paper says 'nearly the same'; 1.5 and 1.1 are our readings")
class Cost:
    def runs(self, settings, results):
        names = ("inputs", "blocks", "width", "batch")
        return [Run(compare, dict(zip(names, shape)) | {"seed": seed,
                                                        "rounds": settings["rounds"]})
                for seed in settings["seeds"] for shape in settings["shapes"].values()] + [
            Run(weights, dict(zip(names, printed[:3]))) for printed in PRINTED.values()]

    def judge(self, results, settings):
        verdicts = {f"{number}-{name}": repeated(*(
            exactly(value <= limit, value, "Gauss-Newton over gradient descent")
            for value in ratios(results, shape, number)))
            for number, limit in LIMITS.items() for name, shape in settings["shapes"].items()}
        for name, (inputs, blocks, width, millions) in PRINTED.items():
            count = results.returned(Run(weights, {"inputs": inputs, "blocks": blocks,
                                                   "width": width}))["weights"]
            verdicts[f"size-{name}"] = exactly(count // 10**6 == millions, count, "trained weights")
        return verdicts

    def draw(self, results, figure, settings):
        for panel, (number, limit) in zip(figure.subplots(1, 2), LIMITS.items()):
            names = [f"{d} inputs, {L} blocks,\nd' = {w}, n = {n}"
                     for d, L, w, n in settings["shapes"].values()]
            panel.bar_label(panel.bar(names, [
                np.median(ratios(results, shape, number)) for shape in settings["shapes"].values()],
                0.5, color=["C0", "C1"]), fmt="%.2f")
            panel.axhline(limit, color="0.3", linewidth=0.8)
            panel.annotate(f"limit {limit}", (0.5, limit), ha="center", va="bottom")
            panel.set_ylim(0, 1.3 * max(limit, panel.dataLim.ymax))
            panel.set_ylabel(f"{TOLD[number]} over gradient descent's")
        figure.suptitle("A step of Gauss-Newton beside one of gradient descent (random data, "
                        "float32)", fontsize=10)
