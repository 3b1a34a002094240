"""Data: three embedded tables, loaders for the public formats, splitting and scaling.

The embedded sets need no network: `load_digits`, `load_wine`, `load_diabetes`.
`load_idx`, `load_cifar10` and `load_csv` read a directory of yours. A relative name is looked up
first in the directory that the environment variable ``SECONDORDER_DATA`` names (where it is set),
then in the current directory.

>>> from secondorder import datasets
>>> training, validation = datasets.split(datasets.load_digits(), validation=397, rng=0)
>>> training = datasets.scale(training, (-1.0, 1.0))
>>> training.inputs.shape, validation.targets.shape
((1400, 64), (397,))
"""

import hashlib
import importlib.resources
import importlib.util
import os
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from secondorder import checks, formats
from secondorder.checks import boolean, instance_of, lookup, one_of, plain_array, real_array
from secondorder.randomness import generator

__all__ = ["Dataset", "Standardisation", "find_directory", "load", "load_cifar10", "load_csv",
           "load_diabetes", "load_digits", "load_idx", "load_wine", "scale", "split"]
LARGEST_LABEL = 2**16 - 1
DATA_VARIABLE = "SECONDORDER_DATA"
CHECKSUMS = {"digits.csv.gz": "ac63c06f4e775b7c87f62608ff4d9571211c7bc7a15b945573b7675eb2e63a84",
             "wine.csv.gz": "2249c3a9d01ef65842437b74221a8902144c8dcc0c2034583593d64f312a1764",
             "diabetes.csv.gz": "d3243b769facb3bebc07a557edefc8275c9fb9ac4ede4aea559d7e3206abd013"}


@dataclass(frozen=True, eq=False)
class Dataset:
    """Inputs and targets with what one has to know about them.

    Attributes
    ----------
    name : str
    inputs : ndarray of float64, shape (N, D)
    targets : ndarray
        Class labels, int64 of shape (N,), or float64 of shape (N, 1) for regression.
    names : tuple of str
        Names of the D inputs.
    description : str
    image_shape : tuple of int or None
        Shape of one input as an image, (H, W) or (C, H, W); None for tables.
    input_range : tuple of float or None
        Smallest and largest value that the file format allows; None where it sets no bounds.
    """

    name: str
    inputs: np.ndarray
    targets: np.ndarray
    names: tuple
    description: str
    image_shape: tuple | None = None
    input_range: tuple | None = None

    @property
    def classes(self):
        """Number of classes, or None for regression."""
        return None if self.targets.ndim == 2 else int(self.targets.max()) + 1

    def __len__(self):
        return len(self.inputs)


def load_digits():
    """Handwritten digits: 1797 images of 8 x 8 pixels, values 0 to 16, ten classes (`Dataset`)."""
    names, values = _embedded("digits.csv.gz")
    description = "handwritten digits, 8 x 8 pixels (UCI, Alpaydin and Kaynak 1998, CC BY 4.0)"
    labels = values[:, -1].astype(np.int64)
    return Dataset("digits", values[:, :-1], labels, names[:-1], description, (8, 8), (0.0, 16.0))


def load_wine():
    """Wines of three cultivars: 178 rows of 13 chemical measurements, labels 0 to 2 (`Dataset`)."""
    names, values = _embedded("wine.csv.gz")
    description = ("chemical analysis of wines of three cultivars (UCI, Aeberhard and Forina 1992, "
                   "CC BY 4.0)")
    return Dataset("wine", values[:, :-1], values[:, -1].astype(np.int64), names[:-1], description)


def load_diabetes():
    """Diabetes progression: 442 patients, 10 measurements, one target (`Dataset`, regression)."""
    names, values = _embedded("diabetes.csv.gz")
    description = ("disease progression after one year (Efron, Hastie, Johnstone and Tibshirani "
                   "2004)")
    return Dataset("diabetes", values[:, :-1], values[:, -1:], names[:-1], description)


