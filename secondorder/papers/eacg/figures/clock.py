"""Seconds: what an update of every method takes, timed side by side, and who is the faster.

Training tells losses by epoch; an update's seconds are measured apart, in turns and five times
over, so that no method is timed beside other work than its rivals. A claim about seconds stands if
it comes out alike in all repeats. It is judged by the paper's solvers: EA-CG on arrays as large as
the weights, KFI with the matrices of Eq. (12).
"""

import time

import numpy as np

from secondorder.studies import crossing, diverged

from . import networks, training

#: What the recorded seconds are of; with all figures that tell seconds.
TIMED_WITH = "; seconds are CPU time of this implementation, one thread"


def update_seconds(repeat, case, criterion, methods, batch, rounds, steps):
    """Median CPU seconds of an update of every method, in turns, on random images.

    `methods` are pairs of method and curvature; each makes `steps` updates in a round, by
    the solvers as printed. Returns a dict, ``"ea-cg pch-1"`` and so on -> seconds.
    """
    rng = np.random.default_rng(repeat)
    x = rng.random((batch, networks.WIDTHS[case][0])).astype("float32")
    y = rng.integers(0, 10, batch)
    updates = {}
    for method, curvature in methods:
        network, loss = networks.network_of(case, repeat), networks.CRITERIA[criterion]()
        updates[f"{method} {curvature}"] = training.optimizer_of(
            network, loss, method, curvature, 1e-3, 0.02, training.PRODUCTS).step
    seconds = {name: [] for name in updates}
    for name, update in rounds * list(updates.items()):
        update(x, y)  # the caches hold the other methods' arrays
        began = time.process_time()
        for _ in range(steps):
            update(x, y)
        seconds[name].append((time.process_time() - began) / steps)
    return {name: float(np.median(values)) for name, values in seconds.items()}


def ahead(ours, other, level):
    """log of the other's seconds to a loss over ours.

    A run that never comes so far counts with its last second if that decides the sign, and else
    with NaN.
    """
    (a, end), (b, other_end) = reached(ours, level), reached(other, level)
    if not np.isfinite(a) and not b <= end or not np.isfinite(b) and not a <= other_end:
        return np.nan
    return float(np.log(min(b, other_end) / min(a, end)))


def reached(run, level):
    """Seconds until a loss, between two looks by the logarithm of the loss, and of the whole run.
    """
    place, seconds = crossing(run["loss"], level), np.array(run["seconds"])
    at = float(np.interp(place, range(len(seconds)), seconds)) if np.isfinite(place) else np.inf
    return at, float(seconds[len(run["loss"]) - 1])


def where_the_quicker_ends(ours, other, column):
    """Our number less the other's, where the quicker one of the two ends; NaN where one diverged.
    """
    if diverged(ours) or diverged(other):
        return np.nan
    last = min(run["seconds"][-1] for run in (ours, other))
    left, right = (float(np.interp(last, run["seconds"], column(run))) for run in (ours, other))
    return left - right


def at_equal_seconds(ours, other):
    """log of the other's training loss over ours, there."""
    return where_the_quicker_ends(ours, other, lambda run: -np.log(run["loss"]))


def accuracy_at_equal_seconds(ours, other):
    """Our accuracy less the other's, there."""
    return where_the_quicker_ends(ours, other, lambda run: run["accuracy"])
