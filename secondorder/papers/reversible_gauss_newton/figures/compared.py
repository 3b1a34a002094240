"""Runs at rates that were published or chosen: of Figure 2, which serve most other studies.

The rates of the authors' public code decide a claim where runs at them are at hand. Elsewhere the
paper's own rule decides (rule P, the most progress in epoch 1, without instability). The verdict at
the rate with the least training loss later on (rule B) is told beside it. Both rules read the same
runs on a seed of their own, six rates a method.
"""

from dataclasses import replace

import numpy as np

from secondorder.studies import (Chosen, at_loss, crossing, diverged, finished, headline, least,
                                 legend_below, lowest_common, mean_and_range, saturation, smoothed,
                                 undecided)

from .training import NAMES, TITLES, train

RATES = {"gn": (0.1, 0.2, 0.5, 1.0, 2.0, 4.0), "adam": (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
         "sgd": (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)}
#: Of the authors' public code, which leaves out the factor 1 / L: its rates times L.
AUTHORS = {"cifar": {"gn": 0.6, "adam": 1e-4, "sgd": 0.01},
           "mnist": {"gn": 0.2, "adam": 1e-4, "sgd": 0.1}}
#: Seeds that were run at these rates.
AUTHORS_SEEDS = {"cifar": (2, 3, 4), "mnist": (2, 3, 4)}
METHODS = ("gn", "adam", "sgd")
#: What a verdict says of a rule, and a picture.
WORDS = {"authors": "at the authors' rates", "P": "at the rates of the paper's rule",
         "B": "at the best rates"}
CHOOSING = Chosen.choosing_seed
STYLES = {"gn": ("C3", "-"), "adam": ("C0", "--"), "sgd": ("C4", ":"), "exact": ("k", "-.")}

FULL = {"cifar": {"task": "cifar-8", "samples": 5000, "width": 800, "batch": 102, "epochs": 100,
                  "looks": 10},
        "mnist": {"task": "mnist", "samples": 8000, "width": 1064, "batch": 136, "epochs": 60},
        "choosing": {"cifar": 30, "mnist": 15}, "rates": (0, 6), "seeds": (2, 3, 4),
        "published": AUTHORS_SEEDS}
FIVE_SEEDS = FULL | {"seeds": (2, 3, 4, 5, 6)}
FOURTEEN_SEEDS = FULL | {"seeds": tuple(range(2, 16))}
QUICK = {"cifar": {"task": "cifar-8", "samples": 120, "width": 48, "batch": 40, "epochs": 4,
                   "looks": 2},
         "mnist": {"task": "digits", "samples": 120, "width": 48, "batch": 40, "epochs": 4},
         "choosing": {"cifar": 3, "mnist": 3}, "rates": (2, 4), "seeds": (2,)}
#: What all studies on CIFAR-10 register alike.
ON_CIFAR = {"full": FULL, "quick": QUICK, "needs": ("cifar-10",),
            "smaller": "CIFAR-10 at 8 x 8 pixels, 5000 images, d' = 800"}
SIZES = ("CIFAR-10 at 8 x 8 pixels, 5000 images, d' = 800, n = 102: the printed sizes take days. "
         "The ratios n / d' and images / d' and the steps of an epoch are near the printed ones")
AT_AUTHORS = (SIZES + ". The rates of the authors' public code decide (CIFAR-10: Gauss-Newton 0.6, "
              "Adam 1e-4, SGD 0.01), with as many seeds as were run. The best rates have the least "
              "training loss later on")
BY_RULE = (SIZES + ". Nobody ran this at the authors' rates: those of the paper's own rule decide "
           "(most progress in epoch 1, without instability); the best rates have the least "
           "training loss later on")


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


#: With the authors' rates where they are known, and with the paper's own rule in their place.
FIGURE_2 = Chosen(train, RATES, {"P": early, "B": late}, WORDS, AUTHORS, {"looks": 0})
OWN_RULE = replace(FIGURE_2, published={})


class OfFigure2:
    """A study of Figure 2's runs, and of others that go `beside` them.

    `trainings` are the runs by rule, of some `methods` on some `sets`, with other arguments where
    there is ``more``. `judges` has by letter a function of name -> runs of the judged seeds; the
    rule that decides is told first.
    """

    trainings, methods, sets, more, judges = FIGURE_2, METHODS, ("cifar",), {}, {}

    @staticmethod
    def packed(result, arguments):
        """All but the Gram matrices, which only Figure 11 compares: nine tenths of the bytes."""
        return {name: value for name, value in result.items() if name != "grams"}

    def beside(self, settings, results, name, rates):
        """Name -> other runs on a set, at the rates (method -> rate) of one rule."""
        return {}

    def rates(self, settings, results, name="cifar"):
        """Rule -> method -> rate; none as long as runs are missing."""
        told = {method: self.trainings.rates(results, settings, name, method, **self.more)
                for method in self.methods}
        if None in told.values():
            return {}
        return {rule: {method: rates[rule] for method, rates in told.items()}
                for rule in self.trainings.rules_of(name)}

    def runs(self, settings, results):
        wanted = self.trainings.wanted(settings, results, self.sets, self.methods, **self.more)
        return wanted + [run for name in self.sets
                         for rates in self.rates(settings, results, name).values()
                         for runs in self.beside(settings, results, name, rates).values()
                         for run in runs]

    def told(self, results, settings, name="cifar"):
        """Rule -> method, or what `beside` calls it -> what the runs returned."""
        told = self.trainings.by_rule(results, settings, name, self.methods, **self.more)
        return {rule: told[rule] | {other: [results.returned(run) for run in runs]
                                    for other, runs in self.beside(settings, results, name,
                                                                   rates).items()}
                for rule, rates in self.rates(settings, results, name).items()}

    def judge(self, results, settings):
        verdicts = {}
        for name in self.sets:
            told = self.told(results, settings, name)
            for letter, judge in self.judges.items():
                own = f"{letter}-{name}".lstrip("-") if len(self.sets) > 1 else letter
                verdicts[own] = self.trainings.decided(
                    {rule: judge(runs) for rule, runs in told.items()})
        return verdicts


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


def logs(runs, others, record="loss"):
    """log of a run's end over another's, by seed; NaN where both diverged."""
    with np.errstate(invalid="ignore"):
        return [float(np.log(final(a, record)) - np.log(final(b, record)))
                for a, b in zip(runs, others)]


def excess_at_equal_loss(one, other):
    """log of one's test loss over the other's, at the lowest training loss that both reach."""
    curves = [smoothed(run["loss"]) for run in (one, other)]
    level = lowest_common(*curves)
    tests = [at_loss(curve, run["test"], level) for curve, run in zip(curves, (one, other))]
    return float(np.log(tests[0] / tests[1]))


def reached(run, level):
    """Whole steps until a loss; one more than there were where it was not reached, infinite where
    the run diverged before.
    """
    place = np.ceil(crossing(run["loss"], level))
    if np.isfinite(place) or diverged(run):
        return place
    return float(len(run["loss"]) + 1)


# -- pictures --------------------------------------------------------------------------------------


LOOKS = {method: (NAMES[method], *style) for method, style in STYLES.items()}
LOSSES = {"loss": "training loss", "test": "test loss"}


def draw_panels(figure, settings, title, panels, rows=1, about=None, looks=LOOKS, **shared):
    """Curves of what `looks` names -> (label, colour, style), by epoch; the rule that decides
    thick, others thin.

    A panel is a dict of what its axes are to be set to, and of ``told``, rule -> method -> runs;
    ``of``, a record by its name or a function that reads a curve off a run; ``at``, where the curve
    starts and how far its next value is; ``line``, where there is a horizontal one.
    """
    grid = figure.subplots(rows, len(panels) // rows, squeeze=False, **shared)
    rules = [thick_and_thin(axes["told"]) for axes in panels]
    alike = len(set(rules)) == 1
    for panel, axes, rule in zip(grid.flat, panels, rules):
        axes = {"xlabel": "epoch", "at": (1, 1), "line": None, "title": ""} | axes
        told, of, at, line = (axes.pop(name) for name in ("told", "of", "at", "line"))
        for number, runs in enumerate(told.values()):
            for name in (name for name in looks if name in runs):
                label, colour, style = looks[name]
                mean_and_range(panel, [run[of] if isinstance(of, str) else of(run)
                                       for run in finished(runs[name])], colour, *at,
                               linestyle=style, linewidth=0.8 if number else 1.6,
                               label=None if number else label)
        if line is not None:
            panel.axhline(line, color="0.6", linewidth=0.8)
        panel.set(**axes)
        panel.set_title("\n".join(filter(None, (axes["title"], "" if alike else rule))), fontsize=8)
    if "sharex" in shared:
        for panel in grid[:-1].flat:
            panel.set_xlabel("")
    legend_below(figure, grid[0, 0], rows=1 + (len(looks) > 4))
    title = f"{title}{f' ({rules[0]})' * alike}\n{about or title_of(settings)}"
    if " seed" in "".join(rules):
        figure.suptitle(f"{title}; mean and range over the seeds", fontsize=10)
    else:
        headline(figure, title, settings)


def draw_rules(figure, settings, title, told, looks, names=("loss",)):
    """Losses of what `looks` names, a panel or row a rule."""
    draw_panels(figure, settings, title, [
        {"told": {rule: runs}, "of": name, "ylabel": LOSSES[name], "yscale": "log"}
        for rule, runs in told.items() for name in names],
        len(told) if len(names) > 1 else 1, looks=looks, sharex=True)


def thick_and_thin(told):
    """How a title says which rule is drawn how; seeds, where the rules have not the same ones."""
    if len(told) == 1:
        return WORDS[next(iter(told))]
    seeds = {rule: max(map(len, methods.values())) for rule, methods in told.items()}
    return ", ".join(f"{how}: {WORDS[rule]}"
                     + f" ({seeds[rule]} seed{'s' * (seeds[rule] > 1)})" * (
                         len(set(seeds.values())) > 1)
                     for how, rule in zip(("thick", "thin"), told))


def title_of(settings, name="cifar"):
    """Set, sizes and network."""
    about = settings[name]
    return (f"{TITLES[about['task']]}, {about['samples']} images (a subset), d' = {about['width']},"
            f" n = {about['batch']}")
