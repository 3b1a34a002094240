r"""Deep Residual Partitioning (Lawton, Ver Steeg, Galstyan): a diagonal bound.

A change of the parameters changes every layer's output. The method writes each squared change of an
output as a sum over everything that feeds it, gives each part a *fraction* of the change (the
partitioning variables) and applies Jensen's inequality. What remains, layer by layer from the loss
down to the input, is a sum of univariate quadratics: one for every parameter. Its minimiser is
-gradient / curvature, parameter by parameter.

===============  ===========================  ======================================================
paper            here                         meaning
===============  ===========================  ======================================================
y^(l)_sj         ``y`` (S, m_l)               input of layer l, sample s, unit j; 1 at j = 0, for
                                              the bias
w^(l)_ij         ``w`` (out, in)              weight of output i from input j; w_i0 is the bias
\dot Y, \ddot Y  ``Y_dot, Y_ddot``            linear, quadratic coefficient of an output's change,
                                              (S, m_l)
\dot W, \ddot W  ``W_dot, W_ddot``            coefficients of a weight's change: gradient, curvature
                                              (out, 1 + in), bias in column 0
epsilon_sij      ``eps``                      fraction of a residual that goes to weight ij, (S,
                                              out, 1 + in)
varphi_sij       ``phi``                      fraction that goes below, to unit j, (S, out, in);
                                              with eps the sum is 1
u^(l)_sj         ``u`` (S, m_l)               total gradient: how far an output can move, (11)
P                ``trainable``                the set of layers that are trained
lambda           ``learning_rate``            step size, a number
Z (ours)         ``Z = Y_ddot * u``           what is carried down without a division
f(y | x_s)       ``loss.value`` (S,)          loss of sample s, a function of the outputs; here
                                              over S, so that the objective is the mean
\mathcal L       ``bound.value``              objective at theta + delta; with a tilde its bound
L                ``len(layers)``              number of layers; the outputs are y^(L)
m_l              ``layer.in_features``        number of units that enter layer l
S                ``len(x)``                   number of samples of a batch; s counts them
x_s              ``x`` (S, D)                 inputs of sample s, D of them; x_i (n,): the numbers
                                              of Lemma 3
sigma            ``slope``, ``curvature``     activation; with one and two dots its derivatives, (S,
                                              m)
\Delta           ``dw``, ``dy``, ``delta``    change of what stands behind it, of the same shape
p_i              ``p`` (n,)                   fractions of Lemma 3, which add up to 1
n                ``len(p)``                   how many numbers Lemma 3 has
eta_i            ``eta`` (n,)                 logits of the p_i in the proof of Lemma 3
c                ``c``                        the one value that all x_i^2 / p_i^2 have in (23) and
                                              (24)
e_i              ``np.eye(C)[i]`` (C,)        vector with a 1 at output i, 0 elsewhere
k                ``1 / in_features``          initial weights are uniform between -sqrt(k) and
                                              sqrt(k)
D                ``in_features``              number of inputs of the network
\ell, i, j       (indices)                    ell counts layers; i and j units; s counts samples
===============  ===========================  ======================================================

**What is bounded.** (4) leaves out the product of a change of weight and a change of unit. The
bound therefore holds for the quadratic with Hessian ``bounded_hessian``, not for the true one;
``cross=True`` restores the latter.

**Where to start.** Display (n) is the function ``eq_n_...``, and the files stand in the paper's
order: ``section_2_setup`` (1); ``section_3_residual_partitioning`` (2) to (9), with Theorem 1;
``section_4_partitioning_variables`` (10) and (11), with Theorem 2; ``section_7_1_loss`` to
``section_7_3_proof_of_theorem_2`` (12) to (46); ``section_7_algorithm_1``, which trains. ``method``
calls it, and ``layers`` has the layers that are named and not written out. ``equations`` runs every
number; its ``EQUATIONS.md`` is the page.
"""

from ...checks import close_names
from . import layers  # noqa: F401  registers the rules of the other layers
from .method import Bound, ResidualPartitioning, bound
from .section_3_what_is_bounded import bounded_hessian
from .section_7_algorithm_1 import down, up

PAPER = "residual-partitioning"
TITLE = "Deep Residual Partitioning"
ORDER = 1
AUTHORS = "Neal Lawton, Greg Ver Steeg, Aram Galstyan"
ABOUT = "A bound on the loss with a diagonal Hessian, as cheap as a gradient."
VERSION = "the authors' text, undated, with appendix; read as text extracted from it"
FIGURE = "figure-1"
METHODS = {"residual-partitioning": "ResidualPartitioning"}

__all__ = ["Bound", "ResidualPartitioning", "bound", "bounded_hessian", "down", "up"]

__getattr__ = close_names.names(__name__)
