"""Choosing a setting of a method on seeds of its own, before it is judged on others."""

import numpy as np


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
        The first of the best, if several are equally good.
    """
    means = []
    for candidate in candidates:
        returned = results.by_seed(**candidate)
        if any(seed not in returned for seed in seeds):
            return None
        means.append(float(np.mean([number(returned[seed]) for seed in seeds])))
    return candidates[int(np.argmin(means))]
