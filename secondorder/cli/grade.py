"""`secondorder grade` and `secondorder notebook`: exercises and tutorials."""

import time
from pathlib import Path

from secondorder import files

from .printable import one_line
from .parsing import force_option, positive

ABOUT = """\
Grade an exercise: its function runs inside the paper's check, in place of the edition's function.
Every file gets a verdict: right, wrong, or not graded and why. A wrong answer gets the claim, the
entries and the ratio, and a hint if the mistake is a usual one. What is graded stands in the line
GRADE of an exercise. Without that line, the name of the file has to be an exercise's name.

For a FOLDER, every script and notebook is graded, and a table (CSV) is written: name, exercise,
verdict, hint, seconds, file. The name is the student's folder, or the file in a flat folder.

Each file's code runs in a separate process, with your rights. The exit status is 0 only if all are
right.
"""
GRADE = """\
  secondorder notebook lessons             tutorials and exercises as notebooks
  secondorder grade lessons/exercises/05_whose_slopes.ipynb
  secondorder grade tutorials/exercises/05_whose_slopes.py
  secondorder grade handed-in              a class: one folder a student, or all files in one
  secondorder grade handed-in --jobs 4 --seconds 20 --csv week-3.csv
"""
NOTEBOOK = """\
  secondorder notebook lessons             all tutorials and exercises
  secondorder notebook lessons 01 exercises
  secondorder notebook lessons --class 90           all plans of ninety minutes
  secondorder notebook lessons --class curvatures   Hessian, Gauss-Newton, Fisher, KFAC, PCH
  secondorder notebook lessons --class steps        how long a step
"""


def add(commands):
    """Add the parsers of these commands."""
    parser = commands.add_parser(
        "grade", help="grade an exercise, or a class, by the papers' own checks",
        description=ABOUT, examples=GRADE)
    parser.add_argument("files", nargs="+", metavar="FILE",
                        help="an exercise, .py or .ipynb, or one FOLDER of them")
    parser.add_argument("--csv", metavar="FILE", help="FOLDER: where the table goes (default: "
                        "grades.csv)")
    force_option(parser)
    parser.add_argument("--jobs", type=positive, metavar="N",
                        help="FOLDER: number of files graded at the same time (default: 1)")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="N",
                        help="CPU time allowed for the code and the check of a file; by the "
                        "clock four times as long (default: 60)")
    parser.set_defaults(run=run)
    parser = commands.add_parser(
        "notebook", help="write tutorials, exercises and class plans as notebooks",
        description="Write the tutorials and exercises as Jupyter notebooks. A notebook that is "
        "there\nalready is kept and named. A plan of a class has the cells to run, minutes, "
        "predictions to ask\nfor, figures to project, an exercise and answers.",
        examples=NOTEBOOK)
    parser.add_argument("directory", metavar="DIR", help="folder for the notebooks")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="beginnings of names: 01, 05_, exercises (default: all)")
    parser.add_argument("--class", dest="plan", metavar="PLAN", help="write plans of a class into "
                        "DIR/classes instead: 90 (all of ninety minutes), curvatures, steps")
    parser.set_defaults(run=run_notebook)


def run(options):
    """Grade files, or the folder of a class; 0 only if all are right."""
    from secondorder import lessons

    folders = [name for name in options.files if Path(name).is_dir()]
    if folders:
        if len(options.files) > 1:
            raise ValueError(f"a folder is graded by itself, got {folders[0]} and "
                             f"{len(options.files) - 1} more")
        return _class(folders[0], options)
    for option in ("csv", "jobs"):
        if getattr(options, option) is not None:
            raise ValueError(f"--{option} is for a folder, got files")
    for name in options.files:  # a mistyped name is refused before any file is graded
        lessons.require_file(name)
    right = True
    for name in options.files:
        verdict = lessons.grade(name, options.seconds)
        # no line of a verdict looks like another file's
        print(f"{one_line(name)}: " + str(verdict).replace("\n", "\n  "))
        if verdict.printed.strip() and not verdict.ok:
            print("\n".join(["  it printed:", *_beginning(verdict.printed)]))
        right = right and verdict.ok
    return 0 if right else 1


def _class(folder, options):
    """Grade the folder of a class, a line a file, and say where the table is."""
    from secondorder import lessons

    began, out = time.monotonic(), Path(options.csv or "grades.csv")
    grades = lessons.grade_folder(folder, out, options.seconds, options.jobs or 1,
                                  lambda line: print(line, flush=True), options.force)
    print(f"{grades}, {time.monotonic() - began:.0f} s; written: {grades.path}")
    return 0 if grades.ok else 1


def _beginning(text):
    """The first five lines of a text, indented."""
    lines = text.strip().splitlines()
    more = ["    ..."] if len(lines) > 5 else []
    return [f"    {line[:200]}" for line in lines[:5]] + more


def run_notebook(options):
    """Write notebooks and say which."""
    from secondorder import lessons

    names = options.names
    if options.plan is not None:
        if names:
            raise ValueError(f"--class names what is written, got {names[0]} as well")
        names = [place.with_suffix("").as_posix() for place in lessons.plans(options.plan)]
    out = files.output_directory(options.directory)
    for path in lessons.write_notebooks(out, names):
        print(f"written: {path}")
    print(f"open with: jupyter lab {out}")
    return 0
