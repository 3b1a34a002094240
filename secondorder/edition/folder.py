"""The folder of a new edition: whole or not at all, and never over something else."""

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from .. import files, ledger
from ..formulas import terminal
from ..ledger import tex_file
from . import templates
from .loading import MARK, load, unload
from .names import checked_key, function_names, labels_of, refuse_module
from .reader import Reading
from .reading import read
from .tex.numbering import by_tex
from .tex.stream import ReadingError


class Edition(NamedTuple):
    """What `new` wrote: the folder, what was read, and what has to be looked at."""

    folder: Path
    reading: Reading
    labels: tuple
    unread: tuple


def new(key, source, out="."):
    """Write the folder of an edition: a check to be written beside every numbered display.

    Parameters
    ----------
    key : str
        Short name of the paper, as on the command line, and of the folder: letters, digits and
        hyphens.
    source : path
        The paper, ``.tex``; see :func:`read`.
    out : path
        Where the folder is made; default: the working directory.

    Returns
    -------
    Edition
        ``folder``, ``reading``, ``labels`` and ``unread``.

    Raises
    ------
    TypeError, ValueError
        A key that is none, or that is taken.
    FileExistsError
        There is something of that name already; nothing is overwritten.
    ReadingError
        The paper cannot be read, or has no display.
    """
    key = checked_key(key)
    target = Path(out) / key
    if os.path.lexists(target):
        raise FileExistsError(f"{target} is there already: nothing is overwritten; take another "
                              "name, or --out for another folder")
    refuse_module(key)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent}")
    reading = read(source, by_tex(source))
    if not reading.displays:
        raise ReadingError(f"{Path(source).name} has no display: nothing was written"
                           + (f" ({reading.unread[0]})" if reading.unread else ""))
    unread = [*reading.unread, *_without_sign(reading.displays)]
    pairs = labels_of(reading.numbered, unread.append)
    place = files.hidden_neighbour(target)
    try:
        with files.naming(target):
            place.mkdir()
            of = " ".join(Path(source).name.split())
            for name, text in _texts(key, of, reading, pairs, unread).items():
                (place / name).write_text(text, encoding="utf-8", newline="\n")
            if pairs:
                (place / "EQUATIONS.md").write_text(_page(place, key), encoding="utf-8",
                                                    newline="\n")
            shutil.rmtree(place / "__pycache__", ignore_errors=True)
            os.rename(place, target)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return Edition(target, reading, tuple(label for label, _ in pairs), tuple(unread))


def _page(folder, key):
    """The text of EQUATIONS.md."""
    try:
        load(folder)
        return ledger.markdown(key)
    finally:
        unload(key)


def _without_sign(displays):
    """Lines on the commands that no page knows, with the first display that has each."""
    first = {}
    for display in displays:
        for name in terminal.unknown(display.formula):
            first.setdefault(name, display)
    return [f"{display.file}, line {display.line}: {name} is not known: it stands as in LaTeX"
            for name, display in first.items()]


def _texts(key, source, reading, pairs, unread):
    """File name -> text."""
    title = reading.title or key
    unnumbered = [(f"unnumbered-{k}", display) for k, display in enumerate(
        (display for display in reading.displays if display.label is None), 1)]
    names = function_names([label for label, _ in pairs])
    safe = title.replace("\\", "").replace('"', "'").rstrip(".")
    return {
        MARK: templates.mark(key, title, source),
        "__init__.py": templates.INIT.format(title=safe, key=templates.text(key),
                                             title_text=templates.text(title)),
        "formulas.py": templates.FORMULAS.format(key=key),
        "equations.py": templates.EQUATIONS + "".join(
            templates.stub(label, names[label], display) for label, display in pairs),
        tex_file.NAME: templates.displays(source, [*pairs, *unnumbered]),
        "READING.md": templates.report(key, source, reading, pairs, unnumbered, unread)}
