"""Fetching the public data sets into a cache, every file held to its SHA-256."""

import hashlib
import http.client
import shutil
import tarfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from .. import files
from ..checks import lookup, positive_number
from .places import cache

CHUNK = 1 << 16
LARGEST = 1 << 28  # bytes of a file; the largest published one has 170 million


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


def download(name, timeout=30.0, say=print, sources=None, seconds=3600.0):
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
    seconds : float
        That one file may take in all.

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
        If a server refuses, ends early, stays silent, is too slow, sends too much or does not
        speak HTTP. Files that are complete are kept for the next attempt.
    OSError
        If the cache cannot be written to: a full disk, say.
    BlockingIOError
        If another process is fetching the set.
    """
    source = lookup(SOURCES if sources is None else sources, name, "data set")
    timeout = positive_number(timeout, "timeout")
    seconds = positive_number(seconds, "seconds")
    cache().mkdir(parents=True, exist_ok=True)
    with files.one_writer(cache() / name):
        if (cache() / name).is_dir():
            say(f"{name}: there")
        else:
            _fetch_all(name, source, timeout, say, seconds)
    return f"{source.form}:{name}"


def _fetch_all(name, source, timeout, say, seconds):
    """All files of a set, also from an earlier attempt, and its folder at the end."""
    begun = cache() / f"{name}.begun"
    begun.mkdir(exist_ok=True)
    for file, digest in source.digests.items():
        if (begun / file).exists():
            say(f"{file}: there")
        else:
            fetch(source.address + file, begun / file, digest, timeout, seconds)
            say(f"{file}: fetched")
    for archive in begun.glob("*.tar.gz"):
        unpack(archive)
    begun.rename(cache() / name)  # whole, or not at all


def fetch(address, path, digest, timeout=30.0, seconds=3600.0):
    """Fetch one file, whole and with the SHA-256 `digest`, or not at all.

    The server may be silent for `timeout` seconds; the file may take `seconds` in all.
    """
    checksum = hashlib.sha256()
    with files.atomic(path) as temporary:
        with open(temporary, "wb") as out:
            for chunk in _received(address, timeout, seconds):
                out.write(chunk)
                checksum.update(chunk)
        if checksum.hexdigest() != digest:
            raise ValueError(f"{address} is not the published file: SHA-256 {checksum.hexdigest()} "
                             f"instead of {digest}; nothing was kept")


def _received(address, timeout, seconds):
    """What a server sends, piece by piece; ConnectionError unless it sends all of it."""
    received, latest = 0, time.monotonic() + seconds
    try:
        with urllib.request.urlopen(address, timeout=timeout) as answer:
            expected = _length(answer, address)
            while chunk := answer.read1(CHUNK):
                received += len(chunk)
                if received > LARGEST:
                    raise ConnectionError(f"{address} goes on after {LARGEST} bytes, more than any "
                                          "published file has; nothing was kept")
                if time.monotonic() > latest:
                    raise ConnectionError(f"{address}: not at its end after {seconds:g} s, "
                                          f"{received} bytes were received; nothing was kept")
                yield chunk
    except urllib.error.HTTPError as error:
        reason = " ".join(str(error.reason).split())[:80]
        raise ConnectionError(f"{address}: the server answered {error.code} {reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise ConnectionError(_told(error, address, timeout)) from error
    if expected is not None and received != expected:
        raise ConnectionError(f"{address} ended after {received} of {expected} bytes; nothing was "
                              "kept")


def _length(answer, address):
    """The number of bytes that a server announces, or None."""
    text = answer.headers.get("Content-Length")
    if text is None or answer.headers.get("Transfer-Encoding"):
        return None
    if not text.strip().isdecimal() or int(text) > LARGEST:
        raise ConnectionError(f"{address}: the server announces {text!r} bytes, which is no length "
                              "of a published file")
    return int(text)


def _told(error, address, timeout):
    """One line on what went wrong between here and a server."""
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return f"{address}: no byte for {timeout:g} s"
    if isinstance(error, ConnectionError) and str(error).startswith(address):
        return str(error)  # our own words
    if isinstance(error, http.client.IncompleteRead):
        return f"{address} ended before its end; nothing was kept"
    if isinstance(error, http.client.HTTPException):
        return f"{address}: the answer is no HTTP ({type(error).__name__}: {str(error)[:80]!r})"
    return f"{address}: {reason}"


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
