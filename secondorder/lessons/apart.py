"""Grading in a process of its own: whatever the code of an exercise does, there is a verdict."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..checks import positive_number

NOT_GRADED = "not graded"
PATIENCE = 4  # the clock allows this many times the CPU time: other processes may run
_STARTING = 60.0  # seconds for imports, on a busy machine
_KEPT = 4000  # bytes of output
# the same modules as here; the folder of the exercise is no place for NumPy to be imported from
_START = ("import os, sys; sys.path[:] = sys.argv.pop(1).split(os.pathsep); "
          "from secondorder.lessons.child import main; main()")
_running = set()


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


def grade(path, seconds=60.0):
    """Grade an exercise; its code runs in a process of its own.

    The process, and what it leaves running in its group, is ended with the verdict, and at its
    limits of time and memory. It keeps mistakes apart, not malice: the code runs with all rights of
    who grades it.

    Parameters
    ----------
    path : path
        A script or a notebook; its code is run, in the folder of the file.
    seconds : float > 0
        CPU time that its code and the check may take; by the clock four times as many, since a
        busy machine runs other processes too.

    Returns
    -------
    Verdict
        With `ok`, and a text that says what is wrong. Whatever the code does (an endless loop, an
        exit, a crash, a mistake of syntax), there is one.

    Raises
    ------
    FileNotFoundError
        If `path` is no file.
    TypeError, ValueError
        If `seconds` is no positive number.
    """
    path, seconds = require_file(path), positive_number(seconds, "seconds")
    with tempfile.TemporaryDirectory(prefix="secondorder-grade-") as place:
        answer = Path(place) / "answer.json"
        with open(Path(place) / "printed.txt", "w+b") as output:
            status = _run(path.resolve(), seconds, answer, output)
            output.seek(0)
            printed = output.read(_KEPT).decode(errors="replace")
        if answer.exists():
            told = json.loads(answer.read_text(encoding="utf-8"))
        else:
            told = {"outcome": NOT_GRADED, "text": f"{NOT_GRADED}: {_why(status, seconds)}"}
    return Verdict(path, printed=printed, **told)


def require_file(path):
    """`path` as a Path; FileNotFoundError if no file stands there."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    return path


def _run(path, seconds, answer, output):
    """Start the process and wait: its exit status, None if its time is over."""
    places = os.pathsep.join(os.path.abspath(place) for place in sys.path)
    environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONUNBUFFERED": "1"}
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        environment.setdefault(name, "1")
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _START, places, str(path), str(seconds), answer],
        cwd=path.parent, env=environment, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=output, stderr=subprocess.STDOUT)
    _running.add(process)
    try:
        return process.wait(PATIENCE * seconds + _STARTING)
    except subprocess.TimeoutExpired:
        return None
    finally:  # also at Ctrl-C: nothing of it goes on
        _running.discard(process)
        _end(process)


def end_all():
    """End the processes of all files that are being graded, in whatever thread."""
    for process in list(_running):
        _end(process)


def _end(process):
    """End a process and all processes of its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, ProcessLookupError, PermissionError):  # none left, or no such groups
        process.kill()
    process.wait()


def _why(status, seconds):
    """Why a process ended without a verdict."""
    if status is None:
        return f"still running after {PATIENCE * seconds:g} seconds (more time: --seconds)"
    if status >= 0:
        return (f"the code ended its process with status {status} before there was a verdict "
                "(os._exit?)")
    return f"the code ended its process by a signal: {signal.strsignal(-status)}"
