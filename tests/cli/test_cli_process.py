"""The command as a process of its own: its output, readers that go away, full disks."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import secondorder as so
from secondorder import cli

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
    script = ("import sys; from secondorder.cli import main; "
              "sys.exit(main(['show', 'residual-partitioning']))")
    with subprocess.Popen([sys.executable, "-u", "-c", script], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=tmp_path, env=ENVIRONMENT) as child:
        child.stdout.close()
        errors = child.stderr.read()
        assert child.wait(60) == 1 and b"Traceback" not in errors


FULL = Path("/dev/full")


@pytest.mark.slow
@pytest.mark.skipif(not FULL.is_char_device(), reason="no device that is always full")
@pytest.mark.parametrize("unbuffered", [True, False])
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_files_are_there_although_the_output_cannot_be_written(tmp_path, unbuffered, words):
    environment = ENVIRONMENT | {"PYTHONUNBUFFERED": "1" if unbuffered else ""}
    train = [*COMMAND, "train", "--data", "wine", "--epochs", "1", "--out", "made", *words]
    with FULL.open("w") as full:
        said = subprocess.run(train, stdout=full, stderr=subprocess.PIPE, cwd=tmp_path,
                              env=environment, text=True, timeout=120, check=False)
    assert said.returncode == 2 and "No space left" in said.stderr
    assert "Exception ignored" not in said.stderr and "Traceback" not in said.stderr
    assert sorted(os.listdir(tmp_path / "made")) == ["history.json", "learning-curves.png",
                                                     "parameters.npz"]


def test_a_closed_output_is_no_error(monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        assert cli.main(["data"]) == 0
    assert errors.getvalue() == ""
