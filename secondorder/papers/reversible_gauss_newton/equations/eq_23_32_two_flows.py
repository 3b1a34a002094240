"""Appendix C: two flows with the same errors, and how far Euler's method stays from them, Eqs.
(23)-(32).
"""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Printed, Rate, equation
from .. import PAPER
from ..eq_08_11_any_right_inverse import eq_8_step, euler
from ..eq_12_13_jacobian import eq_12_jacobian
from ..eq_18_22_generalised import eq_20_error_rate
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
    J, eps = reference.parameter_jacobian(at.net, at.x), at.error
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
          implements=(eq_25_error_rate, eq_20_error_rate, eq_23_flow), uses=("20", "23"))
def equation_25(rng):
    claims = []
    for name, H in (("H = I", np.eye(9)), ("another H", cases.positive_matrix(rng, 9))):
        J, start, w = rng.normal(size=(9, 5)), rng.normal(size=9), rng.normal(size=5)
        eps = H @ (J @ w + start)  # of f = J w + start and the loss f^T H f / 2
        step, Q = eq_23_flow(J, eps), np.linalg.qr(J)[0]
        difference = H @ (J @ (w + step) + start) - eps  # eps is linear in w
        projected = Q @ (Q.T @ eps)
        claims += [Equal("change of eps along the step", eq_20_error_rate(H, J, step), difference,
                         1e-11, case=name),
                   Equal("-H J J+ eps", -H @ projected, difference, 1e-10, case=name)]
        claims.append(Equal("H = I: -J J+ eps", eq_25_error_rate(J, eps), difference, 1e-10)
                      if name == "H = I" else
                      Counterexample(Equal("-J J+ eps", -projected, difference, 1e-2, case=name)))
    net, x, y, _ = cases.classes(rng)
    J, softmax = np.empty((12, net.size)), reference.softmax_errors(net(x), y).ravel()
    J[cases.half_order(4, 3)] = reference.parameter_jacobian(net, x)
    rate = reference.moved_errors(net, x, y, cases.to_theta(eq_23_flow(J, softmax), net))
    return [*claims, Counterexample(Equal("cross-entropy, as the paper trains: rate of eps against "
                                          "-J J+ eps", rate, eq_25_error_rate(J, softmax), 1e-2)),
            Case(J=J, H=H, eps=eps)]


@equation(PAPER, "26", "27",
          statement="Along both flows eps decays like e^{-t}, for the squared error; not for the "
                    "cross-entropy that the paper trains.",
          formula=r"\begin{gathered} \frac{d\epsilon}{dt}=-\epsilon \tag{26} \\ "
                  r"\frac{d\tilde\epsilon}{dt}=-\tilde\epsilon \tag{27} \end{gathered}",
          kind="proof-step", verdict="conditional",
          condition=(SURJECTIVE, IDENTITY_HESSIAN),
          implements=(eq_26_27_error_flow, eq_26_27_solved), uses=("24", "25", "assumption-4.1"))
def equations_26_and_27(rng):
    at, kinds, rates = cases.smooth_path(rng), ("moore-penrose", None), np.array([0.1, 0.05, 0.025])
    start, labels = at.eps.ravel(), np.eye(4)[[0, 2]]
    expected = eq_26_27_solved(start, 1.0)

    def end(rate):
        return cases.trajectories(at, lambda f: f - at.y, rate, kinds)

    ends = np.array([end(rate) for rate in rates])
    two = 2 * end(0.0125) - ends[-1]  # Richardson: the first order in the rate cancels
    claims = []
    for k, name in enumerate(("(26), Moore-Penrose", "(27), right inverse")):
        claims += [Rate("distance from e^{-1} eps(0) at t = 1", rates,
                        np.linalg.norm(ends[:, k] - expected, axis=1), order=1, tolerance=0.2,
                        case=name),
                   Equal("extrapolated to rate 0", two[k], expected, 0.01, case=name)]
    for time in (0.3, 1.0, 1.7):
        series = sum((-time) ** k / np.prod(np.arange(1.0, k + 1)) for k in range(30))
        claims.append(Equal("e^{-t} solves the equation: Taylor series",
                            eq_26_27_solved(start, time), start * series, 1e-13,
                            case=f"t = {time}"))
    softmax, = cases.trajectories(at, lambda f: reference.softmax_errors(f, labels), 0.025, (None,))
    return [*claims,
            Equal("the rate of e^{-t} eps(0) at t = 0.5, by a complex step",
                  eq_26_27_solved(start, 0.5 + 1e-20j).imag / 1e-20,
                  eq_26_27_error_flow(eq_26_27_solved(start, 0.5)), 1e-13),
            Counterexample(Equal("cross-entropy, as the paper trains: eps at t = 1 against "
                                 "e^{-1} eps(0)", softmax, np.exp(-1) * reference.softmax_errors(
                                     at.net(at.x), labels).ravel(), 0.02)),
            Case(eps=expected, ends=ends[-1])]


