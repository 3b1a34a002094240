"""Plans of a class: their minutes add up, every part asks and answers."""

import json
import re

import pytest

from secondorder import cli, lessons

PLANS = [place.stem for place in lessons.plans()]


def text(plan):
    return (lessons.folder() / "classes" / f"{plan}.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("plan", PLANS)
def test_the_minutes_of_the_parts_add_up(plan):
    minutes = int(plan.split("_")[0])
    parts = re.findall(r"^# ## \d+\. (.+) \((\d+) minutes\)$", text(plan), re.M)
    assert len(parts) >= 5 and sum(int(length) for _, length in parts) == minutes
    table = re.findall(r"^# \| \d+\. (.+) \| (\d+) \|$", text(plan), re.M)
    assert [name.split(",")[0] for name, _ in table] == [name.split(",")[0] for name, _ in parts]
    assert [length for _, length in table] == [length for _, length in parts]


@pytest.mark.parametrize("plan", PLANS)
def test_every_part_asks_and_answers_and_names_what_is_there(plan):
    cells = lessons.cells(text(plan))
    head = cells[0][1]
    places = [head.index(word) for word in (
        "# A class of 90 minutes", "**Goal.**", "**They know.**", "**You need.**", "**How.**",
        "| part | minutes |", f"python tutorials/classes/{plan}.py")]
    assert places == sorted(places)
    assert "`pip install .`" in head and "clone" in head, "no package index has secondorder"
    prose = "\n".join(body for kind, body in cells if kind == "markdown")
    parts = re.split(r"^## \d+\. ", prose, flags=re.M)[1:]
    for part in parts:
        name = part.splitlines()[0]
        if "**Exercise.**" in part and part.startswith("Exercise"):
            named = re.findall(r"`(\d\d_\w+)`", part)
            assert named and all((lessons.folder() / "exercises" / f"{one}.py").is_file()
                                 for one in named), name
            part = part.partition("## ")[2] or "**Predict first.** **Answer.**"
        assert "**Predict first.**" in part and "**Answer.**" in part, name
    assert prose.count("**Exercise.**") == 1
    code = "\n".join(body for kind, body in cells if kind == "code")
    assert prose.count("**Project.**") >= 3 <= code.count("figures.show(")
    assert "this class claims" in cells[-2][1] and cells[-1][1].count("assert ") >= 4
    for number in re.search(r"\*\*Home\.\*\* Tutorials ([\d, and]+)\.", prose)[1].replace(
            " and", ",").split(","):
        assert list(lessons.folder().glob(f"{number.strip()}_*.py"))


def test_plans_by_their_names():
    assert lessons.plans() == lessons.plans("90") and len(PLANS) == 2
    assert [place.stem for place in lessons.plans("steps")] == ["90_steps"]
    assert [place.stem for place in lessons.plans("90_curvatures")] == ["90_curvatures"]
    with pytest.raises(ValueError, match="'45'; there are curvatures, steps, or all by.*: 90"):
        lessons.plans("45")
    assert not any("classes" in place.parts for place in lessons.scripts())


def test_plans_are_written_apart_and_one_that_was_worked_in_is_kept(tmp_path, capsys):
    out = tmp_path / "lessons"
    assert cli.main(["notebook", str(out), "--class", "90"]) == 0
    assert f"open with: jupyter lab {out}" in capsys.readouterr().out
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.ipynb")) == [
        "classes/90_curvatures.ipynb", "classes/90_steps.ipynb"]
    path = out / "classes" / "90_steps.ipynb"
    changed = json.loads(path.read_text(encoding="utf-8"))
    changed["cells"][0]["source"] = ["my notes"]
    path.write_text(json.dumps(changed), encoding="utf-8")
    capsys.readouterr()
    assert cli.main(["notebook", str(out), "--class", "steps"]) == 0
    assert "kept: " in capsys.readouterr().out and "my notes" in path.read_text(encoding="utf-8")
    assert cli.main(["notebook", str(out), "--class", "hours"]) == 2
    assert "no plan of a class is called 'hours'" in capsys.readouterr().err
    assert cli.main(["notebook", str(out), "01", "--class", "90"]) == 2
    assert not list(tmp_path.glob("*.ipynb"))
