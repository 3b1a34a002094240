"""How claims are decided: against Student's distribution by hand, and at every edge."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from secondorder.studies import (
    DID_NOT_HOLD,
    HELD,
    UNDECIDED,
    Verdict,
    alike,
    both,
    counted,
    exactly,
    first_decides,
    paired,
    readings,
    repeated,
    undecided,
)

T_2 = 4.302652729911275  # 97.5 % quantile, two degrees of freedom: from a printed table


@pytest.mark.parametrize("shift, verdict", [(1, HELD), (-1, DID_NOT_HOLD), (0.05, UNDECIDED),
                                            (0, UNDECIDED)])
def test_paired_differences(shift, verdict):
    values = np.array([-0.1, 0.0, 0.1]) + shift
    found = paired(values)
    half = T_2 * 0.1 / math.sqrt(3)
    assert found.verdict == verdict and found.seeds == 3
    assert found.effect == pytest.approx(shift, abs=1e-12)
    assert found.spread == pytest.approx((shift - half, shift + half))


def test_paired_is_students_test():
    """Held exactly where a two-sided test at 5 % rejects with a positive mean."""
    rng, seen = np.random.default_rng(0), set()
    for _ in range(100):
        values = rng.normal(rng.choice([-0.7, 0.0, 0.7]), 1, size=rng.integers(3, 9))
        p = stats.ttest_1samp(values, 0.1).pvalue
        expected = UNDECIDED if p >= 0.05 else HELD if values.mean() > 0.1 else DID_NOT_HOLD
        found = paired(values, margin=0.1)
        assert found.verdict == expected and found.p == pytest.approx(p)
        assert alike(values, 0.1 + abs(values.mean())).p == pytest.approx(
            stats.ttest_1samp(values, values.mean() + 0.1).pvalue)
        seen.add(expected)
    assert seen == {HELD, DID_NOT_HOLD, UNDECIDED} and paired([1.0, 1.0, 1.0]).p == 0


@pytest.mark.parametrize("decide", [paired, lambda values: alike(values, 1.0)])
def test_too_few_seeds_and_runs_that_diverged_decide_nothing(decide):
    assert decide([]).verdict == decide([5.0, 5.0]).verdict == UNDECIDED
    found = decide([1.0, math.inf, 1.0])
    assert found.verdict == UNDECIDED and "1 of 3" in found.because


@pytest.mark.parametrize("centre, verdict", [(0.70, HELD), (0.80, UNDECIDED), (1.2, UNDECIDED),
                                             (-1.2, UNDECIDED), (1.3, DID_NOT_HOLD),
                                             (-1.3, DID_NOT_HOLD), (-0.70, HELD)])
def test_alike_leaves_open_what_crosses_the_margin_from_either_side(centre, verdict):
    """The interval is 0.248 wide on either side; the margin is 1."""
    found = alike(np.array([-0.1, 0, 0.1]) + centre, 1.0, "gap")
    assert found.verdict == verdict and found.measure == "gap" and found.seeds == 3
    assert found.spread[1] - found.effect == pytest.approx(0.24841, abs=1e-4)


@pytest.mark.parametrize("decide, shift", [(paired, 0.6), (lambda v: alike(v, 1.0), 0.4),
                                           (lambda v: alike(v, 1.0), 1.6)])
def test_an_open_interval_says_how_many_seeds_would_close_it(decide, shift):
    """With the same mean and spread so many decide, and one fewer does not."""
    def values(n):
        ladder = np.linspace(-1, 1, n)
        return shift + 0.9 * (ladder - ladder.mean()) / np.std(ladder, ddof=1)

    found = decide(values(4))
    n = int(re.search(r"about (\d+) seeds", found.because).group(1))
    assert found.verdict == UNDECIDED and decide(values(n)).verdict != UNDECIDED
    assert decide(values(n - 1)).verdict == UNDECIDED


def test_the_first_way_to_choose_decides_and_the_others_are_told():
    held, lost = exactly(True, 0.4, because="n = 3"), exactly(False, 1.25)
    found = first_decides({"at the authors' rates": lost, "at the best rates": held})
    assert (found.verdict, found.effect) == (DID_NOT_HOLD, 1.25)
    assert found.because == "at the authors' rates; at the best rates: held (0.4)"
    assert first_decides({"by rule": held, "at the best rates": held}).because == (
        "n = 3; by rule; the same at the best rates")


def test_two_readings_are_one_claim():
    told = {"as printed": exactly(True, 0.4), "corrected": exactly(False, 1.25)}
    differ = readings(told)
    assert differ.verdict == UNDECIDED and differ.readings == told and differ.because
    decided = readings(told, decides="corrected")
    assert (decided.verdict, decided.effect) == (DID_NOT_HOLD, 1.25)
    assert readings(dict.fromkeys(told, exactly(True))).verdict == HELD


@pytest.mark.parametrize("values, verdict", [
    ([1.0, 1.1, 0.9, np.inf], HELD), ([-1.0, -1.1, -0.9, -np.inf], DID_NOT_HOLD),
    ([1.0, 1.1, 0.9, -np.inf], UNDECIDED), ([1.0, 1.1, 0.9, np.inf, -np.inf], UNDECIDED),
    ([1.0, 1.1, 0.9, np.nan], UNDECIDED), ([0.05, 1.1, -0.9, np.inf], UNDECIDED)])
def test_a_run_that_diverged_hinders_no_verdict_of_its_own_side(values, verdict):
    found = paired(values)
    assert (found.verdict, found.seeds) == (verdict, len(values))
    if verdict != UNDECIDED:
        assert found.effect == pytest.approx(np.mean([v for v in values if np.isfinite(v)]))
        assert found.because.endswith("1 of 4 differences are infinite, on the same side")


def test_a_timing_stands_where_all_repeats_agree():
    ratios = [1.0, 1.3, 1.2]
    found = repeated(*(exactly(ratio < 1.4, ratio, "ratio", "n = 3") for ratio in ratios))
    assert (found.verdict, found.effect, found.spread) == (HELD, 1.2, (1.0, 1.3))
    assert found.because == "in all 3 repeats of the timing; n = 3" and found.measure == "ratio"
    found = repeated(*(exactly(ratio < 1.25, ratio) for ratio in ratios))
    assert found.verdict == UNDECIDED  # the machine gives now this and now that
    assert found.because == "the repeats of the timing disagree: 2 held, 1 did not hold"
    assert repeated(exactly(False), undecided("few")).verdict == UNDECIDED
    assert repeated(undecided("no runs")).effect is None


@pytest.mark.parametrize("seeds, verdict", [(3, HELD), (2, UNDECIDED)])
def test_one_number_may_take_several_seeds(seeds, verdict):
    assert exactly(True, 1.0, seeds=seeds, least=3).verdict == verdict


@pytest.mark.parametrize("met, of, verdict", [(5, 5, HELD), (4, 5, HELD), (3, 5, UNDECIDED),
                                              (2, 5, UNDECIDED), (1, 5, DID_NOT_HOLD),
                                              (4, 4, UNDECIDED), (8, 10, HELD),
                                              (7, 10, UNDECIDED), (2, 10, DID_NOT_HOLD),
                                              (7, 9, UNDECIDED)])
def test_counted_seeds(met, of, verdict):
    found = counted([True] * met + [False] * (of - met))
    assert found.verdict == verdict and found.seeds == of and f"{met} of {of}" in found.because


def test_counted_tells_median_and_range_of_what_is_finite():
    found = counted([True] * 5, [1, 2, 9, math.inf, math.nan], "size")
    assert (found.effect, found.spread, found.measure) == (2, (1, 9), "size")
    assert counted([False] * 5, [math.nan] * 5).effect is None


def test_parts_have_a_say_in_the_seeds_that_all_of_them_have():
    """Of five seeds, of which one part has three, three decide; and the numbers are of the part
    that decides, not of another."""
    many, few = Verdict(HELD, 1.0, (0, 2), 5, "a"), Verdict(HELD, 3.0, (2, 4), 3, "b")
    for joined in (both(many, few), both(few, many)):
        assert joined.seeds == 3
    assert (both(many, few).effect, both(many, few).spread, both(many, few).measure) == (
        1.0, (0, 2), "a")
    against = Verdict(DID_NOT_HOLD, -2.0, (-3, -1), 4, "c", "why")
    joined = both(many, against, few)
    assert (joined.verdict, joined.effect, joined.spread, joined.measure, joined.seeds) == (
        DID_NOT_HOLD, -2.0, (-3, -1), "c", 3)
    assert joined.because == "why; of 3 parts 2 held, 1 did not hold"


@pytest.mark.parametrize("parts, verdict", [
    ((exactly(True), exactly(True)), HELD), ((exactly(True), undecided("few")), UNDECIDED),
    ((undecided("few"), exactly(True), exactly(False)), DID_NOT_HOLD),
    ((counted([False] * 5), counted([True] * 5)), DID_NOT_HOLD)])
def test_all_of_several(parts, verdict):
    assert both(*parts).verdict == verdict
    assert both(*parts, because="x").because == "x"


@pytest.mark.slow
def test_one_of_many_parts_fails_the_whole_only_beyond_chance():
    """Six parts that lie on their margins: each fails by chance in 2.5 %, one of them in 14 %."""
    rng = np.random.default_rng(3)
    by_chance = corrected = 0
    for _ in range(600):
        parts = [paired(rng.normal(size=4)) for _ in range(6)]
        by_chance += any(one.verdict == DID_NOT_HOLD for one in parts)
        corrected += both(*parts).verdict == DID_NOT_HOLD
    assert by_chance > 60 and corrected < 30


def test_a_part_fails_the_whole_if_it_is_beyond_chance():
    clear, open_ = paired([-1.0, -1.01, -0.99]), paired([1.0, 0.0, -1.0])
    assert both(clear, *[open_] * 5).verdict == DID_NOT_HOLD
    near = paired([-1.0, -0.4, -0.6, -0.6])  # p = 0.014
    assert near.verdict == DID_NOT_HOLD and both(near, near).verdict == DID_NOT_HOLD
    joined = both(near, *[open_] * 5)
    assert joined.verdict == UNDECIDED and "none of them at p < 0.05 / 6" in joined.because
    assert joined.effect == near.effect
