"""Section 4: right-inverse steps and Theorem 4.3, Eqs. (8)-(11)."""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Rate, Stated, equation
from ....nets import SoftmaxCrossEntropy, SquaredError
from .. import PAPER
from ..eq_01_07_gauss_newton import eq_5_gauss_newton, eq_7_generalised
from ..eq_08_11_any_right_inverse import eq_8_step, eq_9_gap, eq_10_errors, eq_11_error_flow
from ..eq_12_13_jacobian import eq_12_jacobian
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
          implements=(eq_8_step, eq_55_right_inverse), uses=("4", "assumption-4.1"))
def equation_8(rng):
    at = cases.small(rng)
    average, moore_penrose = eq_55_right_inverse(at.states), reference.pinv(at.jacobian)
    inverses = {"average (55)": average, "Moore-Penrose": moore_penrose,
                "last block only": eq_55_right_inverse(at.states, [0, 0, 1]),
                "mixture of two": 3 * average - 2 * moore_penrose}
    return [*(Equal("J times the step", at.jacobian @ eq_8_step(inverse, at.error), -at.error,
                    1e-8, case=name) for name, inverse in inverses.items()), Case(eps=at.eps)]


@equation(PAPER, "theorem-4.3", "9",
          statement="At a fixed time the errors of iterations with two right inverses differ by "
                    "O(alpha).",
          kind="claim", verdict="conditional",
          condition=(SURJECTIVE,
                     "The activation is smooth (the proof differentiates the fields), and the "
                     "time is fixed."),
          implements=(eq_9_gap, Stated(eq_5_gauss_newton, "0"), eq_8_step),
          uses=("5", "8", "assumption-4.1", "32"))
def theorem_4_3(rng):
    kinds, at = [None, [0, 1], "moore-penrose"], cases.smooth_path(rng)
    labels = 0.8 * reference.softmax_errors(at.net(at.x), np.zeros((2, 4))) \
        + 0.2 * np.eye(4)[[0, 2]]  # of a softmax that is nearly right already
    laws = {"squared error": lambda f: f - at.y,
            "softmax": lambda f: reference.softmax_errors(f, labels)}
    measured = {name: cases.gaps(at, law, RATES, kinds) for name, law in laws.items()}
    claims = [Rate("gap at T = 1", RATES, gap, order=1, tolerance=0.25, case=name)
              for name, gap in measured.items()]

    def steps_by(kind):
        def step(theta):
            moved = at.moved(theta)
            return cases.step_by(moved, kind, moved.eps)
        return step

    apart = cases.trajectories(at, laws["squared error"], RATES[1], kinds[::2])
    # two outputs that are one: no right inverse, and one output alone may decide where theta goes
    one_output = [eq_9_gap(lambda theta: theta - np.array([1.0, 0]),
                           lambda theta: 0.5 - theta, lambda theta: 1 - theta, 0.0, alpha, 1.0)
                  for alpha in RATES]
    for wrap, name, gap, scale in (
            (lambda claim: claim, "squared error", measured["squared error"], at.eps),
            (Counterexample, "J = (1; 1)", one_output, 1.0)):
        limit = 2 * gap[-1] - gap[-2]  # the first order in the rate cancels
        claims.append(wrap(Equal("gap extrapolated to rate 0", limit, 0.0, 5e-3,
                                 scale=float(np.linalg.norm(scale)), case=name)))
    for name, step in (("Moore-Penrose", eq_5_gauss_newton(at.jacobian, at.error)[0]),
                       ("average", eq_8_step(eq_55_right_inverse(at.states), at.error))):
        claims.append(Equal("the first step moves the outputs by -alpha eps", at.jacobian @ step,
                            -at.error, 1e-8, case=name))
    return [*claims,
            Equal("squared error: gap of average and Moore-Penrose, by the formula and step by "
                  "step", eq_9_gap(lambda theta: at.moved(theta).eps, *map(steps_by, kinds[::2]),
                                   at.net.theta, RATES[1], 1.0),
                  np.linalg.norm(apart[0] - apart[1]), 1e-9),
            Case(alpha=RATES, lower_rank=one_output,
                 **{name.replace(" ", "_"): gap for name, gap in measured.items()})]


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
    (f, g), y = rng.normal(size=(2, 3, 4)), np.eye(4)[rng.integers(0, 4, 3)]
    entropy, squared = SoftmaxCrossEntropy(), SquaredError()

    def monotone(loss, other):
        """<eps(f) - eps(g), f - g> sample by sample."""
        apart = eq_10_errors(loss, f, y) - eq_10_errors(loss, other, y)
        return (apart * (f - other)).sum(axis=1)

    shifted = f + np.array([[1.0], [2.0], [-1.0]])
    return [Equal("softmax - y", eq_10_errors(entropy, f, y), reference.softmax_errors(f, y),
                  1e-13),
            Equal("squared error", eq_10_errors(squared, f, g), f - g, 1e-14),
            Equal("squared error, strictly convex: <eps(f) - eps(g), f - g> = |f - g|^2",
                  monotone(squared, g), ((f - g) ** 2).sum(axis=1), 1e-12),
            AtMost("softmax: <eps(f) - eps(g), f - g> is not negative", np.zeros(3),
                   monotone(entropy, g)),
            Counterexample(AtMost("softmax: it is positive, along a shift",
                                  ((f - shifted) ** 2).sum(axis=1), monotone(entropy, shifted))),
            Case(f=f, y=y)]


