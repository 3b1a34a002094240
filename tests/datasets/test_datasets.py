"""Embedded data, the readers of public formats, splitting and scaling; damage is told by name."""

import gzip
import os
import struct
from pathlib import Path

import numpy as np
import pytest

from secondorder import datasets


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv(datasets.DATA_VARIABLE, raising=False)
    return tmp_path


def idx(values):
    values = np.asarray(values, np.uint8)
    return struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape) + values.tobytes()


def write_idx(folder, images, labels, prefix="train", pack=bytes, end=""):
    (folder / f"{prefix}-images-idx3-ubyte{end}").write_bytes(pack(idx(images)))
    (folder / f"{prefix}-labels-idx1-ubyte{end}").write_bytes(pack(idx(labels)))


@pytest.mark.parametrize("name, rows, columns, classes", [
    ("digits", 1797, 64, [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]),
    ("wine", 178, 13, [59, 71, 48]), ("diabetes", 442, 10, None)])
def test_embedded(name, rows, columns, classes):
    data = datasets.load(name)
    assert data.inputs.shape == (rows, columns) and data.inputs.dtype == np.float64
    assert len(data) == rows and len(data.names) == columns
    if classes is None:
        assert data.classes is None and data.targets.shape == (rows, 1)
        assert data.targets[0, 0] == 151 and data.inputs[0, 2] == 32.1 and data.names[2] == "bmi"
    else:
        assert np.bincount(data.targets).tolist() == classes and data.classes == len(classes)


def test_idx_plain_and_gz(folder):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (7, 3, 5)), rng.integers(0, 10, 7)
    write_idx(folder, images, labels)
    write_idx(folder, images[:2], labels[:2], "t10k", gzip.compress, ".gz")
    data, test = datasets.load_idx(folder), datasets.load(f"idx:{folder}", part="test")
    assert np.array_equal(data.inputs, images.reshape(7, 15))
    assert np.array_equal(data.targets, labels) and np.array_equal(test.inputs, data.inputs[:2])
    assert (data.image_shape, data.input_range, data.names[5]) == ((3, 5), (0, 255), "pixel_1_0")


def test_cifar10(folder):
    records = np.random.default_rng(1).integers(0, 256, (5, 3073), dtype=np.uint8)
    records[:, 0] = [3, 1, 9, 0, 5]
    (folder / "data_batch_1.bin").write_bytes(records[:3].tobytes())
    (folder / "data_batch_2.bin.gz").write_bytes(gzip.compress(records[3:].tobytes()))
    data = datasets.load(f"cifar-10:{folder}")
    assert np.array_equal(data.inputs, records[:, 1:]) and data.targets.tolist() == [3, 1, 9, 0, 5]
    assert data.image_shape == (3, 32, 32) and "2 of 5 files" in data.description
    with pytest.raises(FileNotFoundError, match="test_batch.bin"):
        datasets.load_cifar10(folder, "test")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv(folder, end):
    (folder / "data.csv").write_bytes(end.join(["a,b,y", "1,2,3", "4,5,6", "", ""]).encode())
    data = datasets.load_csv(folder)
    assert data.names == ("a", "b") and data.inputs.tolist() == [[1, 2], [4, 5]]
    assert data.targets.tolist() == [[3], [6]]
    for target in ("b", 1, -2):
        data = datasets.load(f"csv:{folder}", target=target, classification=True)
        assert data.names == ("a", "y") and data.targets.tolist() == [2, 5] and data.classes == 6
    (folder / "bare.csv").write_bytes(gzip.compress(b"1,2,0\n4,5,1\n"))
    bare = datasets.load_csv(folder / "bare.csv", target="column_0")
    assert bare.inputs.tolist() == [[2, 0], [5, 1]] and bare.targets.tolist() == [[1], [4]]


IMAGES, CIFAR = idx(np.ones((3, 4, 4))), bytes(3073)


@pytest.mark.parametrize("name, content", [
    *(("train-images-idx3-ubyte", content) for content in (
        IMAGES[:-1], IMAGES + b"\0", b"\1" + IMAGES[1:], IMAGES[:3] + b"\1" + IMAGES[4:],
        gzip.compress(IMAGES, mtime=0)[:-9], b"\x1f\x8b" + IMAGES[2:])),
    *(("data_batch_1.bin", content) for content in (b"", CIFAR[1:], b"\x0a" + CIFAR[1:])),
    *(("data.csv", content) for content in (
        b"", b"a,b\n", b"1,2\n3", b"1,2\n3,nan", b"1,2\n3,cat", b"\xff\xfe\x00"))])
