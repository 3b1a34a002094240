r"""EA-CG and the positive-curvature Hessian (Chen, Chou, Chang): Newton directions.

The Hessian of a layer's weights is, instance by instance, the Kronecker product of the outer
product of its inputs and the Hessian in its biases. The paper carries an average of the latter down
the network (the *expectation approximation*), corrects its negative eigenvalues where they arise
(*Pos-Eig*; the result is PCH), and solves the damped Newton system by conjugate gradients with the
mean input in the place of the inputs' second moment (*EA-CG*). Its rivals are here too: the Fisher
matrix of KFAC, the Gauss-Newton recursion of KFRA, and their Kronecker-factored inverse (KFI).

===================================  ======================  =======================================
paper                                here                    meaning
===================================  ======================  =======================================
W^t                                  ``W`` (n, m)            weights of layer t = 1..k: n outputs, m
                                                             inputs
b^t                                  ``b`` (n,)              biases of layer t
w^t                                  ``direction`` (n m,)    weights of layer t as a vector, by
                                                             columns
h_i^{t-1}                            ``X`` (S, m), rows      inputs of layer t, outputs of the one
                                                             before
h'                                   ``slope`` (S, n)        derivative of the activation
h''                                  ``second_derivative``   second derivative of the activation,
                                                             (S, n)
\nabla_{b^t} \xi_i                   ``g``, ``deltas``       gradient in the bias, (S, n)
\nabla^2_{b^t} \xi_i                 ``H`` (S, n, n)         Hessian in the bias, exact, instance by
                                                             instance
E_i[\widehat{\nabla^2_{b^t}} \xi_i]  ``B`` (n, n)            mean Hessian in the bias that a method
                                                             carries down
\text{EhhT}^{t-1}                    ``A`` (m, m)            second moment of the inputs
E_i[h_i^{t-1}]                       ``mean`` (m,)           mean of the inputs
\alpha                               ``alpha``               weight of the identity in (9), a number
\gamma                               ``gamma``               factor of the negative eigenvalues in
                                                             Pos-Eig, a number
Vec                                  ``ravel(order="F")``    columns, mostly not needed
\theta                               ``theta`` (P,)          all parameters, layer by layer
f(\theta)                            ``objective``           function that Newton's method
                                                             minimises, a number
d^j                                  ``direction`` (P,)      Newton direction of step j
\eta                                 ``learning_rate``       step size: what multiplies the
                                                             direction
\xi_i                                ``loss.value`` (S,)     loss of instance i, a function of the
                                                             outputs h_i^k
C                                    ``BoundedCriterion``    criterion (14), a number an instance
\delta                               ``delta``               slope of the criterion (14), 5
\epsilon                             ``epsilon``             threshold of the criterion (14), 0.2
y_i                                  ``y`` (S, C)            target of instance i; with a hat the
                                                             softmax of the outputs
x_i                                  ``x`` (S, n_0)          inputs of instance i, h_i^0
F(\theta | x_i)                      ``net(x)`` (S, C)       outputs of the network; F_i^t: the
                                                             Fisher block (P_t, P_t) of layer t
n_t                                  ``n``                   number of units of layer t; n alone:
                                                             order of the matrix in Pos-Eig
k                                    ``len(layers)``         number of layers; k_1..k_s: the
                                                             coefficients (s,) of v in Property 1
l                                    ``len(x)``              number of instances
L                                    ``lipschitz``           bound on the slope of the activation,
                                                             in (7)
\sigma                               ``activation``          activation; h_i^t is its value
z                                    ``z`` (S, n)            argument of the activation, W h + b
v                                    ``v`` (P,)              sum of the eigenvectors of Property 1;
                                                             in (15)-(17) an index
u                                    (an index)              of an entry in (7) and (15)-(17),
                                                             beside v
\mu                                  (an index)              row of an entry of a matrix
\nu                                  (an index)              column of an entry of a matrix
\lambda_i                            ``eigenvalues`` (n,)    eigenvalues of the matrix in Pos-Eig,
                                                             those below 0 first
Q                                    ``eigh`` (n, n)         eigenvectors of the matrix in Pos-Eig,
                                                             one a row
\mathcal H^t                         ``A`` (m, m)            damped second moment of the inputs in
                                                             (12), a factor of KFI
\mathcal G^t                         ``B`` (n, n)            damped second moment of the gradients
                                                             in (12), a factor of KFI
\pi_t                                ``pi``                  how the damping is shared between the
                                                             factors of (12), a number
\beta                                (an index)              column of a weight's entry in
                                                             (4a)-(4c), beside alpha for the row
A                                    ``A`` (n, n)            symmetric matrix in Pos-Eig
A, B, C                              (any)                   matrices in the rule for Vec, A and B
                                                             elsewhere as above
P                                    ``P`` (n, m)            what a Kronecker product is applied to
                                                             in (11a) and (11b)
I                                    ``damping``             identity matrix of the order at hand
i, r, s                              (indices)               i counts instances, r and s units; s
                                                             alone: the number of vectors in
                                                             Property 1, of eigenvalues below 0
e_r                                  (not formed)            vector with a 1 at unit r, 0 elsewhere
g(k)                                 ``v``                   quadratic model along v in Property 1,
                                                             a number
===================================  ======================  =======================================

PCH-1 is gamma = -1, PCH-2 is gamma = 0, both with absolute values at the top (``top_gamma``): only
so are the zeros in the last layer of the paper's tables possible.

Reading order of the formulas: ``hessians`` (4a)-(4c), (5); ``pos_eig`` Pos-Eig; ``curvatures`` (6),
(8a)-(8c), GN, Fisher; ``rules`` the same by layer; ``errors`` (7), (15)-(17), the metric of Tables
2-5. In ``solvers``: ``systems`` (9)-(11b) as printed; ``conjugate_gradients`` EA-CG, literally and
in two coefficients; ``closed_forms`` what replaces it; ``kronecker_inverse`` (12), (13);
``by_name`` chooses, ``cholesky`` is fast. ``complexity`` Table 1; ``options`` and ``direction`` all
of it by name; ``matrix`` the curvature of all parameters; ``posterior`` Laplace's approximation
with it; ``optimizer``. ``products`` and ``compiled`` are what makes it fast.

Every number is a check that runs, in ``equations``.
"""

from ...checks import close_names
from .curvatures import CURVATURES, POSITIVE, bias_curvatures
from .direction import direction
from .errors import layer_errors, total_error
from .matrix import matrix
from .optimizer import EACG
from .posterior import posterior
from .solvers.by_name import SOLVERS

PAPER = "ea-cg"

__all__ = ["CURVATURES", "EACG", "POSITIVE", "SOLVERS", "bias_curvatures", "direction",
           "layer_errors", "matrix", "posterior", "total_error"]

__getattr__ = close_names.names(__name__)
