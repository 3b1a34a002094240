"""What a warm step costs in calls of Python's, beside what the network does."""

import sys
from pathlib import Path

import numpy as np
import pytest

import secondorder as so

FOLDER = str(Path(so.optimizers.__file__).parent)
MOST = {so.SGD: 20, so.Adam: 23}


def calls(step):
    """Names of the functions of `optimizers` that a step calls, one an entry."""
    names = []

    def told(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(FOLDER):
            names.append(frame.f_code.co_qualname)

    sys.setprofile(told)
    try:
        step()
    finally:
        sys.setprofile(None)
    return names


@pytest.mark.parametrize("kind", MOST)
def test_a_warm_step_makes_few_calls(kind):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 64)), rng.integers(0, 10, 50)
    method = kind(so.mlp([64, 16, 10], rng=0), so.SoftmaxCrossEntropy())
    for _ in range(3):
        method.step(x, y)
    names = calls(lambda: method.step(x, y))
    assert "Optimizer.step" in names and len(names) <= MOST[kind], names
