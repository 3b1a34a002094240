"""Percent scripts as Jupyter notebooks."""

import json
import os
import re
from pathlib import Path

from .. import files

CLASSES = "classes"  # the folder of the plans
#: The tag of a cell -> its place in a talk (``jupyter nbconvert --to slides``, RISE).
SLIDES = {"slide": "slide", "below": "subslide", "answer": "subslide", "notes": "notes",
          "skip": "skip"}


def folder():
    """The folder of the scripts: inside the package where it is installed, beside it in the source
    tree (also where that is installed to be edited).
    """
    package = Path(__file__).resolve().parents[1]
    inside = package / "tutorials"
    return inside if inside.is_dir() else package.parent / "tutorials"


def scripts(names=()):
    """Tutorials, exercises and plans of a class in their order, as paths below `folder`.

    Parameters
    ----------
    names : sequence of str
        Beginnings of names, or of the folder ``exercises``; () for all tutorials and exercises. A
        plan tells the answers, so that it is asked for by the folder: ``classes/90_steps``.

    Raises
    ------
    ValueError
        If a beginning fits nothing.
    """
    home = folder()
    scripts = [*sorted(home.glob("[0-9]*.py")), *sorted((home / "exercises").glob("[0-9]*.py"))]
    places = [path.relative_to(home) for path in scripts]
    if any(name.startswith(CLASSES) for name in names):
        places += plans()
    for name in names:
        if not any(_fits(place, name) for place in places):
            raise ValueError(f"no tutorial or exercise begins with {name!r}; there are "
                             f"{', '.join(str(place) for place in places)}")
    return [place for place in places if not names or any(_fits(place, name) for name in names)]


def plans(name=""):
    """Plans of a class, as paths below `folder`.

    Parameters
    ----------
    name : str
        Of one plan (``"steps"``), or the minutes of all that take so long (``"90"``); "" for all.

    Raises
    ------
    ValueError
        If there is no such plan.
    """
    home = folder()
    places = [path.relative_to(home) for path in sorted((home / CLASSES).glob("[0-9]*.py"))]
    fitting = [place for place in places
               if not name or name in (*place.stem.split("_"), place.stem)]
    if not fitting:
        raise ValueError(f"no plan of a class is called {name!r}; there are "
                         f"{', '.join(place.stem for place in places)}")
    return fitting


def _fits(place, name):
    return place.name.startswith(name) or str(place).startswith(name)


def cells(text):
    """The cells of a percent script.

    Returns
    -------
    list of (str, str)
        ("markdown" | "code", text); empty cells are left out. What stands before the first mark is
        a cell of its own.
    """
    return [(kind, body) for kind, body, _ in tagged_cells(text)]


def tagged_cells(text):
    """The cells of a percent script as `cells` has them, each with a list of its tags behind."""
    found = []
    for part in re.split(r"^(?=# %%)", text, flags=re.M):
        mark, _, body = part.partition("\n") if part.startswith("# %%") else ("", "", part)
        body = body.strip("\n")
        if "[markdown]" in mark:
            body = re.sub(r"^# ?", "", body, flags=re.M)
        if body.strip():
            found.append(("markdown" if "[markdown]" in mark else "code", body,
                          re.findall(r'"([\w-]+)"', mark.partition("tags=")[2])))
    return found


def metadata(tags):
    """The metadata of a cell: its tags, and what JupyterLab and a talk have to do with it."""
    told = {"tags": tags} if tags else {}
    if "answer" in tags:
        told |= {"tags": [*tags, "hide-input"], "jupyter": {"source_hidden": True}}
    for tag in tags:
        if tag in SLIDES:
            told["slideshow"] = {"slide_type": SLIDES[tag]}
    return told


def notebook_of(told):
    """A notebook (format 4.5) as a dictionary, with cells of (kind, text, metadata)."""
    out = []
    for number, (kind, body, known) in enumerate(told):
        cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": known,
                "source": body.splitlines(keepends=True)}
        out.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    return {"cells": out, "nbformat": 4, "nbformat_minor": 5,
            "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python",
                                        "name": "python3"},
                         "language_info": {"name": "python"}}}


def save(target, content, say):
    """Write a notebook; False, and a line of text, where something stands there already."""
    if os.path.lexists(target):
        say(f"kept: {target}: there already; move it away to get a new one")
        return False
    files.write_text(target, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return True


def write_notebooks(out, names=(), say=print):
    """Write notebooks into a folder, exercises into ``exercises/`` in it.

    What stands there is kept: somebody may have worked in it.

    Parameters
    ----------
    out : path
    names : sequence of str
        As `scripts` takes them.
    say : callable
        Takes a line of text for every file that is kept.

    Returns
    -------
    list of Path
        What was written.
    """
    out, written = files.output_directory(out), []
    for place in scripts(names):
        text = (folder() / place).read_text(encoding="utf-8")
        target = out / place.with_suffix(".ipynb")
        if place.parent != Path("."):
            files.output_directory(target.parent)
        content = notebook_of([(kind, body, metadata(tags))
                               for kind, body, tags in tagged_cells(text)])
        if save(target, content, say):
            written.append(target)
    return written
