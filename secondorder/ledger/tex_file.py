"""`displays.tex`: the long displays of a room, or of an edition, by label.

A line `%= 36` has the label of the display below it, `%= 36 corrected` that of its corrected form;
other lines that begin with `%` are remarks.
"""

import inspect
from pathlib import Path

from .comparisons import VerificationError

NAME = "displays.tex"
MARK = "%= "
CORRECTED = " corrected"


def read(file):
    """The displays of a file: label -> LaTeX, in the file's order.

    VerificationError where the file is not there, or has one label twice.
    """
    if not file.is_file():
        raise VerificationError(f"there is no {file}")
    displays, label = {}, None
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith(MARK):
            label = line.removeprefix(MARK).strip()
            if label in displays:
                raise VerificationError(f"{file}, line {number}: {label} stands there twice")
            displays[label] = []
        elif label is not None and line.strip() and not line.lstrip().startswith("%"):
            displays[label].append(line)
    return {label: "\n".join(lines) for label, lines in displays.items()}


def formulas_of(check, label, corrected=None):
    """The formula of a check from the file beside it, and its corrected form unless that is given;
    VerificationError where the file does not have the label.
    """
    file = folder_of_checks(check) / NAME
    displays = read(file)
    if label not in displays:
        raise VerificationError(f"no formula is given, and {file} has no '{MARK}{label}'")
    return displays[label], corrected or displays.get(label + CORRECTED)


def folder_of_checks(check):
    """The folder in which a check stands."""
    return Path(inspect.getsourcefile(inspect.unwrap(check))).resolve().parent
