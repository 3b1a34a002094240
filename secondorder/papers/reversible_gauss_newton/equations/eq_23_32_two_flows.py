"""Appendix C: two flows with the same errors, and how far Euler's method stays from them, Eqs.
(23)-(32).
"""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Printed, Rate, equation
from .. import PAPER
from ..eq_08_11_any_right_inverse import eq_8_step, euler
from ..eq_23_32_two_flows import (eq_23_flow, eq_24_flow, eq_25_error_rate, eq_26_27_error_flow,
                                  eq_26_27_solved, eq_28_29_euler_bound, eq_30_triangle,
                                  eq_31_in_theta, eq_32_as_printed, eq_32_bound)
from ..eq_33_57_proof import eq_55_right_inverse
from . import cases, reference
from .cases import FLOWS, two_flows
from .conditions import IDENTITY_HESSIAN, SURJECTIVE


@equation(PAPER, "23", "24",
          statement="Two flows of the parameters, along minus J+ eps and minus any right inverse "
                    "of J times eps.",
          kind="definition", verdict="holds",
          implements=(eq_23_flow, eq_24_flow), uses=("5", "8"))
def equations_23_and_24(rng):
    at = cases.small(rng)
    J, eps = at.jacobian, at.error
    J_plus = reference.pinv(J)
    one, two = eq_23_flow(J, eps), eq_24_flow(eq_55_right_inverse(at.states), eps)
    return [Equal("(23), by singular values", one, -J_plus @ eps, 1e-8),
            Equal("(24): both move the outputs alike", J @ two, J @ one, 1e-8),
            Equal("they differ by a vector of the null space",
                  two - one, (np.eye(len(two)) - J_plus @ J) @ two, 1e-7),
            Case(first=one, second=two)]


@equation(PAPER, "25",
          statement="The rate of eps along the flow of (23). The chain rule of print has no H in "
                    "it, and is false for the cross-entropy that the paper trains.",
          formula=r"\frac{d\epsilon}{dt}=-JJ^+\epsilon",
          kind="identity", verdict="conditional",
          condition=(IDENTITY_HESSIAN, "In general it is -H J J+ eps, by (20)."),
          implements=(eq_25_error_rate, eq_23_flow), uses=("20", "23"))
def equation_25(rng):
    J, start, w = rng.normal(size=(9, 5)), rng.normal(size=9), rng.normal(size=5)
    eps = J @ w + start  # of f = J w + start and half the square of f: H = I
    moved = J @ (w + eq_23_flow(J, eps)) + start
    at = cases.classes(rng)
    H, softmax = (reference.softmax_hessian(at.net(at.x)),
                  reference.softmax_errors(at.net(at.x), at.y).ravel())
    K = np.empty((12, at.net.size))
    K[cases.half_order(4, 3)] = at.jacobian
    rate = reference.moved_errors(at.net, at.x, at.y, cases.to_theta(eq_23_flow(K, softmax),
                                                                     at.net))
    projected = eq_25_error_rate(K, softmax)
    return [Equal("H = I: change of eps along the step", eq_25_error_rate(J, eps), moved - eps,
                  1e-10),
            Equal("cross-entropy: -H J J+ eps, by a complex step", H @ projected, rate, 1e-7),
            Counterexample(Equal("cross-entropy, as the paper trains: rate of eps against -J J+ "
                                 "eps", rate, projected, 1e-2)),
            Case(J=J, eps=eps)]


@equation(PAPER, "26", "27",
          statement="Along both flows eps decays like e^{-t}, for the squared error; not for the "
                    "cross-entropy that the paper trains.",
          kind="proof-step", verdict="conditional",
          condition=(SURJECTIVE, IDENTITY_HESSIAN),
          implements=(eq_26_27_error_flow, eq_26_27_solved), uses=("24", "25", "assumption-4.1"))
