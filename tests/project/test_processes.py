"""`--processes`: files are shared, and what is told is what one process would tell."""

import os
import re
import signal
import subprocess
import time
from types import SimpleNamespace

import pytest

from harness import processes, toy_suite

FILES = {
    "test_good.py": """
import os, warnings
import pytest

@pytest.mark.parametrize("n", range(5))
def test_good(n, record):
    record(n)

def test_prints_and_warns(tmp_path):
    print("not shown")
    warnings.warn("mind the step")

@pytest.mark.thorough
def test_left_out(): assert False
""",
    "test_bad.py": """
import pytest

@pytest.fixture
def broken(): raise OSError("no such thing")

def test_before(record): record(0)
def test_fails():
    print("what was printed")
    assert [1, 2] == [1, 3]
def test_errs(broken): pass
@pytest.mark.xfail
def test_known(): assert False
@pytest.mark.skip(reason="not today")
def test_skipped(): pass
def test_after(record): record(1)
""",
    "test_dies.py": """
import os

def test_first(record): record(0)
def test_dies(): os._exit(3)
def test_goes_on(record): record(1)
""",
    "conftest_record.py": """
import os
from pathlib import Path
import pytest

@pytest.fixture
def record(request):
    def record(n):
        with (Path(__file__).parent / (request.path.stem + ".txt")).open("a") as file:
            print(n, os.getpid(), file=file)
    return record
""",
}


@pytest.fixture
def folder(tmp_path):
    toy_suite.prepare(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(folder, *options):
    return toy_suite.start(folder, "-p", "conftest_record", "-m", "not thorough", *options)


def written(folder, name):
    """Of a file: what its tests recorded, and how many processes did."""
    lines = [line.split() for line in (folder / f"{name}.txt").read_text().splitlines()]
    return [int(n) for n, _ in lines], len({process for _, process in lines})


def counts(text):
    return dict(reversed(pair.split()) for pair in
                re.findall(r"\d+ [a-z]+", text.splitlines()[-1].partition(" in ")[0]))


def test_one_summary_and_every_file_in_its_order(folder):
    done = run(folder, "--processes", "2")
    assert done.returncode == 1, done.stderr
    assert counts(done.stdout) == {"failed": "2", "passed": "10", "skipped": "1", "xfailed": "1",
                                   "deselected": "1", "warning": "1", "error": "1"}, done.stdout
    for told in ("assert [1, 2] == [1, 3]", "what was printed", "no such thing", "mind the step",
                 "test_dies.py::test_dies: its process ended, status 3", "[100%]"):
        assert told in done.stdout, told
    assert "not shown" not in done.stdout
    assert done.stdout.count("test_good.py ......") == 1, "a file's marks stand together"
    assert written(folder, "test_good") == ([0, 1, 2, 3, 4], 1)
    assert written(folder, "test_bad") == ([0, 1], 1)
    assert written(folder, "test_dies") == ([0, 1], 2), "another process goes on"


@pytest.mark.thorough
def test_more_processes_than_files_and_a_choice_of_tests(folder):
    done = run(folder, "--processes", "9", "-k", "good or after", "--durations", "3", "-v")
    assert done.returncode == 0 and counts(done.stdout)["passed"] == "7", done.stdout
    assert re.search(r"test_good.py::test_good\[4\] PASSED +\[", done.stdout)
    assert "slowest 3 durations" in done.stdout


@pytest.mark.thorough
def test_the_first_failure_can_end_the_run(folder):
    done = run(folder, "--processes", "2", "-x", "test_bad.py", "test_good.py")
    assert done.returncode == 1 and "stopping after 1 failures" in done.stdout
    assert counts(done.stdout)["failed"] == "1" and "error" not in counts(done.stdout)


def test_the_largest_files_come_first_and_those_that_share_a_ledger_together():
    modules = dict.fromkeys("ab", SimpleNamespace()) | dict.fromkeys(
        "cd", SimpleNamespace(ledger_runs=True))
    items = [SimpleNamespace(location=(file, n, ""), module=modules[file])
             for file in "abbbcd" for n in range(3)]
    session = SimpleNamespace(items=items)
    files = processes._files(session)
    assert [{item.location[0] for item in session.items[slice(*places)]} for places in files] == [
        {"b"}, {"c", "d"}, {"a"}]
    assert [item.location[1] for item in session.items] == 6 * [0, 1, 2]


@pytest.mark.parametrize("text", ["none", "0", "1.5"])
def test_what_is_no_number_of_processes_is_refused(text):
    with pytest.raises(pytest.UsageError, match="auto or a whole number from 1 on"):
        processes._count(text)


@pytest.mark.thorough
@pytest.mark.parametrize("option", ["--pdb", "--slow-seconds=9"])
def test_what_needs_a_single_process_is_refused(folder, option):
    done = run(folder, "--processes", "2", option)
    assert done.returncode == 4 and " needs a single process" in done.stderr


def test_an_interrupt_ends_all_processes(folder):
    (folder / "test_waits.py").write_text(
        "import os, time\ndef test_waits():\n    open(f'{os.getpid()}.pid', 'w').close()\n"
        "    time.sleep(100)\n")
    (folder / "test_waits_too.py").write_text((folder / "test_waits.py").read_text())
    process = subprocess.Popen(
        toy_suite.command("--processes", "2", "-k", "waits"), cwd=folder, text=True,
        env=toy_suite.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        until = time.monotonic() + 60
        while len(found := list(folder.glob("*.pid"))) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=60)[0]
    finally:
        process.kill()
    assert process.returncode == 2 and "KeyboardInterrupt" in told
    assert len(found) == 2
    for path in found:
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.stem), 0)
