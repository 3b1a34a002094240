"""Grading an exercise: what it defines is put into the paper's own check, or before the checker."""

import json
import sys
import types
from dataclasses import dataclass
from pathlib import Path

from .. import verify
from .notebooks import folder

KINDS = ("loss", "layer", "activation")


@dataclass(frozen=True)
class Hunt:
    """What became of a class in which mistakes were planted; prints the checker's report."""

    ok: bool
    report: object

    def __str__(self):
        return f"right: {self.report}" if self.ok else f"wrong: {self.report}"


def grade(path):
    """Grade an exercise.

    Parameters
    ----------
    path : path
        A script or a notebook; its code is run.

    Returns
    -------
    Grade or Hunt
        With `ok`, and a text that says what is wrong.

    Raises
    ------
    FileNotFoundError
    ValueError
        If it is no exercise, or does not define what is graded.
    """
    path = Path(path)
    names = defined(path)
    told = names.get("GRADE")
    if not isinstance(told, tuple) or len(told) not in (2, 3):
        raise ValueError(f"{path} is no exercise: it does not say in GRADE what is graded")
    name = told[-1].rpartition(".")[2]
    if name not in names:
        raise ValueError(f"{path} does not define {name}")
    if told[0] in KINDS:
        report = getattr(verify, told[0])(names[name]())
        return Hunt(bool(report), report)
    return judged(told, names[name], hints(path))


def judged(told, function, known=()):
    """The `Grade` of a function inside the checks that an exercise's GRADE names: of the first that
    fails, or of the last.

    Parameters
    ----------
    told : tuple
        Paper, label or labels, implementation.
    function : callable
    known : sequence of (callable, str)
        Usual mistakes and what to say of them.
    """
    paper, labels, implementation = told
    for label in (labels,) if isinstance(labels, str) else labels:
        grade = verify.equation(paper, label, function, implementation=implementation, hints=known)
        if not grade.ok:
            break
    return grade


def defined(path):
    """The names that a script or notebook defines when it is run, not as the main program."""
    module = types.ModuleType("exercise")
    module.__file__ = str(path)
    sys.modules["exercise"] = module  # classes look their module up, as dataclasses do
    exec(compile(code_of(path), str(path), "exec"), module.__dict__)
    return vars(module)


def code_of(path):
    """The code of a script, or of a notebook's cells."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    try:
        cells = json.loads(text)["cells"]
        return "\n\n".join("".join(cell["source"]) for cell in cells
                           if cell["cell_type"] == "code")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no notebook") from error


def hints(path):
    """Usual mistakes of the exercise of that name and what to say of them; () where there are
    none.
    """
    solution = folder() / "exercises" / "solutions" / f"{Path(path).stem}.py"
    return defined(solution).get("WRONG", ()) if solution.is_file() else ()
