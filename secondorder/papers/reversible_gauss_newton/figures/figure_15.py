"""Figure 15: regression, one batch and mini-batches."""

import warnings

import numpy as np

import secondorder as so
from secondorder.studies import Chosen, both, diverged, paired, study, table
from secondorder.studies.data import where

from .. import PAPER, RankWarning, RevMLP
from . import compared
from .figures_1_to_4 import boldest, lowest, saturation_of
from .training import METHODS, out_of_bounds, rounded

RATES = {"gn": (0.1, 0.2, 0.5, 1.0, 1.5, 1.9), "adam": compared.RATES["adam"],
         "sgd": (1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3)}
SQUARED = so.SquaredError()


def regress(seed, method, rate, epochs, batch, width, samples=None):
    """Training (before the updates) and test losses by epoch, half squared errors of standardised
    targets; one batch of `samples` if ``batch == samples``.
    """
    data = table("wine-quality")
    x, y = np.asarray(data.inputs), np.asarray(data.targets, dtype=float).reshape(-1, 1)
    order = np.random.default_rng([seed, 1]).permutation(len(x))
    test, rest = order[:len(x) // 10], order[len(x) // 10:][:samples]
    x, y = ((part - part[rest].mean(axis=0)) / part[rest].std(axis=0) for part in (x, y))
    x, y = x.astype("float32"), y.astype("float32")
    network = RevMLP(x.shape[1], 2, width, outputs=1, init=1e-3, rng=seed, dtype="float32")
    kind, options = METHODS[method]
    optimizer = kind(network, SQUARED, learning_rate=rate, **options)
    rng, record = np.random.default_rng([seed, 2]), {"loss": [], "test": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        try:
            for _ in range(epochs):
                rows = rest if batch == samples else rng.permutation(rest)
                losses = [optimizer.step(x[part], y[part])["loss"] for part in
                          (rows[k:k + batch] for k in range(0, len(rows) - batch + 1, batch))]
                record["loss"].append(rounded(np.mean(losses)))
                record["test"].append(rounded(SQUARED.value(network(x[test]), y[test]).mean()))
                if out_of_bounds(record["loss"]):
                    raise FloatingPointError("the loss is out of bounds")
        except FloatingPointError as error:
            return record | {"diverged": str(error)[:200]}
    return record


# For one batch the paper takes the largest rate that does not diverge; its loss of epoch 1 is that
# of the start, the same for every rate.
TRAININGS = {"full": Chosen(regress, RATES, {"P": boldest, "B": lowest}, compared.WORDS),
             "mini": Chosen(regress, RATES, {"P": compared.early, "B": compared.late},
                            compared.WORDS)}


def faster(runs):
    """Gauss-Newton reaches the final loss of the better of Adam and SGD in fewer steps."""
    logs = []
    for seed, run in enumerate(runs["gn"]):
        level = min(np.inf if diverged(runs[other][seed]) else runs[other][seed]["loss"][-1]
                    for other in ("adam", "sgd"))
        steps = max(len(runs[method][seed]["loss"]) for method in runs)
        logs.append(float(np.log(steps) - np.log(max(compared.reached(run, level), 1))))
    return paired(logs, "log of all steps over those that it took")


def behind(runs):
    """Gauss-Newton ends above Adam in training and in test loss."""
    return both(*(paired(compared.logs(runs["gn"], runs["adam"], record),
                         f"log of Gauss-Newton's {name} over Adam's")
                  for name, record in (("training loss", "loss"), ("test loss", "test"))))


@study(PAPER, "figure-15", shows="Wine quality by regression: one batch, and mini-batches",
       claims={"a": "regression, one batch: Gauss-Newton reaches the final loss of the better of "
                    "Adam and SGD in fewer steps",
               "b": "regression, mini-batches: Gauss-Newton saturates",
               "c": "regression, mini-batches: Gauss-Newton ends above Adam in training and test "
                    "loss"},
       full={"full": {"batch": 1024, "samples": 1024, "width": 2000, "epochs": 61},
             "mini": {"batch": 256, "width": 2000, "epochs": 100}, "choosing": 20, "rates": (0, 6),
             "seeds": tuple(range(2, 42))},
       quick={"full": {"batch": 60, "samples": 60, "width": 96, "epochs": 8},
              "mini": {"batch": 64, "width": 96, "epochs": 6}, "choosing": 4, "rates": (2, 4),
              "seeds": (2,)}, seconds=(1200, 3), needs=("wine-quality",),
       smaller="red wine, d' = 2000, n = 256",
       deviation="red wine alone, 1599 x 11, padded to 12; L = 2, d' = 2000, n = 256 (1024 would "
       "be one step an epoch); superconductivity is not at hand. 244 inputs repeat another, so "
       "that one batch breaks Assumption 4.1")
class Figure15:
    def runs(self, settings, results):
        return [run for name, trainings in TRAININGS.items()
                for run in trainings.wanted(settings, results, (name,))]

    def judge(self, results, settings):
        told = {"a": ("full", faster), "c": ("mini", behind),
                "b": ("mini", lambda runs: saturation_of(runs, ("gn",), ()))}
        return {letter: TRAININGS[name].under_rules(results, settings, name, judge)
                for letter, (name, judge) in told.items()}

    def draw(self, results, figure, settings):
        told = {name: trainings.by_rule(results, settings, name)
                for name, trainings in TRAININGS.items()}
        data = "wine quality (red)" if where("wine-quality") else "diabetes, in the place of wine"
        compared.draw_panels(figure, settings, f"Regression: {data}", [
            {"told": told[name], "of": record, "at": (int(name == "mini"), 1), "yscale": "log",
             "xlabel": "epoch" if name == "mini" else "step", "title": title,
             "ylabel": "test loss" if record == "test" else "training loss"}
            for name, record, title in (("full", "loss", "one batch"), ("mini", "loss",
                                        "mini-batches"), ("mini", "test", "mini-batches"))],
            about=f"d' = {settings['full']['width']}")
