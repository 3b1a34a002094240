"""Appendix C: two flows with the same errors, and how far Euler's method stays from them, Eqs.
(23)-(32).
"""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Printed, Rate, equation
from .. import PAPER
from ..eq_08_11_any_right_inverse import eq_8_step, euler
from ..eq_12_13_jacobian import eq_12_jacobian, half_order
from ..eq_18_22_generalised import eq_20_error_rate
from ..eq_23_32_two_flows import (eq_23_flow, eq_24_flow, eq_25_error_rate, eq_26_27_error_flow,
                                  eq_26_27_solved, eq_28_29_euler_bound, eq_30_triangle,
                                  eq_31_in_theta, eq_32_as_printed, eq_32_bound)
from ..eq_33_57_proof import eq_55_right_inverse
from . import cases, reference
from .conditions import IDENTITY_HESSIAN, SURJECTIVE
from .flows_of_a_network import eps_of, stretch_of_eps, two_flows


@equation(PAPER, "23", "24",
          statement="Two flows of the parameters, along minus J+ eps and minus any right inverse "
                    "of J times eps.",
          formula=r"\begin{gathered} \frac{d\theta}{dt}=(-J^+\epsilon)\big|_{\theta(t)} "
                  r"\tag{23} \\ "
                  r"\frac{d\theta}{dt}=(-J^\dashv\epsilon)\big|_{\theta(t)} "
                  r"\tag{24} \end{gathered}",
          kind="definition", verdict="holds",
          implements=(eq_23_flow, eq_24_flow), uses=("5", "8"))
def equations_23_and_24(rng):
    at = cases.small(rng)
    J = reference.parameter_jacobian(at.net, at.x)
    inverse = eq_55_right_inverse(at.states)
    one, two = eq_23_flow(J, at.eps), eq_24_flow(inverse, at.eps)
    return [Equal("the first, by singular values", one, -reference.pinv(J) @ at.eps, 1e-8),  # (23)
            Equal("both move the outputs alike", J @ two, J @ one, 1e-8),  # (24)
            Equal("they differ by a vector of the null space",
                  two - one, (np.eye(len(two)) - reference.pinv(J) @ J) @ two, 1e-7),
            Case(first=one, second=two)]


@equation(PAPER, "25",
          statement="The rate of eps along the flow of (23).",
          formula=r"\frac{d\epsilon}{dt}=-JJ^+\epsilon",
          kind="identity", verdict="conditional",
          condition=(IDENTITY_HESSIAN,
                     "For other losses the chain rule has H in it, as in (20): -H J J+ eps."),
          implements=(eq_25_error_rate, eq_20_error_rate, eq_23_flow),
          uses=("20", "23"))
def equation_25(rng):
    claims, outside = [], None
    for name, H in (("H = I", np.eye(9)), ("another H", cases.positive_matrix(rng, 9))):
        J, start, w = rng.normal(size=(9, 5)), rng.normal(size=9), rng.normal(size=5)
        eps = H @ (J @ w + start)  # of f = J w + start and the loss f^T H f / 2
        step = eq_23_flow(J, eps)
        difference = (H @ (J @ (w + step) + start) - eps)  # eps is linear in w
        claims.append(Equal("change of eps along the step", eq_20_error_rate(H, J, step),
                            difference, 1e-11, case=name))
        projection = np.linalg.qr(J)[0]
        claims.append(Equal("-H J J+ eps", -H @ (projection @ (projection.T @ eps)), difference,
                            1e-10, case=name))
        outside = Equal("-J J+ eps", -projection @ (projection.T @ eps), difference, 1e-2,
                        case=name)
        if name == "H = I":
            claims.append(Equal("H = I: -J J+ eps", eq_25_error_rate(J, eps),
                                difference, 1e-10))
    return [*claims, Counterexample(outside), Case(J=J, H=H, eps=eps)]


@equation(PAPER, "26", "27",
          statement="Along both flows eps decays like e^{-t}.",
          formula=r"\begin{gathered} \frac{d\epsilon}{dt}=-\epsilon \tag{26} \\ "
                  r"\frac{d\tilde\epsilon}{dt}=-\tilde\epsilon \tag{27} \end{gathered}",
          kind="proof-step", verdict="conditional",
          condition=(SURJECTIVE, IDENTITY_HESSIAN),
          implements=(eq_26_27_error_flow, eq_26_27_solved), uses=("24", "25", "assumption-4.1"))
