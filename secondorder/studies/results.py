"""What the runs of a study brought back."""

import gzip
import json
from pathlib import Path

from .. import files
from .registry import name_of

DIVERGED = "diverged"


class Results:
    """Results of runs: the arguments of each and what it returned; `runs` has each as its file is
    read, name -> ``arguments``, ``result``, ``seconds``.
    """

    def __init__(self, runs=None):
        self._runs = dict(runs or {})
        self._found = {}  # arguments that were asked for -> their runs, which judges ask for often

    def __contains__(self, run):
        return run.name in self._runs

    def __len__(self):
        return len(self._runs)

    def add(self, name, run):
        self._runs[name] = run
        self._found.clear()

    def returned(self, run):
        """What one run returned."""
        return self._runs[run.name]["result"]

    def of(self, **wanted):
        """What the runs with these arguments returned, by rising seed: a list of dictionaries. That
        of a run that diverged has the key ``diverged`` (see `finished`).
        """
        return [run["result"] for run in self._matching(wanted)]

    def arguments(self, **wanted):
        """The arguments of the same runs, in the same order."""
        return [run["arguments"] for run in self._matching(wanted)]

    def by_seed(self, **wanted):
        """Seed -> what the one run with these arguments and that seed returned. Where several runs
        share a seed it raises a ValueError: they differ in an argument that is not named.
        """
        matching = self._matching(wanted)
        runs = {run["arguments"].get("seed"): run["result"] for run in matching}
        if len(runs) < len(matching):
            raise ValueError(f"{len(matching)} runs of {len(runs)} seeds have {wanted}: name what "
                             "tells them apart")
        return runs

    def points(self, name, number, **wanted):
        """Of the same runs an argument and a number, which is a function of what a run returned;
        runs whose number is None are left out.
        """
        told = [(run["arguments"][name], number(run["result"])) for run in self._matching(wanted)]
        return [point for point in told if point[1] is not None]

    @property
    def seconds(self):
        """Of all runs together."""
        return sum(run["seconds"] for run in self._runs.values())

    def _matching(self, wanted):
        asked = json.dumps(wanted)
        if asked not in self._found:
            plain = json.loads(asked)
            runs = [run for run in self._runs.values()
                    if all(run["arguments"].get(name) == value for name, value in plain.items())]
            self._found[asked] = sorted(runs, key=lambda run: run["arguments"].get("seed", 0))
        return self._found[asked]

    def as_dictionary(self):
        """Name of a run -> its file as read, by name."""
        return dict(sorted(self._runs.items()))


def diverged(result):
    """Whether a run ended with numbers that are not finite."""
    return DIVERGED in result


def finished(results):
    """Those of some results whose runs did not diverge."""
    return [result for result in results if not diverged(result)]


def read(path):
    """A run's file; one that is damaged or holds something else is named in a ValueError."""
    path, what = Path(path), "a result of a run"
    remedy = "remove it, and the run is made again"
    run = files.read_json(path, what, remedy)
    with files.damage_told(path, what, remedy):
        if name_of(run["function"], run["arguments"]) != path.stem:
            raise ValueError("it holds another run")
    return run


def read_all(path):
    """The runs of a file that `write_all` made, name -> run; a damaged one is named."""
    raw, what = files.read_bytes(path), "the packed runs of a study"
    with files.damage_told(path, what):
        return json.loads(gzip.decompress(raw))


def write_all(path, results, packed=None):
    """Write all runs of a study into one packed file, the same bytes for the same runs; `packed` is
    the study's: what is kept of a result, by the result and the run's arguments.
    """
    runs = {name: run if packed is None else
            run | {"result": packed(run["result"], run["arguments"])}
            for name, run in results.as_dictionary().items()}
    files.write_packed(path, json.dumps(runs, separators=(",", ":")).encode())


def write(path, run, result, seconds, environment):
    """Write a run's file, whole or not at all."""
    files.write_json(path, {"function": run.function.__name__, "arguments": run.arguments,
                            "seconds": seconds, "environment": environment, "result": result})
