"""`verify`, `show`, `data` and what the help says: what they print."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness import ledger_runs

ROOT = Path(__file__).resolve().parents[2]


def test_verify_json(run):
    status, out, _ = run("verify", "residual-partitioning", "3", "--json", "--seed", 5)
    (entry,) = json.loads(out)
    assert status == 0 and entry["ok"] is True
    assert entry["paper"] == "residual-partitioning" and "3" in entry["labels"]
    assert 0 <= entry["error"] <= entry["tolerance"] and entry["implements"]


def test_verify_reports_failure_by_status(run, monkeypatch):
    from secondorder import ledger

    result = ledger.run("residual-partitioning", "3")[0]
    result.message = "planted"
    monkeypatch.setattr(ledger, "run", lambda *arguments: [result])
    status, out, _ = run("verify", "residual-partitioning", "3")
    assert status == 1 and "planted" in out
    monkeypatch.setattr(ledger, "run", lambda *arguments: [])
    assert run("verify")[0] == 1, "nothing checked is not success"


def test_verify_markdown(run, tmp_path, monkeypatch):
    import importlib.util

    from secondorder.cli import equations

    monkeypatch.setattr("secondorder.ledger.markdown", lambda paper: f"# page of {paper}\n")
    page = "# page of residual-partitioning\n"
    assert run("verify", "residual-partitioning", "--markdown")[1] == page
    spec = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec",
                        {"secondorder.papers.residual_partitioning": spec}.get)
    tables = []  # the pages of this checkout are left alone
    monkeypatch.setattr(equations, "_write_front_pages", tables.append)
    status, out, _ = run("verify", "residual-partitioning", "--markdown", "--write")
    assert status == 0 and tables == [ROOT]
    assert (tmp_path / "EQUATIONS.md").read_text() == page
    assert os.listdir(tmp_path) == ["EQUATIONS.md"], "no temporary file is left"


def test_tables_that_all_papers_make_are_written_between_their_marks(tmp_path, capsys):
    """CONTRIBUTING and the page of letters; what has no such mark stays as it is."""
    from secondorder.cli import equations

    (tmp_path / "secondorder" / "papers").mkdir(parents=True)
    letters, page = tmp_path / "secondorder" / "papers" / "LETTERS.md", tmp_path / "CONTRIBUTING.md"
    letters.write_text("# Letters\n<!-- letters -->\noutdated\n<!-- end -->\nend\n")
    page.write_text("no mark\n")
    equations._write_front_pages(tmp_path)
    assert page.read_text() == "no mark\n"
    told = letters.read_text()
    assert told.startswith("# Letters\n<!-- letters -->\n| letter |") and "outdated" not in told
    assert told.endswith("|\n<!-- end -->\nend\n") and told.count("\n") > 40
    assert capsys.readouterr().out.count("written: ") == 1


def test_show(run):
    status, out, _ = run("show")
    assert status == 0 and "residual-partitioning" in out
    status, labels, _ = run("show", "residual-partitioning")
    assert status == 0 and any(line.startswith("3 ") for line in labels.splitlines())
    status, out, _ = run("show", "residual-partitioning", "3")
    assert status == 0 and "both sides (seed 0)" in out and "def " in out


@pytest.mark.slow
def test_show_json_of_several_is_a_list(run):
    for label, labels in (("11", [["11a"], ["11b"]]), ("eq. 9", ["9"])):
        shown = json.loads(run("show", "ea-cg", label, "--json")[1])
        assert ([one["labels"] for one in shown] if isinstance(shown, list)
                else shown["labels"]) == labels


def test_show_json_is_what_verify_says_and_the_formulas(run):
    for label in (["3"], ["Theorem", "1"]):
        status, out, _ = run("show", "residual-partitioning", *label, "--json", "--seed", 5)
        shown = json.loads(out)
        (checked,) = json.loads(run("verify", "residual-partitioning", *label, "--json",
                                    "--seed", 5)[1])
        assert status == 0 and set(shown) - set(checked) == {"formula", "corrected"}
        assert all(shown[name] == checked[name] for name in set(checked) - {"seconds"})
        with ledger_runs.shared():
            page = run("verify", "residual-partitioning", "--markdown")[1]
        assert "condition" in shown and shown["formula"] in page
    status, _, err = run("show", "residual-partitioning", "--json")
    assert status == 2 and "LABEL" in err


def test_data(run, tmp_path):
    status, out, _ = run("data")
    assert status == 0 and all(name in out for name in ("digits", "wine", "diabetes", "1797"))
    (tmp_path / "table.csv").write_text("1,2,3\n4,5,6\n")
    status, out, _ = run("data", "csv:table.csv", "--json")
    assert json.loads(out)[0]["rows"] == 2 and json.loads(out)[0]["classes"] is None
