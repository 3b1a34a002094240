"""Claims on cost: a step beside gradient descent's, time over depth and width, memory."""

import time
import tracemalloc

import numpy as np

import secondorder as so
from secondorder.studies import (Run, bars, exactly, in_turns, legend_under, marks, readings,
                                 repeated, study, undecided)

from .. import PAPER
from ..eq_37_43_step_length import eq_38_39
from ..layers import fcnn

BATCH = 32


def by_every_eta(evaluation, g):
    """g^T H g by (39), of networks of ReLU without biases, as the paper counts its products: every
    eta^(k,r) of every sample is formed, used and dropped, one product with w^(k) from the layer
    below.
    """
    layers, f_pp = fcnn(evaluation)
    phi = [layer.own.split(g[layer.where])[0] for layer in layers]
    h, p_dot = 0.0, 0.0
    for r, layer in enumerate(layers):
        moved = (layer.v @ phi[r].T)[:, :, None]
        eta = layer.slope[:, :, None] * np.eye(layer.slope.shape[1], dtype=g.dtype)  # eta^(r,r)
        for k in range(r + 1, len(layers)):
            v_dot = (eta @ moved)[:, :, 0]
            h += 2 * np.vdot(layers[k].f_z, v_dot @ phi[k].T)
            eta = layers[k].slope[:, :, None] * (layers[k].own.weight @ eta)
        p_dot = p_dot + eta @ moved
    return (h + np.vdot(p_dot, f_pp @ p_dot)) / evaluation.samples


LABELS = {"eta": "every eta formed", "tangent": "one tangent"}
ROUTES = {"eta": by_every_eta, "tangent": lambda evaluation, g: eq_38_39(evaluation, g)[1]}


def cost(seed, route, layers, width, rounds):
    """Least CPU seconds of g^T H g at an evaluation, and the multiplications of its products."""
    rng = np.random.default_rng(seed)
    network = so.mlp([width] * (layers + 1) + [10], activation="relu", bias=False, rng=seed)
    x, y = rng.random((BATCH, width)), rng.integers(0, 10, BATCH)
    evaluation = network.evaluate(so.SoftmaxCrossEntropy(), x, y)
    direction, times = -evaluation.gradient, []
    for _ in range(rounds + 1):  # the first one warms up
        began = time.process_time()
        for _ in range(4):
            ROUTES[route](evaluation, direction)
        times.append((time.process_time() - began) / 4)
    return {"seconds": min(times[1:]), "multiplications": multiplications(route, layers, width)}


def multiplications(route, layers, width):
    """By the formula: W^k eta^(k-1,r) for every pair of layers r < k; or P v and W v' a layer."""
    d = [width] * (layers + 1) + [10]
    if route == "eta":
        return BATCH * sum(d[k + 1] * d[k] * d[r + 1] for r in range(len(d) - 2)
                           for k in range(r + 1, len(d) - 1))
    return BATCH * sum(3 * d[k + 1] * d[k] for k in range(len(d) - 1))


def slope(results, route, number, by, **fixed):
    """Least-squares slope of log number over log of depth or width; None of one size."""
    points = sorted(results.points(by, lambda run: run[number], route=route, **fixed))
    return float(np.polyfit(*np.log(np.array(points)).T, 1)[0]) if len(points) > 1 else None


@study(PAPER, "claim-depth-cost",
       shows="CPU time of a directional curvature over depth and over width, by two routes",
       claims={"depth-eta": "by the paper's formula (every eta formed) the time grows at most "
                            "quadratically with depth (power up to 2.4)",
               "width-eta": "by the paper's formula the time grows at most cubically with width "
                            "(power up to 3.2)",
               "depth-tangent": "by one tangent the time grows at most linearly with depth (power "
                                "up to 1.2)"},
       full={"depths": (4, 8, 16), "widths": (16, 32, 64), "rounds": 60,
             "seeds": (0, 1, 2, 3, 4)},
       quick={"depths": (4, 8), "widths": (16, 32), "rounds": 3, "seeds": (0,)}, seconds=(60, 2),
       ours=("depth-tangent",), smaller="widths 16 to 64, up to 16 layers",
       deviation="the paper gives orders and no measurement; batch of 32, float64")
class DepthCost:
    def runs(self, settings, results):
        points = [(depth, 32) for depth in settings["depths"]]
        points += [(8, width) for width in settings["widths"] if width != 32]
        return [Run(cost, {"seed": seed, "route": route, "layers": layers, "width": width,
                           "rounds": settings["rounds"]})
                for seed in settings["seeds"] for route in ROUTES for layers, width in points]

    def judge(self, results, settings):
        told = {"depth-eta": ("eta", "layers", {"width": 32}, 2.4),
                "width-eta": ("eta", "width", {"layers": 8}, 3.2),
                "depth-tangent": ("tangent", "layers", {"width": 32}, 1.2)}
        return {letter: repeated(*(self.grows(results, route, by, most, seed=seed, **fixed)
                                   for seed in settings["seeds"]))
                for letter, (route, by, fixed, most) in told.items()}

    def grows(self, results, route, by, most, **fixed):
        """Whether the time grows with a power that is not above `most`, in one repeat."""
        order = slope(results, route, "seconds", by, **fixed)
        if order is None:
            return undecided("it takes two sizes at least")
        count = slope(results, route, "multiplications", by, **fixed)
        return exactly(order <= most, order, "power of the size by which the time grows",
                       f"the counted multiplications grow with the power {count:.2f}")

    def draw(self, results, figure, settings):
        for panel, by, fixed in zip(figure.subplots(1, 2, sharey=True), ("layers", "width"),
                                    ({"width": 32}, {"layers": 8})):
            for k, (route, label) in enumerate(LABELS.items()):
                points = results.points(by, lambda run: 1e3 * run["seconds"], route=route, **fixed)
                order = slope(results, route, "seconds", by, **fixed)
                marks(panel, points, k, label=f"{label}: slope {order:.2f}")
            ticks = sorted({size for size, _ in points})
            panel.set(xlabel=by, xscale="log", yscale="log")
            panel.set_xticks(ticks, map(str, ticks))
            panel.minorticks_off()
            legend_under(panel)
        figure.axes[0].set_ylabel("CPU time, ms")
        figure.suptitle("Directional curvature of ReLU networks, batch of 32: over depth at width "
                        "32, over width at depth 8; one mark per repeat", fontsize=10)


