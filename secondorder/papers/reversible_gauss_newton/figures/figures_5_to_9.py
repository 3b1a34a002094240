"""Figures 5 to 9: without the bottleneck, in a long run, from Adam's weights, from other starts."""

import numpy as np

from secondorder.studies import (LINE_STYLES, Chosen, alike, both, counted, diverged, paired,
                                 smoothed, study, undecided)

from .. import PAPER
from . import compared
from .compared import OWN_RULE, final, logs
from .figures_1_to_4 import boldest, faster, lowest, saturation_of
from .training import train

# -- Figure 5: without the bottleneck, where the assumptions of the theorem do not hold ------------

ONE_BATCH = Chosen(train, compared.RATES, {"P": boldest, "B": lowest}, compared.WORDS)


def of_one_batch(settings):
    """The settings as `Chosen` asks for them: one batch of the same images, as many steps."""
    about = settings["cifar"]
    return {"batch": {"task": about["task"], "samples": about["batch"], "batch": about["batch"],
                      "width": None, "epochs": settings["steps"]},
            "choosing": settings["tried"], "rates": settings["rates"], "seeds": settings["seeds"]}


@study(PAPER, "figure-5", **compared.ON_CIFAR | {
           "smaller": "CIFAR-10 at 8 x 8 pixels, 5000 images",
           "full": compared.FULL | {"steps": 61, "tried": 15},
           "quick": compared.QUICK | {"steps": 10, "tried": 4}}, seconds=(1300, 6),
       shows="CIFAR-10 without bottleneck: one batch, and mini-batches",
       claims={"a": "without bottleneck, one batch: Gauss-Newton reaches loss 0.1 within half the "
                    "steps of the better of Adam and SGD",
               "b": "without bottleneck, mini-batches: Gauss-Newton saturates, Adam and SGD do "
                    "not"},
       deviation=compared.BY_RULE + "; 'removed' is read as W on sigma(x). So a half layer has 96 "
       "features, fewer than the n = 102 of a batch, and the assumptions cannot hold")
class Figure5(compared.OfFigure2):
    trainings, more = OWN_RULE, {"width": None, "looks": 0}
    judges = {"b": lambda runs: saturation_of(runs, ("gn",), ("adam", "sgd"))}

    def runs(self, settings, results):
        return super().runs(settings, results) + ONE_BATCH.wanted(of_one_batch(settings), results,
                                                                  ("batch",))

    def judge(self, results, settings):
        return super().judge(results, settings) | {
            "a": ONE_BATCH.under_rules(results, of_one_batch(settings), "batch", faster)}

    def draw(self, results, figure, settings):
        full = ONE_BATCH.by_rule(results, of_one_batch(settings), "batch")
        mini = {"told": self.told(results, settings), "yscale": "log"}
        compared.draw_panels(figure, settings, "Without bottleneck", [
            {"told": full, "of": "loss", "at": (0, 1), "xlabel": "step", "yscale": "log",
             "ylabel": "one batch: training loss"},
            mini | {"of": "loss", "ylabel": "mini-batches: training loss"},
            mini | {"of": "test", "ylabel": "mini-batches: test loss"}],
            about=f"{settings['cifar']['samples']} images of CIFAR-10 at 8 x 8")


# -- Figure 6: does a long run help Gauss-Newton? --------------------------------------------------


def marks(runs):
    """Epochs 50 and 150 of 400."""
    epochs = max(len(run["loss"]) for of_method in runs.values() for run in of_method)
    return epochs // 8, 3 * epochs // 8


def lost(runs):
    """How many runs of Gauss-Newton diverged; nothing of none."""
    count = sum(map(diverged, runs["gn"]))
    return f"{count} of {len(runs['gn'])} runs of Gauss-Newton diverged" if count else ""


def gains_little(runs):
    """(a). A run that diverged is read as far as it went, if that is twice the mark."""
    early, _ = marks(runs)
    short = sum(len(run["loss"]) < 2 * early for run in runs["gn"])
    if short:
        return undecided(f"{short} of {len(runs['gn'])} runs diverged before epoch {2 * early}")
    curves = [smoothed(run["loss"]) for run in runs["gn"]]
    gains = [T[early:].min() / T[early - 1] for T in curves]
    return counted([gain >= 0.98 for gain in gains], gains,
                   "least later loss over that of epoch 50", 3).with_note(lost(runs))


def rises(runs):
    """(b)"""
    _, middle = marks(runs)
    ratios = [np.inf if diverged(run) else smoothed(run["loss"])[-1] / smoothed(
        run["loss"])[middle - 1] for run in runs["gn"]]
    return counted([ratio > 1.02 for ratio in ratios], ratios, "last loss over that of epoch 150",
                   3).with_note(lost(runs))


def sgd_below(runs):
    """(c)"""
    best = [smoothed(run["loss"]).min() for run in runs["gn"]]
    return paired(np.log(best) - np.log([final(run) for run in runs["sgd"]]),
                  "log of Gauss-Newton's least loss over SGD's last")


