"""Recorded runs are what the code makes today: the quickest run of every method, made again."""

import importlib
import json

import pytest

from secondorder.studies import STUDIES, data, records, results

LONGEST = 8.0  # seconds that a recorded run may have taken
#: What these measure is this machine's time.
TIMED = {"update_seconds", "step_seconds", "step_ratios", "step_ratio", "scaled_ratio", "cost"}
#: Trainings in which rounding soon grows, and a peak of memory that is another one on another
#: machine: of their lists only the first entry is compared, and numbers to 30 %.
ROUGH = {"residual_partitioning.studies.curves:train",
         "residual_partitioning.studies.negative_coefficients:shares",
         "low_rank.studies.start_scale:start", "eacg.studies.solvers:final_loss",
         "eacg.studies.covariance_added:trained", "eacg.studies.error_tables:errors",
         "eacg.studies.memory:peak_of"}


def numbers(value, entries, path=""):
    """(place, number) of what a run returned: the first entries of a list, and no seconds. What is
    no number is a text.
    """
    if isinstance(value, dict):
        for name, part in value.items():
            if "seconds" not in name:
                yield from numbers(part, entries, f"{path}.{name}")
    elif isinstance(value, list):
        for k, part in enumerate(value[:entries]):
            yield from numbers(part, entries, f"{path}[{k}]")
    else:
        yield path, value if type(value) in (int, float) else str(value)


def quickest(paper):
    """Function, method, curvature -> (study, the quickest recorded run that stays finite)."""
    found = {}
    for key, study in STUDIES.of(paper).items():
        path = records.folder() / paper / f"{key}.runs.json.gz"
        for run in results.read_all(path).values() if path.is_file() else ():
            seconds, arguments = run["seconds"], run["arguments"]
            what = run["function"], *map(arguments.get, ("method", "kind", "curvature"))
            if seconds <= LONGEST and not results.diverged(run["result"]) and (
                    what not in found or seconds < found[what][1]["seconds"]):
                found[what] = study, run
    return found


def alike(one, other, tolerance):
    if isinstance(other, str) or isinstance(one, str):
        return one == other
    return one == pytest.approx(other, rel=tolerance, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("paper", [paper for paper in STUDIES.papers if STUDIES.of(paper)])
def test_the_quickest_run_of_every_method_is_as_recorded(paper):
    """A function that was changed with its old record in place is noticed here."""
    found = quickest(paper)
    assert found
    for (place, *_), (study, run) in found.items():
        module, _, name = place.partition(":")
        if name in TIMED or data.missing(study.needs):
            continue
        made = getattr(importlib.import_module(module), name)(**run["arguments"])
        made = json.loads(json.dumps(study.packed(made, run["arguments"])))
        entries, tolerance = (1, 0.3) if place.removeprefix("secondorder.papers.") in ROUGH else (
            3, 0.003)
        told, wanted = (dict(numbers(result, entries)) for result in (made, run["result"]))
        assert told.keys() == wanted.keys(), (study.key, place)
        others = {where: (told[where], value) for where, value in wanted.items()
                  if not alike(told[where], value, tolerance)}
        assert not others, (study.key, place, run["arguments"])