FORMS = ("idx:FOLDER", "cifar-10:FOLDER", "csv:FILE")
EMBEDDED = {"digits": load_digits, "wine": load_wine, "diabetes": load_diabetes}


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
    prefix = _part(part, {"train": "train", "test": "t10k"})
    image_file = _plain_or_gz(folder, f"{prefix}-images-idx3-ubyte")
    label_file = _plain_or_gz(folder, f"{prefix}-labels-idx1-ubyte")
    images, labels = formats.read_idx(image_file, 3), formats.read_idx(label_file, 1)
    if len(images) != len(labels):
        raise ValueError(f"{label_file}: {len(labels)} labels for the {len(images)} images of "
                         f"{image_file}")
    if images.dtype != np.uint8 or labels.dtype != np.uint8 or images.size == 0:
        raise ValueError(f"{image_file}: expected images and labels of unsigned bytes, and at "
                         "least one image")
    return _images(folder.name, images, labels.astype(np.int64),
                   f"IDX images from {folder.name}, {part} part")


def load_cifar10(directory, part="train"):
    """Images and labels of the CIFAR-10 binary version.

    Parameters
    ----------
    directory : str or Path
        Holds ``data_batch_1.bin`` (and up to 5) or ``test_batch.bin``, each plain or ``.gz``.
    part : {"train", "test"}
        The training part joins the batches that are there, in the order of their numbers; the first
        ones are enough (the description says how many there were), a gap between them is an error.

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
    stems = _part(
        part, {"train": [f"data_batch_{k}.bin" for k in range(1, 6)], "test": ["test_batch.bin"]})
    there = [stem for stem in stems if any((folder / f"{stem}{end}").is_file()
                                           for end in ("", ".gz"))]
    missing = [stem for stem in stems if stem not in there and (not there or stem < there[-1])]
    if missing:
        pickled = "" if there else " of the CIFAR-10 binary version (the pickled one is not read)"
        raise FileNotFoundError(f"{folder}: no {missing[0]}{pickled}")
    parts = [formats.read_cifar10(_plain_or_gz(folder, stem)) for stem in there]
    images, labels = (np.concatenate(arrays) for arrays in zip(*parts))
    some = "" if len(there) == len(stems) else f", {len(there)} of {len(stems)} batches"
    return _images(folder.name, images, labels,
                   f"CIFAR-10 images from {folder.name}, {part} part{some}")


def load_csv(path, target=-1, classification=False, header=None):
    """Table of numbers with one target column.

    Parameters
    ----------
    path : str or Path
        A CSV file, plain or gzip-compressed, with or without a header line; or a directory with
        ``data.csv`` or ``data.csv.gz``.
    target : int or str
        Column of the target, by its place (negative: from the end) or its name in the header; the
        last one by default.
    classification : bool
        Whether the target is a class label (whole numbers from 0) instead of a real number.
    header : bool, optional
        Whether the first line holds names; by default it does where none of its entries is a
        number.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError, ValueError
        Naming the file, and the line where one is at fault; or the columns, where `target` is none
        of them.
    TypeError
        If `target` is neither a whole number nor a name.
    """
    place, classification = (_locate(checks.path(path, "path")),
                             boolean(classification, "classification"))
    if header is not None:
        boolean(header, "header")
    file = _plain_or_gz(place, "data.csv") if place.is_dir() else place
    names, values = formats.parse_csv(formats.read_bytes(file), file, header)
    chosen = _column(target, names, file)
    column = values[:, chosen]
    if classification and not (np.all(column == column.round()) and column.min() >= 0):
        raise ValueError(f"{file}: class labels must be whole numbers from 0, column "
                         f"{names[chosen]!r} holds others")
    if classification and column.max() > LARGEST_LABEL:
        raise ValueError(f"{file}: column {names[chosen]!r} holds the class label "
                         f"{column.max():g}; labels count the classes from 0, the largest that is "
                         f"taken is {LARGEST_LABEL}")
    targets = column.astype(np.int64) if classification else column[:, None].copy()
    kept = np.delete(np.arange(len(names)), chosen)
    return Dataset(file.name.split(".")[0], values[:, kept], targets, tuple(names[i] for i in kept),
                   f"table {file.name}")


def load(name, part="train", **options):
    """Data set by name, embedded or ``idx:FOLDER``, ``cifar-10:FOLDER``, ``csv:FILE``.

    Parameters
    ----------
    name : str
    part : {"train", "test"}
        Which part of an IDX or CIFAR-10 folder; the others have no parts.
    **options
        For a CSV file: `target`, `classification` and `header` as `load_csv` takes them.

    Returns
    -------
    Dataset

    Raises
    ------
    TypeError
        For options that the data set does not take.
    ValueError
        For an unknown name, with the closest known one; for the test part of a data set without
        parts.
    """
    one_of(("train", "test"), part, "part")
    kind, _, place = name.partition(":") if isinstance(name, str) else ("", "", "")
    unknown = set(options) - {"target", "classification", "header"} if kind == "csv" else options
    if unknown:
        raise TypeError(f"data set {name!r} takes no {', '.join(unknown)}; csv:FILE takes target, "
                        "classification, header")
    if place and kind in ("idx", "cifar-10"):
        return {"idx": load_idx, "cifar-10": load_cifar10}[kind](place, part)
    table = bool(place) and kind == "csv"
    if not table:
        one_of([*EMBEDDED, *FORMS], name, "data set")
    if part != "train":
        raise ValueError(f"part: data set {name!r} has no parts; use split")
    return load_csv(place, **options) if table else EMBEDDED[name]()


def split(data, validation=0.2, rng=None):
    """Two disjoint parts, drawn without replacement.

    Parameters
    ----------
    data : Dataset, array or tuple of arrays
        Arrays share their first axis, e.g. ``(x, y)``.
    validation : float or int
        Fraction of the rows, strictly between 0 and 1, or a number of rows.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    training, validation : of the kind given
        The same seed gives the same parts.

    Raises
    ------
    TypeError, ValueError
        If the lengths differ or a part would be empty.
    """
    if isinstance(data, Dataset):
        arrays = data.inputs, data.targets
    elif isinstance(data, (tuple, list)):
        arrays = tuple(plain_array(a, "data") for a in data)
    elif isinstance(data, np.ndarray):
        arrays = (plain_array(data, "data"),)
    else:
        raise TypeError("data must be a Dataset, an array or a tuple of arrays, got "
                        f"{type(data).__name__}")
    rows = len(arrays[0]) if arrays and arrays[0].ndim else 0
    if any(a.ndim == 0 or len(a) != rows for a in arrays):
        raise ValueError("data: arrays must share their first axis, given shapes "
                         f"{[a.shape for a in arrays]}")
    held_out = _held_out(validation, rows)
    order = generator(rng).permutation(rows)
    parts = [[a[chosen] for a in arrays] for chosen in (order[held_out:], order[:held_out])]
    if isinstance(data, Dataset):
        return tuple(replace(data, inputs=x, targets=y) for x, y in parts)
    if isinstance(data, np.ndarray):
        return tuple(part for (part,) in parts)
    return tuple(tuple(part) for part in parts)


def scale(data, interval=(0.0, 1.0)):
    """Inputs moved from the range of their format to an interval, without looking at the data.

    Parameters
    ----------
    data : Dataset
        With an `input_range`.
    interval : tuple of float
        Where the two ends of the range go; residual partitioning uses (-1, 1).

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If the format sets no range (standardise instead) or the interval is empty.
    """
    instance_of(data, Dataset, "data")
    low, high = checks.interval(interval, "interval")
    if data.input_range is None:
        raise ValueError(f"data set {data.name!r} has no range set by its format; use "
                         "Standardisation.fit")
    bottom, top = data.input_range
    inputs = (data.inputs - bottom) * ((high - low) / (top - bottom)) + low
    return replace(data, inputs=inputs, input_range=(low, high))


class Standardisation(NamedTuple):
    """Columns shifted to mean 0 and scaled to deviation 1; a constant column is only shifted.

    A column whose entries differ by no more than their rounding (4 units in the last place of the
    dtype that `fit` is given) counts as constant.

    Fit it on the training part alone and apply it to both parts, so that nothing of the validation
    part leaks in.
    """

    mean: np.ndarray
    deviation: np.ndarray

    @classmethod
    def fit(cls, values):
        """Means and standard deviations of the columns of `values`, shape (N, D).

        Raises
        ------
        TypeError, ValueError
            Not finite real numbers, another shape, no rows.
        """
        values = real_array(values, "values")
        unit = np.finfo(values.dtype if values.dtype.kind == "f" else float).eps
        values = values.astype(float)
        if values.ndim != 2 or values.size == 0:
            raise ValueError("values: expected a non-empty array of shape (N, D), given "
                             f"{values.shape}")
        low, high = values.min(axis=0), values.max(axis=0)
        largest = np.maximum(np.abs(low), np.abs(high))
        # over a power of two, so that no square and no sum overflows or vanishes
        power = np.frexp(np.where(largest > 0, largest, 1.0))[1]
        small, rounding = np.ldexp(values, -power), unit * np.ldexp(largest, -power)
        constant = np.ldexp(high, -power) - np.ldexp(low, -power) <= 4 * rounding
        return cls(np.where(constant, low, np.ldexp(small.mean(axis=0), power)),
                   np.where(constant, 1.0, np.ldexp(small.std(axis=0), power)))

    def apply(self, values):
        """Standardised copy of `values`, shape (N, D); ValueError for another width."""
        return (self._fitting(values) - self.mean) / self.deviation

    def undo(self, values):
        """The inverse of `apply`."""
        return self._fitting(values) * self.deviation + self.mean

    def _fitting(self, values):
        values = real_array(values, "values")
        if values.ndim != 2 or values.shape[1] != len(self.mean):
            raise ValueError(f"values: expected shape (N, {len(self.mean)}), given {values.shape}")
        return values


def find_directory(directory):
    """Existing directory for a name that the user gave, looked up as the module's head says."""
    place = _locate(checks.path(directory, "directory"))
    if not place.is_dir():
        raise FileNotFoundError(f"not a directory: {place}")
    return place


