"""Equations (9)-(11b): the damped Newton system, layer by layer, and products with its matrices."""

import numpy as np
from scipy.linalg import block_diag

from ....ledger import AtMost, Case, Counterexample, Equal, Stated, equation
from .. import PAPER, eq_09_11_ea_cg as eq
from ..eq_08_pch import block_diagonal, pch
from ..method import direction
from . import cases, reference
from .conditions import CONSTANT, POSITIVE

ALPHA = 0.05


def blocks(case):
    """Blocks of weights and biases by (8a)-(8c)."""
    biases = pch(*case.passes, -1.0)
    return [reference.kron(reference.second_moment(case.inputs(t)), B)
            for t, B in enumerate(biases, start=1)], biases


def by_columns(case, vector):
    """A vector over theta in the paper's order: Vec(W^1), b^1, ..., Vec(W^k), b^k."""
    return vector[np.concatenate([reference.all_places(case, t)
                                  for t in range(1, case.depth + 1)])]


def dense_direction(case, moment, l2):
    """Over theta, what (10a) and (10b) give for PCH-1, by dense solves; `moment` makes the inputs'
    factor.
    """
    step = np.empty_like(case.theta)
    for _, one, B, h, G, g in reference.trained(case, reference.pch(case), l2):
        step[one.weight] = reference.dense(moment(h), B, G, ALPHA, l2)
        if one.bias is not None:
            step[one.bias] = reference.dense(np.eye(1), B, g[:, None], ALPHA, l2)[:, 0]
    return step


#: Limits of conjugate gradients that let them end at the solution.
FAR = {"max_cg": 400, "tolerance": 1e-13}


def unusual_directions(rng, moment, solvers):
    """Claims on `direction` for unusual networks and batches."""
    for k, case in enumerate(cases.unusual(rng)):
        l2 = (0.0, 0.1)[k % 2]
        expected = dense_direction(case, moment, l2)
        for solver in solvers:
            step = direction(*case.model, "pch-1", solver, ALPHA, l2=l2, **FAR)
            one = case._replace(name=f"{case.name}, {solver}, l2 = {l2:g}")
            yield one.equal("unusual networks and batches, against dense solves", step, expected,
                            1e-6)
            yield one.precise(step)


@equation(PAPER, "9",
          statement="The Newton system with a weighted mean of the curvature and the identity is "
                    "positive definite, and its solution a descent direction.",
          formula=r"\begin{gathered} ((1 - \alpha)\mathbb{E}_i[\widehat{\nabla_{\theta}^2} \xi_i] "
                  r"+ \alpha I) \mathbf{d}_{\theta} = -\mathbb{E}_i[\nabla_{\theta} \xi_i] \\ 0 < "
                  r"\alpha < 1 \end{gathered}",
          uses=("u-newton", "u-block", "8a", "8b", "8c"),
          kind="definition", verdict="conditional", condition=POSITIVE,
          implements=(eq.eq_9_damped, block_diagonal, direction))
def equation_9(rng):
    claims = []
    for case in cases.variety(rng):
        weights, biases = blocks(case)
        whole = block_diag(*(block for pair in zip(weights, biases) for block in pair))
        matrix = (1 - ALPHA) * whole + ALPHA * np.eye(len(whole))
        both = block_diagonal([one for pair in zip(weights, biases) for one in pair])
        mine = eq.eq_9_damped(both, np.eye(len(both)), ALPHA)
        gradient, d = case.evaluation.gradient, direction(*case.model, "pch-1", "exact", ALPHA)
        claims += [case.equal("matrix of the system", mine, matrix, 1e-13),
                   case.equal("solution, layer by layer, against a dense solve",
                              by_columns(case, d),
                              np.linalg.solve(matrix, -by_columns(case, gradient)), 1e-11),
                   AtMost("alpha against the least eigenvalue", ALPHA, np.linalg.eigvalsh(mine)[0],
                          case=case.name),
                   AtMost("directional derivative along the solution against 0", d @ gradient, 0.0,
                          case=case.name)]
    negative, singular = (eq.eq_9_damped(one, np.eye(len(one)), ALPHA)
                          for one in (-0.2 * np.eye(3), cases.psd(rng, 4, 2)))
    return [*claims,
            *unusual_directions(rng, reference.second_moment, ("exact",)),
            Equal("a singular curvature: least eigenvalue is alpha",
                  np.linalg.eigvalsh(singular)[0], ALPHA, 1e-12),
            Counterexample(AtMost("curvature -0.2 I: 0 against the least eigenvalue", 0.0,
                                  np.linalg.eigvalsh(negative)[0], scale=1.0)),
            Case(matrix=mine, d=d)]


