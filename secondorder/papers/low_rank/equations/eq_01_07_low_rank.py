"""Section 2: (1)-(7), and (27), (28), (34)-(36), which derive them."""

import numpy as np

from ....exact import hessian
from ....ledger import AtMost, Case, Equal, Printed, PrintedShape, Property, equation
from ....nets import SquaredError
from .. import PAPER
from .. import eq_01_07_low_rank as eq
from ..eq_10_26_network import eq_13_output, every_eta
from ..eq_29_33_second_derivatives import eq_33_d2v
from ..layers import sample
from ..whole_hessian import SampleHessian
from . import reference
from .cases import (CLEAR, NetworkCase, against_jets, all_layers, batch, compared, network,
                    network_case, once, outside, pairs, scale_of_outputs, stacked)
from .conditions import STRAIGHT


@equation(PAPER, "1", "27",
          statement="The gradient in the output weights is the outer product of f_p and the last "
                    "outputs.",
          kind="identity", verdict="holds", implements=eq.eq_1_df_du, uses=("25",))
def equations_1_and_27(rng):
    # (1), (27)
    return against_jets(rng, eq.eq_1_df_du, lambda c: c.d(c.f, ("w", c.sample.n + 1)), once)


@equation(PAPER, "2",
          statement="The gradient in a hidden layer's weights; as printed f_p carries the index "
                    "of eta, and u is left with one that nothing else has.",
          kind="identity", verdict="erratum", weight="misprint",
          implements=(eq.eq_2_df_dw, eq.eq_2_as_printed), uses=("28",))
def equation_2(rng):
    case = network_case(rng, "relu", sizes=(4, 3, 3, 3, 3))
    layers = range(1, case.sample.n + 1)
    corrected, printed = (stacked(rule(case.sample, k) for k in layers)
                          for rule in (eq.eq_2_df_dw, eq.eq_2_as_printed))
    right = stacked(df_dw(case, k) for k in layers)
    literal = stacked(f_p_on_the_same_index(case, k) for k in layers)
    return [Equal("corrected, against jets", corrected, right, case.tolerance),
            Equal("the printed form is what its indices say", printed, literal, case.tolerance),
            Printed(Equal("as printed, layers as wide as the output, against jets", printed, right,
                          CLEAR)),
            case.live()]


def df_dw(case, k):
    return case.d(case.f, ("w", k))


def f_p_on_the_same_index(case, k):
    """The printed product by loops: i on f_p and eta, l on u alone and summed."""
    s, v = case.sample, case.sample.v[k - 1]
    through = s.u.sum(axis=0) @ case.eta(s.n, k)
    return [[s.f_p[i] * through[i] * v[j] for j in range(len(v))] for i in range(len(through))]


@equation(PAPER, "28",
          statement="The gradient in a hidden layer's weights: what arrives from above times the "
                    "inputs.",
          kind="identity", verdict="holds", implements=eq.eq_2_df_dw, uses=("24", "26"))
def equation_28(rng):
    return against_jets(rng, eq.eq_2_df_dw, df_dw, all_layers)


@equation(PAPER, "3", "34",
          statement="The block of the output weights: f_pp between two outer products of the last "
                    "outputs.",
          kind="identity", verdict="holds", implements=eq.eq_3_uu, uses=("25", "27"))
def equations_3_and_34(rng):
    # (3), (34)
    return against_jets(rng, eq.eq_3_uu, NetworkCase.block, once, scale=scale_of_outputs)


@equation(PAPER, "4", "6", "7", "35",
          statement="The blocks between output and hidden weights: two outer products, of a "
                    "matrix and two vectors each; true for every activation.",
          kind="identity", verdict="holds", implements=(eq.eq_4_uw, eq.eq_6_uw, eq.eq_7_a),
          uses=("24", "25", "26", "27"))
def equations_4_6_7_and_35(rng):
    return compared(rng, ("(4), (35) against jets", eq.eq_4_uw, NetworkCase.block, all_layers),
                    ("(6) against jets", eq.eq_6_uw, NetworkCase.block, all_layers),
                    ("(7) against loops over its four indices", eq.eq_7_a, a_by_loops, all_layers))


def a_by_loops(case, k):
    """sum over l and m of f_pp[i, l] u[l, m] eta[m, s]."""
    f_pp, u, eta = case.sample.f_pp, case.sample.u, case.eta(case.sample.n, k)
    return [[sum(f_pp[i, l] * u[l, m] * eta[m, s] for l, m in np.ndindex(u.shape))
             for s in range(eta.shape[1])] for i in range(len(f_pp))]


