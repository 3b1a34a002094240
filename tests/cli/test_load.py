"""`--load FILE`: an error of somebody's own code is one line that names file and line."""

import json
import sys

import pytest

from secondorder.ledger import registry


@pytest.mark.parametrize("text, told", [
    ("x = 1\ny = nowhere + x\n", "line 2: NameError: name 'nowhere'"),
    ("x = 1\n\ny = (\n", "line 3: SyntaxError: "),
    ("import sys\n\ndef end():\n    sys.exit(0)\n\nend()\n", "line 4: SystemExit: 0"),
    ("import no_such_module_here\n", "line 1: ModuleNotFoundError: "),
])
def test_what_goes_wrong_in_a_file_of_ones_own_is_told_in_a_line(text, told, tmp_path, run):
    file = tmp_path / "mine.py"
    file.write_text(text)
    status, _, err = run("verify", "--load", file)
    assert status == 2 and f"--load {file}, {told}" in err and len(err.splitlines()) == 1
    assert "own_mine" not in sys.modules


MINE = """
from secondorder import ledger
mine = ledger.paper("mine-alone")
@mine.equation("1", statement="Doubling adds.", formula="2 x = x + x", kind="identity",
               verdict="holds", implements=abs)
def equation_1(rng):
    x = rng.normal()
    return [ledger.Equal("doubling against adding", 2 * x, x + x, 1e-14)]
"""


@pytest.mark.parametrize("name", ["loaded_alone.py", "numpy.py", "no.such.py"])
def test_what_is_loaded_is_checked_alone_whatever_its_file_is_called(name, tmp_path, run):
    (tmp_path / name).write_text(MINE)
    before = sys.modules["numpy"]
    status, out, _ = run("verify", "--json", "--load", name)
    registry.REGISTRY.forget("mine-alone")
    assert status == 0 and [one["paper"] for one in json.loads(out)] == ["mine-alone"]
    assert sys.modules["numpy"] is before
