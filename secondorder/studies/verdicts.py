"""How a claim is decided: held, did not hold, or undecided; by how much, over how many seeds."""

from dataclasses import dataclass, field, replace

import numpy as np

from .numbers import amount

HELD, DID_NOT_HOLD, UNDECIDED = "held", "did not hold", "undecided"
KINDS = HELD, DID_NOT_HOLD, UNDECIDED
MOST_SEEDS = 50  # what would take more is undecided without a number of seeds


@dataclass(frozen=True)
class Verdict:
    """What became of one claim.

    Attributes
    ----------
    verdict : str
        One of `KINDS`.
    effect : float or None
        The number that decides, in the units of `measure`.
    spread : (float, float) or None
        An interval around the mean, or the smallest and largest effect over the seeds.
    seeds : int
        How many seeds had a say.
    measure : str
        What the effect is.
    because : str
        Where it is undecided: what is missing; else whatever a reader should know.
    p : float or None
        Of Student's test of the effect against the margin, two-sided, where an interval decides.
    readings : dict of str to Verdict
        One a reading, where a sentence of the paper can be read in several ways; see `readings`.
    """

    verdict: str
    effect: float | None = None
    spread: tuple | None = None
    seeds: int = 0
    measure: str = ""
    because: str = ""
    p: float | None = None
    readings: dict = field(default_factory=dict)

    def with_note(self, note):
        """The same with a note added to what a reader should know."""
        return replace(self, because="; ".join(filter(None, (self.because, note))))


def undecided(because, seeds=0, effect=None, measure=""):
    """A claim that these results cannot decide, and what is missing."""
    return Verdict(UNDECIDED, effect, None, seeds, measure, because)


