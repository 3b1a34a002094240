"""How a claim is decided: held, did not hold, or undecided, by how much, over how many seeds.

Three more kinds say what neither side of an argument would sign otherwise. A claim may hold by the
paper's rule of choosing rates and not at the best rate. It may hold by another way of choosing and
not by this rule. And a claim is taken out where its interval would take more seeds than anybody
runs, or where ten seeds or the repeats of a timing disagree.
"""

from dataclasses import dataclass, replace

import numpy as np

HELD, DID_NOT_HOLD, UNDECIDED = "held", "did not hold", "undecided"
ALIKE = "alike"  # both sides of a comparison, within a margin that was set before
HELD_BY_RULE = "held by rule only"  # by the paper's rule of choosing rates, not at the best rate
DEPENDS = "depends on the rate"  # held by one way of choosing it, refuted by another
TAKEN_OUT = "taken out"
KINDS = HELD, HELD_BY_RULE, DEPENDS, DID_NOT_HOLD, UNDECIDED, TAKEN_OUT  # of claims of papers
MOST_SEEDS = 50  # a claim that would take more at the spread that was seen is taken out
COUNTED_SEEDS = 10  # a claim on which so many disagree is taken out


@dataclass(frozen=True)
class Verdict:
    """What became of one claim.

    Attributes
    ----------
    verdict : str
        One of `KINDS`, or "alike".
    effect : float or None
        The number that decides, in the units of `measure`.
    spread : (float, float) or None
        Smallest and largest effect over the seeds, or an interval around the mean, as `measure`
        says.
    seeds : int
        How many seeds had a say.
    measure : str
        What the effect is.
    because : str
        Where it is undecided: what would decide it; else whatever a reader should know.
    p : float or None
        Of Student's test of the effect against the margin, two-sided, where an interval decides.
    """

    verdict: str
    effect: float | None = None
    spread: tuple | None = None
    seeds: int = 0
    measure: str = ""
    because: str = ""
    p: float | None = None

    def with_note(self, note):
        """The same with a note added to what a reader should know."""
        because = "; ".join(text for text in (self.because, note) if text)
        return replace(self, because=because)


def undecided(because, seeds=0, effect=None, measure=""):
    """A claim that these results cannot decide, and what would."""
    return Verdict(UNDECIDED, effect, None, seeds, measure, because)


def paired(differences, measure="", margin=0.0):
    """Whether a difference, paired by seed, is positive.

    With the mean m and the standard deviation s of n differences and t the 97.5 % quantile of
    Student's distribution with n - 1 degrees of freedom, the claim

        held          if m - margin >  t s / sqrt(n)
        did not hold  if m - margin < -t s / sqrt(n)

    and is undecided otherwise, and where there are fewer than three seeds. It is taken out where
    more than `MOST_SEEDS` would be needed at this mean and spread. An infinite difference, of a run
    that diverged, leaves it undecided unless it lies on the side that the finite ones decide for.

    Parameters
    ----------
    differences : sequence of float
        One a seed, positive in the claimed direction. Infinite: one of the two runs diverged; NaN:
        both did, or neither came so far.
    measure : str
        What the difference is.
    margin : float
        What the mean has to exceed.

    Returns
    -------
    Verdict
        Its effect is the mean, its spread the interval around it.
    """
    values = np.asarray(differences, dtype=float)
    if len(values) < 3:
        known = len(values) and np.isfinite(values).all()
        return undecided("it takes three seeds at least", len(values),
                         float(values.mean()) if known else None, measure)
    if not np.isfinite(values).all():
        return _not_all_finite(values, measure, margin)
    mean, half = float(values.mean()), half_width(values)
    verdict = (HELD if mean - margin > half else DID_NOT_HOLD if mean - margin < -half
               else UNDECIDED)
    return _interval(verdict, values, abs(mean - margin), measure, "the interval holds the margin")