@equation(PAPER, "10a",
          statement="The system of a layer's bias.",
          formula=r"((1 - \alpha)\mathbb{E}_i[\widehat{\nabla_{\mathbf{b}^t}^2 \xi_i}] + \alpha "
                  r"I)\mathbf{d}_{\mathbf{b}^t} = -\mathbb{E}_i[\nabla_{\mathbf{b}^t} \xi_i]",
          uses=("9",), kind="algorithm", verdict="holds",
          implements=(Stated(eq.eq_10a_bias, "x"), Stated(eq.eq_10a_bias_compiled, "x"),
                      Stated(eq.by_cg, "x"), direction))
def equation_10a(rng):
    claims = []
    for case in cases.variety(rng):
        step = direction(*case.model, "pch-1", "ea-cg-printed", ALPHA, **FAR)
        for t, B in enumerate(blocks(case)[1], start=1):
            g = reference.bias_gradients(case, t).mean(axis=0)
            d = np.linalg.solve((1 - ALPHA) * B + ALPHA * np.eye(len(B)), -g)
            claims += [*(case.equal(name, solve(B, g, ALPHA, 0.0, eq.Limits(50, 1e-12)).x, d, 1e-9,
                                    t) for name, solve in (("conjugate gradients", eq.eq_10a_bias),
                                                           ("compiled", eq.eq_10a_bias_compiled))),
                       case.equal("in the package's direction", step[case.layers[t - 1].bias], d,
                                  1e-7, t)]
    return [*claims, Case(B=B, g=g)]


@equation(PAPER, "10b",
          statement="The system of a layer's weights, over the columns of W; with a penalty, l2 I "
                    "joins the curvature.",
          formula=r"((1 - \alpha)\mathbb{E}_i[\widehat{\nabla_{\mathbf{w}^t}^2 \xi_i}] + \alpha "
                  r"I)\mathbf{d}_{\mathbf{w}^t} = -\text{Vec}(\mathbb{E}_i[\nabla_{\mathbf{w}^t} "
                  r"\xi_i])",
          kind="algorithm", verdict="holds",
          implements=(Stated(eq.eq_10b_cg, "x"), eq.damping), uses=("9",))
def equation_10b(rng):
    claims, limits = [], eq.Limits(300, 1e-13)
    for case, t, l2 in zip(cases.variety(rng), (1, 2, 3, 1), (0.0, 0.1, 0.0, 0.3)):
        A, B = (matrices[t - 1] for matrices in blocks(case))
        h, g, W = case.inputs(t), case.deltas(t), case.weights(t)
        G = g.T @ h / len(h) + l2 * W
        matrix = (1 - ALPHA) * (A + l2 * np.eye(len(A))) + ALPHA * np.eye(len(A))
        mine, options = eq.eq_10b_cg(B, G, h, ALPHA, l2, limits).x, {
            "case": f"{case.named(t)}, l2 = {l2:g}"}
        claims += [Equal("conjugate gradients against a dense solve", reference.vec(mine),
                         np.linalg.solve(matrix, -reference.vec(G)), 1e-8, **options),
                   AtMost("directional derivative along the solution against 0",
                          np.sum(mine * G), 0.0, **options)]
    return [*claims, Case(A=A, G=G)]


def factors(rng, n=3, m=4, S=6):
    """B (n, n), P (n, m) and inputs X (S, m)."""
    return cases.psd(rng, n), rng.normal(size=(n, m)), rng.normal(size=(S, m)) + 0.5


@equation(PAPER, "u-vec",
          where="Solving Linear Equation via EA-CG",
          statement="A Kronecker product times stacked columns is a product of three matrices.",
          formula=r"(C^T \otimes A)\text{Vec}(B) = \text{Vec}(ABC)",
          kind="identity", verdict="holds", implements=(eq.vec_rule, eq.eq_11a_product), uses=())
