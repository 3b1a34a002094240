"""What people write for a label, several labels, a paper, a topic, a figure."""

import re
import shlex

import pytest

from secondorder import ledger
from secondorder.cli import main
from secondorder.ledger import labels, registry
from secondorder.ledger.pages.report import _labels
from secondorder.ledger.registry import REGISTRY

from test_ledger import register, toys  # noqa: F401

KNOWN = ["1", "2", "4a", "4b", "5", "theorem-1", "8", "9", "10", "10a", "11", "claim-rate"]


@pytest.mark.parametrize("text, expected", [
    ("5", ["5"]), ("(5)", ["5"]), (5, ["5"]), ("eq. 5", ["5"]), ("2, 5", ["2", "5"]),
    ("5, 2", ["2", "5"]), ("Equations (2), (5)", ["2", "5"]), ("8 and theorem-1",
                                                               ["theorem-1", "8"]),
    ("theorem-1, 8", ["theorem-1", "8"]), ("Theorem 1 & 2", ["2", "theorem-1"]),
    ("4a-5", ["4a", "4b", "5"]), ("4a, 8-10", ["4a", "8", "9", "10"]),
    ("eqs. 8-10a", ["8", "9", "10", "10a"]), ("(8)-(10)", ["8", "9", "10"]),
    ("8 to 11", ["8", "9", "10", "10a", "11"]), ("8\u201310", ["8", "9", "10"]),
    ("8..10", ["8", "9", "10"]), ("5 to claim-rate", KNOWN[4:]), ("10 to 8", []),
    ("claim-rate to theorem-1", KNOWN[5:]), ("4", ["4a", "4b"]), ("eq. 4", ["4a", "4b"]),
    ("4, 5", ["4a", "4b", "5"]), ("4 to 5", ["4a", "4b", "5"]), ("2-4", ["2", "4a", "4b"]),
    ("10", ["10"]), ("rate", []),
    ("THEOREM_1", ["theorem-1"]), ("thm. 1", ["theorem-1"]), ("claim rate", ["claim-rate"]),
    ("Eq.(10)", ["10"]), ("equation 10", ["10"]), ("(4B)", ["4b"]),
    ("5, 99", []), ("5-99", []), ("99", []), ("", []), ("theorem-2", [])])
def test_labels_asked_for(text, expected):
    assert labels.asked_for(text, KNOWN) == expected


@pytest.mark.everyday(2)
@pytest.mark.parametrize("paper", ledger.PAPERS)
def test_every_spelling_that_the_tables_print_is_understood(paper):
    for entry in REGISTRY.select(paper):
        for text in (_labels(entry.labels), ", ".join(entry.labels), labels.heading(entry.labels),
                     " ".join(entry.labels[0].split("-")).title()):
            assert entry in REGISTRY.select(paper, text), text


@pytest.mark.parametrize("name, key", [
    ("EA-CG", "ea-cg"), ("eacg", "ea-cg"), ("ea_cg", "ea-cg"), ("Low Rank", "low-rank"),
    ("gauss-newton", "reversible-gauss-newton"), ("RevMLP", "reversible-gauss-newton"),
    ("cubic", "low-rank"), ("Deep Residual Partitioning", "residual-partitioning")])
def test_papers_as_people_write_them(name, key):
    assert REGISTRY.key(name) == key
    assert {entry.paper for entry in REGISTRY.select(name, "1")} == {key}


def test_a_name_that_may_be_several_papers_is_refused_with_their_names():
    with pytest.raises(ValueError, match="'deep' may be residual-partitioning or low-rank or rev"):
        REGISTRY.key("deep")
    with pytest.raises(ValueError, match="unknown paper 'ab'"):
        REGISTRY.key("ab")


@pytest.mark.parametrize("topic, expected", [
    ("KFAC", {"table-1"}), ("Pos-Eig", {"pos-eig", "8a", "8b"}), ("pos eig", {"8b"}),
    ("PCH", {"8b", "table-2"})])
def test_a_topic_is_a_list_of_labels(topic, expected):
    found = {label for entry in REGISTRY.about(topic, ["ea-cg"]) for label in entry.labels}
    assert found >= expected and len(found) < 40


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


@pytest.mark.parametrize("paper", ledger.PAPERS)
def test_numbers_of_every_paper_rise(paper):
    firsts = [min(map(labels.number, numbers)) for entry in REGISTRY.select(paper)
              if (numbers := [label for label in entry.labels if labels.number(label)])]
    assert firsts == sorted(firsts)


