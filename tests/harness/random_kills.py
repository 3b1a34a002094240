"""Kill `tour` and `train` at random times, again and again, and look at what they leave behind.

    python -m harness.random_kills [NUMBER OF KILLS] [SEED]

After SIGINT and SIGTERM: one line on the error stream and no traceback, status 128 + signal, every
file whole, and the history of what was recorded is there. After SIGKILL: every file whole, and the
checkpoint lets the run go on; at the end the parameters are those of a run that nobody disturbed.
"""

import collections
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np

TRAIN = ("train", "--data", "wine", "--hidden", "8", "--optimizer", "adam", "--resume", "--epochs",
         "300", "--batch-size", "20", "--checkpoint", "c.npz", "--out", "made")
TOUR = ("tour", "--out", "made")
#: A kill comes from before Python has started to after the end: within this multiple of the time
#: that the command takes on this machine when nobody disturbs it.
WITHIN = 1.2


def start(command, folder):
    """The command as a process in a folder."""
    return subprocess.Popen([sys.executable, "-m", "secondorder", *command], cwd=folder, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def kill(command, folder, number, delay):
    """Run a command, send it a signal after a delay; status and what it said on its error
    stream."""
    process = start(command, folder)
    time.sleep(delay)
    process.send_signal(number)
    err = process.communicate(timeout=900)[1]
    return process.returncode, err


def faults(command, folder, number, status, err):
    """What is wrong with how a killed command ended, as a list of texts."""
    found = []
    if number != signal.SIGKILL:
        early = status == -number or "site.py" in err or "runpy" in err or "<frozen" in err
        if "Traceback" in err and not early:
            found.append(f"traceback: {err}")
        if status not in (0, 128 + number) and not early:
            found.append(f"status {status}: {err}")
        if status == 128 + number and err.count("\n") != 1:
            found.append(f"more than a line: {err}")
    found += [f"half-written: {path.name}: {problem}" for path, problem in damaged(folder)]
    if status == 128 + number and number != signal.SIGKILL:
        found += lost(command, folder)
    return found


def damaged(folder):
    """Files that are not whole; those that begin with a dot were never given their name."""
    for path in sorted(Path(folder).rglob("*")):
        if path.is_dir() or path.name.startswith("."):
            continue
        try:
            if path.suffix == ".json":
                json.loads(path.read_text())
            elif path.suffix == ".npz":
                with zipfile.ZipFile(path) as archive:
                    assert archive.testzip() is None
            elif path.suffix == ".png":
                assert path.read_bytes().endswith(b"IEND\xaeB`\x82")
        except Exception as problem:  # any of them means that the file is damaged
            yield path, repr(problem)


def lost(command, folder):
    """Histories that should be there after a signal that can be caught."""
    made = Path(folder) / "made"
    if command == TOUR:
        return [] if not made.exists() or not any(made.iterdir()) or (made / "tour.json").exists() \
            else ["figures without tour.json"]
    checkpoint, history = Path(folder) / "c.npz", made / "history.json"
    if not checkpoint.exists():
        return []
    from secondorder.training import read_checkpoint

    kept = len(read_checkpoint(checkpoint)["history"])
    if not history.exists():
        # a resumed run that was told to stop before its training began has nothing new to write
        return [] if (Path(folder) / "resumed").exists() else ["history.json is not there"]
    records = len(json.loads(history.read_text())["records"])
    behind = records < kept and not (Path(folder) / "resumed").exists()
    return [f"history has {records} records, the checkpoint {kept}"] if behind else []


def run(kills, seed):
    """Kill; returns counts of outcomes and a list of faults."""
    rng, counts, found = np.random.default_rng(seed), collections.Counter(), []
    with tempfile.TemporaryDirectory() as top:
        whole, takes = Path(top) / "whole", {}
        whole.mkdir()
        for command in (TOUR, TRAIN):
            began = time.monotonic()
            assert kill(command, whole, 0, 0.0)[0] == 0
            takes[command] = time.monotonic() - began
            shutil.rmtree(whole / "made")
        assert start(TRAIN, whole).wait() == 0
        expected = np.load(whole / "made" / "parameters.npz")["theta"].tobytes()
        folder = Path(top) / "killed"
        folder.mkdir()
        for _ in range(kills):
            command = TRAIN if rng.random() < 0.7 else TOUR
            number = rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
            place = folder if command == TRAIN else Path(tempfile.mkdtemp(dir=top))
            delay = rng.uniform(0, WITHIN * takes[command])
            status, err = kill(command, place, int(number), delay)
            name = signal.Signals(number).name
            counts[f"{command[0]} {name}: " + ("ended before" if status == 0 else "killed")] += 1
            found += [f"{command[0]}, {name} after {delay:.2f} s: {fault}"
                      for fault in faults(command, place, int(number), status, err)]
            if command == TRAIN:
                (folder / "resumed").touch()
                if status == 0:
                    found += [f"a later run left {path.name} of a killed one"
                              for path in folder.rglob(".*")]
                    same = np.load(folder / "made"
                                   / "parameters.npz")["theta"].tobytes() == expected
                    found += [] if same else ["a resumed run ended with other bits"]
                    shutil.rmtree(folder)
                    folder.mkdir()
    return counts, found


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    counts, found = run(kills, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(json.dumps(counts, indent=1))
    print(f"{kills} kills, {len(found)} faults")
    print("\n".join(found))
    sys.exit(bool(found))
