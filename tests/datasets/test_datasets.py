"""Embedded data, the readers of public formats, splitting and scaling; every kind of damage is
refused by name."""

import gzip
import os
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

from secondorder import datasets
from secondorder.datasets import formats

ROOT = Path(__file__).resolve().parents[2]


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


@pytest.mark.parametrize(
    "name, rows, columns, classes",
    [("digits", 1797, 64, 10), ("wine", 178, 13, 3), ("diabetes", 442, 10, None)]
)
def test_embedded(name, rows, columns, classes):
    data = datasets.load(name)
    assert data.inputs.shape == (rows, columns) and data.inputs.dtype == np.float64
    assert data.classes == classes and len(data) == rows and len(data.names) == columns
    assert data.targets.shape == ((rows, 1) if classes is None else (rows,))
    assert np.isfinite(data.inputs).all()


def test_embedded_facts():
    digits, wine, diabetes = datasets.load_digits(), datasets.load_wine(), datasets.load_diabetes()
    assert digits.targets[:10].tolist() == list(range(10))
    assert np.bincount(digits.targets).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174,
                                                    180]
    assert (digits.inputs.min(),
            digits.inputs.max()) == digits.input_range and digits.image_shape == (8, 8)
    assert (
        np.bincount(wine.targets).tolist() == [59, 71, 48] and wine.names[0] == "alcohol"
        and wine.inputs[0, 0] == 14.23
    )
    assert (
        diabetes.targets[0, 0] == 151
        and diabetes.inputs[0, 2] == 32.1
        and diabetes.names[2] == "bmi"
    )


@pytest.mark.parametrize("damage", ["truncated", "changed", "missing"])
def test_damaged_embedded_file_is_named(folder, monkeypatch, damage):
    shutil.copytree(ROOT / "data", folder / "data")
    file = folder / "data" / "wine.csv.gz"
    raw = bytearray(file.read_bytes())
    if damage == "missing":
        file.unlink()
    else:
        raw[100] ^= 1
        file.write_bytes(raw[:-7] if damage == "truncated" else raw)
    monkeypatch.setattr(datasets.embedded, "_data_folder", lambda: folder / "data")
    with pytest.raises(FileNotFoundError if damage == "missing" else ValueError,
                       match="wine.csv.gz"):
        datasets.load_wine()
    assert len(datasets.load_digits()) == 1797


@pytest.mark.filterwarnings("ignore:.* without a sample")
def test_idx_plain_and_gz(folder):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (7, 3, 5)), rng.integers(0, 10, 7)
    write_idx(folder, images, labels)
    write_idx(folder, images[:2], labels[:2], "t10k", gzip.compress, ".gz")
    data, test = datasets.load_idx(folder), datasets.load(f"idx:{folder}", part="test")
    assert np.array_equal(data.inputs,
                          images.reshape(7, 15)) and np.array_equal(data.targets, labels)
    assert (
        data.image_shape == (3, 5)
        and data.input_range == (0.0, 255.0)
        and data.names[5] == "pixel_1_0"
    )
    assert np.array_equal(test.inputs, images[:2].reshape(2, 15))


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda b: b[:-1], "truncated IDX"),
        (lambda b: b + b"\0", "too long"),
        (lambda b: b[:3], "truncated IDX"),
        (lambda b: b[:9], "truncated IDX header"),
        (lambda b: b"\1" + b[1:], "magic number"),
        (lambda b: b[:2] + b"\x0e" + b[3:], "magic number"),
        (lambda b: b[:3] + b"\1" + b[4:], "dimensions"),
        (lambda b: gzip.compress(b)[:-9], "truncated gzip"),
        (lambda b: gzip.compress(b)[:-8] + b"\0" * 8, "corrupt gzip"),
        (lambda b: b"\x1f\x8b" + b[2:], "corrupt gzip"),
    ],
)
def test_damaged_idx_is_named(folder, damage, message):
    write_idx(folder, np.ones((3, 4, 4)), [0, 1, 2])
    file = folder / "train-images-idx3-ubyte"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ValueError, match=f"train-images-idx3-ubyte.*{message}"):
        datasets.load_idx(folder)


