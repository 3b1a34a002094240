"""Lines to run a display with numbers of one's own: made of what its check gives, and they run."""

import subprocess
import sys

import pytest

from secondorder.ledger.pages.snippet import runs, snippet
from secondorder.ledger.registry import REGISTRY


def test_a_display_is_called_with_other_numbers_and_one_that_needs_more_runs_its_check():
    (entry,) = REGISTRY.select("residual-partitioning", "22")
    text = snippet(entry)
    assert "import eq_22_gradient" in text and "print(eq_22_gradient(x, p))" in text
    told = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert told.stdout.startswith("[")


@pytest.mark.slow
@pytest.mark.parametrize("paper", REGISTRY.rooms())
def test_the_lines_of_every_display_run(paper):
    own = 0
    for entry in REGISTRY.select(paper):
        text = snippet(entry)
        own += "so.ledger.show(" not in text
        assert runs(text), (entry.labels, text)
    assert paper == "bridges" or own > len(REGISTRY.select(paper)) // 2
