"""All blocks at once, biases, and ranks: what goes further than the paper."""

from itertools import product

import numpy as np

from .... import exact
from ....ledger import Case, Equal, equation
from ....nets import Linear, SoftmaxCrossEntropy, mlp
from .. import PAPER, whole_hessian
from ..eq_01_07_low_rank import eq_3_uu, eq_4_uw
from ..eq_66_80_any_activation import eq_80_ww
from ..layers import sample
from ..whole_hessian import SampleHessian, generic_rank
from .cases import IN_PARTS, RELU, ROWS, at_each, kinds, pairs, rows, with_dense


@equation(PAPER, "extension-biases",
          where="section 2, after (7): biases would not change the structure",
          statement="A bias is the weight of one unit more in every layer, which is always 1: all "
                    "blocks have their biases, and no formula changes.",
          kind="identity", verdict="holds", ours=True,
          implements=(sample, eq_80_ww, eq_4_uw, eq_3_uu),
          uses=("78", "79", "80"))
def extension_biases(rng):
    claims = []
    for name, case in kinds(rng):
        network = case.evaluation.network
        if not any("bias" in layer.parameters for layer in network.layers):
            continue
        claims.append(Equal("all blocks against jets", at_each(block, case.sample, pairs(4)),
                            at_each(type(case).block, case, pairs(4)), case.tolerance, case=name))
        if case.evaluation.samples == 1:
            row = with_dense(name, case.evaluation, case.evaluation.gradient)
            claims.append(row.equal("the network's own weights and biases among them, against "
                                    "Hessian-vector products", assembled(case.sample, network),
                                    row.H))
    return [*claims, case.live()]


def block(s, k, r):
    """The block of layers k and r at a sample; n + 1 is the output."""
    n = s.n
    if k == r == n + 1:
        return eq_3_uu(s)
    if n + 1 in (k, r):
        block_of_u = eq_4_uw(s, min(k, r))
        return block_of_u if k == n + 1 else block_of_u.transpose(2, 3, 0, 1)
    return eq_80_ww(s, k, r)


def assembled(s, network):
    """All blocks as a matrix, in the order of theta: a layer's weights, then its biases."""
    H, places = np.empty(2 * (network.size,)), []
    for own, where in zip(network.layers, network.slices):
        if isinstance(own, Linear):
            weights, *biases = own.split(np.arange(where.start, where.stop))
            places.append(np.column_stack([weights, *biases]))
    for (k, above), (r, below) in product(enumerate(places, 1), repeat=2):
        own = block(s, k, r)[:len(above), :above.shape[1], :len(below), :below.shape[1]]
        H[np.ix_(above.ravel(), below.ravel())] = own.reshape(above.size, below.size)
    return H


@equation(PAPER, "extension-blocks",
          where="(33)-(36) and (66)-(80) in one formula",
          statement="One formula for all blocks, with the output as a layer. All second "
                    "derivatives above both layers stand between two outer products; where the "
                    "layers differ, there is one more.",
          kind="identity", verdict="holds", ours=True,
          implements=(whole_hessian.hessian, SampleHessian.__matmul__, SampleHessian.diagonal),
          uses=("78", "79", "80"))
def extension_blocks(rng):
    claims = []
    for row in [*rows(rng), *rows(rng, IN_PARTS), *rows(rng, RELU)]:
        claims += [row.equal("against Hessian-vector products", whole_hessian.hessian(*row.model),
                             row.H),
                   row.equal("with a penalty", whole_hessian.hessian(*row.model, l2=0.3),
                             row.H + 0.3 * np.eye(len(row.H)))]
    for row in rows(rng, {name: ROWS[name] | {"samples": 1} for name in (
            "middle layer frozen", "biases in some layers", "float32")}):
        alone = SampleHessian(*row.model)
        claims += [row.equal("one sample's, never formed: a product", alone @ row.direction,
                             row.H @ row.direction, row.curvature[1]),
                   row.equal("its diagonal", alone.diagonal(), np.diag(row.H),
                             np.abs(row.H).max())]
    return [*claims, Case(x=row.at.x, H=row.H)]


@equation(PAPER, "extension-rank",
          where="section 2: low rank for each sample",
          statement="How large the rank of a sample's Hessian is, with ReLU and cross-entropy: "
                    "the number of live units decides.",
          kind="identity", verdict="holds", ours=True,
          implements=(generic_rank, SampleHessian.rank), uses=("claim-low-rank", "11"))
def extension_rank(rng):
    claims = []
    for sizes in ((5, 4, 6, 3), (6, 7, 4), (4, 6, 5, 6, 4)):
        while True:
            net = mlp(list(sizes), activation="relu", bias=False, init=1.0, rng=rng)
            args = net, SoftmaxCrossEntropy(), rng.normal(size=(1, sizes[0])), np.array([1])
            live = [int((saved.slope > 0).sum()) for saved in net.evaluate(*args[1:]).saved[1::2]]
            if min(live) >= 2:
                break
        H, formula = exact.hessian(*args, method="products"), generic_rank(live, sizes[-1])
        name = f"live units {live}"
        claims += [Equal("the formula against the dense matrix", formula,
                         np.linalg.matrix_rank(H, tol=1e-11 * np.abs(H).max()), 1e-12, case=name),
                   Equal("from the factors against the formula",
                         SampleHessian(*args).rank(1e-11), formula, 1e-12, case=name)]
    return [*claims, Case(live_units=np.array(live), rank=formula, weights=net.size)]
