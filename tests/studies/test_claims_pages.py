"""Claims and findings as rows and pages: each has a criterion, and every page is up to date."""

import re
from pathlib import Path

import pytest

from secondorder.studies import STUDIES, pages, records
from secondorder.studies.verdicts import KINDS

ROOT = Path(__file__).resolve().parents[2]
PAPERS = [paper for paper in STUDIES.papers if STUDIES.of(paper)]
REWRITE = "secondorder claims --markdown --write"


def room(paper):
    return ROOT / STUDIES.room(paper).replace(".", "/")


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_of_claims_is_the_generated_one(paper):
    assert (room(paper) / "CLAIMS.md").read_text(encoding="utf-8") == pages.page(paper), REWRITE


def test_the_page_of_findings_is_the_generated_one():
    assert (ROOT / pages.FINDINGS).read_text(encoding="utf-8") == pages.page_of_findings(), REWRITE


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_has_one_criterion(paper):
    text = (room(paper) / "figures" / "criteria.md").read_text(encoding="utf-8")
    body = re.search(r"^## Criteria\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]
    told = {}
    for one in re.split(r"^### ", body, flags=re.MULTILINE)[1:]:
        key, _, rest = one.partition("\n")
        letters = sorted(letter for bold in re.findall(r"\*\*(\(.+?\))\*\*", rest)
                         for letter in re.findall(r"\(([^()]+)\)", bold))
        told |= dict.fromkeys(key.split(", "), letters)  # alike studies have one criterion
    assert told == {key: sorted(study.claims) for key, study in STUDIES.of(paper).items()}


@pytest.mark.parametrize("paper", PAPERS)
def test_claims_are_counted_without_findings_of_ours(paper):
    table, counts = records.rows(paper), records.counts(paper)
    assert tuple(counts) == KINDS and {row["verdict"] for row in table} <= set(KINDS)
    assert sum(counts.values()) == sum(not row["ours"] for row in table)
    assert all(row["because"] for row in table if row["verdict"] == "undecided")


def test_a_row_tells_where_at_which_setting_and_what_came_out():
    row = {"effect": 1.23456, "spread": (0.5, 2.25), "measure": "ratio", "seeds": 3,
           "because": "at the best rates: held", "readings": {}}
    assert pages.outcome(row) == "ratio: 1.23 (0.5 to 2.25); 3 seeds; at the best rates: held"
    assert pages.outcome(row | {"because": "in 3 of 3 seeds"}) == (
        "ratio: 1.23 (0.5 to 2.25); in 3 of 3 seeds")
    assert pages.outcome(row | {"measure": "log of the loss over Adam's", "effect": 0.0,
                                "spread": (-1.0, 1.0), "because": ""}) == (
        "the loss over Adam's: 1 times (0.368 to 2.72); 3 seeds")


def test_readings_tell_once_what_they_share():
    def reading(verdict, effect, because, seeds=5):
        return {"verdict": verdict, "effect": effect, "spread": None, "measure": "rate",
                "seeds": seeds, "because": because, "readings": {}}

    told = {"printed": reading("held", 0.05, "in 5 of 5 seeds; rate 1"),
            "exact": reading("undecided", None, "in 3 of 5 seeds; rate 1")}
    row = {"readings": told, "because": "in 5 of 5 seeds; rate 1; open"}
    assert pages.outcome(row) == ("printed: held, rate: 0.05, in 5 of 5 seeds; exact: undecided, "
                                  "in 3 of 5 seeds; rate 1; open")
    told = {"printed": reading("held", 0.05, ""), "exact": reading("held", 0.05, "", seeds=10)}
    assert pages.outcome({"readings": told, "because": ""}) == (
        "printed: held, 5 seeds; exact: held, 10 seeds; rate: 0.05")


def test_findings_have_what_stands_behind_them():
    found = pages.findings()
    assert 5 <= len(found) <= 10
    for one in found:
        assert all(one[name].endswith(".") for name in ("says", "control", "limits"))
        decided = one["row"]["readings"].values() or [one["row"]]  # that they differ is a finding
        assert one["effect"] and all(part["verdict"] != "undecided" for part in decided)
