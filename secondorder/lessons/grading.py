"""Grading an exercise: what it defines is put into the paper's own check, or before the checker."""

import warnings
from dataclasses import dataclass, replace

import numpy as np

from .. import verify
from ..ledger.mismatch import describe_mismatch
from . import sources
from .exercises import grades, labels, of_grade, solution
from .sources import NoExercise

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


def graded(path):
    """Grade an exercise, a script or a notebook, in this process: see `apart.grade` for one that is
    not trusted.

    Returned are a `Grade` or a `Hunt`, and the name of the edition's exercise that has this GRADE,
    "" where it is another one. NoExercise if there is no code, neither GRADE nor an exercise's
    name, or not what is graded; whatever the code raises comes through.
    """
    with warnings.catch_warnings(), np.errstate():  # what the code sets is not for the check
        names = sources.run(path)
    # a solution, or an answer without the line GRADE, is known by the exercise's name
    exercise, told = of_grade(_checked(names.get("GRADE", grades().get(path.stem))))
    name = told[-1].rpartition(".")[2]
    if name not in names:
        raise NoExercise(f"the file does not define {name}, which its GRADE names")
    return answer(exercise, told, names[name]), exercise


def answer(exercise, told, given):
    """The Grade or Hunt of a function or class that answers an exercise ("" for one that is not the
    edition's) with the GRADE `told`. NoExercise if it is none, or the edition's own.
    """
    name = told[-1].rpartition(".")[2]
    if not callable(given):
        raise NoExercise(f"{name} must be a function or a class, got {given!r:.60}")
    module = getattr(given, "__module__", None) or ""
    if module.partition(".")[0] == "secondorder":
        raise NoExercise(f"{name} is imported from {module}: write it out, it is what is asked")
    known = solution(exercise)
    if told[0] in KINDS:
        return Hunt(getattr(verify, told[0])(given()), by_hand(given, known))
    result = judged(told, given, known.get("WRONG", ()))
    if result.ok and result.wraps:
        raise NoExercise(f"{name} calls the edition's {result.name}: write it out, it is what is "
                         "asked")
    return also_at(known.get("CASES", ()), given, known.get(name), result) if result.ok else result


def require_right(exercise, given):
    """AssertionError, which says what is wrong, where a function or class does not answer the
    edition's exercise of this name: the hidden test of an assignment.
    """
    try:
        found = answer(exercise, grades()[exercise], given)
    except NoExercise as problem:
        raise AssertionError(str(problem)) from problem
    if not found.ok:
        raise AssertionError(str(found))


def also_at(cases, function, right, grade):
    """The Grade of an answer that passes the paper's check, after a comparison with the solution at
    calls that the check never makes: `cases` has their arguments, and a hint for a difference.
    """
    for arguments, hint in cases:
        with np.errstate(all="ignore"):
            expected = np.asarray(right(*arguments), dtype=float)
            try:
                result = np.asarray(function(*arguments), dtype=float)
                if np.allclose(result, expected, rtol=1e-9, atol=0):
                    continue
                told = f"is {result:.9g}" if result.ndim == 0 else f"has shape {result.shape}"
            except Exception as problem:
                told, hint = f"raises {type(problem).__name__}: {problem}", ""
        shown = ", ".join(f"{argument:g}" for argument in arguments)
        return replace(grade, ok=False, hint=hint, message=(
            "the paper's check passes, but not all that the exercise states holds: "
            f"{function.__name__}({shown}) {told}, right is {expected:.9g}"))
    return grade


def _checked(told):
    """GRADE, if it is one."""
    if told is None:
        raise NoExercise("the file is no exercise: it does not say in GRADE what is graded, and it "
                         "has no exercise's name. Copy the line GRADE from the exercise")
    if not isinstance(told, tuple) or len(told) != (2 if told[:1] and told[0] in KINDS else 3):
        raise NoExercise("GRADE must be (paper, label or labels, name of a function) or (one of "
                         f"{', '.join(KINDS)}, name of a class), got {told!r:.80}")
    return told


def by_hand(cls, known):
    """What is wrong with the function itself, as text; "" where nothing is, or nothing is known.

    The solution of the exercise, whose names are `known`, defines ``by_hand(instance)``. It returns
    the name of a method, its result at a few points, the same from the formula number by number,
    and a hint.
    """
    compare = known.get("by_hand")
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
    fails, or of the last. `known` has usual mistakes and what to say of them.
    """
    for label in labels(told):
        grade = verify.equation(told[0], label, function, implementation=told[-1], hints=known)
        if not grade.ok:
            break
    return grade
