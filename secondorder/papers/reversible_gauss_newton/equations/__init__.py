"""A check that runs for every numbered equation, theorem, assumption and claim of the paper.

The files bear the names of those that they check. ``cases`` holds random small networks and flows,
``reference`` what all is compared with (it shares no code with the room), ``conditions``
what statements need in order to hold.
"""

from . import (  # noqa: F401, in the paper's order, which is the order of the tables
    eq_01_07_gauss_newton, eq_08_11_any_right_inverse, eq_12_17_revmlp, section_4_cost,
    eq_18_22_generalised, eq_23_32_two_flows, eq_33_57_proof, eq_58_80_appendix_n, beyond,
)