def equations_26_and_27(rng):
    at, kinds, rates = cases.smooth_path(rng), ("moore-penrose", None), np.array([0.1, 0.05, 0.025])
    start, labels = at.eps.ravel(), np.eye(4)[[0, 2]]

    def softmax(f):
        return reference.softmax_errors(f, labels)

    expected, half = eq_26_27_solved(start, 1.0), eq_26_27_solved(start, 0.5 + 1e-20j)
    ends = np.array([cases.trajectories(at, lambda f: f - at.y, rate, kinds) for rate in rates])
    claims = [Rate("distance from e^{-1} eps(0) at t = 1", rates,
                   np.linalg.norm(ends[:, k] - expected, axis=1), order=1, tolerance=0.2, case=name)
              for k, name in enumerate(("(26), Moore-Penrose", "(27), right inverse"))]
    of_softmax, = cases.trajectories(at, softmax, 0.025, (None,))
    return [*claims,
            Equal("the rate of e^{-t} eps(0) at t = 0.5, by a complex step", half.imag / 1e-20,
                  eq_26_27_error_flow(half.real), 1e-13),
            Equal("and its start", eq_26_27_solved(start, 0.0), start, 1e-15),
            Counterexample(Equal("cross-entropy, as the paper trains: eps at t = 1 against "
                                 "e^{-1} eps(0)", of_softmax, np.exp(-1) * softmax(
                                     at.net(at.x)).ravel(), 0.02)),
            Case(eps=expected, ends=ends[-1])]


def growth(alphas):
    """How far Euler's method for theta' = theta, theta(0) = 1, is from e at t = 1: there the
    Lipschitz constant is 1, the second derivative at most e.
    """
    return np.array([np.e - euler(lambda theta: theta, 1.0, a, round(1 / a))[-1] for a in alphas])


@equation(PAPER, "28", "29",
          statement="Euler's method stays within (alpha / K)(e^{L t} - 1) of its flow.",
          kind="inequality", verdict="conditional",
          condition="K = 2 L / max |d^2 theta / dt^2|, which the text leaves open.",
          implements=(eq_28_29_euler_bound, euler), uses=("23",))
def equations_28_and_29(rng):
    bound, e, two, claims = eq_28_29_euler_bound, np.e, two_flows(rng), []
    alphas = np.array([0.1, 0.01, 0.001])
    off, bounds = growth(alphas), np.array([bound(alpha, 2 / e, 1.0, 1.0) for alpha in alphas])
    # theta'' = c: one step errs by alpha^2 c / 2, and so does the bound for small L
    c, L, alpha = np.array([3.0, -9.0]), 1e-4, 1e-3
    for k, name in enumerate(("(28), Moore-Penrose inverse", "(29), right inverse")):
        real = [bound(a, two.K[k], two.lipschitz[k], 1.0) for a in two.alpha]
        claims += [AtMost("a flow: distance from it against the bound", two.off[k],
                          np.array(real), case=name),
                   Rate("a flow: the distance falls like alpha", two.alpha,
                        two.off[k], order=1, tolerance=0.15, case=name)]
    return [*claims, Equal("theta' = theta: e - (1 + alpha)^n", off,
                           e - (1 + alphas) ** (1 / alphas), 1e-9),
            AtMost("theta' = theta", off, bounds),
            Equal("value of the bound", bounds, e / 2 * alphas * (e - 1), 1e-12),
            Equal("tight for one step of theta'' = c and small L", abs(c) * alpha**2 / 2,
                  [bound(alpha, 2 * L / abs(one), L, alpha) for one in c], 1e-6),
            Counterexample(AtMost("with a K that is four times larger", off, bounds / 4, 1e-3)),
            Case(alpha=alphas, errors=off, bounds=bounds)]


@equation(PAPER, "30",
          statement="The distance of two iterations is at most the sum of three: each "
                    "iteration's distance to its own flow, and the flows' distance.",
          kind="inequality", verdict="holds", implements=eq_30_triangle, uses=())
def equation_30(rng):
    two, line = two_flows(rng), np.sort(rng.normal(size=4))
    left, right = [], []
    for points in zip(*two.points):
        path = [points[0], *two.end, points[1]]
        left.append(np.linalg.norm(path[3] - path[0]))
        right.append(eq_30_triangle(*np.linalg.norm(np.diff(path, axis=0), axis=1)))
    return [AtMost("two flows and Euler's points, three rates", np.array(left),
                   np.array(right)),
            Equal("tight: four points in order on a line", float(line[3] - line[0]),
                  float(eq_30_triangle(*np.diff(line))), 1e-12),
            Case(alpha=two.alpha, left=left, right=right)]


