"""A process keeps the memory that passes freed."""

import os
import platform
import subprocess
import sys

import pytest

CODE = """
import resource, numpy as np, secondorder as so

net = so.Network([so.Linear(700, 700, rng=0), so.Activation("tanh"), so.Linear(700, 2, rng=0)])
step = lambda: so.SGD.step(optimizer, np.ones((4, 700)), np.ones((4, 2)))
optimizer = so.SGD(net, so.SquaredError(), learning_rate=1e-6)
for _ in range(4):
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(**environment):
    """Pages that are touched for the first time in five steps, of 957 in an array of length P."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run([sys.executable, "-c", CODE], env=kept | environment, check=True,
                          capture_output=True, text=True)
    return int(done.stdout)


pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc",
                                reason="the thresholds are those of glibc")


def test_a_step_touches_hardly_any_new_page():
    assert faults() < 200


@pytest.mark.slow
def test_a_threshold_that_is_asked_for_goes_first():
    assert faults(MALLOC_TRIM_THRESHOLD_="131072") > 2000
