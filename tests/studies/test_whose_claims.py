"""Claims of the papers, controls of ours and repeated numbers are counted apart."""

import re

import pytest

from secondorder.studies import records, study
from secondorder.studies.registry import STUDIES

PAPERS = [paper for paper in STUDIES.papers if STUDIES.of(paper)]
ROWS = {(row["paper"], row["key"], row["claim"]): row for row in records.rows()}


def test_a_claim_that_calls_itself_ours_is_ours():
    missed = [where for where, row in ROWS.items()
              if re.search(r"\bours\b", row["statement"]) and not row["ours"]]
    assert missed == []


def test_repeated_claims_have_the_verdict_and_the_number_of_the_first():
    again = {where: row for where, row in ROWS.items() if row["twice"]}
    assert len(again) >= 7
    for (paper, _, _), row in again.items():
        key, letter = re.fullmatch(r"([\w-]+) \(([\w.-]+)\)", row["twice"]).groups()
        first = ROWS[paper, key, letter]
        assert not first["twice"]
        for name in ("verdict", "effect", "spread", "seeds"):
            assert row[name] == first[name], (row["key"], row["claim"], name)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_is_counted_once(paper):
    counts = records.counts(paper)
    mine = [row for row in ROWS.values() if row["paper"] == paper]
    assert sum(counts.values()) == len(mine)
    assert counts["held"] == sum(row["verdict"] == "held" and not row["ours"] and not row["twice"]
                                 for row in mine)


@pytest.mark.parametrize("wrong", [{"ours": ("b",)}, {"twice": {"b": "figure-1 (a)"}}])
def test_a_letter_that_is_no_claim_is_refused(wrong):
    class Toy:
        runs = judge = draw = None

    with pytest.raises(ValueError, match="has no claim b"):
        study("low-rank", "toy", "a toy", {"a": "it moves"}, {}, {}, (1, 1), **wrong)(Toy)
