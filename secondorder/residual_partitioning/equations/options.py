"""What the options of the fast path stand for: other starts at the loss, the true Hessian, the penalty.

As in ``extensions``, the paper says nothing of these; the formulas are written in its notation, with Z = Y_ddot u.
"""

import numpy as np
from scipy import optimize

from ... import exact
from ...nets import Activation, BoundedCriterion, SoftmaxCrossEntropy
from ...ledger import AtMost, Case, Equal, Property, equation
from .. import PAPER
from .. import bound as bound_of
from .. import bounding
from ..bound import LinearRule, OUTPUTS
from ..optimizer import ResidualPartitioning
from . import cases, fractions
from .extensions import CURVED, bound_at, relative_slack


@equation(PAPER, "extension-pairwise",
          statement="Row sums of the loss's absolute Hessian, weighted by u, start the bound for every loss; never "
                    "above Jensen's start in sum.",
          formula=r"Z_{si}^{(L)} = \sum_{i'} \left| \frac{\partial^2 f}{\partial y_{si}^{(L)} \partial y_{si'}^{(L)}} "
                  r"\right| "
                  r"u_{si'}^{(L)}",
          kind="inequality", verdict="holds", implements=(OUTPUTS["pairwise"], OUTPUTS["jensen"], OUTPUTS["diagonal"]))
def extension_pairwise(rng):
    claims, sums = [], []
    for loss in (SoftmaxCrossEntropy(), BoundedCriterion()):
        start = cases.evaluation(rng, "tanh", "softmax", sizes=(3, 4, 5), scale=3.0)
        made = start.network.evaluate(loss, start.x, start.y)
        b = bound_at(made, output="pairwise")
        Z, u, F = b.carried[-1], b.total_gradients[-1], loss.hessian(made.outputs, made.y)
        least = np.array([np.linalg.eigvalsh(np.diag(Z[s] / u[s]) - F[s])[0] for s in range(len(Z))])
        claims.append(AtMost(f"no negative eigenvalue of Z / u minus the Hessian, {type(loss).__name__}", 0.0, least,
                             tolerance=1e-12, scale=np.abs(F)))
        if loss.convex:
            p = np.exp(made.outputs) / np.exp(made.outputs).sum(axis=1, keepdims=True)
            closed = np.array([[p[s, i] * ((1 - 2 * p[s, i]) * u[s, i] + sum(p[s, j] * u[s, j] for j in range(5)))
                                for i in range(5)] for s in range(len(p))])
            claims.append(Equal("closed form for the softmax", Z, closed, tolerance=1e-12))
            jensen = bound_at(made, output="jensen").carried[-1]
            sums = [AtMost("sum of u Z, sample by sample, against Jensen's", np.sum(u * Z, axis=1),
                           np.sum(u * jensen, axis=1))]
    made = cases.evaluation(rng, "sigmoid", "squared")
    pairwise, diagonal = (bound_at(made, output=output) for output in ("pairwise", "diagonal"))
    return claims + sums + [Equal("diagonal loss: the same as no partition", pairwise.curvature, diagonal.curvature,
                                  tolerance=1e-13),
                            Equal("and Z is u there, by loops", pairwise.carried[-1],
                                  fractions.total_gradients_by_loops(made)[-1], tolerance=1e-13),
                            Case(F=F, u_L=u, Z_L=Z)]


@equation(PAPER, "extension-cross-terms",
          statement="Bounding the products that Eq. (4) drops makes the bound one on the true second-order model.",
          formula=r"\ddot{W}_{ij} \mathrel{+}= \frac{1}{S} \sum_s |\dot{Y}_{si}^{(\ell+1)}| u_{sj}^{(\ell)} \; (j \ge "
                  r"1), \quad "
                  r"Z_{sj}^{(\ell)} \mathrel{+}= \sum_i |\dot{Y}_{si}^{(\ell+1)}|",
          kind="inequality", verdict="holds", implements=(bound_of, LinearRule.backward))
