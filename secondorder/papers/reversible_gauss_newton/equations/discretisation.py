"""Appendix C: two flows with the same errors, and how far Euler's method stays from them, Eqs.
(23)-(32).
"""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Printed, Rate, equation
from .. import PAPER, flows, jacobians, right_inverse, steps
from . import cases, reference


@equation(
    PAPER, "23", "24",
    statement="Two flows of the parameters, along minus J+ eps and minus any right inverse of J "
              "times eps.",
    formula=r"\frac{d\theta}{dt}=(-J^+\epsilon)\big|_{\theta(t)}, \qquad \frac{d\theta}{dt}="
            r"(-J^\dashv\epsilon)\big|_{\theta(t)}",
    kind="definition",
    verdict="holds",
    implements=(steps.gauss_newton, steps.right_inverse_step),
)
def equation_23(rng):
    at = cases.small(rng)
    J = reference.parameter_jacobian(at.net, at.x)
    inverse = right_inverse.stacked_right_inverse(at.found)
    one, two = steps.gauss_newton(J, at.eps), steps.right_inverse_step(inverse, at.eps)
    return [Equal("the first, by singular values", one, -reference.pinv(J) @ at.eps, 1e-8),
            Equal("both move the outputs alike", J @ two, J @ one, 1e-8),
            Equal("they differ by a vector of the null space",
                  two - one, (np.eye(len(two)) - reference.pinv(J) @ J) @ two, 1e-7),
            Case(first=one, second=two)]


@equation(
    PAPER, "25",
    statement="The rate of eps along the flow of (23).",
    formula=r"\frac{d\epsilon}{dt}=-JJ^+\epsilon",
    corrected=r"\frac{d\epsilon}{dt}=-HJJ^+\epsilon",
    kind="identity",
    verdict="erratum",
    weight="misprint",
    condition="As printed it holds where the Hessian of the loss in the outputs is I; the chain "
              "rule has H in it, as in (20).",
    implements=(flows.error_rate, steps.gauss_newton),
)
def equation_25(rng):
    claims, printed = [], None
    for name, H in (("H = I", np.eye(9)), ("another H", cases.positive_matrix(rng, 9))):
        J, start, w = rng.normal(size=(9, 5)), rng.normal(size=9), rng.normal(size=5)
        eps = H @ (J @ w + start)  # of f = J w + start and the loss f^T H f / 2
        step = steps.gauss_newton(J, eps)
        difference = (H @ (J @ (w + step) + start) - eps)  # eps is linear in w
        claims.append(Equal(f"{name}: change of eps along the step", flows.error_rate(H, J, step),
                            difference, 1e-11))
        projection = np.linalg.qr(J)[0]
        claims.append(Equal(f"{name}: -H J J+ eps", -H @ (projection @ (projection.T @ eps)),
                            difference, 1e-10))
        printed = Equal(f"{name}: -J J+ eps", -projection @ (projection.T @ eps), difference, 1e-2)
        if name == "H = I":
            claims.append(Equal("H = I: -J J+ eps", -projection @ (projection.T @ eps), difference,
                                1e-10))
    return [*claims, Printed(printed), Case(J=J, H=H, eps=eps)]


@equation(
    PAPER, "26", "27",
    statement="Along both flows eps decays like e^{-t}.",
    formula=r"\frac{d\epsilon}{dt}=-\epsilon, \qquad \frac{d\tilde\epsilon}{dt}=-\tilde\epsilon",
    kind="proof-step",
    verdict="conditional",
    condition=(cases.SURJECTIVE, cases.IDENTITY_HESSIAN),
    implements=(flows.error_decay,),
)
def equation_26(rng):
    at = cases.smooth_path(rng)
    start = (at.net(at.x) - at.y).ravel()
    expected = flows.error_decay(start, 1.0)
    rates, kinds = np.array([0.1, 0.05, 0.025]), (None, "moore-penrose")
    ends = np.array([cases.trajectories(at, lambda f: f - at.y, rate, kinds) for rate in rates])
    claims = [Rate(f"{name}: distance from e^{{-1}} eps(0) at t = 1",
                   rates, np.linalg.norm(ends[:, k] - expected, axis=1), order=1,
                   tolerance=0.2) for k, name in enumerate(("right inverse", "Moore-Penrose"))]
    finer = cases.trajectories(at, lambda f: f - at.y, 0.0125, kinds)
    two = 2 * finer - ends[-1]  # Richardson: the first order in the rate cancels
    claims += [Equal("extrapolated to rate 0", two[k], expected, 0.01) for k in (0, 1)]
    claims.append(Equal("e^{-t} solves the equation: Taylor series", expected, start * sum(
        (-1.0) ** k / np.prod(np.arange(1.0, k + 1)) for k in range(20)), 1e-14))
    labels = np.eye(4)[[0, 2]]
    softmax = cases.trajectories(at, lambda f: reference.softmax_errors(f, labels), 0.025,
                                 (None,))[0]
    first = reference.softmax_errors(at.net(at.x), labels).ravel()
    return [*claims, Counterexample(Equal("a softmax: eps at t = 1", softmax, np.exp(-1) * first,
                                          0.02)), Case(eps=expected, ends=ends[-1])]


