"""A small race for a class: every method tries some rates and then runs, all for the same time."""

import inspect
from dataclasses import dataclass

import numpy as np

from secondorder.checks import lookup
from secondorder.optimizers import Optimizer

from .course import Marks, Track, ride
from .entrants import Entrant, obstacle
from .problems import PROBLEMS
from .tuning import MOVED, SHARE, at
from .work import step_work

SEED, PLACES = 1, (-2, -1, 0, 1, 2)
LOOKS = 12
LOWEST = 1e-6  # a loss that a picture shows
TRIES = len(PLACES) / SHARE + 1.25  # in T: trials, the run, and what is compiled before


@dataclass(frozen=True)
class Result:
    """What became of one method: its place in half decades from the default and its record, as
    `course.ride` returns it, or None and why it did not run.
    """

    entrant: Entrant
    place: int | None = None
    record: dict | None = None
    why: str = ""

    def row(self):
        """The result as plain numbers, for a table."""
        told = {"method": self.entrant.title, "kind": self.entrant.kind, "why": self.why}
        if self.record is None or not self.record["loss"]:
            return told
        return told | {self.entrant.tunes: self.entrant.first(self.place)} | {
            name: values[-1] for name, values in self.record.items() if name != "diverged"} | (
            {"diverged": self.record["diverged"]} if "diverged" in self.record else {})


def seconds_of(problem, minutes, methods):
    """T, so that all of it takes about so many minutes; no more than the problem's own limit."""
    return min(problem.most, 60 * minutes / methods / TRIES)


def race(problem, entrants, minutes, say=lambda line: None, seed=SEED):
    """Race for about so many minutes; a generator of one `Result` a method, as it comes.

    `problem` is a key of `PROBLEMS`; `say` takes a line of text.
    """
    about = lookup(PROBLEMS, problem, "problem")
    track = Track(about, seed)
    limit = seconds_of(about, minutes, len(entrants))
    for entrant in entrants:
        why = obstacle(entrant, about, track.network, track.rows)
        say(f"{entrant.title}: {why or f'{len(PLACES)} rates, then {limit:.2g} s'}")
        yield Result(entrant, why=why) if why else run_of(entrant, about, seed, limit)


def run_of(entrant, problem, seed, limit):
    """Trials of some rates, each for a part of the time, and the run with the best of them."""
    second = entrant.second[len(entrant.second) // 2] if entrant.second else None

    def ridden(place, seconds):
        return ride(problem, seed,
                    lambda network: entrant.make(network, problem.loss, entrant.first(place),
                                                 second),
                    lambda network, samples: step_work(entrant.key, network, samples), seconds, 0,
                    Marks(seconds, 0, LOOKS))

    losses = [trial_loss(ridden(place, limit / SHARE), limit / SHARE) for place in PLACES]
    if not np.isfinite(losses).any():
        return Result(entrant, why="no rate that was tried moves it")
    best = PLACES[int(np.argmin(losses))]
    return Result(entrant, best, ridden(best, limit))


def trial_loss(record, seconds):
    """The loss at the end of a trial; infinite where it diverged or did not move."""
    loss = at(record, "seconds", seconds)
    return loss if record["loss"] and loss <= MOVED * record["loss"][0] else np.inf


def own_entrants(module):
    """The optimizers that a user's module defines, as entrants; ValueError if there is none.

    Each is made as ``Method(network, loss, learning_rate=rate)``; the middle of its rates is its
    own default, or 0.01. Of its work only the gradient is known.
    """
    methods = [value for value in vars(module).values() if isinstance(value, type)
               and issubclass(value, Optimizer) and value.__module__ == module.__name__]
    if not methods:
        raise ValueError(f"{module.__name__} defines no class that derives from "
                         "so.optimizers.Optimizer")
    return [Entrant(method.__name__, method.__name__, "own", default_rate(method),
                    lambda network, loss, rate, second, method=method: method(
                        network, loss, learning_rate=rate)) for method in methods]


def default_rate(method):
    """The default of a class's learning rate, 0.01 where it has none that is a number."""
    given = inspect.signature(method).parameters.get("learning_rate")
    default = given.default if given is not None else None
    return float(default) if isinstance(default, (int, float)) and default > 0 else 0.01


def table(results):
    """Lines of a table, the lowest training loss first; what did not run stands below.

    The last lines say what orders it, and who has the least loss on held-out samples.
    """
    rows = [result.row() for result in results]
    ran = sorted((row for row in rows if "loss" in row), key=lambda row: row["loss"])
    lines = [f"{'method':<32}{'tuned':>16}{'steps':>8}{'work':>10}{'seconds':>9}{'loss':>10}"
             f"{'held out':>10}"]
    for row in ran:
        name = "sigma" if "sigma" in row else "rate"
        lines.append(f"{row['method']:<32}{name + f' {row[name]:g}':>16}{row['steps']:>8}"
                     f"{row['work']:>10.0f}{row['seconds']:>9.2f}{row['loss']:>10.4g}"
                     f"{row['held_out']:>10.4g}" + ("  diverged" if "diverged" in row else ""))
    lines += [f"{row['method']:<32}{row['why']}" for row in rows if "loss" not in row]
    if ran:
        best = min(ran, key=lambda row: row["held_out"])
        lines += ["", "The lowest training loss stands first; work is in gradients of the batch.",
                  f"The least loss held out: {best['method']} ({best['held_out']:.4g})."]
    return lines


def draw(results, title, figure):
    """Training loss over work and over seconds."""
    from .drawings import COLOURS, LINE_STYLES, LOOKS, legend_below

    panels, lowest = figure.subplots(1, 2, sharey=True), np.inf
    for k, result in enumerate(result for result in results if result.record):
        record, key = result.record, result.entrant.key
        colour, style = LOOKS.get(key, (COLOURS[k % len(COLOURS)], LINE_STYLES[4]))
        for panel, name in zip(panels, ("work", "seconds")):
            losses = np.maximum(record["loss"][1:], LOWEST)
            lowest = min([lowest, *record["loss"][1:]])
            panel.plot(record[name][1:], losses, color=colour, linestyle=style,
                       label=result.entrant.title)
    panels[0].set(xlabel="work, in gradients of the batch", xscale="log", yscale="log",
                  ylabel="training loss" + (f" ({LOWEST:f}: that or less)" if lowest < LOWEST
                                            else ""))
    panels[1].set(xlabel="CPU seconds of steps", xscale="log")
    if panels[1].lines:
        legend_below(figure, panels[1], rows=3)
    figure.suptitle(title, fontsize=9)


