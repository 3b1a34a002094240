"""The folder that a book is written to: what is refused, and how it never holds half a book."""

import contextlib
import importlib.resources
import re
from pathlib import Path

from .. import files

MARK = "made-by-secondorder-book"  # names the files of a book: these may be written again
_FIRST = "Written by secondorder book, which may write these files again or remove them:"


@contextlib.contextmanager
def opened(out):
    """A folder that can be written to, kept from other runs; one that was made for a book that
    does not come about goes again.

    Raises
    ------
    FileExistsError
        It holds anything but an earlier book.
    OSError
        It cannot be made or written to.
    """
    place = Path(out)
    refuse_other_things(place)
    there = place.exists()
    try:
        place = files.output_directory(place)
        with files.exclusive(place):
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
            raise FileExistsError(f"{place} holds other things ({', '.join(others[:3])}"
                                  f"{', ...' if len(others) > 3 else ''}); name a folder that is "
                                  "new or empty, or one that holds an earlier book")


def fill(place, contents):
    """Write a book: first the list of its files, then each of them whole; what an earlier book had
    and this one has not is removed.

    Parameters
    ----------
    place : Path
    contents : dict of str to (str or bytes)
        File name, with `/` for folders -> what stands in it.

    Returns
    -------
    list of str
        Names of the files that were removed.
    """
    earlier = listed(place)
    _write_list(place, {*contents, *earlier})
    for name, content in contents.items():
        (place / name).parent.mkdir(exist_ok=True)
        with files.atomic(place / name) as temporary:
            temporary.write_bytes(content if isinstance(content, bytes) else content.encode())
    gone = [name for name in earlier if name not in contents]
    for name in gone:
        (place / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # it is no folder of ours, or holds more
            if "/" in name:
                (place / name).parent.rmdir()
    _write_list(place, contents)
    return gone


def listed(place):
    """The files of the book that a folder holds; a name that leads out of it is none of them."""
    mark = place / MARK
    lines = mark.read_text(encoding="utf-8").splitlines()[1:] if mark.is_file() else []
    return [line for line in lines if re.fullmatch(r"(fonts/|figures/)?[\w.-]+", line)
            and not line.startswith(".")]


def _write_list(place, names):
    files.write_text(place / MARK, "\n".join([_FIRST, *sorted(names)]) + "\n")


def static():
    """Style, script and fonts as they stand in the package: file name -> bytes.

    Raises
    ------
    FileNotFoundError
        A font that the style names is missing: the installation is damaged.
    """
    source = importlib.resources.files("secondorder.book") / "static"
    texts = {name: (source / name).read_bytes() for name in ("style.css", "script.js")}
    for name in [*re.findall(r'url\("(.+?)"\)', texts["style.css"].decode()), "fonts/OFL.txt"]:
        if not (source / name).is_file():
            raise FileNotFoundError(f"the installed package lacks {name}, which the book's pages "
                                    "need: install secondorder again")
        texts[name] = (source / name).read_bytes()
    return texts
