"""A paper's text to what was read of it."""

from pathlib import Path

from .reader import Reader
from .tex.stream import ReadingError


def read(path, numbers=None):
    r"""The displays, theorems and gaps of a paper.

    Parameters
    ----------
    path : path
        A ``.tex`` file, whose ``\input`` files are followed inside its folder.
    numbers : Numbers, optional
        What TeX printed, see :func:`.tex.numbering.by_tex`; without it, or where it could not set
        the paper, the numbers are counted here.

    Returns
    -------
    Reading
        ``title``, ``displays``, ``theorems``, and ``unread``: what could not be read, with its
        line.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
    ReadingError
        Another kind of file, or no text.
    """
    if not isinstance(path, (str, Path)) or "\0" in str(path) or not str(path):
        raise TypeError(f"path must be the name of a .tex file, got {path!r}")
    path = Path(path)
    if path.suffix.lower() not in (".tex", ".ltx"):
        raise ReadingError(f"path must be a .tex file, got {str(path)!r}")
    usable = numbers is not None and numbers.finished
    reading = Reader(path, numbers if usable else None).read()
    if usable:
        reading.doubts, reading.engine = [], numbers.engine
    elif numbers is not None:
        reading.doubts.insert(0, f"{numbers.engine} could not set the paper: "
                              + numbers.error.rstrip("."))
    return reading
