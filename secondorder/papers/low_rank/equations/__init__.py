"""Every numbered equation, table and claim of the paper as a check that runs.

``structure`` (1)-(7), (34)-(36); ``model`` (8)-(9), (37), (40)-(43); ``batches`` (38)-(39),
Table 2, depth; ``averaging`` the options; ``definitions`` (10)-(17), Table 1; ``jacobians``
(18)-(33); ``convolutions`` and ``convolutions_by_cases`` (44)-(57); ``recursion`` (58)-(65);
``jacobian_changes`` (66)-(73); ``second_order`` (74)-(80); ``extensions`` and ``extension_steps``
what goes further than the paper. ``reference`` holds brute force by loops, ``by_layers`` the same
derivatives from the layer classes; ``cases``, ``batch_cases`` and ``convolution_cases`` the random
networks, batches and convolutions; ``conditions`` under what statements hold.
"""

# ruff: noqa: F401, I001  (in the order of the tables)
from . import (structure, model, batches, averaging, definitions, jacobians, convolutions,
               convolutions_by_cases, recursion, jacobian_changes, second_order, extensions,
               extension_steps)
