"""One study a problem: trials, judged runs, four claims."""

from secondorder.studies import paired, study

from .. import claims, drawings, tuning
from ..entrants import ENTRANTS
from ..problems import PROBLEMS

PAPER = "race"
#: CPU seconds at most for T; three are lower than the plan's, see criteria.md.
MOST = {key: problem.most for key, problem in PROBLEMS.items()} | {
    "reversible": 3.0, "plateau": 5.0, "autoencoder": 5.0}
FULL = {"methods": tuple(ENTRANTS), "trials": None, "most": MOST, "seeds": (1, 2, 3, 4, 5)}
QUICK = {"methods": ("adam", "partitioning", "cubic-sgd"), "trials": 2,
         "most": dict.fromkeys(PROBLEMS, 0.2), "seeds": (1,)}
CLAIMS = {
    "seconds": "At T the papers' best method has a lower training loss than the better of SGD and "
               "Adam",
    "work": "The same after as much work as Adam makes in T",
    "steps": "The same after equally many steps",
    "held-out": "At equal training loss its held-out loss is lower as well"}
LEAVE = 2.25  # a training loss below which the plateau is left


def settings_of(key, base):
    return base | {"problem": key, "most": {key: base["most"][key]}}


class OneProblem:
    """The study of a problem."""

    def runs(self, settings, results):
        return tuning.stages(settings["problem"], settings, results)

    def judge(self, results, settings):
        field = claims.Field(settings["problem"], settings, results)
        return {"seconds": field.seconds(), "work": field.work(), "steps": field.steps(),
                "held-out": field.held_out()}

    def draw(self, results, figure, settings):
        drawings.draw_problem(claims.Field(settings["problem"], settings, results), figure)


class Plateau(OneProblem):
    """The same, and whether curvature is what leaves the plateau."""

    def judge(self, results, settings):
        field = claims.Field(settings["problem"], settings, results)
        return super().judge(results, settings) | {"curvature": self.curvature(field)}

    def curvature(self, field):
        exact, flat = (field.runs(key, "G") if key in field.entrants else {}
                       for key in ("cubic-sgd", "square-root"))
        ratios = [claims.work_until(exact[seed], LEAVE) / claims.work_until(flat[seed], LEAVE)
                  for seed in exact if seed in flat]
        return paired([-claims.np.log(ratio) for ratio in ratios],
                      "log of the work until the plateau is left without curvature over that with "
                      "it", margin=-claims.np.log(0.8))


def enter(key, seconds, implementation=OneProblem, more=()):
    """Register the study of a problem."""
    problem, letters = PROBLEMS[key], CLAIMS | dict(more)
    study(PAPER, key, f"The race on {problem.title}", letters, settings_of(key, FULL),
          settings_of(key, QUICK), seconds, needs=problem.needs, ours=tuple(letters))(
        type(implementation.__name__, (implementation,), {}))


enter("digits", (300, 20))
enter("wine", (300, 20))
enter("reversible", (600, 20))
enter("one-batch", (300, 20))
enter("convolution", (600, 30))
enter("plateau", (900, 30), Plateau,
      {"curvature": "Cubic steps leave the plateau with less than 0.8 of the work that they take "
                    "without curvature"})
enter("classifier", (900, 30))
enter("autoencoder", (1200, 30))