@equation(PAPER, "31",
          statement="Each outer term is at most a Lipschitz constant times the distance in the "
                    "parameters; the middle one is zero.",
          kind="proof-step", verdict="conditional", condition=SURJECTIVE,
          implements=(eq_31_in_theta, eq_8_step), uses=("26", "30"))
def equation_31(rng):
    two, at, outside, claims = two_flows(rng), cases.small(rng), cases.dependent(rng), []
    for k, name in enumerate(FLOWS):
        off = [np.linalg.norm(eps - two.end[k]) for eps in two.points[k]]
        claims.append(AtMost("|eps(theta_i) - eps(theta(t_i))| against L_eps |theta_i - "
                             "theta(t_i)|", np.array(off), two.stretch * two.off[k], case=name))
    eps = cases.in_half_order(at.net, reference.softmax_errors(at.net(at.x), np.eye(4)[:3]))
    moved, other = (one.jacobian @ eq_8_step(eq_55_right_inverse(one.states), error)
                    for one, error in ((at, eps), (outside, outside.error)))
    dense = outside.jacobian
    top, size = np.linalg.svd(dense)[2][0], float(np.linalg.norm(dense, 2))
    return [*claims,
            Equal("the middle term: eps at the ends of both flows", *two.end, 1e-12),
            Equal("for a softmax too both flows have the same d f / dt, -eps", moved, -eps, 1e-8),
            Equal("tight for linear f: two points off along it on both sides",
                  float(np.linalg.norm(dense @ (0.7 * top) - dense @ (-0.3 * top))),
                  eq_31_in_theta(size, 0.7, 0.3), 1e-10),
            Counterexample(Equal("features that are not independent: d f / dt of both", other,
                                 dense @ (-reference.pinv(dense) @ outside.error), 1e-3)),
            Case(eps=two.end[0], alpha=two.alpha)]


@equation(PAPER, "32",
          statement="Both Euler errors together: twice the larger one. No claim rests on the "
                    "factor; two flows of a function keep to the printed bound too.",
          kind="inequality", verdict="erratum", weight="misprint",
          implements=(eq_32_bound, eq_32_as_printed), uses=("28", "31"))
def equation_32(rng):
    # f = theta_1 on one flow and theta_2 on the other, with second derivatives c and -c: the errors
    # of one step, c alpha^2 / 2 and minus that, add up
    c, alpha, L = rng.uniform(5, 10), 1e-3, 1e-3
    left, constants = float(c * alpha**2), (2 * L / c, 3 * L / c, L, 0.5 * L, 1.0, alpha)
    bound, printed = (float(form(alpha, *constants)) for form in (eq_32_bound, eq_32_as_printed))
    two = two_flows(rng)
    apart = [np.linalg.norm(one - other) for one, other in zip(*two.points)]
    real = np.array([eq_32_as_printed(a, *two.K, *two.lipschitz, two.stretch, 1.0)
                     for a in two.alpha])
    Ks, Ls = rng.uniform(1, 2, 2), rng.uniform(1, 2, 2)
    by_hand = [2 * 0.7 * 0.01 / min(Ks) * (np.exp(0.5 * max(Ls)) - 1)] * 4
    crossed = [eq_32_bound(0.01, *pair, *other, 0.7, 0.5)
               for pair in (Ks, Ks[::-1]) for other in (Ls, Ls[::-1])]
    return [AtMost("two flows, three rates: distance of eps against the printed bound",
                   np.array(apart), real),
            Equal("the smaller K and the larger L, of whichever flow", crossed, by_hand, 1e-13),
            Equal("tight: one step, small L", left, bound, 1e-5),
            Printed(AtMost("as printed, without the factor 2", left, printed, 1e-3)),
            Equal("it is half as large", 2 * printed, bound, 1e-13),
            Case(left=left, bound=bound, printed=printed)]
