"""`train`: what it prints and writes, also where it diverges, is interrupted or goes on."""

import contextlib
import errno
import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from harness import slow
from secondorder import datasets, files

MADE = ["history.json", "learning-curves.png", "parameters.npz"]
WINE = ("train", "--data", "wine", "--hidden", 5)


def records(name="made"):
    return json.loads(Path(f"{name}/history.json").read_text())["records"]


def test_train_writes_what_it_says(run):
    status, out, _ = run(*WINE, "--epochs", 3, "--batch-size", 30, "--out", "made")
    assert status == 0 and "written" in out and sorted(os.listdir("made")) == MADE
    history = json.loads(Path("made/history.json").read_text())
    assert history["settings"]["seed"] == 0 and history["environment"]["numpy"] == np.__version__
    losses = [record["train_loss"] for record in history["records"]]
    assert len(losses) == 4 and losses[-1] < losses[0]
    assert np.load("made/parameters.npz")["theta"].shape == (13 * 5 + 5 + 5 * 3 + 3,)


@pytest.mark.parametrize("words", [
    "--optimizer adam",
    "--optimizer ea-cg --set curvature=fisher-sampled --activation sigmoid",
    *slow(["--optimizer cubic-regularization --base ea-cg --activation sigmoid",
           "--optimizer gauss-newton --set inverse=right --set pseudo_inverse=noise --reversible 1 "
           "--learning-rate 0.1"])])
def test_the_seed_decides_the_run(run, words):
    """Split, weights, batches, and what the method draws."""
    def theta(*more):
        run(*WINE, "--epochs", 1, "--out", "made", "--force", *words.split(), *more)
        return np.load("made/parameters.npz")["theta"]

    assert np.array_equal(theta("--seed", 3), theta("--seed", 3))
    assert not np.array_equal(theta("--seed", 3), theta("--seed", 4))


@pytest.mark.parametrize("optimizer", [
    "sgd", "momentum", "adagrad", "adadelta", "adam", "truncated-newton", "residual-partitioning",
    "cubic-regularization"])
def test_train_with_every_optimizer(run, optimizer):
    status, out, err = run("train", "--data", "diabetes", "--hidden", 4, "--epochs", 2,
                           "--optimizer", optimizer, "--json")
    told = json.loads(out)["records"]
    assert status == 0 and err == "" and told[-1]["train_loss"] < told[0]["train_loss"]


def test_train_autoencoder_with_options(run):
    words = ("train --autoencoder --hidden 8 2 8 --output tanh --epochs 1 --l2 1e-2 --json "
             "--optimizer residual-partitioning --set cross=True --set damping=1e-3")
    status, out, _ = run(*words.split())
    results = json.loads(out)
    assert status == 0 and results["settings"]["set"] == {"cross": True, "damping": 1e-3}
    assert "train_accuracy" not in results["records"][0]
    assert results["records"][0]["train_loss"] > 5, "summed over 64 pixels"


@pytest.mark.parametrize("data, more", [("wine", []), ("diabetes", []),
                                        ("wine", ["--autoencoder"])])
def test_training_on_all_data(run, data, more):
    status, out, err = run("train", "--data", data, *more, "--validation", "0", "--out", "made",
                           "--epochs", 1, "--batch-size", 1)
    assert status == 0 and err == "" and "(training; nothing is held out)" in out
    assert records()[-1]["step"] == len(datasets.load(data))
    assert "validation_loss" not in records()[-1]


def test_classes_of_a_table(run):
    rows = [f"{k % 3},{0.1 * k},{k % 7}" for k in range(60)]
    Path("t.csv").write_text("\n".join(["kind,a,b", *rows]))
    status, out, _ = run("train", "--data", "csv:t.csv", "--target", "kind", "--classify",
                         "--epochs", 1, "--batch-size", "all", "--json")
    told = json.loads(out)["records"]
    assert status == 0 and "train_accuracy" in told[0] and told[-1]["step"] == 1
    assert json.loads(run("data", "csv:t.csv", "--target", "0", "--classify",
                          "--json")[1])[0]["classes"] == 3


# -- runs that end otherwise -----------------------------------------------------------------------


def test_a_run_that_diverged_is_not_a_success_and_keeps_what_was_recorded(run):
    with pytest.warns(UserWarning, match=r"the objective rose from 1\.\d+ to \S+e\+\d+; "):
        status = run(*WINE, "--optimizer", "sgd", "--learning-rate", "1e40", "--activation",
                     "identity", "--epochs", 3)[0]
    assert status == 1
    status, _, err = run("train", "--optimizer", "sgd", "--learning-rate", "1e200",
                         "--activation", "relu", "--out", "made")
    assert status == 2 and "step" in err and err.count("\n") == 1 and records()


@contextlib.contextmanager
def at_the_fourth_look(monkeypatch, number):
    """Send this process a signal while the whole sets are looked at."""
    from secondorder.training import loop

    original, calls = loop.means, []

    def watched(*arguments, **named):
        calls.append(number)
        if len(calls) == 4:
            signal.raise_signal(number)
        return original(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "means", watched)
        yield


@pytest.mark.parametrize("name, status, word", [
    ("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated"), ("SIGHUP", 129, "terminated")])
def test_a_signal_in_training_keeps_what_was_recorded(run, monkeypatch, name, status, word):
    with at_the_fourth_look(monkeypatch, getattr(signal, name)):
        result = run(*WINE, "--epochs", 1000, "--out", "made")
    assert result[0] == status and result[2] == f"secondorder train: {word}\n"
    assert sorted(os.listdir("made")) == MADE
    assert [record["epoch"] for record in records()] == [0, 1, 2, 3]


def test_a_resumed_run_has_the_same_bits(run):
    words = (*WINE, "--optimizer", "truncated-newton", "--epochs")
    run(*words, 6, "--out", "whole")
    run(*words, 3, "--checkpoint", "c", "--out", "again")
    status, _, err = run(*words, 6, "--checkpoint", "c")
    assert status == 2 and "c is there already" in err
    status, out, _ = run(*words, 6, "--checkpoint", "c", "--resume", "--out", "again")
    assert status == 0 and "epoch    6" in out
    one, other = (np.load(f"{name}/parameters.npz")["theta"] for name in ("whole", "again"))
    assert one.tobytes() == other.tobytes()
    one, other = ([record | {"seconds": 0} for record in records(name)]
                  for name in ("whole", "again"))
    assert one == other


@pytest.mark.parametrize("change, said", [
    (["--seed", "1"], "--seed 0, not 1"), (["--hidden", "4"], r"--hidden [5], not [4]"),
    (["--optimizer", "adam", "--set", "epsilon=0.5"], "--set [], not [['epsilon', 0.5]]")])
def test_a_resume_that_differs_names_the_option(run, change, said):
    words = (*WINE, "--epochs", 1, "--checkpoint", "c")
    assert run(*words)[0] == 0
    status, _, err = run(*words, *change, "--resume")
    assert status == 2 and said in err and err.count("\n") == 1


def test_a_full_disk_names_the_file(run, monkeypatch):
    def full(*arguments, **named):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    status, _, err = run(*WINE, "--epochs", 1, "--out", "made")
    assert status == 2 and "No space left on device: 'made/history.json'" in err
    assert os.listdir("made") == [] and files.outputs("made", MADE, False)
