"""Section 4: right-inverse steps and Theorem 4.3, Eqs. (8)-(11)."""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Rate, equation
from ....nets import SoftmaxCrossEntropy, SquaredError
from .. import PAPER
from ..eq_01_07_gauss_newton import eq_5_gauss_newton, eq_7_generalised
from ..eq_08_11_any_right_inverse import (eq_8_step, eq_9_gap, eq_9_order,
                                          eq_10_errors, eq_11_error_flow)
from ..eq_12_13_jacobian import eq_12_jacobian, half_order, to_theta
from ..eq_18_22_generalised import eq_20_error_rate, of_cross_entropy
from ..eq_33_57_proof import eq_55_right_inverse
from . import cases, reference
from .conditions import IDENTITY_HESSIAN, SURJECTIVE

RATES = np.array([0.2, 0.1, 0.05, 0.025])


@equation(PAPER, "8",
          statement="A step with any right inverse of J brings the outputs, to first order, where "
                    "(5) brings them.",
          formula=r"\theta_{t+1}=\theta_t-\alpha\,J^\dashv\,\nabla_{\mathbf f}\tilde{\mathcal L}",
          kind="algorithm", verdict="holds",
          implements=(eq_8_step, eq_55_right_inverse),
          uses=("4", "assumption-4.1"))
def equation_8(rng):
    at = cases.small(rng)
    J = reference.parameter_jacobian(at.net, at.x)
    inverses = {"average (55)": eq_55_right_inverse(at.states),
                "last block only": eq_55_right_inverse(at.states, [0, 0, 1]),
                "Moore-Penrose": reference.pinv(J)}
    inverses["mixture of two"] = 3 * inverses["average (55)"] - 2 * inverses["Moore-Penrose"]
    claims = [Equal("J times the step", J @ eq_8_step(inverse, at.eps), -at.eps,
                    1e-8, case=name)
              for name, inverse in inverses.items()]
    for name, other in cases.unusual(rng):
        J = reference.parameter_jacobian(other.net, other.x)
        inverse = eq_55_right_inverse(other.states)
        claims.append(Equal("J times the step", J @ eq_8_step(inverse, other.eps),
                            -other.eps, 1e-7, case=name))
    return [*claims, Case(eps=at.eps)]


@equation(PAPER, "theorem-4.3", "9",
          statement="At a fixed time the errors of iterations with two right inverses differ by "
                    "O(alpha).",
          formula=r"\big\|\nabla_{\mathbf f}\tilde{\mathcal L}(\mathbf f(\theta_t^{(1)}))"
                  r"-\nabla_{\mathbf f}\tilde{\mathcal L}(\mathbf f(\theta_t^{(2)}))\big\|"
                  r"\le O(\alpha)",
          kind="claim", verdict="conditional",
          condition=(SURJECTIVE,
                     "The activation is smooth (the proof differentiates the fields), and the "
                     "time is fixed."),
          implements=(eq_9_gap, eq_9_order, eq_5_gauss_newton, eq_8_step),
          uses=("5", "8", "assumption-4.1", "32"))
