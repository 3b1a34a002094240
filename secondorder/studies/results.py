"""What the runs of a study brought back."""

import gzip
import json
import zlib
from pathlib import Path

from .. import files
from .registry import name_of

DIVERGED = "diverged"


class Results:
    """Results of runs: the arguments of each and what it returned.

    Parameters
    ----------
    runs : dict of str to dict
        Name of a run -> its file as read: ``arguments``, ``result``, ``seconds``.
    """

    def __init__(self, runs=None):
        self._runs = dict(runs or {})

    def __contains__(self, run):
        return run.name in self._runs

    def __len__(self):
        return len(self._runs)

    def add(self, name, run):
        self._runs[name] = run

    def of(self, **wanted):
        """What the runs with these arguments returned, by rising seed.

        The result of a run that diverged holds the key ``diverged`` (see `finished`).

        Parameters
        ----------
        **wanted
            Arguments and the values that they must have.

        Returns
        -------
        list of dict
        """
        return [run["result"] for run in self._matching(wanted)]

    def arguments(self, **wanted):
        """The arguments of the same runs, in the same order."""
        return [run["arguments"] for run in self._matching(wanted)]

    def by_seed(self, **wanted):
        """Seed -> what the one run with these arguments and that seed returned.

        Raises
        ------
        ValueError
            Where several runs share a seed: they differ in an argument that is not named.
        """
        matching = self._matching(wanted)
        runs = {run["arguments"].get("seed"): run["result"] for run in matching}
        if len(runs) < len(matching):
            raise ValueError(f"{len(matching)} runs of {len(runs)} seeds have {wanted}: name what "
                             "tells them apart")
        return runs

    def times(self, **wanted):
        """Seconds of the same runs, in the same order."""
        return [run["seconds"] for run in self._matching(wanted)]

    @property
    def seconds(self):
        """Of all runs together."""
        return sum(self.times())

    def _matching(self, wanted):
        plain = json.loads(json.dumps(wanted))
        runs = [run for run in self._runs.values()
                if all(run["arguments"].get(name) == value for name, value in plain.items())]
        return sorted(runs, key=lambda run: run["arguments"].get("seed", 0))

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
    """A run's file.

    Raises
    ------
    ValueError
        If it is damaged or holds something else, naming it.
    """
    path = Path(path)
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
        if name_of(run["function"], run["arguments"]) != path.stem or not (
                isinstance(run["result"], dict) and run["seconds"] >= 0):
            raise ValueError("it holds something else")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no result of a run (damaged?): remove it, and the run is made "
                         "again") from error
    return run


def read_all(path):
    """The runs of a file that `write_all` made, name -> run.

    Raises
    ------
    ValueError
        If it is damaged, naming it.
    """
    try:
        return json.loads(gzip.decompress(Path(path).read_bytes()))
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ValueError(f"{path} holds no runs (damaged?): {error}") from error


def write_all(path, results):
    """Write all runs of a study into one packed file, the same bytes for the same runs."""
    text = json.dumps(results.as_dictionary(), separators=(",", ":"))
    packed = gzip.compress(text.encode(), mtime=0)
    with files.atomic(path) as temporary:
        temporary.write_bytes(packed)


def write(path, run, result, seconds, environment):
    """Write a run's file, whole or not at all."""
    files.write_json(path, {"function": run.place, "arguments": run.arguments, "seconds": seconds,
                            "environment": environment, "result": result})
