"""Fetching the public data sets into a cache, every file held to its SHA-256."""

import hashlib
import http.client
import io
import shutil
import tarfile
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from .. import files
from ..checks import lookup
from .places import cache


@dataclass(frozen=True)
class Source:
    """Where a data set is published: the loader that reads its folder ("idx", "cifar-10"), the
    address of the folder of its files, and the SHA-256 of each.
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


def download(name, say=print):
    """Fetch a public data set into the cache, where `load` finds it, if it is not there yet.

    Parameters
    ----------
    name : {"mnist", "fashion-mnist", "cifar-10"}
    say : callable
        Takes a line of text for every file.

    Returns
    -------
    str
        The name for `load`: ``idx:mnist``, ``idx:fashion-mnist`` or ``cifar-10:cifar-10``.

    Raises
    ------
    ValueError
        For an unknown name; for a file whose bytes are not the published ones.
    ConnectionError
        If a server refuses, ends early or stays silent.
    """
    source, folder = lookup(SOURCES, name, "data set"), cache() / name
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        begun = files.hidden_neighbour(folder)
        begun.mkdir()
        try:
            for file, digest in source.digests.items():
                content = fetch(source.address + file, digest)
                if file.endswith(".tar.gz"):
                    unpack(content, begun)
                else:
                    (begun / file).write_bytes(content)
                say(f"{file}: fetched")
            begun.rename(folder)  # whole, or not at all
        finally:
            shutil.rmtree(begun, ignore_errors=True)
    say(f"{name}: there")
    return f"{source.form}:{name}"


def fetch(address, digest):
    """The bytes of a published file, which have the SHA-256 `digest`."""
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            content = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionError(f"{address}: {error}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        raise ValueError(f"{address} is not the published file: SHA-256 {found} instead of "
                         f"{digest}; nothing was kept")
    return content


def unpack(content, folder):
    """Write the binary batches of an archive into a folder, whatever folders they are in there."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".bin"):
                (folder / Path(member.name).name).write_bytes(archive.extractfile(member).read())
