"""A paper of one's own: registered outside the package, executed, shown, documented."""

import json
import subprocess
import sys

import numpy as np
import pytest

from secondorder import ledger
from secondorder.ledger import Equal, VerificationError

MINE = '''
import numpy as np
from secondorder import ledger

paper = ledger.paper("my-paper", "A step that knows the least value", symbols={"f*": "`lowest`"})


def gradient(g, c, d):
    """d/dd_j (g_j d_j + c_j d_j^2 / 2) = g_j + c_j d_j, Eq. (8), corrected."""
    return g + c * d


@paper.equation("8", statement="Its gradient; the sign is wrong.", kind="identity",
                verdict="erratum", weight="misprint", formula="-g + c d", corrected="g + c d",
                implements=gradient)
def equation_8(rng):
    g, zero = rng.normal(size=3), np.zeros(3)
    return [ledger.Equal("gradient at 0", gradient(g, zero, zero), 2 * g / 2, 1e-12),
            ledger.Printed(ledger.Equal("printed", -g, 2 * g / 2, 1e-12))]
'''


@pytest.fixture
def mine():
    """A paper that is forgotten after the test."""
    paper = ledger.paper("own-toy", "On toys", symbols={"x": "`x`, a number"})
    yield paper
    paper.forget()


def triple(x):
    """t(x) = x + x + x, Eq. (1)."""
    return x + x + x


def register_one(paper, label="1"):
    @paper.equation(label, statement="Three times a number.", formula="3 x = x + x + x",
                    kind="identity", verdict="holds", implements=triple)
    def check(rng):
        x = rng.normal(size=4)
        return [Equal("three times", triple(x), 3 * x, 1e-12)]
    return check


def test_own_paper_is_run_shown_and_documented(mine):
    register_one(mine)
    result, = mine.run()
    assert result.ok and result.paper == "own-toy"
    assert ledger.run("own_toy", "(1)")[0].ok and ledger.run("On toys", 1)[0].ok
    assert "return x + x + x" in mine.show("1") and "3x = x + x + x" in mine.show("1")
    page = mine.markdown()
    assert page.startswith("# own-toy: every equation, executed\n\n1 check of 1 label: 1 holds.")
    assert "| x |" in page and "[`triple`](test_own_paper.py#L" in page.replace(
        "test_own_paper.triple", "triple")
    assert ledger.summary([result]).startswith("1 check of 1 label: 1 holds; 0 failed")


def test_registering_again_begins_anew(mine):
    register_one(mine)
    with pytest.raises(VerificationError, match="already registered"):
        register_one(mine)
    again = ledger.paper("own-toy")
    register_one(again)
    assert len(again.run()) == 1


@pytest.mark.parametrize("key, expected", [
    ("ea-cg", "one of the package's own"), ("my paper", "letters, digits")])
def test_bad_papers_are_refused(key, expected):
    with pytest.raises(VerificationError, match=expected):
        ledger.paper(key)


@pytest.mark.slow
def test_the_command_line_loads_a_paper_from_a_file(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)

    def command(*arguments):
        done = subprocess.run([sys.executable, "-m", "secondorder", *arguments, "--load",
                               str(tmp_path / "mine.py")], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    result, = json.loads(command("verify", "my-paper", "--json"))
    assert result["labels"] == ["8"] and result["ok"] and result["weight"] == "misprint"
    assert np.isclose(result["printed_error"], 2.0)
    text = command("show", "my-paper", "8")
    assert "g + c d" in text and "return g + c * d" in text
    assert "my-paper                   1 labels" in command("show")
    command("verify", "my-paper", "--markdown", "--write")
    page = (tmp_path / "EQUATIONS.md").read_text(encoding="utf-8")
    assert "(mine.py#L" in page and "Misprints: [(8)](#label-8)" in page
