"""What strangers write cannot steer the terminal of who reads it."""

import json
import sys

import pytest

from secondorder import cli
from secondorder.cli.printable import Printable, printable

CODES = "\x1b[2J\x9b31m\x07\x7f\rright\u202e\u2066"


@pytest.mark.parametrize("text", ["plain\ttext\n", "café ∂L/∂w ‖x‖ \u2009 한글 👩‍🔬", "\\x1b"])
def test_other_text_is_left_as_it_is(text):
    assert printable(text) == text


def test_control_codes_are_escapes_that_json_reads(capsys):
    shown = printable(CODES)
    assert shown.isprintable() and json.loads(f'"{shown}"') == CODES
    Printable(sys.stdout).write("\rstep 1\rstep 2\n")  # a line that tells progress
    assert capsys.readouterr().out == "\rstep 1\\u000dstep 2\n"


def test_a_paper_of_strangers(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\n\\begin{document}\n\\title{A " + CODES + "}\nLet " + CODES
        + " be\n\\begin{equation}\n a " + CODES + " = b\n\\end{equation}\n\\end{document}\n")
    assert cli.main(["edition", "new", "strange", "--tex", "paper.tex"]) == 0
    for words in (["show", "strange", "1"], ["verify", "strange"], ["show", "strange", CODES]):
        cli.main(words)
    told = "".join(capsys.readouterr())
    assert not set(told) & {code for code in CODES if not code.isprintable()}
