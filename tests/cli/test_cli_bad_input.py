"""What is wrong ends in one clear line with status 2; options may stand anywhere."""

import pytest

from secondorder import cli, datasets


@pytest.mark.parametrize(
    "words, expected",
    [
        (["train", "--data", "digts"], "did you mean 'digits'"),
        (["train", "--optimizer", "cubic-regularization", "--base", "adm"], "did you mean 'adam'"),
        (["train", "--optimizer", "cubic-regularization", "--set", "sigm=1"],
         "did you mean 'sigma'"),
        (["train", "--optimizer", "adam", "--set", "beta"], "NAME=VALUE"),
        (["train", "--optimizer", "gauss-newton"], "inverse='right' needs a RevMLP"),
        (["train", "--data", "diabetes", "--loss", "cross-entropy"], "real targets"),
        (["train", "--data", "t.csv"], "csv:FILE"),
        (["train", "--data", "digits", "--classify"], "takes no classification"),
        (["train", "--learning-rate", "-1"], "--learning-rate"),
        (["train", "--epochs", "0"], "--epochs"),
        (["train", "--batch-size", "most"], "batch_size"),
        (["train", "--validation", "1"], "validation"),
        (["train", "--resume"], "checkpoint"),
        (["train", "--checkpoint", "file", "--resume"], "it is no .npz archive"),
        (["train", "--out", "no/such/place"], "does not exist: no/such"),
        (["train", "--out", "file"], "not a directory: file"),
        (["verify", "residual-partitoning"], "did you mean 'residual-partitioning'"),
        (["verify", "--write"], "--markdown"),
        (["show", "residual-partitioning", "99"], "no label '99'"),
        (["show", "nosuchthing"], "unknown paper"),
        (["book", "--out", "b", "low-rank", "ea-cg"], "unrecognized arguments: ea-cg"),
        (["grade", "--traceback"], "required: FILE"),
        (["dance"], "invalid choice"),
    ],
)
def test_bad_input(run, tmp_path, words, expected):
    (tmp_path / "file").write_text("no archive")
    status, out, err = run(*words)
    assert status == 2 and out == ""
    assert expected in err.splitlines()[-1] and "Traceback" not in err


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


@pytest.mark.parametrize("words", ["verify low-rank --json 9 --seed 3 10",
                                   "verify --json low-rank 9 --seed 3 10",
                                   "verify --json --seed 3 -- low-rank 9 10",
                                   "verify low-rank 9 10 --seed 3 --json"])
def test_options_may_stand_anywhere(words):
    said = vars(cli.parser().parse_args(words.split()))
    assert said["paper"] == "low-rank" and said["label"] == ["9", "10"]
    assert said["json"] and said["seed"] == 3
