"""Claims that many checks make, the name of the case that they are made on, and the conditions
that several displays share.
"""

import numpy as np

from ....ledger import AtMost, Case, Condition, Counterexample, Equal
from . import cases, reference

# -- conditions ------------------------------------------------------------------------------------

WITHOUT_PRODUCTS = Condition("products of changes are dropped", (
    "The model drops the products of a change of weight and a change of activation, as (4) does. "
    "Its Hessian is `bounded_hessian`, not the loss's Hessian."))
FIRST_ORDER = Condition("changes are of first order", (
    "Changes of units are meant to first order in the changes of the parameters, as in (4)."))
CORRECTED = Condition("negative coefficients are corrected", (
    "Below a curved activation a coefficient that is negative is replaced by its absolute value, "
    "or by zero. The paper says this in Algorithm 1 only."))
NOTHING_CORRECTED = Condition("no coefficient is corrected", (
    "Below the activations the coefficients are taken with their signs. Or no coefficient that "
    "the absolute value meets is negative, as with piecewise-linear activations."))
NONE_NEGATIVE = Condition("no coefficient below an activation is negative", (
    "Below the activations no second coefficient is negative before its absolute value is taken, "
    "as with piecewise-linear activations. To take them with their signs is not enough: where one "
    "is negative, the layer below has its largest sum at these fractions, and no least."))
NOT_NEGATIVE = Condition("no second coefficient is negative", (
    "The second coefficients Y_ddot of the layer's outputs are not negative. (The paper's note "
    "below (9) can be read as asking this of the first coefficients, which take both signs.)"))


# -- claims ----------------------------------------------------------------------------------------

def in_case(name, *claims):
    """The claims, each with the name of its case."""
    for claim in claims:
        # a claim that must fail holds the comparison, which bears the name as well
        claim.case = getattr(claim, "claim", claim).case = name
    return claims


def is_bound(what, curvature, H, case=None):
    """0 is at most the least eigenvalue of diag(curvature) - H, for (P,) and (P, P) arrays."""
    return AtMost(what, 0.0, reference.least_eigenvalue(curvature, H), 1e-12, curvature, case)


def by_differences(a, row, number, below):
    """(9) and (18): coefficients, by name, against differences of the right side of an equation."""
    expected = dict(zip(("W_dot", "W_ddot", "Y_dot", "Y_ddot"), reference.affine_coefficients(a)))
    return [Equal(f"{name} against differences of the right side of ({number})", made,
                  expected[name], 1e-12, case=row) for name, made in below.items()]


def quadratics_bounded(rows, rng, right_side):
    """(8) and (17): linear parts agree, the quadratic part is bounded, tightly for changes in
    proportion; ``right_side(a, dw, dy)`` is what the package makes of it.
    """
    def sides(a, changes):
        return np.array([reference.quadratics(a, *step, *a.below()) for step in changes])

    claims = []
    for row, a in rows.items():
        changes = list(zip(rng.normal(size=(20, *a.dw.shape)),
                           rng.normal(size=(20, *a.dy.shape)) * (a.u > 0)[None]))
        left, right = sides(a, changes).transpose(1, 2, 0)
        claims += in_case(
            row, Equal("linear parts of both sides", left[0], right[0], 1e-12),
            Equal("right side of the quadratics, one by one against linear and quadratic parts",
                  [right_side(a, *change) for change in changes], right.sum(axis=0), 1e-12,
                  scale=np.abs(right).sum(axis=0).max()),
            AtMost("left side against right side", left.sum(axis=0), right.sum(axis=0)))
        left, right = sides(a._replace(Y_ddot=-a.Y_ddot), changes).sum(axis=2).T
        claims.append(Counterexample(AtMost("the same with Y_ddot < 0", left, right, case=row)))
        if row != "fixed":
            one = cases.in_proportion(a)
            left, right = sides(one, [(one.dw, one.dy)])[0]
            claims.append(Equal("one output, changes in proportion to optimal fractions: quadratic "
                                "parts of both sides", left[1], right[1], 1e-12, case=row))
    return [*claims, Case(y=a.y, Y_dot=a.Y_dot, Y_ddot=a.Y_ddot, eps=a.eps)]
