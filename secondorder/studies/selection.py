"""Choosing a setting of a method on seeds of its own, before it is judged on others."""

from dataclasses import dataclass, field

import numpy as np

from .registry import Run
from .verdicts import first_decides


def least(numbers, what="candidate"):
    """The place of the smallest number: how every study chooses among its candidates.

    Parameters
    ----------
    numbers : sequence of float
        One a candidate; infinite where it diverged. Where all are, the first is taken: no choice is
        better than another.
    what : str
        What a candidate is, for the message.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If several candidates share the smallest number, or one is NaN: the number does not choose.
    """
    numbers = np.asarray(numbers, dtype=float)
    if np.isnan(numbers).any():
        raise ValueError(f"{what} {int(np.isnan(numbers).argmax())}: its number is NaN and chooses "
                         "nothing")
    best = np.flatnonzero(numbers == numbers.min())
    if len(best) > 1 and np.isfinite(numbers.min()):
        raise ValueError(f"{len(best)} of {len(numbers)} {what}s have the same number, "
                         f"{numbers.min():g}: it chooses nothing; take a number that tells them "
                         "apart")
    return int(best[0])


def chosen(results, candidates, number, seeds):
    """The candidate whose number is smallest on average over some seeds; None while one of its runs
    is missing. Where two are equally good it raises, as `least` does.

    Parameters
    ----------
    results : Results
    candidates : sequence of dict
        Arguments that tell the runs of a candidate from those of the others.
    number : callable
        Takes what a run returned; infinite where it diverged.
    seeds : sequence of int
        Those on which to choose; a study judges on others.

    Returns
    -------
    dict or None
    """
    means = []
    for candidate in candidates:
        returned = results.by_seed(**candidate)
        if any(seed not in returned for seed in seeds):
            return None
        means.append(float(np.mean([number(returned[seed]) for seed in seeds])))
    return candidates[least(means)]


@dataclass(frozen=True)
class Chosen:
    """The runs of one function, by the name of their setting, method and rate; the rate is chosen
    by several rules, and the first one decides a claim.

    The function trains once: it takes seed, method, rate, epochs and what the setting holds beside.
    The rates of `tried` run on the seed `choosing_seed` for as many epochs as
    ``settings["choosing"]`` says, with the arguments `beside`; each of `rules` takes the tried
    curves and returns the place of the best one.

    Attributes
    ----------
    function : callable
    tried : dict
        Method -> rates.
    rules : dict
        Name -> function of the tried curves; the paper's own rule stands first.
    words : dict
        Name of a rule -> what a verdict says of it, "at the best rate".
    published : dict
        Name of a setting -> method -> the rate that the authors published. Where there are some,
        they take the place of the paper's own rule as the rule ``"authors"``, which decides; a
        method without one takes the paper's own rule there. The seeds of a setting in
        ``settings["published"]``, where there are such, are all that this rule has.
    beside : dict
        Arguments of the trials.
    choosing_seed : int
        Of the trials; a study judges on others.
    """

    function: object
    tried: dict
    rules: dict
    words: dict
    published: dict = field(default_factory=dict)
    beside: dict = field(default_factory=dict)
    choosing_seed: int = 100

    def one(self, settings, name, seed, method, rate, **more):
        """A run on one of the sets."""
        return Run(self.function, {"seed": seed, "method": method, "rate": rate}
                   | settings[name] | more)

    def grid(self, settings, method):
        """The rates of a method (the quick setting takes two)."""
        return self.tried[method][slice(*settings["rates"])]

    def rules_of(self, name):
        """The names of the rules for a setting; the one that decides stands first."""
        own, *others = self.rules
        return ("authors" if name in self.published else own, *others)

    def seeds(self, settings, name, rule):
        """The judged seeds of a rule."""
        there = settings.get("published", {}).get(name, settings["seeds"])
        return tuple(seed for seed in settings["seeds"] if rule != "authors" or seed in there)

    def choosing(self, settings, name, methods, **more):
        """The runs by which rates are chosen."""
        epochs = settings["choosing"]
        epochs = epochs[name] if isinstance(epochs, dict) else epochs
        more = {"epochs": epochs} | self.beside | more
        return [self.one(settings, name, self.choosing_seed, method, rate, **more)
                for method in methods for rate in self.grid(settings, method)]

    def rates(self, results, settings, name, method, **more):
        """Rule -> rate; None as long as runs are missing."""
        runs = self.choosing(settings, name, (method,), **more)
        if any(run not in results for run in runs):
            return None
        curves, grid = [results.returned(run) for run in runs], self.grid(settings, method)
        rates = {rule: grid[best(curves)] for rule, best in self.rules.items()}
        if name not in self.published:
            return rates
        own, *others = rates
        return {"authors": self.published[name].get(method, rates[own])} | {
            rule: rates[rule] for rule in others}

    def wanted(self, settings, results, names=("cifar",), methods=None, rules=None, **more):
        """The runs that choose the rates, and the judged ones as soon as these are known."""
        runs, methods = [], self.tried if methods is None else methods
        for name in names:
            runs += self.choosing(settings, name, methods, **more)
            for method in methods:
                choice = self.rates(results, settings, name, method, **more)
                if choice is not None:
                    runs += [self.one(settings, name, seed, method, choice[rule], **more)
                             for rule in rules or self.rules_of(name)
                             for seed in self.seeds(settings, name, rule)]
        return runs

    def by_rule(self, results, settings, name="cifar", methods=None, rules=None, **more):
        """Rule -> method -> the runs of the judged seeds, in their order."""
        told = {rule: {} for rule in rules or self.rules_of(name)}
        for method in self.tried if methods is None else methods:
            choice = self.rates(results, settings, name, method, **more)
            for rule in told:
                told[rule][method] = [
                    results.returned(self.one(settings, name, seed, method, choice[rule], **more))
                    for seed in self.seeds(settings, name, rule)]
        return told

    def decided(self, told):
        """The verdict of rule -> verdict: the first rule decides, the others are told beside it."""
        return first_decides({self.words[rule]: verdict for rule, verdict in told.items()})

    def under_rules(self, results, settings, name, judge, **more):
        """The verdict by `judge`, which takes method -> runs, under all rules; see `decided`."""
        return self.decided({rule: judge(runs) for rule, runs in self.by_rule(
            results, settings, name, **more).items()})
