"""The figures and claims of the paper, in its order; each file reads as the claim that it decides.

`plateau` trains the paper's network and reads off the numbers that the claims are about. Every
other file is one study; see :mod:`secondorder.studies`.
"""

from . import figure_1, figure_2, figure_3, figure_4, figure_5  # noqa: F401
from . import no_harm, adam, sigma, sigma_mechanism, optimal_rate, less_tuning  # noqa: F401
from . import averaging, step_cost, depth_cost, storage, batch_rank, start_scale  # noqa: F401
from . import converged_or_stuck, printed_formula, layer_rates, normalisation  # noqa: F401

#: What the recorded runs say, before the lists of CLAIMS.md.
IN_SHORT = (
    "On the plateau (Figures 2 to 5) the paper's picture is met for every base: cubic "
    "steps leave it before the base alone, for gradient descent at a rate 109 (79 to 142) "
    "times the later one (\"a hundred-fold increase\", Section 3.2). From a good start "
    "(Figure 1) the later rate is .058 with (39) as printed, near the paper's .05, and "
    ".0073 with the exact curvature: the figures look like those of the printed formula. "
    "Sigma matters on the plateau: from 10 to 1000 the iteration of leaving grows 9 times. "
    "Figure 3's rate falls fivefold, not tenfold, at the end of the plateau. Adagrad and "
    "Adadelta from a good start: no \"meaningful difference\" in print (Section 3.2); here "
    "Adadelta ends 2.5 times higher with exact curvature, 1.2 times with the printed one, "
    "and Adagrad ends lower with the printed one (.65 times). On Adam cubic steps of sigma "
    "1000 gain nothing, as Section 4 says. A rate for every layer, proposed there, does "
    "not mend that: the plateau is left 26 to 49 times later than by Adam. A cubic step "
    "takes 2.3 to 2.6 times one of gradient descent; Section 5 itself calls it dearer, the "
    "limit of 2.2 is ours. Against gradient descent at the best of seven rates: the plateau is "
    "left in .15 of its iterations, from a good start cubic steps end 4.7 times higher. Of the "
    "three ways to a batch the paper's leaves the plateau first and ends lowest, as it says; but "
    "not because the others are noisier: they are less so. A control of ours: with h = 0 in the "
    "curvature's place the plateau is left as early at sigma 100, and a normalised gradient leaves "
    "it in a third of the iterations of the exact curvature at its best sigma. What leaves is the "
    "length of the step. From a good start the exact curvature ends 1.7 times above h = 0.")
