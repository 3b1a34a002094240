"""A claim of an order is refused on either side, and what is just inside or outside of a
tolerance."""

import numpy as np
import pytest

from secondorder.ledger import AtMost, Counterexample, Equal, Printed, Rate
from secondorder.ledger.comparisons import VerificationError

STEPS = np.array([0.1, 0.05, 0.025, 0.0125])


@pytest.mark.parametrize("claimed", [1, 2, 3, 4])
@pytest.mark.parametrize("true", [1, 2, 3, 4])
def test_an_order_too_high_fails_as_one_too_low(true, claimed):
    """A remainder that falls faster than is claimed refutes the claim too: the formula is another
    one."""
    claim = Rate("remainders", STEPS, 3 * STEPS**true, order=claimed, tolerance=0.05)
    assert claim.ok == (true == claimed)
    assert claim.error == pytest.approx(abs(true - claimed), abs=1e-9)
    assert claim.fitted_order == pytest.approx(true)
    assert Counterexample(claim).ok == (true != claimed)


@pytest.mark.parametrize("off, ok", [(0.09, True), (-0.09, True), (0.11, False), (-0.11, False)])
def test_the_tolerance_of_an_order_is_the_same_on_both_sides(off, ok):
    assert Rate("remainders", STEPS, STEPS**(2 + off), order=2).ok == ok


def test_an_order_may_be_negative_or_broken():
    assert Rate("remainders", STEPS, STEPS**-1, order=-1).ok
    assert not Rate("remainders", STEPS, STEPS**1, order=-1).ok
    assert Rate("remainders", STEPS, STEPS**1.5, order=1.5, tolerance=1e-6).ok


def test_steps_in_any_sequence_and_a_span_of_just_two():
    mixed = STEPS[[2, 0, 3, 1]]
    assert Rate("remainders", mixed, mixed**2, order=2).fitted_order == pytest.approx(2)
    assert Rate("remainders", [0.2, 0.15, 0.1], [0.04, 0.0225, 0.01], order=2).ok
    with pytest.raises(VerificationError, match="factor of two"):
        Rate("remainders", [0.199, 0.15, 0.1], [1.0, 0.5, 0.2], order=2)


def test_an_error_counts_in_either_direction_and_relative_to_the_larger_side():
    for left, right in (([1.0, 2.0], [1.0, 4.0]), ([1.0, 4.0], [1.0, 2.0])):
        assert Equal("a", left, right, 0.1).error == pytest.approx(0.5)
    for left, right in (([-4.0, 1.0], [-2.0, 1.0]), ([-2.0, 1.0], [-4.0, 1.0])):
        assert Equal("a", left, right, 0.1).error == pytest.approx(0.5)
    assert Equal("a", [1.0], [3.0], 0.1, scale=[0.5, -8.0]).error == pytest.approx(0.25)
    assert Equal("complex", [1 + 1j], [1 - 1j], 0.1).error == pytest.approx(np.sqrt(2))


def test_an_inequality_is_broken_by_its_worst_entry_and_tight_at_its_tightest():
    broken = AtMost("a", [1.0, 5.0, 2.0], [4.0, 4.0, 8.0])
    assert broken.error == pytest.approx(1 / 8) and broken.margin == pytest.approx(-1 / 8)
    assert not broken.ok
    met = AtMost("a", [1.0, 3.0, 2.0], [4.0, 4.0, 8.0])
    assert met.ok and met.error == 0 and met.margin == pytest.approx(1 / 8)
    assert AtMost("a", -8.0, [4.0, -4.0]).margin == pytest.approx(0.5)


def test_a_clear_failure_misses_by_a_factor_of_ten():
    for off, clear in ((0.99, False), (1.01, True)):
        claim = Equal("a", [1.0, 0.0], [1.0, 10 * off * 0.01], 0.01)
        assert not claim.ok and claim.fails_clearly == clear
        assert Counterexample(claim).ok == Printed(claim).ok == clear
