"""A new paper is a new folder: one is put into a copy of the package, and all else finds it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import secondorder
from secondorder import papers

ROOM = {
    "__init__.py": '''"""A step length from two points.

=====  ================  ====================================================
paper  here              meaning
=====  ================  ====================================================
s      ``s`` (P,)        change of the parameters in the last step
=====  ================  ====================================================
"""

from .method import MyMethod

PAPER = "my-paper"
TITLE = "A Step Length from Two Points"
AUTHORS = "A. Author"
METHODS = {"my-method": "MyMethod"}

__all__ = ["MyMethod"]
''',
    "eq_1_step_length.py": '''"""(1): how far to go."""


def eq_1_step_length(s, y):
    """[my-paper] (1): a = s^T s / s^T y, a number."""
    return (s @ s) / (s @ y)


def eq_1_as_printed(s, y):
    """[my-paper] (1) as printed, upside down."""
    return (s @ y) / (s @ s)
''',
    "method.py": '''"""Minus the gradient, times (1)."""

import numpy as np

from ...optimizers import Optimizer
from .eq_1_step_length import eq_1_step_length


class MyMethod(Optimizer):
    """direction = -a g."""

    state_names = ("before",)

    def __init__(self, network, loss, learning_rate=1.0, l2=0.0, first=0.01):
        super().__init__(network, loss, learning_rate, l2)
        self.first, self.before = first, None

    def direction(self, evaluation):
        theta, g = self.network.theta.copy(), self.gradient(evaluation).copy()
        s, y = (theta, g) if self.before is None else (theta - self.before[0], g - self.before[1])
        length = self.first if self.before is None or s @ y <= 0 else eq_1_step_length(s, y)
        self.before = np.stack([theta, g])
        return -length * g
''',
    "equations.py": r'''import numpy as np

from ...ledger import Case, Equal, Printed, equation
from . import PAPER
from .eq_1_step_length import eq_1_as_printed, eq_1_step_length


@equation(PAPER, "1", statement="The step length fits y = s / a best; it is printed upside down.",
          formula=r"a = \frac{s^T y}{s^T s}", corrected=r"a = \frac{s^T s}{s^T y}",
          kind="optimality", verdict="erratum", weight="misprint", implements=eq_1_step_length)
def equation_1(rng):
    s, y = rng.normal(size=(2, 4))
    best = 1 / np.linalg.lstsq(s[:, None], y, rcond=None)[0][0]
    return [Equal("a least-squares fit", eq_1_step_length(s, y), best, 1e-10),
            Printed(Equal("upside down", eq_1_as_printed(s, y), best, 1e-10)), Case(s=s, y=y)]
'''}


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Run Python where the package has one folder more."""
    top, package = tmp_path_factory.mktemp("copy"), Path(secondorder.__file__).parent
    shutil.copytree(package, top / "secondorder", ignore=shutil.ignore_patterns("__pycache__"))
    (room := top / "secondorder/papers/my_paper").mkdir()
    for name, text in ROOM.items():
        (room / name).write_text(text, encoding="utf-8")

    def run(*words):
        done = subprocess.run([sys.executable, *words], cwd=top, capture_output=True, text=True,
                              timeout=120, env={**os.environ, "PYTHONPATH": str(top)})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
    return run


def test_its_equation_runs_and_is_shown(python):
    told = python("-m", "secondorder", "verify", "my paper")
    assert "1 erratum (1 misprint)" in told and "0 failed" in told
    page = python("-m", "secondorder", "show", "two points", "1")
    assert "[my-paper] Equation (1)" in page and "def eq_1_step_length(s, y):" in page
    assert "secondorder/papers/my_paper/eq_1_step_length.py" in page


def test_its_names_are_those_of_the_package(python):
    said = python("-c", """
import sys
import secondorder as so
assert "my_paper" in dir(so) and "MyMethod" in so.__all__
assert not [name for name in sys.modules if "my_paper" in name], "found without being run"
assert so.MyMethod is so.my_paper.MyMethod
assert list(so.ledger.PAPERS)[-2:] == ["my-paper", "bridges"], "after those that have an ORDER"
assert so.verify.optimizer(so.MyMethod).ok
from secondorder.book import bibliography
from secondorder.book.parts import symbols
from secondorder.cli.train import OPTIMIZERS
print(bibliography.of("my-paper").title, symbols.letters("my-paper")["s"][0][2],
      OPTIMIZERS["my-method"], sep="\\n")
""")
    assert said.splitlines() == ["A Step Length from Two Points",
                                 "change of the parameters in the last step", "MyMethod"]


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