@study(PAPER, "figure-6", **compared.ON_CIFAR | {"full": compared.FULL | {"long": 400},
                                                 "quick": compared.QUICK | {"long": 8}},
       seconds=(3600, 5),
       shows="Four hundred epochs of Gauss-Newton and SGD on CIFAR-10",
       claims={"a": "in a long run Gauss-Newton saturates: after epoch 50 its training loss falls "
                    "by less than 2 %, or rises",
               "b": "in a long run Gauss-Newton's loss rises again: it ends more than 2 % above "
                    "epoch 150",
               "c": "in a long run SGD ends below the least loss of Gauss-Newton"},
       deviation=compared.BY_RULE + "; 400 epochs instead of 1000")
class Figure6(compared.OfFigure2):
    trainings, methods = OWN_RULE, ("gn", "sgd")
    judges = {"a": gains_little, "b": rises, "c": sgd_below}

    def runs(self, settings, results):
        return super().runs(self._long(settings), results)

    def told(self, results, settings, name="cifar"):
        return super().told(results, self._long(settings), name)

    def _long(self, settings):
        return settings | {"cifar": settings["cifar"] | {"epochs": settings["long"], "looks": 0}}

    def draw(self, results, figure, settings):
        compared.draw_panels(figure, settings, "Long runs", [
            {"told": self.told(results, settings), "of": name, "ylabel": label, "yscale": "log"}
            for name, label in (("loss", "training loss"), ("size", "|θ|"))])


# -- Figure 7: one method takes over from the other half-way ---------------------------------------

MIXED, BACK = ("adam", "gn"), ("gn", "adam")


@study(PAPER, "figure-7", **compared.ON_CIFAR, seconds=(2500, 4),
       shows="Adam, then Gauss-Newton, and the reverse, CIFAR-10",
       claims={"a": "Adam and then Gauss-Newton ends above Adam alone",
               "b": "Adam and then Gauss-Newton ends below Gauss-Newton alone",
               "c": "Gauss-Newton and then Adam ends below the least loss of Gauss-Newton alone"},
       deviation=compared.BY_RULE + "; 50 and 50 epochs, the second method's memory fresh")
class Figure7(compared.OfFigure2):
    trainings, methods = OWN_RULE, ("gn", "adam")
    judges = {"a": lambda runs: paired(logs(runs[MIXED], runs["adam"]),
                                       "log of the loss over Adam's"),
              "b": lambda runs: paired(logs(runs["gn"], runs[MIXED]),
                               "log of Gauss-Newton's loss over that of both in turn"),
              "c": lambda runs: paired(
                  np.log([compared.lowest(run) for run in runs["gn"]])
                  - np.log([final(run) for run in runs[BACK]]),
                  "log of Gauss-Newton's least loss over that of both in turn")}

    def beside(self, settings, results, name, rates):
        half = settings["cifar"]["epochs"] // 2
        return {(first, second): [OWN_RULE.one(settings, name, seed, first, rates[first], looks=0,
                                               then=[half, second, rates[second]])
                                  for seed in settings["seeds"]]
                for first, second in (MIXED, BACK)}

    def draw(self, results, figure, settings):
        looks = {"gn": ("Gauss-Newton", "C3", "-"), "adam": ("Adam", "C0", "--"),
                 MIXED: ("Adam, then Gauss-Newton", "C1", "-."),
                 BACK: ("Gauss-Newton, then Adam", "C2", ":")}
        compared.draw_rules(figure, settings, "Taking over half-way", self.told(results, settings),
                            looks)


# -- Figure 8: the size of the initial weights -----------------------------------------------------

SIGMAS = (1e-4, 1e-3, 1e-2, 0.03, "xavier")  # rising: Xavier's is about 0.05 here


def correlation(values):
    """Spearman's, of values with their order; infinite ones are the largest."""
    ranks = np.argsort(np.argsort(values))
    return float(np.corrcoef(np.arange(len(ranks)), ranks)[0, 1])


def ends(runs):
    """Last losses (start, seed), and how many runs diverged, which count as the highest."""
    count = sum(diverged(run) for sigma in SIGMAS for run in runs[sigma])
    return (np.array([[final(run) for run in runs[sigma]] for sigma in SIGMAS]),
            f"{count} runs diverged and count as the highest ends" if count else "")


def lower_from_larger(runs):
    """(a)"""
    told, note = ends(runs)
    orders = [correlation(column) for column in told.T]
    return counted([value < 0 for value in orders], orders, "rank correlation", 3).with_note(note)


def all_above(runs):
    """(b)"""
    told, note = ends(runs)
    gaps = [float(np.log(column.min() / final(run))) for column, run in zip(told.T, runs["adam"])]
    return counted([gap > 0 for gap in gaps], gaps, "log of the least end over Adam's",
                   3).with_note(note)


def all_saturate(runs):
    """(c)"""
    every = [runs[sigma] for sigma in SIGMAS]
    return compared.cut_off(run for of_sigma in every for run in of_sigma) or counted(
        [all(map(compared.saturates, of_seed)) for of_seed in zip(*every)], least=3)


