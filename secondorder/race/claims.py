"""How the race is judged: curves of runs -> numbers by seed -> one of five outcomes."""

import numpy as np

from secondorder.studies import Verdict, at_loss, diverged, undecided
from secondorder.studies.verdicts import (ALIKE, DID_NOT_HOLD, HELD, MOST_SEEDS, TAKEN_OUT,
                                          UNDECIDED, half_width, p_value, seeds_needed)

from . import tuning
from .entrants import ENTRANTS

FLOOR = 1e-4  # losses below count as this
LEAST, WITHIN = 0.05, 0.1  # of a log ratio: what counts, and what is alike
LEAST_HELD_OUT, WITHIN_HELD_OUT = 0.02, 0.04
LOG = "log ratio of training losses, positive where the papers' method is lower"


def outcome(differences, measure, least=LEAST, within=WITHIN, because=""):
    """Alike, held, did not hold, undecided or taken out, tried in this order.

    With the mean m of differences, one a seed and three at least, and its 95 % interval:

        alike         the interval lies within -within .. within
        held          m > least, and the interval lies above 0
        did not hold  m < -least, and the interval lies below 0
        undecided     one of these at `MOST_SEEDS` seeds, if mean and spread stayed as they are
    """
    values = np.asarray(differences, dtype=float)
    if len(values) < 3:
        return undecided("it takes three seeds at least", len(values),
                         float(values.mean()) if len(values) else None, measure)
    mean, half = float(values.mean()), half_width(values)
    low, high = mean - half, mean + half
    verdict = (ALIKE if -within <= low and high <= within else
               HELD if mean > least and low > 0 else
               DID_NOT_HOLD if mean < -least and high < 0 else UNDECIDED)
    needed = seeds_needed(values, max(within - abs(mean), abs(mean) if abs(mean) > least else 0.0))
    if verdict == UNDECIDED and needed is None:
        verdict = TAKEN_OUT
    told = Verdict(verdict, mean, (low, high), len(values), measure, because,
                   p_value(values, abs(mean)))
    if verdict not in (UNDECIDED, TAKEN_OUT):
        return told
    return told.with_note(f"{needed or f'more than {MOST_SEEDS}'} seeds at this spread")


def holm(chances):
    """The names of those p-values, name -> p, that stay below 0.05 by Holm's rule."""
    names, order = set(), sorted(chances, key=chances.get)
    for k, name in enumerate(order):
        if chances[name] >= 0.05 / (len(order) - k):
            break
        names.add(name)
    return names


# -- what is read off a run ------------------------------------------------------------------------


def loss_at(result, name, value, read="loss"):
    """The loss at so many seconds, so much work or so many steps; of a run that diverged before,
    the loss that it began with.
    """
    loss = tuning.at(result, name, value, read)
    return max(loss if np.isfinite(loss) else result[read][0], FLOOR)


def log_ratio(other, ours, name, value):
    """log of the other's loss over ours: positive where ours is lower."""
    return float(np.log(loss_at(other, name, value) / loss_at(ours, name, value)))


def at_equal_steps(other, ours):
    """`log_ratio` at the largest number of steps that both have made."""
    return log_ratio(other, ours, "steps", min(other["steps"][-1], ours["steps"][-1]))


def held_out_ratio(other, ours):
    """log of the other's held-out loss over ours, at the lowest training loss that both reach."""
    level = max(min(other["loss"]), min(ours["loss"]), FLOOR)
    theirs, mine = (at_loss(one["loss"], one["held_out"], level) for one in (other, ours))
    return float(np.log(theirs / mine))


def work_until(result, level):
    """Work until a training loss, between two looks by its logarithm; all of it if never."""
    for k, loss in enumerate(result["loss"]):
        if loss <= level:
            if k == 0:
                return result["work"][0]
            logs = np.log([result["loss"][k - 1], loss, level])
            share = (logs[0] - logs[2]) / (logs[0] - logs[1])
            return float((1 - share) * result["work"][k - 1] + share * result["work"][k])
    return float(result["work"][-1])


# -- one problem -----------------------------------------------------------------------------------


