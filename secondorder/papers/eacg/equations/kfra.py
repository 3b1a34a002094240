"""KFRA: the Gauss-Newton recursion, where it is the Hessian, and where it is indefinite."""

import numpy as np

from ....exact.dense import gauss_newton as whole_gauss_newton
from ....exact.dense import hessian as whole_hessian
from ....ledger import AtMost, Case, Counterexample, Equal, equation
from ....nets import BoundedCriterion
from .. import PAPER, curvatures, hessians
from ..solvers import kronecker_inverse
from ..direction import direction
from . import cases, reference
from .conditions import UNLIKELY, WITHIN
from .kfac import ALPHA, KFI_CASES, by_hand, factors, kfi_directions


def reaches_everything(case):
    """Whether every instance has a live unit in every hidden layer, some unit is dead, all are
    away from their kinks, and a unit of the first layer is live for some instances only: without
    one, KFRA's mean over instances loses nothing.
    """
    saved = [case.hidden(t) for t in (1, 2)]
    live = [one.slope > 0 for one in saved]
    return (min(np.abs(one.input).min() for one in saved) > 0.05
            and (live[0] != live[0][0]).any()
            and all(one.any(axis=1).all() and not one.all() for one in live)
            and all((one.sum(axis=0) > 0).sum() > 1 for one in live))


def relu_case(rng):
    """A relu network that `reaches_everything`; one with a dead layer is drawn again."""
    for _ in range(1000):
        case = cases.case(rng, "relu", "softmax")
        if reaches_everything(case):
            return case
    raise RuntimeError("no network off the kinks")


@equation(PAPER, "u-kfra",
          where="Related Works; E_i[GN] by KFRA's own recursion",
          statement="KFRA's direction: KFI with the Gauss-Newton block of the bias in the place "
                    "of the second moment of its gradients.",
          formula=r"\begin{gathered} \tilde{\mathbf{d}}_{\mathbf{W}^t} = "
                  r"-\text{Vec}((\tilde{\mathcal{G}}^t)^{-1} \mathbb{E}_i[\nabla_{\mathbf{W}^t} "
                  r"\xi_i] (\mathcal{H}^t)^{-1}) \\ (\tilde{\mathcal{G}}^t)^{-1} = "
                  r"(\mathbb{E}_i[\text{GN}(\nabla_{\mathbf{b}^t}^2 \xi_i)] + "
                  r"(\sqrt{\alpha}/\pi_t)I)^{-1} \end{gathered}",
          kind="identity", verdict="holds",
          implements=(kronecker_inverse.direction, curvatures.gauss_newton, direction),
          uses=("6", "12", "u-kfi"))
def u_kfra(rng):
    claims = []
    for case in [relu_case(rng), *cases.variety(rng, losses=("softmax",)),
                 *cases.unusual(rng, KFI_CASES, loss="softmax")]:
        by_loops = reference.recursion(case, reference.bias_hessians(case, 3).mean(axis=0), None)
        recursion = curvatures.gauss_newton(*case.passes)
        claims += [case.equal("the recursion, by loops", *sides, 1e-7, t)
                   for t, sides in enumerate(zip(recursion, by_loops), start=1)]
        claims += kfi_directions(case, "kfi", "gauss-newton", by_loops)
    A, B, G = factors(rng)
    damped_A, damped_B, _ = by_hand(A, B)
    return [*claims,
            Equal("as printed, with two inverses", kronecker_inverse.direction(A, B, G, ALPHA),
                  -np.linalg.inv(damped_B) @ G @ np.linalg.inv(damped_A), 1e-9),
            Case(x=case.x, theta=case.theta)]


@equation(PAPER, "u-kfra-hessian",
          where="Related Works",
          statement="For piecewise linear activations the diagonal term of (4b) disappears, and "
                    "the Gauss-Newton matrix is the Hessian.",
          formula=r"\text{GN}(\nabla_{\mathbf{b}^t}^2 \xi_i) = \nabla_{\mathbf{b}^t}^2 \xi_i",
          kind="claim", verdict="conditional", condition=WITHIN, ours=True,
          implements=(hessians.gauss_newton_below, hessians.gauss_newton_step,
                      hessians.mean_of_instances),
          uses=("4b", "u-kfra"))
def u_kfra_hessian(rng):
    case = relu_case(rng)
    loss, unit, H = case.evaluation.loss_function, case.units[3], case.top()[:, :1, :1]
    H = H * np.ones((3, 3))
    mean = hessians.mean_of_instances(*case.passes, loss.hessian, hessians.gauss_newton_step)
    recursion = curvatures.gauss_newton(*case.passes)
    return [Equal("one activation", hessians.gauss_newton_step(unit, H),
                  [np.diag(row) @ one @ np.diag(row) for row, one in zip(unit.saved.slope, H)],
                  1e-13),
            Equal("layer 2 from the exact Hessians above, instance by instance, by differences",
                  hessians.gauss_newton_below(case.weights(3).astype(float),
                                              reference.bias_hessians(case, 3),
                                              reference.slopes(case, 2)[0]),
                  reference.bias_hessians(case, 2), 1e-6),
            *(Equal("mean Gauss-Newton block against the Hessian, by differences", mean[t - 1],
                    reference.bias_hessians(case, t).mean(axis=0), 1e-8, case=f"layer {t}")
              for t in (3, 2, 1)),
            Counterexample(Equal("the whole Hessian against the whole Gauss-Newton matrix",
                                 whole_hessian(*case.model), whole_gauss_newton(*case.model),
                                 1e-8)),
            Counterexample(Equal("layer 1: KFRA's recursion against the mean", recursion[0],
                                 mean[0], 1e-8)),
            Case(x=case.x, theta=case.theta)]


@equation(PAPER, "u-gn",
          where="Related Works; Non-Convex Criterion",
          statement="With the bounded criterion the Gauss-Newton matrix is indefinite; a "
                    "corrected top block mends it.",
          formula=r"\mathbb{E}_i[\text{GN}(\nabla_{\mathbf{b}^t}^2 \xi_i)] \not\succeq 0",
          kind="claim", verdict="conditional", condition=UNLIKELY, ours=True,
          implements=(curvatures.gauss_newton, BoundedCriterion.hessian), uses=("14", "u-kfra"))
def u_gn(rng):
    claims = []
    for activation in ("sigmoid", "tanh", "softplus"):
        case = cases.case(rng, activation, "bounded", sizes=(3, 5, 8), scale=0.3, samples=2,
                          name=activation)
        uncorrected = curvatures.gauss_newton(*case.passes, top_gamma=1.0)[-1]
        corrected = curvatures.gauss_newton(*case.passes)
        by_differences = reference.bias_hessians(case, 2).mean(axis=0)
        claims += [AtMost("least eigenvalue of the top block against -1 % of its largest entry",
                          reference.least(uncorrected), -0.01, case=activation),
                   AtMost("least eigenvalue of the whole matrix against 0",
                          reference.least(whole_gauss_newton(*case.model)), 0.0, case=activation),
                   case.equal("top block by differences", uncorrected, by_differences, 1e-8),
                   case.equal("corrected", corrected[-1], reference.absolute(by_differences), 1e-7),
                   AtMost("0 against the least eigenvalues once corrected", 0.0,
                          [reference.least(B) for B in corrected], scale=1.0, case=activation)]
    likely = BoundedCriterion().hessian(np.array([[3.0, 0, 0]]), np.array([0]))[0]
    return [*claims,
            Counterexample(AtMost("the same for one instance whose class is likely",
                                  reference.least(likely), -0.01)),
            Case(top=uncorrected)]
