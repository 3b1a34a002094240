"""Claim: what the expectation approximation drops, the covariance, is tiny."""

import numpy as np

from secondorder.studies import Run, counted, legend_below, over_seeds, study

from .. import PAPER
from ..eq_04_hessian import downwards, exact_step, layers_of, numbered
from . import networks, training
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
    for h, B, _ in instance_blocks(evaluation):
        h, B = h.astype(float), B.astype(float).reshape(len(B), -1)
        # ||mean_s A_s (x) B_s||^2 = mean_(s, s') (h_s . h_s')^2 <B_s, B_s'>
        gram_h, gram_B = (h @ h.T) ** 2, B @ B.T
        whole = np.mean(gram_h * gram_B)
        # the product of means P has <mean, P> = mean_s (mean_t gram_h)(mean_t gram_B) and
        # ||P||^2 = mean gram_h mean gram_B
        cross = np.mean(gram_h.mean(axis=1) * gram_B.mean(axis=1))
        product = gram_h.mean() * gram_B.mean()
        values.append(float(np.sqrt(max(whole - 2 * cross + product, 0.0) / whole)))
    return values


def instance_blocks(evaluation, step=exact_step):
    """Inputs (S, n_in), Hessians (S, n_out, n_out) and gradients (S, n_out) in the outputs of each
    linear layer; `step` carries the Hessians down.
    """
    layers = layers_of(evaluation)
    H = evaluation.loss_function.hessian(evaluation.outputs, evaluation.y)
    return [(layer.h, H, layer.g)
            for layer, H in zip(numbered(layers), downwards(layers, H, step))]


def apart(with_it, without):
    """(cosine of two directions, the first one's length over the second one's)."""
    lengths = [float(np.linalg.norm(one)) for one in (with_it, without)]
    return float(with_it @ without) / (lengths[0] * lengths[1]), lengths[0] / lengths[1]


def draw_apart(axes, runs, every):
    """``cosine`` and ``length`` of each run over updates."""
    for k, run in enumerate(runs):
        updates = every * np.arange(len(run["cosine"]))
        axes.plot(updates, run["cosine"], color="C0", label="" if k else "cosine")
        axes.plot(updates, run["length"], "--", color="C1", label="" if k else "ratio of lengths")
    axes.set(xlabel="update", title="Directions at the same points; a line a seed")


@study(PAPER, "claim-covariance",
       shows="The covariance that (5) drops, relative to the mean block, by layer while training",
       claims={"a": "what (5) drops is below 0.1 of the mean block, in every layer, at every look"},
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
        largest = [float(np.max(one["shares"])) if one.get("shares") else np.inf
                   for one in results.of()]
        return {"a": counted([value < 0.1 for value in largest], largest, "largest share")}

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        rows = np.mean([one["shares"] for one in results.of()], axis=0)
        updates = settings["every"] * np.arange(len(rows))
        for k, column in enumerate(rows.T):
            axes.plot(updates, column, "osD^v"[k % 5] + "-", color=f"C{k}", markersize=4,
                      label=f"layer {k + 1}")
        axes.axhline(0.1, color="0.5", linewidth=0.8)
        axes.set(xlabel="update", ylabel="norm of the covariance / norm of the mean block",
                 yscale="log", title="What (5) drops, while training (line: 0.1):\n"
                 + networks.title_of(settings["case"], settings["samples"]) + "; "
                 + over_seeds(settings["seeds"], "mean"))
        axes.title.set_fontsize(9)
        legend_below(figure, axes)
