"""Recorded runs, judged again, give the recorded verdicts: no judge changes without its records."""

import pytest

from secondorder.studies import STUDIES, Results, records


def with_runs():
    return [study for study in STUDIES.select()
            if (records.folder() / study.paper / f"{study.key}.runs.json.gz").is_file()]


@pytest.mark.parametrize("study", with_runs(), ids=lambda one: f"{one.paper}-{one.key}")
def test_a_record_is_what_its_runs_say(study):
    record, known = records.recorded(study.paper, study.key), records.runs(study.paper)
    settings, results = record["settings"], Results()
    while wanted := [run for run in study.runs(settings, results) if run not in results]:
        for run in wanted:
            results.add(run.name, known[run.name])
    found = study.judge(results, settings)
    assert {letter: (one.verdict, one.effect) for letter, one in found.items()} == {
        one["letter"]: (one["verdict"], one["effect"]) for one in record["claims"]}


def test_there_are_runs_of_forty_studies():
    assert len(with_runs()) >= 40
