r"""Exact, Tractable Gauss-Newton Optimization in Deep Reversible Architectures (Buffelli et al.
2024).

A Gauss-Newton step asks for a change of the parameters that moves the outputs f along minus the
gradient of the loss: J d = -eps. In a reversible network built from coupling layers a right inverse
of J has a closed form, because the layers are linear in their parameters and the rest of the
network can be run backwards. The step then costs little more than a gradient. It is one of many
steps with the same J d; the shortest one is that of the Moore-Penrose inverse, which this room
computes too, through the tangent kernel J J^T.

==========================  ===========================  =========================================
paper                       here                         meaning
==========================  ===========================  =========================================
X_l, one column a sample    ``x`` (S, d), one row each   outputs of block l; vec(X): x row by row
X^(1)_l, X^(2)_l            first and second half        of the units
W^(1)_l, W^(2)_l            ``blocks[l].W1``, ``.W2``    trained, (d/2, d')
V^(2)_{l-1}, V^(1)_l        ``blocks[l].Va``, ``.Vb``    fixed, (d', d/2)
sigma(V X)                  ``S1``, ``S2``; ``F = S^T``  features of a half-coupled layer
L                           ``blocks``                   number of blocks ("layers" in the paper)
n, d_y                      S, C                         samples, outputs
eps                         ``eps``                      gradient of the SUM of losses in outputs
J^+, J^-| (right inverse)   ``inverse=``                 ``"moore-penrose"``, ``"right"``
alpha                       ``learning_rate``            1/L is in the direction, as in (16)-(17)
(not in the paper)          ``readout``                  R, fixed: f = R x_L
==========================  ===========================  =========================================

The package's objective is the mean over the batch; the paper's is the sum, and its eps is used
here: Gauss-Newton steps are n times longer than they would be with the mean. With a cross-entropy
the paper replaces the Hessian of the loss by the identity, and so does ``curvature="identity"``.

Reading order: ``coupling`` and ``revmlp`` (14)-(15); ``columns`` (the paper's vectorisation);
``jacobians`` (12)-(13), (33)-(39); ``right_inverse`` (16)-(17), (40)-(63); ``steps`` (2)-(8), (19);
``flows`` (3), (9)-(11), (18)-(32); ``entries`` (65)-(80). Then the fast path: ``gram`` and
``features`` (pseudo-inverses that are applied, never formed); the three ways to a step, ``sweep``
((16)-(17) by matrices), ``running`` (the same without saved activations) and ``moore_penrose``
(with ``kernel`` and ``rules``: J J^T from Khatri-Rao products), among which ``directions`` chooses;
``options`` and ``outcome`` (what a step reports); ``optimizer``, ``ridge``, and ``diagnostics``,
which also measures changes of kernels, weights and losses.
"""

from ...checks import guessed
from .coupling import Coupling
from .diagnostics import linear_cka, ntk, ntk_product
from .directions import direction
from .optimizer import GaussNewton
from .outcome import PrecisionWarning, RankWarning
from .revmlp import RevMLP
from .ridge import Ridge

PAPER = "reversible-gauss-newton"

__all__ = ["Coupling", "GaussNewton", "PrecisionWarning", "RankWarning", "RevMLP", "Ridge",
           "direction", "linear_cka", "ntk", "ntk_product"]

__getattr__ = guessed.names(__name__)
