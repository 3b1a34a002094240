"""The figures, tables and claims of the paper; each file reads as what it decides.

`networks` makes the networks and data that stand in for the paper's, `training` trains them once,
`trainings` over a grid and chooses, `clock` times them. See :mod:`secondorder.studies`.
"""

from . import figures_1_to_12  # noqa: F401
from . import table_1, error_tables, memory  # noqa: F401
from . import sgd, solvers, covariance, plateau  # noqa: F401
