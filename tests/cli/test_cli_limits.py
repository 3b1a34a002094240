"""Networks too large, computations that hear no signal, narrow terminals, words of the command."""

import io
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from secondorder.cli import memory, signals
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


# -- signals ---------------------------------------------------------------------------------------

STUCK = """
import ctypes, hashlib, sys
import secondorder as so
from secondorder import cli
step, calls = so.SGD.step, []
def slow(self, x, y):
    calls.append(0)
    if len(calls) == 8:
        print("stuck", flush=True)
        if sys.platform == "linux":  # waits for its own lock, and takes no processor's time
            lock = ctypes.create_string_buffer(128)
            while not ctypes.CDLL(None).pthread_mutex_lock(lock):
                pass
        hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # minutes in C, where no signal is heard
    return step(self, x, y)
so.SGD.step = slow
sys.exit(cli.main(["train", "--data", "wine", "--optimizer", "sgd", "--epochs", "9", "--batch-size",
                   "50", "--out", "made", "--checkpoint", "c"]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_the_middle_of_a_computation(tmp_path, number):
    with subprocess.Popen([sys.executable, "-c", STUCK], cwd=tmp_path, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == "stuck\n"
        time.sleep(2)  # until it is in there
        process.send_signal(number)
        started = time.monotonic()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number and time.monotonic() - started < signals.GRACE + 10
    assert "in the middle of a computation" in err and err.count("\n") == 1
    history = json.loads((tmp_path / "made" / "history.json").read_text())
    assert history["stopped"] == "interrupt"
    assert [record["epoch"] for record in history["records"]] == [0, 1, 2]
    assert np.load(tmp_path / "made" / "parameters.npz")["theta"].size == history["parameters"]
    again = subprocess.run([sys.executable, "-m", "secondorder", *WINE, "--optimizer", "sgd",
                            "--epochs", "9", "--batch-size", "50", "--out", "made", "--checkpoint",
                            "c", "--resume"], cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 0 and "replaced: made/history.json" in again.stdout


def test_a_worker_that_is_ended_does_not_end_its_parent():
    """A forked process has the pipe of its parent's watch, and must not write into it."""
    code = """
import os, signal, sys, time
from secondorder.cli import signals
signals.GRACE = 0.3
with signals.handled():
    child = os.fork()
    if child == 0:
        try:
            time.sleep(60)
        finally:
            os._exit(5)
    time.sleep(0.2)
    os.kill(child, signal.SIGTERM)
    os.waitpid(child, 0)
    time.sleep(1.5)
print("alive")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "alive\n" and done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_watch_goes_with_its_command(run):
    import threading

    before = threading.active_count()
    for _ in range(5):
        run("data")
    time.sleep(0.2)
    assert threading.active_count() <= before and signal.set_wakeup_fd(-1) == -1


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
