"""Runs at rates that were published or chosen: of Figure 2, which serve most other studies.

The rates of the authors' public code decide a claim where runs at them are at hand. Elsewhere the
paper's own rule decides (rule P, the most progress in epoch 1, without instability). The verdict at
the rate with the least training loss later on (rule B) is told beside it. Both rules read the same
runs on a seed of their own, six rates a method.
"""

import numpy as np

from secondorder.studies import (Chosen, at_loss, crossing, diverged, finished, least,
                                 lowest_common, mean_and_range, saturation, smoothed, undecided)

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
STYLES = {"gn": ("C3", "-"), "adam": ("C0", "--"), "sgd": ("C4", ":"), "mp": ("C2", "-.")}

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


def published(rates, seeds):
    """Those of the authors' rates at which runs are at hand."""
    return {name: rates[name] for name in rates if seeds[name]}


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


#: With the paper's own rule, and with the authors' rates in its place.
OWN_RULE = Chosen(train, RATES, {"P": early, "B": late}, WORDS, beside={"looks": 0})
FIGURE_2 = Chosen(train, RATES, {"P": early, "B": late}, WORDS, published(AUTHORS, AUTHORS_SEEDS),
                  {"looks": 0})
one, grid, choosing, rates = OWN_RULE.one, OWN_RULE.grid, OWN_RULE.choosing, OWN_RULE.rates
wanted, by_rule, decided = OWN_RULE.wanted, OWN_RULE.by_rule, OWN_RULE.decided


class OfFigure2:
    """A study of Figure 2's runs on CIFAR-10: `judges` has a function of method -> runs by letter;
    those that ask for other runs beside have a judge of their own.
    """

    judges = {}

    @staticmethod
    def packed(result, arguments):
        """All but the Gram matrices, which only Figure 11 compares: nine tenths of the bytes."""
        return {name: value for name, value in result.items() if name != "grams"}

    def runs(self, settings, results):
        return FIGURE_2.wanted(settings, results)

    def judge(self, results, settings):
        return {letter: FIGURE_2.under_rules(results, settings, "cifar", judge)
                for letter, judge in self.judges.items()}


def by_letter(told):
    """Letter -> verdict, of rule -> letter -> verdict: the first rule decides."""
    return {letter: decided({rule: verdicts[letter] for rule, verdicts in told.items()})
            for letter in next(iter(told.values()))}


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


LOSSES = ("training loss", "test loss")


def panels_by_rule(figure, rules, names=("training loss",)):
    """Rule -> its panels, one a name, losses by epoch; a row a rule where there are several."""
    shape = (1, len(rules)) if len(names) == 1 else (len(rules), len(names))
    grid = figure.subplots(*shape, sharex=True, sharey=len(names) == 1, squeeze=False)
    rows = dict(zip(rules, grid.T if len(names) == 1 else grid))
    for rule, row in rows.items():
        for panel, name in zip(row, names):
            panel.set(ylabel=name, yscale="log")
            panel.set_title(WORDS[rule], fontsize=9)
    for panel in grid[-1]:
        panel.set_xlabel("epoch")
    return rows


def draw_by_rule(panel, told, name, log=True, start=1):
    """A record of every method by epoch; the rule that decides thick, others thin."""
    _draw_thick_and_thin(panel, told, lambda run: run[name], start=start)
    panel.set(xlabel="epoch" if start else "step", yscale="log" if log else "linear")


def draw_looks(panel, told, of, every):
    """What `of` reads off the looks of every method, one each `every` epochs; rules as above."""
    _draw_thick_and_thin(panel, told, lambda run: [of(look) for look in run["looks"]], every, 0)


def _draw_thick_and_thin(panel, told, curve, step=1, start=1):
    for number, methods in enumerate(told.values()):
        for method, runs in methods.items():
            colour, style = STYLES[method]
            mean_and_range(panel, [curve(run) for run in finished(runs)], colour, start, step,
                           linestyle=style, linewidth=0.8 if number else 1.6,
                           label=None if number else NAMES[method])


def thick_and_thin(told):
    """How a title says which rule is drawn how; seeds, where the rules have not the same ones."""
    seeds = {rule: max(map(len, methods.values())) for rule, methods in told.items()}
    return ", ".join(f"{how}: {WORDS[rule]}"
                     + f" ({seeds[rule]} seed{'s' * (seeds[rule] > 1)})" * (
                         len(set(seeds.values())) > 1)
                     for how, rule in zip(("thick", "thin"), told))


def title_of(settings, names=("cifar",)):
    """Sets, sizes and network."""
    parts = []
    for name in names:
        about = settings[name]
        parts.append(f"{TITLES[about['task']]}, {about['samples']} images (a subset), "
                     f"d' = {about['width']}, n = {about['batch']}")
    return "; ".join(parts)
