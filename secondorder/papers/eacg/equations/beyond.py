"""Beyond the paper: exact solutions, order, and where EA-CG is plain gradient descent."""

import numpy as np
from scipy.linalg import polar

from ....ledger import AtMost, Case, Equal, Stated
from .. import beyond, eq_09_11_ea_cg as eq
from ..eq_04_hessian import exact_step, mean_of_instances
from ..eq_05_07_expectation import expectation
from ..eq_08_pch import pch
from ..eq_12_13_kfac_kfra import gauss_newton
from ..eq_14_experiments import layer_error
from ..method import CURVATURES, clipped, direction
from . import cases, reference
from .cases import equation

ALPHA = 0.05


@equation(
    "extension-closed-11b", kind="identity", verdict="holds", ours=True, uses=("10b", "11b"),
    statement="The system with (11b) has a closed form: one small system along the mean input, the "
              "gradient over alpha across it.",
    implements=Stated(beyond.closed_form, "x"))
def extension_closed_11b(rng):
    B, X, _, G = cases.layer(rng)
    m = X.mean(axis=0)
    D = beyond.closed_form(B, G, X, ALPHA).x
    u = np.linalg.solve(reference.damped((m @ m) * B, ALPHA), -G @ m)
    yield Equal("against a dense solve", D, reference.dense(np.outer(m, m), B, G, ALPHA), 1e-11)
    yield Equal("the first form", D, -(G + (1 - ALPHA) * np.outer(B @ u, m)) / ALPHA, 1e-11)
    yield Equal("D m = u", D @ m, u, 1e-11)
    yield Equal("mean input 0: the gradient over alpha",
                beyond.closed_form(B, G, np.vstack([X, -X]), ALPHA).x, -G / ALPHA, 1e-14)
    yield Case(B=B, G=G, m=m)


@equation(
    "extension-exact-11a", kind="identity", verdict="holds", ours=True, uses=("10b", "11a"),
    statement="The system with (11a) is solved exactly by the eigenvectors of both factors.",
    implements=Stated(beyond.exact_form, "x"))
def extension_exact_11a(rng):
    B, X, _, G = cases.layer(rng)
    A = reference.second_moment(X)
    for what, l2 in ("against a dense solve", 0.0), ("with a penalty", 0.1):
        yield Equal(what, beyond.exact_form(B, G, X, ALPHA, l2).x,
                    reference.dense(A, B, G, ALPHA, l2), 1e-11)
    yield Case(A=A, B=B, G=G)


@equation(
    "extension-gram-11a", kind="identity", verdict="holds", ours=True, uses=("10b", "11a"),
    statement="Where inputs are wider than the batch, the Gram matrix of the instances replaces "
              "their second moment. A penalty's part of the gradient goes the same way.",
    implements=Stated(beyond.exact_form, "x"))
def extension_gram_11a(rng):
    B, X, deltas, G = cases.layer(rng, n=3, m=8, S=4)
    A, W, l2 = reference.second_moment(X), rng.normal(size=G.shape), 0.1
    K = X @ X.T / len(X)
    C = np.linalg.solve(reference.damped(np.kron(K, B), ALPHA),
                        -reference.vec(deltas.T / len(X))).reshape(3, 4, order="F")
    # the penalty is not in the inputs' span
    yield Equal("against C X", beyond.exact_form(B, G, X, ALPHA).x, C @ X, 1e-11)
    yield Equal("with a penalty, against a dense solve",
                beyond.exact_form(B, G + l2 * W, X, ALPHA, l2).x,
                reference.dense(A, B, G + l2 * W, ALPHA, l2), 1e-10)
    yield Case(X=X, deltas=deltas, B=B)


@equation(
    "extension-loewner", kind="inequality", verdict="holds", ours=True, uses=("6", "8b", "u-kfra"),
    statement="PCH-1 is at least PCH-2, which is at least (6) and the Gauss-Newton recursion from "
              "the same top. Per-instance clipping is at least the exact mean.",
    implements=(pch, expectation, gauss_newton, clipped, beyond.clipped_step))
def extension_loewner(rng):
    for case in cases.variety(rng):
        one, two = (pch(*case.passes, gamma) for gamma in (-1.0, 0.0))
        six, newton = expectation(*case.passes), gauss_newton(*case.passes, convex=False)
        means = clipped(case.evaluation, case.all_layers)
        for what, large, small in (("PCH-1 - PCH-2", one, two), ("PCH-2 - (6)", two, six),
                                   ("PCH-2 - GN", two, newton),
                                   ("clipped - exact mean", means, case.exact_means())):
            yield AtMost("0 against the least eigenvalue of any layer", 0.0,
                         [np.linalg.eigvalsh(a - b)[0] / np.abs(a).max()
                          for a, b in zip(large, small)], scale=1.0, case=f"{case.name}, {what}")
        c = np.mean(case.layer(3).ddh * case.layer(3).h_bar, axis=0)
        for what, left, right, scale in (
                ("PCH-1 - PCH-2 below the top: the negative second-order terms",
                 np.diag(one[1] - two[1]), np.maximum(-c, 0), c),
                ("PCH-2 - GN there: the positive ones", np.diag(two[1] - newton[1]),
                 np.maximum(c, 0), c),
                ("PCH-1 - (6) in the top: twice the negative part", one[2] - six[2],
                 twice_negative(case), one[2])):
            yield case.equal(what, left, right, 1e-11, scale=scale)
    for case in cases.various(rng):
        means = clipped(case.evaluation, case.all_layers)
        matrices = [reference.absolute(H, gamma=0.0) for H in reference.bias_hessians(case, 3)]
        for t in (3, 2, 1):
            yield case.equal("clipped, instance by instance", means[t - 1],
                             np.mean(matrices, axis=0), 1e-7, t)
            if t > 1:
                matrices = reference.steps_down(case.weights(t), matrices,
                                                *reference.below(case, t), gamma=0.0)
    yield Case(pch_1=one[0], pch_2=two[0])


