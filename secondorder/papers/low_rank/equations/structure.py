"""First derivatives and blocks of the Hessian as section 2 has them, (1)-(7), (34)-(36)."""


import numpy as np

from .... import exact
from ....ledger import (Case, Counterexample, Equal, Printed, Property, equation)
from .. import PAPER, first_derivatives, printed, relu
from ..factors import SampleHessian
from .cases import (CLEAR, STRAIGHT, TOLERANCE, network_case, pairs, stacked)


@equation(
    PAPER, "1", "27",
    statement="The gradient in the output weights is the outer product of f_p and the last "
              "outputs.",
    formula=r"\frac{\partial f}{\partial u_j^i} = \frac{\partial f}{\partial p^k} "
            r"\frac{\partial p^k}{\partial u_j^i} = \frac{\partial f}{\partial p^i} v^{(n),j}",
    kind="identity",
    verdict="holds",
    implements=(first_derivatives.df_du,),
)
def gradient_u(rng):
    claims = []
    for activation, loss in (("relu", "softmax"), ("tanh", "squared")):
        case = network_case(rng, activation, loss)
        claims.append(Equal(f"{activation}, {loss}: against jets", first_derivatives.df_du(
            case.sample), case.first(case.f, case.sample.n + 1), TOLERANCE))
    return [*claims, case.live()]


@equation(
    PAPER, "2",
    statement="The gradient in a hidden layer's weights; as printed f_p carries the index of eta, "
              "and u is left with one that nothing else has.",
    formula=r"\frac{\partial f}{\partial w_j^{(k),i}} = \frac{\partial f}{\partial p^i} u_m^l "
            r"\eta_i^{(n,k),m} v^{(k-1),j}",
    corrected=r"\frac{\partial f}{\partial w_j^{(k),i}} = \frac{\partial f}{\partial p^l} u_m^l "
              r"\eta_i^{(n,k),m} v^{(k-1),j}",
    kind="identity",
    verdict="erratum",
    weight="misprint",
    implements=(first_derivatives.df_dw, printed.df_dw),
)
def gradient_w_as_printed(rng):
    case = network_case(rng, "relu", sizes=(4, 3, 3, 3, 3))
    layers = range(1, case.sample.n + 1)
    right = stacked(case.first(case.f, k) for k in layers)
    literal = [_f_p_on_the_same_index(case.sample, k) for k in layers]
    made = stacked(printed.df_dw(case.sample, k) for k in layers)
    return [Equal("corrected, against jets", stacked(
        first_derivatives.df_dw(case.sample, k) for k in layers), right, TOLERANCE),
            Equal("the printed form is what its indices say", made, stacked(literal), TOLERANCE),
            Printed(Equal("as printed, layers as wide as the output, against jets",
                          made, right, CLEAR)),
            case.live()]


def _f_p_on_the_same_index(sample, k):
    """The printed product by loops: i on f_p and eta, l on u alone and summed."""
    eta, v = reference_eta(sample, k), sample.v[k - 1]
    through = sample.u.sum(axis=0) @ eta
    return np.array(
        [[sample.f_p[i] * through[i] * v[j] for j in range(len(v))] for i in range(len(through))])


def reference_eta(sample, k):
    """eta^(n,k) by multiplying slopes and weights from layer k upwards."""
    product = np.diag(sample.slope[k])
    for r in range(k + 1, sample.n + 1):
        product = sample.slope[r][:, None] * (sample.w[r] @ product)
    return product


@equation(
    PAPER, "3", "34",
    statement="The block of the output weights: f_pp between two outer products of the last "
              "outputs.",
    formula=r"\frac{\partial^2 f}{\partial u_j^i \partial u_t^s} = "
            r"\frac{\partial^2 f}{\partial p^k \partial p^l} \frac{\partial p^k}{\partial u_j^i} "
            r"\frac{\partial p^l}{\partial u_t^s} = \frac{\partial^2 f}{\partial p^i \partial "
            r"p^s} v^{(n),j} v^{(n),t}",
    kind="identity",
    verdict="holds",
    implements=(relu.block_uu,),
)
def block_uu(rng):
    claims = []
    for activation, loss in (("relu", "softmax"), ("tanh", "softmax"), ("softplus", "squared")):
        case = network_case(rng, activation, loss)
        last = case.sample.n + 1
        claims.append(Equal(f"{activation}, {loss}: against jets", relu.block_uu(case.sample),
                            case.second(case.f, last, last), TOLERANCE))
    return [*claims, case.live()]


