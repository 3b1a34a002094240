"""The recorded race: every run a file, problem by problem, first the tuning, then what is judged.

Nothing is decided here but which run comes next. A race that was stopped goes on with the runs that
are missing.
"""

import json
import subprocess
import time
from pathlib import Path

import numpy as np

from secondorder import __version__, files

from .methods import METHODS
from .run import LONGEST, loss_at, run
from .tuning import MOST, beyond, search

SECONDS = 8.0  # T: CPU seconds of steps
TUNED_ON, JUDGED_ON = (101, 102, 103), tuple(range(1, 11))
MARKS = 14  # looks of a judged run on the way to each limit
RULES = {"seconds": "equal CPU seconds", "work": "equal work"}
ADAM = "adam"
TINY = 1e-30  # a loss whose logarithm is taken


def version():
    """The commit of the checkout that runs, or the package's version."""
    try:
        told = subprocess.run(["git", "describe", "--always", "--dirty", "--exclude=*",
                               "--abbrev=12"], cwd=Path(__file__).parent, text=True,
                              capture_output=True, check=True)
        return told.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return __version__


class Runs:
    """The runs of one problem, in a folder: read where they are there, else made and written.

    ``made_by`` has by version of the code what the runs say of their environment.
    """

    def __init__(self, folder, problem, say=print):
        self.folder, self.problem, self.say = Path(folder), problem, say
        self.version, self.made_by = version(), {}

    def of(self, method, point, seed, seconds, work, marks=1):
        """What `run` returns."""
        numbers = method.numbers(point)
        name = "-".join([self.problem.key, method.key,
                         *(f"{number:g}" for number in numbers if number is not None),
                         f"seed{seed}", f"{seconds:g}s", f"{work:g}w"])
        path = self.folder / f"{name}.json"
        there = path.is_file()
        told = files.read_json(path, "a run of the race", "remove it to make the run again") \
            if there else {"version": self.version, "environment": files.environment()}
        self.made_by[told["version"]] = told["environment"]
        if len(self.made_by) > 1:
            raise ValueError(f"{self.folder}: the runs of {self.problem.key} come from several "
                             f"versions of the code: {', '.join(self.made_by)}")
        if not there:
            longest = LONGEST if marks > 1 else 1  # the search reads runs of T
            told["record"] = run(self.problem, method, numbers, seed, seconds, work, marks, longest)
            files.write_text(path, json.dumps(told) + "\n")
            self.say(f"{time.strftime('%H:%M:%S')} {name}")
        return told["record"]


def raced(problem, folder, seconds=SECONDS, tuned_on=TUNED_ON, judged_on=JUDGED_ON, say=print):
    """Make what is missing of a problem's runs, and bring all of them together; ValueError if they
    come from more than one version of the code, or would.

    In the record ``seconds`` is T, ``work`` is what Adam's best makes in T; ``methods`` has by key
    the ``points`` that were tried (numbers, median losses by the clock and by work) and for each
    rule the chosen ``numbers`` in words, the names of those that the cap left at an end
    (``at_end``), and the ``runs`` of the judged seeds.
    """
    runs, work, found = Runs(folder, problem, say), 0.0, {}
    for key, method in METHODS.items():  # Adam, whose work is a limit of the others, is the first
        found[key] = tuned(method, runs.of, seconds, work, tuned_on)
        if key == ADAM:
            best = found[key][1][0]
            work = float(np.median([runs.of(method, best, seed, seconds, 0.0)["work"][-1]
                                    for seed in tuned_on]))
            say(f"{problem.key}: Adam makes {work:g} in {seconds:g} s")
    methods = {key: entry(method, *found[key]) for key, method in METHODS.items()}
    for seed in judged_on:
        for key, method in METHODS.items():
            add_judged(methods[key], method, found[key][1], runs.of, seed, seconds, work)
    (by, environment), = runs.made_by.items()
    return {"problem": problem.key, "title": problem.title, "seconds": seconds, "work": work,
            "version": by, "environment": environment, "methods": methods}


def tuned(method, run_of, seconds, work, seeds, begin=None, most=MOST):
    """What `search` returns: scores and winners by the clock and by work.

    The score is the median loss over the seeds. Without work both scores are those by the clock.
    """
    def scores_of(point):
        records = [run_of(method, point, seed, seconds, work) for seed in seeds]
        by_clock, by_work = (np.median([score(record, rule, limit) for record in records])
                             for rule, limit in zip(RULES, (seconds, work)))
        return by_clock, by_work if work else by_clock

    return search(method, scores_of, begin, most)


def score(record, rule, limit):
    """The loss at a limit, or at the end of a run that makes less work in its seconds; infinite if
    it diverged before.
    """
    end = record[rule][-1]
    return np.inf if "diverged" in record and end < limit else loss_at(record, rule,
                                                                       min(limit, end))


def entry(method, scores, winners):
    """The points of a search and its winners as plain numbers, still without runs."""
    record = {"title": method.title, "points": [[*method.numbers(point), *map(float, pair)]
                                                for point, pair in scores.items()]}
    for rule, winner in zip(RULES, winners):
        ends = [] if winner is None else beyond(method, scores, winner)
        record[rule] = {"numbers": winner and method.told(method.numbers(winner)),
                        "at_end": [name for axis, name in enumerate((method.first, method.second))
                                   if any(point[axis] != winner[axis] for point in ends)],
                        "runs": []}
    return record


def add_judged(told, method, winners, run_of, seed, seconds, work):
    """Add the run of a seed by every rule to an entry: one for both where they chose one point.

    Without work the limit is the work that the run makes.
    """
    same, records = winners[0] == winners[1], {}
    for rule, winner, limits in zip(RULES, winners, ((seconds, work if same else 0.0),
                                                     (seconds if same else 0.0, work))):
        if winner is not None:
            if winner not in records:
                records[winner] = run_of(method, winner, seed, *limits, MARKS)
            record = records[winner]
            limit = seconds if rule == "seconds" else work or record["work"][-1]
            told[rule]["runs"].append({"seed": seed} | brief(record, rule, limit))


def brief(record, rule, limit):
    """What is kept of a run: its ``limit`` of seconds or work, the ``loss`` there, the ``steps``
    and the ``work`` it took, the ``curve`` up to there at `marks_of`, the ``held_out`` loss at the
    run's end; of a run that diverged before ``diverged``, and no loss.
    """
    at, logs = record[rule], np.log(np.maximum(record["loss"], TINY))
    marks, loss = marks_of(limit), loss_at(record, rule, limit)
    curve = np.where(marks <= at[-1], np.exp(np.interp(marks, at, logs)), np.inf)
    kept = {"limit": limit, "curve": [float(f"{value:.5g}") for value in curve]}
    if np.isinf(loss):
        return kept | {"diverged": record.get("diverged", "")}
    look = record["loss"].index(loss)
    kept |= {"loss": loss, "steps": record["steps"][look], "work": record["work"][look]}
    return kept | {name: record[name] for name in ("held_out",) if name in record}


def marks_of(limit):
    """Where a curve has its values: every mark is sqrt(2) further than the one before."""
    return limit * 2.0 ** (-np.arange(MARKS - 1, -1, -1) / 2)
