"""Claim: a sample's Hessian is of low rank, a batch's is not."""

import numpy as np

import secondorder as so
from secondorder.studies import Run, exactly, images, legend_below, marks, study

from .. import PAPER
from ..whole_hessian import SampleHessian, hessian


def rank_of_batch(seed, samples, sizes):
    """Rank of a batch's Hessian, and the number of weights."""
    network, x, y = at(seed, samples, sizes, "digits")
    values = np.abs(np.linalg.eigvalsh(hessian(network, so.SoftmaxCrossEntropy(), x, y)))
    limit = network.size * np.finfo(float).eps * values.max()
    return {"rank": int(np.count_nonzero(values > limit)), "weights": network.size}


def rank_of_sample(seed, data, sizes):
    """Rank of one sample's Hessian by its factors, never formed, and the number of weights."""
    network, x, y = at(seed, 1, sizes, data)
    return {"rank": SampleHessian(network, so.SoftmaxCrossEntropy(), x, y).rank(),
            "weights": network.size}


def at(seed, samples, sizes, data):
    pictures, rng = images(data), np.random.default_rng([seed, 1])
    rows = rng.choice(len(pictures.inputs), samples, replace=False)
    network = so.mlp([pictures.inputs.shape[1], *sizes, 10], activation="relu", bias=False,
                     init=0.2 if len(sizes) > 5 else "xavier", rng=seed)
    return network, pictures.inputs[rows], pictures.labels[rows]


def share(result):
    return result["rank"] / result["weights"]


@study(PAPER, "claim-batch-rank",
       shows="Rank of the Hessian over the number of weights, from 1 to 64 samples",
       claims={"sample": "a sample's Hessian is of low rank: below a tenth of the weights",
               "batch": "a batch's Hessian is not of low rank: the rank rises with every "
                        "doubling up to 64 samples"},
       full={"sizes": (16, 16, 16), "paper": (128,) * 12, "data": "mnist",
             "batches": (1, 2, 4, 8, 16, 32, 64), "seeds": (2, 3, 4)},
       quick={"sizes": (8, 8), "paper": (16,) * 6, "data": "digits", "batches": (1, 2, 4),
              "seeds": (2,)}, seconds=(120, 1), needs=("mnist",),
       smaller="batches in a network of three layers of 16",
       deviation="the paper states it and counts nothing; one sample in the paper's network "
       "(weights within 0.2) and in a small one (Xavier), batches in the small one")
class BatchRank:
    def runs(self, settings, results):
        small = [Run(rank_of_batch, {"seed": seed, "samples": samples,
                                     "sizes": list(settings["sizes"])})
                 for seed in settings["seeds"] for samples in settings["batches"]]
        return small + [Run(rank_of_sample, {"seed": seed, "data": settings["data"],
                                             "sizes": list(settings["paper"])})
                        for seed in settings["seeds"]]

    def judge(self, results, settings):
        seeds = len(settings["seeds"])
        grown = np.array([[share(one) for one in results.of(samples=samples)]
                          for samples in settings["batches"]])
        large = [share(one) for one in results.of(data=settings["data"])]
        largest, rise = max([*grown[0], *large]), np.diff(grown, axis=0).min()
        return {"sample": exactly(largest < 0.1, largest, "largest rank / weights",
                                  f"in the paper's network {max(large):.2g}", seeds, least=3),
                "batch": exactly(rise > 0, rise, "least rise of rank / weights",
                                 f"{np.mean(grown[-1]):.2f} at {settings['batches'][-1]} samples",
                                 seeds, least=3)}

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        points = [(samples, share(one)) for samples in settings["batches"]
                  for one in results.of(samples=samples)]
        marks(axes, points, 0, label=f"{list(settings['sizes'])}, one mark per seed")
        marks(axes, [(1, share(one)) for one in results.of(data=settings["data"])], 1,
              label="the paper's network, one sample", markersize=9, markerfacecolor="none")
        axes.set_xscale("log", base=2)
        axes.axhline(0.1, color="0.5", linewidth=0.8)
        axes.set(xlabel="samples of the batch", ylabel="rank of the Hessian / number of weights "
                 "(line: 0.1)")
        legend_below(figure, axes)
        figure.suptitle("Low rank for a sample, not for a batch (digits; ReLU, cross-entropy)",
                        fontsize=10)