def extension_cross_terms(rng):
    slack = []
    nets = cases.variety(rng, samples=3, scale=rng.uniform(1, 3)), cases.variety(rng, CURVED, samples=3, fixed=(2,))
    for made in [*nets[0].values(), *nets[1].values()]:
        H = exact.hessian(made.network, made.loss_function, made.x, made.y, method="products")
        for output in ("auto", "pairwise"):
            slack.append(relative_slack(bound_at(made, cross=True, output=output).curvature, H))
    added = []
    for name, fixed in (("all layers trained", ()), ("the last layer fixed", (2,)), ("the middle layer fixed", (1,))):
        made = cases.evaluation(rng, "leaky_relu", fixed=fixed)
        more = bound_at(made, cross=True).curvature - bound_at(made).curvature
        added.append(Equal(f"what the products add, {name}, by loops", more, added_by_products(made), tolerance=1e-12))
    made = cases.evaluation(rng, "tanh", fixed=(1, 2))
    added.append(Equal("only the first layer trained: the products add nothing", bound_at(made, cross=True).curvature,
                       bounding.explicit_bound(made, output_phi=None).curvature, tolerance=1e-12))
    small = cases.product_of_weights()
    H = exact.hessian(small.network, small.loss_function, small.x, small.y)
    without, crossed = (bound_at(small, cross=cross).curvature for cross in (False, True))
    return [AtMost("no negative eigenvalue of bound minus true Hessian", 0.0, np.array(slack), tolerance=1e-12,
                   scale=1.0),
            AtMost("y = w2 w1 x at zero: the same", 0.0, cases.least_eigenvalue(crossed, H), tolerance=1e-12,
                   scale=1.0),
            AtMost("y = w2 w1 x at zero: without the products the least eigenvalue is far below 0",
                   cases.least_eigenvalue(without, H), -1.0, tolerance=1e-12),
            *added, Case(theta=small.network.theta, without=without, crossed=crossed, true_hessian=H)]


def added_by_products(made):
    """What cross terms add to the curvature of a chain of affine and piecewise-linear layers, (P,), by loops."""
    net, S, us = made.network, made.samples, fractions.total_gradients_by_loops(made)
    more, pieces = np.zeros_like(made.outputs), []  # what is added to Z
    for k in reversed(range(len(net.layers))):
        layer, y, u, g = net.layers[k], made.saved[k].input, us[k], made.deltas[k]
        below = np.zeros_like(y)
        if isinstance(layer, Activation):
            for s, j in np.ndindex(y.shape):
                below[s, j] = abs(layer.function.slope(y[s, j])) * more[s, j]
            more = below
            continue
        weight, bias = np.zeros_like(layer.weight), np.zeros_like(layer.bias)
        for s, i in np.ndindex(more.shape):
            bias[i] += more[s, i] / S
            for j in range(y.shape[1]):
                weight[i, j] += (more[s, i] * abs(y[s, j]) + abs(g[s, i]) * u[s, j]) / S
                below[s, j] += more[s, i] * abs(layer.weight[i, j]) + (abs(g[s, i]) if layer.trainable else 0.0)
        pieces += [bias, weight.ravel()] if layer.trainable else []
        more = below
    return np.concatenate(pieces[::-1])


@equation(PAPER, "extension-penalty",
          statement="A squared penalty is separable and enters exactly; if the rate scales the data's curvature only, "
                    "every new parameter lies, at every rate, between zero and what the data's own step at that rate "
                    "would make it.",
          formula=r"""\begin{aligned}
                  \Delta w &= -\frac{\dot{W} + \mu w}{\ddot{W} / \lambda + \mu}, \quad \text{not} \quad
                  -\lambda \frac{\dot{W} + \mu w}{\ddot{W} + \mu} \\
                  w + \Delta w &= \frac{\ddot{W}}{\ddot{W} + \lambda \mu}
                  \left(w - \lambda \frac{\dot{W}}{\ddot{W}}\right)
                  \end{aligned}""",
          kind="identity", verdict="holds", implements=(bound_of, ResidualPartitioning.direction))