def equations_26_and_27(rng):
    at = cases.smooth_path(rng)
    start = (at.net(at.x) - at.y).ravel()
    expected = eq_26_27_solved(start, 1.0)
    rates, kinds = np.array([0.1, 0.05, 0.025]), (None, "moore-penrose")
    ends = np.array([cases.trajectories(at, lambda f: f - at.y, rate, kinds) for rate in rates])
    claims = [Rate("distance from e^{-1} eps(0) at t = 1", rates,  # (26), (27)
                   np.linalg.norm(ends[:, k] - expected, axis=1), order=1, tolerance=0.2,
                   case=name)
              for k, name in enumerate(("right inverse", "Moore-Penrose"))]
    finer = cases.trajectories(at, lambda f: f - at.y, 0.0125, kinds)
    two = 2 * finer - ends[-1]  # Richardson: the first order in the rate cancels
    claims += [Equal("extrapolated to rate 0", two[k], expected, 0.01) for k in (0, 1)]
    for time in (0.3, 1.0, 1.7):
        series = sum((-time) ** k / np.prod(np.arange(1.0, k + 1)) for k in range(30))
        claims.append(Equal("e^{-t} solves the equation: Taylor series",
                            eq_26_27_solved(start, time), start * series, 1e-13,
                            case=f"t = {time}"))
    claims.append(Equal("the rate of e^{-t} eps(0) at t = 0.5, by a complex step",
                        eq_26_27_solved(start, 0.5 + 1e-20j).imag / 1e-20,
                        eq_26_27_error_flow(eq_26_27_solved(start, 0.5)), 1e-13))
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


@equation(PAPER, "28", "29",
          statement="Euler's method stays within (alpha / K)(e^{L t} - 1) of its flow.",
          formula=r"\begin{gathered} \|\theta_i-\theta(t_i)\|"
                  r"\le\frac{\alpha}{K}\big(e^{L(t_i-t_0)}-1\big) \tag{28} \\ "
                  r"\|\tilde\theta_i-\tilde\theta(t_i)\|\le\frac{\alpha}{\tilde K}"
                  r"\big(e^{\tilde L(t_i-t_0)}-1\big) \tag{29} \end{gathered}",
          kind="inequality", verdict="conditional",
          condition="K = 2 L / max |d^2 theta / dt^2|, which the text leaves open.",
          implements=(eq_28_29_euler_bound, euler), uses=("23",))
def equations_28_and_29(rng):
    alphas, time = np.array([0.1, 0.01, 0.001]), 1.0
    errors, bounds, doubled, ends = [], [], [], []
    for alpha in alphas:
        points = euler(lambda theta: theta, 1.0, alpha, round(time / alpha))
        errors.append(abs(points[-1] - scalar_flow(1, time)))
        ends.append(points[-1])
        K = 2 * 1 / np.e  # the second derivative is e^t, at most e
        bounds.append(eq_28_29_euler_bound(alpha, K, 1.0, time))
        doubled.append(eq_28_29_euler_bound(alpha, 4 * K, 1.0, time))
    late = []  # beyond t = 1: the bound grows on, and has to
    for time_after in (2.0, 4.0):
        end = euler(lambda theta: theta, 1.0, 0.01, round(time_after / 0.01))[-1]
        late.append((abs(end - scalar_flow(1, time_after)),
                     eq_28_29_euler_bound(0.01, 2 / np.exp(time_after), 1.0, time_after),
                     np.exp(time_after) / 200 * (np.exp(time_after) - 1)))
    late = np.array(late)
    # theta'' = c: one step errs by alpha^2 c / 2, and so does the bound for small L
    quadratic = []
    for c in (3.0, -9.0):
        lipschitz, alpha = 1e-4, 1e-3
        quadratic.append((abs(0.5 * c * alpha**2),
                          eq_28_29_euler_bound(alpha, 2 * lipschitz / abs(c), lipschitz, alpha)))
    quadratic = np.array(quadratic)
    claims, two = [], two_flows(rng)
    for k, name in enumerate(("Moore-Penrose inverse", "right inverse")):
        off = [np.linalg.norm(w - two.ends[k]) for w in two.points[k]]
        real = [eq_28_29_euler_bound(a, two.K[k], two.lipschitz[k], 1.0) for a in two.alpha]
        claims += [AtMost("the flow of a network: distance from it against the bound",  # (28), (29)
                          np.array(off), np.array(real), case=name),
                   Rate("the flow of a network: the distance falls like alpha", two.alpha, off,
                        order=1, tolerance=0.15, case=name)]
    return [*claims, Equal("Euler's end is (1 + alpha)^n",
                  np.array(ends), (1 + alphas) ** (time / alphas), 1e-12),
            AtMost("theta' = theta", np.array(errors), np.array(bounds)),
            Equal("value of the bound", np.array(bounds), np.e / 2 * alphas * (np.e - 1), 1e-12),
            AtMost("theta' = theta, to t = 2 and t = 4", late[:, 0], late[:, 1]),
            Equal("value of the bound at t = 2 and t = 4", late[:, 1], late[:, 2], 1e-12),
            Equal("tight for one step of theta'' = c and small L", quadratic[:, 0],
                  quadratic[:, 1], 1e-6),
            Rate("the error falls like alpha", alphas, errors, order=1, tolerance=0.05),
            Counterexample(AtMost("with a K that is four times larger",
                                  np.array(errors), np.array(doubled), 1e-3)),
            Case(alpha=alphas, errors=errors, bounds=bounds)]


