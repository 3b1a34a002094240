"""Ours: what keeping the covariance of the inputs changes, in a step and in training.

(11a) less (11b) is Cov(h) (x) B. The covariance that (5) drops is missing from both.
"""

import numpy as np

from secondorder.studies import Run, alike, over_seeds, paired, study

from .. import PAPER, direction
from . import networks, training
from .covariance import apart, draw_apart
from .networks import CRITERIA

PAIR = (("cg", "pch-1"), ("ea-cg", "pch-1"))  # (11a) with the covariance, (11b) without it
NAMES = {"cg": "with the covariance, (11a)", "ea-cg": "without it, (11b)"}


def steps_apart(seed, case, samples, epochs, every, alpha):
    """Both directions at the same points, along a training with (11b). A number a look: ``cosine``
    between the two, and ``length``, that with the covariance over that without.
    """
    (x, y), _ = networks.split(case, seed, samples)
    network, loss = networks.network_of(case, seed), CRITERIA["cross-entropy"]()
    optimizer = training.optimizer_of(network, loss, "ea-cg", "pch-1", 0.1, alpha)
    record = {"cosine": [], "length": []}
    for update, rows in enumerate(networks.batches(seed, len(x), epochs)):
        if update % every == 0:
            with_it, without = (direction(network, loss, x[rows], y[rows], curvature="pch-1",
                                          solver=solver, alpha=alpha)
                                for solver in ("cg", "ea-closed"))
            for name, value in zip(record, apart(with_it, without)):
                record[name].append(value)
        optimizer.step(x[rows], y[rows])
    return record


@study(PAPER, "claim-covariance-kept",
       shows="Steps and trainings with the covariance of the inputs, which (11b) drops, and "
             "without it",
       claims={"step": "the directions with and without it have a cosine above 0.9, in the mean "
                       "over a training",
               "training": "the final training losses with and without it are alike, within 10 %"},
       full={"case": "R5", "epochs": 15, "trial": 5, "samples": 4000, "batches": (100,),
             "rates": (0.1, 0.2), "alphas": (0.01, 0.02, 0.1), "every": 40,
             "seeds": tuple(range(1, 33))},
       quick={**training.QUICK, "every": 2}, seconds=(900, 5), needs=("cifar-10",),
       ours=("step", "training"),
       smaller="10,000 images, a smaller network",
       deviation="a control of ours: the paper drops the covariance and does not look at what that "
                 "changes; 20 products of conjugate gradients for a layer")
class CovarianceKept:
    def runs(self, settings, results):
        looks = [Run(steps_apart, {"seed": seed, "epochs": settings["epochs"], "alpha": 0.02,
                                   **{name: settings[name] for name in ("case", "samples",
                                                                        "every")}})
                 for seed in settings["seeds"]]
        return looks + training.stages(PAIR, "cross-entropy", settings, results)

    def judge(self, results, settings):
        cosines = [np.mean(one["cosine"]) for one in results.of(every=settings["every"])]

        def ends(chosen):
            with_it, without = (chosen.runs(*method) for method in PAIR)
            return alike([training.lower_loss(without[seed], with_it[seed]) for seed in without],
                         0.1, "log of the final loss, with it over without")

        return {"step": paired(cosines, "mean cosine; 0.9 is asked for", 0.9),
                "training": training.by_selection(ends, "cross-entropy", settings, results)}

    def draw(self, results, figure, settings):
        left, right = figure.subplots(1, 2)
        draw_apart(left, results.of(every=settings["every"]), settings["every"])
        left.set(ylabel="with the covariance, (11a), over without it, (11b)")
        chosen = training.Chosen("L", "cross-entropy", settings, results)
        for (solver, curvature), style in zip(PAIR, ("s-", "o--")):
            losses = [run["loss"] for run in chosen.runs(solver, curvature).values()]
            right.plot(np.mean(losses, axis=0), style, markersize=4, label=NAMES[solver])
        right.set(xlabel="epoch", ylabel="training loss, cross-entropy", yscale="log",
                  title=f"Trainings at the point of least trial loss; "
                  f"{over_seeds(settings['seeds'], 'mean')}")
        for axes in (left, right):
            axes.title.set_fontsize(9)
            axes.legend(fontsize=8)
        figure.suptitle(networks.title_of(settings["case"], settings["samples"]), fontsize=9)
