"""Texts, JSON, arrays and figures into files, atomically.

A `command` seals the file: that command, and nobody else, may write over it while it is unchanged.
"""

import io
import json
import zipfile
from pathlib import Path

import numpy as np

from . import seals
from .whole import atomic


def write_bytes(path, raw, command=None):
    """Write bytes, atomically; with a `command` they hold its `mark`, which becomes a seal."""
    with atomic(path) as temporary:
        temporary.write_bytes(raw if command is None else seals.sealed(raw))


def write_text(path, text, command=None):
    """Write `text` in UTF-8, atomically; with a `command` it holds its `mark`."""
    write_bytes(path, text.encode(), command)


def write_json(path, data, command=None):
    """Write `data` as JSON, atomically; NumPy numbers and arrays become numbers and lists."""
    if command is not None:
        data = {"command": command} | data | {"sealed": seals.mark(command)}
    write_text(path, to_json(data) + "\n", command)


def write_arrays(path, command=None, **arrays):
    """Write named arrays as ``.npz``, atomically."""
    stream = io.BytesIO()
    try:
        np.savez_compressed(stream, **arrays)
    except ValueError as error:  # what an interrupt left open cannot be closed
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise
    if command is not None:
        with zipfile.ZipFile(stream, "a") as archive:
            archive.comment = seals.mark(command).encode()
    write_bytes(path, stream.getvalue(), command)


def write_figure(path, figure, dpi=110, command=None, colours=None):
    """Write a matplotlib figure, atomically; one that is sealed is a ``.png``, and so is one with
    a table of so many colours, which takes a quarter of the bytes.
    """
    kind = Path(path).suffix[1:] or "png"
    stream, metadata = io.BytesIO(), {}
    if command is not None:
        metadata = {"metadata": {"Software": seals.mark(command)}}
    figure.savefig(stream, dpi=dpi, format=kind, **metadata)
    if colours is not None:
        from PIL import Image  # matplotlib draws with it, so it is there
        from PIL.PngImagePlugin import PngInfo

        image, texts = Image.open(stream), PngInfo()
        for name, text in image.text.items():
            texts.add_text(name, text)
        stream = io.BytesIO()
        few_colours(image, colours).save(stream, "png", compress_level=9, pnginfo=texts,
                                         dpi=image.info["dpi"])
    write_bytes(path, stream.getvalue(), command)


def few_colours(image, colours):
    """A PIL image with a table of at most so many colours, nearly white ones white."""
    few = image.convert("RGB").quantize(colours, method=2, dither=0)  # an octree, no dots
    table = np.array(few.getpalette(), np.uint8).reshape(-1, 3)
    table[(table >= 250).all(1)] = 255
    few.putpalette(table.ravel().tolist())
    return few


def write_packed(path, raw, command):
    """Write bytes in gzip's format, atomically and sealed; the same file for the same bytes."""
    write_bytes(path, seals.packed(raw, command), command)


def to_json(data):
    """JSON text; numbers that are not finite become null, since JSON has no word for them."""
    return json.dumps(_plain(data), indent=2, allow_nan=False)


def _plain(value):
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if isinstance(value, Path):
        return str(value)
    return value


def write_between(path, start, text, end="\n<!-- end -->"):
    """Write a text into a file between two marks; False if the file or the first mark is not there.
    """
    before = Path(path).read_text(encoding="utf-8") if Path(path).is_file() else ""
    head, mark, rest = before.partition(start)
    if mark:
        write_text(path, head + start + text + end + rest.partition(end.lstrip())[2])
    return bool(mark)
