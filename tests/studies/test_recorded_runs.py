"""Recorded runs are what the code makes today: the quickest run of every method, made again."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from secondorder import files
from secondorder.studies import STUDIES, data, records, results, running

PAPERS = [paper for paper in STUDIES.papers if STUDIES.of(paper)]

LONGEST = 8.0  # seconds that a recorded run may have taken
#: What these measure is this machine's time.
TIMED = {"update_seconds", "step_seconds", "step_ratios", "step_ratio", "scaled_ratio", "cost"}
#: Its runs are packed to 0.005 of a CKA: what is judged again differs by as much.
PACKED = {"reversible-gauss-newton figure-11": 0.005}
#: Trainings in which rounding soon grows, and a peak of memory that is another one on another
#: machine: of their lists only the first entry is compared, and numbers to 30 %.
ROUGH = {"residual-partitioning train", "residual-partitioning shares", "low-rank start",
         "ea-cg final_loss", "ea-cg errors", "ea-cg peak_of"}


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
    for study in STUDIES.select(paper):
        for run in records.runs(study).values():
            seconds, arguments = run["seconds"], run["arguments"]
            what = run["function"], *map(arguments.get, ("method", "kind", "curvature"))
            largest = np.max(run["result"].get("loss") or 0.0)  # 1e36 overflows elsewhere
            if seconds <= LONGEST and not results.diverged(run["result"]) and largest < 1e6 and (
                    what not in found or seconds < found[what][1]["seconds"]):
                found[what] = study, run
    return found


def alike(one, other, tolerance):
    if isinstance(other, str) or isinstance(one, str):
        return one == other
    return one == pytest.approx(other, rel=tolerance, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_the_quickest_run_of_every_method_is_as_recorded(paper):
    """A function that was changed with its old record in place is noticed here."""
    found = quickest(paper)
    assert found
    for (name, *_), (study, run) in found.items():
        if name in TIMED or data.missing(study.needs):
            continue
        asked = study.runs(recorded(study), known(study, recorded(study)))
        function = next(one.function for one in asked if one.function.__name__ == name)
        made = function(**run["arguments"])
        if study.packed:
            made = study.packed(made, run["arguments"])
        made = json.loads(json.dumps(made))
        entries, tolerance = (1, 0.3) if f"{paper} {name}" in ROUGH else (3, 0.003)
        told, wanted = (dict(numbers(result, entries)) for result in (made, run["result"]))
        assert told.keys() and told.keys() <= wanted.keys(), (study.key, name)
        others = {where: (value, wanted[where]) for where, value in told.items()
                  if not alike(value, wanted[where], tolerance)}
        assert not others, (study.key, name, run["arguments"])


@pytest.mark.parametrize("paper", PAPERS)
def test_every_study_judges_its_recorded_runs_as_recorded(paper):
    for study in STUDIES.select(paper):
        record, settings = records.recorded(paper, study.key), recorded(study)
        verdicts = study.judge(known(study, settings), settings)
        assert set(verdicts) == set(study.claims) == {one["letter"] for one in record["claims"]}
        for claim in record["claims"]:
            judged = json.loads(files.to_json(asdict(verdicts[claim["letter"]])))
            where = study.key, claim["letter"]
            assert (judged["verdict"], judged["seeds"], judged["because"]) == (
                claim["verdict"], claim["seeds"], claim["because"]), where
            assert (judged["effect"] is None) == (claim["effect"] is None), where
            near = PACKED.get(f"{paper} {study.key}", 0.0)
            assert (judged["effect"] or 0) == pytest.approx(claim["effect"] or 0, rel=1e-9,
                                                            abs=near), where


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_every_study_draws_its_recorded_runs(paper):
    from matplotlib.figure import Figure

    for study in STUDIES.select(paper):
        settings = recorded(study)
        study.draw(known(study, settings), figure := Figure(figsize=(9, 4.5)), settings)
        assert figure.axes or figure.texts, study.key


def recorded(study):
    """The settings of a record: it may have other seeds than the full ones."""
    return study.settings(seeds=len(records.recorded(study.paper, study.key)["settings"]["seeds"]))


def known(study, settings):
    """The recorded runs that a setting takes, and no others."""
    sweep = running.Sweep(".", say=pytest.fail, known=records.runs(study))
    return sweep.complete(study, settings)
