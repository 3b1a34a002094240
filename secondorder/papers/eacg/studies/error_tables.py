"""Tables 2 to 5: how far curvatures are from the exact block of every layer, while training."""

import numpy as np

import secondorder as so
from secondorder.studies import Run, both, exactly, legend_below, over_seeds, paired, study

from .. import PAPER
from ..errors import layer_errors, total_error
from . import networks, training
from .networks import CRITERIA

FULL = {"case": "R5", "samples": 4000, "epochs": 10, "every": 20, "batch": 100, "seeds": (1, 2, 3)}
WIDE = {**FULL, "case": "W4"}
QUICK = {"case": "Q", "samples": 300, "epochs": 1, "every": 2, "batch": 100, "seeds": (1,)}
TRAJECTORIES = {"sgd": ("sgd", "none", 0.1, 0.0), "ea-cg": ("ea-cg", "pch-1", 0.1, 0.02)}


def errors(seed, case, criterion, along, samples, epochs, every, batch):
    """The norms ||B^t - |E H^t||| by layer, averaged over updates.

    Returns
    -------
    dict
        Curvature -> errors of the layers; ``norm``: those of the exact blocks.
    """
    method, curvature, rate, alpha = TRAJECTORIES[along]
    (x, y), _ = networks.split(case, seed, samples)
    network, loss = networks.network_of(case, seed), CRITERIA[criterion]()
    optimizer = training.optimizer_of(network, loss, method, curvature, rate, alpha)
    rng, series, update = np.random.default_rng([seed, 1]), {}, 0
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x) - batch + 1, batch):
            rows = order[start:start + batch]
            if update % every == 0:
                for name, values in errors_at(network, loss, x[rows], y[rows], criterion).items():
                    series.setdefault(name, []).append(values)
            optimizer.step(x[rows], y[rows])
            update += 1
    return {name: np.mean(values, axis=0).tolist() for name, values in series.items()}


def errors_at(network, loss, x, y, criterion):
    """Norms by layer at one point; the batch is that of the update."""
    exact = so.eacg.bias_curvatures(network, loss, x, y, curvature="hessian")
    names = [name for name in training.CURVATURES
             if criterion == "cross-entropy" or name != "gauss-newton"]
    norms = {}
    for name in names:
        blocks = so.eacg.bias_curvatures(network, loss, x, y, curvature=name)
        norms[name] = layer_errors(blocks, exact).tolist()
    return norms | {"norm": [float(np.linalg.norm(H)) for H in exact]}


class Errors:
    """What the four tables have in common."""

    criterion, printed = "cross-entropy", "pch-2"  # which of the two is the smaller in print

    def runs(self, settings, results):
        sizes = {name: settings[name] for name in ("case", "samples", "epochs", "every", "batch")}
        return [Run(errors, {"seed": seed, "criterion": self.criterion, "along": along, **sizes})
                for seed in settings["seeds"] for along in TRAJECTORIES]

    def judge(self, results, settings):
        trajectories = {along: results.of(along=along) for along in TRAJECTORIES}
        others = [name for name in ("fisher", "gauss-newton") if name in trajectories["sgd"][0]]

        def smaller(ours, other, measure):
            """log of the other's total over ours, along both trajectories."""
            return both(*(paired([np.log(total_error(one[other]) / total_error(one[ours]))
                                  for one in runs], f"{measure}, along {along}")
                          for along, runs in trajectories.items()))

        top = max(one[name][-1] for runs in trajectories.values() for one in runs
                  for name in ("pch-1", "pch-2"))
        other = {"pch-1": "pch-2", "pch-2": "pch-1"}[self.printed]
        scale = max(one["norm"][-1] for runs in trajectories.values() for one in runs)
        growth = {along: [np.log(relative(one, "pch-1", -2) / relative(one, "pch-1", 0))
                          for one in runs] for along, runs in trajectories.items()}
        return {"a": both(*(smaller(ours, worse, f"log of the total, {worse} over {ours}")
                            for ours in ("pch-1", "pch-2") for worse in others)),
                "b": both(*(paired(values, "log of the relative error below the top over that of "
                                   f"layer 1, along {along}") for along, values in growth.items())),
                "c": exactly(top <= 1e-5 * scale, top, "largest error at the top", "",
                             len(settings["seeds"])),
                "d": smaller(self.printed, other, f"log of the total, {other} over {self.printed}")}

    def draw(self, results, figure, settings):
        panels = figure.subplots(1, 2, sharey=True)
        case = results.arguments()[0]["case"]
        for axes, along in zip(panels, TRAJECTORIES):
            runs = results.of(along=along)
            for k, name in enumerate(runs[0]):
                mean = np.mean([one[name] for one in runs], axis=0)
                label = "exact block itself" if name == "norm" else name
                axes.plot(range(1, len(mean) + 1), np.maximum(mean, 1e-9), "osD^v"[k] + "-",
                          color="0.6" if name == "norm" else f"C{k}", label=label)
            axes.set(xlabel="layer", yscale="log", title=f"along {along}")
            axes.set_xticks(range(1, len(mean) + 1))
        panels[0].set_ylabel("Frobenius norm of the error, mean over updates")
        legend_below(figure, panels[1])
        figure.suptitle(f"Errors of the blocks, {self.criterion}: {networks.title_of(case)}\n"
                        "(errors of 0 drawn at 1e-9); "
                        + over_seeds(settings["seeds"], "mean"), fontsize=9)


def relative(one, name, layer):
    return one[name][layer] / one["norm"][layer]


def claims(order):
    return {"a": "the totals of PCH-1 and PCH-2 are below those of the others",
            "b": "errors are not accumulated: the relative error of PCH-1 in layer 1 is not above "
                 "that below the top",
            "c": "the error at the top is zero (up to rounding)",
            "d": f"the total of {order} is the smaller, as printed"}


DEVIATION = ("smaller networks and images, named in the titles; trajectory, seed and batch are not "
             "stated: along SGD and EA-CG, every 20th update of 10 epochs")


@study(PAPER, "table-2", shows="Errors of curvatures by layer: cross-entropy, Cifar-10",
       claims=claims("PCH-2"), full=FULL, quick=QUICK, seconds=(300, 5), needs=("cifar-10",),
       deviation=DEVIATION)
class Table2(Errors):
    pass


@study(PAPER, "table-3", shows="Errors of curvatures by layer: cross-entropy, wide inputs",
       claims=claims("PCH-2"), full=WIDE, quick=QUICK, seconds=(400, 5), needs=("cifar-10",),
       deviation=DEVIATION)
class Table3(Errors):
    pass


@study(PAPER, "table-4", shows="Errors of curvatures by layer: bounded criterion, Cifar-10",
       claims=claims("PCH-1"), full=FULL, quick=QUICK, seconds=(300, 5), needs=("cifar-10",),
       deviation=DEVIATION)
class Table4(Errors):
    criterion, printed = "bounded", "pch-1"


@study(PAPER, "table-5", shows="Errors of curvatures by layer: bounded criterion, wide inputs",
       claims=claims("PCH-1"), full=WIDE, quick=QUICK, seconds=(400, 5), needs=("cifar-10",),
       deviation=DEVIATION)
class Table5(Errors):
    criterion, printed = "bounded", "pch-1"
