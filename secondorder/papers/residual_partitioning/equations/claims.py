"""Claims that many checks make, and the name of the case that they are made on."""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal
from .. import coefficients, theorems, total_gradient
from . import cases, reference


def in_case(name, *claims):
    """The claims, each with the name of its case."""
    for claim in claims:
        # a claim that must fail holds the comparison, which bears the name as well
        claim.case = getattr(claim, "claim", claim).case = name
    return claims


def is_bound(what, curvature, H, tolerance=1e-12):
    """0 is at most the least eigenvalue of diag(curvature) - H, for (P,) and (P, P) arrays."""
    return AtMost(what, 0.0, reference.least_eigenvalue(curvature, H), tolerance, scale=curvature)


def is_refused(check, *arguments):
    """Whether a check of the room refuses partitioning variables."""
    try:
        check(*arguments)
    except ValueError:
        return True
    return False


def last_times(factor, fractions):
    """Fractions of which those of the last sample are multiplied."""
    fractions = fractions.copy()
    fractions[-1] *= factor
    return fractions


def by_differences(a, row, number, *names):
    """(9) and (18): coefficients against differences of the right side of an equation."""
    below, expected = a.below(), coefficients.AffineBound(*reference.affine_coefficients(a))
    return [Equal(f"{name} against differences of the right side of ({number})",
                  getattr(below, name), getattr(expected, name), 1e-12, case=row)
            for name in names]


def own_terms(a):
    """y (S, 1 + in) with the bias in column 0; zero if the layer is not trained."""
    return total_gradient.input_with_bias(a.layer, a.y) * a.layer.trainable


def by_total_gradient(a):
    """The fractions of (10), (32), (38) of one layer, with its total gradient by sums."""
    return theorems.fractions_of_total_gradient(own_terms(a), a.layer.weight, a.u,
                                                np.abs(a.terms).sum(axis=2))


def quadratics_bounded(rng, first):
    """(8) and (17): the claims of :func:`both_sides` for all rows."""
    rows = cases.affine_rows(rng, first=first)
    a = rows["four samples"]
    return [*(claim for name, one in rows.items() for claim in both_sides(one, rng, name)),
            Case(y=a.y, Y_dot=a.Y_dot, Y_ddot=a.Y_ddot, eps=a.partition.eps)]


def right_side(a, partition, dW, dY):
    """sum_ij W_ij + sum_sj Y_sj at a change."""
    below = a.below(partition)
    return theorems.bound_of_outputs(theorems.quadratic(below.W_dot, below.W_ddot, dW),
                                     theorems.quadratic(below.Y_dot, below.Y_ddot, dY))


def both_sides(a, rng, row):
    """Linear parts agree, the quadratic part is bounded, tightly for changes in proportion."""
    def sides(a):
        return np.array([reference.quadratics(a, *step, *a.below()) for step in changes])

    changes = list(zip(rng.normal(size=(20, *a.dW.shape)) * a.layer.trainable,
                       rng.normal(size=(20, *a.dY.shape)) * (a.u > 0)[None]))
    claims = []
    for name, partition in (("arbitrary", a.partition), ("optimal", a.best)):
        left, right = sides(a._replace(partition=partition)).transpose(1, 2, 0)
        claims += in_case(
            f"{row}, {name} fractions",
            Equal("linear parts of both sides", left[0], right[0], 1e-12),
            Equal("right side of the quadratics, one by one against linear and quadratic parts",
                  [right_side(a, partition, *change) for change in changes], right.sum(axis=0),
                  1e-12, scale=np.abs(right).sum(axis=0).max()),
            AtMost("left side against right side", left.sum(axis=0), right.sum(axis=0)))
    left, right = sides(a._replace(Y_ddot=-a.Y_ddot)).sum(axis=2).T
    claims.append(Counterexample(AtMost("the same with Y_ddot < 0", left, right, case=row)))
    if row == "fixed":
        return claims
    one = cases.in_proportion(a)
    changes = [(one.dW, one.dY)]
    left, right = sides(one)[0]
    return [*claims, Equal("one output, changes in proportion to optimal fractions: quadratic "
                           "parts of both sides", left[1], right[1], 1e-12, case=row)]
