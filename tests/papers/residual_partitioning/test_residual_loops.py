"""The compiled step of residual partitioning against the formula in NumPy."""

import numpy as np
import pytest

import secondorder as so
from harness.one_pass import step_along
from secondorder.papers.residual_partitioning import loops

DTYPES = (np.dtype("float64"), np.dtype("float32"))


class ByFormula(so.ResidualPartitioning):
    """Without the compiled twin of the formula."""

    def _direction(self, evaluation):
        return super()._direction(evaluation)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [1, 1024, 2500])
def test_partition_step_moves_and_reports(size, dtype):
    rng = np.random.default_rng(size)
    total, theta, sums_of = rng.normal(size=size), rng.normal(size=size), rng.exponential(size=size)
    sums_of[3:900:4], sums_of[1:2] = 0, 50  # both extremes stand in the first block
    total, theta, sums_of = (a.astype(dtype) for a in (total, theta, sums_of))
    for damping in (0.0, 0.2):
        samples, l2, rate, damping, shrink = loops.scalars(dtype, 7, 0.3, 0.5, damping, 0.15)
        kept = {}

        def direction_of(g):
            curvature = sums_of * (1 / samples)
            direction = np.zeros_like(g)
            for i in np.flatnonzero(curvature + damping):
                direction[i] = -g[i] / (curvature[i] + damping + shrink)
            kept.update(c=curvature, d=direction, g=g)
            return direction, curvature

        moved, expected_sums, sizes = step_along(direction_of, total, theta, samples, l2, rate)
        kept_theta, found = theta.copy(), np.empty_like(theta)
        sums, peaks, reports = np.zeros(3), np.zeros(3, np.int64), np.zeros(3)
        ends = loops.NO_ENDS.copy()
        loops.partition_step(total, theta, found, samples, l2, rate, sums, peaks, sums_of,
                             damping, shrink, reports, ends)
        assert np.array_equal(found, moved) and np.array_equal(theta, kept_theta)
        np.testing.assert_allclose(sums, expected_sums, rtol=1e-12)
        assert [loops.number(bits, dtype) for bits in peaks] == sizes
        g, c, d = (kept[name].astype(np.float64) for name in "gcd")
        np.testing.assert_allclose(reports, [g @ d, c @ d**2, np.count_nonzero(c + damping == 0)],
                                   rtol=1e-12)
        assert [loops.number(bits, dtype) for bits in ends] == [c.min(), c.max()]
        assert size == 1 or bool((d == 0).any()) == (damping == 0)


@pytest.mark.parametrize("options", [{}, {"l2": 0.3}, {"l2": 0.3, "penalty": "plain"},
                                     {"l2": 0.1, "damping": 0.2, "output": "pairwise"},
                                     {"l2": 0.1, "negative_curvature": "max", "cross": True}])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_loops_give_what_the_formula_gives(dtype, options):
    """Direction bit for bit, alone and in a step; what is reported to rounding. One input is always
    0, so that its weights have no curvature."""
    rng, nets = np.random.default_rng(0), [so.mlp([30, 40, 3], rng=1, dtype=dtype) for _ in "ab"]
    one, other = (cls(net, so.SoftmaxCrossEntropy(), learning_rate=0.7, **options)
                  for cls, net in zip((so.ResidualPartitioning, ByFormula), nets))
    accuracy = 1e-12 if dtype == "float64" else 1e-6
    for _ in range(3):
        x, y = rng.normal(size=(8, 30)).astype(dtype), rng.integers(0, 3, 8)
        x[:, 5] = 0
        evaluation = one.evaluate(x, y)
        found = one.fused.direction(one, evaluation)
        np.testing.assert_array_equal(found, one._direction(evaluation))
        damped = "damping" in options
        assert found.dtype == dtype and (damped or (found == 0).any())
        info, expected = one.step(x, y), other.step(x, y)
        np.testing.assert_array_equal(*(net.theta for net in nets))
        assert info == pytest.approx(expected, rel=accuracy)
        assert (info["idle_parameters"] == 0) == damped
        assert all(type(value) in (int, float) for value in expected.values())
