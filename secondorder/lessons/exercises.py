"""The edition's exercises: what is graded, for how many points, and the usual mistakes."""

import ast
import re
from dataclasses import dataclass

from . import sources
from .notebooks import folder

_FACTS = re.compile(r"^# # \d+\. (?P<title>[^\n]*)\n#\n# \*(?P<minutes>\d+) minutes, "
                    r"(?P<difficulty>easy|medium|hard), (?P<points>\d+) points\*$", re.M | re.S)


@dataclass(frozen=True)
class Exercise:
    """What an exercise's first cell says of it."""

    name: str
    title: str
    minutes: int
    difficulty: str
    points: int


def names():
    """The names of the exercises, in their order."""
    return sorted(path.stem for path in (folder() / "exercises").glob("[0-9]*.py"))


def text(name, place="exercises"):
    """The script of an exercise; of its solution where the place is ``exercises/solutions``."""
    return (folder() / place / f"{name}.py").read_text(encoding="utf-8")


def facts(name):
    """The `Exercise` of this name."""
    told = _FACTS.search(text(name)).groupdict()
    return Exercise(name, told["title"], int(told["minutes"]), told["difficulty"],
                    int(told["points"]))


def grades():
    """The GRADE of each exercise, by name."""
    return {name: ast.literal_eval(node.value) for name in names()
            for node in ast.parse(text(name)).body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "GRADE"}


def of_grade(told):
    """The exercise of a GRADE, whatever its file is called: name and whole GRADE.

    One that names fewer labels than the exercise is graded by all of them. ("", the GRADE itself)
    where there is no such exercise.
    """
    for name, whole in grades().items():
        if whole == told or (len(told) == 3 and told[::2] == whole[::2]
                             and set(labels(told)) <= set(labels(whole))):
            return name, whole
    return "", told


def labels(told):
    """The labels of a GRADE with a paper, as a tuple."""
    return (told[1],) if isinstance(told[1], str) else told[1]


def solution(name):
    """The names that the solution of an exercise defines; none for ""."""
    return sources.run(folder() / "exercises" / "solutions" / f"{name}.py") if name else {}


def definitions(script):
    """The source of every function and class that a script defines, by name."""
    return {node.name: ast.get_source_segment(script, node) for node in ast.parse(script).body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def mistakes():
    """The usual mistakes of all exercises, one page in Markdown for whoever teaches.

    A mistake is told by its hint, and shown by the lines in which it differs from the solution.
    """
    page = ["# Usual mistakes", "For whoever teaches: what `secondorder grade` knows of each "
            "exercise, and the lines that differ from the solution. A student who reads them has "
            "nearly read the answer."]
    for name in names():
        one, written = facts(name), definitions(text(name, "exercises/solutions"))
        right = written[grades()[name][-1].rpartition(".")[2]].splitlines()
        page += [f"## {name[:2]}. {one.title}", f"{one.minutes} minutes, {one.difficulty}, "
                 f"{one.points} points."]
        for wrong, hint in solution(name)["WRONG"]:
            lines = written[wrong.__name__].splitlines()[1:]
            if isinstance(wrong, type):
                hint = f"{wrong.__doc__} The checker finds it in `{hint}`."
                lines = [line for line in lines if '"""' not in line]
            lines = [line.strip() for line in lines if line.strip() and line not in right]
            page.append("\n".join([f"- {hint}", *(f"  - `{line}`" for line in lines)]))
    return "\n\n".join(page) + "\n"
