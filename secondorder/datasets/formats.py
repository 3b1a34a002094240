"""Readers of the public file formats: IDX, the CIFAR-10 binary version, and CSV tables of numbers.

Every reader takes plain or gzip-compressed files (told apart by their first two bytes, not by their
name) and either returns the whole content or raises an error that names the file: nothing is ever
half-read. A pickled data set is never opened, since unpickling runs code.
"""

import csv
import gzip
import io
import math
import struct
import zlib
from pathlib import Path

import numpy as np

UNSIGNED_BYTES = 0x08  # the code of the numbers in an IDX file
CIFAR_RECORD = 1 + 3 * 32 * 32


def read_bytes(path):
    """Content of a plain or gzip-compressed file, uncompressed.

    Raises FileNotFoundError, or ValueError for a compressed stream that is truncated or corrupt.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no such data file: {path}")
    raw = path.read_bytes()
    if raw[:2] != b"\x1f\x8b":
        return raw
    return decompress(raw, path)


def decompress(raw, path):
    """Content of a gzip stream; `path` is only named in the error."""
    try:
        return gzip.decompress(raw)
    except EOFError as error:
        raise ValueError(f"{path}: truncated gzip file ({len(raw)} bytes)") from error
    except (OSError, zlib.error) as error:
        raise ValueError(f"{path}: corrupt gzip file ({error})") from error


def read_idx(path, dimensions):
    """Array of bytes in an IDX file, the format of MNIST and Fashion-MNIST.

    The file has so many dimensions: 3 for images, 1 for labels. Raises ValueError for another magic
    number, other dimensions, or a length that disagrees with the header.
    """
    content = read_bytes(path)
    header = 4 + 4 * dimensions
    if len(content) < header:
        raise ValueError(f"{path}: truncated IDX header: {len(content)} bytes, expected {header}")
    zero, code, ndim = struct.unpack(">HBB", content[:4])
    if zero != 0 or code != UNSIGNED_BYTES:
        raise ValueError(f"{path}: wrong magic number 0x{content[:4].hex()}, not an IDX file of "
                         "unsigned bytes")
    if ndim != dimensions:
        raise ValueError(f"{path}: IDX array of {ndim} dimensions, expected {dimensions}")
    shape = struct.unpack(f">{ndim}I", content[4:header])
    expected = header + math.prod(shape)
    if len(content) != expected:
        fault = "truncated" if len(content) < expected else "too long"
        raise ValueError(f"{path}: {fault} IDX file: {len(content)} bytes, its header {shape} asks "
                         f"for {expected}")
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def read_cifar10(path):
    """Images (N, 3, 32, 32) of bytes and labels (N,) of a file of the CIFAR-10 binary version.

    A record is one label byte and 3072 pixel bytes: the red, green and blue planes of 32 x 32
    pixels. Raises ValueError for a length that is no whole number of records, or a label beyond 9.
    """
    content = read_bytes(path)
    records, rest = divmod(len(content), CIFAR_RECORD)
    if records == 0 or rest:
        raise ValueError(f"{path}: truncated or wrong CIFAR-10 binary file: {len(content)} bytes "
                         f"is not a whole number of records of {CIFAR_RECORD} bytes")
    table = np.frombuffer(content, np.uint8).reshape(records, CIFAR_RECORD)
    labels = table[:, 0].astype(np.int64)
    if labels.max() > 9:
        row = int(np.argmax(labels > 9))
        raise ValueError(f"{path}: wrong CIFAR-10 binary file: record {row} has label "
                         f"{labels[row]}, beyond 0 to 9")
    return table[:, 1:].reshape(records, 3, 32, 32).copy(), labels


def parse_csv(content, path, header=None):
    """Names and numbers (rows, columns) of a CSV table; `path` is only named in the errors.

    `content` is text in UTF-8, lines ending in LF, CR LF or CR. `header` says whether the first
    line holds names. By default it does where none of its entries is a number; a first line of
    years in sequence could be either, and has to be declared. Without names columns are
    ``column_0`` and on.

    Raises ValueError if the table is empty, a name occurs twice, or a line has another number of
    entries or an entry that is not a finite number; line numbers count the lines of the file.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a text file in UTF-8 ({error})") from error
    rows = _rows(text, path)
    names = _header(rows, path, header)
    if not rows:
        raise ValueError(f"{path}: empty table")
    names = names or tuple(f"column_{i}" for i in range(len(rows[0][1])))
    values = np.array([_numbers(row, names, f"{path}, line {number}") for number, row in rows])
    return names, values


def _rows(text, path):
    """(number of its first line, entries) of every row that is not empty."""
    reader = csv.reader(io.StringIO(text, newline=""))  # leaves line ends to the reader
    rows, start = [], 1
    try:
        for row in reader:
            if row:
                rows.append((start, row))
            start = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{path}, line {start}: not a line of CSV ({error})") from error
    return rows


def _header(rows, path, header):
    """Take the names off the rows, or None where there are none."""
    if not rows:
        return None
    if header is None:
        header = not any(_is_number(entry) for entry in rows[0][1])
        if not header and _years(rows[0][1]) and not all(_years(row) for _, row in rows[1:]):
            raise ValueError(f"{path}: the first line, {', '.join(rows[0][1][:3])}, ..., looks "
                             "like a header of years; say header=True or header=False")
    if not header:
        return None
    names = tuple(entry.strip() for entry in rows.pop(0)[1])
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(f"{path}: the header names {', '.join(map(repr, twice))} more than once")
    return names


def _years(row):
    """Whether a row is a sequence of years."""
    if len(row) < 2 or not all(entry.strip().isdigit() for entry in row):
        return False
    years = [int(entry[:9]) for entry in row]
    return 1800 <= years[0] <= 2200 and years == list(range(years[0], years[0] + len(years)))


def _is_number(entry):
    """Whether an entry is a number as CSV files have them: not Python's 1_000, not other digits."""
    if "_" in entry or not entry.isascii():
        return False
    try:
        float(entry)
    except ValueError:
        return False
    return True


def _numbers(row, names, place):
    if len(row) != len(names):
        raise ValueError(f"{place}: {len(row)} entries, expected {len(names)} (truncated line?)")
    for name, entry in zip(names, row):
        if not _is_number(entry) or not math.isfinite(float(entry)):
            shown = repr(entry) if len(entry) <= 60 else f"{entry[:50]!r}..."
            raise ValueError(f"{place}: {shown} is not a finite number (column {name!r}); a table "
                             "holds numbers only, and class labels are whole numbers from 0")
    return [float(entry) for entry in row]
