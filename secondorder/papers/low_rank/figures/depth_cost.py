"""Claim: by the paper's quantities curvature costs time quadratic in depth; by one tangent, linear.
"""

import time

import numpy as np

import secondorder as so
from secondorder.studies import Run, exactly, legend_under, repeated, study, undecided

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
    """Least-squares slope of log number over log of depth or width, and the points."""
    points = sorted((one[by], results.of(**one)[0][number])
                    for one in results.arguments(route=route, **fixed))
    return float(np.polyfit(*np.log(np.array(points)).T, 1)[0]) if len(points) > 1 else None


@study(PAPER, "claim-depth-cost",
       shows="CPU time of a directional curvature over depth and over width, by two routes",
       claims={"depth-eta": "with every eta formed the time grows at most quadratically with "
                            "depth: slope at most 2.4 over 4, 8 and 16 layers of 32",
               "depth-tangent": "by one tangent at most linearly: slope at most 1.2",
               "width-eta": "with every eta formed at most cubically with width: slope at most 3.2 "
                            "over 16, 32 and 64"},
       full={"depths": (4, 8, 16), "widths": (16, 32, 64), "rounds": 60,
             "seeds": (0, 1, 2, 3, 4)},
       quick={"depths": (4, 8), "widths": (16, 32), "rounds": 3, "seeds": (0,)}, seconds=(60, 2),
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
                "depth-tangent": ("tangent", "layers", {"width": 32}, 1.2),
                "width-eta": ("eta", "width", {"layers": 8}, 3.2)}
        verdicts = {}
        for letter, (route, by, fixed, most) in told.items():
            verdicts[letter] = repeated(*(self.grows(results, route, by, most, seed=seed, **fixed)
                                          for seed in settings["seeds"]))
        return verdicts

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
            for k, route in enumerate(ROUTES):
                sizes = sorted({one[by] for one in results.arguments(route=route, **fixed)})
                points = [(size, 1e3 * np.median([one["seconds"] for one in results.of(
                    route=route, **fixed | {by: size})])) for size in sizes]
                order = slope(results, route, "seconds", by, **fixed)
                label = "every eta formed" if route == "eta" else "one tangent"
                panel.loglog(*zip(*points), ("o-", "s--")[k],
                             label=f"{label}: slope {order:.2f}")
            ticks = sorted({one[by] for one in results.arguments(**fixed)})
            panel.set_xticks(ticks, map(str, ticks))
            panel.minorticks_off()
            panel.set(xlabel=by)
            legend_under(panel)
        figure.axes[0].set_ylabel("CPU time, ms")
        figure.suptitle("Directional curvature of ReLU networks, batch of 32: over depth at width "
                        "32, over width at depth 8", fontsize=10)
