"""Beyond the paper: closed forms, ranks, order, and where EA-CG is plain gradient descent."""

import numpy as np
from scipy.linalg import polar

from ....ledger import AtMost, Case, Equal, Stated, equation
from .. import PAPER, curvatures, errors, hessians
from ..solvers import closed_forms, conjugate_gradients, systems
from ..direction import direction
from . import cases, reference

ALPHA = 0.05


def layer(rng, n=4, m=5, S=7):
    """B (n, n), inputs X (S, m), gradients of the bias (S, n), and the G (n, m) that follows."""
    B, X, deltas = cases.psd(rng, n), rng.normal(size=(S, m)) + 0.3, rng.normal(size=(S, n))
    return B, X, deltas, sum(np.outer(g, h) for g, h in zip(deltas, X)) / S


@equation(PAPER, "extension-closed-11b",
          statement="The system with (11b) has a closed form: one small system along the mean "
                    "input, the gradient over alpha across it.",
          formula=r"""\begin{aligned}
                  ((1-\alpha) q B + \alpha I) \mathbf{u} &= -G \mathbf{m}, \quad
                  q = |\mathbf{m}|^2 \\
                  D = -\tfrac{1}{\alpha}(G + (1-\alpha) B \mathbf{u} \mathbf{m}^T)
                  &= -\tfrac{1}{\alpha} (G - \tfrac{1}{q} G \mathbf{m} \mathbf{m}^T) + \tfrac{1}{q}
                  \mathbf{u} \mathbf{m}^T \end{aligned}""",
          kind="identity", verdict="holds", ours=True,
          implements=(closed_forms.rank_one_form_2, closed_forms.rank_one_form_1,
                      Stated(closed_forms.rank_one_coefficients, "0", "1"), systems.combined),
          uses=("10b", "11b"))
def extension_closed_11b(rng):
    B, X, _, G = layer(rng)
    m = X.mean(axis=0)
    D = reference.dense(np.outer(m, m), B, G, ALPHA)
    s, w = closed_forms.rank_one_coefficients(B, G, m, 1 - ALPHA, ALPHA)
    alone, across = closed_forms.rank_one_coefficients(B, G, 0 * m, 1 - ALPHA, ALPHA)
    return [Equal("second form", closed_forms.rank_one_form_2(B, G, m, 1 - ALPHA, ALPHA), D, 1e-11),
            Equal("its two coefficients", systems.combined(s, G, w, m), D, 1e-11),
            Equal("first form", closed_forms.rank_one_form_1(B, G, m, 1 - ALPHA, ALPHA), D, 1e-11),
            Equal("mean input 0: the gradient over alpha",
                  systems.combined(alone, G, across, 0 * m), -G / ALPHA, 1e-14),
            Case(B=B, G=G, m=m)]


@equation(PAPER, "extension-exact-11a",
          statement="The system with (11a) is solved exactly by the eigenvectors of both factors.",
          formula=r"""\begin{aligned}
                  D &= -U \left[ (U^T G V) \oslash ((1-\alpha) \mathbf{b} \mathbf{a}^T + \alpha)
                  \right] V^T, \\
                  A &= V \operatorname{diag}(\mathbf{a}) V^T, \quad
                  B = U \operatorname{diag}(\mathbf{b}) U^T \end{aligned}""",
          kind="identity", verdict="holds", ours=True,
          implements=(closed_forms.eigenvector_solution, closed_forms.spectral_solution),
          uses=("10b", "11a"))
def extension_exact_11a(rng):
    B, X, _, G = layer(rng)
    A, a = reference.second_moment(X), rng.uniform(0, 2, 5)
    return [Equal("against a dense solve",
                  closed_forms.eigenvector_solution(B, G, A, 1 - ALPHA, ALPHA),
                  reference.dense(A, B, G, ALPHA), 1e-11),
            Equal("a diagonal factor", closed_forms.spectral_solution(B, G, a, 1 - ALPHA, ALPHA),
                  reference.dense(np.diag(a), B, G, ALPHA), 1e-11),
            Case(A=A, B=B, G=G)]


@equation(PAPER, "extension-gram-11a",
          statement="Where inputs are wider than the batch, the Gram matrix of the instances "
                    "replaces their second moment. A penalty's part of the gradient goes the "
                    "same way.",
          formula=r"D = C X, \quad (1-\alpha) B C K + \alpha C = -\tfrac{1}{S} \Delta^T, \quad K "
                  r"= \tfrac{1}{S} X X^T",
          kind="identity", verdict="holds", ours=True,
          implements=(closed_forms.gram_coefficients, closed_forms.gram_remainder,
                      closed_forms.exact_solution), uses=("10b", "11a"))
