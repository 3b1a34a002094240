"""Ours: the settings of conjugate gradients matter little; each against the closed form."""

import numpy as np

import secondorder as so
from secondorder.studies import Run, alike, both, legend_below, study

from .. import PAPER
from . import networks, training
from .networks import title_of

ITERATIONS, TOLERANCES = (5, 10, 20, 50), (1e-10, 1e-5, 1e-2, 1e-1)


def final_loss(seed, case, solver, max_cg, tolerance, epochs, samples):
    """Training loss after some epochs at rate 0.2, alpha 0.01 and batch 100."""
    (x, y), _ = networks.split(case, seed, samples)
    network, loss = networks.network_of(case, seed), so.SoftmaxCrossEntropy()
    options = {} if solver == "ea-closed" else {"max_cg": max_cg, "tolerance": tolerance}
    optimizer = so.EACG(network, loss, learning_rate=0.2, alpha=0.01, solver=solver, **options)
    for rows in networks.batches(seed, len(x), epochs):
        optimizer.step(x[rows], y[rows])
    return {"loss": training.mean_loss(network, loss, x, y)}


@study(PAPER, "claim-cg-grid",
       shows="The 16 settings of conjugate gradients in the paper's grid against the closed form",
       claims={"a": "the settings of conjugate gradients do not matter: with each of the 16 in the "
                    "paper's grid the training loss is within 10 % of the closed form's"},
       full={"case": "R5", "epochs": 5, "samples": 5000, "seeds": (1, 2, 3, 4, 5)},
       quick={"case": "Q", "epochs": 1, "samples": 300, "seeds": (1,)}, seconds=(400, 4),
       needs=("cifar-10",), ours=("a",), smaller="a smaller network, 5000 images, 5 epochs",
       deviation="5 epochs of 5000 images, one point: rate 0.2, alpha 0.01")
class CgGrid:
    def runs(self, settings, results):
        sizes = {name: settings[name] for name in ("case", "epochs", "samples")}
        solvers = [("ea-closed", 0, 0.0)] + [("ea-cg", most, tolerance) for most in ITERATIONS
                                             for tolerance in TOLERANCES]
        return [Run(final_loss, {"seed": seed, "solver": solver, "max_cg": most,
                                 "tolerance": tolerance, **sizes})
                for seed in settings["seeds"] for solver, most, tolerance in solvers]

    def logs(self, results, most, tolerance):
        """log of the loss over the closed form's, by seed."""
        closed = results.by_seed(solver="ea-closed")
        return [np.log(one.get("loss", np.nan) / closed[seed].get("loss", np.nan)) for seed, one in
                results.by_seed(solver="ea-cg", max_cg=most, tolerance=tolerance).items()]

    def judge(self, results, settings):
        return {"a": both(*(alike(
            self.logs(results, most, tolerance), 0.1, f"log of the loss over the closed form's, "
            f"{most} iterations, tolerance {tolerance:g}")
            for most in ITERATIONS for tolerance in TOLERANCES))}

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        for k, tolerance in enumerate(TOLERANCES):
            for place, most in enumerate(ITERATIONS):
                ratios = np.exp(self.logs(results, most, tolerance))
                axes.plot([place + 0.15 * k] * len(ratios), ratios, "osD^"[k], color=f"C{k}",
                          label=f"tolerance {tolerance:g}" if not place else None)
        axes.axhspan(np.exp(-0.1), np.exp(0.1), color="0.9")
        axes.set_xticks(np.arange(4) + 0.2, [str(most) for most in ITERATIONS])
        axes.set(xlabel="at most so many iterations",
                 ylabel="final training loss\nover the closed form's (band: 10 %)",
                 title="EA-CG by conjugate gradients beside the closed form, one mark per seed:\n"
                 + title_of(settings["case"], settings["samples"]))
        axes.title.set_fontsize(9)
        legend_below(figure, axes)
