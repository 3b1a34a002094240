"""A few random kills of `tour` and `train`; the long form: `python -m harness.random_kills 200`."""

import pytest

from harness import random_kills


@pytest.mark.slow
def test_random_kills():
    counts, found = random_kills.run(6, seed=3)
    assert counts.total() == 6
    assert not found, "\n".join(found)
