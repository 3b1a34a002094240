"""Cells, names and grades of lessons at the places where a slip would not be seen."""

import json

import pytest

from secondorder import lessons

HOME = lessons.folder() / "exercises"


def test_prose_keeps_its_indents_and_code_its_lines():
    """A list in a list, an indented block and a blank line are part of the text."""
    script = ('# %% [markdown]\n# Title\n#\n# - one\n#   - inner\n#\n#     indented\n#tight\n'
              '# %%\n\n\n# %%\ndef f(x):\n    return x\n\n\nf(1)\n\n'
              '# %% [markdown]\n#\n# %%\nb = 2\n')
    assert lessons.cells(script) == [
        ("markdown", "Title\n\n- one\n  - inner\n\n    indented\ntight"),
        ("code", "def f(x):\n    return x\n\n\nf(1)"), ("code", "b = 2")]


def test_a_notebook_holds_the_lines_of_its_script_and_every_cell_a_name_of_its_own(tmp_path):
    written = lessons.write_notebooks(tmp_path / "out")
    assert len(written) >= 20
    for path, place in zip(written, lessons.scripts(), strict=True):
        found = json.loads(path.read_text(encoding="utf-8"))
        assert found["nbformat"] == 4
        told = lessons.cells((lessons.folder() / place).read_text(encoding="utf-8"))
        assert [(cell["cell_type"], "".join(cell["source"])) for cell in found["cells"]] == told
        assert all(line.endswith("\n") for cell in found["cells"] for line in cell["source"][:-1])
        assert max(len(cell["source"]) for cell in found["cells"]) > 3
        code = ["".join(cell["source"]) for cell in found["cells"] if cell["cell_type"] == "code"]
        assert compile("\n".join(code), "cells", "exec")
        names = [cell["id"] for cell in found["cells"]]
        assert len(set(names)) == len(names)
        for cell in found["cells"]:
            assert ("outputs" in cell) == (cell["cell_type"] == "code")
    again = lessons.write_notebooks(tmp_path / "again")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in written]


def test_a_name_is_taken_from_its_beginning():
    """`1` is no part of 01 or 21, and `exact` of none, though it stands in some."""
    assert [place.name[:2] for place in lessons.scripts(["03"])] == ["03"] * 2
    assert {place.name[0] for place in lessons.scripts(["1"])} == {"1"}
    for word in ("exact", "curvature", "solutions"):
        with pytest.raises(ValueError, match="begins with"):
            lessons.scripts([word])
    assert all(place.parts[0] == "exercises" for place in lessons.scripts(["exercises"]))
    assert len(lessons.scripts(["exercises"])) == len(list(HOME.glob("[0-9]*.py")))
