"""Step lengths against 50-digit arithmetic, the cases at their edges, and rates of layers."""

import decimal
from decimal import Decimal

import numpy as np
import pytest

import secondorder as so
from secondorder.papers.low_rank.section_4_rates_by_layer import joint_change, joint_rates

CONTEXT = decimal.Context(prec=50, Emax=10**7, Emin=-(10**7))


def root(a, h, length, sigma):
    """The positive stationary point of the model, in 50 digits."""
    a, h, length, sigma = (Decimal(float(value)) for value in (a, h, length, sigma))
    with decimal.localcontext(CONTEXT):
        c = sigma * length**3
        D = (h * h - 2 * a * c).sqrt()
        return (D - h) / c if h < 0 else Decimal(0) if a == 0 else -2 * a / (h + D)


def test_against_fifty_digits_at_any_size():
    rng, tolerance = np.random.default_rng(0), Decimal(2e-15)
    for span in np.repeat([3, 30, 75], 300):
        a, h, length, sigma = 10.0 ** rng.uniform(-span, span, 4)
        zero = rng.random(2) > 0.05
        case = -a * zero[0], h * rng.choice([-1, 1]) * zero[1], length, sigma
        found, expected = so.low_rank.step_length(*case), root(*case)
        if Decimal("1e-300") < expected < Decimal("1e300"):
            assert abs(Decimal(found) - expected) <= tolerance * expected, case
        elif expected == 0:
            assert found == 0


CASES = np.array([  # slope, curvature, length, sigma, rate
    (-1.0, 2.0, 0.0, 1.0, 0.0), (1.0, 2.0, 1.0, 1.0, 0.0), (0.0, 2.0, 1.0, 1.0, 0.0),
    (0.0, -2.0, 1.0, 4.0, 1.0), (-3.0, 2.0, 1.0, 0.0, 1.5), (-3.0, -2.0, 1.0, 0.0, np.inf),
    (-3.0, 0.0, 1.0, 0.0, np.inf), (0.0, 0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 1.0, 0.0),
    (-2.0, 0.0, 1.0, 1.0, 2.0), (-4.0, 0.0, 2.0, 1.0, 1.0), (1.0, -3.0, 1.0, 1.0, 0.0)])


def test_table_of_cases_one_by_one_and_as_arrays():
    for *case, expected in CASES:
        assert so.low_rank.step_length(*case) == expected
    for dtype in ("float64", "float32"):
        a, h, length, _, expected = CASES[CASES[:, 3] == 1].astype(dtype).T
        assert so.low_rank.step_length(a, h, length, 1.0).tolist() == expected.tolist()


@pytest.mark.parametrize("arguments, error, word", [
    ((-1.0, 1.0, -1.0, 1.0), ValueError, "g_norm"),
    ((-np.ones(2), np.ones(3), np.ones(2), 1.0), ValueError, r"g_H_g .*\(3,\).*\(2,\)"),
    ((-1.0, np.inf, 1.0, 1.0), ValueError, "g_H_g"), ((-1.0, 1.0, 1j, 1.0), TypeError, "g_norm"),
    ((-1.0, 1.0, 1.0, -1.0), ValueError, "sigma"),
])
def test_refusals(arguments, error, word):
    with pytest.raises(error, match=word):
        so.low_rank.step_length(*arguments)


# -- one model for the rates of all layers ---------------------------------------------------------


def test_joint_rates_minimise_the_joint_model():
    rng = np.random.default_rng(3)
    for _ in range(60):
        k = rng.integers(1, 6)
        norms, sigma = rng.exponential(size=k), 10.0 ** rng.uniform(-2, 3)
        Q = rng.normal(size=(k, k))
        Q = (Q + Q.T) * rng.exponential()
        a = -np.abs(rng.normal(size=k)) * 10.0 ** rng.uniform(-3, 1)
        s = joint_rates(a, Q, norms, sigma)
        best, y = joint_change(a, Q, norms, sigma, s), norms * s
        length = np.linalg.norm(y)
        residual = a / norms + (Q / np.outer(norms, norms)) @ y + sigma / 2 * length * y
        assert np.abs(residual).max() < 1e-9 * (np.abs(a / norms).max() + sigma * length**2)
        others = [s + rng.normal(size=k) * np.abs(s).max() * 10.0 ** rng.uniform(-3, 1)
                  for _ in range(30)]
        assert best <= min(joint_change(a, Q, norms, sigma, s) for s in others) + 1e-9 * abs(best)


def test_the_hard_case_and_layers_that_stand_still():
    """No slope along the least eigenvector: the step leaves the subspace of the gradient."""
    Q, a, norms, sigma = np.diag([-4.0, 1.0]), np.array([0.0, -1.0]), np.ones(2), 1.0
    s = joint_rates(a, Q, norms, sigma)
    assert np.isclose(np.linalg.norm(s), 8.0) and np.isclose(s[1], 1 / 5) and s[0] != 0
    assert np.allclose(a + Q @ s + sigma / 2 * np.linalg.norm(s) * s, 0, atol=1e-9)
    moving, idle = joint_rates(np.array([-2.0, 0.0]), np.diag([3.0, 0.0]), np.array([0.5, 0]), 7.0)
    assert moving > 0 and idle == 0
    for still in (np.zeros(2), np.ones(2)):
        assert joint_rates(np.zeros(2), np.eye(2), still, 1.0).tolist() == [0, 0]


@pytest.mark.parametrize("slope, sigma", [(1e-140, 1e160), (1.0, 2.0), (1e250, 1e-50)])
@pytest.mark.parametrize("curvature", [1.0, 0.0, -1.0])
def test_the_joint_rate_of_one_layer_is_its_own_at_any_size(slope, curvature, sigma):
    """|y| near 1e-150, 1 and 1e150; scaled so that all three terms have a say."""
    curvature *= np.sqrt(slope) * np.sqrt(sigma)
    found = joint_rates(-slope * np.ones(1), curvature * np.ones((1, 1)), np.ones(1), sigma)
    expected = so.low_rank.step_length(-slope, curvature, 1.0, sigma)
    assert found == pytest.approx(expected, rel=1e-12, abs=0)