@equation(PAPER, "30",
          statement="The distance of two iterations is at most the sum of three: each "
                    "iteration's distance to its own flow, and the flows' distance.",
          formula=r"\|\epsilon(\theta_i)-\epsilon(\tilde\theta_i)\|\le\|\epsilon(\theta_i)"
                  r"-\epsilon(\theta(t_i))\|+\|\epsilon(\theta(t_i))-\epsilon(\tilde\theta(t_i))\|"
                  r"+\|\epsilon(\tilde\theta(t_i))-\epsilon(\tilde\theta_i)\|",
          kind="inequality", verdict="holds",
          implements=eq_30_triangle, uses=())
def equation_30(rng):
    two = two_flows(rng)
    ends, at = [eps_of(two.at, w) for w in two.ends], two.at
    left, terms = [], []
    for one, other in zip(*two.points):
        of_one, of_other = eps_of(at, one), eps_of(at, other)
        left.append(np.linalg.norm(of_one - of_other))
        terms.append([np.linalg.norm(of_one - ends[0]), np.linalg.norm(ends[1] - of_other),
                      np.linalg.norm(ends[0] - ends[1])])
    right = [eq_30_triangle(*row) for row in terms]
    line = np.sort(rng.normal(size=(4, 1)), axis=0) * np.ones(3)
    tight = eq_30_triangle(
        *(np.linalg.norm(line[i] - line[j]) for i, j in ((0, 1), (2, 3), (1, 2))))
    return [AtMost("two flows of a network and Euler's points, three rates", np.array(left),
                   np.array(right)),
            Equal("the right side, by its three terms", right, [sum(row) for row in terms], 1e-14),
            Equal("tight: four points in order on a line",
                  float(np.linalg.norm(line[0] - line[3])), float(tight), 1e-12),
            Case(alpha=two.alpha, left=left, right=right)]


@equation(PAPER, "31",
          statement="Each outer term is at most a Lipschitz constant times the distance in the "
                    "parameters; the middle one is zero.",
          formula=r"\le L_\epsilon\|\theta_i-\theta(t_i)\|+0+L_\epsilon\|\tilde\theta_i"
                  r"-\tilde\theta(t_i)\|",
          kind="proof-step", verdict="conditional",
          condition=(SURJECTIVE,),
          implements=(eq_31_in_theta, eq_12_jacobian, eq_8_step),
          uses=("26", "30"))
