"""Images for studies: the sets that the papers used, from a folder of the user's, or a stand-in of
the same shape.
"""

import functools
from dataclasses import dataclass

import numpy as np

from .. import datasets
from ..checks import lookup

#: Name -> (names under which a user may have it, height and width, channels).
PUBLIC = {"mnist": (("idx:mnist", "idx:mnist-subset"), (28, 28), 1),
          "fashion-mnist": (("idx:fashion-mnist",), (28, 28), 1),
          "cifar-10": (("cifar-10:cifar-10-batches-bin", "cifar-10:cifar-10",
                        "cifar-10:cifar-10-subset"), (32, 32), 3)}
TITLES = {"mnist": "MNIST", "fashion-mnist": "Fashion-MNIST", "cifar-10": "CIFAR-10"}
#: Tables that a study may need: name -> names under which a user may have it, and its inputs.
TABLES = {"wine-quality": (("csv:uci-wine-red",), 11)}


@dataclass(frozen=True, eq=False)
class Images:
    """Images and labels.

    Attributes
    ----------
    inputs : (S, D) array
        In the interval that was asked for.
    labels : (S,) array of int
    name : str
        What a figure's title says: the set, how many images, and whether it is a stand-in.
    stand_in : bool
        Made from the digits for want of the real images; a verdict must not count it.
    """

    inputs: np.ndarray
    labels: np.ndarray
    name: str
    stand_in: bool = False


@functools.lru_cache(maxsize=8)
def images(name, part="train", interval=(0.0, 1.0)):
    """Images by name; from a folder of the user's, or a stand-in where there is none.

    Folders are looked up as `datasets.load` does it: below the directory that SECONDORDER_DATA
    names, then in the current one. An unknown name, a damaged file, and images of another size
    raise a ValueError.

    Parameters
    ----------
    name : {"digits", "mnist", "fashion-mnist", "cifar-10"}
    part : {"train", "test"}
        Digits have no parts: the last 397 are the test part.
    interval : (float, float)
        Where the range of the format, 0 to 255 or 0 to 16, is moved.

    Returns
    -------
    Images
    """
    if name == "digits":
        data = datasets.scale(datasets.load_digits(), interval)
        rows = slice(None, 1400) if part == "train" else slice(1400, None)
        return Images(data.inputs[rows], data.targets[rows], "digits")
    names, size, channels = lookup(PUBLIC, name, "data set")
    folder = where(name)
    if folder is not None:
        data = datasets.scale(loaded(name, folder, channels * size[0] * size[1], part), interval)
        subset = " subset of" if folder.endswith("-subset") else ","
        return Images(data.inputs, data.targets, f"{TITLES[name]}{subset} {len(data):,} images")
    digits = images("digits", part, interval)
    return Images(enlarged(digits.inputs, size, channels), digits.labels,
                  f"digits enlarged, in the place of {name}", stand_in=True)


def table(name):
    """A table by name, from a folder of the user's; the diabetes where there is none."""
    folder = where(name)
    return datasets.load("diabetes") if folder is None else loaded(name, folder, TABLES[name][1])


def loaded(name, folder, inputs, *part):
    """The set in a folder, which may be another than the folder's name says."""
    data = datasets.load(folder, *part)
    if data.inputs.shape[1] != inputs:
        raise ValueError(f"{folder}: {data.inputs.shape[1]} values a sample; {name} has {inputs} "
                         "inputs: this is another set")
    return data


def where(name):
    """The name under which `datasets.load` finds a set, or None."""
    for candidate in (TABLES | PUBLIC)[name][0]:
        try:
            datasets.find_directory(candidate.partition(":")[2])
        except (FileNotFoundError, NotADirectoryError):
            continue
        return candidate
    return None


def enlarged(x, size, channels=1):
    """Square images (S, D) at another size, by repeating pixels; every channel the same."""
    side = int(round(np.sqrt(x.shape[1])))
    rows, columns = (np.arange(n) * side // n for n in size)
    grid = x.reshape(-1, side, side)[:, rows][:, :, columns]
    return np.repeat(grid[:, None], channels, axis=1).reshape(len(x), -1)


def pooled(x, side, channels, factor):
    """Images (S, channels * side^2) with every `factor` x `factor` square replaced by its mean."""
    grid = x.reshape(len(x), channels, side // factor, factor, side // factor, factor)
    return grid.mean(axis=(3, 5)).reshape(len(x), -1)


def missing(needs):
    """Those of the named sets that are not there."""
    return [name for name in needs if where(name) is None]


def replaced(absent):
    """What is told of sets that are not there: what takes their place."""
    places = {"the diabetes" if name in TABLES else "digits" for name in absent}
    whose = "its" if len(absent) == 1 else "their"
    return f"{', '.join(absent)} not found; {' and '.join(sorted(places))} in {whose} place"
