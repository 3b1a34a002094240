"""The figures, tables and claims of the paper; each file reads as what it decides.

`networks` makes the networks and data that stand in for the paper's, `training` trains them over a
grid and reads off the numbers that the figures are about. See :mod:`secondorder.studies`.
"""

from . import cifar_figures, wide_figures, pch_figures  # noqa: F401
from . import table_1, error_tables  # noqa: F401
from . import plateau, controls, solvers, memory, covariance, conclusions  # noqa: F401

#: What the recorded runs say, before the lists of CLAIMS.md.
IN_SHORT = (
    "KFI's time is called similar to EA-CG's in the text on Table 1: on the paper's "
    "network the counts are 249 to 1 at 20 iterations, and the measured steps rank as the "
    "counts do. The covariance that (8b) drops is called tiny (before Eq. (5)): it comes "
    "up to half of the mean block in one layer or another. Table 2: PCH has the smaller "
    "errors, zero at the top, as printed; PCH-1 is ahead of PCH-2 here, PCH-2 in print, "
    "and relative to the block they grow towards the input along EA-CG. With the 150,528 "
    "inputs of ImageNet-10 the matrix of KFI's first layer takes 91 GB, which is why the "
    "authors met the limit of their memory; EA-CG's peak there is 1.96 times SGD's (no "
    "number in print, 1.5 was our limit). The figures are judged at two choices of rates, "
    "on networks small enough to leave the plateau that the printed one does not leave in "
    "first looks. Against SGD (three seeds) the training loss of EA-CG with PCH-1 ends at a "
    "quarter. Of the twelve figures one seed is there, which decides nothing. In it EA-CG is "
    "ahead of KFI in seconds on Cifar-10, with Fisher's curvature 1.2 times (cross-entropy) and "
    "2.7 times (bounded criterion), and with PCH-1 at least 1.5 times in all four cases, but KFI "
    "has the lower training loss at equal epochs. Eight layers leave the plateau within 4000 "
    "updates with Adam alone; with weights four times as large EA-CG is off it after 100.")
