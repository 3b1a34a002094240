"""`secondorder grade` and `secondorder notebook`: exercises and tutorials."""

from secondorder import files

GRADE = """\
  secondorder notebook lessons             tutorials and exercises as notebooks
  secondorder grade lessons/exercises/05_whose_slopes.ipynb
  secondorder grade tutorials/exercises/05_whose_slopes.py
"""
NOTEBOOK = """\
  secondorder notebook lessons             all of them
  secondorder notebook lessons 01 exercises
"""


def add(commands):
    """Add the parsers of these commands."""
    parser = commands.add_parser(
        "grade", help="grade an exercise: your function inside the paper's own check",
        description="Put the function of an exercise in the place of the edition's own, inside the "
        "paper's check, and say what is wrong: which claim, which entries, by which ratio, and "
        "where the answer is a usual mistake, what to look at. The code of a file runs in a "
        "process of its own; every file gets a verdict: right, wrong, or not graded and why.",
        examples=GRADE)
    parser.add_argument("files", nargs="+", metavar="FILE", help="an exercise, .py or .ipynb")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="N",
                        help="how long the code and the check of a file may take (default: 60)")
    parser.set_defaults(run=run)
    parser = commands.add_parser(
        "notebook", help="write tutorials and exercises as notebooks",
        description="Write the tutorials and exercises as Jupyter notebooks. A notebook that was "
        "worked in is kept, and named; one that nobody changed is written again.",
        examples=NOTEBOOK)
    parser.add_argument("directory", metavar="DIR", help="where they go")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="beginnings of names: 01, 05_, exercises (default: all)")
    parser.set_defaults(run=run_notebook)


def run(options):
    """Grade files; 0 only if all are right."""
    from secondorder import lessons

    for name in options.files:  # a name that is mistyped is told before any file is graded
        lessons.require_file(name)
    right = True
    for name in options.files:
        verdict = lessons.grade(name, options.seconds)
        print(f"{name}: {verdict}")
        if verdict.printed.strip() and not verdict.ok:
            print("\n".join(["  it printed:", *_beginning(verdict.printed)]))
        right = right and verdict.ok
    return 0 if right else 1


def _beginning(text, most=5):
    """The first lines of a text, indented."""
    lines = text.strip().splitlines()
    more = ["    ..."] if len(lines) > most else []
    return [f"    {line[:200]}" for line in lines[:most]] + more


def run_notebook(options):
    """Write notebooks and say which."""
    from secondorder import lessons

    out = files.output_directory(options.directory)
    for path in lessons.write_notebooks(out, options.names):
        print(f"written: {path}")
    return 0
