"""Appendices A and B: the generalised step in function space and its flow, Eqs. (18)-(22)."""

import numpy as np

from ....ledger import Case, Counterexample, Equal, Printed, Rate, equation
from ....nets import SoftmaxCrossEntropy
from .. import PAPER
from ..eq_01_07_gauss_newton import eq_7_generalised
from ..eq_08_11_any_right_inverse import euler
from ..eq_18_22_generalised import (eq_18_newton_flow, eq_19_errors, eq_19_step, eq_20_error_rate,
                                    eq_21_flow, eq_22_projection, pinv_of_generalised)
from . import cases, reference
from .conditions import STRICT


@equation(PAPER, "18",
          statement="Newton's flow in function space makes eps decay like e^{-t}, for every "
                    "strictly convex loss.",
          formula=r"\frac{d\mathbf f}{dt}=-H^{-1}\nabla_{\mathbf f}\tilde{\mathcal L}",
          uses=("10",), kind="definition", verdict="holds", implements=eq_18_newton_flow)
def equation_18(rng):
    y, start = np.eye(4)[rng.integers(0, 4, 2)], rng.normal(size=(2, 4))

    def errors(f):
        return (reference.softmax_errors(f, y) + 0.3 * f).ravel()

    def hessian(f):
        return reference.softmax_hessian(f) + 0.3 * np.eye(8)

    def field(f):
        return eq_18_newton_flow(hessian(f), errors(f)).reshape(2, 4)

    rates = np.array([0.1, 0.05, 0.025])
    ends = [errors(euler(field, start, r, round(1 / r))[-1]) for r in rates]
    gaps = [np.linalg.norm(end - np.exp(-1) * errors(start)) for end in ends]
    return [Equal("H times the flow", hessian(start) @ field(start).ravel(), -errors(start), 1e-12),
            Rate("softmax with a ridge: eps at t = 1 against e^{-1} eps(0)", rates, gaps, order=1),
            Case(rates=rates, gaps=gaps)]


def surjective_and_not(rng):
    """J (6, 14) with independent rows, and J (9, 4); each with H > 0 and eps."""
    return [(rng.normal(size=shape), cases.positive_matrix(rng, shape[0]),
             rng.normal(size=shape[0])) for shape in ((6, 14), (9, 4))]


@equation(PAPER, "19",
          statement="The generalised step is J+ times H^{-1} eps.",
          formula=r"\theta_{t+1}=\theta_t-\alpha\,J^+H^{-1}\nabla_{\mathbf f}\tilde{\mathcal L}",
          uses=("7", "18", "appendix-a"), kind="identity", verdict="conditional", condition=STRICT,
          implements=(eq_19_step, eq_19_errors, eq_7_generalised))
def equation_19(rng):
    (J, H, eps), (tall, H_tall, e) = surjective_and_not(rng)
    f, y = rng.normal(size=(3, 4)), np.eye(4)[rng.integers(0, 4, 3)]
    whole = reference.pinv(reference.softmax_hessian(f)) @ reference.softmax_errors(f, y).ravel()
    whitened = reference.weighted_step(H, J, eps)
    return [Equal("H+ eps of a softmax, sample by sample",
                  eq_19_errors(SoftmaxCrossEntropy(), f, y), whole.reshape(3, 4), 1e-10),
            Equal("(19) against (5) in coordinates where H = I", eq_19_step(J, H, eps), whitened,
                  1e-9),
            Equal("(7) against the same", eq_7_generalised(J, H, J.T @ eps), whitened, 1e-8),
            Counterexample(Equal("J that is not surjective: (19) against (7)",
                                 eq_19_step(tall, H_tall, e),
                                 eq_7_generalised(tall, H_tall, tall.T @ e), 1e-3)),
            Case(J=J, H=H, eps=eps)]


@equation(PAPER, "appendix-a",
          where="Appendix A, the last lines",
          statement="The two forms of the generalised step agree because the pseudo-inverse of "
                    "J^T H J is J+ H^{-1} J^{T+}.",
          formula=r"(J^THJ)^+=J^+H^{-1}{J^T}^+,\qquad {J^T}^+J^T=I",
          kind="proof-step", verdict="conditional", condition=STRICT,
          implements=pinv_of_generalised, uses=("assumption-4.1",))
