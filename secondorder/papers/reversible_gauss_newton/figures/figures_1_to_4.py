"""Figures 1 to 4: one batch, mini-batches, what a step does to its own batch, what stays as it was.
"""

import numpy as np

from secondorder.studies import (Chosen, both, counted, diverged, least, paired, smoothed, study,
                                 undecided)

from .. import PAPER
from . import compared
from .training import TITLES, train

SETS = {"mnist": "MNIST", "cifar": "CIFAR-10"}

# -- Figure 1: exact Gauss-Newton falls as descent on the logits does ------------------------------

RATES = compared.RATES | {"gn": (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)}
AUTHORS = {"mnist": {"gn": 1.0, "adam": 1e-4, "sgd": 0.1},
           "cifar": {"gn": 6.0, "adam": 1e-5, "sgd": 0.01}}
LEVEL = 0.1
FROM, TO = 10, 40  # steps between which a loss is held against the two laws
CLEARLY = 5  # times better is the law that wins
LAW = "log of what 1 / (t + t0) leaves unexplained over what the exponential does"


def boldest(curves):
    """Rule P: the largest rate that does not diverge (finite, never above twice the start)."""
    return max((k for k, curve in enumerate(curves) if not diverged(curve)
                and max(curve["loss"]) <= 2 * curve["loss"][0]), default=0)


def lowest(curves):
    """Rule B: least final loss."""
    return least([np.inf if diverged(curve) else curve["loss"][-1] for curve in curves], "rate")


def faster(runs):
    """log of the steps of the better of Adam and SGD over Gauss-Newton's, to loss 0.1: above log 2.
    """
    steps = {method: [compared.reached(run, LEVEL) for run in runs[method]] for method in runs}
    better = np.minimum(steps["adam"], steps["sgd"])
    told = paired(np.log(better) - np.log(np.maximum(steps["gn"], 1)),
                  "log of the steps of the better of Adam and SGD over Gauss-Newton's", np.log(2))
    never = sum(place > len(run["loss"]) for run, place in zip(runs["sgd"], better))
    return told.with_note(f"in {never} of {len(better)} seeds neither of the two comes so far, and "
                          "the number is a least one") if never else told


def law(runs):
    """Whether the loss falls exponentially or as 1 / (t + t0), whichever fits clearly better.

    Exponential: log L is a straight line in t. The other: 1 / L is one. What a line leaves
    unexplained, 1 - R^2, decides: the smaller has to be at most a fifth of the larger.
    """
    logs = []
    for run in runs["gn"]:
        losses = np.array(run["loss"])[FROM:TO + 1]
        if diverged(run) or len(losses) < 4:
            return undecided("a run diverged or is too short", len(runs["gn"]))
        t = np.arange(FROM, FROM + len(losses))
        logs.append(float(np.log(unexplained(t, 1 / losses) / unexplained(t, np.log(losses)))))
    if any(abs(log) < np.log(CLEARLY) for log in logs):
        return undecided("neither law fits five times better than the other in every seed",
                         len(logs), float(np.median(logs)), LAW)
    return counted([log > 0 for log in logs], logs, LAW, 3)


def unexplained(t, values):
    """1 - R^2 of the straight line through values over t."""
    residual = values - np.polynomial.Polynomial.fit(t, values, 1)(t)
    return float(np.sum(residual**2) / np.sum((values - values.mean())**2))


@study(PAPER, "figure-1",
       shows="One batch: training loss of Gauss-Newton, Adam and SGD, step by step",
       claims={f"{letter}-{name}": f"one batch of {told}: {text}" for name, told in SETS.items()
               for letter, text in (("a", "Gauss-Newton reaches loss 0.1 within half the steps of "
                                     "the better of Adam and SGD"),
                                    ("b", "Gauss-Newton's loss falls exponentially, not as "
                                     "1 / (t + t0), from step 10 on"))},
       full={"mnist": {"task": "mnist", "samples": 1024, "batch": 1024, "width": 8000,
                       "epochs": 41},
             "cifar": {"task": "cifar-16", "samples": 205, "batch": 205, "width": 1600,
                       "epochs": 41}, "choosing": 15, "rates": (0, 6), "seeds": (2, 3, 4),
             "published": {"mnist": (2, 3, 4), "cifar": (2, 3, 4)}},
       quick={"mnist": {"task": "digits", "samples": 40, "batch": 40, "width": 64, "epochs": 14},
              "cifar": {"task": "cifar-8", "samples": 20, "batch": 20, "width": 48, "epochs": 14},
              "choosing": 5, "rates": (1, 3), "seeds": (2,)}, seconds=(4000, 3),
       needs=("mnist", "cifar-10"),
       smaller="MNIST at the printed size; CIFAR-10 at 16 x 16 pixels, d' = 1600",
       deviation="MNIST at the printed size; CIFAR-10 at 16 x 16 pixels, one batch of 205, "
       "d' = 1600. The rates of the authors' public code decide (MNIST: Gauss-Newton 1, Adam 1e-4, "
       "SGD 0.1; CIFAR-10: 6, 1e-5, 0.01). The best rates are chosen by 15 steps on seed 100 and "
       "judged over 40; for Gauss-Newton that is the largest of the grid, at which one step "
       "suffices for loss 0.1")
