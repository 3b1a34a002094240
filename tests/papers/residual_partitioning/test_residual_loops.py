"""The compiled step of residual partitioning against its NumPy twin."""

import numpy as np
import pytest

from secondorder.optimizers.loops import step_numpy
from secondorder.papers.residual_partitioning import loops

DTYPES = (np.dtype("float64"), np.dtype("float32"))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [1, 1024, 2500])
def test_partition_step_equals_its_twin(size, dtype):
    rng = np.random.default_rng(size)
    total, theta, sums_of = rng.normal(size=size), rng.normal(size=size), rng.exponential(size=size)
    sums_of[3::4] = 0
    total, theta, sums_of = (a.astype(dtype) for a in (total, theta, sums_of))
    for damping in (0.0, 0.2):
        samples, l2, rate, damping, shrink = loops.scalars(dtype, 7, 0.3, 0.5, damping, 0.15)
        kept = {}

        def direction_of(g):
            kept["c"], kept["d"], kept["g"] = np.empty_like(g), np.empty_like(g), g
            loops.partition_numpy(g, sums_of, kept["c"], kept["d"], samples, damping, shrink)
            return kept["d"], kept["c"]

        moved, expected_sums, sizes = step_numpy(direction_of, total, theta, samples, l2, rate)
        here, backup = theta.copy(), np.empty_like(theta)
        sums = np.zeros(3)
        peaks = np.zeros(3, np.int64)
        reports = np.zeros(3)
        ends = loops.NO_ENDS.copy()
        loops.partition_step(total, here, backup, samples, l2, rate, sums, peaks, sums_of,
                               damping, shrink, reports, ends)
        assert np.array_equal(here, moved) and np.array_equal(backup, theta)
        np.testing.assert_allclose(sums, expected_sums, rtol=1e-12)
        assert [loops.number(bits, dtype) for bits in peaks] == sizes
        g, c, d = (kept[name].astype(np.float64) for name in "gcd")
        np.testing.assert_allclose(reports, [g @ d, c @ d**2, np.count_nonzero(c + damping == 0)],
                                   rtol=1e-12)
        assert [loops.number(bits, dtype) for bits in ends] == [c.min(), c.max()]
        assert size == 1 or bool((d == 0).any()) == (damping == 0)
