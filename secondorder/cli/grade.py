"""`secondorder grade` and `secondorder notebook`: exercises and tutorials."""

import time
from pathlib import Path

from secondorder import files

from .parsing import force_option, positive, positive_number, tell_written

ABOUT = """\
Grade an exercise: its function runs inside the paper's check, in place of the edition's function.
Every file gets a verdict: right, wrong, or not graded and why. A wrong answer gets the claim, the
entries and the ratio, and a hint if the mistake is a usual one. What is graded stands in the line
GRADE of an exercise. Without that line, the name of the file has to be an exercise's name.

For a FOLDER, every script and notebook is graded, and a table (CSV) is written: name, exercise,
verdict, points, of how many, hint, seconds, file. The name is the student's folder, or the file in
a flat folder.

Each file's code runs in a separate process, with your rights. The exit status is 0 only if all are
right.
"""
GRADE = """\
  secondorder notebook lessons             tutorials and exercises as notebooks
  secondorder grade lessons/exercises/05_whose_slopes.ipynb
  secondorder grade tutorials/exercises/05_whose_slopes.py
  secondorder grade handed-in              a class: one folder a student, or all files in one
  secondorder grade handed-in --jobs 4 --seconds 20 --csv week-3.csv
  secondorder grade handed-in --feedback texts    also a text for each student
"""
NOTEBOOK = """\
  secondorder notebook lessons             all tutorials and exercises
  secondorder notebook lessons 01 exercises
  secondorder notebook plans --class 90             all plans of ninety minutes
  secondorder notebook plans --class curvatures     Hessian, Gauss-Newton, Fisher, KFAC, PCH
  secondorder notebook plans --class steps          how long a step
  secondorder notebook course 02 09_mean --nbgrader week-3     course/source/week-3, with answers
"""
SLIDES = """\
slides, in that folder: jupyter nbconvert --to slides --no-input --execute NAME.ipynb
    --SlidesExporter.reveal_width=800 --SlidesExporter.reveal_height=500"""


def add(commands):
    """Add the parsers of these commands."""
    parser = commands.add_parser(
        "grade", help="grade an exercise, or a class, by the papers' own checks",
        description=ABOUT, examples=GRADE)
    parser.add_argument("files", nargs="+", metavar="FILE",
                        help="an exercise, .py or .ipynb, or one FOLDER of them")
    parser.add_argument("--csv", metavar="FILE", default="grades.csv",
                        help="FOLDER: where the table goes (default: grades.csv)")
    parser.add_argument("--feedback", metavar="DIR", help="FOLDER: write a text a student there")
    force_option(parser)
    parser.add_argument("--jobs", type=positive, metavar="N", default=1,
                        help="FOLDER: number of files graded at the same time (default: 1)")
    parser.add_argument("--seconds", type=positive_number, default=60.0, metavar="N",
                        help="CPU time allowed for the code and the check of a file; by the "
                        "clock four times as long (default: 60)")
    parser.set_defaults(run=run)
    parser = commands.add_parser(
        "notebook", help="write tutorials, exercises and class plans as notebooks",
        description="Write the tutorials and exercises as Jupyter notebooks. A notebook that is "
        "there\nalready is kept and named. A plan of a class has the cells to run, minutes, "
        "predictions to ask\nfor, figures to project, an exercise, and answers that are collapsed; "
        "it is a talk as well.\nBeside the plans stands common_mistakes.md.",
        examples=NOTEBOOK)
    parser.add_argument("directory", metavar="DIR", help="folder for the notebooks")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="beginnings of names: 01, 05_, exercises (default: all)")
    parser.add_argument("--class", dest="plan", metavar="PLAN", help="write plans of a class into "
                        "DIR/classes instead: 90 (all of ninety minutes), curvatures, steps")
    parser.add_argument("--nbgrader", metavar="ASSIGNMENT", help="write exercises, with their "
                        "solutions, as the source of an assignment of nbgrader instead: "
                        "DIR/source/ASSIGNMENT")
    parser.set_defaults(run=run_notebook)


def run(options):
    """Grade files, or the folder of a class; 0 only if all are right."""
    from secondorder import lessons

    if len(options.files) == 1 and Path(options.files[0]).is_dir():
        began = time.monotonic()
        rows = lessons.grade_folder(options.files[0], options.csv, options.seconds, options.jobs,
                                    lambda line: print(line, flush=True), options.force,
                                    options.feedback)
        print(f"{lessons.summary(rows)}, {time.monotonic() - began:.0f} s")
        tell_written([options.csv, *filter(None, [options.feedback])])
        return 0 if all(one.verdict.ok for one in rows) else 1
    right = True
    for path in map(lessons.require_file, options.files):
        verdict = lessons.grade(path, options.seconds)
        print(f"{path}: " + str(verdict).replace("\n", "\n  "))
        if verdict.printed.strip() and not verdict.ok:
            lines = [line[:200] for line in verdict.printed.strip().splitlines()]
            print("\n    ".join(["  it printed:", *lines[:5], *["..."] * (len(lines) > 5)]))
        right = right and verdict.ok
    return 0 if right else 1


def run_notebook(options):
    """Write notebooks and say which."""
    from secondorder import lessons

    out, names, plan = files.output_directory(options.directory), options.names, options.plan
    if plan is not None and (names or options.nbgrader):
        raise ValueError("--class names what is written: it goes without NAME and --nbgrader")
    if options.nbgrader:
        asked = [name if "/" in name else f"exercises/{name}" for name in names] or ["exercises"]
        written = lessons.write_assignment(out, options.nbgrader,
                                           [place.stem for place in lessons.scripts(asked)])
        then = (f"students get what this makes of it, in {out}: nbgrader generate_assignment "
                f"{options.nbgrader}")
    elif plan is None:
        written, then = lessons.write_notebooks(out, names), f"open with: jupyter lab {out}"
    else:
        written = lessons.write_notebooks(out, [place.with_suffix("").as_posix()
                                                for place in lessons.plans(plan)])
        page = out / "classes" / "common_mistakes.md"
        files.write_text(page, lessons.mistakes())
        written, then = [*written, page], f"open with: jupyter lab {out}\n{SLIDES}"
    tell_written(written)
    print(then)
    return 0
