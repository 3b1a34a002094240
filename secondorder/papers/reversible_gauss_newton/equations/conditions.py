"""Conditions under which statements hold; each is said once and used wherever it is needed."""

from ....ledger import Condition

INDEPENDENT = Condition("the features are independent", (
    "In every half-coupled layer the features sigma(V X) of the samples have linearly independent "
    "columns, which needs d' >= n."))
SURJECTIVE = Condition("the Jacobian is surjective", (
    "J has linearly independent rows (Assumption 4.1)."))
IDENTITY_HESSIAN = Condition("the loss's Hessian is the identity", (
    "The Hessian H of the loss in the outputs is I, as for half the squared error. It fails for "
    "the cross-entropy, which the paper trains with I in the place of H: then eps changes at the "
    "rate -H eps, more slowly where the softmax is sure, and the loss falls like 1/t, not like "
    "e^{-t}."))
STRICT = Condition("J is surjective and the loss is strictly convex", (
    "J is surjective and the loss strictly convex, H > 0."))
HALF_ORDER = Condition("rows stand in half order", (
    "Rows of x_l stand in half order, (vec X^(1); vec X^(2)), in both factors."))