class Figure1(compared.OfFigure2):
    trainings = Chosen(train, RATES, {"P": boldest, "B": lowest}, compared.WORDS, AUTHORS)
    sets, judges = SETS, {"a": faster, "b": law}

    def draw(self, results, figure, settings):
        compared.draw_panels(figure, settings, "One batch at every step", [
            {"told": self.told(results, settings, name), "of": "loss", "at": (0, 1), "line": LEVEL,
             "xlabel": "step", "ylabel": "training loss", "yscale": "log",
             "title": f"{TITLES[about['task']]}: {about['samples']} images, d' = {about['width']}"}
            for name, about in ((name, settings[name]) for name in SETS)],
            about="line: the loss to reach")


# -- Figure 2: Gauss-Newton saturates, Adam goes on, gradient descent overtakes --------------------


def ends_below(runs):
    """(a): Adam ends below Gauss-Newton in training and in test loss."""
    return both(*(paired(compared.logs(runs["gn"], runs["adam"], record),
                         f"log of Gauss-Newton's {told} loss over Adam's")
                  for record, told in (("loss", "training"), ("test", "test"))))


def saturation_of(runs, yes=("gn",), no=("adam",)):
    """(b): some methods saturate, others do not.

    A seed of which a run diverged may be so or not: undecided if that could change the verdict.
    """
    lost = compared.cut_off(run for method in (*yes, *no) for run in runs[method])
    seeds = range(len(runs[yes[0]]))
    met = [None if any(diverged(runs[method][seed]) for method in (*yes, *no)) else
           all(compared.saturates(runs[method][seed]) for method in yes)
           and not any(compared.saturates(runs[method][seed]) for method in no) for seed in seeds]
    either = [counted([other if one is None else one for one in met], least=3)
              for other in (False, True)]
    if not lost:
        return either[0]
    return (either[0].with_note(f"{met.count(None)} more may be so: a run diverged")
            if len({one.verdict for one in either}) == 1 else lost)


def leads(runs, epoch=5):
    """(c): Gauss-Newton has the least T(5)."""
    def at(run):
        return smoothed(run["loss"])[epoch - 1] if len(run["loss"]) >= epoch else np.inf
    logs = [min(np.log(at(runs[other][seed]) / at(runs["gn"][seed])) for other in ("adam", "sgd"))
            for seed in range(len(runs["gn"]))]
    return paired(logs, "log of the loss of the better of Adam and SGD over Gauss-Newton's, "
                        "epoch 5")


def at_equal_loss(runs):
    """(f): Gauss-Newton's test loss above Adam's at the lowest training loss that both reach."""
    logs = [np.nan if diverged(one) or diverged(other) else
            compared.excess_at_equal_loss(one, other)
            for one, other in zip(runs["gn"], runs["adam"])]
    return paired(logs, "log of Gauss-Newton's test loss over Adam's, at equal training loss")


def behind_sgd(runs):
    """(d): gradient descent ends below Gauss-Newton."""
    return paired(compared.logs(runs["gn"], runs["sgd"]), "log of Gauss-Newton's loss over SGD's")


def further(cifar, mnist, record):
    """(e), of method -> runs on both sets: the seeds that both have."""
    logs = [compared.logs(runs["gn"], runs["adam"], record) for runs in (cifar, mnist)]
    return paired([one - other for one, other in zip(*logs)],
                  "log of Gauss-Newton over Adam on CIFAR-10, over the same on MNIST")


TOLD = {"a": (ends_below, "Adam ends below Gauss-Newton in training and test loss"),
        "b": (saturation_of, "Gauss-Newton saturates (in the second half its training loss falls "
                             "by less than 2 %, or rises), Adam does not"),
        "c": (leads, "Gauss-Newton leads in training loss after five epochs"),
        "f": (at_equal_loss, "at the lowest training loss that both reach Gauss-Newton's test loss "
                             "is above Adam's")}