def test_idx_partners_must_agree(folder):
    write_idx(folder, np.ones((3, 4, 4)), [0, 1])
    with pytest.raises(ValueError, match="train-labels-idx1-ubyte: 2 labels for the 3 images"):
        datasets.load_idx(folder)
    (folder / "train-labels-idx1-ubyte").unlink()
    with pytest.raises(FileNotFoundError, match="train-labels"):
        datasets.load_idx(folder)


def test_cifar10(folder):
    rng = np.random.default_rng(1)
    records = rng.integers(0, 256, (5, 3073), dtype=np.uint8)
    records[:, 0] = [3, 1, 9, 0, 5]
    (folder / "data_batch_1.bin").write_bytes(records[:3].tobytes())
    (folder / "data_batch_2.bin.gz").write_bytes(gzip.compress(records[3:].tobytes()))
    data = datasets.load_cifar10(folder)
    assert np.array_equal(data.inputs, records[:, 1:]) and data.targets.tolist() == [3, 1, 9, 0, 5]
    images, _ = formats.read_cifar10(folder / "data_batch_1.bin")
    assert images[1, 2, 4, 6] == records[1, 1 + 2 * 1024 + 4 * 32 + 6]
    with pytest.raises(FileNotFoundError, match="test_batch.bin"):
        datasets.load_cifar10(folder, "test")


@pytest.mark.parametrize(
    "content, message", [(b"", "0 bytes"), (bytes(3072), "3072 bytes"),
                         (b"\x0a" + bytes(3072), "label 10")]
)
def test_damaged_cifar10_is_named(folder, content, message):
    (folder / "test_batch.bin").write_bytes(content)
    with pytest.raises(ValueError, match=f"test_batch.bin.*{message}"):
        datasets.load_cifar10(folder, "test")


def test_csv(folder):
    (folder / "data.csv").write_text("a,b,y\n1,2,3\n4,5,6\n\n")
    data = datasets.load_csv(folder)
    assert (
        data.names == ("a", "b")
        and data.inputs.tolist() == [[1, 2], [4, 5]]
        and data.targets.tolist() == [[3], [6]]
    )
    (folder / "bare.csv").write_bytes(gzip.compress(b"1,2,0\n4,5,1\n"))
    bare = datasets.load_csv(folder / "bare.csv", classification=True)
    assert bare.names == ("column_0",
                          "column_1") and bare.targets.tolist() == [0, 1] and bare.classes == 2
    first = datasets.load_csv(folder / "bare.csv", target=0)
    assert first.inputs.tolist() == [[2, 0], [5, 1]] and first.targets.tolist() == [[1], [4]]


@pytest.mark.parametrize(
    "text, message",
    [
        ("1,2\n3", "line 2: 1 entries, expected 2"),
        ("1,2\n3,nan", "line 2: 'nan' is not"),
        ("a,b\n", "empty table"),
        ("", "empty table"),
        ("1\n2\n", "target column -1 of a table with 1 columns"),
    ],
)
def test_damaged_csv_is_named(folder, text, message):
    (folder / "data.csv").write_text(text)
    with pytest.raises(ValueError, match=f"data.csv.*{message}"):
        datasets.load_csv(folder)


def test_csv_target_by_name(folder):
    (folder / "data.csv").write_text("size,quality,price\n1,2,3\n4,5,6\n")
    for target in ("quality", 1, -2, np.int64(1)):
        data = datasets.load_csv(folder, target=target)
        assert data.names == ("size", "price") and data.targets.tolist() == [[2], [5]]
        assert data.inputs.tolist() == [[1, 3], [4, 6]]
    (folder / "bare.csv").write_text("1,2\n4,5\n")
    assert datasets.load_csv(folder / "bare.csv", target="column_0").targets.tolist() == [[1], [4]]


@pytest.mark.parametrize("target, error, words", [
    ("quality", ValueError, "no columns 'quality'"), (-5, ValueError, "no columns -5"),
    (True, TypeError, "given True")])
def test_csv_target_that_is_not_there(folder, target, error, words):
    (folder / "data.csv").write_text("a,b,c,y\n1,2,3,4\n")
    with pytest.raises(error, match=f"^target: .*{words}.*its columns are 'a', 'b', 'c', 'y'$"):
        datasets.load_csv(folder, target=target)


