"""Tables and images from files: the three sets that come with the package, MNIST's IDX files, the
CIFAR-10 binary version, CSV tables of numbers.

Files may be packed with gzip. Whatever is wrong with one is an error that names it: nothing is half
read. A pickled data set is never opened, since unpickling runs code.
"""

import csv
import gzip
import importlib.resources
import importlib.util
import io
import math
import struct
from pathlib import Path

import numpy as np

from .. import checks
from ..checks import boolean, lookup
from ..files import damage_told, read_bytes
from .dataset import Dataset
from .places import find_directory, locate

CIFAR_RECORD = 1 + 3 * 32 * 32


# -- the sets that come with the package -----------------------------------------------------------


def load_digits():
    """Handwritten digits: 1797 images of 8 x 8 pixels, values 0 to 16, ten classes (`Dataset`)."""
    return _embedded("digits", "handwritten digits, 8 x 8 pixels (UCI, Alpaydin and Kaynak 1998, "
                     "CC BY 4.0)", np.int64, image_shape=(8, 8), input_range=(0.0, 16.0))


def load_wine():
    """Wines of three cultivars: 178 rows of 13 chemical measurements, labels 0 to 2 (`Dataset`)."""
    return _embedded("wine", "chemical analysis of wines of three cultivars (UCI, Aeberhard and "
                     "Forina 1992, CC BY 4.0)", np.int64)


def load_diabetes():
    """Diabetes progression: 442 patients, 10 measurements, one target (`Dataset`, regression)."""
    return _embedded("diabetes", "disease progression after one year (Efron, Hastie, Johnstone and "
                     "Tibshirani 2004)", float)


def _embedded(name, description, kind, **more):
    names, values = _table(_data_folder() / f"{name}.csv.gz")
    targets = values[:, -1].astype(kind) if kind is np.int64 else values[:, -1:]
    return Dataset(name, values[:, :-1], targets, names[:-1], description, **more)


def _data_folder():
    """The folder data/: a sub-package where installed, beside the package in a bare checkout."""
    if importlib.util.find_spec("secondorder.data") is not None:
        return importlib.resources.files("secondorder.data")
    return Path(__file__).resolve().parents[2] / "data"


# -- sets of yours ---------------------------------------------------------------------------------


def load_idx(directory, part="train"):
    """Images and labels in IDX files under the four standard names of MNIST and Fashion-MNIST.

    Parameters
    ----------
    directory : str or Path
        Holds ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte`` and the same with ``t10k``,
        each plain or ``.gz``.
    part : {"train", "test"}

    Returns
    -------
    Dataset
        Inputs of shape (N, H * W) with values 0 to 255.

    Raises
    ------
    FileNotFoundError, ValueError
        Naming the file that is missing, truncated, of another format, or disagrees with its
        partner.
    """
    folder = find_directory(directory)
    prefix = lookup({"train": "train", "test": "t10k"}, part, "part")
    images = _idx(_plain_or_gz(folder, f"{prefix}-images-idx3-ubyte"), 3)
    label_file = _plain_or_gz(folder, f"{prefix}-labels-idx1-ubyte")
    labels = _idx(label_file, 1)
    if not len(images) == len(labels) > 0:
        raise ValueError(f"{label_file}: {len(labels)} labels for {len(images)} images")
    return _images(folder.name, images, labels, f"IDX images from {folder.name}, {part} part")


def load_cifar10(directory, part="train"):
    """Images and labels of the CIFAR-10 binary version.

    Parameters
    ----------
    directory : str or Path
        Holds ``data_batch_1.bin`` (and up to 5) or ``test_batch.bin``, each plain or ``.gz``.
    part : {"train", "test"}
        The training part joins the batches that are there, in the order of their numbers; the
        description says how many there were.

    Returns
    -------
    Dataset
        Inputs of shape (N, 3072) with values 0 to 255, channel by channel.

    Raises
    ------
    FileNotFoundError, ValueError
        Naming the file that is missing, truncated or wrong.
    """
    folder = find_directory(directory)
    stems = lookup({"train": [f"data_batch_{k}.bin" for k in range(1, 6)],
                    "test": ["test_batch.bin"]}, part, "part")
    there = [folder / f"{stem}{end}" for stem in stems for end in ("", ".gz")
             if (folder / f"{stem}{end}").is_file()]
    if not there:
        raise FileNotFoundError(f"{folder}: no {stems[0]} of the CIFAR-10 binary version (the "
                                "pickled one is not read)")
    images, labels = (np.concatenate(arrays) for arrays in zip(*map(_cifar10, there)))
    return _images(folder.name, images, labels, f"CIFAR-10 images from {folder.name}, {part} part, "
                   f"{len(there)} of {len(stems)} files")


