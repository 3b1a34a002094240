"""What a class handed in: a folder of files, each graded in a process of its own, into one CSV."""

import csv
import io
import time
from concurrent import futures
from dataclasses import dataclass
from pathlib import Path

from .. import files
from ..checks import positive_number, whole_number
from . import exercises
from .apart import NOT_GRADED, Verdict, end_all, grade

#: The columns of the table; `of` is how many points the exercise has.
COLUMNS = ("name", "exercise", "verdict", "points", "of", "hint", "seconds", "file")
_ENDINGS = (".py", ".ipynb")
_PASSED_OVER = ("__pycache__", "__MACOSX", "node_modules", "venv")


@dataclass(frozen=True)
class Graded:
    """A file that was handed in, by its place below the folder of the class, and by whom: the
    folder that it stands in, or its own name in a flat folder; with its verdict, and the seconds
    that it took.
    """

    name: str
    file: str
    verdict: Verdict
    seconds: float

    @property
    def points(self):
        """Points, and how many there are; "" twice for what is no exercise of the edition."""
        if not self.verdict.exercise:
            return "", ""
        most = exercises.facts(self.verdict.exercise).points
        return most if self.verdict.ok else 0, most

    def row(self):
        """The cells of the table."""
        told = self.verdict
        return [self.name, told.exercise, told.outcome, *self.points, hint(told),
                f"{self.seconds:.1f}", self.file]

    def feedback(self):
        """What its author is told, as text."""
        points, most = self.points
        told = [f"{self.file}: " + (f"{self.verdict.exercise}, {points} of {most} points"
                                    if most else "no points"), self.verdict.text]
        if self.verdict.printed.strip() and not self.verdict.ok:
            told.append(f"it printed:\n{self.verdict.printed.rstrip()}")
        return "\n\n".join(told)


def summary(rows):
    """How many files got which verdict, as text."""
    said = [f"{sum(one.verdict.outcome == outcome for one in rows)} {outcome}"
            for outcome in ("right", "wrong", NOT_GRADED)]
    return f"{len(rows)} submissions: {', '.join(said)}"


def submissions(folder):
    """What was handed in, in the order of names.

    A folder in it is a student with all files below it; a script or notebook that stands in it by
    itself is a student, too. Hidden folders, caches and environments are passed over, as is every
    file that is no script and no notebook.

    Parameters
    ----------
    folder : path

    Returns
    -------
    list of (str, str)
        Whose file, and its place below `folder`; where a student's folder has none, the folder.

    Raises
    ------
    NotADirectoryError
    ValueError
        If nothing was handed in.
    """
    folder, entries = Path(folder), []
    if not folder.is_dir():
        raise NotADirectoryError(f"not a directory: {folder}")
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink() and not _passed_over(Path(path.name)):
            below = [place.relative_to(folder) for place in sorted(path.rglob("*"))]
            found = [str(place) for place in below
                     if place.suffix.lower() in _ENDINGS and not _passed_over(place)]
            entries += [(path.name, file) for file in found or [path.name]]
        elif path.suffix.lower() in _ENDINGS and not path.name.startswith("."):
            entries.append((path.stem, path.name))
    if not entries:
        raise ValueError(f"{folder} holds no script (.py), no notebook (.ipynb) and no folder with "
                         "either")
    return entries


def _passed_over(place):
    return any(part.startswith(".") or part in _PASSED_OVER for part in place.parts)


def grade_folder(folder, out, seconds=60.0, jobs=1, say=lambda line: None, overwrite=False,
                 feedback=None):
    """Grade what a class handed in, and write one table.

    Every file runs in a process of its own, as `grade` does it: whatever one of them does, the
    others get their verdict. At Ctrl-C the table is written with what has been graded.

    Parameters
    ----------
    folder : path
        A folder a student, or scripts and notebooks side by side; see `submissions`.
    out : path
        The table, CSV in UTF-8 with a byte order mark, so that a spreadsheet reads every name.
    seconds : float > 0
        CPU time that the code and the check of a file may take, as in `grade`.
    jobs : int
        Files that are graded at the same time.
    say : callable
        Takes a line of text for every file that has its verdict.
    overwrite : bool
        Whether the table and the files of `feedback` may replace what is there.
    feedback : path, optional
        A folder for one text a student, with all that is told of his or her files.

    Returns
    -------
    list of Graded
        In the order of names.

    Raises
    ------
    FileExistsError
        If something stands where the table or the feedback goes, without `overwrite`; before any
        work is done.
    NotADirectoryError, ValueError, TypeError
        If `folder` is none, holds nothing to grade, or an option is wrong.
    """
    seconds, jobs = positive_number(seconds, "seconds"), whole_number(jobs, "jobs", 1)
    handed_in, folder, out = submissions(folder), Path(folder), Path(out)
    files.require_writable(out)
    texts = {}
    if feedback is not None:
        place = files.output_directory(feedback)
        texts = {name: place / f"{name}.txt" for name, _ in handed_in}
    if not overwrite:
        files.refuse_existing(out, *texts.values())
    pool, rows = futures.ThreadPoolExecutor(jobs), []
    try:
        waiting = [pool.submit(_graded, folder, *one, seconds) for one in handed_in]
        for done in futures.as_completed(waiting):
            one = done.result()
            rows.append(one)
            say(f"[{len(rows)}/{len(handed_in)}] {_cell(one.file)}: {one.verdict.outcome}, "
                f"{one.seconds:.1f} s")
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        end_all()
        rows.sort(key=lambda one: handed_in.index((one.name, one.file)))
        files.write_text(out, _table(rows))
        for name, path in texts.items():
            told = [one.feedback() for one in rows if one.name == name]
            if told:
                files.write_text(path, "\n\n\n".join(told) + "\n")
    return rows


def _graded(folder, name, file, seconds):
    """The `Graded` of one file, whatever stands in its place."""
    path, began = folder / file, time.monotonic()
    try:
        verdict = grade(path, seconds)
    except OSError as problem:  # an empty folder, or no process could be started
        why = "the folder holds no script (.py) and no notebook (.ipynb)"
        verdict = Verdict(path, NOT_GRADED,
                          f"{NOT_GRADED}: {why if path.is_dir() else problem}")
    return Graded(name, file, verdict, time.monotonic() - began)


def hint(verdict):
    """A verdict's hint, or else what is wrong, in one line; "" where all is right."""
    if verdict.ok:
        return ""
    lines = [line.strip() for line in verdict.text.splitlines()]
    return next((line for line in lines if line.startswith("hint: ")), lines[0])[:400]


def _table(rows):
    """The table as text; the byte order mark makes a spreadsheet read it as UTF-8."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    writer.writerows([_cell(text) for text in one.row()] for one in rows)
    return "\ufeff" + stream.getvalue()


def _cell(value):
    """A text in one line that is no formula to a spreadsheet."""
    text = "".join(letter if letter.isprintable() else " " for letter in str(value))
    return f"'{text}" if text.lstrip()[:1] in tuple("=+-@") else text