def extension_penalty(rng):
    made = cases.evaluation(rng, rng.choice(CURVED), rng.choice(["squared", "softmax"]), samples=3)
    net, l2, rate = made.network, rng.uniform(0.05, 0.5), rng.uniform(3.0, 30.0)
    plain, with_penalty = bound_at(made, output="jensen"), bound_at(made, output="jensen", l2=l2)
    steps = cases.steps(rng, net.size, 6)
    gained = np.array([with_penalty.value(d) - plain.value(d) for d in steps])
    penalties = np.array([l2 / 2 * sum((w + v) ** 2 for w, v in zip(net.theta, d)) for d in steps])

    explicit = bounding.explicit_bound(made)
    g, h = explicit.gradient, explicit.curvature
    step = rate * direction(made, rate, l2, "implicit")

    def model(d):
        value = g @ d + h @ d**2 / (2 * rate) + l2 / 2 * np.sum((net.theta + d) ** 2)
        return value, g + h * d / rate + l2 * (net.theta + d)

    found = optimize.minimize(model, np.zeros(net.size), jac=True, method="BFGS",
                              options={"gtol": 1e-12, "maxiter": 2000}).x
    h_plain = bound_at(made, output="jensen").curvature
    closed = -rate * (g + l2 * net.theta) / (h_plain + l2)
    alone, new = net.theta - rate * g / h, net.theta + step
    return [Equal("the bound with penalty minus the bound without, against the penalty itself", gained, penalties,
                  tolerance=1e-10),
            Equal("implicit step against a numerical minimiser of its model", step, found, tolerance=1e-6),
            Equal("implicit step: slope of its model", model(step)[1], np.zeros_like(step), tolerance=1e-12,
                  scale=l2 * net.theta),
            Equal("plain step", rate * direction(made, rate, l2, "plain"), closed, tolerance=1e-12),
            Equal("both are the same at rate 1", direction(made, 1.0, l2, "implicit"), -(g + l2 * net.theta) / (h + l2),
                  tolerance=1e-12),
            Equal("implicit: new parameters against those of the data's own step, shrunk", new,
                  alone / (1 + rate * l2 / h), tolerance=1e-10),
            AtMost("implicit: size of the new parameters against those of the data's own step", np.abs(new),
                   np.abs(alone)),
            AtMost("implicit: 0 against new parameter times that of the data's own step", 0.0, new * alone),
            *overshoot(fractions.with_residual(made, 0.0), rate),
            Case(theta=net.theta, W_dot=g, W_ddot=h, rate=rate, l2=l2, implicit=new, data_alone=alone)]


def direction(made, rate, l2, penalty):
    """What the optimizer adds, divided by the rate."""
    method = ResidualPartitioning(made.network, made.loss_function, rate, l2=l2, output="jensen", penalty=penalty)
    return method.direction(made)


def overshoot(made, rate):
    """Claims on a perfect fit, where the penalty alone moves the parameters: which of them grow."""
    theta, h = made.network.theta, bounding.explicit_bound(made).curvature
    middle = np.sort(h)[len(h) // 4: 3 * len(h) // 4]
    k = int(np.argmax(np.diff(np.log(middle))))  # a clear gap, so that rounding decides nothing
    l2 = float(np.sqrt(middle[k] * middle[k + 1]) / (rate / 2 - 1))
    plain, implicit = (theta + rate * direction(made, rate, l2, penalty) for penalty in ("plain", "implicit"))
    grows = np.abs(plain) > np.abs(theta)
    return [Property("plain: parameters grow exactly where curvature < l2 (rate / 2 - 1)",
                     bool(np.array_equal(grows, h < l2 * (rate / 2 - 1)))),
            Property("plain: some grow and some do not", bool(grows.any() and not grows.all())),
            Equal("plain: factor", plain / theta, 1 - rate * l2 / (h + l2), tolerance=1e-10),
            Equal("implicit: factor", implicit / theta, 1 / (1 + rate * l2 / h), tolerance=1e-10),
            AtMost("implicit: nothing grows", np.abs(implicit), np.abs(theta), tolerance=1e-12)]
