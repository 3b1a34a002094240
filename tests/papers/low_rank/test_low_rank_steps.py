"""Step lengths against 50-digit arithmetic over the range of floats, and the cases at its edges."""

import decimal
from decimal import Decimal

import numpy as np
import pytest

import secondorder as so
from secondorder.papers.low_rank import joint_rates, steps

CONTEXT = decimal.Context(prec=50, Emax=10**7, Emin=-(10**7))


def root(a, h, length, sigma):
    """The positive stationary point of the model, in 50 digits; None where it falls for ever."""
    a, h, length, sigma = (Decimal(float(value)) for value in (a, h, length, sigma))
    with decimal.localcontext(CONTEXT):
        c = sigma * length**3
        if c == 0:
            return -a / h if h > 0 else None if h < 0 or a < 0 else Decimal(0)
        D = (h * h - 2 * a * c).sqrt()
        return (D - h) / c if h < 0 else Decimal(0) if a == 0 else -2 * a / (h + D)


def numbers(rng, span, count):
    """Slopes, curvatures, lengths and sigmas with exponents up to +-span, zeros among them."""
    for _ in range(count):
        a, h, length, sigma = 10.0 ** rng.uniform(-span, span, 4)
        zero = rng.random(3) > 0.05
        yield -a * zero[0], h * rng.choice([-1, 1]) * zero[1], length, sigma * zero[2]


@pytest.mark.parametrize("dtype, tolerance, spans", [(np.float64, 1e-12, (3, 30, 100, 307)),
                                                     (np.float32, 1e-5, (3, 12, 37))])
def test_against_fifty_digits(dtype, tolerance, spans):
    rng, compared = np.random.default_rng(0), 0
    for span in spans:
        for case in numbers(rng, span, 700):
            case = [dtype(value) for value in case]
            found, expected = so.low_rank.step_length(*case), root(*case)
            assert np.isfinite(found) and found >= 0, case
            if expected is None or expected > Decimal(steps.LARGEST):
                assert found == steps.LARGEST, case
            elif expected < Decimal("1e-300"):
                assert found <= 1e-299, case
            else:
                compared += 1
                assert abs(Decimal(found) - expected) <= Decimal(tolerance) * expected, case
    assert compared > 500 * len(spans)


def test_arrays_are_rates_one_by_one():
    rng = np.random.default_rng(1)
    a, h, length = -rng.exponential(size=5), rng.normal(size=5), rng.exponential(size=5)
    found = so.low_rank.step_length(a, h, length, 3.0)
    assert found.tolist() == [so.low_rank.step_length(*one, 3.0) for one in zip(a, h, length)]


def test_numbers_in_float32_are_taken_for_what_they_are():
    """Bit for bit as the same numbers in float64: the cube of the length is not rounded, nor lost
    where float32 cannot hold it."""
    numbers = [np.array(values, np.float32) for values in ((-3.0, -3e-30), (0.2, 2e-20),
                                                           (0.7, 4e-16))]
    rates = so.low_rank.step_length(*numbers, 1e3)
    assert rates.dtype == np.float64
    wide = [value.astype(np.float64) for value in numbers]
    assert rates.tolist() == so.low_rank.step_length(*wide, 1e3).tolist()


@pytest.mark.parametrize("case, expected", [
    ((-1.0, 2.0, 0.0, 1.0), 0.0),
    ((np.nan, 2.0, 1.0, 1.0), 0.0),
    ((-1.0, np.inf, 1.0, 1.0), 0.0),
    ((-1.0, 2.0, np.nan, 1.0), 0.0),
    ((1.0, 2.0, 1.0, 1.0), 0.0),
    ((0.0, 2.0, 1.0, 1.0), 0.0),
    ((0.0, -2.0, 1.0, 4.0), 1.0),
    ((-3.0, 2.0, 1.0, 0.0), 1.5),
    ((-3.0, -2.0, 1.0, 0.0), steps.LARGEST),
    ((-3.0, 0.0, 1.0, 0.0), steps.LARGEST),
    ((0.0, 0.0, 1.0, 0.0), 0.0),
    ((0.0, 0.0, 1.0, 1.0), 0.0),
    ((-2.0, 0.0, 1.0, 1.0), 2.0),
    ((-4.0, 0.0, 2.0, 1.0), 1.0),
])
def test_table_of_cases(case, expected):
    assert so.low_rank.step_length(*case) == expected
    assert so.low_rank.step_length(*case, largest=7.0) == min(expected, 7.0)


