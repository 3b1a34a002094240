"""Plans of a class: their minutes add up, every cell has its slide; usual mistakes."""

import json
import re

import pytest

from secondorder import cli, lessons
from secondorder.lessons.notebooks import SLIDES, tagged_cells

PLANS = [place.stem for place in lessons.plans()]


def text(plan):
    return (lessons.folder() / "classes" / f"{plan}.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("plan", PLANS)
def test_the_minutes_of_the_parts_add_up(plan):
    parts = re.findall(r"^# ## \d+\. (.+) \((\d+) minutes\)$", text(plan), re.M)
    assert sum(int(length) for _, length in parts) == int(plan.split("_")[0])
    table = re.findall(r"^# \| \d+\. (.+) \| (\d+) \|$", text(plan), re.M)
    assert [name.split(",")[0] for name, _ in table] == [name.split(",")[0] for name, _ in parts]
    assert [length for _, length in table] == [length for _, length in parts]


@pytest.mark.parametrize("plan", PLANS)
def test_every_cell_has_its_place_in_the_talk(plan, tmp_path):
    (path,) = lessons.write_notebooks(tmp_path, [f"classes/{plan}"])
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    places = [cell["metadata"]["slideshow"]["slide_type"] for cell in cells]
    assert set(places) == set(SLIDES.values()) and places[0] == "slide" and places[-1] == "skip"
    for cell, (_, body, tags) in zip(cells, tagged_cells(text(plan)), strict=True):
        hidden = cell["metadata"].get("jupyter") == {"source_hidden": True}
        assert hidden == ("answer" in tags) == ("hide-input" in cell["metadata"]["tags"])
        first = "".join(cell["source"]).splitlines()[0]
        assert not hidden or first == "**Answer.**", "a collapsed cell shows its first line"


def test_plans_are_written_apart_and_one_that_was_worked_in_is_kept(tmp_path, capsys):
    assert [place.stem for place in lessons.plans("steps")] == ["90_steps"] and len(PLANS) == 2
    assert not any("classes" in place.parts for place in lessons.scripts())
    out = tmp_path / "plans"
    assert cli.main(["notebook", str(out), "--class", "90"]) == 0
    assert "nbconvert --to slides" in capsys.readouterr().out
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.*")) == [
        "classes/90_curvatures.ipynb", "classes/90_steps.ipynb", "classes/common_mistakes.md"]
    path = out / "classes" / "90_steps.ipynb"
    path.write_text("my notes", encoding="utf-8")
    assert cli.main(["notebook", str(out), "--class", "steps"]) == 0
    assert "kept: " in capsys.readouterr().out and path.read_text(encoding="utf-8") == "my notes"
    assert cli.main(["notebook", str(out), "--class", "hours"]) == 2
    assert cli.main(["notebook", str(out), "01", "--class", "90"]) == 2


def test_the_page_of_mistakes_has_each_with_the_line_that_is_wrong():
    page = lessons.mistakes()
    for name in lessons.exercises.names():
        assert f"## {name[:2]}. {lessons.facts(name).title}\n" in page
        assert all(hint in page for _, hint in lessons.exercises.solution(name)["WRONG"])
    assert "  - `return p * (x**2 / p**2 - np.sum(x**2 / p))`" in page


@pytest.mark.slow
def test_students_are_given_no_solutions(tmp_path):
    """Neither with the exercises nor with everything: what a solution alone has is not there."""
    lessons.write_notebooks(tmp_path / "lessons")
    written = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.*")
                      if path.is_file())
    assert "WRONG = [" not in written and "mistake_1" not in written
    assert not [path for path in tmp_path.rglob("*") if path.name in ("solutions", "classes")]
