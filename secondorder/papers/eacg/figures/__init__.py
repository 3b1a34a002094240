"""The figures, tables and claims of the paper; each file reads as what it decides.

`networks` makes the networks and data that stand in for the paper's, `training` trains them over a
grid and reads off the numbers that the figures are about. See :mod:`secondorder.studies`.
"""

from . import cifar_figures, wide_figures, pch_figures  # noqa: F401
from . import table_1, error_tables  # noqa: F401
from . import plateau, controls, solvers, memory  # noqa: F401
from . import covariance, covariance_added, covariance_kept, conclusions  # noqa: F401