def theorem_4_3(rng):
    kinds = [None, [0, 1], "moore-penrose"]
    at = cases.smooth_path(rng)
    zeros, one_hot = np.zeros((2, 4)), np.eye(4)[[0, 2]]
    # a softmax that is nearly right already
    labels = 0.8 * reference.softmax_errors(at.net(at.x), zeros) + 0.2 * one_hot
    measured = {"squared error": cases.gaps(at, lambda f: f - at.y, RATES, kinds),
                "softmax": cases.gaps(at, lambda f: reference.softmax_errors(f, labels), RATES,
                                      kinds)}
    outside, broken = settled_lower_rank(rng, kinds)
    between = gap_of_average_and_moore_penrose(at, RATES[1])
    ends = cases.trajectories(at, lambda f: f - at.y, 0.0125, kinds)
    start = (at.net(at.x) - at.y).ravel()
    claims = [Rate("gap at T = 1", RATES, gap, order=1, tolerance=0.25, case=name)
              for name, gap in measured.items()]
    apart = cases.trajectories(at, lambda f: f - at.y, RATES[1], kinds[::2])
    claims += [Equal("squared error: gap of average and Moore-Penrose, by the formula and step by "
                     "step", between, np.linalg.norm(apart[0] - apart[1]), 1e-9),
               Equal("order of 3 alpha^2", eq_9_order(RATES, 3 * RATES**2), 2.0, 1e-12)]
    claims += [Equal("the gaps' order in alpha", eq_9_order(RATES, gap), 1.0, 0.25, case=name)
               for name, gap in measured.items()]
    claims += [Equal("squared error, alpha = 0.0125: eps against e^{-1} eps(0)", end,
                     np.exp(-1) * start, 0.05, case=kind)
               for kind, end in zip(("average", "last block", "Moore-Penrose"), ends)]
    size = float(np.linalg.norm(outside.eps))
    for name, gap, scale, wrap in (("squared error", measured["squared error"],
                                      float(np.linalg.norm(at.eps)), lambda claim: claim),
                                     ("J of a lower rank", broken, size, Counterexample)):
        limit = 2 * gap[-1] - gap[-2]  # the first order in the rate cancels
        claims.append(
            wrap(Equal("gap extrapolated to rate 0", limit, 0.0, 5e-3, scale=scale, case=name)))
    claims.append(Equal("J of a lower rank: the gap has a limit, at the last two rates",
                        *broken[-2:], 0.05))
    J, states = reference.parameter_jacobian(at.net, at.x), cases.states_at(at.net, at.x)
    for name, step in (
        ("Moore-Penrose", eq_5_gauss_newton(J, at.eps)),
        ("average", eq_8_step(eq_55_right_inverse(states), at.eps))):
        claims.append(Equal("the first step moves the outputs by -alpha eps", J @ step, -at.eps,
                            1e-8, case=name))
    return [*claims,
            Case(alpha=RATES, **{name.replace(" ", "_"): gap for name, gap in measured.items()},
                 lower_rank=broken)]


def gap_of_average_and_moore_penrose(at, alpha):
    """Left side of (9) at t = 1 for half the squared error, theta in the order of the network."""
    net = at.net.copy()

    def eps(theta):
        net.theta = theta
        return (net(at.x) - at.y).ravel()[half_order(net.width, len(at.x))]

    def average(theta):
        error, states = eps(theta), cases.states_at(net, at.x)
        return to_theta(eq_8_step(eq_55_right_inverse(states),
                                                 error), net)

    def moore_penrose(theta):
        error, states = eps(theta), cases.states_at(net, at.x)
        return to_theta(eq_5_gauss_newton(eq_12_jacobian(states), error), net)

    return eq_9_gap(eps, average, moore_penrose, net.theta.copy(), alpha, 1.0)


def settled_lower_rank(rng, kinds):
    """A case of a lower rank, and its gaps; drawn again where they do not settle (features become
    dependent on the way) or are less than a tenth of eps.
    """
    for _ in range(50):
        outside = cases.lower_rank(rng)
        gaps = cases.gaps(outside, lambda f: f - outside.y, RATES, kinds)
        last, size = gaps[-1], np.linalg.norm(outside.eps)
        if np.ptp(gaps) < 0.14 * last and abs(last - gaps[-2]) < 0.025 * last and last > 0.1 * size:
            return outside, gaps
    raise RuntimeError("no case of a lower rank whose iterations stay bounded")


@equation(PAPER, "10",
          statement="eps is the gradient of the loss in the outputs; where the loss is strictly "
                    "convex only one f has eps = 0.",
          formula=r"\epsilon(\theta):=\nabla_{\mathbf f}\tilde{\mathcal L}(\theta)",
          kind="definition", verdict="conditional",
          condition="Uniqueness needs strict convexity: a softmax does not see a constant added "
                    "to all outputs, and has no minimum.",
          implements=(eq_10_errors, SoftmaxCrossEntropy.gradient, SquaredError.gradient),
          uses=("1",))
