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
SEEDS = 15  # on which the methods run that a claim compares
MORE_SEEDS = dict.fromkeys(("wine", "reversible", "one-batch", "convolution", "classifier"), 60)


def seeds_to(count, base):
    """The seeds 1 to `count`; those of the quick setting as they are."""
    return tuple(range(1, count + 1)) if base is FULL else base["seeds"]


def compared(base, count=SEEDS):
    """The settings, with the seeds on which the methods run that a claim compares."""
    return base | {"compared_seeds": seeds_to(count, base)}


def settings_of(key, base):
    own = compared(base, MORE_SEEDS.get(key, SEEDS)) | {"problem": key,
                                                        "most": {key: base["most"][key]}}
    if key != "plateau":
        return own
    # as many seeds as decide about curvature at the spread of the first five
    return own | {"curvature_seeds": seeds_to(35, base)}


def stages(problem, settings, results):
    """The runs of all methods and, on further seeds, of those that are compared."""
    wanted = tuning.stages(problem, settings, results)
    if not all(run in results for run in tuning.stages(problem, settings, results, judge=False)):
        return wanted
    field = claims.Field(problem, settings, results)
    methods = {field.best(kind, rule) for kind in ("paper", "first order") for rule in tuning.RULES}
    return wanted + tuning.stages(problem, of_compared(settings) | {
        "methods": [key for key in field.entrants if key in methods]}, results)


def of_compared(settings):
    """The settings whose seeds are those of the claims."""
    return {**settings, "seeds": settings["compared_seeds"]}


class OneProblem:
    """The study of a problem."""

    def runs(self, settings, results):
        return stages(settings["problem"], settings, results)

    def judge(self, results, settings):
        field = claims.Field(settings["problem"], of_compared(settings), results)
        return {"seconds": field.seconds(), "work": field.work(), "steps": field.steps(),
                "held-out": field.held_out()}

    def draw(self, results, figure, settings):
        field = claims.Field(settings["problem"], of_compared(settings), results)
        drawings.draw_problem(field, figure, settings["seeds"])


class Plateau(OneProblem):
    """The same, and whether curvature is what leaves the plateau, on seeds of its own."""

    with_and_without = ("cubic-sgd", "square-root")

    def of_curvature(self, settings):
        methods = [key for key in self.with_and_without if key in settings["methods"]]
        return {**settings, "methods": methods, "seeds": settings["curvature_seeds"]}

    def runs(self, settings, results):
        problem, curvature = settings["problem"], self.of_curvature(settings)
        return super().runs(settings, results) + tuning.stages(problem, curvature, results)

    def judge(self, results, settings):
        field = claims.Field(settings["problem"], self.of_curvature(settings), results)
        return super().judge(results, settings) | {"curvature": self.curvature(field)}

    def curvature(self, field):
        exact, flat = (field.runs(key, "G") if key in field.entrants else {}
                       for key in self.with_and_without)
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
