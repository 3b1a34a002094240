"""`train`: what it prints and writes, also where it diverges or is interrupted."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from secondorder import datasets


def test_train_writes_what_it_says(run, tmp_path):
    status, out, _ = run("train", "--data", "wine", "--hidden", 5, "--epochs", 3, "--batch-size",
                         30, "--out", "made")
    assert status == 0 and "written" in out
    assert sorted(os.listdir("made")) == ["history.json", "learning-curves.png", "parameters.npz"]
    history = json.loads(Path("made/history.json").read_text())
    assert history["settings"]["seed"] == 0 and history["environment"]["numpy"] == np.__version__
    losses = [record["train_loss"] for record in history["records"]]
    assert len(losses) == 4 and losses[-1] < losses[0]
    assert np.load("made/parameters.npz")["theta"].shape == (13 * 5 + 5 + 5 * 3 + 3,)


def test_train_is_decided_by_the_seed(run):
    def losses(*words):
        records = json.loads(run("train", "--data", "wine", "--epochs", 2, "--json",
                                 *words)[1])["records"]
        return [record["validation_loss"] for record in records]

    assert losses() == losses("--seed", 0) != losses("--seed", 1)


@pytest.mark.parametrize("words", [
    "--optimizer ea-cg --set curvature=fisher-sampled --activation sigmoid",
    "--optimizer cubic-regularization --base ea-cg --activation sigmoid",
    "--optimizer gauss-newton --set inverse=right --set pseudo_inverse=noise --reversible 1 "
    "--hidden 5 --learning-rate 0.1"])
def test_the_seed_fixes_what_the_method_draws(run, words):
    """history.json holds it with the settings; --set rng=N goes first."""
    def theta(*more):
        run("train", "--data", "wine", "--epochs", 1, "--out", "made", "--force",
            *words.split(), *more)
        assert json.loads(Path("made/history.json").read_text())["settings"]["seed"] == 3
        return np.load("made/parameters.npz")["theta"]

    assert np.array_equal(theta("--seed", 3), theta("--seed", 3))
    if "--base" not in words:
        assert not np.array_equal(theta("--seed", 3), theta("--seed", 3, "--set", "rng=1"))


@pytest.mark.parametrize("optimizer", [
    "sgd", "momentum", "adagrad", "adadelta", "adam", "truncated-newton", "residual-partitioning",
    "cubic-regularization"])
def test_train_with_every_optimizer(run, optimizer):
    status, out, err = run("train", "--data", "diabetes", "--hidden", 4, "--epochs", 2,
                           "--optimizer", optimizer, "--json")
    records = json.loads(out)["records"]
    assert status == 0 and err == "" and records[-1]["train_loss"] < records[0]["train_loss"]


def test_train_autoencoder_with_options(run):
    words = ("train --autoencoder --hidden 8 2 8 --output tanh --epochs 1 --l2 1e-2 --json "
             "--optimizer residual-partitioning --set cross=True --set damping=1e-3")
    status, out, _ = run(*words.split())
    results = json.loads(out)
    assert status == 0 and results["settings"]["set"] == {"cross": True, "damping": 1e-3}
    assert "train_accuracy" not in results["records"][0]
    assert results["records"][0]["train_loss"] > 5, "summed over 64 pixels"


def test_diverging_training_keeps_what_was_recorded(run):
    status, _, err = run("train", "--optimizer", "sgd", "--learning-rate", "1e200",
                         "--activation", "relu", "--out", "made")
    assert status == 2 and "step" in err and err.count("\n") == 1
    history = json.loads(Path("made/history.json").read_text())
    assert "step" in history["stopped"] and len(history["records"]) >= 1


@pytest.mark.parametrize("data, more", [("wine", []), ("diabetes", []),
                                        ("wine", ["--autoencoder"])])
def test_training_on_all_data(run, data, more):
    words = ["train", "--data", data, *more, "--validation", "0", "--out", "made"]
    words += ["--epochs", "1", "--batch-size", "1"]
    status, out, err = run(*words)
    assert status == 0 and err == "" and "(training; nothing is held out)" in out
    assert " / " not in out.partition("(training")[0]
    record = json.loads(Path("made/history.json").read_text())["records"][-1]
    assert record["step"] == len(datasets.load(data)) and "validation_loss" not in record


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_training_that_stops_before_the_first_epoch(run, words):
    """A target far outside of what the training part shows: the loss of the validation part
    overflows at once."""
    rows = np.random.default_rng(0).normal(size=(40, 3))
    held_out = datasets.split((np.arange(40),), 0.2, np.random.default_rng(0).spawn(3)[0])[1][0][0]
    rows[held_out, 2] = 1e300
    np.savetxt("table.csv", rows, delimiter=",")
    status, out, err = run("train", "--data", "csv:table.csv", "--out", "made", *words)
    assert status == 2 and out == ""
    assert re.fullmatch(r"secondorder train: error: training stopped in epoch 0, step 0: .*loss of "
                        r"sample.*\n", err)
    assert not os.listdir("made")


def test_a_right_inverse_needs_its_network(run):
    status, _, err = run("train", "--data", "wine", "--optimizer", "gauss-newton")
    assert status == 2 and "inverse='right' needs a RevMLP" in err and "moore-penrose" in err
