"""Equations (9)-(11b): the damped Newton system, layer by layer, and products with its matrices."""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Stated
from .. import eq_09_11_ea_cg as eq
from ..eq_08_pch import block_diagonal, pch
from ..method import direction
from . import cases, reference
from .cases import equation, positive
from .conditions import CONSTANT, POSITIVE

ALPHA = 0.05


#: Limits of conjugate gradients that let them end at the solution.
FAR = {"max_cg": 400, "tolerance": 1e-13}


def unusual_directions(rng, moment, *solvers):
    """Claims on `direction` for unusual networks and batches, against (10a) and (10b) by dense
    solves; `moment` makes the inputs' factor.
    """
    for k, case in enumerate(cases.unusual(rng)):
        l2, expected = (0.0, 0.1)[k % 2], np.empty_like(case.theta)
        for _, one, B, h, G, g in reference.trained(case, reference.pch(case), l2):
            expected[one.weight] = reference.dense(moment(h), B, G, ALPHA, l2)
            if one.bias is not None:
                expected[one.bias] = np.linalg.solve(reference.damped(B, ALPHA, l2), -g)
        for solver in solvers:
            step = direction(*case.model, "pch-1", solver, ALPHA, l2=l2, **FAR)
            yield case._replace(name=f"{case.name}, {solver}, l2 = {l2:g}").equal(
                "unusual networks and batches, against dense solves", step, expected, 1e-6)


@equation(
    "9", kind="definition", verdict="conditional", condition=POSITIVE,
    uses=("u-newton", "u-block", "8a", "8b", "8c"),
    statement="The Newton system with a weighted mean of the curvature and the identity is "
              "positive definite, and its solution a descent direction.",
    implements=(eq.eq_9_damped, direction))
def equation_9(rng):
    def of_system(C):
        return eq.eq_9_damped(C, np.eye(len(C)), ALPHA)

    for case in cases.variety(rng):
        blocks = zip(case.all_layers, pch(*case.passes, -1.0))
        curvature = block_diagonal([one for layer, B in blocks
                                    for one in (reference.mean_kron(layer.h, [B] * 5), B)])
        matrix = (1 - ALPHA) * curvature + ALPHA * np.eye(len(curvature))
        by_columns = np.concatenate([reference.all_places(case, t) for t in (1, 2, 3)])
        mine = of_system(curvature)
        gradient, d = case.evaluation.gradient, direction(*case.model, "pch-1", "exact", ALPHA)
        yield case.equal("matrix of the system", mine, matrix, 1e-13)
        yield case.equal("solution, layer by layer, against a dense solve", d[by_columns],
                         np.linalg.solve(matrix, -gradient[by_columns]), 1e-11)
        yield AtMost("directional derivative along the solution against 0", d @ gradient, 0.0,
                     case=case.name)
    yield from unusual_directions(rng, reference.second_moment, "exact")
    yield Equal("a singular curvature: least eigenvalue is alpha",
                np.linalg.eigvalsh(of_system(cases.psd(rng, 4, 2)))[0], ALPHA, 1e-12)
    yield Counterexample(positive("the least eigenvalue, curvature -0.2 I",
                                  of_system(-0.2 * np.eye(3))))
    yield Case(matrix=mine, d=d)


@equation(
    "10a", kind="algorithm", verdict="holds", uses=("9",),
    statement="The system of a layer's bias.",
    implements=(Stated(eq.eq_10a_bias, "x"), Stated(eq.eq_10a_bias_compiled, "x")))
def equation_10a(rng):
    for l2 in (0.0, 0.1):
        B, g = cases.psd(rng, 4), rng.normal(size=4)
        d = np.linalg.solve(reference.damped(B, ALPHA, l2), -g)
        for name, solve in (("conjugate gradients", eq.eq_10a_bias),
                            ("compiled", eq.eq_10a_bias_compiled)):
            yield Equal(name, solve(B, g, ALPHA, l2, eq.Limits(50, 1e-12)).x, d, 1e-9,
                        case=f"l2 = {l2:g}")
    yield Case(B=B, g=g)


