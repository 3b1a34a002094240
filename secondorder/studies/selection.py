"""Choosing a setting of a method on seeds of its own, before it is judged on others."""

import numpy as np


def least(numbers, what="candidate"):
    """The place of the smallest number: how every study chooses among its candidates.

    Parameters
    ----------
    numbers : sequence of float
        One a candidate; infinite where it diverged.
    what : str
        What a candidate is, for the message.

    Returns
    -------
    int
        0 where every candidate diverged: then no choice is better than another.

    Raises
    ------
    ValueError
        If several candidates share the smallest number, or one is NaN: the number does not choose.
    """
    numbers = np.asarray(numbers, dtype=float)
    if np.isnan(numbers).any():
        raise ValueError(f"{what} {int(np.isnan(numbers).argmax())}: its number is NaN and chooses "
                         "nothing")
    best = np.flatnonzero(numbers == numbers.min())
    if len(best) > 1 and np.isfinite(numbers.min()):
        raise ValueError(f"{len(best)} of {len(numbers)} {what}s have the same number, "
                         f"{numbers.min():g}: it chooses nothing; take a number that tells them "
                         "apart")
    return int(best[0])


def chosen(results, candidates, number, seeds):
    """The candidate whose number is smallest on average over some seeds.

    A study asks for the runs of all candidates on these seeds first; as long as one of them is
    missing, nothing is chosen.

    Parameters
    ----------
    results : Results
    candidates : sequence of dict
        Arguments that tell the runs of a candidate from those of the others.
    number : callable
        Takes what a run returned; infinite where it diverged.
    seeds : sequence of int
        Those on which to choose; a study judges on others.

    Returns
    -------
    dict or None

    Raises
    ------
    ValueError
        If several candidates are equally good; see `least`.
    """
    means = []
    for candidate in candidates:
        returned = results.by_seed(**candidate)
        if any(seed not in returned for seed in seeds):
            return None
        means.append(float(np.mean([number(returned[seed]) for seed in seeds])))
    return candidates[least(means)]