@equation(
    PAPER, "4", "6", "7", "35",
    statement="The blocks between output and hidden weights: two outer products, of a matrix and "
              "two vectors each; true for every activation.",
    formula=r"\begin{aligned} \frac{\partial^2 f}{\partial u_j^i \partial w_t^{(k),s}} &= \left( "
            r"\frac{\partial f}{\partial p^i} \times \eta_s^{(n,k),j} \times v^{(k-1),t} \right) "
            r"+ \left( a_{is} \times v^{(n),j} \times v^{(k-1),t} \right) \\ "
            r"a_{is} &= \frac{\partial^2 f}{\partial p^i \partial p^l} u_m^l \eta_s^{(n,k),m} "
            r"\end{aligned}",
    kind="identity",
    verdict="holds",
    implements=(relu.block_uw, relu.coefficient_a),
)
def block_uw(rng):
    claims = []
    for activation, loss in (("relu", "softmax"), ("tanh", "softmax"), ("softplus", "squared")):
        case = network_case(rng, activation, loss)
        s, last = case.sample, case.sample.n + 1
        blocks = [relu.block_uw(s, k) for k in range(1, last)]
        claims.append(Equal(f"{activation}, {loss}: all hidden layers, against jets", stacked(
            blocks), stacked(case.second(case.f, last, k) for k in range(1, last)), TOLERANCE))
        a = stacked(relu.coefficient_a(s, k) for k in range(1, last))
        claims.append(Equal(f"{activation}, {loss}: a against loops over its four indices",
                            a, stacked(s.f_pp @ s.u @ reference_eta(s, k) for k in range(1, last)),
                            TOLERANCE))
    unfolded = [np.linalg.matrix_rank(np.moveaxis(block, 3, 0).reshape(block.shape[3],
                                                                       -1)) for block in blocks]
    return [*claims, Property("unfolded along t every block has rank one", set(unfolded), {1}),
            case.live()]


@equation(
    PAPER, "5", "36",
    statement="The blocks between hidden weights where the activation does not bend: f_pp between "
              "all pairs of layers, and one more outer product where the layers differ.",
    formula=r"\begin{aligned} \frac{\partial^2 f}{\partial w_j^{(k),i} \partial w_t^{(r),s}} &= "
            r"\frac{\partial^2 f}{\partial p^l \partial p^q} u_m^l \eta_i^{(n,k),m} v^{(k-1),j} "
            r"u_a^q \eta_s^{(n,r),a} v^{(r-1),t} \\ "
            r"&+ \frac{\partial f}{\partial p^l} u_m^l \times \begin{cases} \eta_s^{(n,r),m} "
            r"\eta_i^{(r-1,k),t} v^{(k-1),j} & r > k \\ 0 & r = k \\ "
            r"\eta_i^{(n,k),m} \eta_s^{(k-1,r),j} v^{(r-1),t} & r < k \end{cases} \end{aligned}",
    kind="identity",
    verdict="conditional",
    condition=STRAIGHT,
    implements=(relu.block_ww, relu.through_outputs, relu.d2v_dw_dw),
)
def block_ww(rng):
    found = {}
    for activation in ("relu", "tanh"):
        case = network_case(rng, activation)
        all_pairs = pairs(case.sample.n)
        found[activation] = (stacked(relu.block_ww(case.sample, k, r) for k, r in all_pairs),
                             stacked(case.second(case.f, k, r) for k, r in all_pairs))
        if activation == "relu":
            kept, own = (case,
                         [relu.block_ww(case.sample, k, k) for k in range(1, case.sample.n + 1)])
    least = min(np.linalg.eigvalsh(b.reshape(b.shape[0] * b.shape[1], -1))[0] for b in own)
    return [Equal("ReLU, all pairs of layers, against jets", *found["relu"], TOLERANCE),
            Counterexample(Equal("tanh", *found["tanh"], CLEAR)),
            Property("diagonal blocks have no negative eigenvalue", bool(least > -1e-12)),
            kept.live()]


@equation(
    PAPER, "claim-low-rank",
    where="section 2, after (2) and (7): outer products, sample by sample",
    statement="The Hessian of a sample has a rank that grows with the widths, not with the number "
              "of weights; that of a batch is larger.",
    formula=r"\operatorname{rank} H_b \le \sum_k (d_k + d_{k-1})",
    kind="claim",
    verdict="holds",
    ours=True,
    implements=(SampleHessian.rank,),
)
def low_rank(rng):
    case = network_case(rng, "relu", sizes=(6, 6, 6, 6, 4), samples=8)
    at = case.evaluation
    args = at.network, at.loss_function
    one = SampleHessian(*args, at.x[:1], at.y[:1])
    ranks = [np.linalg.matrix_rank(exact.hessian(*args, at.x[:k], at.y[:k]),
                                   tol=1e-10) for k in (1, 8)]
    bound = sum(sum(layer.weight.shape) for layer in at.network.layers[::2])
    return [Equal("rank of one sample, from its factors, against the dense matrix",
                  one.rank(1e-10), ranks[0], 1e-12),
            Property("at most the sum of the widths above and below every layer",
                     bool(ranks[0] <= bound)),
            Property("less than half of the number of weights",
                     bool(ranks[0] < at.network.size / 2)),
            Property("that of eight samples is larger", bool(ranks[1] > ranks[0])),
            Case(weights=at.network.size, rank_of_one=ranks[0], rank_of_eight=ranks[1])]