def extension_gram_11a(rng):
    B, X, deltas, G = layer(rng, n=3, m=8, S=4)
    A, W, l2 = reference.second_moment(X), rng.normal(size=G.shape), 0.1
    C = closed_forms.gram_coefficients(B, deltas, X, 1 - ALPHA, ALPHA)
    system = systems.System(B, X, deltas, W, G + l2 * W, ALPHA, l2)
    return [Equal("C X against a dense solve", C @ X, reference.dense(A, B, G, ALPHA), 1e-11),
            Equal("a right side outside the inputs' span",
                  closed_forms.gram_remainder(B, W, X, 1 - ALPHA, ALPHA),
                  reference.dense(A, B, W, ALPHA), 1e-10),
            Equal("with a penalty", closed_forms.exact_solution(system),
                  reference.dense(A, B, G + l2 * W, ALPHA, l2), 1e-10),
            Case(X=X, deltas=deltas, B=B)]


@equation(PAPER, "extension-loewner",
          statement="PCH-1 is at least PCH-2, which is at least (6) and the Gauss-Newton "
                    "recursion from the same top. Per-instance clipping is at least the exact "
                    "mean.",
          formula=r"B_{\text{PCH-1}} \succeq B_{\text{PCH-2}} \succeq B_{(6)}, \quad "
                  r"B_{\text{PCH-2}} \succeq B_{\text{GN}}, \quad \mathbb{E}_i[H_i^+] \succeq "
                  r"\mathbb{E}_i[H_i]",
          kind="inequality", verdict="holds", ours=True,
          implements=(curvatures.pch, curvatures.expectation, curvatures.gauss_newton,
                      hessians.clipped_bias_hessians), uses=("6", "8b", "u-kfra"))
def extension_loewner(rng):
    claims = []
    for case in cases.variety(rng):
        one, two = (curvatures.pch(*case.passes, gamma) for gamma in (-1.0, 0.0))
        six, newton = curvatures.expectation(*case.passes), curvatures.gauss_newton(*case.passes)
        clipped = hessians.clipped_bias_hessians(*case.passes)
        for what, large, small in (("PCH-1 - PCH-2", one, two), ("PCH-2 - (6)", two, six),
                                   ("PCH-2 - GN", two, newton),
                                   ("clipped - exact mean", clipped, case.exact_means())):
            claims.append(AtMost("0 against the least eigenvalue of any layer", 0.0,
                                 [np.linalg.eigvalsh(a - b)[0] / np.abs(a).max()
                                  for a, b in zip(large, small)],
                                 scale=1.0, case=f"{case.name}, {what}"))
        c = np.mean(case.hidden(2).curvature * (case.deltas(3) @ case.weights(3)), axis=0)
        claims += [case.equal("PCH-1 - PCH-2 below the top: the negative second-order terms",
                              np.diag(one[1] - two[1]), np.maximum(-c, 0), 1e-11, scale=c),
                   case.equal("PCH-2 - GN there: the positive ones", np.diag(two[1] - newton[1]),
                              np.maximum(c, 0), 1e-11, scale=c),
                   case.equal("PCH-1 - (6) in the top: twice the negative part", one[2] - six[2],
                              twice_negative(case), 1e-11, scale=one[2])]
    for case in [*cases.variety(rng), *cases.unusual(rng)]:
        means = hessians.clipped_bias_hessians(*case.passes)
        matrices = [reference.absolute(H, gamma=0.0) for H in reference.bias_hessians(case, 3)]
        for t in (3, 2, 1):
            claims.append(case.equal("clipped, instance by instance", means[t - 1],
                                     np.mean(matrices, axis=0), 1e-7, t))
            if t > 1:
                matrices = reference.steps_down(case.weights(t), matrices,
                                                *reference.step_arguments(case, t), gamma=0.0)
    return [*claims, Case(pch_1=one[0], pch_2=two[0])]


def twice_negative(case):
    """Twice the negative part of the mean top block."""
    mean = case.top().mean(axis=0)
    return reference.absolute(mean) - mean


@equation(PAPER, "extension-sgd-directions",
          statement="In every input direction across the mean input, EA-CG's exact direction is "
                    "the gradient over alpha: plain gradient descent at rate eta / alpha.",
          formula=r"D \mathbf{z} = -\tfrac{1}{\alpha} G \mathbf{z} \quad \text{for } \mathbf{z} "
                  r"\perp \mathbf{m}",
          kind="identity", verdict="holds", ours=True,
          implements=(closed_forms.rank_one_form_2, direction), uses=("extension-closed-11b",))
