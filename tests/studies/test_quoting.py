"""Texts that quote recorded numbers, and the five bullets with which a page of claims begins."""

import re

import pytest

from secondorder.studies import STUDIES, pages, records
from secondorder.studies.numbers import number
from secondorder.studies.quoting import quoted

PAPERS = [paper for paper in STUDIES.papers if STUDIES.of(paper)]
RECORDED = [paper for paper in PAPERS if any(records.recorded(paper, key)
                                             for key in STUDIES.of(paper))]
ROW = {"paper": "low-rank", "key": "figure-1", "claim": "a", "effect": 0.5, "spread": (-2.0, 3.25),
       "seeds": 5, "verdict": "held"}
BARE = ROW | {"claim": "b", "effect": None, "spread": None}


@pytest.mark.parametrize("value, expected", [
    (-0.0577, "-0.0577"), (4001.0, "4001"), (12_544_000.0, "12,544,000"), (0.0, "0"),
    (2.84e-7, "2.84e-07"), (9.999, "10"), (float("inf"), "inf")])
def test_numbers_have_their_digits(value, expected):
    assert number(value) == expected


@pytest.mark.parametrize("text, expected", [
    ("x {low-rank figure-1 a} y", "x 0.5 y"),
    ("{figure-1 a low} to {figure-1 a high}", "-2 to 3.25"),
    ("{exp figure-1 a}", "1.65"), ("{double figure-1 a}", "1.41"), ("{percent figure-1 a}", "50"),
    ("{size figure-1 a low}", "2"), ("{percent minus figure-1 a}", "-50"),
    ("{exp size figure-1 a low}", "7.39"), ("{figure-1 a seeds}, {figure-1 a verdict}", "5, held"),
    ("{figure-1 b}, {exp figure-1 b low}", "(not known), (not known)")])
def test_quotations(text, expected):
    assert quoted(text, "low-rank", [ROW, BARE]) == expected


def test_a_quotation_of_no_claim_is_refused():
    with pytest.raises(ValueError, match="there is no claim low-rank figure-9 a"):
        quoted("{figure-9 a}", "low-rank", [ROW])


@pytest.mark.parametrize("paper", RECORDED)
def test_a_page_begins_with_short_bullets(paper):
    """Five, or one a claim of fewer: verdict first, at most 25 words, one number of the linked
    claim.
    """
    raw = pages.summary(paper).splitlines()
    told = quoted(pages.summary(paper), paper).splitlines()
    assert len(raw) == min(5, len(records.rows(paper)))
    for line, asked in zip(told, raw):
        kind, first = re.fullmatch(r"- \*\*\{(\S+) (\S+) verdict\}\*\*[:,] .*", asked).groups()
        (link,) = re.findall(r"\(\[([\w-]+)\]\(#([\w-]+)\)\)\.$", line)
        assert link == (kind, kind)
        numbers = re.findall(r"\{([^}]*)\}", asked)[1:]
        assert len(numbers) == 1 and f"{kind} {first}" in numbers[0]
        assert len(line.removeprefix("- ").split()) <= 25, line
        assert "(not known)" not in line
