"""First derivatives and blocks of the Hessian as section 2 has them, (1)-(7), (34)-(36)."""


import numpy as np

from .... import exact
from ....ledger import (AtMost, Case, Counterexample, Equal, Printed, PrintedShape, Property, Rate,
                        equation)
from ....nets import SquaredError
from .. import PAPER, first_derivatives, printed, quantities, relu
from ..factors import SampleHessian
from . import reference
from .cases import (CLEAR, STRAIGHT, TOLERANCE, jacobian_in_argument, kinds, network, network_case,
                    pairs, stacked)


@equation(
    PAPER, "1", "27",
    statement="The gradient in the output weights is the outer product of f_p and the last "
              "outputs.",
    formula=r"\begin{gathered} \frac{\partial f}{\partial u_j^i} = \frac{\partial f}{\partial "
            r"p^i} v^{(n),j} \\ \frac{\partial f}{\partial u_j^i} = \frac{\partial f}{\partial "
            r"p^k} \frac{\partial p^k}{\partial u_j^i} = \frac{\partial f}{\partial p^i} "
            r"v^{(n),j} \end{gathered}",
    kind="identity",
    verdict="holds",
    implements=(first_derivatives.df_du,),
)
def gradient_u(rng):
    claims = []
    for activation, loss in (("relu", "softmax"), ("tanh", "squared")):
        claims += [Equal("against jets", first_derivatives.df_du(case.sample),
                         case.first(case.f, case.sample.n + 1), TOLERANCE, case=name)
                   for name, case in kinds(rng, activation, loss)]
    return [*claims, network_case(rng, "tanh").live()]


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
    formula=r"\begin{gathered} \frac{\partial^2 f}{\partial u_j^i \partial u_t^s} = "
            r"\frac{\partial^2 f}{\partial p^i \partial p^s} v^{(n),j} v^{(n),t} \\ "
            r"\frac{\partial^2 f}{\partial u_j^i \partial u_t^s} = \frac{\partial^2 f}{\partial "
            r"p^k \partial p^l} \frac{\partial p^k}{\partial u_j^i} \frac{\partial p^l}{\partial "
            r"u_t^s} = \frac{\partial^2 f}{\partial p^i \partial p^s} v^{(n),j} v^{(n),t} "
            r"\end{gathered}",
    kind="identity",
    verdict="holds",
    implements=(relu.block_uu,),
)
def block_uu(rng):
    claims = []
    for activation, loss in (("relu", "softmax"), ("tanh", "softmax"), ("softplus", "squared")):
        for name, case in kinds(rng, activation, loss):
            last, v = case.sample.n + 1, np.abs(case.sample.v_bar[-1]).max()
            claims.append(Equal("against jets", relu.block_uu(case.sample),
                                case.second(case.f, last, last), TOLERANCE,
                                scale=v**2 * np.abs(case.sample.p).max(), case=name))
    return [*claims, case.live()]


