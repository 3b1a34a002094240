"""What a class handed in: a folder of files, each graded in a process of its own, into one CSV."""

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
from . import exercises
from .apart import NOT_GRADED, Verdict, grade

#: The columns of the table; `of` is how many points the exercise has.
COLUMNS = ("name", "exercise", "verdict", "points", "of", "hint", "seconds", "file")
_ENDINGS = (".py", ".ipynb")
_PASSED_OVER = ("__pycache__", "__MACOSX", "node_modules", "venv")
# a spreadsheet takes a cell that begins with one of these for a formula
_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")


@dataclass(frozen=True)
class Graded:
    """A file that was handed in, by its place below the folder of the class, and by whom: the
    folder that it stands in, or its own name in a flat folder; with its verdict, and the seconds
    that it took.
    """

    name: str
    file: str
    verdict: Verdict
    seconds: float = 0.0

    @property
    def points(self):
        """Points, and how many there are; "" twice for what is no exercise of the edition."""
        if not self.verdict.exercise:
            return "", ""
        most = exercises.facts(self.verdict.exercise).points
        return most if self.verdict.ok else 0, most

    def row(self):
        """The cells of the table, as text that a spreadsheet takes for text."""
        told = self.verdict
        return [*map(_cell, (self.name, told.exercise, told.outcome)), *map(str, self.points),
                _cell(hint(told)), f"{self.seconds:.1f}", _cell(self.file)]

    def feedback(self):
        """What its author is told, as text."""
        points, most = self.points
        told = [f"{self.file}: " + (f"{self.verdict.exercise}, {points} of {most} points"
                                    if most else "no points"), self.verdict.text]
        if self.verdict.printed.strip() and not self.verdict.ok:
            told.append(f"it printed:\n{self.verdict.printed.rstrip()}")
        return _readable("\n\n".join(told), keep="\n")


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
        if _passed_over(path.name):
            continue
        if path.is_dir() and not path.is_symlink():
            entries += [(path.name, file) for file in _below(folder, path) or [path.name]]
        elif path.suffix.lower() in _ENDINGS:
            entries.append((path.stem, path.name))
    if not entries:
        raise ValueError(f"{folder} holds no script (.py), no notebook (.ipynb) and no folder with "
                         "either")
    return entries


def _below(folder, student):
    """The scripts and notebooks in a student's folder, however deep."""
    found = []
    for place, below, names in os.walk(student):
        below[:] = sorted(name for name in below if not _passed_over(name)
                          and not Path(place, name, "pyvenv.cfg").exists())
        found += [str(Path(place, name).relative_to(folder)) for name in sorted(names)
                  if not _passed_over(name) and Path(name).suffix.lower() in _ENDINGS]
    return found


def _passed_over(name):
    return name.startswith(".") or name in _PASSED_OVER


def grade_folder(folder, out, seconds=60.0, jobs=1, say=lambda line: None, overwrite=False,
                 minutes=None, feedback=None):
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
    minutes : float > 0, optional
        By the clock, for the whole class: what has no verdict by then is not graded.
    feedback : path, optional
        A folder for one text a student, with all that is told of his or her files.

    Returns
    -------
    ClassGrades

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
    if not out.parent.is_dir():
        raise FileNotFoundError(f"no such directory: {out.parent}")
    texts = {} if feedback is None else _texts(files.output_directory(feedback), handed_in)
    if not overwrite:
        files.refuse_existing(out, *texts.values())
    stop, pool, result = threading.Event(), futures.ThreadPoolExecutor(jobs), ClassGrades(out)
    clock = threading.Timer(threading.TIMEOUT_MAX if minutes is None
                            else 60 * positive_number(minutes, "minutes"), stop.set)
    try:
        clock.start()
        waiting = [pool.submit(_graded, folder, *one, seconds, stop) for one in handed_in]
        for done in futures.as_completed(waiting):
            one = done.result()
            result.rows.append(one)
            say(f"[{len(result.rows)}/{len(handed_in)}] {_cell(one.file)}: {one.verdict.outcome}, "
                f"{one.seconds:.1f} s")
    finally:
        stop.set()
        clock.cancel()
        pool.shutdown(cancel_futures=True)
        result.rows.sort(key=lambda one: handed_in.index((one.name, one.file)))
        if result.rows:
            files.write_text(out, _table(result.rows))
        for name, path in texts.items():
            told = [one.feedback() for one in result.rows if one.name == name]
            if told:
                files.write_text(path, "\n\n\n".join(told) + "\n")
    return result


def _graded(folder, name, file, seconds, stop):
    """The `Graded` of one file, whatever stands in its place."""
    path, began = folder / file, time.monotonic()

    def without(why):
        return Graded(name, file, Verdict(path, NOT_GRADED, f"{NOT_GRADED}: {why}"),
                      time.monotonic() - began)

    if path.is_dir():
        return without("the folder holds no script (.py) and no notebook (.ipynb)")
    if not stop.is_set():
        try:
            verdict = grade(path, seconds, stop)
        except (OSError, ValueError) as problem:  # it went away, or no process could be started
            return without(problem)
        if verdict.outcome != NOT_GRADED or not stop.is_set():
            return Graded(name, file, verdict, time.monotonic() - began)
    return without("the time for the whole class was over (more time: --minutes)")


def _texts(folder, handed_in):
    """Where each student's feedback goes, by name; names that a file system lacks are changed."""
    texts = {}
    for name in dict(handed_in):
        stem = re.sub(r"[^\w.-]+", "_", name).strip(".") or "student"
        while folder / f"{stem}.txt" in texts.values():
            stem += "_"
        texts[name] = folder / f"{stem}.txt"
    return texts


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
    text = _readable(text)
    return f"'{text}" if _FORMULA.match(text) else text


def _readable(text, keep=""):
    """A text with blanks for what is no letter that can be printed, but for those of `keep`."""
    return "".join(letter if letter.isprintable() or letter in keep else " " for letter in text)
