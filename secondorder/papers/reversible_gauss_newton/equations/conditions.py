"""Conditions under which statements hold; each is said once and used wherever it is needed."""

from ....ledger import Condition

INDEPENDENT = Condition("the features are independent", (
    "In every half-coupled layer the features sigma(V X) of the samples have linearly independent "
    "columns, which needs d' >= n."))
SURJECTIVE = Condition("the Jacobian is surjective", (
    "J has linearly independent rows (Assumption 4.1)."))
IDENTITY_HESSIAN = Condition("the loss's Hessian is the identity", (
    "The Hessian of the loss in the outputs is I: half the squared error, to which section 4 "
    "restricts its results."))
STRICT = Condition("J is surjective and the loss is strictly convex", (
    "J is surjective and the loss strictly convex, H > 0."))
HALF_ORDER = Condition("rows stand in half order", (
    "Rows of x_l stand in half order, (vec X^(1); vec X^(2)), in both factors."))
