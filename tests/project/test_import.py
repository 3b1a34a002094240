"""`import secondorder` is quick and light, and what it promises is there."""

import os
import subprocess
import sys
import time

import pytest

import secondorder as so


def run(code):
    """Run code in a fresh interpreter that finds this very package; return what it prints."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(so.__file__)))
    path = os.pathsep.join([home] + [p for p in [os.environ.get("PYTHONPATH")] if p])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("statement", ["import secondorder", "import secondorder.nets",
                                       "import secondorder as so; so.mlp([3, 4, 2], rng=0)"])
def test_nothing_heavy_is_imported(statement):
    heavy = "numba", "scipy", "matplotlib", "pytest"
    loaded = run(f"{statement}\nimport sys\nprint(*[m for m in {heavy} if m in sys.modules])")
    assert loaded.split() == []


def test_import_takes_less_than_a_second():
    """Best of three, so that a busy machine or a cold file cache does not decide."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        run("import secondorder")
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 1.0, f"import took {seconds}"


def test_every_public_name_is_there_and_listed():
    for name in so.__all__:
        assert getattr(so, name) is not None and name in dir(so)
    assert len(set(so.__all__)) == len(so.__all__)
