"""Conditions under which statements hold; each is said once and used wherever it is needed."""

from ....ledger import Condition

STRAIGHT = Condition("the activation is straight", (
    "A'' = 0 where it is evaluated, as for ReLU away from its kink."))
IN_ORDER = Condition("the layers stand in order", (
    "m <= l <= k: the three layers follow each other."))
INSIDE = Condition("the layer lies inside", (
    "l < r <= k: the layer that is taken out lies between the two."))
DESCENT = Condition("the direction descends", (
    "g is a descent direction, g . grad f < 0, and sigma > 0."))
FORWARD = Condition("the step goes forward", (
    "g is a descent direction, g . grad f < 0, sigma > 0, and the length is positive: for negative "
    "lengths the model has the opposite cubic term."))
ENOUGH = Condition("sigma is large enough", (
    "sigma is at least the largest third derivative along the ray over |g|^3."))
ONE_SAMPLE = Condition("there is one sample", (
    "F is the f of one sample. Over a batch the products are averaged, as in section 3.1."))
COUNTING = Condition("outputs count from 0 and kernels from 1", (
    "Inputs and outputs are counted from 0, the entries of the kernel from 1. (With all of them "
    "from 1, strides above 1 never see the first rows and columns.)"))
EVERY_ETA = Condition("every eta is formed", (
    "(One tangent needs products in proportion to the number of layers.)"))
