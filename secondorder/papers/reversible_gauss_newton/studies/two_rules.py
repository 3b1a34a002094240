"""Trainings whose rate is chosen by two rules, on a seed of its own: for Figures 1, 5 and 15."""

from dataclasses import dataclass

from secondorder.studies import Run

from . import compared


@dataclass(frozen=True)
class Chosen:
    """The runs of one function, by the name of their setting, method and rate.

    Attributes
    ----------
    function : callable
        Trains once; takes seed, method, rate, epochs and what the setting holds beside.
    grid : dict of str to sequence of float
        Method -> the rates that are tried, for as many epochs as ``settings["choosing"]`` says.
    rules : dict of str to callable
        Rule -> what takes the tried curves and returns the place of the best one.
    """

    function: object
    grid: dict
    rules: dict

    def one(self, settings, name, seed, method, rate, epochs=None):
        about = settings[name]
        return Run(self.function, {"seed": seed, "method": method, "rate": rate, **about,
                                   "epochs": epochs or about["epochs"]})

    def choosing(self, settings, name, method):
        """The runs by which the rate of a method is chosen."""
        return [self.one(settings, name, compared.CHOOSING, method, rate, settings["choosing"])
                for rate in self.grid[method][slice(*settings["rates"])]]

    def rates(self, results, settings, name, method):
        """Rule -> rate; None as long as runs are missing."""
        runs = self.choosing(settings, name, method)
        if any(run not in results for run in runs):
            return None
        curves = [results.returned(run) for run in runs]
        return {rule: runs[best(curves)].arguments["rate"] for rule, best in self.rules.items()}

    def wanted(self, settings, results, names):
        """The runs that choose the rates, and the judged ones as soon as these are known."""
        runs = []
        for name in names:
            for method in compared.METHODS:
                runs += self.choosing(settings, name, method)
                chosen = self.rates(results, settings, name, method)
                if chosen:
                    runs += [self.one(settings, name, seed, method, rate)
                             for rate in chosen.values() for seed in settings["seeds"]]
        return runs

    def by_rule(self, results, settings, name):
        """Rule -> method -> the runs of the judged seeds, in their order."""
        rates = {method: self.rates(results, settings, name, method) for method in compared.METHODS}
        return {rule: {
            method: [results.returned(self.one(settings, name, seed, method, chosen[rule]))
                     for seed in settings["seeds"]] for method, chosen in rates.items()}
            for rule in self.rules}

    def judged(self, results, settings, name, judge):
        """The verdict of `judge`, which takes method -> runs of the judged seeds, if it is the same
        by all rules.
        """
        return compared.agreed({rule: judge(runs) for rule, runs in
                                self.by_rule(results, settings, name).items()})