def growth(alpha, time=1.0):
    """Euler's end of theta' = theta, theta(0) = 1, whose flow is e^t: Lipschitz constant 1, second
    derivative e^t.
    """
    return float(euler(lambda theta: theta, 1.0, alpha, round(time / alpha))[-1])


@equation(PAPER, "28", "29",
          statement="Euler's method stays within (alpha / K)(e^{L t} - 1) of its flow.",
          kind="inequality", verdict="conditional",
          condition="K = 2 L / max |d^2 theta / dt^2|, which the text leaves open.",
          implements=(eq_28_29_euler_bound, euler), uses=("23",))
def equations_28_and_29(rng):
    bound, e, two = eq_28_29_euler_bound, np.e, two_flows(rng)
    alphas, late = np.array([0.1, 0.01, 0.001]), np.array([2.0, 4.0])
    ends = np.array([growth(alpha) for alpha in alphas])
    bounds = np.array([bound(alpha, 2 / e, 1.0, 1.0) for alpha in alphas])
    off_late = np.array([abs(growth(0.01, t) - np.exp(t)) for t in late])
    bounds_late = np.array([bound(0.01, 2 / np.exp(t), 1.0, t) for t in late])
    # theta'' = c: one step errs by alpha^2 c / 2, and so does the bound for small L
    c, L, alpha = np.array([3.0, -9.0]), 1e-4, 1e-3
    claims = []
    for k, name in enumerate(("(28), Moore-Penrose inverse", "(29), right inverse")):
        real = [bound(a, two.K[k], two.lipschitz[k], 1.0) for a in two.alpha]
        claims += [AtMost("the flow of a network: distance from it against the bound", two.off[k],
                          np.array(real), case=name),
                   Rate("the flow of a network: the distance falls like alpha", two.alpha,
                        two.off[k], order=1, tolerance=0.15, case=name)]
    return [*claims, Equal("Euler's end is (1 + alpha)^n", ends, (1 + alphas) ** (1 / alphas),
                           1e-12),
            AtMost("theta' = theta", abs(ends - e), bounds),
            Equal("value of the bound", bounds, e / 2 * alphas * (e - 1), 1e-12),
            AtMost("theta' = theta, to t = 2 and t = 4", off_late, bounds_late),
            Equal("value of the bound at t = 2 and t = 4", bounds_late,
                  np.exp(late) / 200 * (np.exp(late) - 1), 1e-12),
            Equal("tight for one step of theta'' = c and small L", abs(c) * alpha**2 / 2,
                  [bound(alpha, 2 * L / abs(one), L, alpha) for one in c], 1e-6),
            Rate("the error falls like alpha", alphas, abs(ends - e), order=1, tolerance=0.05),
            Counterexample(AtMost("with a K that is four times larger", abs(ends - e),
                                  np.array([bound(alpha, 8 / e, 1.0, 1.0) for alpha in alphas]),
                                  1e-3)),
            Case(alpha=alphas, errors=abs(ends - e), bounds=bounds)]


@equation(PAPER, "30",
          statement="The distance of two iterations is at most the sum of three: each "
                    "iteration's distance to its own flow, and the flows' distance.",
          kind="inequality", verdict="holds", implements=eq_30_triangle, uses=())
def equation_30(rng):
    two, norm = two_flows(rng), np.linalg.norm
    end, other_end = (two.errors(w) for w in two.ends)
    left, terms = [], []
    for one, other in zip(*two.points):
        e, other_e = two.errors(one), two.errors(other)
        left.append(norm(e - other_e))
        terms.append([norm(e - end), norm(end - other_end), norm(other_end - other_e)])
    right, line = [eq_30_triangle(*row) for row in terms], np.sort(rng.normal(size=4))
    return [AtMost("two flows of a network and Euler's points, three rates", np.array(left),
                   np.array(right)),
            Equal("the right side, by its three terms", right, [sum(row) for row in terms], 1e-14),
            Equal("tight: four points in order on a line", float(line[3] - line[0]),
                  float(eq_30_triangle(*np.diff(line))), 1e-12),
            Case(alpha=two.alpha, left=left, right=right)]


@equation(PAPER, "31",
          statement="Each outer term is at most a Lipschitz constant times the distance in the "
                    "parameters; the middle one is zero.",
          formula=r"\le L_\epsilon\|\theta_i-\theta(t_i)\|+0+L_\epsilon\|\tilde\theta_i"
                  r"-\tilde\theta(t_i)\|",
          kind="proof-step", verdict="conditional", condition=SURJECTIVE,
          implements=(eq_31_in_theta, eq_12_jacobian, eq_8_step), uses=("26", "30"))
