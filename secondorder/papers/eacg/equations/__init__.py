"""A check that runs for every numbered equation, display, table and claim of the paper.

The files bear the names of those that they check. ``cases`` holds random networks, ``reference``
what they are compared with, ``conditions`` what statements need in order to hold.
"""

from . import (  # noqa: F401, in the paper's order, which is the order of the tables
    eq_01_03_newton, eq_04_hessian, eq_05_07_expectation, eq_08_pch, eq_09_11_ea_cg, eq_11_table_1,
    eq_12_13_kfac_kfra, eq_14_experiments, supplement_b_c, supplement_d_eq_15_17, beyond,
)
