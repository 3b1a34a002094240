"""A few toy tests in a folder of their own, run with this project's `conftest.py`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
MARKERS = ["slow: long", "thorough: not every day", "everyday(count): so many cases every day"]


def prepare(folder):
    """Put into `folder` what `conftest.py` needs."""
    shutil.copy(TESTS / "conftest.py", folder)
    (folder / "harness").mkdir(exist_ok=True)
    for plugin in ("everyday.py", "processes.py"):
        shutil.copy(TESTS / "harness" / plugin, folder / "harness")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n" + "".join(
        f"    {marker}\n" for marker in MARKERS))


def command(*options):
    return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]


def environment():
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("PYTEST_", "SECONDORDER_"))}


def start(folder, *options):
    """Run all tests of a prepared folder; what `subprocess.run` gives."""
    return subprocess.run(command(*options), cwd=folder, env=environment(), capture_output=True,
                          text=True)


def run(folder, tests, *options):
    """Run `test_toy.py` with this text in `folder`; the lines that pytest prints."""
    prepare(folder)
    (folder / "test_toy.py").write_text(tests)
    done = start(folder, "-v", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def passed(lines):
    """Names of the tests that passed, with their parameters."""
    return [line.split()[0].split("::")[1] for line in lines if " PASSED" in line]