def test_csv_class_labels_and_binary(folder):
    (folder / "data.csv").write_text("1,0.5\n")
    with pytest.raises(ValueError, match="whole numbers"):
        datasets.load_csv(folder, classification=True)
    (folder / "data.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="data.csv: not a text file"):
        datasets.load_csv(folder)


def test_directory_from_environment(folder, monkeypatch):
    (folder / "inner").mkdir()
    (folder / "inner" / "data.csv").write_text("1,2\n")
    with pytest.raises(FileNotFoundError,
                       match=f"tried inner.*{datasets.DATA_VARIABLE} is not set"):
        datasets.load_csv("inner")
    monkeypatch.setenv(datasets.DATA_VARIABLE, str(folder))
    assert datasets.load_csv("inner").inputs.tolist() == [[1]]
    with pytest.raises(FileNotFoundError, match="nowhere"):
        datasets.load("csv:nowhere")


def test_split_is_a_partition():
    data = datasets.load_wine()
    training, validation = datasets.split(data, 0.25, rng=3)
    assert len(validation) == 44 and len(training) == 134
    joined = np.concatenate([training.inputs, validation.inputs])
    assert np.array_equal(joined[np.lexsort(joined.T)], data.inputs[np.lexsort(data.inputs.T)])
    row = {tuple(x): y for x, y in zip(data.inputs, data.targets)}
    assert all(row[tuple(x)] == y for x, y in zip(validation.inputs, validation.targets))
    again = datasets.split(data, 44, rng=np.random.default_rng(3))
    assert np.array_equal(again[0].inputs, training.inputs)
    assert not np.array_equal(datasets.split(data, 0.25, rng=4)[0].inputs, training.inputs)
    (x, y), (xv, yv) = datasets.split((data.inputs, data.targets), 0.25, rng=3)
    assert np.array_equal(xv, validation.inputs) and np.array_equal(y, training.targets)


@pytest.mark.parametrize("validation, error", [(178, ValueError), (float("nan"), ValueError),
                                               (True, TypeError)])
def test_split_refuses(validation, error):
    with pytest.raises(error, match="validation"):
        datasets.split(datasets.load_wine(), validation)


def test_scale_uses_the_range_of_the_format():
    data = datasets.load_digits()
    part = datasets.split(data, 5, rng=0)[1]
    scaled = datasets.scale(part, (-1, 1))
    np.testing.assert_allclose(scaled.inputs, part.inputs / 8 - 1, rtol=0, atol=1e-15)
    assert scaled.input_range == (-1, 1)
    np.testing.assert_allclose(datasets.scale(scaled, (0, 16)).inputs, part.inputs, rtol=0,
                               atol=1e-14)
    with pytest.raises(ValueError, match="no range"):
        datasets.scale(datasets.load_wine())
    with pytest.raises(ValueError, match="interval"):
        datasets.scale(data, (1, 1))


def test_standardisation():
    training, validation = datasets.split(datasets.load_diabetes(), 0.3, rng=0)
    rule = datasets.Standardisation.fit(training.inputs)
    z = rule.apply(training.inputs)
    np.testing.assert_allclose(z.mean(0), 0, atol=1e-13)
    np.testing.assert_allclose((z**2).mean(0), 1, rtol=1e-12)
    assert np.abs(rule.apply(validation.inputs).mean(0)).max() > 1e-3, (
        "fitted on the training part, not on this one"
    )
    np.testing.assert_allclose(rule.undo(rule.apply(validation.inputs)), validation.inputs,
                               rtol=1e-12)
    constant = datasets.Standardisation.fit(np.full((4, 1), 7.0))
    assert constant.apply(np.array([[7.0], [8.0]])).tolist() == [[0], [1]]


def needs(folder):
    """Mark of a test that reads real data, which is there only where the environment says so."""
    shelf = os.environ.get(datasets.DATA_VARIABLE)
    there = shelf is not None and (Path(shelf) / folder).is_dir()
    return pytest.mark.skipif(not there,
                              reason=f"{datasets.DATA_VARIABLE} names no directory with {folder}")


@needs("mnist-subset")
def test_real_mnist_subset():
    for part, rows in (("train", 8000), ("test", 2000)):
        data = datasets.load("idx:mnist-subset", part)
        assert data.inputs.shape == (rows, 784) and data.classes == 10 and data.inputs.max() == 255


@needs("cifar-10-subset")
def test_real_cifar_subset():
    data = datasets.load("cifar-10:cifar-10-subset", "test")
    assert data.inputs.shape == (2000, 3072) and np.bincount(data.targets).tolist() == [200] * 10
