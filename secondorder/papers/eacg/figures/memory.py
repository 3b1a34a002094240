"""Claim: with 150,528 inputs KFI's matrices do not fit; EA-CG's step needs little more memory than
SGD's.
"""

import tracemalloc

import numpy as np

import secondorder as so
from secondorder.studies import Run, exactly, study

from .. import PAPER, eq_11_table_1 as complexity
from .training import optimizer_of

METHODS = ("sgd", "ea-cg")
GPU = 11e9  # bytes of the paper's, a GTX 1080 Ti


def peak_of(method, widths, batch):
    """Bytes of a step at its peak, parameters included, by the paper's solver; EA-CG with two
    products of conjugate gradients, as more of them need no more memory.
    """
    rng = np.random.default_rng(0)
    x = rng.random((batch, widths[0]), dtype="float32")
    y = rng.integers(0, widths[-1], batch)
    tracemalloc.start()
    network = so.mlp(widths, activation="sigmoid", init="xavier", rng=0, dtype="float32")
    loss = so.SoftmaxCrossEntropy()
    optimizer = (so.SGD(network, loss, learning_rate=1e-3) if method == "sgd" else
                 optimizer_of(network, loss, method, "pch-1", 1e-3, 0.02, products=2))
    optimizer.step(x, y)
    tracemalloc.reset_peak()
    optimizer.step(x, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"peak": peak, "parameters": network.theta.nbytes}


@study(PAPER, "claim-memory",
       shows="Peak bytes of a step with 150,528 inputs, and of the matrix that KFI would need",
       claims={"kfi": "KFI does not fit the paper's GPU: the matrix of its first layer's inputs "
                      "alone takes more than 11 GB",
               "beyond": "what EA-CG's step takes beyond SGD's is below a tenth of that matrix",
               "ea-cg": "EA-CG's peak is at most 1.5 times SGD's"},
       full={"widths": complexity.IMAGENET_10, "batch": 100, "seeds": (0,)},
       quick={"widths": (3000, 64, 10), "batch": 20, "seeds": (0,)}, seconds=(60, 2),
       ours=("ea-cg",),
       deviation="random inputs of the width; SGD without momentum, which takes less")
class Memory:
    def runs(self, settings, results):
        return [Run(peak_of, {"method": method, "widths": list(settings["widths"]),
                              "batch": settings["batch"]}) for method in METHODS]

    def judge(self, results, settings):
        square = 4 * settings["widths"][0] ** 2
        (sgd,), (ours,) = (results.of(method=name) for name in METHODS)
        beyond, ratio = ours["peak"] - sgd["peak"], ours["peak"] / sgd["peak"]
        return {"kfi": exactly(square > GPU, square / 1e9, "GB"),
                "beyond": exactly(10 * beyond < square, square / beyond,
                                  "that matrix over what EA-CG takes beyond SGD"),
                "ea-cg": exactly(ratio <= 1.5, ratio, "peak over SGD's")}

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        gigabytes = [results.of(method=name)[0]["peak"] / 1e9 for name in METHODS]
        gigabytes.append(4 * settings["widths"][0] ** 2 / 1e9)
        axes.bar_label(axes.bar(range(3), gigabytes, 0.6, color=["C0", "C3", "0.7"]), fmt="%.3g")
        axes.axhline(GPU / 1e9, color="0.5", linewidth=0.8)
        axes.set_xticks(range(3), ["a step of SGD", "a step of EA-CG", "KFI's matrix\nof the "
                                   "inputs alone"])
        axes.set(ylabel="GB (line: the paper's GPU)", yscale="log",
                 title=f"Memory, float32, {settings['widths'][0]:,} random inputs")