@study(PAPER, "figure-2",
       shows="Mini-batches: training loss, test loss and accuracy of Gauss-Newton, Adam and SGD",
       claims={f"{letter}-{name}": f"mini-batches of {told}: {text}" for name, told in SETS.items()
               for letter, (_, text) in TOLD.items()}
       | {"d": "mini-batches of CIFAR-10: SGD ends below Gauss-Newton",
          "e": "Gauss-Newton falls further behind Adam on CIFAR-10 than on MNIST, in training loss",
          "e-test": "Gauss-Newton falls further behind Adam on CIFAR-10 than on MNIST, in test "
                    "loss"},
       full=compared.FIVE_SEEDS, quick=compared.QUICK, seconds=(5800, 9),
       needs=("mnist", "cifar-10"), ours=("f-cifar", "f-mnist"),
       smaller="CIFAR-10 at 8 x 8 pixels, MNIST with 8000 images",
       deviation=compared.AT_AUTHORS + ". MNIST: 8000 images, d' = 1064, n = 136, 60 epochs; the "
       "authors' rates are 0.2, 1e-4 and 0.1")
class Figure2(compared.OfFigure2):
    sets, judges = SETS, {letter: judge for letter, (judge, _) in TOLD.items()}

    def judge(self, results, settings):
        mnist, cifar = (self.told(results, settings, name) for name in SETS)
        verdicts = super().judge(results, settings)
        verdicts["d"] = self.trainings.decided({rule: behind_sgd(cifar[rule]) for rule in cifar})
        for letter, record in (("e", "loss"), ("e-test", "test")):
            verdicts[letter] = self.trainings.decided({rule: further(cifar[rule], other, record)
                                                       for rule, other in zip(cifar,
                                                                              mnist.values())})
        return verdicts

    def draw(self, results, figure, settings):
        compared.draw_panels(figure, settings, "Mini-batches", [
            {"told": self.told(results, settings, name), "of": record, "ylabel": label,
             "yscale": "linear" if record == "accuracy" else "log",
             "title": compared.title_of(settings, name) * (record == "test")}
            for name in SETS for record, label in (
                ("loss", "training loss"), ("test", "test loss"), ("accuracy", "test accuracy"))],
            2, "upper row MNIST, lower row CIFAR-10")


# -- Figure 3: by how much a step changes the loss of its own mini-batch ---------------------------


def change(run, first, last):
    """|mean per cent| over epochs `first` to `last`, from 1; NaN where the run diverged."""
    told = run["change"][first - 1:last]
    return abs(float(np.mean(told))) if told and not diverged(run) else float("nan")


LEAD = "log of Gauss-Newton's change over the larger of Adam's and SGD's"


def ratios(runs, first, last):
    """`LEAD`, one a seed."""
    return [float(np.log(change(one, first, last) / np.max([
        change(runs[other][seed], first, last) for other in ("adam", "sgd")])))
        for seed, one in enumerate(runs["gn"])]


def fifths(runs):
    """Four fifths of the epochs."""
    return 4 * len(runs["gn"][0]["loss"]) // 5


@study(PAPER, "figure-3", **compared.ON_CIFAR, seconds=(3000, 5),
       shows="Per cent by which a step changes the loss of its own batch, CIFAR-10",
       claims={"a": "in epochs 1 to 5 a step of Gauss-Newton changes its own batch's loss by twice "
                    "as much as one of Adam or SGD, or more",
               "b": "over the first four fifths of the epochs a step of Gauss-Newton changes its "
                    "own batch's loss most of the three",
               "c": "Gauss-Newton's lead in the change of its own batch's loss is smaller in the "
                    "last five of these epochs than in the first five"},
       deviation=compared.AT_AUTHORS + "; every fifth step is measured")
class Figure3(compared.OfFigure2):
    judges = {
        "a": lambda runs: paired(ratios(runs, 1, 5), LEAD, np.log(2)),
        "b": lambda runs: paired(ratios(runs, 1, fifths(runs)), LEAD),
        "c": lambda runs: paired(np.subtract(ratios(runs, 1, 5), ratios(
            runs, max(1, fifths(runs) - 4), fifths(runs))), "log of that lead early over late")}

    def draw(self, results, figure, settings):
        compared.draw_panels(figure, settings, "What a step does to its own batch", [
            {"told": self.told(results, settings), "of": "change", "line": 0,
             "ylabel": "change of the own batch's loss, per cent"}])


