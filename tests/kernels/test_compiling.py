"""When numba is loaded, where compiled loops are kept, and that they run without it, too."""

import os
import subprocess
import sys
from pathlib import Path

import secondorder
from secondorder.kernels import compiling

PACKAGE = Path(secondorder.__file__).parent
GRADIENT = ("import numpy as np, secondorder as so; net = so.mlp([2, 3, 2], rng=0); "
            "print(so.exact.gradient(net, so.SoftmaxCrossEntropy(), [[1.0, 2.0]], [1]).sum())")


def run(code, **variables):
    """What code prints in another interpreter, with these variables; it says no error."""
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run([sys.executable, "-c", code],
                          env=kept | {name: str(value) for name, value in variables.items()},
                          cwd=PACKAGE.parent, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


def test_numba_is_loaded_by_the_first_kernel():
    said = run("import sys, secondorder as so, secondorder.training; net = so.mlp([2, 2], rng=0)\n"
               "sgd = so.SGD(net, so.SquaredError()); net.summary()\n"
               "print('numba' in sys.modules)\n"
               "sgd.step([[1.0, 2.0]], [[0.0, 1.0]]); print('numba' in sys.modules)")
    assert said.split()[-2:] == ["False", "True"]


def test_loops_are_kept_where_the_user_says_and_never_beside_the_sources(tmp_path):
    (tmp_path / "file").write_text("no folder can be made in here")
    first = run(GRADIENT, NUMBA_CACHE_DIR=tmp_path / "mine")
    assert list((tmp_path / "mine").rglob("*.nbi"))
    assert run(GRADIENT, NUMBA_CACHE_DIR=tmp_path / "mine") == first
    assert run(GRADIENT, NUMBA_CACHE_DIR=tmp_path / "file" / "cache") == first
    assert not list(PACKAGE.rglob("*.nbi"))


def test_loops_run_in_python_where_numba_is_told_not_to_compile(tmp_path):
    compiled, plain = run(GRADIENT, NUMBA_CACHE_DIR=tmp_path), run(GRADIENT, NUMBA_DISABLE_JIT=1)
    assert abs(float(compiled) - float(plain)) < 1e-14


def test_a_changed_loop_has_another_folder(monkeypatch, tmp_path):
    """numba would not notice a change in a function that another one calls."""
    monkeypatch.setattr(compiling, "__file__", str(tmp_path / "compiling.py"))
    (tmp_path / "loops.py").write_text("a = 1")
    first = compiling.cache_folder.__wrapped__()
    assert compiling.cache_folder.__wrapped__() == first
    (tmp_path / "loops.py").write_text("a = 2")
    assert compiling.cache_folder.__wrapped__() != first
