"""Exercises as an assignment of nbgrader: ``source/ASSIGNMENT/NAME.ipynb`` in a course's folder.

The cells bear nbgrader's metadata, schema 3. ``nbgrader generate_assignment ASSIGNMENT``, in the
folder of the course, takes the regions of the solution and of the hidden tests out of what students
get; ``nbgrader autograde`` puts the tests back.
"""

import os

from .. import files
from .exercises import definitions, facts, grades, labels, text
from .grading import KINDS
from .notebooks import cells, notebook_of, save

_FOUND = """\
import secondorder as so

{checks}
### BEGIN HIDDEN TESTS
from secondorder.lessons.grading import require_right

require_right({exercise!r}, {name})
### END HIDDEN TESTS"""
_EQUATION = """\
for label in {labels!r}:
    found = so.verify.equation({paper!r}, label, {name}, implementation={implementation!r})
    print(found)
    assert found.ok, f"the paper's check of {{label}} fails\""""
_CLASS = """\
report = so.verify.{kind}({name}())
print(report)
assert report, "the checker finds a mistake\""""


def write_assignment(out, assignment, names, say=print):
    """Write exercises as the source of one assignment; what stands there is kept.

    Parameters
    ----------
    out : path
        The folder of the course, for whoever teaches: it has the solutions.
    assignment : str
    names : sequence of str
        Names of exercises.
    say : callable
        Takes a line of text for every file that is kept.

    Returns
    -------
    list of Path
        What was written.
    """
    place = files.output_directory(out)
    for part in ("source", assignment):
        place = files.output_directory(place / part)
    return [path for name in names
            if save(path := place / f"{name}.ipynb", notebook(name), say)]


def notebook(name):
    """The source notebook of an exercise: statement, preparation, answer, tests."""
    script, told = text(name), grades()[name]
    (_, statement), (_, preparation), (_, blank), _ = cells(script)
    asked = told[-1].rpartition(".")[2]
    solved = definitions(text(name, "exercises/solutions"))[asked]
    if told[0] in KINDS:
        answer = (f"{blank}\n\n\n# mend the class above, then delete what stands below\n"
                  f"{BEGIN}\n{solved}\n{END}")
        checks = _CLASS.format(kind=told[0], name=asked)
    else:
        answer = in_region(blank, solved)
        checks = _EQUATION.format(labels=labels(told), paper=told[0], name=asked,
                                  implementation=told[-1])
    tests = _FOUND.format(checks=checks, exercise=name, name=asked)
    return notebook_of([
        ("markdown", statement, _metadata(name, "statement", locked=True)),
        ("code", preparation, _metadata(name, "preparation", locked=True)),
        ("code", answer, _metadata(name, "answer", solution=True)),
        ("code", tests, _metadata(name, "tests", locked=True, points=facts(name).points))])


BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def in_region(blank, solved):
    """The solved function, with the lines in which it differs from the blank one in a region."""
    blank, solved = blank.splitlines(), solved.splitlines()
    same = len(os.path.commonprefix([blank, solved]))
    behind = len(os.path.commonprefix([blank[:same - 1:-1], solved[:same - 1:-1]]))
    inside = solved[same:len(solved) - behind]
    indent = " " * (len(inside[0]) - len(inside[0].lstrip()))
    return "\n".join([*solved[:same], indent + BEGIN, *inside, indent + END,
                      *solved[len(solved) - behind:]])


def _metadata(name, part, locked=False, solution=False, points=None):
    """What nbgrader wants to know of a cell; a cell with points is graded."""
    told = {"schema_version": 3, "grade_id": f"{name}-{part}", "grade": points is not None,
            "locked": locked, "solution": solution, "task": False}
    return {"nbgrader": told | ({} if points is None else {"points": points})}
