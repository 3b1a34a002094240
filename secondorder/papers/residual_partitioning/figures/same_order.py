"""Claim: the complexity of a step is that of SGD and Adam."""

import numpy as np

from secondorder.studies import Run, exactly, legend_below, repeated, study, undecided

from .. import PAPER
from . import timing
from .networks import METHODS, network_of

FACTORS = (1, 2, 4, 8)
QUANTITIES = {"width": "units of the hidden layers", "depth": "number of hidden layers",
              "batch": "samples of a batch"}


def scaled_ratio(seed, quantity, factor, rounds, steps):
    """Step time over SGD's with one size of a network multiplied, the median over blocks."""
    sizes = {"width": 64, "depth": 2, "batch": 50}
    sizes[quantity] *= factor
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (sizes["batch"], 256)).astype("float32")
    y = rng.integers(0, 10, sizes["batch"])
    optimizers = {}
    for method in ("partitioning", "sgd"):
        optimizer, options = METHODS[method]
        network, loss = network_of("classifier", 256, seed,
                                   hidden=(sizes["width"],) * sizes["depth"])
        optimizers[method] = optimizer(network, loss, learning_rate=1e-4, **options)
    return {"ratio": timing.median_ratio(optimizers, "partitioning", "sgd", x, y, rounds, steps)}


@study(PAPER, "claim-same-order",
       shows="Step time over SGD's while width, depth or batch grow by 1, 2, 4, 8",
       claims={quantity: "the ratio grows with no more than the power 0.15 of the "
                         f"{what}" for quantity, what in QUANTITIES.items()},
       full={"rounds": 15, "steps": 20, "seeds": (0, 1, 2, 3, 4)},
       quick={"rounds": 3, "steps": 2, "seeds": (0,)}, seconds=(60, 4),
       deviation="orders are not defined by a number in print; multiply-adds are counted by "
                 "`secondorder verify residual-partitioning claim-complexity`")
class SameOrder:
    def runs(self, settings, results):
        return [Run(scaled_ratio, {"seed": seed, "quantity": quantity, "factor": factor,
                                   "rounds": settings["rounds"], "steps": settings["steps"]})
                for seed in settings["seeds"] for quantity in QUANTITIES for factor in FACTORS]

    def judge(self, results, settings):
        verdicts = {}
        for quantity in QUANTITIES:
            verdicts[quantity] = repeated(*(order(ratios_of(results, quantity, seed))
                                            for seed in settings["seeds"]))
        return verdicts

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        for k, (quantity, what) in enumerate(QUANTITIES.items()):
            axes.plot(FACTORS, np.median([ratios_of(results, quantity, seed)
                                          for seed in settings["seeds"]], axis=0),
                      "osD"[k] + "-", label=what)
        axes.set(xscale="log", xlabel="size over the smallest",
                 ylabel="CPU time of a step over SGD's",
                 title="Step time over SGD's while one size grows")
        axes.set_xticks(FACTORS, [str(factor) for factor in FACTORS])
        axes.minorticks_off()
        axes.set_ylim(0, 1.1 * axes.dataLim.ymax)
        legend_below(figure, axes)


def order(ratios):
    """Whether the ratio hardly grows, in one repeat of the timing."""
    if len(ratios) < len(FACTORS):
        return undecided("runs are missing")
    slope = np.polyfit(np.log(FACTORS), np.log(ratios), 1)[0]
    return exactly(slope <= 0.15, slope, "power of the size by which the ratio grows",
                   "ratios " + ", ".join(f"{one:.2f}" for one in ratios))


def ratios_of(results, quantity, seed):
    """The ratio at each factor in one repeat."""
    return [one["ratio"] for factor in FACTORS
            for one in results.of(quantity=quantity, factor=factor, seed=seed)]
