"""`--slow-seconds`: long lists of slow tests are sampled, and it is said what was left out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import time
import pytest

def test_quick(): pass

@pytest.mark.slow
@pytest.mark.parametrize("n", range(3))
def test_slow_but_few(n): pass

@pytest.mark.slow
@pytest.mark.parametrize("n", range(40))
def test_many(n): time.sleep(0.05)
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "conftest.py").write_text((Path(__file__).parents[1] / "conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: long\n")
    (tmp_path / "test_toy.py").write_text(TESTS)

    def run(*options):
        command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *options]
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("PYTEST_", "SECONDORDER_"))}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        lines = done.stdout.splitlines()
        passed = [line.split()[0].split("::")[1] for line in lines if " PASSED" in line]
        return passed, next((line for line in lines if "left out after" in line), None)
    return run


def test_a_budget_samples_long_lists_only(run):
    passed, told = run("--slow-seconds", "0.7", "--slow-seed", "5")
    others = ["test_quick", *(f"test_slow_but_few[{n}]" for n in range(3))]
    assert passed[:4] == others
    many = len(passed) - 4
    assert 0 < many < 40
    assert told == f"of test_many, {many} run, {40 - many} left out after 0.7 s (--slow-seed 5)"
    again, _ = run("--slow-seconds", "0.7", "--slow-seed", "5")
    shared = min(len(again), len(passed))
    assert again[:shared] == passed[:shared] and passed[4:6] != ["test_many[0]", "test_many[1]"]
    other, _ = run("--slow-seconds", "0.7", "--slow-seed", "6")
    assert other[4:7] != passed[4:7]


def test_without_a_budget_all_run(run):
    passed, told = run()
    assert len(passed) == 44 and told is None
    assert passed[4] == "test_many[0]"


def test_time_enough_for_all(run):
    passed, told = run("--slow-seconds", "100")
    assert (
        len(passed) == 44 and "of test_many, 40 run, 0 left out after 100 s (--slow-seed " in told
    )
