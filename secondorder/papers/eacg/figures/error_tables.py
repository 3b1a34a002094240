"""Tables 2 to 5: how far curvatures are from the exact block of every layer, while training."""

import numpy as np

import secondorder as so
from secondorder.studies import Run, both, over_seeds, paired, study
from secondorder.studies.numbers import number

from .. import PAPER
from ..equations.eq_14_experiments import TABLES
from ..eq_14_experiments import layer_errors, total_error
from . import networks, training

FULL = {"case": "R5", "samples": 4000, "epochs": 10, "every": 20, "batch": 100,
        "seeds": tuple(range(1, 28))}
WIDE = {**FULL, "case": "W4"}
QUICK = {"case": "Q", "samples": 300, "epochs": 1, "every": 2, "batch": 100, "seeds": (1,)}
TRAJECTORIES = {"sgd": ("sgd", "none", 0.1, 0.0), "ea-cg": ("ea-cg", "pch-1", 0.1, 0.02)}


def errors(seed, case, criterion, along, samples, epochs, every, batch):
    """The norms ||B^t - |E H^t||| by layer, averaged over updates, for every curvature; ``norm``:
    those of the exact blocks.
    """
    (x, y), _ = networks.split(case, seed, samples)
    network, loss = networks.network_of(case, seed), networks.CRITERIA[criterion]()
    optimizer = training.optimizer_of(network, loss, *TRAJECTORIES[along])
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
    norms = {}
    for name in training.CURVATURES:
        if criterion == "cross-entropy" or name != "gauss-newton":
            blocks = so.eacg.bias_curvatures(network, loss, x, y,
                                             curvature=training.package_name(name))
            norms[name] = layer_errors(blocks, exact).tolist()
    return norms | {"norm": [float(np.linalg.norm(H)) for H in exact]}


#: The names of curvatures in print.
IN_PRINT = {"fisher": "Fisher", "gauss-newton": "GN", "pch-1": "PCH-1", "pch-2": "PCH-2"}


class Errors:
    """What the four tables have in common."""

    number, criterion = 2, "cross-entropy"
    smaller = "pch-2", "pch-1"  # the smaller and the larger total of the two in print

    def runs(self, settings, results):
        sizes = {name: settings[name] for name in ("case", "samples", "epochs", "every", "batch")}
        return [Run(errors, {"seed": seed, "criterion": self.criterion, "along": along, **sizes})
                for seed in settings["seeds"] for along in TRAJECTORIES]

    def judge(self, results, settings):
        trajectories = {along: results.of(along=along) for along in TRAJECTORIES}
        names = [name for name in training.CURVATURES if name in trajectories["sgd"][0]]

        def larger(above, below, measure):
            """Whether one number of a run is above another's, along both trajectories."""
            return both(*(paired([np.log(above(one) / below(one)) for one in runs],
                                 f"log of the {measure}, along {training.NAMES[along]}")
                          for along, runs in trajectories.items()))

        def total(worse, ours):
            return larger(lambda one: total_error(one[worse]), lambda one: total_error(one[ours]),
                          f"total of {training.NAMES[worse]} over that of {training.NAMES[ours]}")

        def decreases(of, measure):
            """Whether the error below the top layer is the largest below it."""
            return larger(lambda one: of(one)[-2], lambda one: max(of(one)[:-2]),
                          f"{measure} below the top over the largest farther down")

        return {"a": both(*(total(worse, ours) for ours in ("pch-1", "pch-2") for worse in names
                            if not worse.startswith("pch"))),
                "b": both(*(decreases(lambda one, name=name: one[name],
                                      f"error of {training.NAMES[name]}")
                            for name in names)).with_note(in_print(self.number)),
                "b-relative": decreases(lambda one: np.divide(one["pch-1"], one["norm"]),
                                        "relative error of PCH-1"),
                "d": total(*reversed(self.smaller))}

    def draw(self, results, figure, settings):
        figure.set_figheight(3.4)
        panels, table = figure.subplots(1, 3), TABLES[self.number]
        for axes, along in zip(panels, TRAJECTORIES):
            runs = results.of(along=along)
            fill(axes, {name: np.mean([one[name] for one in runs], axis=0)
                        for name in (*IN_PRINT, "norm") if name in runs[0]},
                 f"here, along {training.NAMES[along]}")
        fill(panels[2], {name: table[printed] for name, printed in IN_PRINT.items()
                         if printed in table}, "in print (its own network)")
        figure.suptitle(f"Errors of the blocks in thousandths, {training.NAMES[self.criterion]}; "
                        "Frobenius norms, mean over updates\n"
                        f"{networks.title_of(settings['case'], settings['samples'])}; "
                        f"{over_seeds(settings['seeds'], 'mean')}", fontsize=9)


def in_print(number):
    """For which curvatures a lower layer has in print a larger error than the one below the top."""
    lost = [name for name, errors in TABLES[number].items() if max(errors[:-2]) > errors[-2]]
    return f"in print it is not so for {', '.join(lost)}" if lost else "in print it is so too"


def fill(axes, columns, title):
    """A table of errors, a row a layer, the total in the last one, in an empty panel."""
    cells = [[*map(thousandths, (*column, total_error(column)))] for column in columns.values()]
    told = axes.table([*zip(*cells)], loc="upper center", cellLoc="right",
                      colLabels=[IN_PRINT.get(name, "exact") for name in columns],
                      rowLabels=[*(f"layer {t}" for t in range(1, len(cells[0]))), "total"])
    told.auto_set_font_size(False)
    told.set_fontsize(7)
    told.scale(1.0, 1.3)
    axes.axis("off")
    axes.set_title(title, fontsize=9)


def thousandths(error):
    """An error as a cell shows it; what rounding leaves is 0."""
    return "0" if error < 1e-7 else number(1e3 * float(error))


def about(table, full, order, criterion, images):
    """What is registered of a table; `order` has the smaller total of the two PCH in print."""
    smaller, larger = order
    return {"shows": f"Errors of curvatures by layer: {criterion}, {images}", "full": full,
            "quick": QUICK, "seconds": (400, 5), "needs": ("cifar-10",), "ours": ("b-relative",),
            "smaller": "smaller networks and images, 10 epochs",
            "deviation": "smaller networks and images, named in the titles; trajectory, seed and "
                         "batch are not stated: along SGD and EA-CG, every 20th update of 10 "
                         "epochs",
            "claims": {letter: f"Table {table}: {text}" for letter, text in {
                "a": "the total error of PCH-1 and of PCH-2, over all layers, is below that of "
                     "every other curvature",
                "b": "errors are not accumulated: for every curvature, none of the lower layers "
                     "has a larger error than the layer below the top",
                "b-relative": "PCH-1's errors are not accumulated beside the norm of the exact "
                              "block either",
                "d": f"the total error of {smaller} is below that of {larger}, as printed"
            }.items()}}


@study(PAPER, "table-2", **about(2, FULL, ("PCH-2", "PCH-1"), "cross-entropy", "Cifar-10"))
class Table2(Errors):
    pass


@study(PAPER, "table-3", **about(3, WIDE, ("PCH-2", "PCH-1"), "cross-entropy", "wide inputs"))
class Table3(Errors):
    number = 3


@study(PAPER, "table-4", **about(4, FULL, ("PCH-1", "PCH-2"), "bounded criterion", "Cifar-10"))
class Table4(Errors):
    number, criterion, smaller = 4, "bounded", ("pch-1", "pch-2")


@study(PAPER, "table-5", **about(5, WIDE, ("PCH-1", "PCH-2"), "bounded criterion", "wide inputs"))
class Table5(Table4):
    number = 5
