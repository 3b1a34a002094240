"""`verify`, `show`, `data` and what the help says: what they print."""

import json
import os
from pathlib import Path
from types import SimpleNamespace


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


def test_show(run):
    status, out, _ = run("show")
    assert status == 0 and "residual-partitioning" in out
    status, labels, _ = run("show", "residual-partitioning")
    assert status == 0 and any(line.startswith("3 ") for line in labels.splitlines())
    status, out, _ = run("show", "residual-partitioning", "3")
    assert status == 0 and "both sides (seed 0)" in out and "def " in out


def test_show_json_is_what_verify_says_and_the_formulas(run):
    words = ("residual-partitioning", "Theorem", "1", "--json", "--seed", 5)
    (shown,), (checked,) = (json.loads(run(command, *words)[1]) for command in ("show", "verify"))
    assert set(shown) - set(checked) == {"formula", "corrected"} and "condition" in shown
    assert all(shown[name] == checked[name] for name in set(checked) - {"seconds"})


def test_data(run, tmp_path):
    status, out, _ = run("data")
    assert status == 0 and all(name in out for name in ("digits", "wine", "diabetes", "1797"))
    (tmp_path / "table.csv").write_text("1,2,3\n4,5,6\n")
    status, out, _ = run("data", "csv:table.csv", "--json")
    assert json.loads(out)[0]["rows"] == 2 and json.loads(out)[0]["classes"] is None