def extension_sgd_directions(rng):
    claims = []
    for case in cases.variety(rng):
        step = direction(*case.model, "pch-1", "ea-closed", ALPHA)
        gradient = reference.gradients(case, np.arange(len(step))).mean(axis=0)
        blocks = curvatures.pch(*case.passes, -1.0)
        for t in (1, 3):
            D, G = (vector[case.layers[t - 1].weight] for vector in (step, gradient))
            B, mean = blocks[t - 1], case.inputs(t).mean(axis=0)
            across = np.linalg.svd(mean[None])[2][1:].T
            u = np.linalg.solve((1 - ALPHA) * (mean @ mean) * B + ALPHA * np.eye(len(B)), -G @ mean)
            literal = closed_forms.rank_one_form_2(B, G, mean, 1 - ALPHA, ALPHA)
            for one, origin in ((literal, "closed form"), (D, "the package's direction")):
                options = {"case": f"{case.named(t)}, {origin}"}
                claims += [Equal("across the mean input", one @ across, -G @ across / ALPHA, 1e-10,
                                 **options),
                           Equal("along it", one @ mean, u, 1e-9, **options)]
    return [*claims, Case(D=D, G=G)]


@equation(PAPER, "extension-two-coefficients",
          statement="Conjugate gradients on (11b) stay in the span of the gradient and of u m^T. "
                    "They can run on one number and one vector, with the same iterates.",
          formula=r"D_j = s_j G + \mathbf{w}_j \mathbf{m}^T",
          kind="identity", verdict="holds", ours=True,
          implements=(Stated(conjugate_gradients.rank_one_coefficients, "0", "1"),
                      Stated(conjugate_gradients.rank_one_literal, "solution"),
                      Stated(conjugate_gradients.coordinates, "across")), uses=("10b", "11b"))
def extension_two_coefficients(rng):
    B, X, _, G = layer(rng)
    m, g, claims = X.mean(axis=0), reference.vec(G), []
    matrix = (1 - ALPHA) * reference.kron(np.outer(m, m), B) + ALPHA * np.eye(G.size)
    for iterations in (1, 2, 3):
        krylov = [np.linalg.matrix_power(matrix, k) @ g for k in range(iterations)]
        Q, options = np.linalg.qr(np.transpose(krylov))[0], {"case": f"{iterations} iterations"}
        d = Q @ np.linalg.solve(Q.T @ matrix @ Q, -Q.T @ g)
        best = d.reshape(G.shape, order="F")
        s, w, outcome = conjugate_gradients.rank_one_coefficients(B, G, m, 1 - ALPHA, ALPHA,
                                                                iterations, 1e-15)
        literal = conjugate_gradients.rank_one_literal(B, m, G, 1 - ALPHA, ALPHA, iterations, 1e-15)
        claims += [Equal("best in the Krylov space", s * G + np.outer(w, m), best, 1e-9, **options),
                   Equal("the literal form", literal.solution, best, 1e-9, **options),
                   Equal("relative residual", outcome.residual,
                         np.linalg.norm(matrix @ d + g) / np.linalg.norm(g), 1e-9, scale=1.0,
                         **options)]
    across = G - np.outer(G @ m, m) / (m @ m)
    return [*claims,
            Equal("norm of the gradient across the mean input",
                  conjugate_gradients.coordinates(G, m).across, np.linalg.norm(across), 1e-12),
            Case(B=B, G=G, m=m)]


@equation(PAPER, "extension-joint",
          statement="Weights and bias of a layer are one matrix [W b] with inputs [h; 1]; the "
                    "Hessian in its columns is the Kronecker product as before.",
          formula=r"\nabla^2_{[W\, b]} \xi_i = (\bar{\mathbf{h}}_i \bar{\mathbf{h}}_i^T) \otimes "
                  r"H_i^t, \quad \bar{\mathbf{h}} = [\mathbf{h}; 1]",
          kind="identity", verdict="holds", ours=True,
          implements=(hessians.weight_hessian, direction), uses=("4c", "11a"))
def extension_joint(rng):
    claims = []
    for case, t in zip(cases.variety(rng), (1, 2, 3, 2)):
        H, h = case.exact()[t - 1][0], np.append(case.inputs(t)[0], 1.0)
        by_differences = reference.instance_hessian(case, 0, reference.all_places(case, t))
        claims.append(case.equal("by differences", hessians.weight_hessian(h, H), by_differences,
                                 1e-8, t))
    for case in [*cases.variety(rng), *cases.unusual(rng)]:
        claims += [*joint_directions(case, "exact", reference.second_moment, l2=0.1),
                   *joint_directions(case, "ea-closed", reference.outer_of_mean, l2=0.1)]
    return [*claims, Case(h=h, H=H)]


def joint_directions(case, solver, moment, l2):
    """Claims on joint solutions, with a penalty on weights and biases."""
    step = direction(*case.model, "pch-1", solver, ALPHA, l2=l2, joint=True)
    for t, one, B, h, G, g in reference.trained(case, reference.pch(case), l2):
        if g is not None:
            D = reference.dense(moment(np.c_[h, np.ones(len(h))]), B, np.c_[G, g], ALPHA, l2)
            yield Equal("unusual networks and batches, against dense solves",
                        np.c_[step[one.weight], step[one.bias]], D, case.allowed(1e-6),
                        case=f"{case.named(t)}, {solver}")


