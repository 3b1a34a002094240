"""Exercises: every blank fails, every solution passes, usual mistakes are named; notebooks."""

import sys
from pathlib import Path

import numpy as np
import pytest

import secondorder as so
from harness import slow
from secondorder import lessons
from secondorder.lessons import grading, sources
from secondorder.papers.eacg import eq_04_hessian as hessians

HOME = lessons.folder() / "exercises"
EXERCISES = sorted(path.name for path in HOME.glob("[0-9]*.py"))
HUNTS = [name for name in EXERCISES if "bug_hunt" in name]
BLANKS = [name for name in EXERCISES if name not in HUNTS]


@pytest.mark.parametrize("name", BLANKS)
def test_a_blank_is_told_as_such(name):
    assert "..." in (HOME / name).read_text(encoding="utf-8")
    found, exercise = grading.graded(HOME / name)
    assert exercise == Path(name).stem
    assert not found.ok and "the blank (...) is still open" in str(found)


@pytest.mark.parametrize("name", [BLANKS[0], *slow(BLANKS[1:])])
def test_the_solution_passes_and_usual_mistakes_get_their_hint(name):
    told = sources.run(HOME / name)["GRADE"]
    solution = sources.run(HOME / "solutions" / name)
    wrong = solution["WRONG"]
    found = grading.judged(told, solution[told[2].rpartition(".")[2]], wrong)
    assert found.ok and str(found).startswith("right"), str(found)
    assert len(wrong) >= 2
    for mistake, hint in wrong:
        found = grading.judged(told, mistake, wrong)
        assert not found.ok and found.hint == hint and "hint: " in str(found)


@pytest.mark.parametrize("name", HUNTS)
def test_bugs_are_found_and_the_solution_has_none(name):
    kind, cls = sources.run(HOME / name)["GRADE"]
    found, _ = grading.graded(HOME / name)
    assert not found.ok and len({one.pass_name for one in found.report.findings}) >= 2
    solution = sources.run(HOME / "solutions" / name)
    check = getattr(so.verify, kind)
    assert check(solution[cls]())
    for left, pass_name in solution["WRONG"]:
        report = check(left())
        assert not report and pass_name in {one.pass_name for one in report.findings}


@pytest.mark.parametrize("name", HUNTS)
def test_the_function_itself_is_compared_with_the_formula(name):
    """A function that is wrong with derivatives that fit it, or do not, is named first."""
    kind, cls = sources.run(HOME / name)["GRADE"]
    known = grading.solution(Path(name).stem)
    right = known[cls]
    method = {"layer": "forward"}.get(kind, "value")
    assert grading.by_hand(right, known) == ""

    def shifted(self, *args):
        result = getattr(right, method)(self, *args)
        return (result[0] + 0.25, *result[1:]) if kind == "layer" else result + 0.25

    wrong = type(cls, (right,), {method: shifted})
    hunt = grading.Hunt(getattr(so.verify, kind)(right()), grading.by_hand(wrong, known))
    assert hunt.report and not hunt.ok and str(hunt).startswith(f"wrong: {method} differs from")
    assert "hint: " in str(hunt) and "by the formula" in str(hunt)
    short = type(cls, (right,), {method: lambda self, *args: np.zeros((1, 1))})
    assert "differs from the formula" in grading.by_hand(short, known)


def test_what_is_wrong_is_shown_with_ratios():
    own = hessians.eq_4b_hidden_hessian
    assert so.verify.equation("ea-cg", "4b", lambda *given: own(*given)).ok
    found = so.verify.equation("ea-cg", "4b", lambda *given: 2 * own(*given))
    assert not found.ok and "ratio 2" in str(found) and len(str(found).splitlines()) < 14
    found = so.verify.equation("ea-cg", "4b", lambda W, H, h_bar, slope, curvature: H)
    assert "shape" in found.message
    found = so.verify.equation("ea-cg", "4b", lambda *_: 1 / 0)
    assert "ZeroDivisionError" in found.message
    found = so.verify.equation("low-rank", "eq. 7", lambda *_: ..., implementation="eq_7_a")
    assert found.label == "7" and "Equation (7)" in str(found)  # of (4), (6), (7), (35)
    assert so.verify.equation("ea-cg", "4b", own).ok  # the code is back in its place
    for bad, error in (({"function": 3}, TypeError), ({"implementation": "nothing"}, ValueError),
                       ({"paper": "eacgg"}, ValueError), ({"seeds": 0}, ValueError)):
        with pytest.raises(error):
            so.verify.equation(**{"paper": "ea-cg", "label": "4b", "function": own} | bad)


def test_an_exercise_is_graded_by_all_its_labels():
    """The printed form is right in exact arithmetic, and loses its digits where h dominates."""
    told = sources.run(HOME / "06_step_without_cancellation.py")["GRADE"]
    wrong = sources.run(HOME / "solutions" / "06_step_without_cancellation.py")["WRONG"]
    mistake = next(mistake for mistake, text in wrong if "printed form" in text)
    assert so.verify.equation("low-rank", "37", mistake, implementation="step_length").ok
    assert not grading.judged(told, mistake).ok


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_is_known_by_its_grade_not_by_its_name(name):
    told = sources.run(HOME / name)["GRADE"]
    assert grading.of_grade(told) == (Path(name).stem, told)
    if len(told) == 3:  # one label of several: all are asked for
        label = told[1] if isinstance(told[1], str) else told[1][0]
        assert grading.of_grade((told[0], label, told[2])) == (Path(name).stem, told)
        assert grading.of_grade((told[0], label, "mine")) == ("", (told[0], label, "mine"))
        assert grading.of_grade((told[0], "other", told[2]))[0] == ""


# -- figures ---------------------------------------------------------------------------------------


def test_a_script_saves_its_figures_where_the_command_line_says(tmp_path, monkeypatch, capsys):
    from matplotlib.figure import Figure

    monkeypatch.setattr("sys.argv", ["01.py", str(tmp_path / "drawn")])
    figures = lessons.Figures()
    assert not (tmp_path / "drawn").exists()  # made with its first figure
    figures.show(Figure(figsize=(1, 1)), "one")
    assert (tmp_path / "drawn" / "one.png").read_bytes().startswith(b"\x89PNG")
    assert str(tmp_path / "drawn" / "one.png") in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["01.py"])
    figures = lessons.Figures()
    figures.project(Figure(figsize=(1, 1)), "two")
    assert (figures.folder / "two.png").is_file()


def test_a_notebook_shows_its_figures_and_writes_nothing(tmp_path, monkeypatch):
    """A kernel's own arguments (-f FILE) are no folder."""
    import types

    from matplotlib.figure import Figure

    shown = []
    display = types.SimpleNamespace(Image=lambda data: data, display=shown.append)
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(
        get_ipython=lambda: shell, version_info=(9, 0)))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr("sys.argv", ["kernel", "-f", "connection.json"])
    monkeypatch.chdir(tmp_path)
    lessons.Figures().show(Figure(figsize=(1, 1)), "one")
    assert len(shown) == 1 and shown[0].startswith(b"\x89PNG") and not list(tmp_path.iterdir())
