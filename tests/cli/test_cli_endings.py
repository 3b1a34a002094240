"""How commands end: signals, damaged files, full disks, odd names; what was done is kept, what is
said is one line."""

import contextlib
import errno
import json
import os
import re
import signal
from pathlib import Path

import numpy as np
import pytest

from secondorder import files
from secondorder.training import read_checkpoint

MADE = ["history.json", "learning-curves.png", "parameters.npz"]
WINE = ("train", "--data", "wine", "--hidden", 5)


@contextlib.contextmanager
def at_the_call(monkeypatch, target, number, when=1):
    """Send this process a signal in call `when` of a function."""
    module, name = target
    original, calls = getattr(module, name), []

    def watched(*arguments, **named):
        calls.append(name)
        if len(calls) == when:
            signal.raise_signal(number)
        return original(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(module, name, watched)
        yield


# -- signals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, status, word", [
    ("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated"), ("SIGHUP", 129, "terminated")])
def test_a_signal_in_training_keeps_what_was_recorded(run, monkeypatch, name, status, word):
    from secondorder.training import loop

    with at_the_call(monkeypatch, (loop, "means"), getattr(signal, name), when=4):
        result = run(*WINE, "--epochs", 1000, "--out", "made")
    assert result[0] == status and result[2] == f"secondorder train: {word}\n"
    assert sorted(os.listdir("made")) == MADE
    history = json.loads(Path("made/history.json").read_text())
    assert history["stopped"] == "interrupt"
    assert [record["epoch"] for record in history["records"]] == [0, 1, 2, 3]


def test_ignored_signals_stay_ignored(run, monkeypatch):
    from secondorder.training import loop

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as nohup and & do
    try:
        with at_the_call(monkeypatch, (loop, "means"), signal.SIGINT):
            assert run(*WINE, "--epochs", 2)[0] == 0
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
def test_a_broken_off_tour_keeps_what_was_done(run, monkeypatch):
    from secondorder.cli.tour import trainings

    with at_the_call(monkeypatch, (trainings, "_train"), signal.SIGTERM):
        status, _, err = run("tour", "--out", "made")
    results = json.loads(Path("made/tour.json").read_text())
    assert status == 143 and err == "secondorder tour: terminated\n" and results["ok"] is False
    assert results["derivatives"]["ok"] is True
    assert [figure["file"] for figure in results["figures"]] == ["exact-hessian.png"]


# -- checkpoints -----------------------------------------------------------------------------------


def test_resume_on_the_command_line(run):
    words = (*WINE, "--optimizer", "truncated-newton", "--epochs")
    run(*words, 6, "--out", "whole")
    run(*words, 3, "--checkpoint", "c")
    assert read_checkpoint("c")["epoch"] == 3
    status, _, err = run(*words, 6, "--checkpoint", "c", "--out", "again")
    assert status == 2 and "c is there already" in err and not os.listdir("again")
    status, out, _ = run(*words, 6, "--checkpoint", "c", "--resume", "--out", "again")
    assert status == 0 and "epoch    6" in out
    one, other = (np.load(f"{name}/parameters.npz")["theta"] for name in ("whole", "again"))
    assert one.tobytes() == other.tobytes()
    one, other = ([record | {"seconds": 0} for record in json.loads(
        Path(f"{name}/history.json").read_text())["records"]] for name in ("whole", "again"))
    assert one == other
    status, _, err = run(*WINE, "--resume")
    assert status == 2 and "checkpoint" in err


# -- options ---------------------------------------------------------------------------------------


def test_the_whole_set_in_every_step(run):
    status, out, _ = run(*WINE, "--epochs", 3, "--batch-size", "all", "--json")
    assert status == 0 and [record["step"] for record in json.loads(out)["records"]] == [0, 1, 2, 3]
    steps = {last: json.loads(run(*WINE, "--epochs", 1, "--last-batch", last,
                                  "--json")[1])["records"][-1]["step"]
             for last in ("merge", "keep", "drop")}
    assert steps == {"merge": 1, "keep": 2, "drop": 1}, "142 rows: 100 and 42, less than half of it"
    status, _, err = run(*WINE, "--batch-size", "most")
    assert status == 2 and "--batch-size" in err


def test_classes_of_a_table(run):
    rows = [f"{k % 3},{0.1 * k},{k % 7}" for k in range(60)]
    Path("t.csv").write_text("\n".join(["kind,a,b", *rows]))
    status, out, _ = run("train", "--data", "csv:t.csv", "--target", "kind", "--classify",
                         "--epochs", 1, "--json")
    assert status == 0 and "train_accuracy" in json.loads(out)["records"][0]
    assert json.loads(run("data", "csv:t.csv", "--target", "0", "--classify",
                          "--json")[1])[0]["classes"] == 3
    assert json.loads(run("data", "csv:t.csv", "--json")[1])[0]["classes"] is None
    status, _, err = run("train", "--data", "digits", "--classify")
    assert status == 2 and "takes no classification" in err
    status, _, err = run("train", "--data", "t.csv")
    assert status == 2 and "csv:FILE" in err


def test_a_run_that_diverged_is_not_a_success(run):
    with pytest.warns(UserWarning, match=r"the objective rose from 1\.\d+ to \S+e\+\d+; "):
        status, out, _ = run(*WINE, "--optimizer", "sgd", "--learning-rate", "1e40", "--activation",
                             "identity", "--loss", "cross-entropy", "--epochs", 3)
    assert status == 1
    assert max(map(len, out.splitlines())) < 80


def test_pages_are_not_written_into_an_installed_package(run, tmp_path, monkeypatch):
    import secondorder
    from secondorder import ledger

    monkeypatch.setattr(secondorder, "__file__", str(tmp_path / "secondorder" / "__init__.py"))
    monkeypatch.setattr(ledger, "markdown", lambda paper: "page")
    monkeypatch.setattr(files, "write_text", lambda *arguments: pytest.fail("it wrote"))
    status, _, err = run("verify", "residual-partitioning", "--markdown", "--write")
    assert status == 2 and "checkout" in err


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("words, name", [
    ((*WINE, "--epochs", 1, "--out", "made"), "made/history.json"),
    (("edition", "new", "made", "--tex", "a.md"), "made")])
def test_a_full_disk_names_the_file(run, monkeypatch, words, name):
    def full(*arguments, **named):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    Path("a.md").write_text("$$ a = b \\tag{1} $$\n")
    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(Path, "write_text", full)
    status, _, err = run(*words)
    assert status == 2 and err.endswith(f"error: {name}: No space left on device\n")
    assert not Path("made").exists() or os.listdir("made") == []


@pytest.mark.parametrize("words, said", [
    (["--checkpoint", "file", "--resume"], "file: not a checkpoint .*: it is no .npz archive"),
    (["--out", "link"], "not a directory: link")])
def test_what_stands_in_the_way_is_named(run, tmp_path, words, said):
    (tmp_path / "file").write_text("no archive")
    (tmp_path / "link").symlink_to("nowhere")
    status, out, err = run(*WINE, "--epochs", 1, *words)
    assert status == 2 and not out and re.search(said, err) and err.count("\n") == 1