def _locate(name):
    root = os.environ.get(DATA_VARIABLE)
    candidates = ([Path(root) / name] if root else []) + [Path(name)]
    for candidate in candidates:
        if candidate.exists():
            return candidate
    tried = ", ".join(str(candidate) for candidate in candidates)
    hint = "" if root else f" (the environment variable {DATA_VARIABLE} is not set)"
    raise FileNotFoundError(f"no such data file or directory: tried {tried}{hint}")


def _plain_or_gz(folder, name):
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise FileNotFoundError(f"{folder}: no file {name} or {name}.gz")


def _part(part, choices):
    return lookup(choices, part, "part")


def _column(target, names, file):
    """Place of the target's column among `names`."""
    known = f"{file}; its columns are {textwrap.shorten(', '.join(map(repr, names)), 400)}"
    if isinstance(target, (bool, np.bool_)) or not isinstance(target, (int, np.integer, str)):
        raise TypeError(f"target: expected a column's place or name, given {target!r} for {known}")
    places = [i for i, name in enumerate(names) if target in (name, i, i - len(names))]
    if len(places) != 1:
        raise ValueError(f"target: {len(places) or 'no'} columns {target!r} in {known}")
    if len(names) < 2:
        raise ValueError(f"{file}: target column {target} of a table with {len(names)} columns "
                         "leaves no inputs")
    return places[0]


