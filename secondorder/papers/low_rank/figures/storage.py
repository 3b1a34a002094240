"""Claim: what the curvature needs to keep is comparable to a gradient."""

import tracemalloc

import numpy as np

import secondorder as so
from secondorder.studies import Run, exactly, study, undecided

from .. import PAPER
from .depth_cost import ROUTES

#: Claim -> route, samples, and the most gradients that it may hold.
CASES = {"tangent": ("tangent", 32, 1.5), "eta-sample": ("eta", 1, 2.0),
         "eta-batch": ("eta", 32, 2.0)}

MEASURE = "peak over a gradient's bytes"


def peaks(seed, route, samples, inputs, layers, width):
    """Most bytes held at a time by a directional curvature, evaluated before; and a gradient's."""
    rng = np.random.default_rng(seed)
    network = so.mlp([inputs, *[width] * layers, 10], activation="relu", bias=False, rng=seed,
                     dtype="float32")
    x, y = rng.random((samples, inputs)).astype("float32"), rng.integers(0, 10, samples)
    loss = so.SoftmaxCrossEntropy()
    evaluation = network.evaluate(loss, x, y)
    direction = -evaluation.gradient
    return {"curvature": peak(lambda: ROUTES[route](evaluation, direction)),
            "gradient": direction.nbytes}


def peak(function):
    """Most bytes that a second call holds beyond what was there before."""
    function()
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@study(PAPER, "claim-storage",
       shows="Peak memory of a directional curvature over a gradient's bytes",
       claims={"tangent": "by one tangent, a batch of 32: at most 1.5 times a gradient's",
               "eta-sample": "with every eta formed, one sample: at most twice",
               "eta-batch": "the same, a batch of 32: at most twice"},
       full={"inputs": 784, "layers": 12, "width": 128, "seeds": (0,)},
       quick={"inputs": 64, "layers": 6, "width": 64, "seeds": (0,)}, seconds=(10, 1),
       deviation="the paper gives no number; its sentence is read for one sample and for a batch")
class Storage:
    def runs(self, settings, results):
        sizes = {name: settings[name] for name in ("inputs", "layers", "width")}
        return [Run(peaks, {"seed": seed, "route": route, "samples": samples, **sizes})
                for seed in settings["seeds"] for route, samples, _ in CASES.values()]

    def judge(self, results, settings):
        verdicts = {}
        for letter, (route, samples, limit) in CASES.items():
            ratios = [one["curvature"] / one["gradient"]
                     for one in results.of(route=route, samples=samples)]
            verdicts[letter] = (exactly(max(ratios) <= limit, max(ratios), MEASURE) if ratios
                                else undecided("no runs"))
        return verdicts

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        for place, (route, samples, limit) in enumerate(CASES.values()):
            (one,) = results.of(route=route, samples=samples)[:1]
            ratio = one["curvature"] / one["gradient"]
            axes.plot(place, ratio, "o^s"[place], color=f"C{place}")
            axes.annotate(f"{ratio:.2f}", (place + 0.06, ratio), va="center")
            axes.plot((place - 0.3, place + 0.3), (limit, limit), color="0.2")
        axes.set_xticks(range(3), ["one tangent,\n32 samples",
                                   "every eta,\n1 sample", "every eta,\n32 samples"])
        axes.set(yscale="log", ylabel=f"{MEASURE} (line: the limit)")
        figure.suptitle(f"Memory of a directional curvature: {settings['inputs']}-"
                        f"{settings['layers']}x{settings['width']}-10, float32", fontsize=10)
