"""The figures and claims of the paper, in its order; each file reads as the claim that it decides.

`plateau` trains the paper's network and reads off the numbers that the claims are about. Every
other file is one study; see :mod:`secondorder.studies`.
"""

from . import figure_1, figure_2, figure_3, figure_4, figure_5  # noqa: F401
from . import no_harm, adam, sigma, sigma_mechanism, optimal_rate, less_tuning  # noqa: F401
from . import averaging, step_cost, depth_cost, storage, batch_rank, start_scale  # noqa: F401
from . import converged_or_stuck, printed_formula, layer_rates, normalisation  # noqa: F401
