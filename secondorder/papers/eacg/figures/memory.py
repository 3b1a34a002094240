"""Claim: with 150,528 inputs KFI's matrices do not fit; EA-CG's step needs little more memory than
SGD's.
"""

import tracemalloc

import numpy as np

import secondorder as so
from secondorder.studies import Run, exactly, study

from .. import PAPER, eq_11_table_1 as complexity
from .training import optimizer_of

WIDE = complexity.IMAGENET_10
METHODS = ("sgd", "ea-cg", "kfi")


def peak_of(method, widths, batch):
    """Bytes of a step at its peak, parameters included."""
    rng = np.random.default_rng(0)
    x = rng.random((batch, widths[0]), dtype="float32")
    y = rng.integers(0, widths[-1], batch)
    tracemalloc.start()
    network = so.mlp(widths, activation="sigmoid", init="xavier", rng=0, dtype="float32")
    optimizer = (so.SGD(network, so.SoftmaxCrossEntropy(), learning_rate=1e-3) if method == "sgd"
                 else optimizer_of(network, so.SoftmaxCrossEntropy(), method, "pch-1", 1e-3, 0.02))
    optimizer.step(x, y)
    tracemalloc.reset_peak()
    optimizer.step(x, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"peak": peak, "parameters": network.theta.nbytes}


@study(PAPER, "claim-memory",
       shows="Peak bytes of a step with 150,528 inputs, and of the matrix that KFI would need",
       claims={"kfi": "the matrix of the first layer's inputs takes over 80 GB in float32",
               "beyond": "what EA-CG's step takes beyond SGD's is below a tenth of that matrix",
               "ea-cg": "EA-CG's peak is at most 1.5 times SGD's"},
       full={"widths": WIDE, "batch": 100, "seeds": (0,)},
       quick={"widths": (3000, 64, 10), "batch": 20, "seeds": (0,)}, seconds=(60, 2),
       ours=("ea-cg",),
       deviation="random inputs of the width; KFI itself runs here, by a Gram matrix of the batch")
class Memory:
    def runs(self, settings, results):
        return [Run(peak_of, {"method": method, "widths": list(settings["widths"]),
                              "batch": settings["batch"]}) for method in METHODS]

    def judge(self, results, settings):
        square = 4 * settings["widths"][0] ** 2
        (sgd,), (ours,) = (results.of(method=name) for name in ("sgd", "ea-cg"))
        beyond, ratio = ours["peak"] - sgd["peak"], ours["peak"] / sgd["peak"]
        return {"kfi": exactly(square > 80e9, square / 1e9, "GB"),
                "beyond": exactly(10 * beyond < square, square / beyond,
                                  "that matrix over what EA-CG takes beyond SGD"),
                "ea-cg": exactly(ratio <= 1.5, ratio, "peak over SGD's")}

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        peaks = [results.of(method=name)[0]["peak"] / 1e9 for name in METHODS]
        axes.bar_label(axes.bar(np.arange(3), peaks, 0.6), fmt="%.2g")
        square = 4 * settings["widths"][0] ** 2 / 1e9
        axes.bar_label(axes.bar(3, square, 0.6, color="0.7"), fmt="%.2g")
        axes.set_xticks(np.arange(4), ["SGD", "EA-CG", "KFI by a\nGram matrix",
                                   "inputs' matrix\nthat it avoids"])
        axes.set(ylabel="GB at the peak of a step",
                 title="Memory of one step, float32, random inputs: "
                       f"{settings['widths'][0]} of them")
