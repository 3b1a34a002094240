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

from .methods import METHODS, obstacle
from .run import loss_at, run
from .tuning import beyond, search

SECONDS = 8.0  # T: CPU seconds of steps
TUNED_ON, JUDGED_ON = (101, 102, 103), tuple(range(1, 11))
MARKS = 14  # looks of a judged run on the way to each limit
RULES = ("seconds", "work")
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

    Parameters
    ----------
    folder : Path
    problem : Problem
    say : callable
        Takes a line for every run that is made.
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
            record = run(self.problem, method, numbers, seed, seconds, work, marks)
            files.write_text(path, json.dumps(told | {"record": record}) + "\n")
            self.say(f"{time.strftime('%H:%M:%S')} {name}: {record['steps'][-1]} steps, loss "
                     f"{record['loss'][-1]:g} {record.get('diverged', '')}")
            return record
        return told["record"]


def raced(problem, folder, seconds=SECONDS, tuned_on=TUNED_ON, judged_on=JUDGED_ON, say=print):
    """Make what is missing of a problem's runs, and bring all of them together.

    Returns
    -------
    dict
        The record of the problem: ``seconds`` is T, ``work`` is what Adam's best makes in T;
        ``methods`` has by key the ``points`` that were tried (numbers, median losses by the clock
        and by work) and for each rule the chosen ``numbers`` in words, the names of those that the
        cap left at an end (``at_end``), and the ``runs`` of the judged seeds; ``left_out`` says
        why a method could not run.

    Raises
    ------
    ValueError
        If the runs come from more than one version of the code, or would.
    """
    runs = Runs(folder, problem, say)
    left_out = {key: why for key, method in METHODS.items() if (why := obstacle(method, problem))}
    entrants = [method for key, method in METHODS.items() if key not in left_out]
    work, found = 0.0, {}
    for method in entrants:  # Adam, whose work is a limit of the others, is the first
        found[method.key] = tuned(method, runs, seconds, work, tuned_on)
        if method.key == ADAM:
            work = adams_work(method, found[ADAM][1][0], runs, seconds, tuned_on)
            say(f"{problem.key}: Adam makes {work:g} in {seconds:g} s")
    methods = {method.key: told(method, *found[method.key]) for method in entrants}
    for seed in judged_on:
        for method in entrants:
            for rule, record in judged(method, found[method.key][1], runs, seed, seconds,
                                       work).items():
                methods[method.key][rule]["runs"].append({"seed": seed} | record)
    (by, environment), = runs.made_by.items()
    return {"problem": problem.key, "title": problem.title, "seconds": seconds, "work": work,
            "version": by, "environment": environment, "methods": methods, "left_out": left_out}


def tuned(method, runs, seconds, work, seeds):
    """What `search` returns: scores and winners by the clock and by work.

    The score is the median loss over the seeds; a run that diverged counts as infinite.
    """
    def scores_of(point):
        records = [runs.of(method, point, seed, seconds, work) for seed in seeds]
        by_clock, by_work = ([loss_at(record, rule, limit) for record in records]
                             for rule, limit in zip(RULES, (seconds, work)))
        return np.median(by_clock), np.median(by_work if work else by_clock)

    return search(method, scores_of)


def adams_work(adam, best, runs, seconds, seeds):
    """The work that Adam's best makes in T: the median over the seeds of tuning."""
    records = [runs.of(adam, best, seed, seconds, 0.0) for seed in seeds]
    return float(np.median([record["work"][-1] for record in records]))


def told(method, scores, winners):
    """The points of a search and its winners as plain numbers, still without runs."""
    record = {"title": method.title, "points": [[*method.numbers(point), *map(float, pair)]
                         for point, pair in scores.items()]}
    for rule, winner in zip(RULES, winners):
        ends = [] if winner is None else beyond(method, scores, winner)
        names = (method.first, method.second)
        record[rule] = {"numbers": None if winner is None else method.told(method.numbers(winner)),
                        "at_end": [names[axis] for axis in range(2)
                                   if any(point[axis] != winner[axis] for point in ends)],
                        "runs": []}
    return record


def judged(method, winners, runs, seed, seconds, work):
    """Rule -> its run of a seed: one run for both where they chose one point."""
    limits = ((seconds, work), (seconds, work)) if winners[0] == winners[1] else (
        (seconds, 0.0), (0.0, work))
    return {rule: brief(runs.of(method, winner, seed, *limit, MARKS), rule, own)
            for rule, winner, limit, own in zip(RULES, winners, limits, (seconds, work))
            if winner is not None}


def brief(record, rule, limit):
    """What is kept of a run: the ``loss`` at a limit of seconds or work and the ``steps`` it took,
    the ``curve`` up to there at `marks_of`, the ``held_out`` loss at the run's end; of a run that
    diverged before ``diverged``, and no loss.
    """
    at, logs = record[rule], np.log(np.maximum(record["loss"], TINY))
    marks = marks_of(limit)
    curve = np.where(marks <= at[-1], np.exp(np.interp(marks, at, logs)), np.inf)
    kept = {"curve": [float(f"{loss:.5g}") for loss in curve]}
    loss = loss_at(record, rule, limit)
    if np.isinf(loss):
        return kept | {"diverged": record.get("diverged", "")}
    steps = record["steps"][record["loss"].index(loss)]
    return kept | {"loss": loss, "steps": steps} | {
        name: record[name] for name in ("held_out",) if name in record}


def marks_of(limit):
    """Where a curve has its values: every mark is sqrt(2) further than the one before."""
    return limit * 2.0 ** (-np.arange(MARKS - 1, -1, -1) / 2)
