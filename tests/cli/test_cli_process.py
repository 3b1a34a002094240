"""The command as a process of its own: its output, readers that go away."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import secondorder as so

COMMAND = [sys.executable, "-m", "secondorder"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}


@pytest.mark.slow
def test_as_a_module(tmp_path):
    def process(*words):
        return subprocess.run([*COMMAND, *words], capture_output=True, text=True, cwd=tmp_path,
                              env=ENVIRONMENT, check=False, timeout=120)

    said = process("--version")
    assert said.returncode == 0 and said.stdout.strip() == f"secondorder {so.__version__}"
    said = process("verify", "nothing")
    assert said.returncode == 2 and said.stdout == "" and said.stderr.count("\n") == 1


@pytest.mark.slow
def test_reader_that_goes_away(tmp_path):
    with subprocess.Popen([*COMMAND, "show", "residual-partitioning"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=tmp_path, env=ENVIRONMENT) as child:
        child.stdout.close()
        errors = child.stderr.read()
        assert child.wait(60) == 1 and b"Traceback" not in errors
