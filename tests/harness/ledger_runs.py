"""Every check of a ledger, run once for each seed, however many tests look at what came of it.

A check draws from a generator of its own, made from the seed, its paper and its label: a second run
gives the same (`tests/ledger/test_ledger.py` has the test), and takes as long.
"""

import contextlib
from unittest import mock

from harness import slow
from secondorder.ledger import registry, runner
from secondorder.ledger.pages import equations_page, show

#: For `parametrize`: one seed by default, two more in the slow tests.
SEEDS = [0, *slow([1, 2])]

_results = {}


def equation(entry, seed=0):
    """What `run_equation` gives, from the first time that it was asked for."""
    key = (entry.check, seed)
    if key not in _results:
        _results[key] = runner.run_equation(entry, seed)
    return _results[key]


def results(paper, seed=0, label=None):
    """What `verify.run(paper, label, seed)` gives."""
    return [equation(entry, seed) for entry in registry.REGISTRY.select(paper, label)]


def failures(paper, seed=0):
    """Labels and message of every check that did not come out as its verdict says."""
    return [f"{result.labels}: {result.message}" for result in results(paper, seed)
            if not result.ok]


@contextlib.contextmanager
def shared():
    """Pages and documents that are made inside are made of these results."""
    with mock.patch.object(show, "run_equation", equation), \
            mock.patch.object(equations_page, "run_equation", equation):
        yield
