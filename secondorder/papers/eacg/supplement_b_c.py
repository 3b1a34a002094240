"""Supplements B and C prove back-propagation and (4a)-(4c); two of their lines are misprinted.

The right ones are in `eq_04_hessian`: B (i), (iii) its back-propagation, C (i) (4a), (iii) (4c).
"""

import numpy as np


def b_ii_bias_gradient_entry(W, g, dh, r):
    """B (ii), entry r: [h'_i]_r [W^tT]_{r.} grad_{b^t} xi_i, (S,)

    Printed in case 1 with a column of W^tT instead of a row.
    """
    return dh[:, r] * (g @ W.T[r])


def c_ii_part_1(W, g, ddh, r):
    """C (ii), Part 1: ([h''_i]_r [W^tT]_{r.} grad_{b^t} xi_i) e_r, (S, m), row r of (4b)'s diagonal

    Printed in case 2 with an entry [W^tT]_{sr}, whose s nothing sums over.
    """
    return (ddh[:, r] * (g @ W.T[r]))[:, None] * np.eye(W.shape[1])[r]
