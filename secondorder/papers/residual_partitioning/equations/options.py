"""What the fast path's options stand for: starts at the loss, true Hessian, penalty.

As in ``extensions``, the paper says nothing of these; the formulas are written in its notation,
with Z = Y_ddot u.
"""

from itertools import product

import numpy as np
from scipy import optimize

from ....ledger import AtMost, Case, Equal, Property, equation
from ....nets import BoundedCriterion, SoftmaxCrossEntropy, TukeyBiweight
from .. import PAPER, Bound, ResidualPartitioning, theorems
from ..fast import bound_at
from ..rules import OUTPUTS, LinearRule
from ..explicit import explicit_bound
from . import cases, reference
from .claims import in_case, is_bound
from .reference import Reading


@equation(PAPER, "extension-pairwise",
          statement="Row sums of the loss's absolute Hessian, weighted by u, start the bound for "
                    "every loss. Their sum is never above Jensen's start. Where the Hessian is "
                    "diagonal they are |f_ii| u.",
          formula=r"Z_{si}^{(L)} = \sum_{i'} \left| \frac{\partial^2 f}{\partial y_{si}^{(L)} "
                  r"\partial y_{si'}^{(L)}} \right| u_{si'}^{(L)}",
          kind="inequality", verdict="holds", ours=True,
          implements=(OUTPUTS["pairwise"], OUTPUTS["jensen"], OUTPUTS["diagonal"]),
          uses=("lemma-3", "algorithm-1"))
def extension_pairwise(rng):
    claims = []
    for loss, samples in product((SoftmaxCrossEntropy(), BoundedCriterion()), (1, 11, 5)):
        name = f"{type(loss).__name__}, {samples} samples"
        start = cases.evaluation(rng, "tanh", "softmax", samples, sizes=(3, 4, 5), scale=3.0)
        at = start.network.evaluate(loss, start.x, start.y)
        u, Z = reference.total_gradients(at)[-1], bound_at(at, "pairwise").carried[-1]
        F = loss.hessian(at.outputs, at.y)
        loops = [[sum(abs(F[s, i, k]) * u[s, k] for k in range(5)) for i in range(5)]
                 for s in range(len(u))]
        least = [np.linalg.eigvalsh(np.diag(Z[s] / u[s]) - F[s])[0] for s in range(len(Z))]
        claims += in_case(
            name, Equal("Z against row sums by loops", Z, loops, 1e-13),
            AtMost("0 against the least eigenvalue of Z / u minus the Hessian", 0.0, least,
                   scale=F))
        if loss.convex:
            p = np.exp(at.outputs) / np.exp(at.outputs).sum(axis=1, keepdims=True)
            closed = p * ((1 - 2 * p) * u + np.sum(p * u, axis=1, keepdims=True))
            jensen = bound_at(at, "jensen").carried[-1]
            claims += in_case(
                name, Equal("closed form for the softmax", Z, closed, 1e-12),
                Equal("Jensen's start against loops", jensen,
                      reference.start_of(at, u, Reading()), 1e-12),
                AtMost("sum of u Z, sample by sample, against Jensen's", np.sum(u * Z, axis=1),
                       np.sum(u * jensen, axis=1)))
    return [*claims, *diagonal_losses(rng), Case(F=F, u_L=u, Z_L=Z)]


def diagonal_losses(rng):
    """Losses with a diagonal Hessian: entries of 10, and entries of both signs below one."""
    claims = []
    for loss, samples in product((cases.Steep(), TukeyBiweight(1.0)), (11, 5)):
        start = cases.evaluation(rng, "sigmoid", samples=samples, scale=2.0)
        at = start.network.evaluate(loss, start.x, start.y)
        u, diagonal = reference.total_gradients(at)[-1], bound_at(at, "diagonal")
        loops = reference.start_of(at, u, Reading(start="diagonal"))
        claims += in_case(
            f"{type(loss).__name__}, {samples} samples",
            Equal("diagonal loss: Z against |f_ii| u by loops", diagonal.carried[-1], loops, 1e-13),
            Equal("diagonal loss: pairwise and diagonal are the same",
                  bound_at(at, "pairwise").curvature, diagonal.curvature, 1e-13),
            Equal("diagonal loss: curvature of explicit arrays, no partition", diagonal.curvature,
                  explicit_bound(at, output_phi=None).curvature, 1e-12),
            is_bound("diagonal loss: 0 against the least eigenvalue of bound minus model",
                     diagonal.curvature, cases.bounded(at)))
    return claims