class Field:
    """The methods of one problem with their trials and judged runs."""

    def __init__(self, problem, settings, results):
        self.problem, self.settings, self.results = problem, settings, results
        self.limits = tuning.budget(problem, settings, results)
        self.entrants = {entrant.key: entrant for entrant in tuning.running(problem, settings)}
        self.trials = {key: tuning.tried(problem, entrant, settings, results)[0]
                       for key, entrant in self.entrants.items()}
        self.choice = {key: tuning.winner_by_rule(trials, self.limits)
                       for key, trials in self.trials.items()}

    def best(self, kind, rule="S"):
        """The method of a kind whose chosen trial has the least loss; None if none has moved."""
        told = {key: self.trial_loss(key, rule) for key in self.entrants
                if ENTRANTS[key].kind == kind and rule in self.choice[key]}
        return list(told)[tuning.least(list(told.values()), "method")] if told else None

    def trial_loss(self, method, rule):
        """The loss of the trial that a rule chose, at that rule's limit."""
        name = tuning.RULES[rule]
        record = self.trials[method][self.choice[method][rule]]
        return tuning.at(record, name, getattr(self.limits, name) / tuning.SHARE)

    def runs(self, method, rule="S"):
        """Seed -> the judged run."""
        if rule not in self.choice[method]:
            return {}
        runs = {seed: tuning.judged(self.problem, self.entrants[method], rule, seed,
                                    self.choice[method], self.limits)
                for seed in self.settings["seeds"]}
        return {seed: self.results.returned(run) for seed, run in runs.items()
                if run in self.results}

    def compared(self, number, measure, rule="S", **options):
        """The `outcome` of ``number(run of a first-order method, run of a paper's method)``, both
        the best of their kind in the trials.
        """
        ours, other = self.best("paper", rule), self.best("first order", rule)
        if ours is None or other is None:
            return undecided("no trial of one side has moved")
        mine, theirs = self.runs(ours, rule), self.runs(other, rule)
        pairs = [(theirs[seed], mine[seed]) for seed in mine if seed in theirs]
        lost = sum(diverged(run) for pair in pairs for run in pair)
        said = f"{ENTRANTS[ours].title} against {ENTRANTS[other].title}"
        if lost:
            said += f"; {lost} of {2 * len(pairs)} runs diverged and count with their first loss"
        return outcome([number(*pair) for pair in pairs], measure, because=said, **options)

    def seconds(self):
        return self.compared(lambda other, ours: log_ratio(other, ours, "seconds",
                                                           self.limits.seconds), LOG)

    def work(self):
        return self.compared(lambda other, ours: log_ratio(other, ours, "work", self.limits.work),
                             LOG, "G")

    def steps(self):
        return self.compared(at_equal_steps, LOG)

    def held_out(self):
        return self.compared(held_out_ratio, "log ratio of held-out losses at equal training loss, "
                             "positive where the papers' method is lower", least=LEAST_HELD_OUT,
                             within=WITHIN_HELD_OUT)

    def final(self, name="seconds"):
        """Method -> mean log loss over seeds, at T, or at as many steps as all of them made."""
        runs = {key: list(self.runs(key).values()) for key in self.entrants}
        runs = {key: of for key, of in runs.items() if of}
        if not runs:
            return {}
        value = (self.limits.seconds if name == "seconds" else
                 min(run["steps"][-1] for of in runs.values() for run in of if not diverged(run)))
        return {key: float(np.mean([np.log(loss_at(run, name, value)) for run in of]))
                for key, of in runs.items()}


# -- several problems ------------------------------------------------------------------------------


def tau(one, other):
    """Kendall's tau between two rankings of the same methods, each method -> number."""
    from scipy.stats import kendalltau

    return float(kendalltau([one[key] for key in one], [other[key] for key in one]).statistic)


def width(losses, level=None):
    """Decades of a rate within which the loss is at most a level, twice the least loss if not
    given.

    `losses` stand at rates half a decade apart; between them the logarithm of the loss is
    interpolated. Where the loss is low at an end of the grid the width ends there.
    """
    losses = np.maximum(losses, FLOOR)
    logs = np.log(losses) - np.log(2 * losses.min() if level is None else level)
    total = 0.0
    for left, right in zip(logs[:-1], logs[1:]):
        if left <= 0 and right <= 0:
            total += 0.5
        elif left <= 0 or right <= 0:
            total += 0.5 * min(left, right) / (min(left, right) - max(left, right))
    return float(total)


def worst_gaps(finals):
    """Method -> its largest log loss above the best, and over how many problems it ran.

    `finals` is problem -> {method: log loss}.
    """
    gaps = {}
    for logs in finals.values():
        best = min(logs.values())
        for method, log in logs.items():
            gaps.setdefault(method, []).append(log - best)
    return {method: (max(of), len(of)) for method, of in gaps.items()}
