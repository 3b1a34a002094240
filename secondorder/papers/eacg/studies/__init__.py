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
    "number in print, 1.5 was our limit). Against SGD the training "
    "loss of EA-CG with PCH-1 ends at a quarter. The figures are judged over three seeds, at two "
    "choices of rates, on networks small enough to leave the plateau: the printed one stays there "
    "for 1500 updates; eight layers leave it within 4000 with Adam alone, and with weights four "
    "times as large EA-CG does after 100. In seconds EA-CG with PCH-1 is ahead of KFI in all four "
    "cases, 1.6 to 2.1 times, as the paper says, and ahead of SGD in Figure 1, where the paper has "
    "SGD first; with wide inputs its epochs take less than half of KFI's time, where the paper has "
    "them alike. At equal epochs the bounded criterion ends lower with KFI (a log ratio of .34 to "
    ".6), where the paper has EA-CG ahead or level. EA-CG tests better than KFI in none of the "
    "figures of which the paper says so, and 9 points worse with Fisher's curvature and the "
    "bounded criterion. PCH-1 ends at less than half the loss of the Gauss-Newton matrix with "
    "EA-CG; with KFI that is open, and so is whether PCH-1 and PCH-2 end alike.")