@equation(PAPER, "extension-ranks",
          statement="Between (11b) and (11a): the outer product of the mean input and the largest "
                    "parts of the inputs' covariance, growing with the rank.",
          formula=r"A_r = \mathbf{m} \mathbf{m}^T + \sum_{j < r} \lambda_j \mathbf{v}_j "
                  r"\mathbf{v}_j^T, \quad \mathbf{m} \mathbf{m}^T = A_1 \preceq A_2 \preceq \dots "
                  r"\preceq \mathbb{E}[\mathbf{h} \mathbf{h}^T]",
          kind="inequality", verdict="holds", ours=True,
          implements=(systems.low_rank_factor, systems.factor_product,
                      closed_forms.factor_solution), uses=("11a", "11b"))
def extension_ranks(rng):
    B, X, _, G = layer(rng)
    claims, below, mean = [], None, X.mean(axis=0)
    eigenvalues, V = np.linalg.eigh(np.cov(X.T, bias=True))
    for rank in range(1, 7):
        F = systems.low_rank_factor(X, rank)
        A = np.outer(mean, mean) + sum(eigenvalues[-j] * np.outer(V[:, -j], V[:, -j])
                                       for j in range(1, rank))
        claims += [Equal(f"rank {rank}: F F^T", F @ F.T, A, 1e-12),
                   Equal(f"rank {rank}: first column of F", F[:, 0], mean, 1e-13),
                   Equal(f"rank {rank}: product", systems.factor_product(B, G, F), B @ G @ A,
                         1e-12),
                   Equal(f"rank {rank}: solution",
                         closed_forms.factor_solution(B, G, F, 1 - ALPHA, ALPHA),
                         reference.dense(A, B, G, ALPHA), 1e-10)]
        if rank > 1:
            claims.append(AtMost("0 against the least eigenvalue of the difference from the rank "
                                 "below", 0.0, np.linalg.eigvalsh(F @ F.T - below)[0],
                                 scale=below, case=f"rank {rank}"))
        below = F @ F.T
    return [*claims,
            Equal("rank 6 is (11a)", below, reference.second_moment(X), 1e-12),
            Case(X=X, B=B)]


@equation(PAPER, "extension-expectation-error",
          statement="With exact means in place of expectations (pch-mean) the metric's error is "
                    "zero by construction. What remains of PCH's error is the expectation step "
                    "and the signs, and (6) stands at the expectation step.",
          formula=r"B^t = \text{Pos-Eig}(\mathbb{E}_i[H_i^t])",
          kind="claim", verdict="holds", ours=True,
          implements=(curvatures.pch_mean, hessians.mean_bias_hessians, errors.layer_error),
          uses=("6", "pos-eig", "u-metric"))
def extension_expectation_error(rng):
    claims = []
    parts = cases.unusual(rng, ("eleven instances", "middle layer frozen", "chains in chains"))
    for case in [*cases.variety(rng), *parts]:
        exact, mine = case.exact_means(), curvatures.pch_mean(*case.passes)
        six = curvatures.expectation(*case.passes)
        by_differences = [reference.bias_hessians(case, t).mean(axis=0) for t in (1, 2, 3)]
        means = hessians.mean_bias_hessians(*case.passes)
        in_parts = hessians.mean_bias_hessians(*case.passes, 4 * 16 * 8 * 3)
        for t, H in enumerate(by_differences, start=1):
            claims += [case.equal("exact mean by differences", means[t - 1], H, 1e-7, t),
                       case.equal("the same, three instances at a time", in_parts[t - 1], H, 1e-7,
                                  t),
                       case.equal("Pos-Eig of means by differences", mine[t - 1],
                                  reference.absolute(H), 1e-6, t)]
        off = [errors.layer_error(B, H) for B, H in zip(mine, exact)]
        by_loops = reference.recursion(case, by_differences[-1], 1)[0]
        claims += [case.equal("error of the metric", off, np.zeros(3), 1e-12, scale=exact[-1]),
                   case.equal("error of (6) in layer 1, by this folder's recursion and a polar "
                              "factor", errors.layer_error(six[0], exact[0]),
                              np.linalg.norm(by_loops - polar(by_differences[0])[1]), 1e-6,
                              scale=exact[0]),
                   case.equal("its top layer", errors.layer_error(six[2], exact[2]),
                              np.linalg.norm(twice_negative(case)), 1e-10, scale=exact[2])]
    return [*claims, Case(exact=exact[0], mine=mine[0])]