def twice_negative(case):
    """Twice the negative part of the mean top block."""
    mean = case.top().mean(axis=0)
    return reference.absolute(mean) - mean


@equation(
    "extension-sgd-directions", kind="identity", verdict="holds", ours=True,
    uses=("extension-closed-11b",),
    statement="In every input direction across the mean input, EA-CG's exact direction is the "
              "gradient over alpha: plain gradient descent at rate eta / alpha.",
    implements=direction)
def extension_sgd_directions(rng):
    for case in cases.variety(rng):
        step = direction(*case.model, "pch-1", "ea-closed", ALPHA)
        gradient, blocks = reference.gradients(case).mean(axis=0), pch(*case.passes, -1.0)
        for t in (1, 3):
            D, G = (vector[case.layers[t - 1].weight] for vector in (step, gradient))
            mean = case.layer(t).h.mean(axis=0)
            across = np.linalg.svd(mean[None])[2][1:].T
            u = np.linalg.solve(reference.damped((mean @ mean) * blocks[t - 1], ALPHA), -G @ mean)
            yield case.equal("across the mean input", D @ across, -G @ across / ALPHA, 1e-10, t)
            yield case.equal("along it", D @ mean, u, 1e-9, t)
    yield Case(D=D, G=G)


@equation(
    "extension-two-coefficients", kind="identity", verdict="holds", ours=True, uses=("10b", "11b"),
    statement="Conjugate gradients on (11b) stay in the span of the gradient and of u m^T. They "
              "can run on one number and one vector, with the same iterates.",
    formula=r"D_j = s_j G + \mathbf{w}_j \mathbf{m}^T",
    implements=(Stated(eq.eq_10b_ea_cg, "x", "residual"),
                Stated(eq.eq_10b_ea_cg_as_printed, "x", "residual")))
def extension_two_coefficients(rng):
    B, X, _, G = cases.layer(rng)
    m, g = X.mean(axis=0), reference.vec(G)
    matrix = reference.damped(np.kron(np.outer(m, m), B), ALPHA)
    for iterations in (1, 2, 3):
        krylov = [np.linalg.matrix_power(matrix, k) @ g for k in range(iterations)]
        Q = np.linalg.qr(np.transpose(krylov))[0]
        d = Q @ np.linalg.solve(Q.T @ matrix @ Q, -Q.T @ g)
        left = np.linalg.norm(matrix @ d + g) / np.linalg.norm(g)
        for name, solver in (("in n + 1 numbers", eq.eq_10b_ea_cg),
                             ("on arrays as large as the weights", eq.eq_10b_ea_cg_as_printed)):
            found = solver(B, G, X, ALPHA, 0.0, eq.Limits(iterations, 1e-15))
            options = {"case": f"{name}, {iterations} iterations"}
            yield Equal("best in the Krylov space", reference.vec(found.x), d, 1e-9, **options)
            yield Equal("relative residual", found.residual, left, 1e-9, scale=1.0, **options)
    yield Case(B=B, G=G, m=m)


@equation(
    "extension-expectation-error", kind="claim", verdict="holds", ours=True,
    uses=("6", "pos-eig", "u-metric"),
    statement="With exact means in place of expectations (pch-mean) the metric's error is zero by "
              "construction. What remains of PCH's error is the expectation step and the signs, "
              "and (6) stands at the expectation step.",
    formula=r"B^t = \text{Pos-Eig}(\mathbb{E}_i[H_i^t])",
    implements=(mean_of_instances, layer_error))
def extension_expectation_error(rng):
    for case in [*cases.variety(rng), *cases.unusual(rng, ("eleven instances",
                                                           "chains in chains"))]:
        exact, six = case.exact_means(), expectation(*case.passes)
        mine = CURVATURES["pch-mean"](case.evaluation, case.all_layers, None)
        by_differences = [reference.mean_hessian(case, t) for t in (1, 2, 3)]
        in_parts = mean_of_instances(case.all_layers, case.top, exact_step, 4 * 16 * 8 * 3)
        for t, H in enumerate(by_differences, start=1):
            for what, B, wanted, tolerance in (
                    ("exact mean by differences, three instances at a time", in_parts[t - 1], H,
                     1e-7),
                    ("Pos-Eig of means by differences", mine[t - 1], reference.absolute(H), 1e-6)):
                yield case.equal(what, B, wanted, tolerance, t)
        off = [layer_error(B, H) for B, H in zip(mine, exact)]
        by_loops = reference.recursion(case, by_differences[-1], 1)[0]
        yield case.equal("error of the metric", off, np.zeros(3), 1e-12, scale=exact[-1])
        yield case.equal("error of (6) in layer 1, by loops and a polar factor",
                         layer_error(six[0], exact[0]),
                         np.linalg.norm(by_loops - polar(by_differences[0])[1]), 1e-6,
                         scale=exact[0])
    yield Case(exact=exact[0], mine=mine[0])
