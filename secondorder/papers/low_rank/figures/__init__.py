"""The figures and claims of the paper, in its order; see :mod:`secondorder.studies`.

`plateau` trains the paper's network, and reads off a run the numbers that the claims are about.
"""

from . import figures_1_to_5, adam, sigma, best_rates, averaging, costs  # noqa: F401
from . import batch_rank, flat_regions, layer_rates, normalisation  # noqa: F401