def scalar_flow(a, time):
    """theta(t) = e^{a t}: theta' = a theta, with Lipschitz constant |a| and second derivative a^2
    e^{a t}.
    """
    return np.exp(a * time)


@equation(
    PAPER, "28", "29",
    statement="Euler's method stays within (alpha / K)(e^{L t} - 1) of its flow.",
    formula=r"\|\theta_i-\theta(t_i)\|\le\frac{\alpha}{K}\big(e^{L(t_i-t_0)}-1\big), \qquad "
            r"\|\tilde\theta_i-\tilde\theta(t_i)\|\le\frac{\alpha}{\tilde K}"
            r"\big(e^{\tilde L(t_i-t_0)}-1\big)",
    kind="inequality",
    verdict="conditional",
    condition="K = 2 L / max |d^2 theta / dt^2|, which the text leaves open.",
    implements=(flows.euler_bound, flows.euler),
)
def equation_28(rng):
    alphas, time = np.array([0.1, 0.01, 0.001]), 1.0
    errors, bounds, doubled, ends = [], [], [], []
    for alpha in alphas:
        points = flows.euler(lambda theta: theta, 1.0, alpha, round(time / alpha))
        errors.append(abs(points[-1] - scalar_flow(1, time)))
        ends.append(points[-1])
        K = 2 * 1 / np.e  # the second derivative is e^t, at most e
        bounds.append(flows.euler_bound(alpha, K, 1.0, time))
        doubled.append(flows.euler_bound(alpha, 4 * K, 1.0, time))
    # theta'' = c: one step errs by alpha^2 c / 2, and so does the bound for small L
    quadratic = []
    for c in (3.0, -9.0):
        lipschitz, alpha = 1e-4, 1e-3
        quadratic.append((abs(0.5 * c * alpha**2),
                          flows.euler_bound(alpha, 2 * lipschitz / abs(c), lipschitz, alpha)))
    quadratic = np.array(quadratic)
    return [Equal("Euler's end is (1 + alpha)^n",
                  np.array(ends), (1 + alphas) ** (time / alphas), 1e-12),
            AtMost("theta' = theta", np.array(errors), np.array(bounds)),
            Equal("value of the bound", np.array(bounds), np.e / 2 * alphas * (np.e - 1), 1e-12),
            Equal("tight for one step of theta'' = c and small L", quadratic[:, 0],
                  quadratic[:, 1], 1e-6),
            Rate("the error falls like alpha", alphas, errors, order=1, tolerance=0.05),
            Counterexample(AtMost("with a K that is four times larger",
                                  np.array(errors), np.array(doubled), 1e-3)),
            Case(alpha=alphas, errors=errors, bounds=bounds)]


@equation(
    PAPER, "30",
    statement="The distance of two iterations is at most that of each to its own flow, plus that "
              "of the flows.",
    formula=r"\|\epsilon(\theta_i)-\epsilon(\tilde\theta_i)\|\le\|\epsilon(\theta_i)-\epsilon("
            r"\theta(t_i))\|+\|\epsilon(\theta(t_i))-\epsilon(\tilde\theta(t_i))\|+\|\epsilon("
            r"\tilde\theta(t_i))-\epsilon(\tilde\theta_i)\|",
    kind="inequality",
    verdict="holds",
    implements=(flows.split_error,),
)
def equation_30(rng):
    a, b, c, d = rng.normal(size=(4, 200, 5))

    def distance(u, v):
        return np.linalg.norm(u - v, axis=1)

    right = flows.split_error(distance(a, b), distance(c, d), distance(b, c))
    line = np.sort(rng.normal(size=(4, 1)), axis=0) * np.ones(3)
    tight = flows.split_error(
        *(np.linalg.norm(line[i] - line[j]) for i, j in ((0, 1), (2, 3), (1, 2))))
    return [AtMost("random points", distance(a, d), right),
            Equal("tight: four points in order on a line",
                  float(np.linalg.norm(line[0] - line[3])), float(tight), 1e-12),
            Equal("its value", right, distance(a, b) + distance(b, c) + distance(c, d), 1e-14),
            Case(points=line)]


