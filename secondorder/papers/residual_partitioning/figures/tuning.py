"""Studies that choose a learning rate on seeds of their own, before they judge it on others."""

import numpy as np

from secondorder.studies import diverged, least

from .networks import METHODS

GRIDS = {"autoencoder": {"partitioning": (1, 3, 10, 30, 100), "sgd": (0.003, 0.01, 0.03, 0.1, 0.3),
                         "adam": (3e-4, 1e-3, 3e-3, 0.01, 0.03)},
         "classifier": {"partitioning": (30, 100, 300, 1000), "sgd": (0.01, 0.03, 0.1, 0.3, 1),
                        "adam": (1e-4, 3e-4, 1e-3, 3e-3, 0.01)}}


class Tuned:
    """The runs of such a study. A subclass has

    ``run_of(case, seed, rate, settings, trial)``, the :class:`Run`;
    ``number(result, settings)``, of which the least mean is chosen. Infinite: not to be chosen.
    """

    kind = None
    trial_seeds = 101, 102
    longer = True  # a best rate at the end of the grid adds one beyond it, once

    def cases(self, settings):
        """What a rate is chosen for: a set and a method."""
        return [(data, method) for data in settings["sets"] for method in METHODS]

    def rates(self, case, settings):
        """The grid: one rate in the quick settings, which choose nothing."""
        rates = GRIDS[self.kind][case[1]]
        return rates if settings["trial"] else rates[2:3]

    def tuned(self, case, settings, results):
        """The trials of a case, and the chosen rate: None while a trial is missing."""
        rates = tuple(map(float, self.rates(case, settings)))
        if len(rates) == 1:
            return [], rates[0]
        trials, best = self.tried(case, rates, settings, results)
        if best is None or not self.longer or best not in (rates[0], rates[-1]):
            return trials, best
        end, next_to_it = rates[:2] if best == rates[0] else rates[:-3:-1]
        beyond = float(f"{end**2 / next_to_it:.1g}")
        return self.tried(case, sorted((*rates, beyond)), settings, results)

    def tried(self, case, rates, settings, results):
        """The trials of some rates, and the best of these; None while one is missing."""
        trials = [[self.run_of(case, seed, rate, settings, True) for seed in self.trial_seeds]
                  for rate in rates]
        flat = sum(trials, [])
        if any(run not in results for run in flat):
            return flat, None
        means = [np.mean([np.inf if diverged(one) else self.number(one, settings)
                          for one in map(results.returned, runs)]) for runs in trials]
        return flat, rates[least(means, "rate")]

    def runs(self, settings, results):
        """The trials of all rates and, once these are known, the runs with the best."""
        runs = []
        for case in self.cases(settings):
            trials, rate = self.tuned(case, settings, results)
            runs += trials
            if rate is not None:
                runs += [self.run_of(case, seed, rate, settings, False)
                         for seed in settings["seeds"]]
        return runs

    def judged(self, case, settings, results):
        """What the runs with the chosen rate returned, in the order of the seeds."""
        rate = self.tuned(case, settings, results)[1]
        return [results.returned(self.run_of(case, seed, rate, settings, False))
                for seed in settings["seeds"]]
