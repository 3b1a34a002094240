"""The folder that a book is written to, and the files that every book needs."""

import importlib.resources
import os
import re
import shutil
from pathlib import Path

from .. import files

INDEX = "index.html"
MARK = "made-by-secondorder-book"  # names the files of a book: see `listed`
_FIRST = "Written by secondorder book, which may write these files again or remove them:"


def opened(out, overwrite):
    """A folder that can be written to: new, empty, or with `overwrite` that of an earlier book; a
    new one is made by `fill` only.

    FileExistsError names what else is in it.
    """
    place = Path(out)
    if not os.path.lexists(place) and place.parent.is_dir() and os.access(place.parent, os.W_OK):
        return place
    place = files.output_directory(place)
    earlier = listed(place)
    there = sorted(path.relative_to(place).as_posix() for path in place.rglob("*")
                   if not path.is_dir() and not path.name.startswith("."))
    others = [name for name in there if name not in earlier and name != MARK]
    if others:
        raise FileExistsError(f"{place} holds other things ({', '.join(others[:3])}); name a new "
                              "folder, an empty one, or one that holds an earlier book")
    if there and not overwrite:
        raise FileExistsError(f"{place} holds an earlier book: replaced only with --force "
                              "(overwrite=True)")
    return place


def fill(place, contents):
    """Write a book, `contents` by file name, in place of an earlier one: into a hidden folder
    beside, whose files are moved when all are there, the index last.
    """
    made = files.hidden_neighbour(Path(os.path.realpath(place)))
    try:
        with files.naming(place):
            for name, content in contents.items():
                (made / name).parent.mkdir(parents=True, exist_ok=True)
                (made / name).write_bytes(content if isinstance(content, bytes)
                                          else content.encode())
        files.output_directory(place)
        for name in listed(place):
            (place / name).unlink(missing_ok=True)
        files.write_text(place / MARK, "\n".join([_FIRST, *sorted(contents)]) + "\n")
        for name in sorted(contents, key=lambda name: name == INDEX):
            (place / name).parent.mkdir(exist_ok=True)
            os.replace(made / name, place / name)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def listed(place):
    """The files of the book that a folder holds. A name that leads out of it is none of them."""
    mark = place / MARK
    lines = mark.read_text(encoding="utf-8").splitlines()[1:] if mark.is_file() else []
    return [name for name in lines
            if re.fullmatch(r"(fonts/|figures/)?[\w.-]+", name) and not name.startswith(".")]


def static():
    """Style, script and fonts as they stand in the package: file name -> bytes."""
    source = importlib.resources.files("secondorder.book") / "static"
    fonts = re.findall(r'url\("(.+?)"\)', (source / "style.css").read_text(encoding="utf-8"))
    return {name: (source / name).read_bytes()
            for name in ("style.css", "script.js", *fonts, "fonts/OFL.txt")}
