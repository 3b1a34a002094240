"""Grading in a process of its own: whatever the code of an exercise does, there is a verdict."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from ..checks import positive_number
from .child import PATIENCE

#: What a verdict says.
OUTCOMES = ("right", "wrong", "not graded")
NOT_GRADED = OUTCOMES[2]
_STARTING = 60.0  # seconds for imports, on a busy machine
_LOOK = 0.2  # seconds between two looks at what may ask for an early end
_KEPT = 4000  # bytes of output
# the same modules as here; the folder of the exercise is no place for NumPy to be imported from
_START = ("import os, sys; sys.path[:] = sys.argv.pop(1).split(os.pathsep); "
          "from secondorder.lessons.child import main; main()")


@dataclass(frozen=True)
class Verdict:
    """What became of one file.

    Attributes
    ----------
    path : Path
    outcome : str
        ``"right"``, ``"wrong"``, or ``"not graded"`` where no check came to an end.
    text : str
        The outcome, and what was checked, or what is wrong, or why nothing was graded.
    exercise : str
        Name of the edition's exercise that was solved, without ``.py``; "" for any other.
    printed : str
        Beginning of what the code printed, as it is.
    """

    path: Path
    outcome: str
    text: str
    exercise: str = ""
    printed: str = ""

    @property
    def ok(self):
        """Whether the exercise is right."""
        return self.outcome == "right"

    def __str__(self):
        return self.text


def grade(path, seconds=60.0, stop=None):
    """Grade an exercise; its code runs in a process of its own.

    The process, and what it leaves running in its group, is ended with the verdict, and at its
    limits of time and memory. It may start no other one. It keeps mistakes apart, not malice: the
    code runs with all rights of who grades it.

    Parameters
    ----------
    path : path
        A script or a notebook; its code is run, in the folder of the file.
    seconds : float > 0
        CPU time that its code and the check may take; by the clock four times as many, since a
        busy machine runs other processes too.
    stop : threading.Event, optional
        Ends the process early once it is set: the file is not graded.

    Returns
    -------
    Verdict
        With `ok`, and a text that says what is wrong. Whatever the code does (an endless loop, an
        exit, a crash, a mistake of syntax), there is one.

    Raises
    ------
    FileNotFoundError
    TypeError, ValueError
        If `path` is no file, or `seconds` no positive number.
    """
    path, seconds = require_file(path), positive_number(seconds, "seconds")
    with tempfile.TemporaryDirectory(prefix="secondorder-grade-") as place:
        answer = Path(place) / "answer.json"
        with open(Path(place) / "printed.txt", "w+b") as output:
            status = _run(path.resolve(), seconds, answer, output, stop)
            output.seek(0)
            printed = output.read(_KEPT).decode(errors="replace")
        told = _answer(answer) or {"outcome": "not graded", "text": "not graded: " + _why(
            status, seconds)}
    return Verdict(path, told["outcome"], told["text"], told.get("exercise", ""), printed)


def require_file(path):
    """`path` as a Path.

    Raises
    ------
    FileNotFoundError
    ValueError
        If it is a folder, a device or a pipe.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if not path.is_file():
        raise ValueError(f"path must be a file, got {path}")
    return path


def _run(path, seconds, answer, output, stop):
    """Start the process and wait: its exit status, None if it had to be ended."""
    places = os.pathsep.join(os.path.abspath(place) for place in sys.path)
    environment = os.environ | {"MPLBACKEND": "Agg"}
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        environment.setdefault(name, "1")
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _START, places, str(path), str(seconds), answer],
        cwd=path.parent, env=environment, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=output, stderr=subprocess.STDOUT)
    try:
        return _wait(process, PATIENCE * seconds + _STARTING, stop)
    finally:  # also at Ctrl-C: nothing of it goes on
        _end(process)


def _wait(process, seconds, stop):
    """The exit status of a process; None where its time is over, or `stop` is set earlier."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not (stop is not None and stop.is_set()):
        try:
            return process.wait(seconds if stop is None else _LOOK)
        except subprocess.TimeoutExpired:
            pass
    return None


def _end(process):
    """End a process and all processes of its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, ProcessLookupError, PermissionError):  # none left, or no such groups
        pass
    process.kill()
    process.wait()


def _answer(path):
    """What the process wrote, where it came to a verdict."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) and told.get("outcome") in OUTCOMES else None


def _why(status, seconds):
    """Why a process ended without a verdict."""
    if status is None:
        return f"still running after {PATIENCE * seconds:g} seconds (more time: --seconds)"
    if status >= 0:
        return (f"the code ended its process with status {status} before there was a verdict "
                "(os._exit?)")
    return f"the code ended its process by a signal: {signal.strsignal(-status)}"
