"""What one reads is what runs: where a breakpoint fires in a warm step, and how little runs beside
the formulas."""

import sys
from pathlib import Path

import numpy as np
import pytest

import secondorder as so

FOLDER = Path(so.__file__).parent


def calls(work):
    """File and function of the package, one for every call that some work makes."""
    found = []

    def told(frame, event, argument):
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(FOLDER):
            found.append((str(file.relative_to(FOLDER)), frame.f_code.co_name))

    sys.setprofile(told)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("kind", [so.SGD, so.Momentum, so.Adagrad, so.Adadelta, so.Adam])
def test_a_breakpoint_fires_in_training(kind):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 64)), rng.integers(0, 10, 50)
    method = kind(so.mlp([64, 16, 10], rng=0), so.SoftmaxCrossEntropy(), learning_rate=0.01)
    for _ in range(2):
        method.step(x, y)
    step = calls(lambda: method.step(x, y))
    own = [call for call in step if call[0].startswith("optimizers/")]
    assert len(own) <= 16 and len({file for file, _ in own}) <= 3, own
    trained = calls(lambda: so.train(method, x, y, epochs=1, progress=False))
    for ran in (step, trained):
        assert ("optimizers/first_order.py", "direction") in ran
        assert ("nets/layers/linear.py", "forward") in ran
