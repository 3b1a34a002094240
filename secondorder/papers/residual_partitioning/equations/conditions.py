"""Conditions under which statements hold; each is said once and used wherever it is needed."""

from ....ledger import Condition

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
NOT_NEGATIVE = Condition("no second coefficient is negative", (
    "The second coefficients Y_ddot of the layer's outputs are not negative. (The paper's note "
    "below (9) can be read as asking this of the first coefficients, which take both signs.)"))
