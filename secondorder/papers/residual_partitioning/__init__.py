r"""Deep Residual Partitioning (Lawton, Ver Steeg, Galstyan): a diagonal bound.

A change of the parameters changes every layer's output. The method writes each squared change of an
output as a sum over everything that feeds it, gives each part a *fraction* of the change (the
partitioning variables) and applies Jensen's inequality. What remains, layer by layer from the loss
down to the input, is a sum of univariate quadratics: one for every parameter. Its minimiser is
-gradient / curvature, parameter by parameter.

========================  =====================  ===================================================
paper                     here                   meaning
========================  =====================  ===================================================
y^(l)_sj                  ``y`` (S, m_l)         input of layer l, sample s, unit j; bias at j = 0
w^(l)_ij                  ``w`` (out, 1 + in)    weight of output i from input j, bias in column 0
\dot Y, \ddot Y           ``Y_dot, Y_ddot``      linear, quadratic coefficient of an output's change
\dot W, \ddot W           ``W_dot, W_ddot``      the same for a parameter: gradient, curvature
epsilon_sij, varphi_sij   ``eps``, ``phi``       fractions for a weight, for what is below; sum 1
u^(l)_sj                  ``u``                  total gradient: how far an output can move, (11)
P                         ``layer.trainable``    the layers that are trained
lambda                    ``learning_rate``      step size
(not named)               ``Z = Y_ddot * u``     what the fast path carries down without a division
========================  =====================  ===================================================

The paper sums over samples and Algorithm 1 averages. Here f stands for the loss divided by the
number of samples, so that sums over s are as printed and the objective is the mean.

**What is bounded.** Equation (4) drops the product of a change of weight and a change of
activation. The bound therefore holds for the quadratic with Hessian ``bounded_hessian``, not for
the true Hessian; ``cross=True`` restores the latter.

Reading order of the formulas: ``total_gradient`` (11); ``partitions`` (5), (10), (14), (19)-(22),
(31), (37), (46); ``coefficients`` (4), (7), (9), (15), (16), (18), (41), (45), and ``explicit``,
which goes through a whole network with them; ``algorithm_1`` (line by line, corrected and as
printed); ``rules`` (which inequality a rule must satisfy, and the rules of layers and losses),
``shaped_layers`` (those of convolutions, pooling and recurrences) and ``fast`` (the corrected
algorithm, one forward and one backward pass; ``options`` are its choices, ``in_place`` and
``loops`` what a training step runs); ``hessian`` (what is bounded); ``optimizer``. ``equations``
runs every number; its ``EQUATIONS.md`` is the page.
"""

from ...checks import guessed
from .fast import Bound, bound
from . import shaped_layers
from .hessian import bounded_hessian
from .optimizer import ResidualPartitioning
from .rules import Rule, rules

PAPER = "residual-partitioning"

__all__ = ["Bound", "ResidualPartitioning", "Rule", "bound", "bounded_hessian", "rules",
           "shaped_layers"]

__getattr__ = guessed.names(__name__)
