"""Files: written whole or not at all, and read with their damage told.

A file is written into a hidden neighbour first, which is then renamed: whoever looks sees the old
file or the new one. A command's outputs go into a folder, and what is there already is replaced
only where that is asked for (`outputs`).
"""

import contextlib
import gzip
import io
import json
import os
import platform
import sys
import uuid
import zipfile
from pathlib import Path

import numpy as np

# -- writing ---------------------------------------------------------------------------------------


def require_writable(path):
    """Where a file that is written to `path` goes: a link stays, its target is exchanged.

    OSError, which names the path, if something else than a file stands there, or if it or its
    folder may not be written to. The file system is asked, nothing is written.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"no such directory: {target.parent}")
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a directory, not a file")
    if os.path.lexists(target) and not target.is_file():
        raise FileExistsError(f"{path} is not a file")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise PermissionError(f"{path} may not be written to")
    return target


def write_bytes(path, raw):
    """Write bytes, whole or not at all: after an OSError, which names `path`, the old file stands
    and no other one is left.
    """
    target = require_writable(path)
    temporary = hidden_neighbour(target)
    try:
        with naming(path):
            temporary.write_bytes(raw)
            os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def hidden_neighbour(target):
    """A new hidden path beside `target`, for a file or folder that is renamed when it is whole."""
    return target.with_name(f".{target.name[:60]}.{uuid.uuid4().hex}.tmp")


@contextlib.contextmanager
def naming(path):
    """Within this block an error of the system, such as that of a full disk, names `path`."""
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror or str(error), str(path)) from error


def write_text(path, text):
    """Write `text` in UTF-8, whole or not at all."""
    write_bytes(path, text.encode())


def write_json(path, data):
    """Write `data` as JSON, whole or not at all; see `to_json`."""
    write_text(path, to_json(data) + "\n")


def write_arrays(path, **arrays):
    """Write named arrays as ``.npz``, whole or not at all."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    write_bytes(path, stream.getvalue())


def write_packed(path, raw):
    """Write bytes in gzip's format; the same file for the same bytes."""
    write_bytes(path, gzip.compress(raw, mtime=0))


def write_figure(path, figure, dpi=110, colours=None):
    """Write a matplotlib figure. A table of so many `colours` makes a ``.png`` a quarter as large.
    """
    stream = io.BytesIO()
    figure.savefig(stream, dpi=dpi, format=Path(path).suffix[1:] or "png")
    if colours is not None:
        from PIL import Image  # matplotlib draws with it, so it is there

        image, stream = Image.open(stream), io.BytesIO()
        few_colours(image, colours).save(stream, "png", compress_level=9, dpi=image.info["dpi"])
    write_bytes(path, stream.getvalue())


def few_colours(image, colours):
    """A PIL image with a table of at most so many colours, nearly white ones white."""
    few = image.convert("RGB").quantize(colours, method=2, dither=0)  # an octree, no dots
    table = np.array(few.getpalette(), np.uint8).reshape(-1, 3)
    table[(table >= 250).all(1)] = 255
    few.putpalette(table.ravel().tolist())
    return few


def write_between(path, start, text, end="\n<!-- end -->"):
    """Write a text into a file between two marks; False if the file or the first mark is not there.
    """
    before = Path(path).read_text(encoding="utf-8") if Path(path).is_file() else ""
    head, mark, rest = before.partition(start)
    if mark:
        write_text(path, head + start + text + end + rest.partition(end.lstrip())[2])
    return bool(mark)


def to_json(data):
    """JSON text of NumPy's and Python's values; numbers that are not finite become null, since JSON
    has no word for them.
    """
    return json.dumps(_plain(data), indent=2, allow_nan=False)


def _plain(value):
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


# -- folders ---------------------------------------------------------------------------------------


def output_directory(path):
    """Make the directory `path`; its parent has to exist. OSError, which names the path, where it
    cannot be made or written to.
    """
    path = Path(path)
    if os.path.lexists(path) and not path.is_dir():
        raise NotADirectoryError(f"not a directory: {path}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the parent of the output directory does not exist: {path.parent}")
    with naming(path):
        path.mkdir(exist_ok=True)
    if not os.access(path, os.W_OK):
        raise PermissionError(f"cannot write to the output directory: {path}")
    return path


def outputs(place, names, overwrite):
    """The directory of ``--out``, made where it is missing; None where no place is given.

    FileExistsError if one of the files `names` is there and `overwrite` is False.
    """
    if not place:
        return None
    out = output_directory(place)
    if not overwrite:
        refuse_existing(*(out / name for name in names))
    return out


def refuse_existing(*paths, remedy="replaced only with --force (overwrite=True)"):
    """FileExistsError names those of some paths at which something stands."""
    there = [str(path) for path in paths if os.path.lexists(path)]
    if there:
        raise FileExistsError(f"{', '.join(there)}: there already; {remedy}")


def user_cache_folder():
    """The folder in which this platform keeps a user's caches."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


# -- reading ---------------------------------------------------------------------------------------


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
    """All bytes of a file. OSError where there is none; a pipe, which would wait for a writer, is
    not opened.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise FileExistsError(f"{path} is not a file")
    return Path(path).read_bytes()


def read_json(path, what, remedy=""):
    """The object that a JSON file holds; `Damaged` if it holds none."""
    raw = read_bytes(path)
    with damage_told(path, what, remedy):
        data = json.loads(raw.decode("utf-8"))
        if not isinstance(data, dict):
            raise ValueError(f"it holds no JSON object but a {type(data).__name__}")
        return data


def read_arrays(path, what):
    """The arrays of an ``.npz`` file by name; `Damaged` if it is none. Nothing is unpickled, and
    the archive's checksum is compared before an array is made.
    """
    raw = read_bytes(path)
    with damage_told(path, what):
        if not zipfile.is_zipfile(io.BytesIO(raw)):
            raise ValueError("it is no .npz archive")
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return {name.removesuffix(".npy"): np.lib.format.read_array(
                io.BytesIO(archive.read(name)), allow_pickle=False) for name in archive.namelist()}


def environment():
    """Versions and settings, for every file of results: name -> value."""
    import scipy

    from secondorder import __version__

    return {"secondorder": __version__, "python": platform.python_version(),
            "numpy": np.__version__, "scipy": scipy.__version__, "machine": platform.machine(),
            "system": platform.system(), "processors": os.cpu_count()}
