"""Data sets of yours: MNIST's IDX files, the CIFAR-10 binary version, CSV tables."""

import warnings

import numpy as np

from .. import checks
from . import formats
from ..checks import boolean, lookup
from .dataset import Dataset
from .places import find_directory, locate

LARGEST_LABEL = 2**16 - 1


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

    Warns
    -----
    UserWarning
        If a class below the largest label never occurs, which may mean a wrong label.
    """
    folder = find_directory(directory)
    prefix = lookup({"train": "train", "test": "t10k"}, part, "part")
    image_file = _plain_or_gz(folder, f"{prefix}-images-idx3-ubyte")
    label_file = _plain_or_gz(folder, f"{prefix}-labels-idx1-ubyte")
    images, labels = formats.read_idx(image_file, 3), formats.read_idx(label_file, 1)
    if len(images) != len(labels):
        raise ValueError(f"{label_file}: {len(labels)} labels for the {len(images)} images of "
                         f"{image_file}")
    if images.size == 0:
        raise ValueError(f"{image_file}: expected at least one image")
    _warn_of_absent(labels.astype(int), label_file)
    return _images(folder.name, images, labels.astype(np.int64),
                   f"IDX images from {folder.name}, {part} part")


def load_cifar10(directory, part="train"):
    """Images and labels of the CIFAR-10 binary version.

    Parameters
    ----------
    directory : str or Path
        Holds ``data_batch_1.bin`` (and up to 5) or ``test_batch.bin``, each plain or ``.gz``.
    part : {"train", "test"}
        The training part joins the batches that are there, in the order of their numbers. The
        first are enough, and the description says how many there were; a gap is an error.

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

    Warns
    -----
    UserWarning
        If a class below the largest label never occurs, which may mean a wrong label.
    """
    place, classification = (locate(checks.path(path, "path")),
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
    if classification:
        _warn_of_absent(targets, f"{file}, column {names[chosen]!r}")
    others = np.delete(np.arange(len(names)), chosen)
    return Dataset(file.name.split(".")[0], values[:, others], targets,
                   tuple(names[i] for i in others), f"table {file.name}")


def _plain_or_gz(folder, name):
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise FileNotFoundError(f"{folder}: no file {name} or {name}.gz")


def _column(target, names, file):
    """Place of the target's column among `names`."""
    known = f"{file}; its columns are {', '.join(map(repr, names))}"
    if isinstance(target, (bool, np.bool_)) or not isinstance(target, (int, np.integer, str)):
        raise TypeError(f"target: expected a column's place or name, given "
                        f"{checks.shown(target)} for {known}")
    places = [i for i, name in enumerate(names) if target in (name, i, i - len(names))]
    if len(places) != 1:
        raise ValueError(f"target: {len(places) or 'no'} columns {checks.shown(target)} in {known}")
    if len(names) < 2:
        raise ValueError(f"{file}: target column {target} of a table with {len(names)} columns "
                         "leaves no inputs")
    return places[0]


def _images(name, images, labels, description):
    shape = images.shape[1:]
    pixels = tuple("pixel_" + "_".join(map(str, index)) for index in np.ndindex(*shape))
    return Dataset(name, images.reshape(len(images), -1).astype(np.float64), labels, pixels,
                   description, shape, (0.0, 255.0))


def _warn_of_absent(labels, place):
    """Say which classes never occur: a single wrong label can make a hundred of them."""
    absent = np.setdiff1d(np.arange(labels.max()), labels)
    if len(absent):
        largest, first = labels.max(), int(labels.argmax())
        some = ", ".join(map(str, absent[:3])) + (" and more" if len(absent) > 3 else "")
        warnings.warn(f"{place}: the largest label, {largest}, makes {largest + 1} classes, "
                      f"{len(absent)} of them without a sample: {some}. The label is first in "
                      f"sample {first + 1} of {len(labels)}. If it is wrong, correct it; if "
                      "classes are left out, number the others from 0.", stacklevel=3)
