"""Chunks on a cluster of dask.distributed: a scheduler and two workers on this machine.

``pip install "secondorder[cluster]"`` brings what it needs; without that the tests are skipped.
"""

import multiprocessing
import os

import numpy as np
import pytest

import secondorder as so
from harness.chunked import CALLS, KilledOnce, problem

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def executor():
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    before = set(multiprocessing.active_children())
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  host="127.0.0.1", dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        yield client.get_executor()
    assert set(multiprocessing.active_children()) == before, "no process is left behind"


@pytest.mark.parametrize("name", CALLS)
def test_the_same_bits_as_one_process(name, executor):
    given = problem()
    assert np.array_equal(CALLS[name](*given, batch_size=4, executor=executor),
                          CALLS[name](*given, batch_size=4))


def test_a_worker_that_is_killed_in_the_middle(executor, tmp_path):
    """Its chunk goes to another worker, and the number is the same."""
    net, _, x, _ = problem()
    y = np.random.default_rng(1).normal(size=(23, 3))
    y[12, 1] = 1e7
    mark = tmp_path / "killed"
    found = so.exact.gradient(net, KilledOnce(os.fspath(mark)), x, y, batch_size=2,
                              executor=executor)
    assert int(mark.read_text()) != os.getpid(), "a worker died, and not this process"
    assert np.array_equal(found, so.exact.gradient(net, so.SquaredError(), x, y, batch_size=2))


def test_an_error_of_a_chunk_comes_through(executor):
    net, loss, x, _ = problem()
    net.layers[-1].weight[...] = 1e300
    with pytest.raises(FloatingPointError) as caught:
        so.exact.gradient(net, so.SquaredError(), x, np.zeros((23, 3)), batch_size=5,
                          executor=executor)
    assert "in chunk 1 of 5" in caught.value.__notes__[0]
