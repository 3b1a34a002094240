"""Runs at rates that two rules choose: of Figure 2, which serve most other studies, and of others.

The paper chooses a rate by the progress of the first epoch, without instability (rule P). The
verdict may hang on that, so that every claim is judged at the rate with the least training loss
later on (rule B) as well; where the two differ, that is the finding. Both are read off the same
runs on a seed of their own, six rates a method.
"""

from dataclasses import dataclass, field

import numpy as np

from secondorder.studies import (DEPENDS, DID_NOT_HOLD, HELD, HELD_BY_RULE, TAKEN_OUT, UNDECIDED,
                                 Run, Verdict, at_loss, crossing, diverged, finished, in_words,
                                 least, lowest_common, mean_and_range, saturation, smoothed,
                                 undecided)
from secondorder.studies.numbers import number

from .training import NAMES, TITLES, train

RATES = {"gn": (0.1, 0.2, 0.5, 1.0, 2.0, 4.0), "adam": (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
         "sgd": (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)}
METHODS = ("gn", "adam", "sgd")
RULES = {"P": "most progress in epoch 1", "B": "least loss later on"}
CHOOSING = 100
THICK_AND_THIN = "thick: rate by epoch 1, thin: best later"
STYLES = {"gn": ("C3", "-"), "adam": ("C0", "--"), "sgd": ("C4", ":"), "mp": ("C2", "-.")}

FULL = {"cifar": {"task": "cifar-8", "samples": 5000, "width": 800, "batch": 102, "epochs": 100,
                  "looks": 10},
        "mnist": {"task": "mnist", "samples": 8000, "width": 1064, "batch": 136, "epochs": 60},
        "choosing": {"cifar": 30, "mnist": 15}, "rates": (0, 6), "seeds": (2, 3, 4)}
FIVE_SEEDS = FULL | {"seeds": (2, 3, 4, 5, 6)}
FOURTEEN_SEEDS = FULL | {"seeds": tuple(range(2, 16))}
QUICK = {"cifar": {"task": "cifar-8", "samples": 120, "width": 48, "batch": 40, "epochs": 4,
                   "looks": 2},
         "mnist": {"task": "digits", "samples": 120, "width": 48, "batch": 40, "epochs": 4},
         "choosing": {"cifar": 3, "mnist": 3}, "rates": (2, 4), "seeds": (2,)}
DEVIATION = ("CIFAR-10 at 8 x 8 pixels, 5000 images, d' = 800, n = 102; MNIST with 8000 images, "
             "d' = 1064, n = 136, 60 epochs: the printed sizes take days. The ratios n / d' and "
             "images / d' and the steps of an epoch are near the printed ones. Rule P for "
             "rates is the paper's (most progress in epoch 1), rule B takes the least training "
             "loss later on")


@dataclass(frozen=True)
class Chosen:
    """The runs of one function, by the name of their setting, method and rate; the rate is chosen
    by two rules.

    The function trains once: it takes seed, method, rate, epochs and what the setting holds beside.
    The rates of `tried` run for as many epochs as ``settings["choosing"]`` says, with the arguments
    `beside`; each of `rules` takes the tried curves and returns the place of the best one.
    """

    function: object
    tried: dict
    rules: dict
    beside: dict = field(default_factory=dict)

    def one(self, settings, name, seed, method, rate, **more):
        """A run on one of the sets."""
        return Run(self.function, {"seed": seed, "method": method, "rate": rate}
                   | settings[name] | more)

    def grid(self, settings, method):
        """The rates of a method (the quick setting takes two)."""
        return self.tried[method][slice(*settings["rates"])]

    def choosing(self, settings, name, methods=METHODS, **more):
        """The runs by which rates are chosen."""
        epochs = settings["choosing"]
        epochs = epochs[name] if isinstance(epochs, dict) else epochs
        more = {"epochs": epochs} | self.beside | more
        return [self.one(settings, name, CHOOSING, method, rate, **more) for method in methods
                for rate in self.grid(settings, method)]

    def rates(self, results, settings, name, method, **more):
        """Rule -> rate; None as long as runs are missing."""
        runs = self.choosing(settings, name, (method,), **more)
        if any(run not in results for run in runs):
            return None
        curves = [results.returned(run) for run in runs]
        return {rule: self.grid(settings, method)[best(curves)]
                for rule, best in self.rules.items()}

    def wanted(self, settings, results, names=("cifar",), methods=METHODS, rules=tuple(RULES),
               **more):
        """The runs that choose the rates, and the judged ones as soon as these are known."""
        runs = []
        for name in names:
            runs += self.choosing(settings, name, methods, **more)
            for method in methods:
                choice = self.rates(results, settings, name, method, **more)
                if choice is not None:
                    runs += [self.one(settings, name, seed, method, choice[rule], **more)
                             for rule in rules for seed in settings["seeds"]]
        return runs

    def by_rule(self, results, settings, name="cifar", methods=METHODS, rules=tuple(RULES), **more):
        """Rule -> method -> the runs of the judged seeds, in their order."""
        told = {rule: {} for rule in rules}
        for method in methods:
            choice = self.rates(results, settings, name, method, **more)
            for rule in rules:
                told[rule][method] = [
                    results.returned(self.one(settings, name, seed, method, choice[rule], **more))
                    for seed in settings["seeds"]]
        return told

    def under_rules(self, results, settings, name, judge, **more):
        """The verdict of `judge`, which takes method -> runs, if it is the same by both rules."""
        return agreed({rule: judge(runs)
                       for rule, runs in self.by_rule(results, settings, name, **more).items()})


def early(curves):
    """Rule P: least mean loss in epoch 1, of those that are stable (no epoch above 1.1 times the
    one before it, of the first three); the smallest rate if none is.
    """
    def loss(curve):
        first = np.array(curve["loss"][:3])
        stable = len(first) == 3 and np.isfinite(first).all() and (first[1:] <= 1.1 * first[:-1]
                                                                   ).all()
        return first[0] if stable else np.inf
    return least([loss(curve) for curve in curves], "rate")


def late(curves):
    """Rule B: least training loss at the end."""
    return least([np.inf if diverged(curve) else smoothed(curve["loss"])[-1] for curve in curves],
                 "rate")


FIGURE_2 = Chosen(train, RATES, {"P": early, "B": late}, {"looks": 0})
one, grid, choosing, rates = FIGURE_2.one, FIGURE_2.grid, FIGURE_2.choosing, FIGURE_2.rates
wanted, by_rule, under_rules = FIGURE_2.wanted, FIGURE_2.by_rule, FIGURE_2.under_rules


class OfFigure2:
    """A study of the runs of Figure 2 on CIFAR-10; some ask for others beside."""

    @staticmethod
    def packed(result, arguments):
        """All but the Gram matrices, which only Figure 11 compares: nine tenths of the bytes."""
        return {name: value for name, value in result.items() if name != "grams"}

    def runs(self, settings, results):
        return wanted(settings, results)


def agreed(told):
    """The verdict that is the same by all rules.

    Held by rule P alone, the paper's, and refuted by rule B: "held by rule only". The other way
    round it "depends on the rate". It is taken out where one is and the other is decided. Else,
    where they differ, it is undecided.
    """
    first, *rest = told.values()
    if all(verdict.verdict == first.verdict for verdict in rest):
        return first.with_note("by both rules" if rest else "")
    said = ", ".join(in_words(verdict, f"by rule {rule}",
                              "" if verdict.effect is None else number(verdict.effect))
                     for rule, verdict in told.items())
    by_rule = {rule: verdict.verdict for rule, verdict in told.items()}
    if by_rule == {"P": HELD, "B": DID_NOT_HOLD}:
        return Verdict(HELD_BY_RULE, first.effect, first.spread, first.seeds, first.measure,
                       f"held by the paper's rule, not at the best rate: {said}")
    verdict = (DEPENDS if by_rule == {"P": DID_NOT_HOLD, "B": HELD} else
               UNDECIDED if UNDECIDED in by_rule.values() else TAKEN_OUT)
    return Verdict(verdict, first.effect, first.spread, first.seeds, first.measure, said)


def agreed_by_letter(told):
    """Letter -> the verdict that is the same by all rules, of rule -> letter -> verdict."""
    letters = next(iter(told.values()))
    return {letter: agreed({rule: verdicts[letter] for rule, verdicts in told.items()})
            for letter in letters}


# -- what is read off a run ------------------------------------------------------------------------


def final(run, name="loss"):
    """T at the end (or of the test loss); infinite where the run diverged."""
    return float("inf") if diverged(run) or not run[name] else float(smoothed(run[name])[-1])


def lowest(run):
    """The least T; infinite where the run diverged."""
    return float("inf") if diverged(run) else float(smoothed(run["loss"]).min())


def saturates(run):
    """Whether the second half of the epochs gains less than 2 %."""
    return saturation(run["loss"]) < 1.02


def cut_off(runs):
    """Undecided where one of some runs diverged: whether it saturates cannot be read; else None."""
    runs = list(runs)
    lost = sum(map(diverged, runs))
    return undecided(f"{lost} of {len(runs)} runs diverged: whether they saturate cannot be "
                     "read") if lost else None


def logs(runs, others, number=final):
    """log of a number over another run's, by seed; NaN where both diverged."""
    with np.errstate(invalid="ignore"):
        return [float(np.log(number(a)) - np.log(number(b))) for a, b in zip(runs, others)]


def excess_at_equal_loss(one, other):
    """log of one's test loss over the other's, at the lowest training loss that both reach."""
    curves = [smoothed(run["loss"]) for run in (one, other)]
    level = lowest_common(*curves)
    tests = [at_loss(curve, run["test"], level) for curve, run in zip(curves, (one, other))]
    return float(np.log(tests[0] / tests[1]))


def kernel_at(run, level):
    """Where T first comes down to a level, an epoch from 0, and the similarity of the tangent
    kernel with its start after this epoch.
    """
    epoch = int(np.flatnonzero(smoothed(run["loss"]) <= level)[0])
    at = np.linspace(0, len(run["loss"]), len(run["looks"]))
    return epoch, np.interp(epoch + 1, at, [look["ntk"] for look in run["looks"]])


def reached(run, level):
    """Whole steps until a loss; one more than there were where it was not reached, infinite where
    the run diverged before.
    """
    place = np.ceil(crossing(run["loss"], level))
    if np.isfinite(place) or diverged(run):
        return place
    return float(len(run["loss"]) + 1)


# -- pictures --------------------------------------------------------------------------------------


def draw_curves(panel, runs, name, colour, style, label, start=1, **line):
    """A record of the runs that are finite by epoch, mean and range."""
    mean_and_range(panel, [run[name] for run in finished(runs)], colour, start, linestyle=style,
                   label=label, **line)


def panels_by_rule(figure):
    """Rule -> a panel of training losses by epoch, side by side."""
    panels = dict(zip(RULES, figure.subplots(1, len(RULES), sharey=True)))
    for rule, panel in panels.items():
        panel.set(xlabel="epoch", yscale="log")
        panel.set_title(f"rates: {RULES[rule]}", fontsize=9)
    panels["P"].set_ylabel("training loss")
    return panels


def grid_by_rule(figure):
    """Rule -> (training losses, test losses), two panels by epoch, a row a rule."""
    rows = dict(zip(RULES, figure.subplots(len(RULES), 2, sharex=True, squeeze=False)))
    for rule, row in rows.items():
        for panel, name in zip(row, ("training loss", "test loss")):
            panel.set(ylabel=name, yscale="log")
            panel.set_title(f"rates: {RULES[rule]}", fontsize=9)
    for panel in row:
        panel.set_xlabel("epoch")
    return rows


def draw_by_rule(panel, told, name, log=True):
    """A record of every method by epoch; rule P as lines, rule B thin."""
    _draw_thick_and_thin(panel, told, lambda run: run[name])
    panel.set(xlabel="epoch", yscale="log" if log else "linear")


def draw_looks(panel, told, of, every):
    """What `of` reads off the looks of every method, one each `every` epochs; rules as above."""
    _draw_thick_and_thin(panel, told, lambda run: [of(look) for look in run["looks"]], every, 0)


def _draw_thick_and_thin(panel, told, curve, step=1, start=1):
    for rule, methods in told.items():
        for method, runs in methods.items():
            colour, style = STYLES[method]
            mean_and_range(panel, [curve(run) for run in finished(runs)], colour, start, step,
                           linestyle=style, linewidth=1.6 if rule == "P" else 0.8,
                           label=NAMES[method] if rule == "P" else None)


def title_of(settings, names=("cifar",)):
    """Sets, sizes and network."""
    parts = []
    for name in names:
        about = settings[name]
        parts.append(f"{TITLES[about['task']]}, {about['samples']} images (a subset), "
                     f"d' = {about['width']}, n = {about['batch']}")
    return "; ".join(parts)
