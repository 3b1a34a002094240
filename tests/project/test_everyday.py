"""The everyday tests: which cases are chosen, and what is told when they take long."""

import re

import pytest

from harness import toy_suite
from harness.everyday import spread

EVERYDAY = ["-m", "not slow and not thorough"]
TESTS = """
import time
import pytest

def test_plain(): pass

@pytest.mark.thorough
def test_marked(): pass

@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_seeds(seed): pass

@pytest.mark.everyday(3)
@pytest.mark.parametrize("inner", "abc")
@pytest.mark.parametrize("outer", range(4))
def test_grid(outer, inner): time.sleep(0.001)

@pytest.mark.slow
@pytest.mark.everyday(1)
@pytest.mark.parametrize("n", range(3))
def test_slow(n): pass

def test_long():
    until = time.process_time() + 0.5
    while time.process_time() < until: pass
"""


def test_every_parameter_varies_in_what_is_chosen():
    assert spread(0, 5) == set() and spread(9, 5) == set(range(5)) and spread(1, 1) == {0}
    for outer in range(1, 9):
        for inner in range(1, 9):
            chosen = spread(max(outer, inner), outer * inner)
            assert len(chosen) == max(outer, inner) and 0 in chosen
            assert {k % inner for k in chosen} == set(range(inner)), (outer, inner)
            assert len({k // inner for k in chosen}) >= outer / 2, (outer, inner)


def test_a_run_leaves_out_the_thorough_ones_and_counts_only_the_others(tmp_path):
    everyday = toy_suite.passed(toy_suite.run(tmp_path, TESTS, *EVERYDAY))
    lines = toy_suite.run(tmp_path, TESTS, "-m", "thorough", "--everyday-seconds", "0")
    assert "aim is" not in "\n".join(lines)
    thorough = toy_suite.passed(lines)
    grid = [name for name in everyday if "grid" in name]
    assert [name for name in everyday if name not in grid] == [
        "test_plain", "test_seeds[0]", "test_long"]
    assert len(grid) == 3 and {name[-2] for name in grid} == set("abc")
    assert "test_marked" in thorough and "test_seeds[1]" in thorough
    assert len(thorough) == 2 + 12 - 3 and not set(thorough) & set(everyday)


def test_a_test_that_is_asked_for_by_name_runs(tmp_path):
    name = "test_toy.py::test_grid[2-b]"
    assert toy_suite.passed(toy_suite.run(tmp_path, TESTS, *EVERYDAY, name)) == ["test_grid[2-b]"]


@pytest.mark.thorough
def test_a_long_run_is_told_with_the_longest_tests(tmp_path):
    lines = toy_suite.run(tmp_path, TESTS, *EVERYDAY, "--everyday-seconds", "0.1")
    found = re.search(r"take (\d+) s .* aim is 0.1 s.*\n +(\d\.\d) s  test_toy.py::(\w+) \(1\)\n",
                      "\n".join(lines))
    assert found and found[3] == "test_long" and 0.4 <= float(found[2]) < 1
