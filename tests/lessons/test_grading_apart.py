"""Whatever the code of an exercise does, there is a verdict: each file in a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from harness import slow
from secondorder import cli, lessons
from secondorder.lessons import apart

HOME = lessons.folder() / "exercises"
SLOPES = (HOME / "05_whose_slopes.py").read_text(encoding="utf-8")
RIGHT = SLOPES.replace("return ...", "return alpha(sample, k, l) @ gamma(sample, l)")


def inside(code):
    """The right answer, after a line that runs whenever it is called."""
    return RIGHT.replace("    return alpha", f"    {code}\n    return alpha")


#: file's text -> words of the verdict
HOSTILE = {
    "exit": (inside("import sys; sys.exit(0)"), "not graded: SystemExit in line 23"),
    "os._exit": (inside("import os; os._exit(0)"), "not graded: .*ended its process with status 0"),
    "segfault": (inside("import ctypes; ctypes.string_at(0)"), "not graded: .*Segmentation fault"),
    "syntax": (RIGHT.replace("return alpha", "retrun alpha"), "not graded: SyntaxError in line 23"),
    "latin-1": (RIGHT.encode() + b"# \xe4", "not graded: .*no text in UTF-8"),
    "GRADE of numbers": (RIGHT.replace('("low-rank", "23", "eq_23_eta")', "(1, 2)"),
                         "not graded: GRADE must be"),
    "no function": (RIGHT.replace("def eq_23_eta", "def other"),
                    "not graded: .*does not define eq_23_eta"),
    "no exercise": ("x = 1", "not graded: .*Copy the line GRADE"),
    "raises": (inside("1 / 0"), "wrong: .*\n.*ZeroDivisionError"),
    "memory": (inside("bytearray(10**11)"), "wrong: .*\n.*MemoryError"),
    "a flood": ("while True: print('x' * 10**6)\n", "not graded: OSError in line 1: .*too large"),
    "magics": ("%matplotlib inline\n!pip list\nif True:\n    %pylab\nalpha?\na = (7\n    % 4)\n"
               + RIGHT, "right: "),
    "a thread": ("import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()\n"
                 + RIGHT, "right: "),
    "an endless loop": (inside("while True: pass"), "not graded: Ended in line 23: still running "
                        "after 2 seconds of CPU time: an endless loop"),
    "the edition's own": ("from secondorder.papers.low_rank.eq_10_26_network import eq_23_eta\n"
                          "GRADE = ('low-rank', '23', 'eq_23_eta')",
                          "not graded: eq_23_eta is imported from secondorder.papers"),
    "a call of the edition's own": (
        "from secondorder.papers.low_rank import eq_10_26_network\n\n\ndef eq_23_eta(*given):\n"
        "    return eq_10_26_network.eq_23_eta(*given)\n\n\n"
        "GRADE = ('low-rank', '23', 'eq_23_eta')", "not graded: eq_23_eta calls the edition's"),
}


QUICK = ("exit", "segfault", "raises", "memory", "an endless loop", "a call of the edition's own")


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("name", [*QUICK, *slow(
    [name for name in HOSTILE if name not in QUICK])])
def test_there_is_a_verdict(name, tmp_path):
    text, words = HOSTILE[name]
    path = tmp_path / "anna ü (1).py"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = lessons.grade(path, 2.0 if "CPU time" in words + name else 30.0)
    assert re.match(words, str(found)), str(found)
    assert found.ok == (found.outcome == "right") == words.startswith("right")


def test_a_process_that_hears_nothing_is_ended(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    path.write_text("import os, signal\nfor _ in range(9): os.kill(os.getpid(), signal.SIGSTOP)\n")
    monkeypatch.setattr(apart, "_STARTING", 1.0)
    assert "not graded: still running after" in str(lessons.grade(path, 0.5))


def notebook(*cells):
    return json.dumps({"nbformat": 4, "cells": [
        {"cell_type": "code", "source": cell} for cell in cells]})


@pytest.mark.parametrize("text, words", [
    (notebook(["%matplotlib inline\n", "import numpy"], "%%bash\nls |", "%%time\n" + RIGHT,
              "display(3)"), "right: "),
    (notebook("x = 1", "%%bash\nls |", "y = 1\nz ="), "not graded: SyntaxError in cell 3, line 2"),
    (notebook("x = 1", "def f():\n    return undefined", "f()"),
     "not graded: NameError in cell 2, line 2"),
    ("{", "not graded: the file is no notebook")])
def test_notebooks_get_a_verdict(text, words, tmp_path):
    path = tmp_path / "10 (1).ipynb"
    path.write_text(text, encoding="utf-8")
    assert str(lessons.grade(path)).startswith(words)


@pytest.mark.slow
def test_several_files_get_their_verdicts(tmp_path, capsys, monkeypatch):
    (tmp_path / "helper.py").write_text("one = 1")
    for name, text in (("anna.py", inside("import sys; sys.exit(0)")),
                       ("ben.py", "from helper import one\n" + RIGHT),
                       ("numpy.py", "print('hello\x1b[2J')\nx = (\n")):
        (tmp_path / name).write_text(text)
    (tmp_path / "cleo.py").write_text("import numpy\nprint('hello\x1b[2J')\n" + SLOPES)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["grade", "anna.py", "ben.py", "numpy.py", "cleo.py"]) == 1
    told = capsys.readouterr().out
    assert "anna.py: not graded" in told and "\nben.py: right" in told
    assert "numpy.py: not graded: SyntaxError" in told and "\ncleo.py: wrong" in told
    assert "it printed:\n    hello\\u001b[2J" in told and "\x1b" not in told
    assert cli.main(["grade", "none.py"]) == 2
    assert "no such file: none.py" in capsys.readouterr().err


def endless(told):
    """Code that writes the number of its process to the file `told`, and does not end."""
    return f"import os\nopen({str(told)!r}, 'w').write(str(os.getpid()))\nwhile True: pass\n"


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("arguments", [
    ["class/ben/05.py"], pytest.param(["class", "--csv", "grades.csv"], marks=pytest.mark.slow)])
def test_ctrl_c_ends_grading_and_the_code(arguments, tmp_path):
    """One line, no process goes on, and the table of a class has what was graded."""
    told = tmp_path / "pid"
    for name, text in (("anna", "x = ("), ("ben", endless(told))):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "05.py").write_text(text)
    process = subprocess.Popen([sys.executable, "-m", "secondorder", "grade", *arguments],
                               cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(HOME.parents[1])},
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (told.exists() and told.read_text()):
        time.sleep(0.05)  # until the code runs: grading ends by itself if it never does
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130 and "Traceback" not in err and "interrupted" in err
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)
    assert len(arguments) == 1 or "anna,,not graded" in (tmp_path / "grades.csv").read_text()