@equation(
    PAPER, "4", "6", "7", "35",
    statement="The blocks between output and hidden weights: two outer products, of a matrix and "
              "two vectors each; true for every activation.",
    formula=r"\begin{gathered} \frac{\partial^2 f}{\partial u_j^i \partial w_t^{(k),s}} = "
            r"\frac{\partial f}{\partial p^i} \eta_s^{(n,k),j} v^{(k-1),t} + \frac{\partial^2 "
            r"f}{\partial p^i \partial p^l} v^{(n),j} u_m^l \eta_s^{(n,k),m} v^{(k-1),t} \\ "
            r"\frac{\partial^2 f}{\partial u_j^i \partial w_t^{(k),s}} = \left( \frac{\partial "
            r"f}{\partial p^i} \times \eta_s^{(n,k),j} \times v^{(k-1),t} \right) + \left( a_{is} "
            r"\times v^{(n),j} \times v^{(k-1),t} \right) \\ a_{is} = \frac{\partial^2 "
            r"f}{\partial p^i \partial p^l} u_m^l \eta_s^{(n,k),m} \\ \begin{aligned} "
            r"\frac{\partial^2 f}{\partial u_j^i \partial w_t^{(k),s}} &= \frac{\partial "
            r"f}{\partial p^i} \frac{\partial v^{(n),j}}{\partial w_t^{(k),s}} + \frac{\partial^2 "
            r"f}{\partial p^i \partial p^l} v^{(n),j} \frac{\partial p^l}{\partial v^{(n),m}} "
            r"\frac{\partial v^{(n),m}}{\partial w_t^{(k),s}} \\ &= \frac{\partial f}{\partial "
            r"p^i} \eta_s^{(n,k),j} v^{(k-1),t} + \frac{\partial^2 f}{\partial p^i \partial p^l} "
            r"v^{(n),j} u_m^l \eta_s^{(n,k),m} v^{(k-1),t} \end{aligned} \end{gathered}",
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
        claims.append(Equal("all hidden layers, against jets", stacked( blocks),
                            stacked(case.second(case.f, last, k) for k in range(1, last)),
                            TOLERANCE, case=f"{activation}, {loss}"))
        a = stacked(relu.coefficient_a(s, k) for k in range(1, last))
        claims.append(Equal("a against loops over its four indices", a, stacked(
            a_by_loops(s.f_pp, s.u, jacobian_in_argument(case, s.n, k)) for k in range(1, last)),
            TOLERANCE, case=f"{activation}, {loss}"))
        for name, other in kinds(rng, activation, loss):
            claims.append(Equal("biases, layers without activation: against jets", stacked(
                relu.block_uw(other.sample, k) for k in range(1, last)),
                stacked(other.second(other.f, last, k) for k in range(1, last)), TOLERANCE,
                case=name))
    unfolded = [np.linalg.matrix_rank(np.moveaxis(block, 3, 0).reshape(block.shape[3],
                                                                       -1)) for block in blocks]
    return [*claims, Property("unfolded along t every block has rank one", set(unfolded), {1}),
            case.live()]


def a_by_loops(f_pp, u, eta):
    """sum over l and m of f_pp[i, l] u[l, m] eta[m, s]."""
    found = np.zeros((len(f_pp), eta.shape[1]))
    for i, s in np.ndindex(found.shape):
        for l, m in np.ndindex(u.shape):
            found[i, s] += f_pp[i, l] * u[l, m] * eta[m, s]
    return found


@equation(
    PAPER, "5", "36",
    statement="The blocks between hidden weights where the activation does not bend: f_pp between "
              "all pairs of layers, and one more outer product where the layers differ.",
    formula=r"\begin{gathered} \begin{aligned} \frac{\partial^2 f}{\partial w_j^{(k),i} \partial "
            r"w_t^{(r),s}} &= \frac{\partial^2 f}{\partial p^l \partial p^q} u_m^l "
            r"\eta_i^{(n,k),m} v^{(k-1),j} u_a^q \eta_s^{(n,r),a} v^{(r-1),t} \\ &+ "
            r"\frac{\partial f}{\partial p^l} u_m^l \times \begin{cases} \eta_s^{(n,r),m} "
            r"\eta_i^{(r-1,k),t} v^{(k-1),j} & r > k \\ 0 & r = k \\ \eta_i^{(n,k),m} "
            r"\eta_s^{(k-1,r),j} v^{(r-1),t} & r < k \end{cases} \end{aligned} \\ \begin{aligned} "
            r"\frac{\partial^2 f}{\partial w_j^{(k),i} \partial w_t^{(r),s}} &= \frac{\partial^2 "
            r"f}{\partial p^l \partial p^q} \frac{\partial p^l}{\partial v^{(n),m}} "
            r"\frac{\partial v^{(n),m}}{\partial w_j^{(k),i}} \frac{\partial p^q}{\partial "
            r"v^{(n),a}} \frac{\partial v^{(n),a}}{\partial w_t^{(r),s}} + \frac{\partial "
            r"f}{\partial p^l} \frac{\partial p^l}{\partial v^{(n),m}} \frac{\partial^2 "
            r"v^{(n),m}}{\partial w_j^{(k),i} \partial w_t^{(r),s}} \\ &= \frac{\partial^2 "
            r"f}{\partial p^l \partial p^q} u_m^l \eta_i^{(n,k),m} v^{(k-1),j} u_a^q "
            r"\eta_s^{(n,r),a} v^{(r-1),t} \\ &+ \frac{\partial f}{\partial p^l} u_m^l \times "
            r"\begin{cases} \eta_s^{(n,r),m} \eta_i^{(r-1,k),t} v^{(k-1),j} & r > k \\ 0 & r = k "
            r"\\ \eta_i^{(n,k),m} \eta_s^{(k-1,r),j} v^{(r-1),t} & r < k \end{cases} "
            r"\end{aligned} \end{gathered}",
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
    claims = []
    for name, case in kinds(rng, "relu", "softmax"):
        claims.append(Equal("biases, layers without activation: against jets", stacked(
            relu.block_ww(case.sample, k, r) for k, r in all_pairs),
            stacked(case.second(case.f, k, r) for k, r in all_pairs), TOLERANCE, case=name))
    return [*claims, Equal("ReLU, all pairs of layers, against jets", *found["relu"], TOLERANCE),
            Counterexample(Equal("tanh", *found["tanh"], CLEAR)),
            Property("diagonal blocks have no negative eigenvalue", bool(least > -1e-12)),
            kept.live()]


class Scaled(SquaredError):
    """A multiple of the squared error: nothing but the size of its Hessian changes."""

    def __init__(self, factor):
        self.factor = factor

    def value(self, p, target):
        return self.factor * super().value(p, target)

    def gradient(self, p, target):
        return self.factor * super().gradient(p, target)

    def hessian(self, p, target):
        return self.factor * super().hessian(p, target)

    def hessian_product(self, p, target, v):
        return self.factor * super().hessian_product(p, target, v)


def dense_rank(network, loss, x, y):
    """Rank of the dense Hessian, by its singular values."""
    sizes = np.linalg.svd(exact.hessian(network, loss, x, y, method="products"), compute_uv=False)
    return int(np.count_nonzero(sizes > 1e-10 * sizes[0]))


def rank_bound(sizes):
    """d_1 + sum over k = 2..n+1 of (d_k + d_k-1 - 1)."""
    return sizes[1] + sum(a + b - 1 for a, b in zip(sizes[1:], sizes[2:]))


@equation(
    PAPER, "claim-low-rank",
    where="section 2, after (2) and (7): outer products, sample by sample",
    statement="The Hessian of a sample has a rank that grows with the widths, not with the number "
              "of weights; that of a batch is larger.",
    formula=r"\operatorname{rank} H_b \le d_1 + \sum_{k=2}^{n+1} (d_k + d_{k-1} - 1)",
    kind="claim",
    verdict="holds",
    ours=True,
    implements=(SampleHessian.rank,),
)
def low_rank(rng):
    claims, widths, grown = [], np.array([3, 6, 12]), []
    for d in widths:
        sizes = (4, d, d, d)
        net, name = network(rng, "tanh", sizes), f"tanh, squared, width {d}"
        args = net, SquaredError(), rng.normal(size=(1, 4)), rng.normal(size=(1, d))
        grown.append(SampleHessian(*args).rank(1e-10))
        claims += [Equal("rank from the factors against the dense matrix", float(grown[-1]),
                         float(dense_rank(*args)), 1e-12, case=name),
                   Equal("it is the bound itself", float(grown[-1]), float(rank_bound(sizes)),
                         1e-12, case=name)]
        for factor in (1e-9, 1e9):
            claims.append(Equal("a multiple of the loss: the same rank", float(SampleHessian(
                net, Scaled(factor), *args[2:]).rank(1e-10)), float(grown[-1]), 1e-12,
                case=f"{name}, times {factor:g}"))
    case = network_case(rng, "relu", sizes=(6, 6, 6, 6, 4), samples=8)
    at = case.evaluation
    args = at.network, at.loss_function
    one, eight = (dense_rank(*args, at.x[:k], at.y[:k]) for k in (1, 8))
    made = SampleHessian(*args, at.x[:1], at.y[:1]).rank(1e-10)
    return [*claims,
            Equal("ReLU, softmax: rank from the factors against the dense matrix", float(made),
                  float(one), 1e-12),
            AtMost("ReLU, softmax: rank against the bound", float(one),
                   float(rank_bound((6, 6, 6, 6, 4)))),
            Rate("the rank as widths grow (the weights: their square)", widths, grown, order=1,
                 tolerance=0.15),
            Property("that of eight samples is larger", bool(eight > one)),
            Case(weights=at.network.size, rank_of_one=one, rank_of_eight=eight)]


@equation(
    PAPER, "u-output",
    where="section 2, below (2): where p is introduced",
    statement="What the softmax acts on, where section 2 introduces it: the indices of u are those "
              "of its transpose, unlike in (1), (13) and (26).",
    formula=r"p^j = u_j^i v^{(n),i}",
    corrected=r"p^j = u_i^j v^{(n),i}",
    kind="definition",
    verdict="erratum",
    weight="misprint",
    implements=(quantities.quantities,),
)
def output_transposed(rng):
    case, square = network_case(rng, "relu"), network_case(rng, "tanh", sizes=(4, 3, 3, 3))
    s = square.sample
    literal = [sum(s.u[i, j] * s.v[-1][i] for i in range(3)) for j in range(3)]
    return [Equal("corrected, against loops", case.sample.p, reference.values(case.p), TOLERANCE),
            PrintedShape("the upper index of u, as printed, and that of v",
                         case.sample.u.shape[:1], case.sample.v[-1].shape),
            Printed(Equal("a last layer as wide as the output: as printed, against loops", literal,
                          reference.values(square.p), CLEAR)),
            case.live()]


@equation(
    PAPER, "u-etas",
    where="section 2, below (5)",
    statement="So many matrices eta between hidden layers are needed (of each sample): 45 for ten "
              "hidden layers, 190 for twenty.",
    formula=r"\frac{n(n-1)}{2}",
    kind="claim",
    verdict="holds",
    implements=(quantities.eta,),
)
def number_of_etas(rng):
    claims, counts = [], []
    for n in (3, 10, 20):
        case = network_case(rng, "tanh", sizes=(2,) * (n + 2))
        made = {(r, k): quantities.eta(case.sample, r, k) for r, k in pairs(n)}
        full = [at for at, eta in made.items() if np.abs(eta - np.diag(np.diag(eta))).max() > 0]
        counts.append(len(full))
        if n == 3:
            claims.append(Equal("eta against jets", stacked(made.values()), stacked(
                jacobian_in_argument(case, r, k) if r >= k else np.zeros((2, 2))
                for r, k in made), TOLERANCE))
    return [*claims, Equal("matrices that are neither zero nor diagonal, three depths",
                           np.array(counts, float), np.array([3.0, 45.0, 190.0]), 1e-12),
            Case(n=(3, 10, 20), counted=counts)]