def paired(differences, measure="", margin=0.0):
    """Whether a difference, paired by seed, is above a margin.

    With the mean m and the standard deviation s of n differences and t the 97.5 % quantile of
    Student's distribution with n - 1 degrees of freedom, the claim

        held          if m - margin >  t s / sqrt(n)
        did not hold  if m - margin < -t s / sqrt(n)

    and is undecided otherwise, and where there are fewer than three seeds. An infinite difference,
    of a run that diverged, leaves it undecided unless the finite ones decide for its side.

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
    finite = values[np.isfinite(values)]
    if len(values) < 3:
        known = len(values) and len(finite) == len(values)
        return undecided("it takes three seeds at least", len(values),
                         float(values.mean()) if known else None, measure)
    if len(finite) == len(values):
        return _student(values, float(values.mean()) - margin, measure)
    told = f"{len(values) - len(finite)} of {len(values)} differences are"
    verdict = paired(finite, measure, margin)
    side = {HELD: np.inf, DID_NOT_HOLD: -np.inf}.get(verdict.verdict)
    if side is None or not (values[~np.isfinite(values)] == side).all():
        return undecided(f"{told} not finite: a run diverged, or ended too soon", len(values))
    return replace(verdict, seeds=len(values)).with_note(f"{told} infinite, on the same side")


def alike(differences, margin, measure=""):
    """Whether a difference, paired by seed, is smaller than `margin` in size.

    Held if |m| + t s / sqrt(n) < margin, did not hold if |m| - t s / sqrt(n) > margin; see
    `paired`.
    """
    values = np.asarray(differences, dtype=float)
    if len(values) < 3 or not np.isfinite(values).all():
        return paired(values, measure)
    return _student(values, margin - abs(float(values.mean())), measure)


def _student(values, distance, measure):
    """Held where `distance`, from the mean to the margin, is beyond t s / sqrt(n) on the claimed
    side; where it is open, how many seeds would close it.
    """
    from scipy.stats import t  # here, so that the list of studies does not wait for it

    n, mean = len(values), float(values.mean())
    deviation = np.std(values, ddof=1)
    half, error = float(t.ppf(0.975, n - 1) * deviation / np.sqrt(n)), deviation / np.sqrt(n)
    kind = HELD if distance > half else DID_NOT_HOLD if distance < -half else UNDECIDED
    because = ""
    if kind == UNDECIDED:
        enough = next((f"about {m} seeds" for m in range(n + 1, MOST_SEEDS + 1)
                       if t.ppf(0.975, m - 1) * error * np.sqrt(n / m) < abs(distance)),
                      f"more than {MOST_SEEDS} seeds")
        because = f"the limit lies in the interval; at this spread {enough} would decide"
    p = float(2 * t.sf(abs(distance) / error, n - 1)) if error else 0.0
    return Verdict(kind, mean, (mean - half, mean + half), n, measure, because, p)


def counted(met, values=(), measure="", least=5):
    """Whether something happened in nearly every seed.

    Held if it did in four of five seeds or more, did not hold if in one of five or fewer, else
    undecided; so is what fewer than `least` seeds say.

    Parameters
    ----------
    met : sequence of bool
        One a seed.
    values : sequence of float, optional
        The number behind each; the verdict has the median and range of those that are finite.
    """
    met, n = list(map(bool, met)), len(met)
    finite = np.array([v for v in values if v is not None and np.isfinite(v)], dtype=float)
    effect = float(np.median(finite)) if len(finite) else None
    spread = (float(finite.min()), float(finite.max())) if len(finite) else None
    kind, said = UNDECIDED, f"in {sum(met)} of {n} seeds"
    if n < least:
        said += f"; it takes {least} seeds"
    elif 5 * sum(met) >= 4 * n:
        kind = HELD
    elif 5 * sum(met) <= n:
        kind = DID_NOT_HOLD
    else:
        said += ": the seeds disagree"
    return Verdict(kind, effect, spread, n, measure, said)


def exactly(condition, effect=None, measure="", because="", seeds=1, least=0):
    """A claim that a count or one measurement decides; undecided on fewer than `least` seeds."""
    effect = None if effect is None else float(effect)
    if seeds < least:
        return undecided(f"it takes {least} seeds at least", seeds, effect, measure)
    return Verdict(HELD if condition else DID_NOT_HOLD, effect, None, seeds, measure, because)


def both(*verdicts, because="", of="parts"):
    """All of them: held if all held, did not hold if one did not, else undecided.

    With k parts one of them fails more easily by chance. So a part that an interval decides fails
    the whole only with p < 0.05 / k (Bonferroni). That all hold needs no correction.

    The effect is that of the first that decides; where they differ, `because` counts them, by what
    they are parts `of`. Where intervals decide and all lie above 0, it is that of the part whose
    interval begins lowest.
    """
    kinds = [one.verdict for one in verdicts]
    failed = [one for one in verdicts if one.verdict == DID_NOT_HOLD
              and (one.p is None or one.p < 0.05 / len(verdicts))]
    kind = DID_NOT_HOLD if failed else HELD if set(kinds) == {HELD} else UNDECIDED
    first = (failed or [one for kind in (DID_NOT_HOLD, UNDECIDED, HELD)
                        for one in verdicts if one.verdict == kind])[0]
    if kind == HELD and all(one.p is not None and one.spread[0] > 0 for one in verdicts):
        first = min(verdicts, key=lambda one: one.spread[0])
    joined = Verdict(kind, first.effect, first.spread, min(one.seeds for one in verdicts),
                     first.measure, because or first.because, first.p)
    if because or set(kinds) == {kind}:
        return joined
    chance = "" if failed or DID_NOT_HOLD not in kinds else (
        f", none of them at p < 0.05 / {len(kinds)}")
    return joined.with_note(f"of {len(kinds)} {of} {_counts(kinds)}{chance}")


def repeated(*verdicts):
    """A timing that was made several times: the verdict of each stands if all of them agree.

    The effect is the median over the repeats; its spread is their range.
    """
    if len(verdicts) == 1:
        return verdicts[0]
    kinds = [one.verdict for one in verdicts]
    effects = [one.effect for one in verdicts if one.effect is not None]
    agreed = len(set(kinds)) == 1
    told = (f"in all {len(kinds)} repeats of the timing" if agreed else
            f"the repeats of the timing disagree: {_counts(kinds)}")
    return Verdict(kinds[0] if agreed else UNDECIDED,
                   float(np.median(effects)) if effects else None,
                   (min(effects), max(effects)) if effects else None,
                   min(one.seeds for one in verdicts), verdicts[0].measure,
                   "; ".join(filter(None, (told, verdicts[0].because if agreed else ""))))


def _counts(kinds):
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in KINDS if kind in kinds)


def first_decides(told):
    """The verdict by the first of several ways to choose a rate; the others are told beside it.

    `told` has what stands behind a number, "at the best rate" -> Verdict.
    """
    (words, first), *others = told.items()
    if not others:
        return first
    return first.with_note(f"{words}; " + "; ".join(
        f"the same {other}" if one.verdict == first.verdict else
        f"{other}: {one.verdict}" + ("" if one.effect is None else
                                     f" ({amount(one.effect, one.measure)})")
        for other, one in others))


def readings(told, decides=None, because="it hangs on the reading"):
    """One claim of a sentence that can be read in several ways: as printed and as corrected, say.

    Parameters
    ----------
    told : dict of str to Verdict
        Name of the reading, "as printed" -> Verdict.
    decides : str, optional
        The reading whose verdict is the claim's. Without it the claim is undecided where the
        readings differ.
    because : str
        What is missing where one holds and another does not.
    """
    kinds = {one.verdict for one in told.values()}
    first = replace(told[decides or next(iter(told))], readings=dict(told))
    return first if decides or len(kinds) == 1 else replace(
        first, verdict=UNDECIDED, because="one reading is open" if UNDECIDED in kinds else because)
