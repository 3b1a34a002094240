"""The figures and claims of the paper, in its order; see :mod:`secondorder.studies`.

`plateau` trains the paper's network, and reads off a run the numbers that the claims are about.
"""

from . import figures_1_to_5, adam, sigma, sigma_mechanism, optimal_rate  # noqa: F401
from . import less_tuning, averaging, costs, batch_rank, start_scale  # noqa: F401
from . import converged_or_stuck, layer_rates, normalisation  # noqa: F401