@equation(PAPER, "extension-cross-terms",
          statement="Bounding the products that Eq. (4) drops makes the bound one on the true "
                    "second-order model.",
          formula=r"\ddot{W}_{ij} \mathrel{+}= \frac{1}{S} \sum_s |\dot{Y}_{si}^{(\ell+1)}| "
                  r"u_{sj}^{(\ell)} \; (j \ge 1), \quad Z_{sj}^{(\ell)} \mathrel{+}= \sum_i "
                  r"|\dot{Y}_{si}^{(\ell+1)}|",
          kind="inequality", verdict="holds", ours=True, implements=(LinearRule.backward,),
          uses=("4", "9", "theorem-2"))
def extension_cross_terms(rng):
    claims = []
    ats = cases.variety(rng, samples=3, scale=rng.uniform(1, 3)) | {
        f"{name}, last layer fixed": at for name, at in
        cases.variety(rng, cases.CURVED, samples=3, fixed=(2,)).items()} | cases.rows(rng)
    for name, at in ats.items():
        H = cases.true_hessian(at)
        for output in ("auto", "pairwise"):
            claims += in_case(f"{name}, {output}", is_bound(
                "0 against the least eigenvalue of bound minus true Hessian",
                bound_at(at, output, cross=True).curvature, H))
    crossed = Reading(start="diagonal", cross=True)
    for name, at in cases.rows(rng, leave_out=("no activation",), activation="leaky_relu",
                               output="identity", loss="steep").items():
        if isinstance(at.loss_function, SoftmaxCrossEntropy):
            continue  # the dead unit's loss is drawn
        right = reference.algorithm(at, crossed)[1]
        for form, one, tolerance in (("", at, 1e-12), ("nested chains, ", cases.nested(at), 1e-12),
                                     ("float32, ", cases.single_precision(at), 1e-4)):
            claims.append(Equal(f"{form}with what the products add, by loops",
                                bound_at(one, cross=True).curvature, right, tolerance, case=name))
    at, small = cases.evaluation(rng, "tanh", fixed=(1, 2)), cases.product_of_weights()
    H = cases.true_hessian(small)
    without, crossed = (bound_at(small, cross=cross).curvature for cross in (False, True))
    return [*claims,
            Equal("only the first layer trained: the products add nothing",
                  bound_at(at, cross=True).curvature,
                  explicit_bound(at, output_phi=None).curvature, 1e-12),
            is_bound("y = w2 w1 x at zero: 0 against the least eigenvalue", crossed, H),
            AtMost("y = w2 w1 x at zero: without the products it is far below 0",
                   reference.least_eigenvalue(without, H), -1.0),
            Case(theta=small.network.theta, without=without, crossed=crossed, true_hessian=H)]


@equation(PAPER, "extension-penalty",
          statement="A squared penalty is separable and enters exactly. If the rate scales the "
                    "data's curvature only, every new parameter lies, at every rate, between two "
                    "ends. One is zero, the other what the data's own step at that rate would "
                    "give.",
          formula=r"""\begin{aligned}
                  \Delta w &= -\frac{\dot{W} + \mu w}{\ddot{W} / \lambda + \mu}, \quad \text{not}
                  \quad -\lambda \frac{\dot{W} + \mu w}{\ddot{W} + \mu} \\
                  w + \Delta w &= \frac{\ddot{W}}{\ddot{W} + \lambda \mu}
                  \left(w - \lambda \frac{\dot{W}}{\ddot{W}}\right)
                  \end{aligned}""",
          kind="identity", verdict="holds", ours=True,
          implements=(theorems.implicit_step, Bound.value, ResidualPartitioning.direction),
          uses=("3", "claim-learning-rate"))
