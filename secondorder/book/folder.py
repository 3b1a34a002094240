"""The folder that a book is written to: what is refused, and how it never holds half a book."""

import contextlib
import hashlib
import importlib.resources
import os
import re
import shutil
import uuid
from pathlib import Path

from .. import files

INDEX = "index.html"
STATIC = ("style.css", "script.js", "moving.css", "moving.js")
MARK = "made-by-secondorder-book"  # the files of a book and their digests: see `listed`
_FIRST = "Written by secondorder book, which may write these files again or remove them:"

MIXED = """<!doctype html><meta charset="utf-8"><title>A book that was broken off</title>
<p>The pages in this folder are of two books: the writing of the later one was broken off.
Write it again: <code>secondorder book --out</code> with the name of this folder.
"""


@contextlib.contextmanager
def opened(out):
    """A folder that can be written to, kept from other runs; one that was made for a book that does
    not come about goes again.

    FileExistsError where it holds anything but an earlier book, or a page of it was changed.
    """
    place = Path(out)
    refuse_other_things(place)
    there = place.exists()
    try:
        place = files.output_directory(place)
        with files.exclusive(place):
            refuse_changed_pages(place)
            yield place
    except BaseException:
        if not there:
            with contextlib.suppress(OSError):  # it may hold something by now
                place.rmdir()
        raise


def refuse_other_things(place):
    """A folder with other things in it is not written to."""
    if place.is_dir() and not (place / MARK).is_file():
        others = sorted(path.name for path in place.iterdir()
                        if not files.TEMPORARY.fullmatch(path.name))
        if others:
            raise FileExistsError(f"{place} holds other things ({_some(others)}); name a folder "
                                  "that is new or empty, or one that holds an earlier book")


def refuse_changed_pages(place):
    """A page that somebody has changed since it was written is not lost."""
    changed = [name for name, digests in listed(place).items()
               if os.path.lexists(place / name) and _digest_of(place / name) not in digests]
    if changed:
        raise FileExistsError(f"{place} holds an earlier book with pages that are not as they were "
                              f"written ({_some(changed)}); move them away, or name another folder")


def _some(names):
    return ", ".join([*names[:3], "..."] if len(names) > 3 else names)


def fill(place, contents):
    """Exchange the book that a folder holds for another one, `contents` by file name; names of
    files that were removed, which an earlier book had.

    All files are written into a hidden folder first: killed until then, the earlier book is whole.
    Then they are moved to their places, which takes an instant, and the index comes last. In its
    place stands meanwhile that the pages are of two books: whoever opens a book whose exchange was
    killed reads that. FileExistsError, and nothing is changed, where a file that no book wrote
    stands in the way.
    """
    contents = {name: content if isinstance(content, bytes) else content.encode()
                for name, content in contents.items()}
    earlier = listed(place)
    foreign = [name for name in contents if name not in earlier and os.path.lexists(place / name)]
    if foreign:
        raise FileExistsError(f"{', '.join(str(place / name) for name in foreign)}: no page of the "
                              "earlier book, so not replaced; move it away, or name another folder")
    gone = [name for name in earlier if name not in contents]
    with _hidden_folder(place) as new:
        for name, content in contents.items():
            with files.naming(place / name):
                (new / name).parent.mkdir(exist_ok=True)
                (new / name).write_bytes(content)
        later = {name: {_digest(content)} for name, content in contents.items()}
        either = {name: earlier.get(name, set()) | later.get(name, set())
                  for name in {*earlier, *later, INDEX}}
        either[INDEX].add(_digest(MIXED.encode()))
        _write_list(place, either)
        if earlier:
            files.write_text(place / INDEX, MIXED)
        for name in sorted(contents, key=lambda name: name == INDEX):
            if name == INDEX:
                _remove(place, gone)
            (place / name).parent.mkdir(exist_ok=True)
            os.replace(new / name, place / name)
        _remove(place, gone if INDEX in contents else {*gone, INDEX})
        _write_list(place, later)
    return gone


@contextlib.contextmanager
def _hidden_folder(place):
    """A new folder in `place` for the time of the block; those that killed runs left go."""
    for path in place.iterdir():
        if path.is_dir() and not path.is_symlink() and files.TEMPORARY.fullmatch(path.name):
            shutil.rmtree(path)
    new = place / f".book.secondorder-{uuid.uuid4().hex}"
    new.mkdir()
    try:
        yield new
    finally:
        shutil.rmtree(new)


def _remove(place, names):
    """Remove files of a book, and folders that hold nothing then."""
    for name in names:
        (place / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # it is no folder of ours, or holds more
            if "/" in name:
                (place / name).parent.rmdir()


def listed(place):
    """The files of the book that a folder holds -> SHA-256 of what may stand in each: more than one
    while a book is exchanged. A name that leads out of the folder is none of them.
    """
    mark = place / MARK
    lines = mark.read_text(encoding="utf-8").splitlines()[1:] if mark.is_file() else []
    entries = [line.split(" ") for line in lines]
    return {name: set(digests) for name, *digests in entries
            if re.fullmatch(r"(fonts/|figures/)?[\w.-]+", name) and not name.startswith(".")}


def _write_list(place, digests):
    lines = [" ".join([name, *sorted(digests[name])]) for name in sorted(digests)]
    files.write_text(place / MARK, "\n".join([_FIRST, *lines]) + "\n")


def _digest(raw):
    return hashlib.sha256(raw).hexdigest()


def _digest_of(path):
    """Of a file's content; None for what is no file."""
    try:
        return _digest(files.read_bytes(path))
    except OSError:
        return None


def static():
    """Style, script and fonts as they stand in the package: file name -> bytes; FileNotFoundError
    where a font that the style names is missing.
    """
    source = importlib.resources.files("secondorder.book") / "static"
    texts = {name: (source / name).read_bytes() for name in STATIC}
    for name in [*re.findall(r'url\("(.+?)"\)', texts["style.css"].decode()), "fonts/OFL.txt"]:
        if not (source / name).is_file():
            raise FileNotFoundError(f"the installed package lacks {name}, which the book's pages "
                                    "need: install secondorder again")
        texts[name] = (source / name).read_bytes()
    return texts
