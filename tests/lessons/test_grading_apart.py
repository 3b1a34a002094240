"""Whatever the code of an exercise does, there is a verdict: each file in a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from secondorder import cli, lessons
from secondorder.lessons import apart, sources

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
    "input": ("name = input()\n" + RIGHT, "not graded: EOFError in line 1"),
    "GRADE of numbers": (RIGHT.replace('("low-rank", "23", "eq_23_eta")', "(1, 2)"),
                         "not graded: GRADE must be"),
    "no function": (RIGHT.replace("def eq_23_eta", "def other"),
                    "not graded: .*does not define eq_23_eta"),
    "raises": (inside("1 / 0"), "wrong: .*\n.*ZeroDivisionError"),
    "no return": (RIGHT.replace("    return alpha", "    alpha"),
                  "wrong: .*\n  your function returns None"),
    "memory": (inside("bytearray(10**11)"), "wrong: .*\n.*MemoryError"),
    "a flood": ("while True: print('x' * 10**6)\n", "not graded: OSError in line 1: .*too large"),
    "magics": (f"%matplotlib inline\n!pip list\nx = !ls\nif True:\n    %pylab\nalpha?\n{RIGHT}",
               "right: "),
    "a thread": ("import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()\n"
                 + RIGHT, "right: "),
    "forks": ("import os\nwhile True:\n    try:\n        os.fork()\n    except Exception: pass\n",
              "not graded: Ended in line 4: an exercise may not start a process"),
    "an endless loop": (inside("while True: pass"), "not graded: Ended in line 23: still running "
                        "after 2 seconds of CPU time: an endless loop"),
    "a wait without end": (inside("import time\n    while True: time.sleep(1)"),
                           "not graded: Ended in line 24: still running after 8 seconds: does"),
    "a wait longer than the CPU time": ("import time\ntime.sleep(3)\n" + RIGHT, "right: "),
}


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("name", HOSTILE)
def test_there_is_a_verdict(name, tmp_path):
    text, words = HOSTILE[name]
    path = tmp_path / "anna ü (1).py"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = lessons.grade(path, 2.0 if "running" in words or "CPU time" in name else 30.0)
    assert re.match(words, str(found)), str(found)
    assert found.ok == (found.outcome == "right") == words.startswith("right")


def test_a_process_that_hears_nothing_is_ended(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    path.write_text("import os, signal\nfor _ in range(9): os.kill(os.getpid(), signal.SIGSTOP)\n")
    monkeypatch.setattr(apart, "_STARTING", 1.0)
    assert "not graded: still running after" in str(lessons.grade(path, 0.5))


@pytest.mark.parametrize("code, words", [
    ("from secondorder.papers.low_rank.eq_10_26_network import eq_23_eta",
     "eq_23_eta is imported from secondorder.papers"),
    ("from secondorder.papers.low_rank import eq_10_26_network\n\n\n"
     "def eq_23_eta(*given):\n    return eq_10_26_network.eq_23_eta(*given)",
     "eq_23_eta calls the edition's")])
def test_the_edition_s_own_function_is_no_answer(code, words, tmp_path):
    path = tmp_path / "anna.py"
    path.write_text(f"{code}\n\n\nGRADE = ('low-rank', '23', 'eq_23_eta')\n")
    found = lessons.grade(path, 30.0)
    assert not found.ok and words in str(found)


def notebook(*cells):
    return json.dumps({"nbformat": 4, "cells": [
        {"cell_type": "code", "source": cell} for cell in cells]})


@pytest.mark.parametrize("text, words", [
    (notebook(["%matplotlib inline\n", "import numpy"], "%%bash\nls |", "%%time\n" + RIGHT,
              "display(3)"), "right: "),
    (notebook("x = 1", "%%bash\nls |", "y = 1\nz ="), "not graded: SyntaxError in cell 3, line 2"),
    (notebook("x = 1", "def f():\n    return undefined", "f()"),
     "not graded: NameError in cell 2, line 2"),
    ("{", "not graded: the file is no notebook"),
    ("[" * 10**5, "not graded: the file is no notebook"),
    ('{"cells": [{"source": 3, "cell_type": "code"}]}', "not graded: the file is no notebook"),
])
def test_notebooks_get_a_verdict(text, words, tmp_path):
    path = tmp_path / "10 (1).ipynb"
    path.write_text(text, encoding="utf-8")
    assert str(lessons.grade(path)).startswith(words)


def test_an_operator_at_the_beginning_of_a_line_stays():
    names = {}
    source = "a = (7\n     % 4)\nb = '''\n%x\n!y'''\n%magic it's\n!echo ("
    exec(sources.compiled(source, "it"), names)
    assert names["a"] == 3 and names["b"] == "\n%x\n!y"
    with pytest.raises(SyntaxError):
        sources.compiled("a = 1\nb = = 2", "it")
    exec(sources.compiled("%magic\na = 'one\u2028line\x1c'\r\nb = 1", "it"), names)
    assert names["a"] == "one\u2028line\x1c"


@pytest.mark.parametrize("name, words", [("15_what_leaves_a_plateau", "the file is no exercise"),
                                         ("90_steps", "the file is no exercise"),
                                         ("my_steps", "it runs")])
def test_a_tutorial_that_is_handed_in_is_not_run(name, words, tmp_path):
    path = tmp_path / f"{name}.py"
    path.write_text("raise SystemError('it runs')\n")
    assert words in str(lessons.grade(path, 30.0))


@pytest.mark.slow
def test_one_bad_file_does_not_keep_the_others_from_a_verdict(tmp_path, capsys, monkeypatch):
    for name, text in (("anna.py", inside("import sys; sys.exit(0)")), ("ben.py", RIGHT),
                       ("numpy.py", "print('hello\x1b[2J')\nx = (")):
        (tmp_path / name).write_text(text)
    (tmp_path / "cleo.py").write_text("import numpy\nprint('hello\x1b[2J')\n" + SLOPES)
    monkeypatch.chdir(tmp_path)
    names = ["anna.py", "ben.py", "numpy.py", "cleo.py"]
    assert cli.main(["grade", *names, "--seconds", "30"]) == 1
    told = capsys.readouterr().out
    assert [line for line in told.splitlines() if line.startswith("ben.py")][0].startswith(
        "ben.py: right")
    assert all(f"{name}: " in told for name in names)
    assert "it printed:\n    hello\\u001b[2J" in told and "\x1b" not in told
    assert cli.main(["grade", "ben.py"]) == 0
    capsys.readouterr()
    assert cli.main(["grade", "ben.py", "none.py"]) == 2  # before any file is graded
    told = capsys.readouterr()
    assert "no such file: none.py" in told.err and "right" not in told.out
    assert cli.main(["grade", "ben.py", "--seconds", "0"]) == 2


def endless(told):
    """Code that writes the number of its process to the file `told`, and does not end."""
    return f"import os\nopen({str(told)!r}, 'w').write(str(os.getpid()))\nwhile True: pass\n"


def require_an_end_by_ctrl_c(arguments, told, folder=None):
    """Grade until `endless` code runs, then Ctrl-C: one line, and neither process goes on."""
    process = subprocess.Popen([sys.executable, "-m", "secondorder", "grade", *arguments],
                               cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    for _ in range(600):
        if told.exists() and told.read_text():
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "Traceback" not in err and "interrupted" in err
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_grading_and_the_code(tmp_path):
    path, told = tmp_path / "a.py", tmp_path / "pid"
    path.write_text(endless(told))
    require_an_end_by_ctrl_c([str(path)], told)


@pytest.mark.slow
def test_it_works_from_any_folder_and_where_another_numpy_lies(tmp_path):
    (tmp_path / "numpy.py").write_text("raise ImportError('the wrong one')")
    (tmp_path / "json.py").write_text("raise ImportError('the wrong one')")
    (tmp_path / "helper.py").write_text("one = 1")
    (tmp_path / "a.py").write_text("from helper import one\nassert one == 1\n" + RIGHT)
    assert lessons.grade(tmp_path / "a.py").ok