# -- the command line ------------------------------------------------------------------------------

@pytest.mark.everyday(2)
@pytest.mark.parametrize("line, expected", [
    ("show low_rank Figure 2", r"\[low-rank\] figure-2: .*\n(.*\n)*\(d\) the later rate(.*\n)*"
                               r"again: secondorder reproduce low-rank figure-2"),
    ("show low-rank claim-sigma", r"\[low-rank\] claim-sigma: "),
    ("show low-rank table 2", r"\[low-rank\] table-2\n"),
    ("show reversible gauss newton 17", r"\[reversible-gauss-newton\] Equations \(17\), \(57\)"),
    ("show KFAC", r"ea-cg:\n(.*\n)*table-1 "),
    ("show total gradient", r"residual-partitioning:\n(.*\n)*11 "),
    ("verify EA-CG 8a, 8b", "2 checks of 2 labels"),
    ("verify 'Deep Residual Partitioning' 10, theorem-2", "1 check of 2 labels")])
def test_commands_take_what_people_write(capsys, line, expected):
    assert main(shlex.split(line)) == 0
    assert re.search(expected, capsys.readouterr().out)


@pytest.mark.parametrize("line, expected", [
    ("verify low-rank figure-2", "figure-2 of low-rank is a study, no equation"),
    ("show deep 9", "'deep' may be residual-partitioning or"),
    ("show low-rank zzzz", "paper 'low-rank' has no label 'zzzz'"),
    ("show low-rank fig. 99", "paper 'low-rank' has no label 'fig. 99'"),
    ("show qwerty", "unknown paper 'qwerty'"), ("show low-rank ((", "has no label '(('"),
    ("verify --load /nowhere/mine.py", "--load: no such file: /nowhere/mine.py"),
    ("verify --load json", "--load: no such file or folder: json")])
def test_commands_refuse_what_is_nothing(capsys, line, expected):
    assert main(line.split()) == 2
    assert expected in capsys.readouterr().err


# -- a bare number ---------------------------------------------------------------------------------

@pytest.mark.parametrize("paper, text, expected", [
    ("ea-cg", "4", {"4a", "4b", "4c"}), ("ea-cg", "eq. 4", {"4a", "4b", "4c"}),
    ("ea-cg", 8, {"8a", "8b", "8c"}), ("ea-cg", "(10)", {"10a", "10b"}),
    ("ea-cg", "11", {"11a", "11b"}), ("ea-cg", "table 4", {"table-4"}),
    ("reversible-gauss-newton", "prop. 4.4", {"proposition-4.4"}),
    ("reversible-gauss-newton", "App. B", {"appendix-b"}), ("low-rank", "1", {"1"})])
def test_a_number_is_an_equation_or_all_its_parts(paper, text, expected):
    found = {label for result in ledger.run(paper, text) for label in result.labels}
    assert expected <= found and not {label for label in found - expected if "table" in label}


@pytest.mark.parametrize("paper, text, expected", [
    ("ea-cg", "ii", "no label 'ii': did you mean 'b-ii' or 'c-ii'"),
    (None, "4.3", "no paper has a label '4.3': did you mean 'theorem-4.3'"),
    ("reversible-gauss-newton", "B", "no label 'B': did you mean 'appendix-b'"),
    ("ea-cg", "4.3", "no label '4.3'"),
    ("reversible-gauss-newton", "table 1", "no label 'table 1'"),
    ("low-rank", "(" * 100_000, "at most 1000 characters, got 100000"),
    ("x" * 100_000, "1", "unknown paper 'xxx.{,500}$")])
def test_an_end_of_a_label_is_no_label(paper, text, expected):
    with pytest.raises(ValueError, match=expected):
        registry.REGISTRY.find(paper, text)


@pytest.mark.parametrize("asked, told", [
    (["8a", "8b"], "(8a), (8b)"), (["33", "34", "35", "36"], "(33), (34), (35), (36)"),
    (["33", "34", "35", "36", "37"], "(33) to (37)"), (["theorem-1"], "theorem-1"),
    (["1", "2", "3", "4", "9"], "(1), (2), (3), (4), (9)"),
    (["8a", "8b", "8c", "8d", "8e"], "(8a), (8b), (8c), (8d), (8e)"),
    (["A.1", "A.2", "A.3", "A.4", "A.5"], "(A.1), (A.2), (A.3), (A.4), (A.5)")])
def test_a_range_is_of_numbers_in_a_row(asked, told):
    assert labels.short(asked) == told
