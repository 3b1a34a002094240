"""The figures and claims of the paper, in its order; each file reads as the claim that it decides.

`networks` makes the paper's two networks and the data; `curves` trains them and reads off the
numbers that the figures are about. Every other file is one study; see :mod:`secondorder.studies`.
"""

from . import figure_1, figure_2, figure_3  # noqa: F401
from . import timing, same_order, memory  # noqa: F401
from . import promised_decrease, saddle, curvature_quality, loose_bound  # noqa: F401
from . import competitive, printed_algorithm, negative_coefficients  # noqa: F401