def test_a_damaged_file_is_named(folder, name, content):
    write_idx(folder, np.ones((3, 4, 4)), [0, 1, 2])
    (folder / name).write_bytes(content)
    read = {"train": datasets.load_idx, "data_": datasets.load_cifar10, "data.": datasets.load_csv}
    with pytest.raises(ValueError, match=name):
        read[name[:5]](folder)


def test_a_folder_from_the_environment(folder, monkeypatch):
    (folder / "inner").mkdir()
    (folder / "inner" / "data.csv").write_text("1,2\n")
    with pytest.raises(FileNotFoundError, match=f"inner.*{datasets.DATA_VARIABLE} is not set"):
        datasets.load_csv("inner")
    monkeypatch.setenv(datasets.DATA_VARIABLE, str(folder))
    assert datasets.load_csv("inner").inputs.tolist() == [[1]]


def test_split_is_a_partition():
    data = datasets.load_wine()
    training, validation = datasets.split(data, 0.25, rng=3)
    assert len(validation) == 44 and len(training) == 134
    joined = np.concatenate([training.inputs, validation.inputs])
    assert np.array_equal(joined[np.lexsort(joined.T)], data.inputs[np.lexsort(data.inputs.T)])
    row = {tuple(x): y for x, y in zip(data.inputs, data.targets)}
    assert all(row[tuple(x)] == y for x, y in zip(validation.inputs, validation.targets))
    (x, y), (xv, yv) = datasets.split((data.inputs, data.targets), 44, np.random.default_rng(3))
    assert np.array_equal(xv, validation.inputs) and np.array_equal(y, training.targets)


def test_scale_uses_the_range_of_the_format():
    part = datasets.split(datasets.load_digits(), 5, rng=0)[1]
    scaled = datasets.scale(part, (-1, 1))
    np.testing.assert_allclose(scaled.inputs, part.inputs / 8 - 1, rtol=0, atol=1e-15)
    assert scaled.input_range == (-1, 1)


def test_standardisation():
    training, validation = datasets.split(datasets.load_diabetes(), 0.3, rng=0)
    rule = datasets.Standardisation.fit(training.inputs)
    z = rule.apply(training.inputs)
    np.testing.assert_allclose(z.mean(0), 0, atol=1e-13)
    np.testing.assert_allclose((z**2).mean(0), 1, rtol=1e-12)
    np.testing.assert_allclose(rule.undo(rule.apply(validation.inputs)), validation.inputs,
                               rtol=1e-12)
    constant = datasets.Standardisation.fit(np.full((1000, 1), 0.1))
    assert constant.apply(np.array([[0.1], [1.1]])).tolist() == [[0], [1]]


@pytest.mark.parametrize("call, error, name", [
    (lambda: datasets.load("mnist"), ValueError, "csv:FILE"),
    (lambda: datasets.load("digits", "tset"), ValueError, "part"),
    (lambda: datasets.load("digits", "test"), ValueError, "part"),
    (lambda: datasets.load("digits", target=1), TypeError, "target"),
    (lambda: datasets.split(datasets.load_wine(), 178), ValueError, "validation"),
    (lambda: datasets.split((np.ones(3), np.ones(4))), ValueError, "data"),
    (lambda: datasets.scale(datasets.load_wine()), ValueError, "wine.*no range"),
    (lambda: datasets.scale(datasets.load_digits(), (1, 1)), ValueError, "interval"),
    (lambda: datasets.Standardisation.fit(np.ones(3)), ValueError, "values"),
    (lambda: datasets.download("mnits"), ValueError, "mnist")])
def test_doors(call, error, name):
    with pytest.raises(error, match=name):
        call()


@pytest.mark.parametrize("options, name", [
    ({"target": "z"}, "target"), ({"target": -4}, "target"), ({"classification": True}, "'y'")])
def test_columns_that_are_not_there_and_labels_that_are_none(folder, options, name):
    (folder / "data.csv").write_text("a,b,y\n1,2,0.5\n")
    with pytest.raises(ValueError, match=name):
        datasets.load_csv(folder, **options)


@pytest.mark.parametrize("name, shape", [("idx:mnist-subset", (2000, 784)),
                                         ("cifar-10:cifar-10-subset", (2000, 3072))])
def test_real_images(name, shape):
    shelf = os.environ.get(datasets.DATA_VARIABLE, "")
    if not (Path(shelf) / name.partition(":")[2]).is_dir() or not shelf:
        pytest.skip(f"{datasets.DATA_VARIABLE} names no directory with {name}")
    data = datasets.load(name, "test")
    assert data.inputs.shape == shape and data.classes == 10 and data.inputs.max() == 255
