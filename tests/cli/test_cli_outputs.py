"""What `--out` writes over: nothing that is there, unless that is asked for."""

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


@pytest.fixture
def run(run, monkeypatch):
    """The command, with a tour that takes no time."""
    def quick_tour(out, seed, say):
        for name in touring.WRITTEN:
            files.write_text(out / name, 200 * "x")
        return {"ok": True}

    monkeypatch.setattr(touring, "run", quick_tour)
    return run


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
