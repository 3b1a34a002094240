"""Supplements B (ii) and C (ii), where the proofs misprint."""

import numpy as np

from ....ledger import Case, Equal, Printed, PrintedShape, Property
from .. import supplement_b_c as supplement
from . import cases, reference
from .cases import equation
from .eq_04_hessian import DIFFERENCES


@equation(
    "b-ii", where="Supplement B (ii), case 1", kind="proof-step", verdict="erratum",
    weight="misprint", uses=(),
    statement="In a bias's gradient a row of W^T, not a column, meets the gradient above.",
    implements=supplement.b_ii_bias_gradient_entry)
def b_ii(rng):
    for case in cases.various(rng):
        W, above, slope = (case.weights(3), reference.bias_gradients(case, 3),
                           reference.slopes(case, 2)[0])
        by_rows = np.stack([supplement.b_ii_bias_gradient_entry(W, above, slope, r)
                            for r in range(slope.shape[1])], axis=1)
        yield case.equal("rows of W^T, by complex steps", by_rows,
                         reference.bias_gradients(case, 2), 1e-12)
    W = cases.case(rng, sizes=(3, 5, 2)).weights(2)
    yield PrintedShape("a column of W^T against the gradient above", W.T[:, 0].shape, W[:, 0].shape)
    square = cases.case(rng, "tanh", "softmax", sizes=(3, 4, 4))
    by_columns = reference.slopes(square, 1)[0] * (reference.bias_gradients(square, 2)
                                                   @ square.weights(2).T)
    yield Printed(Equal("layers of one width: columns of W^T", by_columns,
                        reference.bias_gradients(square, 1), 1e-8))
    yield Case(W=W)


@equation(
    "c-ii", where="Supplement C", kind="proof-step", verdict="erratum", weight="misprint",
    uses=("u-backprop", "b-ii"),
    statement="The step (4b), entry by entry. Its range ends at t = 2, as there is no bias below "
              "the first layer. Its diagonal has a row of W^T.",
    implements=supplement.c_ii_part_1)
def c_ii(rng):
    case = cases.case(rng, "tanh", "bounded", sizes=(3, 4, 4, 3))
    H, (W, _, g, _, dh, ddh, _) = case.exact()[1], case.layer(2)
    printed, part_2 = np.zeros((2, *dh.shape, dh.shape[1]))
    for s, r in np.ndindex(dh.shape):
        printed[s, r, r] = ddh[s, r] * sum(W.T[q, r] * g[s, q] for q in range(len(W)))
        part_2[s, r] = dh[s] * (W.T @ H[s] @ (W[:, r] * dh[s, r]))
    part_1 = np.stack([supplement.c_ii_part_1(W, g, ddh, r) for r in range(W.shape[1])], axis=1)
    below = reference.bias_hessians(case, 1)
    yield Equal("both parts, by differences", part_1 + part_2, below, DIFFERENCES)
    yield Property("a network of one layer: the recursion ends there, no block belongs to b^0",
                   len(cases.case(rng, "tanh", "bounded", sizes=(3, 4)).exact()), 1)
    yield PrintedShape("an entry of W^T times the gradient, where a number is needed",
                       (W.T[0, 0] * g[0]).shape, ())
    yield Printed(Equal("layers of one width, s read as the index of the gradient, by differences",
                        printed + part_2, below, 1e-6))
    yield Case(W=W, g=g)
