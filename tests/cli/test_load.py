"""`--load FILE`: an error of somebody's own code is one line that names file and line."""

import pytest

from secondorder import cli


@pytest.mark.parametrize("text, told", [
    ("x = 1\ny = nowhere + x\n", "line 2: NameError: name 'nowhere'"),
    ("x = 1\n\ny = (\n", "line 3: SyntaxError: "),
    ("import sys\n\ndef end():\n    sys.exit(0)\n\nend()\n", "line 4: SystemExit: 0"),
    ("from secondorder.ledger import paper\npaper()\n", "line 2: TypeError: "),
    ("import no_such_module_here\n", "line 1: ModuleNotFoundError: "),
])
def test_what_goes_wrong_in_a_file_of_ones_own_is_told_in_a_line(text, told, tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(text)
    assert cli.main(["verify", "--load", str(file)]) == 2
    said = capsys.readouterr().err
    assert f"--load {file}, {told}" in said and len(said.splitlines()) == 1


def test_a_module_that_is_not_there_is_named(capsys):
    assert cli.main(["show", "--load", "no_such_module_here"]) == 2
    assert "--load no_such_module_here: ModuleNotFoundError" in capsys.readouterr().err