def equation_31(rng):
    two, outside = two_flows(rng), cases.dependent(rng)
    at, ends = two.at, [two.errors(w) for w in two.ends]
    claims = [AtMost("|eps(theta_i) - eps(theta(t_i))| against L_eps |theta_i - theta(t_i)|",
                     np.array([np.linalg.norm(two.errors(w) - ends[k]) for w in two.points[k]]),
                     two.stretch * two.off[k], case=name) for k, name in enumerate(FLOWS)]
    J, literal = eq_12_jacobian(at.states), reference.parameter_jacobian(at.net, at.x)
    eps = cases.in_half_order(at.net, reference.softmax_errors(at.net(at.x), np.eye(4)[[0, 2]]))
    moved = literal @ eq_8_step(eq_55_right_inverse(at.states), eps)
    dense = reference.parameter_jacobian(outside.net, outside.x)
    other = dense @ eq_8_step(eq_55_right_inverse(outside.states), outside.error)
    top, size = np.linalg.svd(dense)[2][0], float(np.linalg.norm(dense, 2))
    return [*claims,
            Equal("the middle term: eps at the ends of both flows", *ends, 1e-4, scale=at.eps),
            Equal("for a softmax too both flows have the same d f / dt", moved,
                  literal @ (-reference.pinv(J) @ eps), 1e-8),
            Equal("it is -eps", moved, -eps, 1e-8),
            Equal("J of the room against complex steps", J, literal, 1e-11),
            Equal("tight for linear f: two points off along it on both sides",
                  float(np.linalg.norm(dense @ (0.7 * top) - dense @ (-0.3 * top))),
                  eq_31_in_theta(size, 0.7, 0.3), 1e-10),
            Equal("tight for linear f: along the first singular vector",
                  float(np.linalg.norm(dense @ top)), size, 1e-10),
            Counterexample(Equal("features that are not independent: d f / dt of both", other,
                                 dense @ (-reference.pinv(dense) @ outside.error), 1e-3)),
            Case(eps=ends[0], alpha=two.alpha)]


@equation(PAPER, "32",
          statement="Both Euler errors together: twice the larger one. No claim rests on the "
                    "factor; the two flows of a network keep to the printed bound too.",
          formula=r"\le L_\epsilon\frac{\alpha}{\bar K}\big(e^{\bar L(t_i-t_0)}-1\big),"
                  r"\qquad \bar K=\min(K,\tilde K),\ \bar L=\max(L,\tilde L)",
          corrected=r"\le 2 L_\epsilon\frac{\alpha}{\bar K}\big(e^{\bar L(t_i-t_0)}-1\big)",
          kind="inequality", verdict="erratum", weight="misprint",
          implements=(eq_32_bound, eq_32_as_printed), uses=("28", "31"))
def equation_32(rng):
    # f = theta_1 on one flow and theta_2 on the other, with second derivatives c and -c: the errors
    # of one step, c alpha^2 / 2 and minus that, add up
    c, alpha, L = rng.uniform(5, 10), 1e-3, 1e-3
    left = float(c * alpha**2)
    constants = 2 * L / c, 3 * L / c, L, 0.5 * L, 1.0, alpha
    bound, printed = (float(form(alpha, *constants)) for form in (eq_32_bound, eq_32_as_printed))
    rates = 0.1, 0.01
    longer = np.array([abs(growth(a) - np.e) for a in rates])
    long_bounds = [eq_32_bound(a, 2 / np.e, 2 / np.e, 1.0, 1.0, 1.0, 1.0) for a in rates]
    two = two_flows(rng)
    apart = [np.linalg.norm(two.errors(a) - two.errors(b)) for a, b in zip(*two.points)]
    real, real_as_printed = (np.array([form(a, *two.K, *two.lipschitz, two.stretch, 1.0)
                                       for a in two.alpha])
                             for form in (eq_32_bound, eq_32_as_printed))
    Ks, Ls = rng.uniform(1, 2, 2), rng.uniform(1, 2, 2)
    by_hand = [2 * 0.7 * 0.01 / min(Ks) * (np.exp(0.5 * max(Ls)) - 1)] * 4
    crossed = [eq_32_bound(0.01, *pair, *other, 0.7, 0.5)
               for pair in (Ks, Ks[::-1]) for other in (Ls, Ls[::-1])]
    return [AtMost("two flows of a network, three rates: distance of eps against the bound",
                   np.array(apart), real),
            AtMost("the same two flows against the printed bound", np.array(apart),
                   real_as_printed),
            Equal("the smaller K and the larger L, of whichever flow", crossed, by_hand, 1e-13),
            AtMost("corrected: left side against the bound", left, bound),
            Equal("tight: one step, small L", left, bound, 1e-5),
            AtMost("two flows that err in opposite directions for a whole second", 2 * longer,
                   np.array(long_bounds)),
            Printed(AtMost("as printed, without the factor 2", left, printed, 1e-3)),
            Equal("it is half as large", 2 * printed, bound, 1e-13),
            Case(left=left, bound=bound, printed=printed)]
