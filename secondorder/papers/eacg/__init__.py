r"""EA-CG and the positive-curvature Hessian (Chen, Chou, Chang): Newton directions.

The Hessian of a layer's weights is, instance by instance, the Kronecker product of the outer
product of its inputs and the Hessian in its biases (4). The paper carries an average of the latter
down the network (6), corrects its negative eigenvalues where they arise (8), and solves the damped
Newton system (9) by conjugate gradients with the mean input in the place of the inputs' second
moment (11b). Its rivals KFAC and KFRA invert two Kronecker factors instead (12).

The files bear the numbers of their equations. Start with ``method``, which calls them in the
paper's order, or with ``eq_04_hessian``. ``equations`` has a check for every display.

===================================  ======================  =======================================
paper                                here                    meaning
===================================  ======================  =======================================
W^t                                  ``W`` (n, m)            weights of layer t = 1..k, n x m
b^t                                  ``b`` (n,)              biases of layer t
w^t                                  ``P``, ``D`` (n, m)     weights of layer t as a vector, columns
h_i^{t-1}                            ``h``, ``X`` (S, m)     inputs of layer t
h'                                   ``dh`` (S, m)           derivative of the activation
h''                                  ``ddh`` (S, m)          second derivative of the activation
\nabla_{b^t} \xi_i                   ``g`` (S, n)            gradient in the bias; ``h_bar``: W^T g
\nabla^2_{b^t} \xi_i                 ``H`` (S, n, n)         Hessian in the bias, by instance
E_i[\widehat{\nabla^2_{b^t}} \xi_i]  ``B`` (n, n)            mean of it that a method carries down
\text{EhhT}^{t-1}                    ``A`` (m, m)            second moment of the inputs
E_i[h_i^{t-1}]                       ``mean`` (m,)           mean of the inputs
\alpha                               ``alpha``               weight of the identity in (9)
\gamma                               ``gamma``               factor of negative eigenvalues
Vec                                  ``ravel(order="F")``    columns, mostly not needed
\theta                               ``theta`` (P,)          all parameters, layer by layer
f(\theta)                            ``value``               what Newton's method minimises
d^j                                  ``d`` (P,)              Newton direction of step j
\eta                                 ``learning_rate``       what multiplies the direction
\xi_i                                ``loss.value`` (S,)     loss of instance i, by its outputs
C                                    ``BoundedCriterion``    criterion (14), a number an instance
\delta                               ``delta``               slope of the criterion (14), 5
\epsilon                             ``epsilon``             threshold of the criterion (14), 0.2
y_i                                  ``y`` (S, C)            target; with a hat the outputs' softmax
x_i                                  ``x`` (S, n_0)          inputs of instance i, h_i^0
F(\theta | x_i)                      ``net(x)`` (S, C)       outputs; F_i^t: a Fisher block
n_t                                  ``n``                   units of layer t; n: order in Pos-Eig
k                                    ``len(layers)``         number of layers; k_1..k_s: Property 1
l                                    ``len(x)``              number of instances
L                                    ``L``                   bound on the activation's slope, in (7)
\sigma                               ``activation``          activation; h_i^t is its value
z                                    ``z`` (S, n)            argument of the activation, W h + b
v                                    ``v`` (P,)              vector of Property 1; in (15) an index
u                                    (an index)              of an entry, beside v
\mu                                  (an index)              row of an entry of a matrix
\nu                                  (an index)              column of an entry of a matrix
\lambda_i                            ``eigenvalues`` (n,)    in Pos-Eig, those below 0 first
Q                                    ``V`` (n, n)            eigenvectors: rows of Q, columns of V
\mathcal H^t                         ``H_t`` (m, m)          damped factor of the inputs in (12)
\mathcal G^t                         ``G_t`` (n, n)          damped factor of the gradients in (12)
\pi_t                                ``pi``                  how these two share the damping
\beta                                (an index)              column of a weight, alpha its row
A                                    ``A`` (n, n)            symmetric matrix in Pos-Eig
A, B, C                              (any)                   matrices in the rule for Vec
P                                    ``P`` (n, m)            what (11a) and (11b) multiply
I                                    ``damping``             identity matrix of the order at hand
i, r, s                              (indices)               instance, units; s: how many below 0
e_r                                  (not formed)            vector with a 1 at unit r, 0 elsewhere
g(k)                                 ``v``                   quadratic model along v in Property 1
===================================  ======================  =======================================
"""

from ...checks import close_names
from .eq_14_experiments import layer_errors, total_error
from .matrix import matrix
from .method import CURVATURES, EACG, POSITIVE, SOLVERS, bias_curvatures, direction
from .posterior import posterior

PAPER = "ea-cg"
TITLE = ("EA-CG: An Approximate Second-Order Method for Training Fully-Connected Neural "
         "Networks")
ORDER = 3
AUTHORS = "Sheng-Wei Chen, Chun-Nan Chou, Edward Y. Chang"
ABOUT = "A Hessian with its negative curvature corrected, solved by conjugate gradients."
VERSION = "the authors' text, undated, with supplement; read as text extracted from it"
FIGURE = "figure-2"
METHODS = {"ea-cg": "EACG"}

__all__ = ["CURVATURES", "EACG", "POSITIVE", "SOLVERS", "bias_curvatures", "direction",
           "layer_errors", "matrix", "posterior", "total_error"]

__getattr__ = close_names.names(__name__)