@equation(
    PAPER, "31",
    statement="Each outer term is at most a Lipschitz constant times the distance in the "
              "parameters; the middle one is zero.",
    formula=r"\le L_\epsilon\|\theta_i-\theta(t_i)\|+0+L_\epsilon\|\tilde\theta_i-\tilde"
            r"\theta(t_i)\|",
    kind="proof-step",
    verdict="conditional",
    condition=(cases.SURJECTIVE,),
    implements=(jacobians.jacobian, steps.right_inverse_step),
)
def equation_31(rng):
    at = cases.small(rng, blocks=2, bottleneck=10, samples=2)
    H, labels = None, np.eye(4)[[0, 2]]
    rates = []
    # the middle term: both flows have the same rate of f, whatever H
    for name in ("right", "moore-penrose"):
        found = jacobians.states(at.net, at.x)
        J, f = jacobians.jacobian(found), at.net(at.x)
        eps = reference.softmax_errors(f, labels).ravel()
        eps = np.array(
            [eps[s * 4 + which * 2 + i] for which in (0, 1) for s in (0, 1) for i in (0, 1)])
        step = (steps.right_inverse_step(right_inverse.stacked_right_inverse(found), eps)
                if name == "right" else -reference.pinv(J) @ eps)
        rates.append(reference.parameter_jacobian(at.net, at.x) @ step)
    outside = cases.dependent(rng)
    J = reference.parameter_jacobian(outside.net, outside.x)
    one = J @ steps.right_inverse_step(right_inverse.stacked_right_inverse(outside.found),
                                       outside.eps)
    slope = np.linalg.norm(J, 2)
    a, b = rng.normal(size=(2, J.shape[1]))
    top = np.linalg.svd(J)[2][0]
    return [Equal("softmax: both flows have the same d f / dt", rates[0], rates[1], 1e-8),
            Equal("it is -eps", rates[0], -eps, 1e-8),
            Equal("J of the room against complex steps",
                  jacobians.jacobian(at.found), reference.parameter_jacobian(at.net, at.x), 1e-11),
            AtMost("linear f: |eps(theta) - eps(theta')| <= L_eps |theta - theta'|",
                   float(np.linalg.norm(J @ (a - b))), float(slope * np.linalg.norm(a - b))),
            Equal("tight along the first singular vector",
                  float(np.linalg.norm(J @ top)), float(slope), 1e-10),
            Counterexample(Equal("features that are not independent: d f / dt of both",
                                 one, J @ (-reference.pinv(J) @ outside.eps), 1e-3)),
            Case(eps=eps, rate=rates[0], H="not needed" if H is None else H)]


@equation(
    PAPER, "32",
    statement="Both Euler errors together: twice the larger one.",
    formula=r"\le L_\epsilon\frac{\alpha}{\bar K}\big(e^{\bar L(t_i-t_0)}-1\big),\qquad \bar "
            r"K=\min(K,\tilde K),\ \bar L=\max(L,\tilde L)",
    corrected=r"\le 2 L_\epsilon\frac{\alpha}{\bar K}\big(e^{\bar L(t_i-t_0)}-1\big)",
    kind="inequality",
    verdict="erratum",
    weight="substance",
    implements=(flows.total_bound,),
)
def equation_32(rng):
    # f = theta_1 on one flow and theta_2 on the other, with second derivatives c and -c: the errors
    # of one step add up
    c, alpha = rng.uniform(5, 10), 1e-3
    ends = np.array([0.5 * c * alpha**2, -0.5 * c * alpha**2])  # error of each after one step
    lipschitz = 1e-3
    K = 2 * lipschitz / c
    bound = flows.total_bound(alpha, K, 1.5 * K, lipschitz, 0.5 * lipschitz, 1.0, alpha)
    left = float(abs(ends[0] - ends[1]))
    longer = [
        abs(flows.euler(lambda theta: theta, 1.0, a, round(1 / a))[-1] - np.e) for a in (0.1, 0.01)]
    long_bounds = [flows.total_bound(a, 2 / np.e, 2 / np.e, 1.0, 1.0, 1.0, 1.0) for a in (0.1,
                                                                                          0.01)]
    return [AtMost("corrected: left side against the bound", left, float(bound)),
            Equal("tight: one step, small L", left, float(bound), 1e-5),
            AtMost("two flows that err in opposite directions for a whole second",
                   2 * np.array(longer), np.array(long_bounds)),
            Printed(AtMost("as printed, without the factor 2", left, float(bound / 2), 1e-3)),
            Case(left=left, bound=float(bound), printed=float(bound / 2))]