def u_vec(rng):
    A, B, C = rng.normal(size=(3, 2)), rng.normal(size=(2, 4)), rng.normal(size=(4, 5))
    product = eq.eq_11a_product(A, B, C)
    return [Equal("columns one below the other", reference.vec(product),
                  reference.kron(C.T, A) @ reference.vec(B), 1e-13),
            Equal("the left side", eq.vec_rule(A, B, C), reference.vec(A @ B @ C), 1e-13),
            Equal("rows one after the other: the factors change places", product.ravel(),
                  reference.kron(A, C.T) @ B.ravel(), 1e-13),
            Case(A=A, B=B, C=C)]


@equation(PAPER, "11a",
          statement="The product with the block of the weights, without forming it.",
          formula=r"\mathbb{E}_i[\widehat{\nabla_{\mathbf{w}^t}^2 \xi_i}]\text{Vec}(P) = "
                  r"\text{Vec}(\mathbb{E}_i[\widehat{\nabla_{\mathbf{b}^t}^2 \xi_i}] \cdot P "
                  r"\cdot \mathbb{E}_i[\mathbf{h}_i^{t-1} \otimes \mathbf{h}_i^{(t-1)T}])",
          uses=("8c", "10b", "u-vec"), kind="identity", verdict="holds",
          implements=(eq.eq_11a_product, eq.eq_11a_product_of_inputs, direction))
def equation_11a(rng):
    B, P, X = factors(rng)
    A = reference.second_moment(X)
    product = reference.kron(A, B) @ reference.vec(P)
    return [Equal("B P A", reference.vec(eq.eq_11a_product(B, P, A)), product, 1e-13),
            Equal("from the inputs themselves", reference.vec(
                eq.eq_11a_product_of_inputs(B, P, X)), product, 1e-13),
            *unusual_directions(rng, reference.second_moment, ("cg",)),
            Case(B=B, P=P, X=X)]


@equation(PAPER, "11b",
          statement="The same with the outer product of the mean input: what is left out is the "
                    "inputs' covariance, so that (11b) never overestimates.",
          formula=r"\approx \text{Vec}(\mathbb{E}_i[\widehat{\nabla_{\mathbf{b}^t}^2 \xi_i}] "
                  r"\cdot P \cdot \mathbb{E}_i[\mathbf{h}_i^{t-1}] \otimes "
                  r"\mathbb{E}_i[\mathbf{h}_i^{(t-1)T}])",
          uses=("11a",), kind="approximation", verdict="conditional", condition=CONSTANT,
          implements=(eq.eq_11b_product, direction))
def equation_11b(rng):
    B, P, X = factors(rng)
    same = np.broadcast_to(X[0], X.shape)
    varied = np.concatenate([X, -X / 2])  # mean X / 4: (11b) has a tenth of (11a) or less
    mean, at_same, at_varied = (h.mean(axis=0) for h in (X, same, varied))
    mine = reference.vec(eq.eq_11b_product(B, P, mean))
    left = reference.kron(reference.second_moment(X), B)
    rank_one = reference.kron(np.outer(mean, mean), B)
    return [Equal("product, column by column", mine, rank_one @ reference.vec(P), 1e-13),
            Equal("(11a) minus (11b): Cov(h) (x) B", left @ reference.vec(P) - mine,
                  reference.kron(reference.second_moment(X - mean), B) @ reference.vec(P), 1e-12),
            AtMost("0 against the least eigenvalue of that difference", 0.0,
                   reference.least(left - rank_one), scale=1.0),
            Equal("instances of one input: (11a)",
                  reference.vec(eq.eq_11b_product(B, P, at_same)),
                  reference.kron(reference.second_moment(same), B) @ reference.vec(P), 1e-12),
            Counterexample(Equal(
                "inputs that vary: (11a)", reference.vec(eq.eq_11b_product(B, P, at_varied)),
                reference.kron(reference.second_moment(varied), B) @ reference.vec(P), 1e-3)),
            *unusual_directions(rng, reference.outer_of_mean,
                                 ("ea-cg", "ea-cg-printed", "ea-closed")),
            Case(B=B, P=P, X=X)]
