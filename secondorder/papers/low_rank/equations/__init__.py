"""Every numbered equation, table and claim of the paper as a check that runs.

The files bear the names of those that they check. ``cases`` and ``layer_cases`` hold random
networks, batches and single layers, ``reference`` the brute force that these are compared with,
``conditions`` what statements need in order to hold.
"""

from . import (  # noqa: F401, in the paper's order, which is the order of the tables
    eq_01_07_low_rank, eq_08_09_cubic_model, eq_10_26_network, eq_29_33_second_derivatives,
    eq_37_43_step_length, eq_43_table_2_rates, eq_44_57_convolution, eq_58_65_recurrence,
    eq_66_80_any_activation, whole_hessian,
)
