"""Every numbered equation, table and claim of the paper as a check that runs.

``structure`` (1)-(7), (34)-(36); ``model`` (8)-(9), (37), (40)-(43); ``batches`` (38)-(39),
Table 2, the options; ``definitions`` (10)-(17), Table 1; ``jacobians`` (18)-(33);
``convolutions`` (44)-(57); ``recursion`` (58)-(65); ``second_order`` (66)-(80); ``extensions`` what
goes further than the paper. ``reference`` holds brute force by loops, ``by_layers`` the same
derivatives from the layer classes, ``cases`` the networks and batches, ``conditions`` under what
statements hold.
"""

# ruff: noqa: F401, I001  (in the order of the tables)
from . import (structure, model, batches, definitions, jacobians, convolutions, recursion,
               second_order, extensions)
