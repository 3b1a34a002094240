"""Claim: a cubic step is not significantly dearer than one of gradient descent."""

import time

import numpy as np

import secondorder as so
from secondorder.studies import Run, exactly, repeated, study, undecided

from .. import PAPER

WIDTHS = (784, 3072)


def step_ratio(seed, inputs, layers, width, rounds):
    """Median of the ratio of CPU seconds, cubic step over step of gradient descent, in turns."""
    rng = np.random.default_rng(seed)
    x, y = rng.random((32, inputs)).astype("float32"), rng.integers(0, 10, 32)
    optimizers = []
    for cubic in (False, True):
        network = so.mlp([inputs, *[width] * layers, 10], activation="relu", bias=False, init=0.2,
                         rng=seed, dtype="float32")
        base = so.SGD(network, so.SoftmaxCrossEntropy(), learning_rate=1e-3)
        optimizers.append(so.CubicRegularization(base, sigma=100.0) if cubic else base)
    ratios = []
    for _ in range(rounds):
        seconds = []
        for optimizer in optimizers:
            optimizer.step(x, y)
            began = time.process_time()
            for _ in range(10):
                optimizer.step(x, y)
            seconds.append(time.process_time() - began)
        ratios.append(seconds[1] / seconds[0])
    return {"ratio": float(np.median(ratios)), "smallest": min(ratios), "largest": max(ratios)}


@study(PAPER, "claim-step-cost", shows="CPU time of a cubic step over one of gradient descent",
       claims={str(inputs): f"at most 2.2 with {inputs} inputs" for inputs in WIDTHS},
       full={"layers": 12, "width": 128, "rounds": 15, "seeds": (0, 1, 2, 3, 4)},
       quick={"layers": 6, "width": 64, "rounds": 5, "seeds": (0,)}, seconds=(10, 1),
       deviation="the paper gives no number; 2.2 is our reading of 'not significantly'")
class StepCost:
    def runs(self, settings, results):
        sizes = {name: settings[name] for name in ("layers", "width", "rounds")}
        return [Run(step_ratio, {"seed": seed, "inputs": inputs, **sizes})
                for seed in settings["seeds"] for inputs in WIDTHS]

    def judge(self, results, settings):
        verdicts = {}
        for inputs in WIDTHS:
            repeats = [exactly(one["ratio"] <= 2.2, one["ratio"], "ratio")
                       for one in results.of(inputs=inputs)]
            verdicts[str(inputs)] = repeated(*repeats) if repeats else undecided("no runs")
        return verdicts

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        for k, inputs in enumerate(WIDTHS):
            ratio = float(np.median([one["ratio"] for one in results.of(inputs=inputs)]))
            axes.bar(k, ratio, color=f"C{k}", width=0.5)
            axes.annotate(f"{ratio:.2f}", (k, ratio), ha="center", va="bottom")
        axes.axhline(2.2, color="0.3", linewidth=0.8)
        axes.annotate("limit 2.2", (0.5, 2.2), ha="center", va="bottom")
        axes.set(xticks=range(len(WIDTHS)), xticklabels=[f"{inputs} inputs" for inputs in WIDTHS],
                 ylabel="CPU time of a step over gradient descent's",
                 title="A cubic step beside one of gradient descent (random data, batch 32, "
                 "float32)")
        axes.set_ylim(0, 1.1 * max(2.2, axes.dataLim.ymax))
