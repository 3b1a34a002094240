"""Claim (a speculation of the paper): its curvature is better than Adam's moving average.

A run that leaves the finite numbers leaves its claim undecided. The classifier's rate is 30: at 100
half of its runs did.
"""

import itertools

import numpy as np

import secondorder as so
from secondorder.studies import (Run, diverged, exactly, legend_below, marks, readings, study,
                                 undecided)

from .. import PAPER, ResidualPartitioning
from . import networks
from .networks import NAMES

KINDS = networks.KINDS
METHODS = "partitioning", "adam"
TITLES = ("rank correlation, all parameters", "rank correlation, within layers", "(g·d)² / dᵀGd")
MEASURES = {"pooled": "pooled", "layers": "layers", "direction": "quality"}  # claim -> record
RATES = {("autoencoder", "partitioning"): 10.0, ("autoencoder", "adam"): 3e-3,
         ("classifier", "partitioning"): 30.0, ("classifier", "adam"): 1e-3}
HIDDEN = {"autoencoder": (64, 2, 64), "classifier": (40, 20, 12)}  # exact diagonals in seconds


def compared(seed, kind, along, points, between):
    """Along a training on the digits: how well both curvatures follow the exact one.

    The steps are those of the method `along`; the other sees every batch too. Returns for
    ``partitioning`` and ``adam`` a list over the points, with `between` steps between two, of:
    ``pooled``, Spearman's correlation with the absolute diagonal of the exact Hessian; ``layers``,
    its mean over layers; ``quality``, (g . d)^2 / (d^T G d), G the Gauss-Newton matrix of all
    samples, d the method's direction.
    """
    from scipy.stats import spearmanr

    x, y = networks.data_of(kind, "digits", dtype="float64")
    network, loss = networks.network_of(kind, x.shape[1], seed, "float64", HIDDEN[kind])
    methods = {"partitioning": ResidualPartitioning(network, loss, l2=networks.L2),
               "adam": so.Adam(network, loss, l2=networks.L2)}
    rate, rows = RATES[kind, along], networks.batches(len(x), seed)
    records = {name: {"pooled": [], "layers": [], "quality": []} for name in methods}
    for step in range(1, points * between + 1):
        batch = next(rows)
        at = network.evaluate(loss, x[batch], y[batch])
        directions = {name: method.direction(at).copy() for name, method in methods.items()}
        if step % between == 0:
            estimates = {"partitioning": so.residual_partitioning.bound(
                network, loss, x[batch], y[batch]).curvature,
                "adam": np.sqrt(methods["adam"].second)}
            true = np.abs(so.exact.diagonal(network, loss, x, y))
            gradient = so.exact.gradient(network, loss, x, y)
            G = so.exact.GaussNewtonOperator(network, loss, x, y)
            for name, estimate in estimates.items():
                d, record = directions[name], records[name]
                record["pooled"].append(float(spearmanr(estimate, true).statistic))
                record["layers"].append(float(np.nanmean(
                    [spearmanr(estimate[where], true[where]).statistic
                     for layer, where in zip(network.layers, network.chain.slices)
                     if layer.size])))
                record["quality"].append(float((gradient @ d) ** 2 / (d @ G.matvec(d))))
        network.theta = network.theta + rate * directions[along]
    return records


def broken(one):
    """Whether a run ended early, or left the finite numbers (which a file holds as None)."""
    return diverged(one) or any(value is None or not np.isfinite(value) for record in one.values()
                                for column in record.values() for value in column)


@study(PAPER, "claim-curvature-quality",
       shows="Both methods' diagonals against the exact Hessian's, and how good their directions "
             "are",
       claims={"pooled": "its curvature is better than Adam's: higher rank correlation with the "
                         "exact diagonal, over all parameters, at 3/4 of the points",
               "layers": "the same within layers",
               "direction": "the same for how far the loss falls along its direction, "
                            "(g . d)^2 / (d^T G d), with G the Gauss-Newton matrix"},
       full={"points": 10, "between": 40, "seeds": (1, 2, 3)},
       quick={"points": 2, "between": 5, "seeds": (1,)}, seconds=(250, 10),
       smaller="digits, a classifier of 40-20-12 hidden units",
       deviation="the paper speculates about the autoencoder, without a number: that decides. The "
                 "classifier is small so that exact diagonals are possible")
class CurvatureQuality:
    def runs(self, settings, results):
        return [Run(compared, {"seed": seed, "kind": kind, "along": along,
                               "points": settings["points"], "between": settings["between"]})
                for seed in settings["seeds"] for kind in KINDS
                for along in METHODS]

    def judge(self, results, settings):
        return {letter: readings({kind: self.higher(results.of(kind=kind), name, settings)
                                  for kind in KINDS}, decides="autoencoder")
                for letter, name in MEASURES.items()}

    def higher(self, runs, name, settings):
        """Whether residual partitioning is higher at three quarters of the points of a network."""
        seeds, lost = len(settings["seeds"]), sum(map(broken, runs))
        if lost:
            return undecided(f"{lost} of {len(runs)} runs left the finite numbers: a smaller rate",
                             seeds)
        share = np.mean([ours > adam for one in runs
                         for ours, adam in zip(one["partitioning"][name], one["adam"][name])])
        return exactly(share >= 0.75, share, "share of points", seeds=seeds, least=3)

    def draw(self, results, figure, settings):
        panels = figure.subplots(1, 3)
        for axes, name, title in zip(panels, MEASURES.values(), TITLES):
            for k, (kind, along) in enumerate(itertools.product(KINDS, METHODS)):
                points = [point for one in results.of(kind=kind, along=along) if not broken(one)
                          for point in zip(one["adam"][name], one["partitioning"][name])]
                marks(axes, points, k, label=f"{kind}, along {NAMES[along]}", markersize=4)
            if name == "quality":
                axes.set(xscale="log", yscale="log")
            axes.axline((0.1, 0.1), (1, 1), color="0.6", linewidth=0.8)
            axes.set(xlabel="Adam", ylabel="residual partitioning")
            axes.set_title(title, fontsize=9)
        legend_below(figure, panels[0])
        figure.suptitle("Above the line residual partitioning is better; digits, in trainings by "
                        "both methods", fontsize=10)
