r"""Understanding and Exploiting the Low-Rank Structure of Deep Networks: Hessians and step lengths.

For one sample every derivative of a feedforward network is a sum of outer products: of layer
outputs ``v``, and of Jacobians ``eta`` of one layer's output in another's pre-activation. The paper
writes them out index by index and uses them for one number, the curvature along a search direction,
from which cubic regularisation finds the step length.

================  =========================  =======================================================
paper             here                       meaning
================  =========================  =======================================================
w_i^(k),j         ``w[k]`` (d_k, d_k-1)      weights of hidden layer k; upper index = row
u_i^j             ``u`` (C, d_n)             weights of the output, p = u v^(n)
v^(k)             ``v[k]`` (d_k,)            output of layer k, x for k = 0; with biases a 1 behind
A, A', A''        ``slope[k]``, ``bend[k]``  activation; its derivatives at w^(k) v^(k-1), (d_k,)
gamma^(k)         ``gamma`` (d_k, d_k)       slopes of the activation on a diagonal
beta^(k)          ``beta`` (d_k, d_k-1)      Jacobian of v^(k) in v^(k-1)
alpha^(k,l)       ``alpha`` (d_k, d_l)       Jacobian of v^(k) in v^(l)
eta^(k,l)         ``eta`` (d_k, d_l)         Jacobian of v^(k) in the argument of A in layer l
zeta^(k,l)        ``zeta`` (d_k, d_l)        (ours) the same of the argument of A in layer k
lambda^(k)        ``eq_67_lambda``           A'' on a diagonal, (d_k, d_k, d_k)
omega             ``omega`` (C, d_n)         part of the search direction g that belongs to u
phi^(k)           ``phi[k]`` (d_k, d_k-1)    part of the search direction g that belongs to w^(k)
alpha (a step)    ``s``, a *rate*            what multiplies the search direction g, a number
sigma             ``sigma``                  weight of the cubic term sigma |s|^3 / 6, a number
sigma (a stride)  ``sigma``                  vertical stride of the convolution (44)-(57), a number
tau               ``tau``                    horizontal stride of the convolution, a number
x                 ``x`` (d_0,)               inputs of one sample; in (44)-(57) an image, two axes
p^j               ``p`` (C,)                 outputs of the network, p = u v^(n)
f                 ``f_p``, ``f_pp``          objective of one sample; gradient (C,), Hessian (C, C)
F                 ``evaluation.loss``        mean of f over the batch, a number
n                 ``n``                      number of hidden layers: v^(n) feeds the outputs
k                 ``k``                      counts layers, as l, q and r do; columns in (44)-(57)
z                 ``z`` (s, t, l, k)         patch of the image (45)-(57); else A's argument
a_is              ``eq_7_a`` (C, d_k)        factor of the second outer product of (6)
H                 ``hessian`` (P, P)         Hessian of the objective in all weights
g                 ``g`` (P,)                 search direction; its parts are omega and phi^(k)
m_j(s_j)          ``eq_8_change``            cubic model of the objective after a step s, a number
delta_i^j         ``np.eye`` (d, d)          Kronecker delta: 1 where its indices agree, else 0
t                 ``s.n``                    time step of a recurrence, (58)-(65); else an index
y^j               ``y`` (C,)                 target of output j; with a hat the softmax of p
i, j, l, m, s     (indices)                  of units; l counts layers too
b, c, d, q, r     (indices)                  of units; q and r count layers too
a, h, c (ours)    ``a``, ``h``, ``c``        in (41) g^T df, g^T H g, sigma |g|^3; in (54) k_h, k_w
f_v, f_z (ours)   ``f_v``, ``f_z`` (S, d_k)  gradients of f behind and before an activation
================  =========================  =======================================================

The files bear the numbers of their displays. Start with `eq_01_07_low_rank`, what the paper is
about, or with `method`, what runs: it calls `eq_37_43_step_length`. All displays are of one sample;
means over a batch stand outside all products. ``equations`` has a check for each.
"""

from ...checks import close_names
from .eq_37_43_step_length import step_length
from .method import CubicRegularization, directional_curvature
from .whole_hessian import SampleHessian, hessian

PAPER = "low-rank"
TITLE = "Understanding and Exploiting the Low-Rank Structure of Deep Networks"
ALSO = "cubic regularization"
ORDER = 2
AUTHORS = "anonymous authors"
ABOUT = "Exact Hessians as outer products, index by index, and step lengths from them."
VERSION = ("the anonymous text under double-blind review, undated, with appendices; read as text "
           "extracted from it")
FIGURE = "figure-2"
METHODS = {"cubic-regularization": "CubicRegularization"}

__all__ = ["CubicRegularization", "SampleHessian", "directional_curvature", "hessian",
           "step_length"]

__getattr__ = close_names.names(__name__)
