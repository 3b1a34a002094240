"""Tables 2 to 5: how far curvatures are from the exact block of every layer, while training."""

import numpy as np

import secondorder as so
from secondorder.studies import Run, both, exactly, over_seeds, paired, study
from secondorder.studies.numbers import number

from .. import PAPER
from ..equations.eq_14_experiments import TABLES
from ..eq_14_experiments import layer_errors, total_error
from . import networks, training
from .networks import CRITERIA

FULL = {"case": "R5", "samples": 4000, "epochs": 10, "every": 20, "batch": 100,
        "seeds": tuple(range(1, 28))}
WIDE = {**FULL, "case": "W4"}
QUICK = {"case": "Q", "samples": 300, "epochs": 1, "every": 2, "batch": 100, "seeds": (1,)}
TRAJECTORIES = {"sgd": ("sgd", "none", 0.1, 0.0), "ea-cg": ("ea-cg", "pch-1", 0.1, 0.02)}


def errors(seed, case, criterion, along, samples, epochs, every, batch):
    """The norms ||B^t - |E H^t||| by layer, averaged over updates, for every curvature; ``norm``:
    those of the exact blocks.
    """
    method, curvature, rate, alpha = TRAJECTORIES[along]
    (x, y), _ = networks.split(case, seed, samples)
    network, loss = networks.network_of(case, seed), CRITERIA[criterion]()
    optimizer = training.optimizer_of(network, loss, method, curvature, rate, alpha)
    series = {}
    for update, rows in enumerate(networks.batches(seed, len(x), epochs, batch)):
        if update % every == 0:
            for name, values in errors_at(network, loss, x[rows], y[rows], criterion).items():
                series.setdefault(name, []).append(values)
        optimizer.step(x[rows], y[rows])
    return {name: np.mean(values, axis=0).tolist() for name, values in series.items()}


def errors_at(network, loss, x, y, criterion):
    """Norms by layer at one point; the batch is that of the update."""
    exact = so.eacg.bias_curvatures(network, loss, x, y, curvature="hessian")
    names = [name for name in training.CURVATURES
             if criterion == "cross-entropy" or name != "gauss-newton"]
    norms = {}
    for name in names:
        blocks = so.eacg.bias_curvatures(network, loss, x, y,
                                         curvature=training.package_name(name))
        norms[name] = layer_errors(blocks, exact).tolist()
    return norms | {"norm": [float(np.linalg.norm(H)) for H in exact]}


#: The names of curvatures in print.
IN_PRINT = {"fisher": "Fisher", "gauss-newton": "GN", "pch-1": "PCH-1", "pch-2": "PCH-2"}


class Errors:
    """What the four tables have in common."""

    number, criterion, printed = 2, "cross-entropy", "pch-2"  # the smaller of both in print

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
        def below_the_top(of, measure):
            """log of PCH-1's error below the top over layer 1's, along both trajectories."""
            return both(*(paired([np.log(of(one, -2) / of(one, 0)) for one in runs],
                                 f"log of the {measure} below the top over layer 1's, along "
                                 f"{along}") for along, runs in trajectories.items()))

        return {"a": both(*(smaller(ours, worse, f"log of the total, {worse} over {ours}")
                            for ours in ("pch-1", "pch-2") for worse in others)),
                "b": below_the_top(lambda one, layer: one["pch-1"][layer], "error"),
                "b-relative": below_the_top(relative, "relative error"),
                "c": exactly(top <= 1e-5 * scale, top, "largest error at the top", "",
                             len(settings["seeds"])),
                "d": smaller(self.printed, other, f"log of the total, {other} over {self.printed}")}

    def draw(self, results, figure, settings):
        panels = figure.subplots(1, 3)
        for axes, along in zip(panels, TRAJECTORIES):
            runs = results.of(along=along)
            columns = {name: np.mean([one[name] for one in runs], axis=0).tolist()
                       for name in (*training.CURVATURES, "norm") if name in runs[0]}
            fill(axes, columns, f"here, along {training.NAMES.get(along, along.upper())}")
        table = TABLES[self.number]
        fill(panels[2], {name: table[printed] for name, printed in IN_PRINT.items()
                         if printed in table}, "in print (its own network)")
        title = networks.title_of(settings["case"], settings["samples"])
        figure.suptitle(f"Errors of the blocks, {training.NAMES[self.criterion]}: "
                        f"{title}\nFrobenius norms, mean over updates; "
                        + over_seeds(settings["seeds"], "mean"), fontsize=9)


def fill(axes, columns, title):
    """A table of errors, a row a layer, the total in the last one, in an empty panel."""
    depth = len(next(iter(columns.values())))
    rows = [[number(column[t]) for column in columns.values()] for t in range(depth)]
    totals = [number(float(total_error(column))) for column in columns.values()]
    heads = ["exact\nblock" if name == "norm" else training.NAMES[name].replace("-N", "-\nN")
             for name in columns]
    told = axes.table([*rows, totals], colLabels=heads, loc="upper center", cellLoc="right",
                      rowLabels=[*(f"layer {t + 1}" for t in range(depth)), "total"])
    told.auto_set_font_size(False)
    told.set_fontsize(7)
    told.scale(1.0, 1.3)
    for column in range(len(columns)):
        told[0, column].set_height(1.8 * told[0, column].get_height())
    axes.axis("off")
    axes.set_title(title, fontsize=9)


def relative(one, layer):
    """PCH-1's error over the norm of the exact block."""
    return one["pch-1"][layer] / one["norm"][layer]


def claims(order):
    return {"a": "the totals of PCH-1 and PCH-2 are below the other totals",
            "b": "errors are not accumulated: the error of PCH-1 in layer 1 is not above that "
                 "below the top",
            "b-relative": "the same of errors relative to the exact block's norm",
            "c": "the error at the top is zero (up to rounding)",
            "d": f"the total of {order} is the smaller, as printed"}


DEVIATION = ("smaller networks and images, named in the titles; trajectory, seed and batch are not "
             "stated: along SGD and EA-CG, every 20th update of 10 epochs")


@study(PAPER, "table-2", shows="Errors of curvatures by layer: cross-entropy, Cifar-10",
       claims=claims("PCH-2"), full=FULL, quick=QUICK, seconds=(300, 5), needs=("cifar-10",),
       ours=("b-relative",), smaller="smaller networks and images, 10 epochs",
       deviation=DEVIATION)
class Table2(Errors):
    pass


@study(PAPER, "table-3", shows="Errors of curvatures by layer: cross-entropy, wide inputs",
       claims=claims("PCH-2"), full=WIDE, quick=QUICK, seconds=(400, 5), needs=("cifar-10",),
       ours=("b-relative",), smaller="smaller networks and images, 10 epochs",
       deviation=DEVIATION)
class Table3(Errors):
    number = 3


@study(PAPER, "table-4", shows="Errors of curvatures by layer: bounded criterion, Cifar-10",
       claims=claims("PCH-1"), full=FULL, quick=QUICK, seconds=(300, 5), needs=("cifar-10",),
       ours=("b-relative",), smaller="smaller networks and images, 10 epochs",
       deviation=DEVIATION)
class Table4(Errors):
    number, criterion, printed = 4, "bounded", "pch-1"


@study(PAPER, "table-5", shows="Errors of curvatures by layer: bounded criterion, wide inputs",
       claims=claims("PCH-1"), full=WIDE, quick=QUICK, seconds=(400, 5), needs=("cifar-10",),
       ours=("b-relative",), smaller="smaller networks and images, 10 epochs",
       deviation=DEVIATION)
class Table5(Errors):
    number, criterion, printed = 5, "bounded", "pch-1"