def appendix_a(rng):
    (J, H, _), (tall, H_tall, _) = surjective_and_not(rng)
    return [Equal("pseudo-inverse of the product", reference.pinv(J.T @ H @ J),
                  pinv_of_generalised(J, H), 1e-9),
            Equal("J^{T+} J^T", np.linalg.pinv(J.T) @ J.T, np.eye(6), 1e-11),
            Counterexample(Equal("J that is not surjective: the product",
                                 reference.pinv(tall.T @ H_tall @ tall),
                                 pinv_of_generalised(tall, H_tall), 1e-3)),
            Counterexample(Equal("J that is not surjective: J^{T+} J^T",
                                 np.linalg.pinv(tall.T) @ tall.T, np.eye(9), 1e-3)),
            Case(J=J, H=H)]


@equation(PAPER, "20",
          statement="The chain rule: eps changes by H J times the change of the parameters.",
          formula=r"\frac{d\epsilon}{dt}=HJ\frac{d\theta}{dt}",
          kind="identity", verdict="holds", implements=eq_20_error_rate, uses=("10",))
def equation_20(rng):
    at = cases.classes(rng)
    J, w = np.empty((12, at.net.size)), rng.normal(size=at.net.size)
    J[cases.half_order(4, 3)] = at.jacobian
    rate = reference.moved_errors(at.net, at.x, at.y, cases.to_theta(w, at.net))
    return [Equal("rate of eps along a direction, by a complex step",
                  eq_20_error_rate(reference.softmax_hessian(at.net(at.x)), J, w), rate, 1e-12),
            Case(rate=rate)]


@equation(PAPER, "21", "22",
          statement="Along the generalised flow eps decays by a matrix A: d eps / dt = -alpha A "
                    "eps.",
          kind="identity", verdict="holds",
          implements=(eq_21_flow, eq_22_projection), uses=("7", "20"))
def equations_21_and_22(rng):
    claims, wide = [], rng.normal(size=(6, 14))
    for name, J in (("surjective", wide),
                    ("surjective, rows of very different lengths",
                     np.geomspace(1, 0.02, 6)[:, None] * wide),
                    ("24 x 7", rng.normal(size=(24, 7)))):
        H, eps = cases.positive_matrix(rng, len(J)), rng.normal(size=len(J))
        flow = reference.weighted_step(H, J, eps)
        claims += [Equal("(21): the flow, in coordinates where H = I", eq_21_flow(J, H, eps), flow,
                         1e-9, case=name),
                   Equal("(22): -A eps", -eq_22_projection(H, J) @ eps, H @ J @ flow, 1e-9,
                         case=name)]
    return [*claims, Case(J=J, H=H, eps=eps)]


@equation(PAPER, "appendix-b",
          where="Appendix B, below Eq. (22)",
          statement="A is a projection, orthogonal in the inner product a^T H^{-1} b, and the "
                    "identity for surjective J and H > 0.",
          formula=r"A^n = A, \quad \text{orthogonal with respect to } \epsilon^TH\epsilon",
          corrected=r"A^n = A, \quad \text{orthogonal with respect to } \epsilon^TH^{-1}\epsilon",
          kind="claim", verdict="erratum", weight="substance",
          implements=eq_22_projection, uses=("22",))
def appendix_b(rng):
    J, H, f = rng.normal(size=(24, 7)), cases.positive_matrix(rng, 24), rng.normal(size=(3, 4))
    A, L = eq_22_projection(H, J), np.linalg.cholesky(H)
    U, M = np.linalg.svd(L.T @ J, full_matrices=False)[0], np.linalg.solve(H, A)
    eps = reference.softmax_errors(f, np.eye(4)[[0, 2, 2]]).ravel()
    of_softmax = eq_22_projection(reference.softmax_hessian(f), rng.normal(size=(12, 20)))
    surjective = eq_22_projection(cases.positive_matrix(rng, 6), rng.normal(size=(6, 14)))
    return [Equal("A against the orthogonal projection in coordinates where H = I",
                  A, L @ U @ U.T @ np.linalg.inv(L), 1e-9),
            Equal("A A against A", A @ A, A, 1e-9),
            Equal("H^{-1} A is symmetric", M, M.T.copy(), 1e-9),
            Equal("J surjective and H > 0: the identity", surjective, np.eye(6), 1e-8),
            Equal("singular H of a softmax: A eps", of_softmax @ eps, eps, 1e-8),
            Printed(Equal("H A is symmetric", H @ A, (H @ A).T.copy(), 1e-2)),
            Case(A_diagonal=np.diag(A))]
