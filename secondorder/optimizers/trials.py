"""Steps that are tried before they are taken: the objective at other parameters, and halving."""

import numpy as np

from ..nets import Evaluation


def objective_after(method, evaluation, change):
    """Objective of a method, a float, for an evaluation's batch at theta + change (P,); inf where
    it overflows. The parameters are put back.
    """
    network, start = method.network, method.network.theta.copy()
    try:
        network.theta += change
        after = Evaluation(network, method.loss, evaluation.x, evaluation.y, lasting=False).loss
        after += method.penalty()
    except FloatingPointError:  # something overflows: as bad as a step can be
        after = np.inf
    finally:
        network.theta[...] = start
    return after if np.isfinite(after) else np.inf


def halved(method, evaluation, change, after, most):
    """Halve `change` (P,) in its place, `most` times at most, until the objective, which is `after`
    there, does not rise. Returns how often, and whether that was enough, up to rounding.
    """
    before, halvings = method.objective(evaluation), 0
    rounding = 4 * float(np.finfo(change.dtype).eps) * abs(before)
    while before - after < -rounding and halvings < most:
        halvings += 1
        change *= 0.5
        after = objective_after(method, evaluation, change)
    return halvings, before - after >= -rounding
