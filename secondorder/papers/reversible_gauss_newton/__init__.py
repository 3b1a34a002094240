r"""Exact, Tractable Gauss-Newton Optimization in Deep Reversible Architectures (Buffelli et al.
2024).

A Gauss-Newton step asks for a change of the parameters that moves the outputs f along minus the
gradient of the loss: J d = -eps. In a reversible network built from coupling layers a right inverse
of J has a closed form, because the layers are linear in their parameters and the rest of the
network can be run backwards. The step then costs little more than a gradient. It is one of many
steps with the same J d; the shortest one is that of the Moore-Penrose inverse, which this room
computes too, through the tangent kernel J J^T.

Display (n) is the function ``eq_n_...``, and the files stand in the paper's order; Section 5, which
has no numbers, stands behind. Start at ``eq_16_17_right_inverse``, the paper's step; ``method``
calls it, or (5). ``equations`` runs every number.

=======================  =======================  ==================================================
paper                    here                     meaning
=======================  =======================  ==================================================
X_l                      ``x`` (S, d), by rows    outputs of block l, (d, n), a column a sample
X^(1)_l, X^(2)_l         ``X1``, ``X2``           first and second half of the units, (d/2, n)
W^(1)_l, W^(2)_l         ``W1``, ``W2``           trained weights of block l, (d/2, d')
V^(2)_{l-1}, V^(1)_l     ``V2``, ``V1``           fixed, (d', d/2); ``Va``, ``Vb`` of a block of
                                                  ``net.blocks``
sigma(V X)               ``S1``, ``S2``           features of a half-coupled layer, (d', n)
L                        ``blocks``               number of blocks; in (28)-(32) Lipschitz constants
n                        ``len(x)``               number of samples of a batch, S elsewhere
d_y                      ``outputs``              number of outputs of a sample, C elsewhere
eps                      ``eps`` (n d_y,)         gradient of the SUM of losses in the outputs
J^+, J^\dashv            ``inverse=``             inverses of J, (p, n d_y): ``"moore-penrose"``,
                                                  ``"right"``
alpha                    ``learning_rate``        step size; 1/L is in the direction of (16)-(17)
(not in the paper)       ``readout``, ``U``       fixed: f = U x_L, as in the authors' code
f(x_i, theta)            ``net(x)`` (S, C)        outputs of sample i; in bold all of them, (n d_y,)
theta                    ``theta`` (P,)           all parameters: w_1, ..., w_L
p                        ``net.size``             number of parameters
\ell(y_i, f)             ``loss.value`` (S,)      loss of one sample; elsewhere l counts blocks
y_i                      ``y`` (S, C)             target of sample i
J                        ``J`` (n d_y, p)         derivative of all outputs in all parameters; J_l:
                                                  in those of block l
H                        ``H`` (n d_y, n d_y)     Hessian of the summed loss in the outputs; I for
                                                  squares
A                        ``A``                    matrix of (22), (n d_y, n d_y); in (40), with B
                                                  and C, a block of the triangle, (h n, h d')
B                        ``eq_65_66_B``           derivative of x^(2)_l in w^(1)_l, (h n, h d'),
                                                  h = d/2
C                        ``eq_59_kronecker``      derivative of x^(2)_l in w^(2)_l, (h n, h d')
d                        ``x.shape[1]``           width of a block, even; d': rows of V
k                        ``k``                    sums over features, 1 to d', in (66)-(79)
t                        ``time``                 time of a flow; as an index, the step
K                        ``K``                    2 L / max |theta''|, a number, in the bound (28)
\mathcal R               ``R``                    vector (d n,) as a matrix (d, n)
\Delta^{(1)}_l           ``Delta1`` (d/2, d')     change of W^(1)_l but for -alpha / L
\Lambda                  ``eq_54_remainder``      lower left block of (47), (h n, h n)
S, S'                    ``S1``, ``slope2``       features and their slopes, (d', n), in Appendix N
W_{l,G}                  ``W2``                   W^(2)_l as Appendix N calls it, (d/2, d')
\lambda_{\max}           ``strength``             largest eigenvalue of the Gram matrix of features:
                                                  Tikhonov damping is a part of it
x_l                      ``vec``                  outputs of block l as a vector, (d n,)
w_l                      ``vec``                  weights of block l as a vector, (d d',)
l, i, j, a, b            (indices)                l counts blocks; j and b samples, the others units
I                        ``np.eye``               identity; in Appendix N 1 where a condition holds
=======================  =======================  ==================================================

The package's objective is the mean over the batch; the paper's is the sum, and its eps is used
here: Gauss-Newton steps are n times longer than they would be with the mean. With a cross-entropy
the paper replaces the Hessian of the loss by the identity, and so does ``curvature="identity"``.
"""

from ...checks import close_names
from .eq_14_15_coupling import Coupling
from .eq_14_15_revmlp import RevMLP
from .method import GaussNewton, RankWarning, direction
from .section_5_kernel_and_cka import linear_cka, ntk

PAPER = "reversible-gauss-newton"
TITLE = ("Exact, Tractable Gauss-Newton Optimization in Deep Reversible Architectures Reveal Poor "
         "Generalization")
ALSO = "RevMLP"
ORDER = 4
AUTHORS = "Buffelli, McGowan, Xu, Cioba, Shiu, Hennequin, Bernacchia"
ABOUT = "Exact Gauss-Newton steps in closed form, because the network can be run backwards."
VERSION = ("NeurIPS 2024 (arXiv 2411.07979), formulas as printed, without related work and "
           "checklist")
FIGURE = "figure-1"
METHODS = {"gauss-newton": "GaussNewton"}
NETWORKS = ("RevMLP",)

__all__ = ["Coupling", "GaussNewton", "RankWarning", "RevMLP", "direction", "linear_cka", "ntk"]

__getattr__ = close_names.names(__name__)
