"""What was found: at most ten sentences, each with effect, control and limits from the records."""

import re
from pathlib import Path

import pytest

from secondorder.studies import findings

ROOT = Path(__file__).resolve().parents[2]
FINDINGS = findings.findings()


def test_there_are_ten_at_most_and_no_claim_twice():
    claims = [(one["row"]["paper"], one["row"]["key"], one["row"]["claim"]) for one in FINDINGS]
    assert 5 <= len(claims) <= 10 and len(set(claims)) == len(claims)


@pytest.mark.parametrize("one", FINDINGS, ids=lambda one: one["row"]["key"])
def test_every_finding_has_what_stands_behind_it(one):
    for name in ("says", "control", "limits"):
        assert one[name].endswith(".") and "(not known)" not in one[name]
    decided = ("held", "did not hold", "held by rule only") if "rule" in one["says"] else (
        "held", "did not hold")
    assert one["row"]["verdict"] in decided, "a finding is decided"
    assert re.search(r"\d+ seeds?$", one["effect"])
    assert one["row"]["seeds"] >= 3 or one["row"]["spread"] is None
    path, _, anchor = one["page"].partition("#")
    assert f"\n## {anchor}\n" in (ROOT / path).read_text(encoding="utf-8")


def test_the_page_is_generated():
    rewrite = "secondorder claims --markdown --write"
    assert (ROOT / findings.PAGE).read_text(encoding="utf-8") == findings.page(), rewrite


@pytest.mark.parametrize("spread, seeds, expected", [
    ((0.5, 1.5), 3, "x: 1 (0.5 to 1.5); 95 % interval over 3 seeds"),
    ((0.5, 1.4), 5, "x: 1 (0.5 to 1.4); range over 5 seeds"),
    ((1.0, 1.0), 4, "x: 1; 4 seeds"), (None, 1, "x: 1; 1 seed")])
def test_an_effect_says_what_its_spread_is(spread, seeds, expected):
    row = {"effect": 1.0, "spread": spread, "seeds": seeds, "measure": "x"}
    assert findings.effect_of(row) == expected
