"""What people write for a label, several labels, a paper, a topic, a figure."""

import re
import shlex

import pytest

from secondorder import ledger
from secondorder.cli import main
from secondorder.ledger import labels, registry
from secondorder.ledger.registry import REGISTRY

from test_ledger import register, toys  # noqa: F401

KNOWN = ["1", "2", "4a", "4b", "5", "theorem-1", "8", "9", "10", "10a", "11", "claim-rate"]


@pytest.mark.parametrize("text, expected", [
    ("(5)", ["5"]), (5, ["5"]), ("Equations (2), (5)", ["2", "5"]),
    ("Theorem 1 & 2", ["2", "theorem-1"]), ("4a, 8-10", ["4a", "8", "9", "10"]),
    ("eqs. 8-10a", ["8", "9", "10", "10a"]), ("(8)-(10)", ["8", "9", "10"]),
    ("8 to 11", ["8", "9", "10", "10a", "11"]), ("8\u201310", ["8", "9", "10"]),
    ("5 to claim-rate", KNOWN[4:]), ("claim-rate to theorem-1", KNOWN[5:]), ("10 to 8", []),
    ("eq. 4", ["4a", "4b"]), ("2-4", ["2", "4a", "4b"]), ("10", ["10"]), ("rate", []),
    ("THEOREM_1", ["theorem-1"]), ("thm. 1", ["theorem-1"]), ("Eq.(10)", ["10"]),
    ("(4B)", ["4b"]), ("5, 99", []), ("5-99", []), ("", [])])
def test_labels_asked_for(text, expected):
    assert labels.asked_for(text, KNOWN) == expected


@pytest.mark.parametrize("name, key", [
    ("ea_cg", "ea-cg"), ("Low Rank", "low-rank"), ("RevMLP", "reversible-gauss-newton"),
    ("Deep Residual Partitioning", "residual-partitioning")])
def test_papers_as_people_write_them(name, key):
    assert REGISTRY.key(name) == key
    assert {entry.paper for entry in REGISTRY.select(name, "1")} == {key}


def test_a_topic_is_whole_words(toys):
    register("1", statement="A step change.")
    register("2", statement="Of PCH-2 and PCHs.")
    assert [entry.labels for entry in registry.REGISTRY.about("pch")] == [("2",)]
    assert registry.REGISTRY.about("12") == [] and registry.REGISTRY.about("of") == []
    assert ledger.show("toy", "PCH") == "toy:\n" + f"{'2':<25} {'holds':<12} Of PCH-2 and PCHs."
    assert [result.labels for result in ledger.run("toy", "pch")] == [("2",)]
    with pytest.raises(ValueError, match="no label 'KFAC'"):
        ledger.run("toy", "KFAC")


def test_several_labels_are_pages_and_many_a_list(toys):
    for number in range(1, 9):
        register(str(number))
    text = ledger.show("toy", "2, 4")
    assert text.index("[toy] Equation (2)") < text.index("[toy] Equation (4)")
    assert "(3)" not in text and "=" * 80 in text
    assert ledger.show("toy", "2-8").splitlines()[0] == "toy:"
    assert len(ledger.show("toy", "2-8").splitlines()) == 8
    assert [result.labels[0] for result in ledger.run("toy", "3 to 5")] == ["3", "4", "5"]


# -- the paper's order -----------------------------------------------------------------------------

def test_checks_stand_in_the_papers_order(toys):
    for group in (("10",), ("extension-a",), ("2", "37"), ("theorem-1",), ("claim-rate",), ("1",),
                  ("8b",), ("8a",), ("37a",), ("extension-b", "extension-c")):
        register(*group)
    assert [result.labels[0] for result in ledger.run("toy")] == [
        "1", "2", "theorem-1", "claim-rate", "8a", "8b", "10", "37a", "extension-a", "extension-b"]
    assert registry.REGISTRY.labels("toy")[:3] == ("1", "2", "37")


# -- the command line ------------------------------------------------------------------------------

@pytest.mark.parametrize("line, expected", [
    ("show low_rank Figure 2", r"\[low-rank\] figure-2: .*\n(.*\n)*\(d\) the later rate(.*\n)*"
                               r"again: secondorder reproduce low-rank figure-2"),
    ("show reversible eq. 17", r"\[reversible-gauss-newton\] Equations \(17\), \(57\)"),
    ("show KFAC", r"ea-cg:\n(.*\n)*table-1 "),
    ("verify 'Deep Residual Partitioning' 10, theorem-2", "1 check of 2 labels")])
def test_commands_take_what_people_write(capsys, line, expected):
    assert main(shlex.split(line)) == 0
    assert re.search(expected, capsys.readouterr().out)


@pytest.mark.parametrize("line, expected", [
    ("verify low-rank figure-2", "figure-2 of low-rank is a study, no equation"),
    ("show deep 9", "'deep' may be residual-partitioning or"),
    ("show low-rank fig. 99", "paper 'low-rank' has no label 'fig. 99'"),
    ("show residual-partitioning theorem-11", "no label 'theorem-11': did you mean 'theorem-1'"),
    ("show qwerty", "unknown paper 'qwerty'"),
    ("verify --load /nowhere/mine.py", "--load: no such file: /nowhere/mine.py")])
def test_commands_refuse_what_is_nothing(capsys, line, expected):
    assert main(line.split()) == 2
    assert expected in capsys.readouterr().err


# -- a bare number ---------------------------------------------------------------------------------

@pytest.mark.parametrize("paper, text, expected", [
    ("ea-cg", "eq. 4", {"4a", "4b", "4c"}), ("ea-cg", "table 4", {"table-4"}),
    ("reversible-gauss-newton", "App. B", {"appendix-b"})])
def test_a_number_is_an_equation_or_all_its_parts(paper, text, expected):
    found = {label for entry in REGISTRY.select(paper, text) for label in entry.labels}
    assert expected <= found and not {label for label in found - expected if "table" in label}
