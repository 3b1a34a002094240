"""Every check of a paper: every day for one seed, and on other random cases, for 200.

For one paper: ``pytest -m slow tests/papers/test_seeds.py -k low-rank``.
"""

import pytest

import secondorder as so
from harness import ledger_runs
from secondorder.ledger.registry import REGISTRY

SEEDS = 200
IN_EVERY_RUN = 20  # of the slow tests, however short their time


def run(paper, seed):
    failed = [f"{result.labels}: {result.message}" for result in so.verify.run(paper, seed=seed)
              if not result.ok]
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("paper", REGISTRY.rooms())
def test_the_first_seed(paper):
    assert ledger_runs.results(paper) and not ledger_runs.failures(paper)


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
