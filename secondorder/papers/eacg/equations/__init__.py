"""Every numbered equation, display, table and claim of the paper as a check that runs.

In the paper's order: ``newton`` (1)-(3), Property 1, Pos-Eig; ``recursion`` back-propagation,
(4a)-(4c) and supplements B and C; ``expectation`` (5)-(7), (15)-(17) and supplement D; ``pch``
(8a)-(8c); ``systems`` (9)-(11b); ``analysis`` space, time and Table 1; ``kfac`` Fisher, KFI,
(12), (13); ``kfra`` Gauss-Newton; ``criterion`` (14); ``tables`` the metric and the arithmetic of
Tables 2-5; ``extensions`` what follows beyond the paper. ``cases`` holds random networks,
``reference`` what they are compared with.
"""

from . import (  # noqa: F401, in the paper's order, which is the order of the tables
    newton, recursion, expectation, pch, systems, analysis, kfac, kfra, criterion, tables,
    extensions,
)