def extension_penalty(rng):
    at = cases.by_chance(rng)
    net, l2, rate = at.network, rng.uniform(0.05, 0.5), rng.uniform(3.0, 30.0)
    plain, with_penalty = bound_at(at, "jensen"), bound_at(at, "jensen", l2=l2)
    steps = cases.steps(rng, net.size, 6)
    gained = [with_penalty.value(d) - plain.value(d) for d in steps]
    penalties = [l2 / 2 * sum((w + v) ** 2 for w, v in zip(net.theta, d)) for d in steps]
    g, h = reference.algorithm(at)
    step = rate * direction(at, rate, l2, "implicit")

    def model(d):
        value = g @ d + h @ d**2 / (2 * rate) + l2 / 2 * np.sum((net.theta + d) ** 2)
        return value, g + h * d / rate + l2 * (net.theta + d)

    least = optimize.minimize(model, np.zeros(net.size), jac=True, method="BFGS",
                              options={"gtol": 1e-12, "maxiter": 2000}).x
    alone, new = net.theta - rate * g / h, net.theta + step
    return [Equal("the bound with penalty minus the bound without, against the penalty itself",
                  gained, penalties, 1e-10),
            Equal("implicit step against a numerical minimiser of its model", step, least, 1e-6),
            Equal("implicit step against its formula", step,
                  theorems.implicit_step(g, h, net.theta, rate, l2), 1e-10),
            Equal("implicit step: slope of its model", model(step)[1], np.zeros_like(step), 1e-12,
                  scale=l2 * net.theta),
            Equal("plain step", rate * direction(at, rate, l2, "plain"),
                  -rate * (g + l2 * net.theta) / (h + l2), 1e-12),
            Equal("both are the same at rate 1", direction(at, 1.0, l2, "implicit"),
                  -(g + l2 * net.theta) / (h + l2), 1e-12),
            Equal("implicit: new parameters against the data's own step's, shrunk", new,
                  alone / (1 + rate * l2 / h), 1e-10),
            AtMost("implicit: size of the new parameters against the data's own step's",
                   np.abs(new), np.abs(alone)),
            AtMost("implicit: 0 against new parameter times the data's own step's", 0.0,
                   new * alone), *overshoot(cases.with_residual(at, 0.0), rate),
            Case(theta=net.theta, W_dot=g, W_ddot=h, rate=rate, l2=l2, implicit=new,
                 data_alone=alone)]


def direction(at, rate, l2, penalty):
    """What the optimizer adds, divided by the rate."""
    return ResidualPartitioning(at.network, at.loss_function, rate, l2=l2, output="jensen",
                                penalty=penalty).direction(at)


def overshoot(at, rate):
    """Claims on a perfect fit, where the penalty alone moves the parameters: which of them grow."""
    theta, h = at.network.theta, reference.algorithm(at)[1]
    middle = np.sort(h)[len(h) // 4: 3 * len(h) // 4]
    k = int(np.argmax(np.diff(np.log(middle))))  # a clear gap, so that rounding decides nothing
    l2 = float(np.sqrt(middle[k] * middle[k + 1]) / (rate / 2 - 1))
    plain, implicit = (theta + rate * direction(at, rate, l2, penalty)
                       for penalty in ("plain", "implicit"))
    grows = np.abs(plain) > np.abs(theta)
    return [Property("plain: parameters grow exactly where curvature < l2 (rate / 2 - 1)",
                     bool(np.array_equal(grows, h < l2 * (rate / 2 - 1)))),
            Property("plain: some grow and some do not", bool(grows.any() and not grows.all())),
            Equal("plain: factor", plain / theta, 1 - rate * l2 / (h + l2), 1e-10),
            Equal("implicit: factor", implicit / theta, 1 / (1 + rate * l2 / h), 1e-10),
            AtMost("implicit: nothing grows", np.abs(implicit), np.abs(theta))]
