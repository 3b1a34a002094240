"""Assignments of nbgrader: its metadata, what students get, and that tests pass for what is right.

nbgrader itself is not needed. What it does is done here in a few lines: regions are taken out of
what students get (`released`), and the cells are run one after the other.
"""

import json
import re

import pytest

from harness import slow
from secondorder import cli, lessons
from secondorder.lessons import exercises, nbgrader

NAMES = exercises.names()
STUB = "# YOUR CODE HERE\nraise NotImplementedError()"


def sources(notebook):
    return ["".join(cell["source"]) for cell in notebook["cells"]]


def without(source, what, stub):
    """A cell with its regions replaced, as nbgrader replaces them."""
    def put(region):
        return "\n".join(region[1] + line for line in stub.splitlines())
    return re.sub(rf"^( *)### BEGIN {what}\n.*?### END {what}", put, source, flags=re.M | re.S)


def run(cells, **given):
    names = {"__name__": "__main__"} | given
    for cell in cells:
        exec(compile(cell, "a cell", "exec"), names)


@pytest.mark.parametrize("name", NAMES)
def test_the_metadata_are_those_of_schema_3(name):
    """Every key is known, each cell has an id of its own, graded cells have points and are code."""
    cells = nbgrader.notebook(name)["cells"]
    told = [cell["metadata"]["nbgrader"] for cell in cells]
    for cell, one in zip(cells, told):
        assert set(one) - {"points"} == {"schema_version", "grade_id", "grade", "locked",
                                         "solution", "task"}
        assert one["schema_version"] == 3 and re.fullmatch(r"[a-zA-Z0-9_\-]+", one["grade_id"])
        assert ("points" in one) == one["grade"] and not one["task"]
        assert cell["cell_type"] == "code" or not (one["grade"] or one["solution"])
        assert not (one["solution"] and one["locked"])
    assert len({one["grade_id"] for one in told}) == len(told)
    assert [one["grade"] for one in told] == [False, False, False, True]
    assert told[-1]["points"] == lessons.facts(name).points


@pytest.mark.parametrize("name", NAMES)
def test_students_get_what_the_exercise_gives_and_no_answer(name):
    source = sources(nbgrader.notebook(name))
    released = without(source[2], "SOLUTION", STUB)
    given = exercises.text(name).splitlines()
    assert "SOLUTION" not in released and "raise NotImplementedError()" in released
    assert all(line in given for line in released.splitlines()
               if not line.strip().startswith(("# mend", "# YOUR CODE", "raise NotImpl")))
    assert "HIDDEN" not in without(source[3], "HIDDEN TESTS", "")
    if "hunt" in name:
        with pytest.raises(NotImplementedError):
            run([source[1], released])


@pytest.mark.parametrize("name", [*NAMES[:2], *slow(NAMES[2:])])
def test_the_tests_pass_for_the_solution_and_fail_for_every_usual_mistake(name, capsys):
    _, preparation, answer, tests = sources(nbgrader.notebook(name))
    run([preparation, answer, tests])
    asked = exercises.grades()[name][-1]
    for wrong, _ in exercises.solution(name)["WRONG"]:
        with pytest.raises(AssertionError):  # a mistake that calls the right answer still finds it
            run([preparation, tests], **{asked: wrong})


def test_hidden_tests_see_what_the_paper_s_check_does_not():
    """A step that is right wherever the paper's check looks, and cancels elsewhere."""
    _, preparation, answer, tests = sources(nbgrader.notebook("06_step_without_cancellation"))
    wrong = answer.replace("if h > 0 else (root - h) / sigma", "")
    visible = without(tests, "HIDDEN TESTS", "")
    with pytest.raises(AssertionError):
        run([preparation, wrong, tests])
    assert "require_right" not in visible and "assert found.ok" in visible


def test_the_command_writes_one_assignment(tmp_path, capsys):
    out = tmp_path / "course"
    words = ["notebook", str(out), "02", "09_mean", "--nbgrader", "week-3"]
    assert cli.main(words) == 0
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.ipynb")) == [
        "source/week-3/02_sign_of_22.ipynb", "source/week-3/09_mean_of_products.ipynb"]
    assert json.loads((out / "source/week-3/02_sign_of_22.ipynb").read_text())["nbformat"] == 4
    assert cli.main(words) == 0 and capsys.readouterr().out.count("kept: ") == 2
