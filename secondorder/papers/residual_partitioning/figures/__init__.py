"""The figures and claims of the paper, in its order; see :mod:`secondorder.studies`.

`networks` makes the paper's two networks and the data, `tuning` chooses rates. Every other file is
one study, or a few that share what they run.
"""

from . import figures_1_to_3, cost  # noqa: F401
from . import promised_decrease, saddle, curvature_quality, loose_bound  # noqa: F401
from . import algorithm_1  # noqa: F401
