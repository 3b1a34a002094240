"""Conditions under which statements hold; each is said once and used wherever it is needed."""

from ....ledger import Condition

INDEPENDENT = Condition("independent features", (
    "In every half-coupled layer the features sigma(V X) of the samples have linearly independent "
    "columns, which needs d' >= n."))
SURJECTIVE = Condition("surjective Jacobian", (
    "J has linearly independent rows (Assumption 4.1)."))
IDENTITY_HESSIAN = Condition("identity Hessian", (
    "The Hessian of the loss in the outputs is I: half the squared error, to which section 4 "
    "restricts its results."))
STRICT = Condition("surjective and strictly convex", (
    "J is surjective and the loss strictly convex, H > 0."))
HALF_ORDER = Condition("half order", (
    "Rows of x_l stand in half order, (vec X^(1); vec X^(2)), in both factors."))