def equation_10(rng):
    f, g = rng.normal(size=(2, 3, 4))
    y = np.eye(4)[rng.integers(0, 4, 3)]
    entropy, squared = SoftmaxCrossEntropy(), SquaredError()

    def monotone(loss, one, two):
        """<eps(f) - eps(g), f - g> sample by sample."""
        return ((loss.gradient(one, y) - loss.gradient(two, y)) * (one - two)).sum(axis=1)

    def lengths(one, two):
        return ((one - two) ** 2).sum(axis=1)

    shifted = f + np.array([[1.0], [2.0], [-1.0]])
    return [Equal("softmax - y", entropy.gradient(f, y), reference.softmax_errors(f, y), 1e-13),
            Equal("softmax, as a step takes it", eq_10_errors(entropy, f, y),
                  reference.softmax_errors(f, y), 1e-13),
            Equal("squared error", squared.gradient(f, g), f - g, 1e-14),
            Equal("squared error, strictly convex: <eps(f) - eps(g), f - g> = |f - g|^2",
                  monotone(squared, f, g), lengths(f, g), 1e-12),
            AtMost("softmax: <eps(f) - eps(g), f - g> is not negative", 0 * lengths(f, g),
                   monotone(entropy, f, g)),
            Counterexample(AtMost("softmax: it is positive, along a shift", lengths(shifted, f),
                                  monotone(entropy, shifted, f))),
            Case(f=f, y=y)]


@equation(PAPER, "11",
          statement="eps decays at its own rate: along (8) for the squared error, along the "
                    "generalised step for every strictly convex loss (and for a softmax).",
          formula=r"\frac{d\epsilon}{dt}=-\epsilon(t)\quad\text{for trajectories induced by GGN "
                  r"or (8)}",
          kind="claim", verdict="conditional",
          condition=(SURJECTIVE, IDENTITY_HESSIAN,
                     "The second condition is for (8) only: for other losses the rate along (8) is "
                     "-H eps."),
          implements=(eq_11_error_flow, eq_20_error_rate, eq_8_step,
                      eq_7_generalised, of_cross_entropy),
          uses=("8", "10", "20", "22", "appendix-b"))
def equation_11(rng):
    net, x, y, _ = cases.classes(rng)
    states, half = cases.states_at(net, x), half_order(4, 3)
    J = np.empty((12, net.size))
    J[half] = eq_12_jacobian(states)
    f = net(x)
    H, eps = reference.softmax_hessian(f), reference.softmax_errors(f, y).ravel()
    inverse = np.empty((net.size, 12))
    inverse[:, half] = eq_55_right_inverse(states)
    rates = {}
    for name, step in (("right inverse", eq_8_step(inverse, eps)),
                       ("GGN", eq_7_generalised(J, H, J.T @ eps))):
        rates[name] = reference.along(net, x, y, step)
    p = eps.reshape(3, 4) + y
    newton = of_cross_entropy(p, y)
    squared = cases.small(rng)
    step = eq_8_step(eq_55_right_inverse(squared.states),
                                    squared.eps)
    rate = eq_20_error_rate(np.eye(12), eq_12_jacobian(squared.states), step)
    return [
        Equal("right inverse, softmax: rate of eps, by a complex step",
              rates["right inverse"], -H @ eps, 1e-7),
        Equal("generalised step, softmax: rate of eps, by a complex step", rates["GGN"],
              eq_11_error_flow(eps), 1e-6),
        Equal("H times the closed form of H+ eps", (H @ newton.ravel()), eps, 1e-12),
        Equal("the closed form has no part along the ones",
              newton.sum(axis=1), np.zeros(3), 1e-12, scale=newton),
        Equal("squared error, by Eq. (20): H = I", rate,
              eq_11_error_flow(squared.eps), 1e-8),
        Counterexample(Equal("right inverse, softmax: rate of eps against -eps",
                             rates["right inverse"], -eps, 1e-2)),
        Case(eps=eps, rate=rates["right inverse"])]
