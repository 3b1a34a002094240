"""`--slow-seconds`: long lists of slow tests are sampled, and it is said what was left out."""

import pytest

from harness import toy_suite

TESTS = """
import time
import pytest

shown, began = [0.0], time.monotonic()
time.monotonic = lambda: began + shown[0]  # a clock that only test_many moves

def test_quick(): pass

@pytest.mark.slow
@pytest.mark.parametrize("n", range(3))
def test_slow_but_few(n): pass

@pytest.mark.slow
@pytest.mark.parametrize("n", range(40))
def test_many(n): shown[0] += 50
"""


@pytest.fixture
def run(tmp_path):
    def run(*options):
        lines = toy_suite.run(tmp_path, TESTS, *options)
        told = next((line for line in lines if "left out after" in line), None)
        return toy_suite.passed(lines), told
    return run


@pytest.mark.thorough
def test_a_budget_samples_long_lists_only(run):
    passed, told = run("--slow-seconds", "1000")
    others = ["test_quick", *(f"test_slow_but_few[{n}]" for n in range(3))]
    assert passed[:4] == others
    many = len(passed) - 4
    assert 0 < many < 40
    assert told == f"of test_many, {many} run, {40 - many} left out after 1000 s"
    assert passed[4:7] != ["test_many[0]", "test_many[1]", "test_many[2]"]


def test_without_a_budget_all_run(run):
    passed, told = run()
    assert len(passed) == 44 and told is None
    assert passed[4] == "test_many[0]"


@pytest.mark.thorough
def test_time_enough_for_all(run):
    passed, told = run("--slow-seconds", "10000")
    assert len(passed) == 44
    assert told == "of test_many, 40 run, 0 left out after 10000 s"
