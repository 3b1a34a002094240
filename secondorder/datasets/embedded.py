"""The three tables that come with the package, checked by SHA-256 before they are read."""

import hashlib
import importlib.resources
import importlib.util
from pathlib import Path

import numpy as np

from . import formats
from .dataset import Dataset

CHECKSUMS = {"digits.csv.gz": "ac63c06f4e775b7c87f62608ff4d9571211c7bc7a15b945573b7675eb2e63a84",
             "wine.csv.gz": "2249c3a9d01ef65842437b74221a8902144c8dcc0c2034583593d64f312a1764",
             "diabetes.csv.gz": "d3243b769facb3bebc07a557edefc8275c9fb9ac4ede4aea559d7e3206abd013"}


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


def _embedded(file_name):
    file = _data_folder() / file_name
    if not file.is_file():
        raise FileNotFoundError(f"embedded data file is missing: {file}")
    raw = file.read_bytes()
    checksum = hashlib.sha256(raw).hexdigest()
    if checksum != CHECKSUMS[file_name]:
        raise ValueError(f"{file}: truncated or corrupt embedded data file: SHA-256 {checksum}, "
                         f"expected {CHECKSUMS[file_name]}")
    return formats.parse_csv(formats.decompress(raw, file), file)


def _data_folder():
    """The folder data/: a sub-package where installed, beside the package in a bare checkout."""
    if importlib.util.find_spec("secondorder.data") is not None:
        return importlib.resources.files("secondorder.data")
    return Path(__file__).resolve().parents[2] / "data"