def test_ascent():
    case = 1.0, -3.0, 1.0, 1.0
    assert so.low_rank.step_length(*case) == 0
    flipped = so.low_rank.step_length(*case, ascent="flip")
    assert flipped == -so.low_rank.step_length(-1.0, *case[1:])
    far = so.low_rank.step_length(*case, ascent="minimum")
    assert np.isclose(far, 3 + np.sqrt(7), rtol=1e-15)  # 1 - 3 s + s^2 / 2 = 0
    assert steps.model_change(*case, far) < 0
    for sigma in (0.0, 1.0):
        assert so.low_rank.step_length(*case[:3], sigma, ascent="minimum", largest=2.0) == 2.0
    # 3 h^2 = 8 a c at h = -1.633
    for h, below in ((-1.62, False), (-1.64, True), (1.0, False), (-1e-200, False)):
        assert (so.low_rank.step_length(1.0, h, 1.0, 1.0, ascent="minimum") > 0) == below
    assert so.low_rank.step_length(1e-300, -1e300, 1.0, 1.0, ascent="minimum") == pytest.approx(
        2e300
    )


@pytest.mark.parametrize("arguments, options, word", [
    ((-1.0, 1.0, -1.0, 1.0), {}, "g_norm must not be negative"),
    ((-np.ones(2), np.ones(3), 1.0, 1.0), {}, r"g_dot_grad, g_H_g and g_norm .*\(2,\), \(3,\)"),
    ((-1.0, 1.0, 1.0, 1.0), {"ascent": "flop"}, "did you mean 'flip'"),
])
def test_refusals(arguments, options, word):
    with pytest.raises(ValueError, match=word):
        so.low_rank.step_length(*arguments, **options)


def cubic(a, Q, norms, sigma, s):
    return a @ s + s @ Q @ s / 2 + sigma * np.linalg.norm(norms * s) ** 3 / 6


def test_coupled_rates_minimise_the_joint_model():
    rng = np.random.default_rng(3)
    for trial in range(60):
        k = rng.integers(1, 6)
        norms, sigma = rng.exponential(size=k), 10.0 ** rng.uniform(-2, 3)
        Q = rng.normal(size=(k, k))
        Q = (Q + Q.T) * rng.exponential()
        a = -np.abs(rng.normal(size=k)) * 10.0 ** rng.uniform(-3, 1)
        s = joint_rates.coupled_rates(a, Q, norms, sigma)
        best = cubic(a, Q, norms, sigma, s)
        length = np.linalg.norm(norms * s)
        y = norms * s
        residual = a / norms + (Q / np.outer(norms, norms)) @ y + sigma / 2 * length * y
        assert np.abs(residual).max() < 1e-9 * (np.abs(a / norms).max() + sigma * length**2)
        single = so.low_rank.step_length(a.sum(), Q.sum(), np.linalg.norm(norms), sigma)
        assert best <= cubic(a, Q, norms, sigma, np.full(k, single)) + 1e-12 * abs(best)
        for _ in range(30):
            other = s + rng.normal(size=k) * np.abs(s).max() * 10.0 ** rng.uniform(-3, 1)
            assert best <= cubic(a, Q, norms, sigma, other) + 1e-9 * abs(best)


