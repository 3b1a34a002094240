"""What a warm step costs in calls: the functions of the package that it runs, compiled ones too."""

import sys
from pathlib import Path

import numpy as np
import pytest

import secondorder as so

FOLDER = Path(so.__file__).parent

# at most so many calls, in so many files: these numbers may only fall
COMPILED = {so.SGD: (32, 10), so.Adam: (35, 11), so.ResidualPartitioning: (40, 11)}
LITERAL = {so.SGD: (80, 12), so.Adam: (82, 12), so.ResidualPartitioning: (117, 15)}


def calls(step):
    """File and name of the functions of the package that a step calls, one an entry."""
    found = []

    def told(frame, event, argument):
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(FOLDER):
            found.append((str(file.relative_to(FOLDER)), frame.f_code.co_name))

    sys.setprofile(told)
    try:
        step()
    finally:
        sys.setprofile(None)
    return found


def warm_step(kind):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 64)), rng.integers(0, 10, 50)
    method = kind(so.mlp([64, 16, 10], rng=0), so.SoftmaxCrossEntropy(), learning_rate=0.01)
    for _ in range(3):
        method.step(x, y)
    return calls(lambda: method.step(x, y))


@pytest.mark.parametrize("kind", COMPILED)
@pytest.mark.parametrize("literal", [False, True])
def test_a_warm_step_makes_few_calls_in_few_files(kind, literal):
    with so.literal(literal):
        found = warm_step(kind)
    most, files = (LITERAL if literal else COMPILED)[kind]
    assert ("optimizers/base.py", "step") in found
    assert len(found) <= most and len({file for file, _ in found}) <= files, found
