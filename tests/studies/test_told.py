"""Claims as a table whose columns stand still."""

import re

import pytest

from secondorder import cli
from secondorder.studies import records
from secondorder.studies.pages import table

KINDS = "held|did not hold|undecided|taken out|depends on the rate|not run"


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


def test_the_command_prints_the_table(capsys):
    assert cli.main(["claims", "ea-cg"]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[2:] == table(records.rows("ea-cg"), 100)
