"""Fetching the public data sets into a cache, every file held to its SHA-256."""

import hashlib
import shutil
import tarfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from .. import files
from ..checks import lookup, number_in
from .places import cache

CHUNK = 1 << 16


@dataclass(frozen=True)
class Source:
    """Where a data set is published.

    Attributes
    ----------
    form : {"idx", "cifar-10"}
        The loader that reads its folder.
    address : str
        Of the folder of its files.
    digests : dict of str to str
        File -> SHA-256 in hexadecimal digits.
    """

    form: str
    address: str
    digests: dict


SOURCES = {
    "mnist": Source("idx", "https://storage.googleapis.com/cvdf-datasets/mnist/", {
        "train-images-idx3-ubyte.gz":
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "train-labels-idx1-ubyte.gz":
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "t10k-images-idx3-ubyte.gz":
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "t10k-labels-idx1-ubyte.gz":
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"}),
    "fashion-mnist": Source(
        "idx", "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/", {
            "train-images-idx3-ubyte.gz":
                "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            "train-labels-idx1-ubyte.gz":
                "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
            "t10k-images-idx3-ubyte.gz":
                "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            "t10k-labels-idx1-ubyte.gz":
                "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"}),
    "cifar-10": Source("cifar-10", "https://www.cs.toronto.edu/~kriz/", {
        "cifar-10-binary.tar.gz":
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"}),
}


def download(name, timeout=30.0, say=print, sources=None):
    """Fetch a public data set into the cache, where `load` finds it, if it is not there yet.

    Parameters
    ----------
    name : {"mnist", "fashion-mnist", "cifar-10"}
    timeout : float
        Seconds that a server may be silent.
    say : callable
        Takes a line of text for every file.
    sources : dict of str to Source, optional
        Other places than the published ones.

    Returns
    -------
    str
        The name for `load`: ``idx:mnist``, ``idx:fashion-mnist`` or ``cifar-10:cifar-10``.

    Raises
    ------
    ValueError
        For an unknown name; for a file whose bytes are not the published ones. Nothing of it is
        kept.
    ConnectionError
        If a server refuses, ends early or stays silent; the files before are kept for the next
        attempt.
    """
    source = lookup(SOURCES if sources is None else sources, name, "data set")
    number_in(timeout, "timeout", 0, float("inf"))
    folder, begun = cache() / name, cache() / f"{name}.begun"
    if folder.exists():
        say(f"{name}: there")
        return f"{source.form}:{name}"
    begun.mkdir(parents=True, exist_ok=True)
    for file, digest in source.digests.items():
        if (begun / f"{file}.complete").exists():
            say(f"{file}: there")
            continue
        fetch(source.address + file, begun / file, digest, timeout)
        if file.endswith(".tar.gz"):
            unpack(begun / file)
        (begun / f"{file}.complete").touch()
        say(f"{file}: fetched")
    for mark in begun.glob("*.complete"):
        mark.unlink()
    begun.rename(folder)  # whole, or not at all
    return f"{source.form}:{name}"


def fetch(address, path, digest, timeout=30.0):
    """Fetch one file, whole and with the SHA-256 that is expected, or not at all.

    Parameters
    ----------
    address : str
    path : path
    digest : str
        SHA-256 in hexadecimal digits.
    timeout : float
        Seconds that the server may be silent.
    """
    checksum, received = hashlib.sha256(), 0
    with files.atomic(path) as temporary:
        try:
            with (urllib.request.urlopen(address, timeout=timeout) as answer,
                  open(temporary, "wb") as out):
                expected = answer.headers.get("Content-Length")
                while chunk := answer.read(CHUNK):
                    out.write(chunk)
                    checksum.update(chunk)
                    received += len(chunk)
        except urllib.error.HTTPError as error:
            raise ConnectionError(f"{address}: the server answered {error.code} {error.reason}"
                                  ) from error
        except TimeoutError as error:
            raise ConnectionError(f"{address}: no byte for {timeout:g} s") from error
        except (urllib.error.URLError, OSError) as error:
            if isinstance(error, urllib.error.URLError) and isinstance(error.reason, TimeoutError):
                raise ConnectionError(f"{address}: no byte for {timeout:g} s") from error
            reason = getattr(error, "reason", error)
            raise ConnectionError(f"{address}: {reason}") from error
        if expected is not None and received != int(expected):
            raise ConnectionError(f"{address} ended after {received} of {expected} bytes; nothing "
                                  "was kept")
        if checksum.hexdigest() != digest:
            raise ValueError(f"{address} is not the published file: SHA-256 {checksum.hexdigest()} "
                             f"instead of {digest}; nothing was kept")


def unpack(path):
    """Put the binary batches of an archive beside it, and remove it."""
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".bin"):
                with (archive.extractfile(member) as packed,
                      files.atomic(path.parent / Path(member.name).name) as temporary,
                      open(temporary, "wb") as out):
                    shutil.copyfileobj(packed, out)
    path.unlink()
