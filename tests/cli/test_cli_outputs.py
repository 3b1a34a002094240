"""What `--out` and `--checkpoint` write over: only what the same command wrote, and by name."""

import io
import json
import os
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from secondorder import cli, files
from secondorder.cli import compare as compare_command
from secondorder.cli import race as race_command
from secondorder.cli import train as train_command
from secondorder.cli.tour import running as touring
from secondorder.lessons import Figures

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
        files.write_figure(out / name, Figure(), command=touring.COMMAND)
    files.write_json(out / "tour.json", {"ok": True}, command=touring.COMMAND)
    return {"ok": True}


def test_every_command_with_out_is_here():
    """A command that writes into a directory is in this file's table, or among those whose folder
    is theirs alone."""
    actions = cli.parser()._subparsers._group_actions[0].choices
    assert {name for name, parser in actions.items()
            if "--out" in parser._option_string_actions} - OF_THEIR_OWN == set(COMMANDS)


@pytest.mark.everyday(1)
@pytest.mark.parametrize("command", COMMANDS)
def test_earlier_results_are_replaced_by_name(run, command):
    words, written = COMMANDS[command]
    status, out, err = run(*words, "--out", "made")
    assert status == 0 and "replaced" not in out + err
    assert sorted(os.listdir("made")) == sorted(written)
    for name in written:
        assert files.written_by(Path("made") / name, command)
        assert not files.written_by(Path("made") / name, "verify")
    status, out, err = run(*words, "--out", "made")
    assert status == 0 and "replaced" in out and all(name in out for name in written)


@pytest.mark.parametrize("command, name", [(command, name) for command, (_, written)
                                           in COMMANDS.items() for name in written])
def test_what_another_wrote_is_refused_by_name(run, command, name):
    words, _ = COMMANDS[command]
    Path("made").mkdir()
    theirs = Path("made") / name
    theirs.write_bytes(b"of great worth")
    status, out, err = run(*words, "--out", "made")
    assert status == 2 and f"{name}: there already" in err and err.count("\n") == 1
    assert theirs.read_bytes() == b"of great worth" and os.listdir("made") == [name]


def _edited(raw, suffix):
    """The same file after somebody has changed one number or one pixel in it."""
    if suffix != ".npz":
        place = raw.rindex(b'"seconds"') + 12 if b'"seconds"' in raw else len(raw) // 2
        return raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1:]
    with np.load(io.BytesIO(raw)) as archive:
        arrays = {name: archive[name] + 1 for name in archive.files}
        comment = archive.zip.comment
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    with zipfile.ZipFile(stream, "a") as archive:
        archive.comment = comment
    return stream.getvalue()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_changed_output_is_kept(run, command):
    """One that bears the command's mark, and was changed since."""
    words, written = COMMANDS[command]
    assert run(*words, "--out", "made")[0] == 0
    for name in written:
        theirs = Path("made") / name
        before = theirs.read_bytes()
        theirs.write_bytes(_edited(before, theirs.suffix))
        others = {path: path.read_bytes() for path in Path("made").iterdir()}
        status, _, err = run(*words, "--out", "made")
        assert status == 2 and f"{name}: there already, and not as" in err, (name, err)
        assert others == {path: path.read_bytes() for path in Path("made").iterdir()}
        theirs.write_bytes(before)
        assert files.written_by(theirs, command)


def test_a_sealed_picture_is_still_a_picture(run):
    from matplotlib import image

    assert run("tour", "--out", "made")[0] == 0
    for path in Path("made").glob("*.png"):
        assert image.imread(path).ndim == 3
        raw = path.read_bytes()
        place = raw.index(b"tEXtSoftware")
        length = int.from_bytes(raw[place - 4:place], "big")
        end = place + 4 + length
        assert zlib.crc32(raw[place:end]) == int.from_bytes(raw[end:end + 4], "big")


def test_notebooks_that_were_worked_in_are_kept(run):
    status, out, _ = run("notebook", "lessons", "01_exact", "exercises/05")
    mine, other = (Path("lessons") / name for name in (
        "01_exact_curvature.ipynb", "exercises/05_whose_slopes.ipynb"))
    assert status == 0 and out.count("written: ") == 2
    answer = json.loads(mine.read_bytes()) | {"cells": []}
    mine.write_text(json.dumps(answer))
    status, out, _ = run("notebook", "lessons", "01_exact", "exercises/05")
    assert status == 0 and f"kept: {mine}: there already" in out and f"written: {other}" in out
    assert json.loads(mine.read_text()) == answer
    other.unlink()
    other.mkdir()
    status, out, _ = run("notebook", "lessons", "exercises/05")
    assert status == 0 and "kept" in out and other.is_dir()


def test_a_tutorials_figure_replaces_its_own_alone(tmp_path, capsys):
    from matplotlib.figure import Figure

    figures = Figures()
    figures.folder = tmp_path
    figures.show(Figure(), "mine")
    figures.show(Figure((2, 2)), "mine")
    assert capsys.readouterr().out.count("figure: ") == 2
    (tmp_path / "theirs.png").write_bytes(b"of great worth")
    figures.show(Figure(), "theirs")
    assert "kept: " in capsys.readouterr().out
    assert (tmp_path / "theirs.png").read_bytes() == b"of great worth"


@pytest.mark.slow
def test_another_commands_file_and_a_dangling_link_are_refused(run):
    run(*COMMANDS["train"][0], "--out", "made")
    status, _, err = run("tour", "--out", "made")
    assert status == 2 and "learning-curves.png" in err
    Path("made/history.json").unlink()
    Path("made/history.json").symlink_to("nowhere")
    status, _, err = run(*COMMANDS["train"][0], "--out", "made")
    assert status == 2 and "history.json" in err


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
