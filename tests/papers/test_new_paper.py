"""A new paper is a new folder: the room of CONTRIBUTING is put into a copy of the package, and all
else finds it there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import secondorder
from secondorder import papers

PACKAGE = Path(secondorder.__file__).parent
TEXT = (Path(__file__).resolve().parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Run Python where the package has one folder more."""
    top = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, top / "secondorder", ignore=shutil.ignore_patterns("__pycache__"))
    (room := top / "secondorder/papers/my_paper").mkdir()
    section = re.search(r"^## A paper\n(.*?)^## ", TEXT, re.M | re.S)[1]
    files = dict(re.findall(r"^`(\w+\.py)` .*?```python\n(.*?)```", section, re.M | re.S))
    assert {"__init__.py", "method.py", "equations.py"} < set(files)
    for name, text in files.items():
        (room / name).write_text(text, encoding="utf-8")

    def run(*words):
        done = subprocess.run([sys.executable, *words], cwd=top, capture_output=True, text=True,
                              timeout=120, env={**os.environ, "PYTHONPATH": str(top)})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
    return run


def test_its_equation_runs_and_is_shown(python):
    told = python("-m", "secondorder", "verify", "my paper")
    assert "1 hold" in told and "0 failed" in told
    page = python("-m", "secondorder", "show", "least value", "1")
    assert "[my-paper] Equation (1)" in page
    assert "def eq_1_step_length(value, lowest, g):" in page
    assert "secondorder/papers/my_paper/eq_1_step_length.py" in page


def test_its_names_are_those_of_the_package_and_its_method_trains(python):
    said = python("-c", """
import sys
import numpy as np
import secondorder as so
assert "my_paper" in dir(so) and "KnownMinimum" in so.__all__
assert not [name for name in sys.modules if "my_paper" in name], "found without being run"
assert so.KnownMinimum is so.my_paper.KnownMinimum
assert list(so.ledger.PAPERS)[-2:] == ["my-paper", "bridges"], "after those that have an ORDER"
from secondorder.book import bibliography
from secondorder.book.parts import symbols
from secondorder.cli.train import OPTIMIZERS
print(bibliography.of("my-paper").title, symbols.letters("my-paper")["t"][0][2],
      OPTIMIZERS["known-minimum"], sep="\\n")

optimizer = so.KnownMinimum(so.SGD(so.mlp([3, 5, 2], rng=0), so.SquaredError()))
x = np.random.default_rng(0).normal(size=(20, 3))
y = so.mlp([3, 5, 2], rng=1)(x)  # so that the least value is 0
losses = [optimizer.step(x, y)["loss"] for _ in range(300)]
print(losses[-1] < 0.01 * losses[0])
""")
    assert said.splitlines() == ["A Step That Knows the Least Value",
                                 "how far to go along -g, a number", "KnownMinimum", "True"]


def test_two_folders_of_one_key_and_what_is_not_written_out_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(papers, "FOLDER", tmp_path)
    for name, line in (("one", 'PAPER = "a"'), ("two", 'PAPER = "a"'), ("none", "x = 1")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(line)
    with pytest.raises(ValueError, match="PAPER 'a' is the key of two folders: (one|two) and"):
        papers.rooms.__wrapped__()
    (tmp_path / "two/__init__.py").write_text('PAPER = "b"\nTITLE = "B".lower()')
    with pytest.raises(ValueError, match=r"two/__init__.py, line 2: TITLE must be written out, "):
        papers.rooms.__wrapped__()