@equation(PAPER, "11",
          statement="eps decays at its own rate: for the squared error along (8), for every "
                    "strictly convex loss (and a softmax) along the generalised step; not along "
                    "(8) for the cross-entropy that the paper trains.",
          kind="claim", verdict="conditional",
          condition=(SURJECTIVE, IDENTITY_HESSIAN,
                     "The second condition is for (8) only."),
          implements=(eq_11_error_flow, eq_20_error_rate, eq_8_step, eq_7_generalised,
                      of_cross_entropy),
          uses=("8", "10", "20", "22", "appendix-b"))
def equation_11(rng):
    at = cases.classes(rng)
    net, x, y = at.net, at.x, at.y
    J, inverse, half = np.empty((12, net.size)), np.empty((net.size, 12)), cases.half_order(4, 3)
    J[half], inverse[:, half] = eq_12_jacobian(at.states), eq_55_right_inverse(at.states)
    H, eps = reference.softmax_hessian(net(x)), reference.softmax_errors(net(x), y).ravel()
    rate, generalised = (reference.moved_errors(net, x, y, cases.to_theta(step, net)) for step in
                         (eq_8_step(inverse, eps), eq_7_generalised(J, H, J.T @ eps)))
    newton, squared = of_cross_entropy(eps.reshape(3, 4) + y, y), cases.small(rng)
    step = eq_8_step(eq_55_right_inverse(squared.states), squared.error)
    return [Equal("cross-entropy along (8): eps changes at the rate -H eps, by a complex step",
                  rate, -H @ eps, 1e-7),
            Equal("generalised step, softmax: rate of eps, by a complex step", generalised,
                  eq_11_error_flow(eps), 1e-6),
            Equal("H times the closed form of H+ eps", (H @ newton.ravel()), eps, 1e-12),
            Equal("the closed form has no part along the ones",
                  newton.sum(axis=1), np.zeros(3), 1e-12, scale=newton),
            Equal("squared error, by Eq. (20): H = I",
                  eq_20_error_rate(np.eye(12), eq_12_jacobian(squared.states), step),
                  eq_11_error_flow(squared.error), 1e-8),
            Counterexample(Equal("cross-entropy along (8), as the paper trains: rate of eps "
                                 "against -eps", rate, -eps, 1e-2)),
            Case(eps=eps, rate=rate)]
