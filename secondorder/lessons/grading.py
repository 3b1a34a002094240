"""Grading an exercise: what it defines is put into the paper's own check, or before the checker."""

import json
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import verify
from ..ledger.mismatch import describe_mismatch
from .notebooks import folder

KINDS = ("loss", "layer", "activation")


@dataclass(frozen=True)
class Hunt:
    """What became of a class in which mistakes were planted.

    The checker compares the derivatives with the function itself, so it cannot tell that the
    function is wrong: `by_hand` says first what the formula of the exercise says of that. It is
    empty where both agree.
    """

    report: object
    by_hand: str = ""

    @property
    def ok(self):
        return bool(self.report) and not self.by_hand

    def __str__(self):
        if self.ok:
            return f"right: {self.report}"
        return "wrong: " + "\n\n".join(filter(None, [self.by_hand, str(self.report)]))


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
        return Hunt(getattr(verify, told[0])(names[name]()), by_hand(names[name], path))
    return judged(told, names[name], hints(path))


def by_hand(cls, path):
    """What is wrong with the function itself, as text; "" where nothing is, or nothing is known.

    The solution of the exercise defines ``by_hand(instance)``. It returns the name of a method, its
    result at a few points, the same from the formula number by number, and a hint.
    """
    compare = solution(path).get("by_hand")
    if compare is None:
        return ""
    try:
        method, result, expected, hint = compare(cls())
        result = np.asarray(result, dtype=float)
    except Exception:  # whatever the reader's class raises is a finding of the checker's report
        return ""
    if result.shape != expected.shape:
        told = f"shape {result.shape}, by the formula {expected.shape}"
    elif np.allclose(result, expected, rtol=1e-9, atol=1e-12):
        return ""
    else:
        told = describe_mismatch(result, expected, 1e-12 + 1e-9 * np.abs(expected),
                                 ("yours", "by the formula"), limit=3)
    return (f"{method} differs from the formula of the exercise, which was computed number by "
            f"number: {told}\nhint: {hint}. Mend {method} first: below, its derivatives are "
            "compared with it")


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
    return solution(path).get("WRONG", ())


def solution(path):
    """The names that the solution of the exercise of that name defines; none where it has none."""
    place = folder() / "exercises" / "solutions" / f"{Path(path).stem}.py"
    return defined(place) if place.is_file() else {}