@equation(PAPER, "5", "36",
          statement="The blocks between hidden weights where A'' = 0: f_pp between all pairs of "
                    "layers, and one more outer product where the layers differ.",
          condition=STRAIGHT,
          kind="identity", verdict="conditional",
          implements=(eq.eq_5_ww, eq.eq_5_first_line, eq_33_d2v),
          uses=("24", "26", "28", "33"))
def equations_5_and_36(rng):
    # (5), (36)
    return [*compared(rng, ("all pairs of layers, against jets", eq.eq_5_ww, NetworkCase.block,
                            pairs), activations=("relu",)),
            outside("tanh", eq.eq_5_ww, NetworkCase.block, pairs(3), network_case(rng, "tanh"))]


@equation(PAPER, "claim-low-rank",
          where="section 2, after (2) and (7): outer products, sample by sample",
          statement="The Hessian of a sample has a rank that grows with the widths, not with the "
                    "number of weights. A batch has a larger rank.",
          kind="claim", verdict="holds", ours=True,
          implements=(eq.rank_bound, SampleHessian.rank), uses=("3", "4", "5"))
def claim_low_rank(rng):
    claims = []
    for d in (3, 5, 9):
        model = (network(rng, "tanh", (4, d, d, d)), SquaredError(), rng.normal(size=(1, 4)),
                 rng.normal(size=(1, d)))
        dense, name = dense_rank(*model), f"tanh, squared, width {d}"
        claims += [Equal("the bound against the rank of the dense matrix, which meets it",
                         eq.rank_bound((d, d, d)), dense, 1e-12, case=name),
                   Equal("rank from the factors against the dense matrix",
                         SampleHessian(*model).rank(1e-10), dense, 1e-12, case=name)]
    net, loss, x, y = batch(rng, "relu", (6, 6, 6, 6, 4), samples=8).model
    one, eight = (dense_rank(net, loss, x[:k], y[:k]) for k in (1, 8))
    return [*claims,
            AtMost("rank against the bound", one, eq.rank_bound((6, 6, 6, 4)),
                   case="ReLU, softmax"),
            Property("the rank of eight samples is larger", bool(eight > one)),
            Case(weights=net.size, rank_of_one=one, rank_of_eight=eight)]


def dense_rank(network, loss, x, y):
    """Rank of the dense Hessian, by its singular values."""
    sizes = np.linalg.svd(hessian(network, loss, x, y, method="products"), compute_uv=False)
    return int(np.count_nonzero(sizes > 1e-10 * sizes[0]))


@equation(PAPER, "u-output",
          where="section 2, below (2): where p is introduced",
          statement="What the softmax acts on, where section 2 introduces it: u has the indices "
                    "of its transpose, unlike in (1), (13) and (26).",
          kind="definition", verdict="erratum", weight="misprint", implements=eq_13_output,
          uses=())
def u_output(rng):
    claims = compared(rng, ("corrected, against loops", lambda s: eq_13_output(s.u, s.v[s.n]),
                            lambda c: reference.values(c.p), once))
    case, square = network_case(rng, "relu"), network_case(rng, "tanh", sizes=(4, 3, 3, 3))
    u, v = square.sample.u, square.sample.v[-1]
    literal = [sum(u[i, j] * v[i] for i in range(3)) for j in range(3)]
    return [*claims,
            PrintedShape("the upper index of u, as printed, and v's",
                         case.sample.u.shape[:1], case.sample.v[-1].shape),
            Printed(Equal("a last layer as wide as the output: as printed, against loops", literal,
                          reference.values(square.p), CLEAR))]


@equation(PAPER, "u-etas",
          where="section 2, below (5)",
          statement="So many matrices eta between hidden layers are needed (of each sample): 45 "
                    "for ten hidden layers, 190 for twenty.",
          kind="claim", verdict="holds", implements=(eq.number_of_etas, every_eta),
          uses=("5", "23"))
def u_etas(rng):
    claims = compared(rng, ("eta against jets", lambda s, k, l: every_eta(s)[k, l], NetworkCase.eta,
                            lambda n: [(k, l) for k, l in pairs(n) if k >= l]))
    counts = []
    for n in (3, 10, 20):
        etas = every_eta(sample(batch(rng, "tanh", (2,) * (n + 2), samples=1).at)).values()
        counts.append(sum(np.abs(eta - np.diag(np.diag(eta))).max() > 0 for eta in etas))
    return [*claims, Equal("matrices that are neither zero nor diagonal, three depths", counts,
                           [eq.number_of_etas(n) for n in (3, 10, 20)], 1e-12)]
