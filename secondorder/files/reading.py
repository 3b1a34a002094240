"""Reading files that may be damaged, or something else: one reader, one description of damage."""

import contextlib
import io
import json
import math
import zipfile

import numpy as np

from .seals import intact
from .whole import require_file

_EXPANDS = 1100  # deflate makes no more than 1032 bytes of one
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0}


class Damaged(ValueError):
    """A file is damaged, or is something else than it should be; the message names it."""


@contextlib.contextmanager
def damage_told(path, what, remedy=""):
    """Whatever goes wrong in the block, where something is made of a file's content, is `Damaged`,
    and names the file.

    `what` says what the file should be, "a checkpoint of a training run" say; `remedy` what to do
    about it.
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # damaged bytes raise anything
        reason = str(error) if isinstance(error, ValueError) else (
            f"{type(error).__name__}: {error}")
        raise Damaged(f"{path}: not {what}, or a damaged one: {reason}"
                      + (f"; {remedy}" if remedy else "")) from error


def read_bytes(path):
    """All bytes of a file; links are followed. OSError if it is a directory, a device, a pipe or a
    socket, which are not opened: a pipe would wait for a writer.
    """
    require_file(path)
    with open(path, "rb") as stream:
        return stream.read()


def read_json(path, what, remedy=""):
    """The object that a JSON file holds, and whether it was sealed; Damaged if the seal is broken.
    """
    raw = read_bytes(path)
    with damage_told(path, what, remedy):
        whole = _require_whole(intact(raw))
        data = json.loads(raw.decode("utf-8"))
        if not isinstance(data, dict):
            raise ValueError(f"it holds no JSON object but a {type(data).__name__}")
        data.pop("sealed", None)
        return data, whole


def read_arrays(path, what):
    """The arrays of an ``.npz`` file by name, and whether it was sealed. Nothing is unpickled, and
    nothing is made before the sizes in the file fit each other: it is `Damaged` otherwise.
    """
    raw = read_bytes(path)
    with damage_told(path, what):
        if not zipfile.is_zipfile(io.BytesIO(raw)):
            raise ValueError("it is no .npz archive")
        whole = _require_whole(intact(raw))
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = archive.infolist()
            if len({member.filename for member in members}) < len(members):
                raise ValueError("it holds two arrays of one name")
            return {member.filename.removesuffix(".npy"): _array(archive, member)
                    for member in members}, whole


def _require_whole(fits):
    """False without a seal, True with one that fits; ValueError with one that does not."""
    if fits is False:
        raise ValueError("its checksum does not fit what it holds")
    return bool(fits)


def _array(archive, member):
    name, size = member.filename, member.file_size
    if size > _EXPANDS * member.compress_size:
        raise ValueError(f"{name} cannot expand to {size} bytes")
    with archive.open(member) as stream:
        read_header = _HEADERS[np.lib.format.read_magic(stream)]
        shape, _, dtype = read_header(stream)
        if math.prod(shape) * dtype.itemsize != size - stream.tell():
            raise ValueError(f"{name} is {dtype} {shape}, which does not fit its {size} bytes")
        stream.seek(0)
        array = np.lib.format.read_array(stream, allow_pickle=False)
        stream.read()  # to its end, where the archive's own checksum is compared
    return array
