"""A real study that is killed twice, and resumed, ends as one that was left alone."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import secondorder
from secondorder.studies.data import missing

STUDY = ("low-rank", "figure-2")
RUNS = "runs-without-mnist" if missing(["mnist"]) else "runs"
#: What differs from one undisturbed run to the next.
TIMES = ("seconds", "run_seconds")


def begin(out, *words, seeds=6):
    package = Path(secondorder.__file__).parents[1]
    command = [sys.executable, "-m", "secondorder", "reproduce", *STUDY, "--quick", "--seeds",
               str(seeds), "--jobs", "2", "--out", str(out), *words]
    return subprocess.Popen(command, cwd=out.parent, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True,
                            env={**os.environ, "PYTHONPATH": str(package)})


def kept(out):
    """File -> what it holds, without times: the result of the study, and a file a run."""
    place, found = out / STUDY[0], {}
    for path in [*(place / RUNS).glob("*.json"), place / f"{STUDY[1]}.json"]:
        told = json.loads(path.read_text(encoding="utf-8"))
        found[path.name] = {name: value for name, value in told.items() if name not in TIMES}
    return found


@pytest.mark.slow
def test_a_real_study_killed_twice_and_resumed_ends_as_one_left_alone(tmp_path):
    """Sixty trainings of digits, two processes at a time; the moments of both kills are drawn. Both
    fall into the first half: on a busy machine the kill comes some trainings late.
    """
    whole, out = tmp_path / "whole", tmp_path / "killed"
    assert begin(whole).wait() == 0
    total, rng = len(kept(whole)) - 1, random.Random()
    runs = out / STUDY[0] / RUNS
    for words in ((), ("--resume",)):
        there = len(list(runs.glob("train-*.json")))
        wanted = rng.randint(there + 1, there + (total - there) // 6)
        process = begin(out, *words)
        while len(list(runs.glob("train-*.json"))) < wanted and process.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.1))
        os.killpg(process.pid, signal.SIGKILL)  # its workers with it
        process.wait()
    before = {path: path.stat().st_mtime_ns for path in runs.glob("train-*.json")}
    assert 2 <= len(before) < total and not (runs.parent / f"{STUDY[1]}.json").exists()
    assert begin(out).wait() == 2, "runs of another time are refused"
    assert begin(out, "--resume").wait() == 0
    assert kept(out) == kept(whole)
    assert all(path.stat().st_mtime_ns == when for path, when in before.items()), "none repeated"
    assert (runs.parent / f"{STUDY[1]}.png").exists()


