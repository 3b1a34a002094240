"""`displays.tex`: the displays of a paper as printed, by label."""

from pathlib import Path

from ..ledger.comparisons import VerificationError
from ..ledger.tex_file import MARK, NAME, read
from .tex.stream import ReadingError


def printed(room):
    """The displays as printed of an edition.

    Parameters
    ----------
    room : path
        Its folder, or its ``__init__.py``.

    Returns
    -------
    dict of str to str
        Label -> LaTeX.

    Raises
    ------
    ReadingError
        The file is not there, or has a display without a label, or one label twice.
    """
    if not isinstance(room, (str, Path)):
        raise TypeError(f"room must be a path, got {room!r}")
    place = Path(room)
    try:
        return read((place if place.is_dir() else place.parent) / NAME)
    except VerificationError as error:
        raise ReadingError(str(error)) from None


def text_of(source, pairs):
    """The text of `displays.tex`.

    Parameters
    ----------
    source : str
    pairs : list of (str, Display)
    """
    lines = [f"% The displays of {source} as printed: macros expanded, numbers taken out.",
             "% A line that begins with %= has the label of the display below it."]
    for label, display in pairs:
        called = f", {', '.join(display.names)}" if display.names else ""
        lines += ["", MARK + label, f"% {display.environment}, {display.file}, line "
                  f"{display.line}{called}", display.formula]
    return "\n".join(lines) + "\n"
