"""What several problems say together: batches, valleys, ranks."""

import numpy as np

from secondorder.studies import exactly, paired, study, undecided

from .. import claims, drawings, tuning
from ..entrants import ENTRANTS
from . import problems
from .problems import FULL, PAPER, QUICK

BATCHES = {"digits-10": 10, "digits": 100, "digits-all": 1400}
RACED = ("digits", "wine", "reversible", "one-batch", "convolution", "plateau", "classifier",
         "autoencoder")
QUICK_TWO = ("digits", "wine")
WIDER = 0.5  # decades
RANKS_AGREE, NEAR, MANY = 0.6, 0.1, 6
FAMILIES = {"seconds": claims.Field.seconds, "work": claims.Field.work,
            "steps": claims.Field.steps, "held-out": claims.Field.held_out}
CURVED = [key for key, entrant in ENTRANTS.items() if entrant.kind in ("paper", "rival")]


def fields(settings, results):
    """Problem -> Field."""
    return {problem: claims.Field(problem, settings, results) for problem in settings["problems"]}


class Noise:
    """Does the advantage grow with the batch?"""

    def runs(self, settings, results):
        return [run for problem in settings["problems"]
                for run in tuning.stages(problem, settings, results)]

    def judge(self, results, settings):
        told = fields(settings, results)
        seeds = [seed for seed in settings["seeds"]
                 if all(seed in self.advantage(field) for field in told.values())]
        logs = np.log([BATCHES[problem] for problem in told])
        slopes = [float(np.polyfit(logs, [self.advantage(field)[seed] for field in told.values()],
                                   1)[0]) for seed in seeds]
        return {"slope": paired(slopes, "slope of the log ratio of training losses at equal work, "
                                "in the logarithm of the batch")}

    def advantage(self, field):
        """Seed -> log of the first-order loss over the papers' best, at equal work."""
        ours, other = field.best("paper", "G"), field.best("first order", "G")
        if ours is None or other is None:
            return {}
        mine, theirs = field.runs(ours, "G"), field.runs(other, "G")
        return {seed: claims.log_ratio(theirs[seed], mine[seed], "work", field.limits.work)
                for seed in mine if seed in theirs}

    def draw(self, results, figure, settings):
        drawings.draw_noise({problem: self.advantage(field) for problem, field in
                             fields(settings, results).items()}, BATCHES, figure)


class Width:
    """How wide is the valley of rates?"""

    def runs(self, settings, results):
        runs = []
        for problem in settings["problems"]:
            runs += tuning.stages(problem, settings, results, judge=False)
            if tuning.budget(problem, settings, results) is not None:
                for entrant in tuning.running(problem, settings):
                    runs += (tuning.valley(problem, entrant, settings, results) or {}).values()
        return runs

    def widths(self, results, settings, common=False):
        """Method -> problem -> decades: of rate or sigma, to twice the method's own least loss; or,
        with `common`, of step length, to twice the least loss of all methods.
        """
        told = {}
        for problem in settings["problems"]:
            of_all = {entrant.key: list(self.losses(problem, entrant, settings, results).values())
                      for entrant in tuning.running(problem, settings)}
            of_all = {key: losses for key, losses in of_all.items() if losses}
            level = 2 * max(claims.FLOOR, min(map(min, of_all.values()), default=0.0))
            for key, losses in of_all.items():
                # a step's length is as 1 / sqrt(sigma) where curvature plays no part
                length = 0.5 if common and ENTRANTS[key].tunes == "sigma" else 1.0
                told.setdefault(key, {})[problem] = length * claims.width(
                    losses, level if common else None)
        return told

    def losses(self, problem, entrant, settings, results):
        """Place -> loss at T, where it diverged the loss at the start."""
        limits = tuning.budget(problem, settings, results)
        valley = tuning.valley(problem, entrant, settings, results) or {}
        return {place: claims.loss_at(results.returned(run), "seconds", limits.seconds)
                for place, run in valley.items() if run in results}

    def judge(self, results, settings):
        own, common = (self.widths(results, settings, common) for common in (False, True))
        return {key: self.wider(own.get(key, {}), own.get("adam", {}), "rate (sigma)")
                for key in CURVED} | {
            f"{key}-all": self.wider(common.get(key, {}), common.get("adam", {}), "step length")
            for key in CURVED}

    def wider(self, mine, adams, decades):
        differences = [mine[problem] - adams[problem] for problem in mine if problem in adams]
        measure = f"decades of {decades} by which the valley is wider than Adam's, median"
        if not differences:
            return undecided("no problem has both", measure=measure)
        median = float(np.median(differences))
        return exactly(median >= WIDER, median, measure, f"{len(differences)} problems, from "
                       f"{min(differences):.2f} to {max(differences):.2f}")

    def draw(self, results, figure, settings):
        losses = {problem: {entrant.key: self.losses(problem, entrant, settings, results)
                            for entrant in tuning.running(problem, settings)}
                  for problem in settings["problems"]}
        drawings.draw_valleys(losses, figure)