def _not_all_finite(values, measure, margin):
    """The verdict of the finite differences if the infinite ones are on its side."""
    infinite = values[~np.isfinite(values)]
    said = f"{len(infinite)} of {len(values)} differences"
    verdict = paired(values[np.isfinite(values)], measure, margin)
    side = {HELD: np.inf, DID_NOT_HOLD: -np.inf}.get(verdict.verdict)
    if side is None or not (infinite == side).all():
        return undecided(f"{said} are not finite: a run diverged, or ended too soon", len(values))
    return replace(verdict, seeds=len(values)).with_note(f"{said} are infinite, on the same side")


def alike(differences, margin, measure=""):
    """Whether a difference, paired by seed, is smaller than `margin` in size.

    Held if |m| + t s / sqrt(n) < margin, did not hold if |m| - t s / sqrt(n) > margin; see
    `paired`.
    """
    values = np.asarray(differences, dtype=float)
    if len(values) < 3 or not np.isfinite(values).all():
        return paired(values, measure)
    mean, half = float(values.mean()), half_width(values)
    verdict = (HELD if abs(mean) + half < margin else DID_NOT_HOLD if abs(mean) - half > margin
               else UNDECIDED)
    return _interval(verdict, values, abs(abs(mean) - margin), measure,
                     "the interval crosses the margin")


def _interval(verdict, values, distance, measure, is_open):
    """The verdict with mean, interval and p; where it is open, how many seeds would close it."""
    mean, half, because = float(values.mean()), half_width(values), ""
    if verdict == UNDECIDED:
        needed = seeds_needed(values, distance)
        because = f"{is_open}: about {needed} seeds at this spread"
        if needed is None:
            verdict = TAKEN_OUT
            because = f"{is_open}: more than {MOST_SEEDS} seeds at this spread"
    return Verdict(verdict, mean, (mean - half, mean + half), len(values), measure, because,
                   p_value(values, distance))


def half_width(values):
    """t s / sqrt(n) with t the 97.5 % quantile of Student's distribution."""
    from scipy.stats import t  # here, so that the list of studies does not wait for it

    n = len(values)
    return float(t.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n))


def p_value(values, distance):
    """Two-sided, of Student's test with t = distance sqrt(n) / s."""
    from scipy.stats import t

    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return float(2 * t.sf(distance / error, len(values) - 1)) if error else 0.0


def seeds_needed(values, distance):
    """How many seeds would decide if mean and spread stayed as they are; None above `MOST_SEEDS`.

    The least n with t s / sqrt(n) < distance, t the 97.5 % quantile with n - 1 degrees of freedom.
    """
    from scipy.stats import t

    spread = np.std(values, ddof=1)
    return next((n for n in range(len(values) + 1, MOST_SEEDS + 1)
                 if t.ppf(0.975, n - 1) * spread / np.sqrt(n) < distance), None)


def counted(met, values=None, measure="", least=5):
    """Whether something happened in nearly every seed.

    Held if it did in four of five seeds or more, did not hold if in one of five or fewer, else
    undecided; so is what fewer than `least` seeds say. From `COUNTED_SEEDS` on it is taken out
    instead: at such a share no number of seeds decides.

    Parameters
    ----------
    met : sequence of bool
        One a seed.
    values : sequence of float, optional
        The number behind each; the text names their median and range.
    """
    met, n = list(map(bool, met)), len(met)
    finite = np.array([v for v in (values if values is not None else met)
                       if v is not None and np.isfinite(v)], dtype=float)
    effect = float(np.median(finite)) if len(finite) else None
    spread = (float(finite.min()), float(finite.max())) if len(finite) else None
    said = f"in {sum(met)} of {n} seeds"
    if n < least:
        return Verdict(UNDECIDED, effect, spread, n, measure, f"{said}; it takes {least} seeds")
    verdict = HELD if 5 * sum(met) >= 4 * n else DID_NOT_HOLD if 5 * sum(met) <= n else UNDECIDED
    if verdict == UNDECIDED and n >= COUNTED_SEEDS:
        verdict, said = TAKEN_OUT, f"{said}: at this share no number of seeds decides"
    return Verdict(verdict, effect, spread, n, measure, said)


