"""A problem that takes no time, and a clock that does not run by itself."""

from dataclasses import dataclass

import numpy as np
import pytest

import secondorder as so
from secondorder.race.problems import Problem


@dataclass(frozen=True)
class Small(Problem):
    """Forty points of three numbers in two classes; ten are held out."""

    def parts(self, seed):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(50, 3)).astype("float32")
        y = (x[:, 0] > 0).astype(int)
        return (x[:40], y[:40]), (x[40:], y[40:])


@pytest.fixture
def small():
    return Small("small", "small", lambda seed: so.mlp([3, 4, 2], rng=seed, dtype="float32"),
                 so.SoftmaxCrossEntropy(), 8)


class Clock:
    """CPU seconds that pass where a test says so."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()