# -- Figure 4: how far the tangent kernel moves from the start, and representations with depth -----

MANY, GAP = 0.9, 0.1  # of a similarity


def last(run, name, block=None):
    """A similarity at the last look; NaN where the run diverged."""
    if diverged(run) or not run["looks"]:
        return float("nan")
    value = run["looks"][-1][name]
    return value if block is None else value[block]


def kept(result, arguments):
    """What the figures of kernel and representations read."""
    return {name: [{key: look[key] for key in ("ntk", "step", "cka", "added")}
                   for look in value] if name == "looks" else value
            for name, value in result.items() if name in ("loss", "looks", "diverged")}


def stays(method):
    """(a): the kernel's similarity with the start is 0.9 at least."""
    return lambda runs: paired([last(run, "ntk") - MANY for run in runs[method]],
                               "similarity minus 0.9")


def lower(runs):
    """(a): Adam's similarity is lower than both others', by 0.1."""
    end = {method: [last(run, "ntk") for run in runs[method]] for method in compared.METHODS}
    return both(*(paired(np.subtract(end[method], end["adam"]),
                         f"similarity, {name} minus Adam", GAP)
                  for method, name in (("gn", "Gauss-Newton"), ("sgd", "SGD"))))


def slower(runs):
    """(b): the kernel changes less between looks than Adam's."""
    moved = {method: [np.mean([1 - look["step"] for look in run["looks"][1:]])
                      if not diverged(run) and len(run["looks"]) > 1 else np.nan
                      for run in runs[method]] for method in compared.METHODS}
    return paired(np.subtract(moved["adam"], np.maximum(moved["gn"], moved["sgd"])),
                  "Adam's change minus the larger of the other two")


def falls_with_depth(runs):
    """(e): the last block's CKA with the start is below the first block's."""
    return both(*(paired([last(run, "cka", 0) - last(run, "cka", -1) for run in runs[method]],
                         f"CKA of {name}, first block minus last")
                  for method, name in (("gn", "Gauss-Newton"), ("adam", "Adam"))))


@study(PAPER, "figure-4", **compared.ON_CIFAR | {"full": compared.FOURTEEN_SEEDS},
       seconds=(9000, 5),
       shows="Tangent kernel and representations against their start, CIFAR-10",
       claims={"a-gn": "Gauss-Newton's tangent kernel has a similarity of 0.9 or more with its "
                       "start, at the end",
               "a-sgd": "SGD's tangent kernel has a similarity of 0.9 or more with its start, at "
                        "the end",
               "a-adam": "Adam's tangent kernel ends less similar to its start than "
                         "Gauss-Newton's and SGD's, by 0.1 or more",
               "b": "every ten epochs the tangent kernels of Gauss-Newton and SGD change less than "
                    "Adam's",
               "e": "the representations (CKA with the start) of Gauss-Newton and of Adam change "
                    "more in the last block than in the first"},
       deviation=compared.AT_AUTHORS + "; kernel on 100 test images, CKA on 500, every 10 epochs. "
       "The skips keep x_0 in every block, so CKA is high for anyone. One panel is the CKA of what "
       "the last block and the blocks before it added")
class Figure4(compared.OfFigure2):
    judges = {"a-gn": stays("gn"), "a-sgd": stays("sgd"), "a-adam": lower, "b": slower,
              "e": falls_with_depth}
    packed = staticmethod(kept)

    def draw(self, results, figure, settings):
        shown = {"kernel, with start": lambda look: look["ntk"],
                 "kernel, with ten epochs before": lambda look: look["step"],
                 "CKA, what the last block added": lambda look: look["added"][-1],
                 "CKA, first block": lambda look: look["cka"][0],
                 "CKA, middle block": lambda look: look["cka"][2],
                 "CKA, last block": lambda look: look["cka"][-1]}
        draw_looks(figure, settings, self.told(results, settings), shown,
                   "What stays as it was at the start", "similarity", sharex=True)


def draw_looks(figure, settings, told, shown, title, label, **shared):
    """Six panels, each with what one of `shown` reads off the looks."""
    compared.draw_panels(figure, settings, title, [
        {"told": told, "of": lambda run, of=of: [of(look) for look in run["looks"]],
         "at": (0, settings["cifar"]["looks"]), "title": name, "ylabel": label * (k % 3 == 0)}
        for k, (name, of) in enumerate(shown.items())], 2, **shared)
