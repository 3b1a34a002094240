"""A few random kills of `tour` and `train`; `python tests/random_kills.py 200` is the long form."""

import pytest

import random_kills


@pytest.mark.slow
def test_random_kills():
    counts, found = random_kills.run(6, seed=3)
    assert sum(count for name, count in counts.items() if ":" in name) == 6
    assert not found, "\n".join(found)
