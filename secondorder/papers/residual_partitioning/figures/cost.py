"""What a step costs: time over SGD's and Adam's, and memory."""

import gc
import tracemalloc

import numpy as np

from secondorder.studies import Run, bars, both, exactly, in_turns, legend_below, repeated, study

from .. import PAPER
from . import networks
from .networks import METHODS, NAMES

CASES = [(kind, inputs) for kind in networks.KINDS for inputs in (784, 3072)]
TITLES = [f"{kind}\n{inputs} inputs" for kind, inputs in CASES]
PRINTED = {"adam": 1.36, "sgd": 1.66}


def optimizer_of(method, kind, inputs, seed):
    network, loss = networks.network_of(kind, inputs, seed)
    return METHODS[method](network, loss, learning_rate=1e-4)


def step_ratios(seed, kind, inputs, rounds, steps):
    """Residual partitioning's step over each other method's."""
    batch = networks.random_batch(kind, inputs, seed)
    ours, *others = (optimizer_of(method, kind, inputs, seed)
                     for method in ("partitioning", *PRINTED))
    return {name: float(np.median(in_turns(ours, other, batch, rounds, steps)))
            for name, other in zip(PRINTED, others)}


@study(PAPER, "timing",
       shows="CPU time of a step of residual partitioning over one of SGD and of Adam, one thread",
       claims={f"{kind}-{inputs}": f"{kind}, {inputs} inputs: a step takes 1.36 times Adam's and "
                                   "1.66 times SGD's (at most 10 % more than that)"
               for kind, inputs in CASES},
       full={"rounds": 15, "steps": 20, "seeds": (0, 1, 2, 3, 4)},
       quick={"rounds": 3, "steps": 2, "seeds": (0,)}, seconds=(120, 4),
       smaller="one thread, NumPy",
       deviation="all methods are those of this package, on one thread; the paper has PyTorch's "
                 "on 16 cores and does not say which network was timed")
class Timing:
    def runs(self, settings, results):
        return [Run(step_ratios, {"seed": seed, "kind": kind, "inputs": inputs,
                                  "rounds": settings["rounds"], "steps": settings["steps"]})
                for seed in settings["seeds"] for kind, inputs in CASES]

    def judge(self, results, settings):
        return {f"{kind}-{inputs}": repeated(*(both(*(
            exactly(times[other] <= 1.1 * printed, times[other], f"step over {NAMES[other]}'s",
                    f"printed: {printed}", 0) for other, printed in PRINTED.items()))
            for times in results.of(kind=kind, inputs=inputs))) for kind, inputs in CASES}

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        bars(axes, {f"over {NAMES[other]}'s (line: as printed, {printed})": [
            np.median([one[other] for one in results.of(kind=kind, inputs=inputs)])
            for kind, inputs in CASES] for other, printed in PRINTED.items()}, TITLES)
        for k, printed in enumerate(PRINTED.values()):
            axes.axhline(printed, color=f"C{k}", linestyle=("-", "--")[k], linewidth=0.8)
        axes.set(ylabel="CPU time of a step over the other's",
                 title="A step of residual partitioning over one of Adam and of SGD")
        legend_below(figure, axes)


def bytes_of(seed, kind, inputs, method):
    """Bytes, over those of one vector of P parameters: ``held`` between two steps; ``first`` and
    ``warm``, peak of the first step and of a later one. All over what there was before the method
    was made.
    """
    batch = networks.random_batch(kind, inputs, seed)
    for _ in range(2):  # in the first round loops are compiled, which takes memory of its own
        network, loss = networks.network_of(kind, inputs, seed)
        gc.collect()
        tracemalloc.start()
        before, sizes = tracemalloc.get_traced_memory()[0], {}
        optimizer = METHODS[method](network, loss, learning_rate=1e-4)
        for name in ("first", "warm"):
            tracemalloc.reset_peak()
            optimizer.step(*batch)
            sizes[name] = tracemalloc.get_traced_memory()[1] - before
        gc.collect()
        sizes["held"] = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
    return {name: round(value / network.theta.nbytes, 2) for name, value in sizes.items()}


@study(PAPER, "claim-memory",
       shows="Bytes of residual partitioning and Adam, held between steps and at the peak",
       claims={"held": "it is memory efficient: between steps it holds at most one vector of all P "
                       "parameters beyond what Adam does",
               "peak": "the same for the peak of a first and of a later step"},
       full={"seeds": (0,)}, quick={"seeds": (0,)}, seconds=(10, 8),
       deviation="no number is printed; the margin, one vector of all P parameters, is ours")
class Memory:
    def runs(self, settings, results):
        return [Run(bytes_of, {"seed": seed, "kind": kind, "inputs": inputs, "method": method})
                for seed in settings["seeds"] for kind, inputs in CASES
                for method in ("partitioning", "adam")]

    def judge(self, results, settings):
        def beyond(*names):
            ours, adam = (np.array([[one[name] for name in names]
                                    for kind, inputs in CASES
                                    for one in results.of(kind=kind, inputs=inputs, method=method)])
                          for method in ("partitioning", "adam"))
            worst = np.unravel_index((ours - adam).argmax(), ours.shape)
            value = ours[worst] - adam[worst]
            return exactly(value <= 1, value, "vectors of P beyond Adam's, largest of 4 cases",
                           f"{ours[worst]:.3g} there, Adam {adam[worst]:.3g}", 0)

        return {"held": beyond("held"), "peak": beyond("first", "warm")}

    def draw(self, results, figure, settings):
        panels = figure.subplots(1, 4, sharey=True)
        names = {"held": "held", "first": "peak,\nfirst", "warm": "peak,\nlater"}
        for axes, (kind, inputs), title in zip(panels, CASES, TITLES):
            sizes = {method: results.of(kind=kind, inputs=inputs, method=method)[0]
                     for method in ("partitioning", "adam")}
            bars(axes, {NAMES[method]: [one[name] for name in names]
                        for method, one in sizes.items()}, names.values(), told="")
            axes.set_title(title, fontsize=8)
        panels[0].set_ylabel("bytes / bytes of P parameters", fontsize=8)
        legend_below(figure, panels[0])
        figure.suptitle("Memory of a method between two steps, and peaks of a step", fontsize=10)
