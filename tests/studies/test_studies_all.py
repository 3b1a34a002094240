"""Every study runs with its quick setting and draws a figure: the quickest every day, all of them
in the slow tests and in the gate."""

import pytest
from harness.pictures import faults

from secondorder import files, studies
from secondorder.studies import STUDIES

ALL = STUDIES.select()
QUICKEST = min(ALL, key=lambda one: one.seconds[1])


def ident(study):
    return f"{study.paper}-{study.key}"


@pytest.mark.parametrize("study", [pytest.param(
    study, id=ident(study), marks=[] if study == QUICKEST else pytest.mark.slow)
    for study in ALL])
def test_every_study(study, tmp_path, monkeypatch):
    """In its figure no legend lies over data, no text over another one or beyond the edge (the note
    of the quick setting aside, which no recorded figure bears).
    """
    drawn, write = [], files.write_figure
    monkeypatch.setattr(files, "write_figure", lambda path, figure, **named: (
        drawn.append(figure), write(path, figure, **named)))
    record = studies.reproduce(study, studies.Sweep(tmp_path / "out", say=lambda line: None),
                               quick=True)
    assert (tmp_path / "out" / record["figure"]).stat().st_size > 5000
    assert [claim["letter"] for claim in record["claims"]] == list(study.claims)
    assert {claim["verdict"] for claim in record["claims"]} <= {"undecided"}
    assert len(drawn) == 1
    assert not [fault for fault in faults(drawn[0])
                if "quick setting" not in fault and "has no name" not in fault]


@pytest.mark.parametrize("study", ALL, ids=ident)
def test_what_is_registered_can_be_read(study):
    assert study.shows and not study.shows.endswith(".")
    assert len(study.settings()["seeds"]) >= 1 and study.seconds[1] <= 60
    assert all(text and len(letter) <= 20 for letter, text in study.claims.items())
    assert study.runs(study.settings(), studies.Results())
