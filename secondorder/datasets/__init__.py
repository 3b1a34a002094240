"""Data: three embedded tables, loaders for the public formats, splitting and scaling.

The embedded sets need no network: `load_digits`, `load_wine`, `load_diabetes`.
`load_idx`, `load_cifar10` and `load_csv` read a directory of yours. A relative name is looked up
first in the directory that the environment variable ``SECONDORDER_DATA`` names (where it is set),
then in the current directory, then where `download` puts the public sets that it fetches.

>>> from secondorder import datasets
>>> training, validation = datasets.split(datasets.load_digits(), validation=397, rng=0)
>>> training = datasets.scale(training, (-1.0, 1.0))
>>> training.inputs.shape, validation.targets.shape
((1400, 64), (397,))
"""

from ..checks import close_names, one_of
from .dataset import Dataset
from .downloads import download
from .places import DATA_VARIABLE, find_directory
from .preparation import Standardisation, scale, split
from .readers import load_cifar10, load_csv, load_diabetes, load_digits, load_idx, load_wine

__all__ = ["DATA_VARIABLE", "Dataset", "Standardisation", "download", "find_directory", "load",
           "load_cifar10", "load_csv", "load_diabetes", "load_digits", "load_idx", "load_wine",
           "scale", "split"]

FORMS = ("idx:FOLDER", "cifar-10:FOLDER", "csv:FILE")
EMBEDDED = {"digits": load_digits, "wine": load_wine, "diabetes": load_diabetes}


def load(name, part="train", **options):
    """Data set by name, embedded or ``idx:FOLDER``, ``cifar-10:FOLDER``, ``csv:FILE``.

    Parameters
    ----------
    name : str
    part : {"train", "test"}
        Which part of an IDX or CIFAR-10 folder; the others have no parts.
    **options
        For a CSV file: `target` and `classification` as `load_csv` takes them.

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
    if options and not str(name).startswith("csv:"):
        raise TypeError(f"data set {name!r} takes no {', '.join(options)}: only csv:FILE does")
    kind, _, place = name.partition(":") if isinstance(name, str) else ("", "", "")
    if place and kind in ("idx", "cifar-10"):
        return {"idx": load_idx, "cifar-10": load_cifar10}[kind](place, part)
    if part != "train":
        raise ValueError(f"part: data set {name!r} has no parts; use split")
    if place and kind == "csv":
        return load_csv(place, **options)
    return EMBEDDED[one_of([*EMBEDDED, *FORMS], name, "data set")]()


__getattr__ = close_names.names(__name__)
