"""Plans of a class: their minutes add up, every part asks and answers; talks; usual mistakes."""

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
def test_every_part_asks_runs_and_answers_in_a_cell_of_its_own(plan):
    parts = re.split(r'^(?=# %%.* tags=\["slide"\]\n# ## \d)', text(plan), flags=re.M)[1:]
    for part in parts:
        asked, code = part.find("**Predict first.**"), part.find('# %% tags=["below"]')
        answer = part.find('tags=["answer"]\n# **Answer.**\n#\n')
        exercise = "\n# **Exercise.**" in part
        assert exercise or 0 < asked < code < answer, part[:80]
    assert sum("\n# **Exercise.**" in part for part in parts) == 1
    for name in re.findall(r"`(\d\d_\w+)`", text(plan)):
        assert name in lessons.exercises.names()


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
        one = lessons.facts(name)
        part = page.partition(f"## {name[:2]}. {one.title}\n")[2].partition("\n## ")[0]
        assert f"{one.minutes} minutes, {one.difficulty}, {one.points} points" in part
        wrong = lessons.exercises.solution(name)["WRONG"]
        assert part.count("\n- ") == len(wrong) and all(hint in part for _, hint in wrong)
        assert part.count("  - `") >= len(wrong)
    assert "  - `return p * (x**2 / p**2 - np.sum(x**2 / p))`" in page


@pytest.mark.slow
def test_students_are_given_no_solutions(tmp_path):
    """Neither with the exercises nor with everything: what a solution alone has is not there."""
    lessons.write_notebooks(tmp_path / "lessons")
    written = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.*")
                      if path.is_file())
    assert "WRONG = [" not in written and "mistake_1" not in written
    assert not [path for path in tmp_path.rglob("*") if path.name in ("solutions", "classes")]
