"""The covariances that are dropped: by (5), which the paper calls tiny, and by (11b)."""

import numpy as np

from secondorder.studies import Run, counted, legend_below, readings, study

from .. import PAPER
from ..eq_04_hessian import downwards, exact_step, layers_of, numbered
from . import networks, training
from .curves import Curves
from .networks import CRITERIA


def shares(seed, case, samples, epochs, every):
    """||cov-t|| over ||mean of products||, by layer, along EA-CG with PCH-1: ``shares``, a row a
    look.

    The blocks are those of layer t's weights: inputs h of the layer, and the exact Hessians of its
    outputs.
    """
    (x, y), _ = networks.split(case, seed, samples)
    network, loss = networks.network_of(case, seed), CRITERIA["cross-entropy"]()
    optimizer = training.optimizer_of(network, loss, "ea-cg", "pch-1", 0.1, 0.02)
    shares = []
    for update, rows in enumerate(networks.batches(seed, len(x), epochs)):
        if update % every == 0:
            shares.append(dropped(network.evaluate(loss, x[rows], y[rows])))
        optimizer.step(x[rows], y[rows])
    return {"shares": shares}


def dropped(evaluation):
    """Relative norms of the covariance by layer, over a batch.

    Element by element, with A_s = h_s h_s^T and B_s the Hessian in the layer's outputs, the mean of
    A_s[i, j] B_s[k, l] less the product of the means.
    """
    values = []
    layers = layers_of(evaluation)
    Hessians = downwards(layers, evaluation.loss_function.hessian(evaluation.outputs, evaluation.y),
                         exact_step)
    for layer, B in zip(numbered(layers), Hessians):
        h, B = layer.h.astype(float), B.astype(float).reshape(len(B), -1)
        # ||mean_s A_s (x) B_s||^2 = mean_(s, s') (h_s . h_s')^2 <B_s, B_s'>
        gram_h, gram_B = (h @ h.T) ** 2, B @ B.T
        whole = np.mean(gram_h * gram_B)
        # the product of means P has <mean, P> = mean_s (mean_t gram_h)(mean_t gram_B) and
        # ||P||^2 = mean gram_h mean gram_B
        cross = np.mean(gram_h.mean(axis=1) * gram_B.mean(axis=1))
        product = gram_h.mean() * gram_B.mean()
        values.append(float(np.sqrt(max(whole - 2 * cross + product, 0.0) / whole)))
    return values


@study(PAPER, "claim-covariance",
       shows="The covariance that (5) drops, relative to the mean block, by layer while training",
       claims={"a": "the covariance that (5) drops is tiny: below a tenth of the mean block"},
       full={"case": "R5", "samples": 4000, "epochs": 10, "every": 40, "seeds": (1, 2, 3, 4, 5)},
       quick={"case": "Q", "samples": 300, "epochs": 1, "every": 2, "seeds": (1,)},
       seconds=(300, 3), needs=("cifar-10",),
       smaller="16 x 16 pixels, a smaller network",
       deviation="'tiny' as a tenth is our reading")
class Covariance:
    def runs(self, settings, results):
        sizes = {name: settings[name] for name in ("case", "samples", "epochs", "every")}
        return [Run(shares, {"seed": seed, **sizes}) for seed in settings["seeds"]]

    def judge(self, results, settings):
        def tiny(which):
            """Whether one number of a training's shares is below 0.1."""
            values = [float(which(one["shares"])) if one.get("shares") else np.inf
                      for one in results.of()]
            return counted([value < 0.1 for value in values], values, "share")

        return {"a": readings({"in the worst layer and update": tiny(np.max),
                               "in the median one": tiny(np.median)})}

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        for seed, run in enumerate(results.of()):
            shares = np.array(run["shares"])
            updates = settings["every"] * np.arange(len(shares))
            for k, column in enumerate(shares.T):
                axes.plot(updates, column, "osD^v"[k % 5] + "-", color=f"C{k}", markersize=3,
                          linewidth=0.7, label="" if seed else f"layer {k + 1}")
        axes.axhline(0.1, color="0.5", linewidth=0.8)
        axes.set(xlabel="update", ylabel="norm of the covariance / norm of the mean block",
                 yscale="log", ylim=(1e-3, 1), title="What (5) drops, while training; one line per "
                 "seed (grey: 0.1)\n" + networks.title_of(settings["case"], settings["samples"]))
        axes.title.set_fontsize(9)
        legend_below(figure, axes)


@study(PAPER, "claim-covariance-kept",
       shows="Trainings with the covariance of the inputs, which (11b) drops, and without it",
       claims={"training": "the covariance of the inputs, which (11b) drops from (11a), does not "
                           "matter: the final training losses are within 10 %"},
       full=training.FULL | training.seeds_to(32) | {
           "epochs": 15, "trial": 5, "samples": 4000, "batches": (100,)},
       quick=training.QUICK, seconds=(900, 5), needs=("cifar-10",), ours=("training",),
       smaller="4000 images, a smaller network, 15 epochs",
       deviation="the paper does not look at what dropping it changes; 20 products of conjugate "
                 "gradients for a layer under (11a)")
class CovarianceKept(Curves):
    judges = {"training": lambda figure, trainings: trainings.losses_alike(
        [figure.methods()[::-1]])}

    def methods(self):
        return [("cg", "pch-1"), ("ea-cg", "pch-1")]
