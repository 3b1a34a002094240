"""The process in which one exercise runs and is graded: see `apart`."""

import errno
import faulthandler
import json
import os
import signal
import sys
import traceback
import warnings
from pathlib import Path

_MEMORY, _FILE = 4 * 2**30, 2**28  # bytes
#: The clock allows this many times the CPU time: other processes may run, the code may wait.
PATIENCE = 4


def main():
    """Grade a file, write the verdict as JSON, end.

    The arguments of the process: the file, its seconds of CPU time, where the verdict goes, and
    where the traceback of an exercise that takes too long goes.
    """
    path, seconds, answer, trace = sys.argv[1:]
    del sys.argv[1:]
    own, told = os.getpid(), None
    try:
        from . import grading  # it takes a second, which is not the exercise's

        _limit()
        sys.path.append(str(Path(path).parent))  # last: what lies there does not stand for NumPy
        with open(trace, "w") as stream, warnings.catch_warnings():
            _watch(float(seconds), stream)
            told = _graded(grading, Path(path))
            if os.getpid() == own:  # a copy of the process is not watched
                _watch_no_more()
    finally:  # threads of the exercise, its exit functions and copies of the process end here
        if told is not None and os.getpid() == own:
            Path(answer).write_text(json.dumps(told), encoding="utf-8")
        os._exit(0 if told is not None else 70)


def _watch(seconds, stream):
    """End the process after `seconds` of CPU time, or `PATIENCE` times as many on the clock.

    Either way the traceback goes to `stream` first; CPU time ends it by SIGPROF.
    """
    faulthandler.dump_traceback_later(PATIENCE * seconds, exit=True, file=stream)
    if hasattr(signal, "setitimer"):  # Windows has none
        faulthandler.register(signal.SIGPROF, stream, chain=True)
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _watch_no_more():
    faulthandler.cancel_dump_traceback_later()
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, 0)


def _graded(grading, path):
    """The verdict on a file, as a dictionary."""
    try:
        grade, exercise = grading.graded(path)
        return {"outcome": "right" if grade.ok else "wrong", "text": str(grade),
                "exercise": exercise}
    except BaseException as problem:  # whatever the exercise raises is told
        return {"outcome": "not graded", "text": f"not graded: {_told(problem, path)}"}


def _told(problem, path):
    """An exception in words: what, and in which line of the exercise."""
    from .sources import NoExercise

    if isinstance(problem, NoExercise):
        return str(problem)
    where = place(problem, path)
    if isinstance(problem, SystemExit):
        return f"the code ends its process{where} (sys.exit, exit or quit): take that out"
    text = _text(problem)
    if isinstance(problem, OSError) and problem.filename == str(path):
        return f"the file cannot be read: {problem.strerror}"
    if isinstance(problem, OSError) and problem.errno == errno.EFBIG:
        return f"the code prints or writes without end{where}: more than {_FILE >> 20} MB"
    if isinstance(problem, EOFError) and ("reading a line" in text or not text):
        return f"the code asks for input{where}: nobody answers here, put the value in the code"
    name = type(problem).__name__
    return f"{name}{where}: {text}"[:400] if text else f"{name}{where}"


def _text(problem):
    """An exception's text in one line."""
    try:
        return " ".join(str(getattr(problem, "msg", problem)).split())
    except Exception:  # an exception of one's own whose text raises
        return "(its text cannot be read)"


def place(problem, path):
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


def _limit():
    """Keep an exercise from filling the memory or the disk of who grades it."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    for name, most in (("RLIMIT_DATA", _MEMORY), ("RLIMIT_FSIZE", _FILE), ("RLIMIT_CORE", 0)):
        kind = getattr(resource, name, None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            if hard == resource.RLIM_INFINITY or hard >= most:
                resource.setrlimit(kind, (most, hard))
