"""Seals: who wrote a file, and whether it is as it was written; see the package for the design."""

import gzip
import hashlib
import re
import struct
import zlib

_SEAL = re.compile(rb"secondorder ([a-z-]+) sha256:([0-9a-f]{64})")
_PNG = b"\x89PNG\r\n\x1a\n"
_BEFORE_IN_PNG = b"tEXtSoftware\0"  # and, behind the text, four bytes that follow from it


def mark(command):
    """The words of a seal, with zeros for the digits that `sealed` puts in."""
    return f"secondorder {command} sha256:{'0' * 64}"


def sealed(raw):
    """The bytes of a file with the digits of its last mark put in."""
    place = _last(raw)
    start, end = place.span(2)
    digits = _digest(raw, place).encode()
    if not raw.startswith(_PNG):
        return raw[:start] + digits + raw[end:]
    chunk = raw[place.start() - len(_BEFORE_IN_PNG):start] + digits
    return raw[:start] + digits + struct.pack(">I", zlib.crc32(chunk)) + raw[end + 4:]


def packed(raw, command):
    """Bytes in gzip's format, the same for the same bytes, with a place for a seal: the name of an
    empty member behind them.
    """
    head = b"\x1f\x8b\x08\x08" + bytes(5) + b"\xff"
    empty = b"\x03\x00" + bytes(8)
    return gzip.compress(raw, mtime=0) + head + mark(command).encode() + b"\0" + empty


def intact(raw):
    """Whether the bytes of a file are as they were sealed, or None if they have no seal."""
    place = _last(raw)
    return None if place is None else place[2] == _digest(raw, place).encode()


def is_of(raw, command):
    """Whether the bytes of a file were sealed by this command, and are as they were sealed."""
    place = _last(raw)
    return bool(intact(raw)) and place[1] == command.encode()


def _last(raw):
    """The last seal in a file, or None."""
    place = None
    for place in _SEAL.finditer(raw):
        pass
    return place


def _digest(raw, place):
    """SHA-256 of all but the digits of a seal (and what follows from them)."""
    start, end = place.span(2)
    digest = hashlib.sha256(memoryview(raw)[:start])
    digest.update(memoryview(raw)[end + 4 * raw.startswith(_PNG):])
    return digest.hexdigest()