def exactly(condition, effect=None, measure="", because="", seeds=1):
    """A claim that a count or one measurement decides."""
    return Verdict(HELD if condition else DID_NOT_HOLD, None if effect is None else float(effect),
                   None, seeds, measure, because)


def both(*verdicts, because=""):
    """All of them: held if all held, did not hold if one did not, else undecided.

    With k parts one of them fails more easily by chance. So a part that an interval decides fails
    the whole only with p < 0.05 / k (Bonferroni). That all hold needs no correction. Taken out is
    the whole where nothing but parts that are taken out is open.

    The effect is that of the first that decides; where they differ, `because` counts them. Where
    intervals decide and all lie above 0, it is that of the part whose interval begins lowest.
    """
    kinds = [one.verdict for one in verdicts]
    failed = [one for one in verdicts if one.verdict == DID_NOT_HOLD
              and (one.p is None or one.p < 0.05 / len(verdicts))]
    kind = (DID_NOT_HOLD if failed else HELD if set(kinds) == {HELD} else
            TAKEN_OUT if set(kinds) <= {HELD, TAKEN_OUT} else UNDECIDED)
    telling = failed or [one for kind in (DID_NOT_HOLD, UNDECIDED, TAKEN_OUT, HELD)
                         for one in verdicts if one.verdict == kind]
    first = telling[0]
    if kind == HELD and all(one.p is not None and one.spread[0] > 0 for one in verdicts):
        first = min(verdicts, key=lambda one: one.spread[0])
    joined = Verdict(kind, first.effect, first.spread, min(one.seeds for one in verdicts),
                     first.measure, because or first.because, first.p)
    if because or set(kinds) == {kind}:
        return joined
    counts = ", ".join(f"{kinds.count(one)} {one}" for one in (HELD, DID_NOT_HOLD, UNDECIDED,
                                                               TAKEN_OUT) if one in kinds)
    chance = "" if failed or DID_NOT_HOLD not in kinds else (
        f", not beyond chance in one of {len(kinds)}")
    return joined.with_note(f"of {len(kinds)} parts {counts}{chance}")


def in_words(verdict, whose, *more):
    """The verdict by one way of choosing, with what would decide it where it is open, in brackets.

    Parameters
    ----------
    verdict : Verdict
    whose : str
        Stands behind the verdict: "by rule P".
    *more : str
        What stands in the brackets at first.
    """
    told = [*more, verdict.because if verdict.verdict == UNDECIDED else ""]
    brackets = "; ".join(filter(None, told))
    return f"{verdict.verdict} {whose}" + (f" ({brackets})" if brackets else "")


def repeated(*verdicts):
    """A timing that was made several times: the verdict of each stands if all of them agree.

    Of two numbers a machine gives now one the larger and now the other: where one repeat holds and
    another does not, the claim is taken out. The effect is the median over the repeats; its spread
    is their range. What is made once, a number of bytes, stands as is.
    """
    if len(verdicts) == 1:
        return verdicts[0]
    kinds = [one.verdict for one in verdicts]
    effects = [one.effect for one in verdicts if one.effect is not None]
    agreed = len(set(kinds)) == 1
    split = TAKEN_OUT if {HELD, DID_NOT_HOLD} <= set(kinds) else UNDECIDED
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in KINDS if kind in kinds)
    return Verdict(
        kinds[0] if agreed else split, float(np.median(effects)) if effects else None,
        (min(effects), max(effects)) if effects else None, min(one.seeds for one in verdicts),
        verdicts[0].measure, "; ".join(filter(None, (
            f"in all {len(kinds)} repeats of the timing" if agreed else
            f"of {len(kinds)} repeats of the timing {counts}",
            verdicts[0].because if agreed else ""))))
