r"""Understanding and Exploiting the Low-Rank Structure of Deep Networks: Hessians and step lengths.

For one sample every derivative of a feedforward network is a sum of outer products: of layer
outputs ``v``, and of Jacobians ``eta`` of one layer's output in another's pre-activation. The paper
writes them out index by index and uses them for one number, the curvature along a search direction,
from which cubic regularisation finds the step length.

================  ===========================  =====================================================
paper             here                         meaning
================  ===========================  =====================================================
w_i^(k),j         ``w[k]`` (d_k, d_k-1)        weights of hidden layer k; upper index = row
u_i^j             ``u`` (C, d_n)               weights of the output, p = u v^(n)
v^(k)             ``v[k]`` (d_k,)              output of layer k; v^(0) = x; ``v_bar`` has a 1
                                               behind it for the bias
A, A', A''        ``slope[k]`` and             activation and its derivatives at z^(k), (d_k,); in
                  ``second_derivative[k]``     saved tuples A'' is called ``curvature``
gamma^(k)         ``gamma`` (d_k, d_k)         slopes of the activation on a diagonal
beta^(k)          ``beta`` (d_k, d_k-1)        Jacobian of v^(k) in v^(k-1)
alpha^(k,l)       ``alpha`` (d_k, d_l)         Jacobian of v^(k) in v^(l)
eta^(k,l)         ``eta`` (d_k, d_l)           Jacobian of v^(k) in layer l's pre-activation
lambda^(k)        ``lambda_`` (d_k, d_k, d_k)  second derivatives of the activation, on a diagonal
omega             ``direction`` (P,)           part of the search direction g that belongs to u, (C,
                                               d_n)
phi^(k)           ``direction`` (P,)           part of the search direction g that belongs to w^(k),
                                               (d_k, d_k-1)
alpha (a step)    ``step_length``, a *rate*    what multiplies the search direction g, a number
sigma             ``sigma``                    weight of the cubic term sigma |s|^3 / 6, a number
sigma (a stride)  ``strides``                  vertical stride of the convolution (44)-(57), a
                                               number
tau               ``strides``                  horizontal stride of the convolution (44)-(57), a
                                               number
x                 ``x`` (d_0,)                 inputs of one sample; in (44)-(57) an image (rows,
                                               columns)
p^j               ``p`` (C,)                   outputs of the network, p = u v^(n)
f                 ``f_p``, ``f_pp``            objective of one sample, a function of p: gradient
                                               (C,), Hessian (C, C)
F                 ``objective``                mean of f over the batch, a number
n                 ``n``                        number of hidden layers: v^(n) feeds the outputs
k                 ``k``                        counts layers, as l, q and r do; a column of a kernel
                                               in (44)-(57)
z                 ``z[k]`` (d_k,)              argument of the activation; in (45)-(57) the patch of
                                               the image under a kernel
a_is              ``coefficient_a`` (C, d_k)   factor of the second outer product of (6)
H                 ``hessian`` (P, P)           Hessian of the objective in all weights
g                 ``direction`` (P,)           search direction; its parts are omega and phi^(k)
m_j(s_j)          ``model``                    cubic model of the objective after a step s, a number
delta_i^j         ``np.eye`` (d, d)            Kronecker delta: 1 where its indices agree, else 0
t                 ``steps``                    time step of a recurrence in (58)-(65); elsewhere an
                                               index
y^j               ``y`` (C,)                   target of output j; with a hat the softmax of p
i, j, l, m, s     (indices)                    of units; l counts layers too
b, c, d, q, r     (indices)                    of units; q and r count layers too
a, h, c (ours)    ``a``, ``h``, ``c``          in the corrected (41): slope g^T df, curvature
                                               g^T H g and sigma |g|^3; k_h, k_w: size of a
                                               kernel in (54)
================  ===========================  =====================================================

What the paper derives holds sample by sample; averages over a batch stand outside all products.

Reading order. The paper's objects: ``quantities`` (10)-(26), (67), (69)-(70); ``first_derivatives``
(1)-(2), (18), (24)-(28), (38); ``relu`` (3)-(7), (11), (17), (29)-(36); ``curved_activations``
(66)-(80); ``convolution`` (44)-(57); ``recurrence`` (58)-(65). What is misprinted stands beside the
correct form and is called ``..._as_printed``. Whole Hessians: ``factors`` (all blocks from the eta)
and ``sample_hessian`` (of one sample, never formed). The fast path: ``rules`` (what the method must
know of a layer), ``curvature`` ((38)-(39) in one tangent, at about the cost of a gradient),
``diagonal`` (Table 2), ``steps`` (9), (37), (40)-(41), ``joint_rates`` (one rate a layer). The
method: ``options``, ``optimizer``. Every number is a check in ``equations``.
"""

from ...checks import close_names
from .curvature import directional_curvature
from .factors import hessian
from .optimizer import CubicRegularization
from .sample_hessian import SampleHessian
from .steps import step_length

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
