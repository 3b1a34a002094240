r"""EA-CG and the positive-curvature Hessian (Chen, Chou, Chang): Newton directions.

The Hessian of a layer's weights is, instance by instance, the Kronecker product of the outer
product of its inputs and the Hessian in its biases. The paper carries an average of the latter down
the network (the *expectation approximation*), corrects its negative eigenvalues where they arise
(*Pos-Eig*; the result is PCH), and solves the damped Newton system by conjugate gradients with the
mean input in the place of the inputs' second moment (*EA-CG*). Its rivals are here too: the Fisher
matrix of KFAC, the Gauss-Newton recursion of KFRA, and their Kronecker-factored inverse (KFI).

===================================  ===================== ==================================
paper                                here                  meaning
===================================  ===================== ==================================
W^t, b^t                             ``W`` (n, m), ``b``   layer t = 1..k: n outputs, m inputs
h_i^{t-1}                            ``X`` (S, m), rows    inputs of the layer
h'                                   ``slope``             derivative of the activation
h''                                  ``second_derivative`` its second (``saved.curvature``)
\nabla_{b^t} \xi_i                   ``g``, ``deltas``     gradient in the bias, (S, n)
\nabla^2_{b^t} \xi_i                 ``H`` (S, n, n)       exact, instance by instance
E_i[\widehat{\nabla^2_{b^t}} \xi_i]  ``B`` (n, n)          what a method carries down
EhhT^{t-1}                           ``A`` (m, m)          second moment of the inputs
E_i[h_i^{t-1}]                       ``mean`` (m,)         their mean
\alpha                               ``alpha``             weight of the identity in (9)
\gamma                               ``gamma``             Pos-Eig's factor
Vec                                  ``ravel(order="F")``  columns, mostly not needed
===================================  ===================== ==================================

PCH-1 is gamma = -1, PCH-2 is gamma = 0, both with absolute values at the top (``top_gamma``): only
so are the zeros in the last layer of the paper's tables possible.

Reading order of the formulas: ``hessians`` (4a)-(4c), (5); ``pos_eig`` Pos-Eig; ``curvatures`` (6),
(8a)-(8c), GN, Fisher; ``rules`` the same by layer; ``errors`` (7), (15)-(17), the metric of Tables
2-5; ``systems`` (9)-(11b) as printed; ``conjugate_gradients`` EA-CG, literally and in two
coefficients; ``closed_forms`` what replaces it; ``kronecker_inverse`` (12), (13); ``complexity``
Table 1; ``options``, ``solvers`` and ``direction`` all of it by name; ``matrix`` the curvature of
all parameters; ``posterior`` Laplace's approximation with it; ``optimizer``. ``products``,
``cholesky`` and ``loops`` are what makes it fast.

Every number is a check that runs, in ``equations``.
"""

from ...checks import guessed
from .curvatures import CURVATURES, POSITIVE, bias_curvatures
from .direction import direction
from .errors import layer_errors, total_error
from .matrix import matrix
from .optimizer import EACG
from .posterior import posterior
from .solvers import SOLVERS

PAPER = "ea-cg"

__all__ = ["CURVATURES", "EACG", "POSITIVE", "SOLVERS", "bias_curvatures", "direction",
           "layer_errors", "matrix", "posterior", "total_error"]

__getattr__ = guessed.names(__name__)