WIDTHS = (784, 3072)


def step_ratio(seed, inputs, layers, width, rounds):
    """Median of the ratio of CPU seconds, cubic step over step of gradient descent, in turns."""
    rng = np.random.default_rng(seed)
    batch = rng.random((32, inputs)).astype("float32"), rng.integers(0, 10, 32)
    alone, base = (so.SGD(so.mlp([inputs, *[width] * layers, 10], activation="relu", bias=False,
                                 init=0.2, rng=seed, dtype="float32"), so.SoftmaxCrossEntropy(),
                          learning_rate=1e-3) for _ in range(2))
    ratios = in_turns(so.CubicRegularization(base, sigma=100.0), alone, batch, rounds, 10)
    return {"ratio": float(np.median(ratios)), "smallest": min(ratios), "largest": max(ratios)}


@study(PAPER, "claim-step-cost", shows="CPU time of a cubic step over one of gradient descent",
       claims={str(inputs): f"a cubic step is not much dearer than one of gradient descent: at "
               f"most 2.2 times, {inputs} inputs" for inputs in WIDTHS},
       full={"layers": 12, "width": 128, "rounds": 15, "seeds": (0, 1, 2, 3, 4)},
       quick={"layers": 6, "width": 64, "rounds": 5, "seeds": (0,)}, seconds=(10, 1),
       deviation="the paper gives no number; 2.2 is our reading of 'not significantly'. It hangs "
       "on the code as well: by count a cubic step takes about one gradient more")
class StepCost:
    def runs(self, settings, results):
        sizes = {name: settings[name] for name in ("layers", "width", "rounds")}
        return [Run(step_ratio, {"seed": seed, "inputs": inputs, **sizes})
                for seed in settings["seeds"] for inputs in WIDTHS]

    def judge(self, results, settings):
        return {str(inputs): repeated(*(exactly(one["ratio"] <= 2.2, one["ratio"], "ratio")
                                        for one in results.of(inputs=inputs)))
                for inputs in WIDTHS}

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        bars(axes, {"ratio": [np.median([one["ratio"] for one in results.of(inputs=inputs)])
                              for inputs in WIDTHS]}, [f"{inputs} inputs" for inputs in WIDTHS])
        axes.axhline(2.2, color="0.3", linewidth=0.8)
        axes.set(ylabel="CPU time of a step over gradient descent's",
                 title="A cubic step beside one of gradient descent (random data, batch 32, "
                 "float32; line: the limit)")


#: What is measured -> route, samples, and the most gradients that it may hold.
CASES = {"one sample": ("eta", 1, 2.0), "a batch of 32": ("eta", 32, 2.0),
         "tangent": ("tangent", 32, 1.5)}
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
       claims={"eta": "the curvature by the paper's formula needs about a gradient's memory: at "
                      "most twice",
               "tangent": "the curvature by one tangent needs at most 1.5 times a gradient's "
                          "memory, on a batch of 32"},
       full={"inputs": 784, "layers": 12, "width": 128, "seeds": (0,)},
       quick={"inputs": 64, "layers": 6, "width": 64, "seeds": (0,)}, seconds=(10, 1),
       ours=("tangent",), deviation="the paper gives no number; its sentence is read for one "
       "sample and for a batch")
class Storage:
    def runs(self, settings, results):
        sizes = {name: settings[name] for name in ("inputs", "layers", "width")}
        return [Run(peaks, {"seed": seed, "route": route, "samples": samples, **sizes})
                for seed in settings["seeds"] for route, samples, _ in CASES.values()]

    def judge(self, results, settings):
        def at_most(what):
            route, samples, limit = CASES[what]
            (one,) = results.of(route=route, samples=samples)
            ratio = one["curvature"] / one["gradient"]
            return exactly(ratio <= limit, ratio, MEASURE)

        return {"eta": readings({what: at_most(what) for what in ("one sample", "a batch of 32")},
                                because="it hangs on the batch"), "tangent": at_most("tangent")}

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        cases = [results.of(route=route, samples=samples)[0]
                 for route, samples, _ in CASES.values()]
        bars(axes, {"measured": [one["curvature"] / one["gradient"] for one in cases]},
             ["every eta,\n1 sample", "every eta,\n32 samples", "one tangent,\n32 samples"])
        axes.plot(axes.get_xticks(), [limit for _, _, limit in CASES.values()], "k_", markersize=80)
        axes.set_ylabel(f"{MEASURE} (line: the limit)")
        figure.suptitle(f"Memory of a directional curvature: {settings['inputs']}-"
                        f"{settings['layers']}x{settings['width']}-10, float32", fontsize=10)