class Together:
    """Ranks, winners, and what is left of the verdicts when all problems are counted."""

    def runs(self, settings, results):
        return [run for problem in settings["problems"]
                for run in problems.stages(problem, settings, results)]

    def judge(self, results, settings):
        told, compared = (fields(one, results) for one in
                          (settings, problems.of_compared(settings)))
        return {"order": self.order(told), "no-winner": self.no_winner(told),
                **{f"holm-{name}": self.corrected(compared, judge)
                   for name, judge in FAMILIES.items()}}

    def order(self, told):
        taus = [claims.tau(field.final("seconds"), field.final("steps"))
                for field in told.values() if len(field.final()) > 2]
        return paired(taus, "Kendall's tau between the ranks, mean over problems",
                      margin=RANKS_AGREE)

    def no_winner(self, told):
        gaps = claims.worst_gaps({problem: field.final() for problem, field in told.items()
                                  if field.final()})
        of_many = {key: gap for key, (gap, count) in gaps.items()
                   if count >= min(MANY, len(told))}
        if not of_many:
            return undecided("no method ran on enough problems")
        said = ", ".join(f"{ENTRANTS[key].title} {gap:.2f}"
                         for key, gap in sorted(of_many.items(), key=lambda pair: pair[1]))
        least, seeds = min(of_many.values()), min(len(field.settings["seeds"])
                                                  for field in told.values())
        return exactly(least > NEAR, least, "log of the loss over the best one's, at the problem "
                       "where it is largest; the least over methods", said, seeds)

    def corrected(self, told, judge):
        verdicts = {problem: judge(field) for problem, field in told.items()}
        beyond = claims.holm({problem: one.p for problem, one in verdicts.items()
                              if one.p is not None})
        held = [problem for problem in beyond if verdicts[problem].verdict == "held"]
        against = [problem for problem in beyond if verdicts[problem].verdict == "did not hold"]
        said = (f"lower on {', '.join(sorted(held)) or 'none'}; higher on "
                f"{', '.join(sorted(against)) or 'none'}; of {len(told)} problems")
        return exactly(len(held) > len(told) / 2, len(held), "problems on which the papers' best "
                       "is lower, by Holm's rule", said,
                       min(one.seeds for one in verdicts.values()))

    def draw(self, results, figure, settings):
        drawings.draw_ranks(fields(settings, results), figure)


def enter(key, shows, letters, problems, quick, seconds, implementation, needs=(), base=FULL,
          quick_base=QUICK):
    study(PAPER, key, shows, letters, base | {"problems": problems},
          quick_base | {"problems": quick}, seconds, needs=needs,
          ours=tuple(letters))(implementation)


enter("noise", "Batches of 10, 100 and all digits: does curvature gain by larger batches",
      {"slope": "The papers' best method's advantage at equal work grows with the batch"},
      tuple(BATCHES), ("digits-10", "digits"), (300, 30), Noise)
enter("width", "How many decades of rates are good, method by method",
      {key: f"{ENTRANTS[key].title[0].upper()}{ENTRANTS[key].title[1:]}: the valley of its rate is "
            "wider than Adam's by half a decade" for key in CURVED} | {
          f"{key}-all": "The same in step length, to twice the least loss of all methods"
          for key in CURVED},
      RACED, QUICK_TWO, (2400, 40), Width, ("wine-quality", "mnist"))
enter("together", "Ranks over all problems",
      {"order": "Ranks by seconds and by steps agree: Kendall's tau is above 0.6",
       "no-winner": "No method that runs on six problems is within 10 % of the best on all",
       **{f"holm-{name}": f"The papers' best method is ahead on most problems: {name}, all "
                          "problems counted together" for name in FAMILIES}},
      RACED, QUICK_TWO, (10, 40), Together, ("wine-quality", "mnist"), problems.compared(FULL),
      problems.compared(QUICK))
