"""A new paper is a new folder: all else finds it there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import secondorder

PACKAGE = Path(secondorder.__file__).parent
FOLDER = Path(__file__).with_name("new_paper") / "my_paper"


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Run code in a copy of the package that has the folder, and nothing else."""
    top = tmp_path_factory.mktemp("copy")
    for folder, to in ((PACKAGE, "secondorder"), (FOLDER, "secondorder/papers/my_paper")):
        shutil.copytree(folder, top / to, ignore=shutil.ignore_patterns("__pycache__"))

    def run(*words):
        done = subprocess.run([sys.executable, *words], cwd=top, capture_output=True, text=True,
                              timeout=120, env={**os.environ, "PYTHONPATH": str(top)})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
    return run


def test_its_equations_run_and_are_shown(python):
    told = python("-m", "secondorder", "verify", "my paper")
    assert "4 " in told and "erratum" in told
    page = python("-m", "secondorder", "show", "two points", "4")
    assert "[my-paper] (4)" in page and "def eq_4_ratio(s, y):" in page
    assert "secondorder/papers/my_paper/eq_1_4_two_points.py" in page


def test_its_names_are_those_of_the_package(python):
    said = python("-c", """
import sys
import secondorder as so
assert "my_paper" in dir(so) and "MyMethod" in so.__all__
assert not [name for name in sys.modules if "my_paper" in name], "found without running it"
assert so.MyMethod is so.my_paper.MyMethod
assert list(so.ledger.PAPERS)[-2:] == ["my-paper", "bridges"], "after those that have an ORDER"
assert so.verify.optimizer(so.MyMethod).ok
from secondorder.book import bibliography
from secondorder.book.parts import symbols
from secondorder.cli.train import OPTIMIZERS
print(bibliography.of("my-paper").title, symbols.letters("my-paper")["s"][0][2],
      OPTIMIZERS["my-method"], sep="\\n")
""")
    assert said.splitlines() == ["A Step Length from Two Points", "change of the parameters in the "
                                 "last step", "MyMethod"]


def test_two_folders_of_one_key_and_what_is_not_written_out_are_refused(tmp_path, monkeypatch):
    from secondorder import papers

    monkeypatch.setattr(papers, "FOLDER", tmp_path)
    for name, line in (("one", 'PAPER = "a"'), ("two", 'PAPER = "a"'), ("none", "x = 1")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(line)
    with pytest.raises(ValueError, match="PAPER 'a' is the key of two folders: (one|two) and"):
        papers.rooms.__wrapped__()
    (tmp_path / "two/__init__.py").write_text('PAPER = "b"\nTITLE = "B".lower()')
    with pytest.raises(ValueError, match=r"two/__init__.py, line 2: TITLE must be written out, "):
        papers.rooms.__wrapped__()
