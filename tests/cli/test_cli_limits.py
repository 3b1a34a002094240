"""Networks too large, computations that hear no signal, narrow terminals, words of the command."""

import io
import os
import time

import pytest

from secondorder.cli import memory
from secondorder.training.progress import Progress

WINE = ["train", "--data", "wine"]


# -- memory ----------------------------------------------------------------------------------------


@pytest.mark.everyday(1)
@pytest.mark.parametrize("words, named", [
    (["--hidden", "99999999"], "--hidden 99999999: 1,699,999,986 parameters"),
    (["--hidden", "9", "99999999", "9"], "--hidden 9 99999999 9:"),
    (["--reversible", "99999999", "--hidden", "--optimizer", "gauss-newton"],
     "--reversible 99999999:")])
def test_a_network_that_does_not_fit_is_refused_with_the_bytes(run, words, named):
    started = time.perf_counter()
    status, out, err = run(*WINE, *words, "--out", "made")
    assert status == 2 and named in err and "bytes" in err and "GiB" in err
    assert err.count("\n") == 1 and not os.path.exists("made")
    assert time.perf_counter() - started < 20  # nothing was allocated


def test_the_limit_counts_parameters_as_the_network_does(run, monkeypatch):
    for words, count in ((["--hidden", "5"], "88 parameters"), (["--hidden"], "42 parameters")):
        monkeypatch.setattr(memory, "_memory", lambda: 10)
        status, _, err = run(*WINE, *words)
        assert status == 2 and f" {count}" in err
        monkeypatch.setattr(memory, "_memory", lambda: 2**30)
        status, out, _ = run(*WINE, *words, "--epochs", "1")
        assert status == 0 and out.startswith(count)


# -- narrow terminals ------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", range(1, 90))
def test_progress_cuts_no_number(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = io.StringIO()
    progress = Progress(300, True)
    progress.stream = stream
    for epoch in (9, 10, 100, 300):
        progress.show({"epoch": epoch, "step": 7 * epoch, "train_loss": 0.12345,
                       "train_accuracy": 1.0, "validation_loss": 2.0, "validation_accuracy": 0.5})
    lines = stream.getvalue().split("\r")[1:]
    assert all(len(line) < columns for line in lines)
    for line, epoch in zip(lines, (9, 10, 100, 300)):
        shown = line.strip()
        assert shown in ("", str(epoch), f"{epoch}/300") or shown.startswith(f"epoch {epoch}/300")
        if "loss" in shown:
            assert "loss 0.1235 / 2" in shown
    if columns >= 8:
        assert lines[-1].strip() == "300/300" or lines[-1].startswith("epoch 300/300")


# -- the command's own words -----------------------------------------------------------------------


@pytest.mark.parametrize("words", [["--optimizer", "gauss-newton"],
                                   ["--optimizer", "gauss-newton", "--set", "inverse=right"],
                                   ["--optimizer", "cubic-regularization", "--base",
                                    "gauss-newton"]])
def test_a_right_inverse_says_which_option_makes_its_network(run, words):
    status, _, err = run(*WINE, *words)
    assert status == 2 and "--reversible BLOCKS" in err and "RevMLP" not in err
