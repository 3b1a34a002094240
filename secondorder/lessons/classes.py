"""What a class handed in: a folder of files, each graded in a process of its own, into one CSV."""

import contextlib
import csv
import io
import os
import re
import threading
import time
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path

from .. import files
from ..checks import positive_number, whole_number
from .apart import NOT_GRADED, Verdict, grade

#: The columns of the table.
COLUMNS = ("name", "exercise", "verdict", "hint", "seconds", "file")
_ENDINGS = (".py", ".ipynb")
_PASSED_OVER = ("__pycache__", "__MACOSX", "node_modules", "venv")
# a spreadsheet takes a cell that begins with one of these for a formula
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")


@dataclass(frozen=True)
class Submission:
    """One file that was handed in, by its place below the folder of the class, and by whom: the
    folder that it stands in, or its own name in a flat folder. `problem` says why there is nothing
    to be graded, "" where there is.
    """

    name: str
    file: str
    problem: str = ""


@dataclass(frozen=True)
class Graded:
    """A submission with its verdict, and the seconds that it took."""

    submission: Submission
    verdict: Verdict
    seconds: float = 0.0

    def row(self):
        """The cells of the table, as text that a spreadsheet takes for text."""
        exercise = self.verdict.exercise
        cells = (self.submission.name, exercise, self.verdict.outcome, hint(self.verdict))
        return [*map(_cell, cells), f"{self.seconds:.1f}", _cell(self.submission.file)]


@dataclass
class ClassGrades:
    """What became of a class: the table that was written, and a `Graded` a file in the order of
    names.
    """

    path: Path
    rows: list = field(default_factory=list)

    @property
    def ok(self):
        """Whether every file is right."""
        return all(one.verdict.ok for one in self.rows)

    def __str__(self):
        said = [f"{sum(one.verdict.outcome == outcome for one in self.rows)} {outcome}"
                for outcome in ("right", "wrong", NOT_GRADED)]
        return f"{len(self.rows)} submissions: {', '.join(said)}"


def submissions(folder):
    """What was handed in, in the order of names.

    A folder in it is a student with all files below it; a script or notebook that stands in it by
    itself is a student, too. Links to folders, hidden folders, caches and environments are passed
    over, as is every file that is no script and no notebook.

    Parameters
    ----------
    folder : path

    Returns
    -------
    list of Submission

    Raises
    ------
    NotADirectoryError
    ValueError
        If nothing was handed in.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise NotADirectoryError(f"not a directory: {folder}")
    entries = []
    for path in sorted(folder.iterdir()):
        if _passed_over(path.name):
            continue
        if path.is_dir() and not path.is_symlink():
            entries += _of_student(folder, path)
        elif path.suffix.lower() in _ENDINGS:
            entries.append(Submission(path.stem, str(path.relative_to(folder))))
    if not entries:
        raise ValueError(f"{folder} holds no script (.py), no notebook (.ipynb) and no folder with "
                         "either")
    return entries


def _of_student(folder, student):
    """The submissions of one student's folder, however deep."""
    entries = []
    for place, below, names in os.walk(student):
        below[:] = sorted(name for name in below if not _passed_over(name)
                          and not Path(place, name, "pyvenv.cfg").exists())
        entries += [Submission(student.name, str(Path(place, name).relative_to(folder)))
                    for name in sorted(names) if not _passed_over(name)
                    and Path(name).suffix.lower() in _ENDINGS]
    return entries or [Submission(student.name, student.name,
                                  "the folder holds no script (.py) and no notebook (.ipynb)")]


def _passed_over(name):
    return name.startswith(".") or name in _PASSED_OVER


def grade_folder(folder, out, seconds=60.0, jobs=1, say=lambda line: None, overwrite=False):
    """Grade what a class handed in, and write one table.

    Every file runs in a process of its own, as `grade` does it: whatever one of them does, the
    others get their verdict. At Ctrl-C the table is written with what has been graded.

    Parameters
    ----------
    folder : path
        A folder a student, or scripts and notebooks side by side; see `submissions`.
    out : path
        The table, CSV in UTF-8 with a byte order mark, so that a spreadsheet reads every name. A
        file that is there already is replaced only with `overwrite`.
    seconds : float > 0
        CPU time that the code and the check of a file may take, as in `grade`.
    jobs : int
        Files that are graded at the same time.
    say : callable
        Takes a line of text for every file that has its verdict.
    overwrite : bool

    Returns
    -------
    ClassGrades

    Raises
    ------
    FileExistsError
        If something stands at `out`, without `overwrite`; before any work is done.
    NotADirectoryError, ValueError, TypeError
        If `folder` is none, holds nothing to grade, or an option is wrong.
    """
    seconds, jobs = positive_number(seconds, "seconds"), whole_number(jobs, "jobs", 1)
    handed_in, folder, out = submissions(folder), Path(folder), Path(out)
    if not out.parent.is_dir():
        raise FileNotFoundError(f"no such directory: {out.parent}")
    if not overwrite:
        files.refuse_existing(out)
    result = ClassGrades(out)
    with contextlib.closing(_verdicts(folder, handed_in, seconds, jobs)) as verdicts:
        try:
            for one in verdicts:
                result.rows.append(one)
                say(f"[{len(result.rows)}/{len(handed_in)}] {_cell(one.submission.file)}: "
                    f"{one.verdict.outcome}, {one.seconds:.1f} s")
        finally:
            place = {one: number for number, one in enumerate(handed_in)}
            result.rows.sort(key=lambda one: place[one.submission])
            if result.rows:
                files.write_text(out, _table(result.rows))
    return result


def _verdicts(folder, handed_in, seconds, jobs):
    """Each submission's `Graded`, as they come; what still runs is ended with the generator."""
    stop = threading.Event()
    pool = futures.ThreadPoolExecutor(jobs)
    try:
        waiting = [pool.submit(_graded, folder, one, seconds, stop) for one in handed_in]
        for done in futures.as_completed(waiting):
            yield done.result()
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def _graded(folder, submission, seconds, stop):
    """The `Graded` of one submission, whatever stands in its place."""
    path, began = folder / submission.file, time.monotonic()
    if submission.problem:
        return Graded(submission, _not_graded(path, submission.problem))
    try:
        verdict = grade(path, seconds, stop)
    except (OSError, ValueError) as problem:  # it went away, or no process could be started
        verdict = _not_graded(path, str(problem))
    return Graded(submission, verdict, time.monotonic() - began)


def _not_graded(path, why):
    return Verdict(path, NOT_GRADED, f"{NOT_GRADED}: {why}")


def hint(verdict):
    """A verdict's hint, or else what is wrong, in one line; "" where all is right."""
    if verdict.ok:
        return ""
    lines = [line.strip() for line in verdict.text.splitlines() if line.strip()]
    hints = [line.removeprefix("hint: ") for line in lines if line.startswith("hint: ")]
    if hints:
        return hints[0]
    told = [lines[0].removeprefix(f"{verdict.outcome}: "), "; ".join(lines[1:3])]
    return ": ".join(filter(None, told))[:400]


def _table(rows):
    """The table as text; the byte order mark makes a spreadsheet read it as UTF-8."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    writer.writerows(one.row() for one in rows)
    return "\ufeff" + stream.getvalue()


def _cell(text):
    """A text in one line, which can be written in UTF-8 and is no formula to a spreadsheet."""
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return f"'{text}" if _FORMULA.match(text) else text