@equation(
    "10b", kind="algorithm", verdict="holds", uses=("9",),
    statement="The system of a layer's weights, over the columns of W; with a penalty, l2 I joins "
              "the curvature.",
    implements=(Stated(eq.eq_10b_cg, "x"), eq.damping))
def equation_10b(rng):
    for l2 in (0.0, 0.1):
        B, X, _, G = cases.layer(rng)
        matrix = reference.damped(np.kron(reference.second_moment(X), B), ALPHA, l2)
        mine = eq.eq_10b_cg(B, G, X, ALPHA, l2, eq.Limits(300, 1e-13)).x
        yield Equal("conjugate gradients against a dense solve", reference.vec(mine),
                    np.linalg.solve(matrix, -reference.vec(G)), 1e-8, case=f"l2 = {l2:g}")
        yield AtMost("directional derivative along the solution against 0", np.sum(mine * G), 0.0,
                     case=f"l2 = {l2:g}")
    yield Case(B=B, X=X, G=G)


@equation(
    "u-vec", where="Solving Linear Equation via EA-CG", kind="identity", verdict="holds", uses=(),
    statement="A Kronecker product times stacked columns is a product of three matrices.",
    formula=r"(C^T \otimes A)\text{Vec}(B) = \text{Vec}(ABC)",
    implements=(eq.vec_rule, eq.eq_11a_product))
def u_vec(rng):
    A, B, C = rng.normal(size=(3, 2)), rng.normal(size=(2, 4)), rng.normal(size=(4, 5))
    product = eq.eq_11a_product(A, B, C)
    yield Equal("columns one below the other", reference.vec(product),
                np.kron(C.T, A) @ reference.vec(B), 1e-13)
    yield Equal("the left side", eq.vec_rule(A, B, C), reference.vec(A @ B @ C), 1e-13)
    yield Equal("rows one after the other: the factors change places", product.ravel(),
                np.kron(A, C.T) @ B.ravel(), 1e-13)
    yield Case(A=A, B=B, C=C)


@equation(
    "11a", kind="identity", verdict="holds", uses=("8c", "10b", "u-vec"),
    statement="The product with the block of the weights, without forming it.",
    implements=(eq.eq_11a_product, eq.eq_11a_product_of_inputs, direction))
def equation_11a(rng):
    B, X, _, P = cases.layer(rng)
    A = reference.second_moment(X)
    product = np.kron(A, B) @ reference.vec(P)
    for what, mine in (("B P A", eq.eq_11a_product(B, P, A)),
                       ("from the inputs themselves", eq.eq_11a_product_of_inputs(B, P, X))):
        yield Equal(what, reference.vec(mine), product, 1e-13)
    yield from unusual_directions(rng, reference.second_moment, "cg")
    yield Case(B=B, P=P, X=X)


@equation(
    "11b", kind="approximation", verdict="conditional", condition=CONSTANT, uses=("11a",),
    statement="The same with the outer product of the mean input: what is left out is the inputs' "
              "covariance, so that (11b) never overestimates.",
    implements=(eq.eq_11b_product, direction))
def equation_11b(rng):
    B, X, _, P = cases.layer(rng)

    def block(X):
        return np.kron(reference.second_moment(X), B)

    def both(X):
        """(11b) and (11a) times P."""
        return (reference.vec(eq.eq_11b_product(B, P, X.mean(axis=0))),
                block(X) @ reference.vec(P))

    (mine, whole), rank_one = both(X), np.kron(reference.of_mean(X), B)
    yield Equal("product, column by column", mine, rank_one @ reference.vec(P), 1e-13)
    yield Equal("(11a) minus (11b): Cov(h) (x) B", whole - mine,
                block(X - X.mean(axis=0)) @ reference.vec(P), 1e-12)
    yield positive("the least eigenvalue of that difference", block(X) - rank_one)
    yield Equal("instances of one input: (11a)", *both(np.broadcast_to(X[0], X.shape)), 1e-12)
    # mean X / 4: (11b) has a tenth of (11a) or less
    yield Counterexample(Equal("inputs that vary: (11a)", *both(np.concatenate([X, -X / 2])), 1e-3))
    yield from unusual_directions(rng, reference.of_mean, "ea-cg", "ea-cg-printed",
                                  "ea-closed")
    yield Case(B=B, P=P, X=X)
