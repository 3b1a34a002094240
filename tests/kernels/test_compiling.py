"""When numba is loaded, where compiled loops are kept, and that they run without it, too."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import secondorder
from secondorder.kernels import compiling

PACKAGE = Path(secondorder.__file__).parent
ALL = """
import numpy as np, secondorder as so
from secondorder.nets import *
rng, loss = np.random.default_rng(0), SoftmaxCrossEntropy()
net = Network([Conv2d(1, 2, 2, stride=(1, 2), padding=1, rng=0), Activation("tanh"), AvgPool2d(2),
               Activation("softplus"), LayerNorm(1), Activation("sigmoid"), MaxPool2d((2, 1)),
               Flatten(), Activation("leaky_relu"), Linear(2, 2, rng=1)], input_shape=(1, 4, 4))
x, y = rng.normal(size=(3, 1, 4, 4)), rng.integers(0, 2, 3)
e, v = net.evaluate(loss, x, y), rng.normal(size=(2, net.size))
t, moved = net.chain.tangents(e.saved, None, v)
found = [e.losses, e.gradient, net.chain.backward_tangent_from(e.saved, moved, e.deltas, t)[1],
         net.chain.parameter_gradients_from(e.saved, e.deltas), loss.hessian_diagonal(t[0], e.y),
         loss.hessian_product(e.outputs, e.y, t)]
for kind in (so.SGD, so.Momentum, so.Adagrad, so.Adadelta, so.Adam):
    method = kind(net, loss)
    method.step(x, y), method.step(x, y)
    found.append(net.theta)
    for numbers in found:
        print(*numbers.ravel().tolist())
"""


def run(code, **variables):
    """What code prints in another interpreter, with these variables; it says no error."""
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run([sys.executable, "-c", code],
                          env=kept | {name: str(value) for name, value in variables.items()},
                          cwd=PACKAGE.parent, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


def test_the_loop_that_one_reads_is_the_loop_that_runs():
    """As NUMBA_DISABLE_JIT=1 runs them, for a debugger."""
    printed = run(ALL, NUMBA_CACHE_DIR=os.environ.get("NUMBA_CACHE_DIR", "")), run(
        ALL, NUMBA_DISABLE_JIT=1)
    compiled, python = (np.array(text.split(), float) for text in printed)
    np.testing.assert_allclose(compiled, python, rtol=1e-13, atol=1e-14)


def test_loops_are_kept_where_the_user_says_and_never_beside_the_sources(tmp_path):
    """And numba is loaded by the first kernel."""
    code = ("import sys, secondorder as so; net = so.mlp([2, 2], rng=0); net.summary()\n"
            "sgd = so.SGD(net, so.SquaredError()); print('numba' in sys.modules)\n"
            "sgd.step([[1.0, 2.0]], [[0.0, 1.0]]); print('numba' in sys.modules)")
    assert run(code, NUMBA_CACHE_DIR=tmp_path / "mine").split()[-2:] == ["False", "True"]
    assert list((tmp_path / "mine").rglob("*.nbi"))
    (tmp_path / "file").write_text("no folder can be made in here")
    run(code, NUMBA_CACHE_DIR=tmp_path / "file" / "cache")
    assert not list(PACKAGE.rglob("*.nbi"))


def test_a_changed_loop_has_another_folder(monkeypatch, tmp_path):
    """numba would not notice a change in a function that another one calls."""
    monkeypatch.setattr(compiling, "__file__", str(tmp_path / "compiling.py"))
    (tmp_path / "loops.py").write_text("a = 1")
    first = compiling.cache_folder.__wrapped__()
    (tmp_path / "loops.py").write_text("a = 2")
    assert compiling.cache_folder.__wrapped__() != first
