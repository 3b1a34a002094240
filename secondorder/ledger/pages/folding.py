"""Claims that differ in their case only, together: one line for the worst of them."""

import numpy as np

from ..claims import Case, PrintedShape, Property
from ..comparisons import Comparison


def folded(claims):
    """Pairs of what is claimed and the claims that say it on different cases (`case=`), the worst
    one first, in the order of the check.
    """
    groups = {}
    for claim in claims:
        if isinstance(claim, Case):
            continue
        outcome = (claim.left_shape, claim.right_shape) if isinstance(claim, PrintedShape) else \
            repr(claim.expected) if isinstance(claim, Property) else None
        groups.setdefault((type(claim), claim.relation, claim.what, outcome), []).append(claim)
    return [(key[2], sorted(same, key=badness, reverse=True)) for key, same in groups.items()]


def badness(claim):
    """Larger for what is nearer to failing."""
    if not claim.ok:
        return np.inf
    if isinstance(claim, (Property, PrintedShape)):
        return 0.0
    ratio = claim.error / claim.tolerance
    return ratio if isinstance(claim, Comparison) else -ratio
