"""The process in which one exercise runs and is graded: see `apart`."""

import json
import math
import os
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

_MEMORY, _FILE = 4 * 2**30, 2**28  # bytes


class Ended(BaseException):
    """A limit ends the exercise; no ``except Exception`` in it keeps that off."""


def main():
    """Grade a file, write the verdict as JSON, end.

    The arguments of the process: the file, its seconds of CPU time, and where the verdict goes.
    """
    path, seconds, answer = sys.argv[1:]
    del sys.argv[1:]
    told = None
    try:
        from . import grading  # it takes a second, which is not the exercise's

        sys.path.append(str(Path(path).parent))  # last: what lies there does not stand for NumPy
        with warnings.catch_warnings():
            told = _graded(grading, Path(path), float(seconds))
    finally:  # threads of the exercise and its exit functions end here
        if told is not None:
            Path(answer).write_text(json.dumps(told), encoding="utf-8")
        os._exit(0 if told is not None else 70)


def _graded(grading, path, seconds):
    """The verdict on a file, as a dictionary."""
    try:
        _limit(seconds)
        grade, exercise = grading.graded(path)
        return {"outcome": "right" if grade.ok else "wrong", "text": str(grade),
                "exercise": exercise}
    except BaseException as problem:  # whatever the exercise raises is told
        return {"outcome": "not graded", "text": f"not graded: {_told(problem, path)}"}


def _limit(seconds):
    """Limit CPU time, memory and files; the process that asks for the verdict keeps the clock."""
    try:
        import resource
    except ImportError:  # on Windows
        return

    def end(number, frame):
        raise Ended(f"still running after {seconds:g} seconds of CPU time: an endless loop? (more "
                    "time: --seconds)")

    signal.signal(signal.SIGXCPU, end)
    most = math.ceil(time.process_time() + seconds)
    for name, soft, hard in (("RLIMIT_CPU", most, most + 5), ("RLIMIT_DATA", _MEMORY, _MEMORY),
                             ("RLIMIT_FSIZE", _FILE, _FILE)):
        kind = getattr(resource, name)
        allowed = resource.getrlimit(kind)[1]
        if allowed == resource.RLIM_INFINITY or hard <= allowed:
            resource.setrlimit(kind, (soft, hard))


def _told(problem, path):
    """An exception in words: what, and in which line of the exercise."""
    from .sources import NoExercise

    if isinstance(problem, NoExercise):
        return str(problem)
    text = " ".join(str(getattr(problem, "msg", problem)).split())
    told = f"{type(problem).__name__}{_place(problem, path)}" + (f": {text}" if text else "")
    return told[:400]


def _place(problem, path):
    """The innermost line of the exercise in words, " in cell 3, line 2"; "" where there is none."""
    own = str(path)
    lines = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(
        problem.__traceback__) if frame.filename.startswith(own)]
    if isinstance(problem, SyntaxError) and (problem.filename or "").startswith(own):
        lines.append((problem.filename, problem.lineno))
    if not lines:
        return ""
    cell = lines[-1][0][len(own):].lstrip(", ")
    return f" in {cell + ', ' if cell else ''}line {lines[-1][1]}"