@pytest.mark.parametrize("exponent", [-180, 0, 250])
def test_coupled_rates_of_directions_of_any_length(exponent):
    """A direction times a power of two gets rates over the same power: not a bit changes, although
    products of two lengths overflow or vanish."""
    a, Q = np.array([-1.0, -2.0, 0.5]), np.array([[2.0, 1, 0], [1, -3, 1], [0, 1, 1]])
    norms, far = np.array([0.5, 2.0, 1.0]), np.array([2.0**exponent, 1, 2.0**-exponent])
    far = far * 2.0 ** (2 * exponent)
    H = Q * 2.0 ** (-600 if exponent > 0 else 300)
    expected = joint_rates.coupled_rates(a, H, norms, 1.0)
    s = joint_rates.coupled_rates(a * far, far[:, None] * H * far, norms * far, 1.0)
    assert np.isfinite(expected).all() and np.array_equal(s * far, expected)


@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_coupled_rates_of_curvatures_whose_squares_overflow(slope):
    """With a, Q and sigma times 2^e the rates stay; with Q alone times 2^e, a times 2^2e, so do
    rates over 2^e: also in the hard case (`slope` 0)."""
    a, Q, norms, sigma = np.array([-slope, -1.0]), np.diag([-4.0, 1.0]), np.array([1.0, 2]), 3.0
    expected = joint_rates.coupled_rates(a, Q, norms, sigma)
    for exponent in (-500, -200, 200, 500):
        same = joint_rates.coupled_rates(*(np.ldexp(v, exponent) for v in (a, Q)), norms,
                                      np.ldexp(sigma, exponent))
        longer = joint_rates.coupled_rates(np.ldexp(a, 2 * exponent), np.ldexp(Q, exponent), norms,
                                        sigma)
        np.testing.assert_allclose(same, expected, rtol=1e-14)
        np.testing.assert_allclose(np.ldexp(longer, -exponent), expected, rtol=1e-14)


@pytest.mark.parametrize("first", (0.3, -0.3, 0.0))
def test_what_fills_up_the_hard_case_has_the_length_that_is_left(first):
    filled = joint_rates._filled_up(np.array([first, 0.4, 0.0]), 2.0)
    np.testing.assert_allclose(filled, [np.copysign(np.sqrt(4 - 0.16), first), 0.4, 0], rtol=1e-15)


def test_the_hard_case():
    """No slope along the least eigenvector: the step leaves the subspace of the gradient."""
    Q, a, norms, sigma = np.diag([-4.0, 1.0]), np.array([0.0, -1.0]), np.ones(2), 1.0
    s = joint_rates.coupled_rates(a, Q, norms, sigma)
    assert np.isclose(np.linalg.norm(s), 8.0) and np.isclose(s[1], 1 / 5) and s[0] != 0
    assert np.allclose(a + Q @ s + sigma / 2 * np.linalg.norm(s) * s, 0, atol=1e-9)


def test_idle_layers_stand():
    a, Q, norms = np.array([-2.0, 0.0]), np.diag([3.0, 0.0]), np.array([0.5, 0.0])
    moving, idle = joint_rates.coupled_rates(a, Q, norms, 7.0)
    assert moving > 0 and idle == 0
    for still in (np.zeros(2), np.ones(2)):
        assert joint_rates.coupled_rates(np.zeros(2), np.eye(2), still, 1.0).tolist() == [0, 0]


@pytest.mark.parametrize("slope, sigma", [(1e-140, 1e160), (1.0, 2.0), (1e250, 1e-50)])
@pytest.mark.parametrize("curvature", [1.0, 0.0, -1.0])
def test_the_joint_rate_of_one_layer_is_its_own_at_any_size(slope, curvature, sigma):
    """|y| near 1e-150, 1 and 1e150; scaled so that all three terms have a say."""
    curvature *= np.sqrt(slope) * np.sqrt(sigma)
    found = joint_rates.coupled_rates(-slope * np.ones(1), curvature * np.ones((1, 1)), np.ones(1),
                                      sigma)
    expected = so.low_rank.step_length(-slope, curvature, 1.0, sigma)
    assert found == pytest.approx(expected, rel=1e-12, abs=0)