def _images(name, images, labels, description):
    shape = images.shape[1:]
    pixels = tuple("pixel_" + "_".join(map(str, index)) for index in np.ndindex(*shape))
    return Dataset(name, images.reshape(len(images), -1).astype(np.float64), labels, pixels,
                   description, shape, (0.0, 255.0))


def _held_out(validation, rows):
    if isinstance(validation, (bool, np.bool_)) or not isinstance(
        validation, (int, float, np.integer, np.floating)):
        raise TypeError("validation: expected a fraction or a number of rows, given "
                        f"{validation!r}")
    if isinstance(validation, (int, np.integer)):
        count = int(validation)
    else:
        if not 0.0 < validation < 1.0:
            raise ValueError("validation: a fraction lies strictly between 0 and 1, given "
                             f"{validation}")
        count = round(validation * rows)
    if not 0 < count < rows:
        raise ValueError(f"validation: {count} of {rows} rows would leave a part empty")
    return count


def _embedded(file_name):
    file = _data_folder() / file_name
    if not file.is_file():
        raise FileNotFoundError(f"embedded data file is missing: {file}")
    raw = file.read_bytes()
    found = hashlib.sha256(raw).hexdigest()
    if found != CHECKSUMS[file_name]:
        raise ValueError(f"{file}: truncated or corrupt embedded data file: SHA-256 {found}, "
                         f"expected {CHECKSUMS[file_name]}")
    return formats.parse_csv(formats.decompress(raw, file), file)


def _data_folder():
    """The folder data/: a sub-package where installed, beside the package in a bare checkout."""
    if importlib.util.find_spec("secondorder.data") is not None:
        return importlib.resources.files("secondorder.data")
    return Path(__file__).resolve().parent.parent / "data"