def load_csv(path, target=-1, classification=False):
    """Table of numbers with one target column.

    Parameters
    ----------
    path : str or Path
        A CSV file, plain or gzip-compressed; or a directory with ``data.csv`` or ``data.csv.gz``.
        The first line holds names where none of its entries is a number; else columns are
        ``column_0`` and on.
    target : int or str
        Column of the target, by its place (negative: from the end) or its name; the last one by
        default.
    classification : bool
        Whether the target is a class label (whole numbers from 0) instead of a real number.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError, ValueError
        Naming the file, and the line where one is at fault; or the columns, where `target` is none
        of them.
    """
    place = locate(checks.path(path, "path"))
    file = _plain_or_gz(place, "data.csv") if place.is_dir() else place
    names, values = _table(file)
    chosen = [i for i, name in enumerate(names) if target in (name, i, i - len(names))]
    if len(chosen) != 1 or len(names) < 2:
        raise ValueError(f"target: expected one of {len(names)} columns of {file}, "
                         f"{', '.join(map(repr, names))}, and others for the inputs; got "
                         f"{checks.shown(target)}")
    column, others = values[:, chosen[0]], np.delete(np.arange(len(names)), chosen)
    targets = column[:, None]
    if boolean(classification, "classification"):
        targets = column.astype(np.int64)
        if (targets != column).any() or targets.min() < 0:
            raise ValueError(f"{file}: class labels must be whole numbers from 0, column "
                             f"{names[chosen[0]]!r} holds others")
    return Dataset(file.name.split(".")[0], values[:, others], targets,
                   tuple(names[i] for i in others), f"table {file.name}")


def _plain_or_gz(folder, name):
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise FileNotFoundError(f"{folder}: no file {name} or {name}.gz")


def _images(name, images, labels, description):
    shape = images.shape[1:]
    pixels = tuple("pixel_" + "_".join(map(str, index)) for index in np.ndindex(*shape))
    return Dataset(name, images.reshape(len(images), -1).astype(np.float64),
                   labels.astype(np.int64), pixels, description, shape, (0.0, 255.0))


# -- formats ---------------------------------------------------------------------------------------


def _unpacked(raw):
    """What begins as gzip does is unpacked."""
    return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw


def _idx(path, dimensions):
    """Array of unsigned bytes with so many dimensions: 3 for images, 1 for labels."""
    raw = read_bytes(path)
    with damage_told(path, "an IDX file of unsigned bytes"):
        content = _unpacked(raw)
        zero, code, count = struct.unpack_from(">HBB", content)
        if (zero, code, count) != (0, 8, dimensions):
            raise ValueError(f"wrong magic number 0x{content[:4].hex()}")
        header = 4 + 4 * dimensions
        shape = struct.unpack_from(f">{dimensions}I", content, 4)
        if len(content) != header + math.prod(shape):
            raise ValueError(f"{len(content)} bytes, its header {shape} asks for "
                             f"{header + math.prod(shape)}")
        return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def _cifar10(path):
    """Images (N, 3, 32, 32) of bytes and labels (N,).

    A record is one label byte and 3072 pixel bytes: the red, green and blue planes of 32 x 32
    pixels.
    """
    raw = read_bytes(path)
    with damage_told(path, "a CIFAR-10 binary file"):
        content = _unpacked(raw)
        if not content or len(content) % CIFAR_RECORD:
            raise ValueError(f"{len(content)} bytes, not a whole number of records of "
                             f"{CIFAR_RECORD}")
        table = np.frombuffer(content, np.uint8).reshape(-1, CIFAR_RECORD)
        if table[:, 0].max() > 9:
            raise ValueError(f"label {table[:, 0].max()}, beyond 9")
        return table[:, 1:].reshape(-1, 3, 32, 32), table[:, 0]


def _table(path):
    """Names and numbers (rows, columns) of a CSV file."""
    raw = read_bytes(path)
    with damage_told(path, "a table of numbers"):
        reader = csv.reader(io.StringIO(_unpacked(raw).decode("utf-8-sig"), newline=""))
        rows = [(reader.line_num, row) for row in reader if row]
        names = None
        if rows and not any(map(_is_number, rows[0][1])):
            names = tuple(entry.strip() for entry in rows.pop(0)[1])
        if not rows:
            raise ValueError("an empty table")
        names = names or tuple(f"column_{i}" for i in range(len(rows[0][1])))
        for number, row in rows:
            if len(row) != len(names):
                raise ValueError(f"line {number}: {len(row)} entries, expected {len(names)}")
            for name, entry in zip(names, row):
                if not (_is_number(entry) and math.isfinite(float(entry))):
                    raise ValueError(f"line {number}: {checks.shown(entry)} is not a finite number "
                                     f"(column {name!r})")
        return names, np.array([row for _, row in rows], dtype=np.float64)


def _is_number(entry):
    try:
        float(entry)
    except ValueError:
        return False
    return True
