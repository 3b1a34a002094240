"""`secondorder reproduce` and `secondorder claims`."""

import json

import pytest

import secondorder
from secondorder import cli, files
from secondorder.cli import reproduce
from secondorder.studies import STUDIES, pages, records, results
from secondorder.studies.registry import name_of


def test_the_list_tells_every_study(capsys):
    assert cli.main(["reproduce", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["paper"], row["key"]) for row in rows] == [
        (study.paper, study.key) for study in STUDIES.select()]
    assert cli.main(["reproduce"]) == 0
    assert "figure-2" in capsys.readouterr().out


@pytest.mark.slow
def test_one_runs_refuses_to_mix_and_resumes(tmp_path, capsys):
    out = str(tmp_path / "out")
    command = ["reproduce", "low-rank", "claim-step-cost", "--quick", "--out", out]
    assert cli.main([*command, "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    assert record["key"] == "claim-step-cost" and record["quick"]
    assert {claim["verdict"] for claim in record["claims"]} == {"undecided"}
    assert cli.main(command) == 2 and "--resume" in capsys.readouterr().err
    assert cli.main([*command, "--resume"]) == 0
    assert "undecided" in capsys.readouterr().out


@pytest.mark.parametrize("words, expected", [
    (["low-rnak"], "did you mean 'low-rank'"), (["all", "figure-2"], "KEY"),
    (["Low Rank", "Figure 22"], "'Figure 22': did you mean 'figure-2'"),
    (["bridges"], "bridges has no studies; its equations are run by secondorder verify bridges"),
    (["low-rank", "--jobs", "0"], "--jobs"),
    (["low-rank", "figure-1", "--quick", "--record"], "--record goes without --quick"),
    (["low-rank", "figure-1", "--seeds", "0"], "--seeds"),
    (["low-rank", "figure-1", "--out", "file"], "not a directory: file"),
    (["low-rank", "figure-1", "--out", "no/such/place"], "does not exist")])
def test_bad_input_is_one_line(tmp_path, monkeypatch, capsys, words, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    try:
        status = cli.main(["reproduce", *words])
    except SystemExit as end:
        status = end.code
    said = capsys.readouterr().err
    assert status == 2 and expected in said and "Traceback" not in said
    assert said.splitlines()[-1].startswith("secondorder reproduce: error: ")
    assert not [path for path in tmp_path.rglob("*.json")]


@pytest.mark.parametrize("text", ['{"runs": 3', "{}"])
def test_a_record_that_is_damaged_is_named(text, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    (tmp_path / "low-rank").mkdir()
    path = tmp_path / "low-rank" / "claim-storage.json"
    path.write_text(text)
    for words in (["claims"], ["reproduce"], ["show", "low-rank", "claim-storage"]):
        assert cli.main(words) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and f"{path}: not a record of a study" in said


def test_claims_are_rows(capsys):
    assert cli.main(["claims", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == sum(len(study.claims) for study in STUDIES.select())
    assert {"paper", "key", "claim", "verdict", "effect", "spread", "seeds"} <= set(rows[0])
    assert cli.main(["claims", "Low Rank", "Figure 2"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[1] == "low-rank" and told[2].startswith("  figure-2 (a)")
    assert not any("figure-1" in line or " not run" in line for line in told)


ONE_RUN = {name_of("room.one", {"seed": 1}): {
    "function": "room.one", "arguments": {"seed": 1}, "seconds": 1, "result": {"loss": 2}}}


def test_runs_are_recorded_if_they_are_small(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    record = {"paper": "low-rank", "key": "figure-1", "figure": "figure-1.png", "runs": 1,
              "claims": []}
    study, packed = STUDIES.of("low-rank")["figure-1"], tmp_path / "figure-1.runs.json.gz"
    (tmp_path / "figure-1.png").write_bytes(b"png")
    results.write_all(packed, results.Results(ONE_RUN))
    records.keep(tmp_path, record)
    kept = records.recorded("low-rank", "figure-1")
    assert records.runs(study) == ONE_RUN and kept["runs"] == 1
    assert records.picture("low-rank", "figure-1").read_bytes() == b"png"
    packed.write_bytes(b"r" * (records.LARGEST_RUNS + 1))
    records.keep(tmp_path, record)
    assert records.runs(study) == {}


def test_recorded_runs_are_refused_where_their_data_are_absent(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SECONDORDER_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert cli.main(["reproduce", "ea-cg", "table-5", "--recorded", "--out", "out"]) == 2
    assert "were made on cifar-10, not found here" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words, expected", [
    (["bridges"], "bridges has no studies"), (["low-rnak"], "did you mean 'low-rank'")])
def test_claims_of_no_paper_are_an_error(words, expected, capsys):
    assert cli.main(["claims", *words]) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("words", [["claims", "--markdown", "--write"],
                                   ["reproduce", "low-rank", "figure-2", "--record"]])
def test_an_installed_package_is_not_written_into(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(secondorder, "__file__", str(tmp_path / "secondorder" / "__init__.py"))
    monkeypatch.setattr(files, "write_text", lambda *arguments: pytest.fail("it wrote"))
    monkeypatch.setattr(reproduce, "_reproduce", lambda *arguments: pytest.fail("it ran"))
    assert cli.main(words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"{words[-1]} is for a checkout of the repository" in said
    assert list(tmp_path.iterdir()) == []


def test_a_study_is_shown_with_its_setting_figure_and_numbers():
    text = pages.shown(STUDIES.of("low-rank")["claim-step-cost"])
    for expected in ("claim-step-cost.png", "setting: paper's", "gradient descent",
                     "(784) a cubic step is not much dearer"):
        assert expected in text, expected
