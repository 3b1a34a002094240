r"""Understanding and Exploiting the Low-Rank Structure of Deep Networks: Hessians and step lengths.

For one sample every derivative of a feedforward network is a sum of outer products: of layer
outputs ``v``, and of Jacobians ``eta`` of one layer's output in another's pre-activation. The paper
writes them out index by index and uses them for one number, the curvature along a search direction,
from which cubic regularisation finds the step length.

==================  ==========================  =================================================
paper               here                        meaning
==================  ==========================  =================================================
w_i^(k),j           ``w[k]`` (d_k, d_k-1)       weights of hidden layer k; upper index = row
u_i^j               ``u`` (C, d_n)              weights of the output, p = u v^(n)
v^(k)               ``v[k]`` (d_k,)             output of layer k; v^(0) = x; ``v_bar`` has a 1
                                                behind it for the bias
A, A', A''          ``slope[k]`` and            the activation's derivatives at z^(k); in saved
                    ``second_derivative[k]``    tuples A'' is called ``curvature``
gamma, beta         ``gamma``, ``beta``         slopes on a diagonal; Jacobian of one layer
alpha^(k,l)         ``alpha`` (d_k, d_l)        Jacobian of v^(k) in v^(l)
eta^(k,l)           ``eta`` (d_k, d_l)          Jacobian of v^(k) in layer l's pre-activation
lambda^(k)          ``lambda_`` (d_k, d_k,      second derivatives of the activation, on a
                    d_k)                        diagonal
omega, phi^(k)      ``direction`` (P,)          the search direction g in u and in w^(k)
alpha (a step)      ``step_length``, a *rate*   what multiplies g
sigma               ``sigma``                   weight of the cubic term sigma |s|^3 / 6
sigma, tau          ``strides``                 vertical and horizontal stride of (44)-(57)
==================  ==========================  =================================================

What the paper derives holds sample by sample; averages over a batch stand outside all products.

Reading order. The paper's objects: ``quantities`` (10)-(26), (67), (69)-(70); ``first_derivatives``
(1)-(2), (18), (24)-(28), (38); ``relu`` (3)-(7), (11), (17), (29)-(36); ``curved`` (66)-(80);
``convolution`` (44)-(57); ``recurrence`` (58)-(65). What is misprinted stands beside the correct
form and is called ``..._as_printed``. Whole Hessians: ``factors`` (all blocks from the eta) and
``sample_hessian`` (of one sample, never formed). The fast path: ``rules`` (what the method must
know of a layer), ``curvature`` ((38)-(39) in one tangent, at about the cost of a gradient),
``diagonal`` (Table 2), ``steps`` (9), (37), (40)-(41). The method: ``options``, ``optimizer``.
Every number is a check in ``equations``.
"""

from ...checks import guessed
from .curvature import directional_curvature
from .factors import hessian
from .optimizer import CubicRegularization
from .sample_hessian import SampleHessian
from .steps import step_length

PAPER = "low-rank"

__all__ = ["CubicRegularization", "SampleHessian", "directional_curvature", "hessian",
           "step_length"]

__getattr__ = guessed.names(__name__)
