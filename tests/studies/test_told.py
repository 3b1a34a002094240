"""Claims in ten words, and as a table whose columns stand still."""

import re

import pytest

from secondorder import cli
from secondorder.studies import records
from secondorder.studies.told import LEADING, brief, table

KINDS = "held|did not hold|undecided|not run"


@pytest.mark.parametrize("given, expected", [
    ("it is faster", "it is faster"),
    ("one two three four five six, seven eight nine ten eleven twelve thirteen",
     "one two three four five six …"),
    ("one two three four five six seven eight nine of the twelve that thirteen are",
     "one two three four five six seven eight nine …")])
def test_a_claim_is_told_in_ten_words(given, expected):
    assert brief(given) == expected


def test_every_claim_is_told_in_about_ten_words():
    for row in records.rows():
        told = brief(row["statement"]).split()
        assert 1 <= len(told) <= 12 and (told[-1] != "…" or told[-2].lower() not in LEADING)


@pytest.mark.parametrize("width", [80, 120])
def test_every_verdict_stands_in_one_column(width):
    rows = records.rows("low-rank")
    lines = table(rows, width)
    firsts = [line for line in lines if line[2] != " "]
    assert len(firsts) == len(rows) and max(map(len, lines)) <= width
    places = {re.search(rf"\) +({KINDS})  ", line).start(1) for line in firsts}
    (column,) = places
    claim = {len(line) - len(line.lstrip()) for line in lines if line[2] == " "}
    assert len(claim) == 1 and claim.pop() > column


def test_the_command_prints_the_table(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    assert cli.main(["claims", "ea-cg"]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[2:] == table(records.rows("ea-cg"), 90)