def equation_31(rng):
    two = two_flows(rng)
    at, ends = two.at, [eps_of(two.at, w) for w in two.ends]
    size = np.linalg.norm(at.eps)
    flat = [w for pair in two.points for w in pair] + two.ends
    stretch, claims = stretch_of_eps(at, flat), []
    for k, name in enumerate(("Moore-Penrose inverse", "right inverse")):
        off = np.array([np.linalg.norm(w - two.ends[k]) for w in two.points[k]])
        moved = np.array([np.linalg.norm(eps_of(at, w) - ends[k]) for w in two.points[k]])
        claims.append(AtMost("|eps(theta_i) - eps(theta(t_i))| against L_eps |theta_i - "
                             "theta(t_i)|", moved, stretch * off, case=name))
    labels = np.eye(4)[[0, 2]]
    at.net.theta = two.theta
    J, inverse = eq_12_jacobian(at.states), eq_55_right_inverse(at.states)
    eps = reference.softmax_errors(at.net(at.x), labels).ravel()[half_order(4, 2)]
    literal = reference.parameter_jacobian(at.net, at.x)
    outside = cases.dependent(rng)
    dense = reference.parameter_jacobian(outside.net, outside.x)
    one = dense @ eq_8_step(eq_55_right_inverse(outside.states),
                                           outside.eps)
    top = np.linalg.svd(dense)[2][0]
    return [*claims,
            Equal("the middle term: eps at the ends of both flows", ends[0], ends[1], 1e-4,
                  scale=size),
            Equal("for a softmax too both flows have the same d f / dt",
                  literal @ eq_8_step(inverse, eps),
                  literal @ (-reference.pinv(J) @ eps), 1e-8),
            Equal("it is -eps", literal @ eq_8_step(inverse, eps), -eps, 1e-8),
            Equal("J of the room against complex steps", J, literal, 1e-11),
            Equal("tight for linear f: two points off along it on both sides",
                  float(np.linalg.norm(dense @ (0.7 * top) - dense @ (-0.3 * top))),
                  eq_31_in_theta(float(np.linalg.norm(dense, 2)), 0.7, 0.3), 1e-10),
            Equal("tight for linear f: along the first singular vector",
                  float(np.linalg.norm(dense @ top)), float(np.linalg.norm(dense, 2)), 1e-10),
            Counterexample(Equal("features that are not independent: d f / dt of both",
                                 one, dense @ (-reference.pinv(dense) @ outside.eps), 1e-3)),
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
    # of one step add up
    c, alpha = rng.uniform(5, 10), 1e-3
    ends = np.array([0.5 * c * alpha**2, -0.5 * c * alpha**2])  # error of each after one step
    lipschitz = 1e-3
    K = 2 * lipschitz / c
    bound = eq_32_bound(alpha, K, 1.5 * K, lipschitz, 0.5 * lipschitz, 1.0, alpha)
    left = float(abs(ends[0] - ends[1]))
    rates = 0.1, 0.01
    longer = [abs(euler(lambda theta: theta, 1.0, a, round(1 / a))[-1] - np.e) for a in rates]
    printed = eq_32_as_printed(alpha, K, 1.5 * K, lipschitz, 0.5 * lipschitz, 1.0,
                                           alpha)
    long_bounds = [eq_32_bound(a, 2 / np.e, 2 / np.e, 1.0, 1.0, 1.0, 1.0) for a in rates]
    two = two_flows(rng)
    stretch = stretch_of_eps(two.at, [w for pair in two.points for w in pair] + two.ends)
    apart = [np.linalg.norm(eps_of(two.at, a) - eps_of(two.at, b)) for a, b in zip(*two.points)]
    real = [eq_32_bound(a, *two.K, *two.lipschitz, stretch, 1.0) for a in two.alpha]
    real_as_printed = [eq_32_as_printed(a, *two.K, *two.lipschitz, stretch, 1.0)
                       for a in two.alpha]
    K, L = rng.uniform(1, 2, 2), rng.uniform(1, 2, 2)
    by_hand = [2 * 0.7 * 0.01 / min(K) * (np.exp(0.5 * max(L)) - 1)] * 4
    crossed = [eq_32_bound(0.01, *pair, *other, 0.7, 0.5)
               for pair in (K, K[::-1]) for other in (L, L[::-1])]
    return [AtMost("two flows of a network, three rates: distance of eps against the bound",
                   np.array(apart), np.array(real)),
            AtMost("the same two flows against the printed bound",
                   np.array(apart), np.array(real_as_printed)),
            Equal("the smaller K and the larger L, of whichever flow", crossed, by_hand, 1e-13),
            AtMost("corrected: left side against the bound", left, float(bound)),
            Equal("tight: one step, small L", left, float(bound), 1e-5),
            AtMost("two flows that err in opposite directions for a whole second",
                   2 * np.array(longer), np.array(long_bounds)),
            Printed(AtMost("as printed, without the factor 2", left, float(printed), 1e-3)),
            Equal("it is half as large", 2 * printed, bound, 1e-13),
            Case(left=left, bound=float(bound), printed=float(printed))]
