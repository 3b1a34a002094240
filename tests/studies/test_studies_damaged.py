"""Data files that are damaged, or are something else, through the doors: `reproduce`, `train`, and
the cache of downloads. Each is named and refused in one line, and nothing is made of it.
"""

import gzip
import struct

import numpy as np
import pytest

from secondorder import cli
from secondorder.datasets import places
from secondorder.papers.eacg.figures import networks
from secondorder.papers.reversible_gauss_newton.figures import training
from secondorder.studies import data

ROWS = 12
PIXELS = np.random.default_rng(0).integers(0, 256, (ROWS, 3072), dtype=np.uint8)
LABELS = np.arange(ROWS, dtype=np.uint8) % 10


def idx(values):
    """An IDX file of unsigned bytes, compressed."""
    head = struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape)
    return gzip.compress(head + values.astype(np.uint8).tobytes(), mtime=0)


def cifar(labels=LABELS):
    return b"".join(bytes([label]) + row.tobytes() for label, row in zip(labels, PIXELS))


def table(columns=12, text="0.5"):
    return "\n".join([",".join(["1.5"] * columns)] * 5 + [",".join(["2.5"] * (columns - 1) + [text])
                                                          ]).encode()


IMAGES = idx(PIXELS[:, :784].reshape(ROWS, 28, 28))
#: Set -> its folder, its files, the study that reads it, and the name that `train` knows it by.
SETS = {
    "idx": ("mnist", {"train-images-idx3-ubyte.gz": IMAGES, "train-labels-idx1-ubyte.gz":
                      idx(LABELS)}, ("low-rank", "figure-2"), "idx:mnist"),
    "cifar-10": ("cifar-10", {"data_batch_1.bin": cifar(), "test_batch.bin": cifar()},
                 ("ea-cg", "table-2"), "cifar-10:cifar-10"),
    "csv": ("uci-wine-red", {"data.csv": table()}, ("reversible-gauss-newton", "figure-15"),
            "csv:uci-wine-red")}
#: Set, file, what stands in it, what is said of it.
DAMAGES = {
    "idx truncated": ("idx", "train-images-idx3-ubyte.gz", IMAGES[:-20], "truncated gzip"),
    "idx corrupt": ("idx", "train-images-idx3-ubyte.gz", IMAGES[:-8] + bytes(8), "corrupt gzip"),
    "idx labels of others": ("idx", "train-labels-idx1-ubyte.gz", idx(LABELS[:-1]), "11 labels"),
    "idx a table": ("idx", "train-images-idx3-ubyte.gz", table(), "magic number"),
    "cifar-10 truncated": ("cifar-10", "data_batch_1.bin", cifar()[:-1], "whole number of records"),
    "cifar-10 corrupt": ("cifar-10", "data_batch_1.bin", cifar([77] + [0] * 11), "label 77"),
    "cifar-10 pickled": ("cifar-10", "data_batch_1.bin", b"\x80\x02}q\x01(U\x0bbatch_label",
                         "whole number of records"),
    "csv truncated": ("csv", "data.csv", table()[:-6], "entries, expected 12"),
    "csv corrupt": ("csv", "data.csv", table(text="0x5"), "'0x5' is not a finite number"),
    "csv something else": ("csv", "data.csv", IMAGES, "UTF-8")}
#: Files in order that are not of the set by whose name they go: a study refuses them.
MISLABELLED = {
    "images of another size": ("idx", "train-images-idx3-ubyte.gz", idx(
        PIXELS[:, :64].reshape(ROWS, 8, 8)), "64 values"),
    "labels of more classes": ("idx", "train-labels-idx1-ubyte.gz", idx(LABELS + 5), "label 14"),
    "another table": ("csv", "data.csv", table(9), "8 values")}


@pytest.fixture(autouse=True)
def forgetful(tmp_path, monkeypatch):
    """No set that was read before is remembered, and none is taken from elsewhere."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(places.DATA_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    remembered = data.images, networks.pictures, training.split
    for one in remembered:
        one.cache_clear()
    yield
    for one in remembered:
        one.cache_clear()


def put(kind, folder, file=None, content=None):
    """A set of a kind below a folder, with one file that holds something else."""
    name, files, study, known = SETS[kind]
    (folder / name).mkdir(parents=True)
    for one, right in files.items():
        (folder / name / one).write_bytes(content if one == file else right)
    return study, known


def refused(words, capsys, file, said):
    status, message = cli.main([str(word) for word in words]), capsys.readouterr().err
    line = message.splitlines()[-1]
    assert status == 2 and "Traceback" not in message, message
    assert "error: " in line and file in line and said in line, line


@pytest.mark.parametrize("damage", [*DAMAGES, *MISLABELLED])
def test_reproduce_refuses(damage, tmp_path, capsys):
    kind, file, content, said = (DAMAGES | MISLABELLED)[damage]
    study, _ = put(kind, tmp_path / "data", file, content)
    named = SETS[kind][0] if damage in MISLABELLED else file
    refused(["reproduce", *study, "--seeds", 1, "--data", tmp_path / "data", "--out", "made"],
            capsys, named, said)
    assert not [path for path in (tmp_path / "made").rglob("*") if path.is_file()]


@pytest.mark.parametrize("damage", DAMAGES)
def test_train_refuses(damage, tmp_path, monkeypatch, capsys):
    kind, file, content, said = DAMAGES[damage]
    _, known = put(kind, tmp_path / "data", file, content)
    monkeypatch.setenv(places.DATA_VARIABLE, str(tmp_path / "data"))
    refused(["train", "--data", known, "--epochs", 1, "--out", "made"], capsys, file, said)
    assert not (tmp_path / "made").exists() or not list((tmp_path / "made").iterdir())


@pytest.mark.parametrize("damage", ["idx truncated", "idx corrupt", "cifar-10 truncated",
                                    "cifar-10 corrupt"])
def test_a_download_that_was_damaged_later_is_refused(damage, capsys):
    kind, file, content, said = DAMAGES[damage]
    study, known = put(kind, places.cache(), file, content)
    refused(["reproduce", *study, "--seeds", 1, "--out", "made"], capsys, file, said)
    refused(["train", "--data", known, "--epochs", 1], capsys, file, said)


@pytest.mark.parametrize("kind", SETS)
def test_what_is_whole_is_taken(kind, tmp_path, monkeypatch, capsys):
    """The sets that are damaged above are good otherwise."""
    _, known = put(kind, tmp_path / "data")
    monkeypatch.setenv(places.DATA_VARIABLE, str(tmp_path / "data"))
    assert cli.main(["train", "--data", known, "--epochs", "1", "--batch-size", "4"]) == 0
    name = {"idx": "mnist", "cifar-10": "cifar-10", "csv": "wine-quality"}[kind]
    assert len(data.table(name) if kind == "csv" else data.images(name).labels) == (
        6 if kind == "csv" else ROWS)
