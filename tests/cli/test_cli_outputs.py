"""What `--out` writes over: nothing that is there, unless that is asked for."""

import json
import os
from pathlib import Path

import pytest

from secondorder import files
from secondorder.cli import compare as compare_command
from secondorder.cli import race as race_command
from secondorder.cli import train as train_command
from secondorder.cli.tour import running as touring

COMMANDS = {
    "train": (["train", "--data", "wine", "--hidden", "3", "--epochs", "1"], train_command.WRITTEN),
    "tour": (["tour"], touring.WRITTEN),
    "compare": (["compare", "--data", "wine", "--hidden", "2", "--epochs", "0"],
                compare_command.WRITTEN),
    "race": (["race", "--methods", "adam", "--minutes", "1e-4"], race_command.WRITTEN),
}
#: Commands that make a folder of their own (pages, a run a file to go on from, one page).
OF_THEIR_OWN = {"book", "notebook", "reproduce"}


@pytest.fixture
def run(run, monkeypatch):
    """The command, with a tour and a table that take no time."""
    monkeypatch.setattr(touring, "run", quick_tour)
    return run


def quick_tour(out, seed, say):
    """Writes as the tour does, without its work."""
    from matplotlib.figure import Figure

    for name in touring.WRITTEN[1:]:
        files.write_figure(out / name, Figure())
    files.write_json(out / "tour.json", {"ok": True})
    return {"ok": True}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_there_is_replaced_only_where_that_is_asked_for(run, command):
    words, written = COMMANDS[command]
    Path("made").mkdir()
    theirs = Path("made") / written[-1]
    theirs.write_bytes(b"of great worth")
    status, _, err = run(*words, "--out", "made")
    assert status == 2 and f"{theirs}: there already" in err and err.count("\n") == 1
    assert theirs.read_bytes() == b"of great worth" and os.listdir("made") == [theirs.name]
    assert run(*words, "--out", "made", "--force")[0] == 0
    assert sorted(os.listdir("made")) == sorted(written) and len(theirs.read_bytes()) > 100


def test_a_resumed_run_replaces_its_outputs(run):
    words = [*COMMANDS["train"][0], "--out", "made", "--checkpoint", "c"]
    assert run(*words)[0] == 0
    assert run(*words, "--resume", "--epochs", 2)[0] == 0
    assert len(json.loads(Path("made/history.json").read_text())["records"]) == 3


def test_notebooks_that_are_there_are_kept(run):
    status, out, _ = run("notebook", "lessons", "01_exact", "exercises/05")
    mine, other = (Path("lessons") / name for name in (
        "01_exact_curvature.ipynb", "exercises/05_whose_slopes.ipynb"))
    assert status == 0 and out.count("written: ") == 2
    mine.write_text("mine")
    other.unlink()
    status, out, _ = run("notebook", "lessons", "01_exact", "exercises/05")
    assert status == 0 and f"kept: {mine}: there already" in out and f"written: {other}" in out
    assert mine.read_text() == "mine"


# -- a resumed run that differs ----------------------------------------------------------------


@pytest.mark.parametrize("change, said", [
    (["--seed", "1"], "--seed 0, not 1"), (["--data", "digits"], "--data 'wine', not 'digits'"),
    (["--hidden", "4"], r"--hidden [3], not [4]"), (["--autoencoder"], "--autoencoder"),
    (["--optimizer", "adam", "--set", "epsilon=0.5"], "--set [], not [['epsilon', 0.5]]")])
def test_a_resume_that_differs_names_the_option(run, change, said):
    words = COMMANDS["train"][0]
    assert run(*words, "--checkpoint", "c")[0] == 0
    status, _, err = run(*words, *change, "--checkpoint", "c", "--resume")
    assert status == 2 and said in err and err.count("\n") == 1
    assert run(*words, "--checkpoint", "c", "--resume")[0] == 0
