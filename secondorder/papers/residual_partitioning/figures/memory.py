"""Claim: the method is memory efficient."""

import gc
import tracemalloc

import numpy as np

from secondorder.studies import Run, exactly, study

from .. import PAPER
from .networks import BATCH, METHODS, NAMES, network_of

CASES = [(kind, inputs) for kind in ("autoencoder", "classifier") for inputs in (784, 3072)]


def bytes_of(seed, kind, inputs, method):
    """Bytes, over those of one vector of P parameters.

    ``state``: arrays that the next step cannot do without; ``held``: everything that stays between
    two steps, arrays for reuse included; ``first`` and ``warm``: peak of the first step and of a
    later one, over what there was before the method was made.
    """
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (BATCH, inputs)).astype("float32")
    y = x if kind == "autoencoder" else rng.integers(0, 10, BATCH)
    optimizer_class, options = METHODS[method]
    for _ in range(2):  # in the first round loops are compiled, which takes memory of its own
        network, loss = network_of(kind, inputs, seed)
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        optimizer = optimizer_class(network, loss, learning_rate=1e-4, **options)
        sizes = {}
        for name in ("first", "warm"):
            tracemalloc.reset_peak()
            optimizer.step(x, y)
            sizes[name] = tracemalloc.get_traced_memory()[1] - before
        gc.collect()
        sizes["held"] = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
    sizes["state"] = sum(value.nbytes for value in optimizer.state_dict().values()
                         if isinstance(value, np.ndarray))
    return {name: value / network.theta.nbytes for name, value in sizes.items()}


@study(PAPER, "claim-memory",
       shows="Bytes of residual partitioning and Adam, held between steps and at the peak",
       claims={"state": "what a step must remember: nothing (Adam: two vectors of P)",
               "held": "what stays between steps, arrays for reuse included, is at most Adam's and "
                       "one vector more",
               "peak": "the peak of a first and of a later step is at most Adam's and one "
                       "vector more"},
       full={"seeds": (0,)}, quick={"seeds": (0,)}, seconds=(10, 8),
       deviation="no number is printed; the margin of one vector is ours")
class Memory:
    def runs(self, settings, results):
        return [Run(bytes_of, {"seed": seed, "kind": kind, "inputs": inputs, "method": method})
                for seed in settings["seeds"] for kind, inputs in CASES
                for method in ("partitioning", "adam")]

    def judge(self, results, settings):
        pairs = [[results.of(kind=kind, inputs=inputs, method=method)[0]
                  for method in ("partitioning", "adam")] for kind, inputs in CASES]
        state = max(ours["state"] for ours, _ in pairs)
        beyond = {"held": max(ours["held"] - adam["held"] for ours, adam in pairs),
                  "peak": max(ours[name] - adam[name] for ours, adam in pairs
                              for name in ("first", "warm"))}
        nothing = state == 0 and all(round(adam["state"]) == 2 for _, adam in pairs)
        return {"state": exactly(nothing, state, "vectors of P")} | {
            name: exactly(value <= 1, value, "vectors of P beyond Adam's, largest of 4 cases")
            for name, value in beyond.items()}

    def draw(self, results, figure, settings):
        panels = figure.subplots(1, 4, sharey="row")
        names = ("state", "held", "first", "warm")
        for axes, (kind, inputs) in zip(panels, CASES):
            for k, method in enumerate(("partitioning", "adam")):
                sizes = results.of(kind=kind, inputs=inputs, method=method)[0]
                axes.bar(np.arange(4) + 0.4 * k, [sizes[name] for name in names], 0.38,
                         color=("C3", "C2")[k], hatch=("", "//")[k], label=NAMES[method])
            axes.set_xticks(np.arange(4) + 0.2, ("state", "held", "peak,\nfirst",
                                                 "peak,\nlater"), fontsize=7)
            axes.set_title(f"{kind}, {inputs} inputs", fontsize=8)
        panels[0].set_ylabel("bytes / bytes of P parameters", fontsize=8)
        panels[0].set_ylim(0, 1.2 * panels[0].get_ylim()[1])
        panels[-1].legend(fontsize=7)
        figure.suptitle("Memory of a method: what it must remember, what it holds, and peaks",
                        fontsize=10)
