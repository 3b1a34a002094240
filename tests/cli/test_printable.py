"""What strangers write cannot steer the terminal of who reads it."""

import json

import pytest

from secondorder import cli
from secondorder.cli.printable import Printable, one_line, printable

CODES = "\x1b[2J\x9b31m\x07\x7f\rright\u202e\u2066"


@pytest.mark.parametrize("text", ["plain\ttext\n", "café ∂L/∂w ‖x‖ \u2009 한글 👩‍🔬", "\\x1b"])
def test_other_text_is_left_as_it_is(text):
    assert printable(text) == text


def test_control_codes_are_escapes_that_json_reads():
    shown = printable(CODES)
    assert shown.isprintable() and json.loads(f'"{shown}"') == CODES
    assert one_line("a\nb.py: right") == "a\\u000ab.py: right"


def test_only_a_carriage_return_that_begins_a_piece_is_kept(capsys):
    import sys

    stream = Printable(sys.stdout)
    stream.write("\rstep 1\rstep 2\n")
    stream.write("a\x1b\n")
    assert capsys.readouterr().out == "\rstep 1\\u000dstep 2\na\\u001b\n" and stream.encoding


def test_a_paper_and_an_exercise_of_strangers(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\n\\begin{document}\n\\title{A " + CODES + "}\nLet " + CODES
        + " be\n\\begin{equation}\n a " + CODES + " = b\n\\end{equation}\n\\end{document}\n")
    assert cli.main(["edition", "new", "strange", "--tex", "paper.tex"]) == 0
    for words in (["show", "strange", "1"], ["verify", "strange"], ["show", "strange", CODES]):
        cli.main(words)
    name = "a" + CODES.replace("/", "") + "\nb.py: right.py"
    (tmp_path / name).write_text(f"raise ValueError({CODES + chr(10) + 'b.py: right'!r})")
    assert cli.main(["grade", name]) == 1
    cli.main(["grade", CODES])
    told = "".join(capsys.readouterr())
    assert not set(told) & set(CODES.replace("right", "").replace("[2J", "").replace("31m", ""))
    assert not any(line.startswith("b.py") for line in told.splitlines())
