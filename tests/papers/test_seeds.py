"""Every check of a paper, on other random cases: what `verify` draws for one seed, for 200.

For one paper: ``pytest -m slow tests/papers/test_seeds.py -k low-rank``; how near claims come to
their tolerances: ``python -m harness.margins low-rank 200``, in ``tests/``.
"""

import pytest

import secondorder as so
from secondorder.ledger.registry import REGISTRY

SEEDS = 200
IN_EVERY_RUN = 20  # of the slow tests, however short their time


def run(paper, seed):
    failed = [f"{result.labels}: {result.message}" for result in so.verify.run(paper, seed=seed)
              if not result.ok]
    assert not failed, "\n".join(failed)


@pytest.mark.slow
@pytest.mark.parametrize("paper", REGISTRY.rooms())
def test_twenty_seeds(paper):
    for seed in range(IN_EVERY_RUN):
        run(paper, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(IN_EVERY_RUN, SEEDS))
@pytest.mark.parametrize("paper", REGISTRY.rooms())
def test_more_seeds(paper, seed):
    run(paper, seed)
