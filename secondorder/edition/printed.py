"""`displays.tex`: the displays of a paper as printed, by label."""

from pathlib import Path

from .stream import ReadingError

NAME = "displays.tex"
_MARK = "%= "


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
    place = (place if place.is_dir() else place.parent) / NAME
    if not place.is_file():
        raise ReadingError(f"there is no {place}")
    displays, label = {}, None
    for number, line in enumerate(place.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith(_MARK):
            label = line.removeprefix(_MARK).strip()
            if label in displays:
                raise ReadingError(f"{place}, line {number}: {label} stands there twice")
            displays[label] = []
        elif not line.lstrip().startswith("%") and line.strip():
            if label is None:
                raise ReadingError(f"{place}, line {number}: no label stands before it ('%= 1')")
            displays[label].append(line)
    return {label: "\n".join(lines) for label, lines in displays.items()}


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
        lines += ["", _MARK + label, f"% {display.environment}, {display.file}, line "
                  f"{display.line}{called}", display.formula]
    return "\n".join(lines) + "\n"
