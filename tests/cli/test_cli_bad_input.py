"""Bad input ends in one clear line with status 2."""

import os

import pytest

from secondorder import datasets


@pytest.mark.parametrize(
    "words, expected",
    [
        (["train", "--data", "digts"], "did you mean 'digits'"),
        (["train", "--optimizer", "cubic-regularization", "--base", "adm"], "did you mean 'adam'"),
        (["train", "--optimizer", "cubic-regularization", "--set", "sigm=1"],
         "did you mean 'sigma'"),
        (["train", "--optimizer", "adam", "--set", "beta"], "NAME=VALUE"),
        (["train", "--data", "diabetes", "--loss", "cross-entropy"], "real targets"),
        (["train", "--learning-rate", "-1"], "--learning-rate"),
        (["train", "--epochs", "0"], "--epochs"),
        (["train", "--validation", "1"], "--validation"),
        (["train", "--out", "no/such/place"], "does not exist: no/such"),
        (["verify", "residual-partitoning"], "did you mean 'residual-partitioning'"),
        (["verify", "--write"], "--markdown"),
        (["show", "residual-partitioning", "99"], "no label '99'"),
        (["show", "nosuchthing"], "unknown paper"),
        (["dance"], "invalid choice"),
    ],
)
def test_bad_input(run, words, expected):
    status, out, err = run(*words)
    assert status == 2 and out == ""
    assert expected in err.splitlines()[-1] and "Traceback" not in err


def test_out_is_a_file_or_cannot_be_written(run, tmp_path):
    (tmp_path / "file").write_text("")
    assert "not a directory: file" in run("train", "--out", "file")[2]
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    if os.access(closed, os.W_OK):
        return  # the superuser may write anywhere
    status, _, err = run("train", "--out", "closed")
    assert status == 2 and "cannot write to the output directory: closed" in err


def test_truncated_data_file_is_named(run, tmp_path, monkeypatch):
    monkeypatch.setenv(datasets.DATA_VARIABLE, str(tmp_path / "shelf"))
    folder = tmp_path / "shelf" / "mine"
    folder.mkdir(parents=True)
    (folder / "test_batch.bin").write_bytes(bytes(5000))
    (folder / "data_batch_1.bin").write_bytes(bytes(5000))
    status, _, err = run("train", "--data", "cifar-10:mine")
    assert status == 2 and "data_batch_1.bin" in err and "5000 bytes" in err


def test_traceback_on_request(run):
    with pytest.raises(ValueError, match="digits"):
        run("train", "--data", "digts", "--traceback")
