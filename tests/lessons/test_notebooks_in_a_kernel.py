"""Every tutorial, exercise and plan of a class runs as a notebook in a real Jupyter kernel: no
cell fails, figures are among its outputs, and it leaves nothing behind.

They are run by hand and by the gate: pytest -m notebook, after pip install -e '.[notebook-test]'.
"""

import time

import pytest

from secondorder import lessons

pytestmark = pytest.mark.notebook
TUTORIALS = [str(place) for place in lessons.scripts() if "exercises" not in place.parts]
PLANS = [str(place) for place in lessons.plans()]
EXERCISES = [str(place) for place in lessons.scripts(["exercises"])]
LIMIT = 60  # seconds for one tutorial on an idle machine; its kernel is ended at five times that


def executed(name, folder):
    """The notebook of a script after all its cells have run, and the seconds that took."""
    import nbclient  # whoever asks for these tests without them is told, not spared
    import nbformat

    (path,) = lessons.write_notebooks(folder, [name.removesuffix(".py")])
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    client = nbclient.NotebookClient(notebook, timeout=5 * LIMIT, kernel_name="python3",
                                     resources={"metadata": {"path": str(path.parent)}})
    began = time.perf_counter()
    client.execute()
    assert sorted(path.parent.iterdir()) == [path], "a notebook leaves no file and no folder"
    return notebook, time.perf_counter() - began


def outputs(notebook):
    return [output for cell in notebook.cells if cell.cell_type == "code"
            for output in cell.outputs]


@pytest.mark.parametrize("name", TUTORIALS + PLANS)
def test_a_tutorial_runs_and_shows_its_figures(name, tmp_path):
    notebook, seconds = executed(name, tmp_path / "lessons")
    found = outputs(notebook)
    assert any("image/png" in output.get("data", {}) for output in found)
    assert not any(output.output_type == "error" for output in found)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    print(f"{name}: {seconds:.0f} s")


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_runs_before_its_blank_is_filled(name, tmp_path):
    notebook, _ = executed(name, tmp_path / "lessons")
    assert not any(output.output_type == "error" for output in outputs(notebook))