@study(PAPER, "figure-8", **compared.ON_CIFAR, seconds=(3500, 5),
       shows="Gauss-Newton from weights of five sizes, CIFAR-10",
       claims={"a": "the larger the initial weights, the lower Gauss-Newton's last loss",
               "b": "from initial weights of all five sizes Gauss-Newton ends above Adam",
               "c": "from initial weights of all five sizes Gauss-Newton saturates"},
       deviation=compared.BY_RULE + "; the sizes, 1e-4, 1e-3, 1e-2, 0.03 and Xavier, are not in "
       "the paper's text; all at the rates that are chosen from 1e-3; Adam from 1e-3")
class Figure8(compared.OfFigure2):
    trainings, methods = OWN_RULE, ("gn", "adam")
    judges = {"a": lower_from_larger, "b": all_above, "c": all_saturate}

    def beside(self, settings, results, name, rates):
        return {sigma: [OWN_RULE.one(settings, name, seed, "gn", rates["gn"], **(
            {} if sigma == 1e-3 else {"init": sigma, "looks": 0})) for seed in settings["seeds"]]
            for sigma in SIGMAS}

    def draw(self, results, figure, settings):
        looks = {sigma: (f"deviation {str(sigma).capitalize()}", f"C{k}", LINE_STYLES[k])
                 for k, sigma in enumerate(SIGMAS)}
        compared.draw_rules(figure, settings, "Initial weights", self.told(results, settings),
                            looks | {"adam": ("Adam", "0.5", LINE_STYLES[-1])}, compared.LOSSES)


# -- Figure 9: how far the weights turn from their start -------------------------------------------

STARTS = {"1e-3": {}, "xavier": {"init": "xavier"}}
TRAININGS = {"1e-3": compared.FIGURE_2, "xavier": OWN_RULE}


def mean_of(runs, which):
    """Mean over the half layers of |theta - theta_0| (0) or of the cosine (1), at the end."""
    return np.array([np.nan if diverged(run) or not run["looks"] else
                     np.mean([pair[which] for pair in run["looks"][-1]["weights"]])
                     for run in runs])


def alike_cosines(runs):
    """(a)"""
    return alike(mean_of(runs["gn"], 1) - mean_of(runs["adam"], 1), 0.1,
                 "Gauss-Newton's cosine minus Adam's")


def above_sgd(runs, number, measure, margin=0.0):
    """Whether a number's logarithm is above SGD's for the two others."""
    told = {method: np.log(number(of_method)) for method, of_method in runs.items()}
    return both(*(paired(told[method] - told["sgd"], f"log of {measure}, {name} over SGD", margin)
                  for method, name in (("gn", "Gauss-Newton"), ("adam", "Adam"))))


TURNS = {"a": alike_cosines,
         "b": lambda runs: above_sgd(runs, lambda one: 1 - mean_of(one, 1), "1 - cosine",
                                     np.log(2)),
         "c": lambda runs: above_sgd(runs, lambda one: mean_of(one, 0), "the distance")}


@study(PAPER, "figure-9", **compared.ON_CIFAR, seconds=(4000, 7),
       shows="Cosine of the weights with their start, and their distance, CIFAR-10",
       claims={f"{letter}-{start}": f"{text} (start {start})" for start in STARTS
               for letter, text in (
                   ("a", "Gauss-Newton's and Adam's weights turn alike: their cosines with the "
                    "start are within 0.1"),
                   ("b", "SGD's weights turn less: 1 - cosine is at most half of Gauss-Newton's "
                    "and of Adam's"),
                   ("c", "Gauss-Newton's and Adam's weights move farther than SGD's"))},
       deviation=compared.AT_AUTHORS + "; means over the twelve half layers. At the small start "
       "any step turns the cosine to 0: Xavier's start is shown beside it, at rates of its own, "
       "by the paper's rule")
class Figure9(compared.OfFigure2):
    def runs(self, settings, results):
        return [run for start, more in STARTS.items()
                for run in TRAININGS[start].wanted(settings, results, **more)]

    def judge(self, results, settings):
        return {f"{letter}-{start}": TRAININGS[start].under_rules(results, settings, "cifar", judge,
                                                                  **more)
                for start, more in STARTS.items() for letter, judge in TURNS.items()}

    def draw(self, results, figure, settings):
        def curve(which):
            return lambda run: [np.mean([pair[which] for pair in look["weights"]]) or np.nan
                                for look in run["looks"]]  # no logarithm of 0

        told = {start: TRAININGS[start].by_rule(results, settings, **more)
                for start, more in STARTS.items()}
        compared.draw_panels(figure, settings, "Weights against their start", [
            {"told": told[start], "of": curve(which), "at": (0, settings["cifar"]["looks"]),
             "yscale": scale, "ylabel": label, "title": f"start: {start}" * which}
            for which, label, scale in ((1, "cosine with the start", "linear"),
                                        (0, "|θ - θ_0|", "log")) for start in STARTS],
            2, sharex=True)
