"""The network, its output and its objective, (10)-(17) and Table 1."""

import numpy as np

from ....ledger import Case, Equal, Property, equation
from ....nets import ReLU, SoftmaxCrossEntropy
from ....nets.losses import softmax
from ....nets.network import Evaluation
from .. import PAPER, quantities
from . import reference
from .cases import TOLERANCE, network_case, stacked


@equation(
    PAPER, "10", "12", "13",
    statement="Layer by layer: v^(0) = x, an activation of weighted sums, and weighted sums for "
              "the output.",
    formula=r"\begin{aligned} v^{(k),j} &= \mathcal{A}(w_i^{(k),j} v^{(k-1),i}), \quad k = 1, "
            r"\dots, n \\ v^{(0),i} &= x^i \\ p^j &= u_i^j v^{(n),i} \end{aligned}",
    kind="definition",
    verdict="holds",
    implements=(quantities.layer_output, quantities.quantities),
)
def forward(rng):
    claims = []
    for activation in ("relu", "tanh"):
        case = network_case(rng, activation)
        s, f = case.sample, reference.ACTIVATIONS[activation][0]
        by_loops = [reference.values(v) for v in case.v]
        claims += [
            Equal("v of all layers against loops", stacked(s.v), stacked(by_loops), TOLERANCE,
                  case=activation),
            Equal("p against loops", s.p, reference.values(case.p), TOLERANCE, case=activation),
            Equal("one layer against loops", quantities.layer_output(s.w[1], s.v[0], f),
                  by_loops[1], TOLERANCE, case=activation),
            Equal("v^(0) against x", s.v[0], case.evaluation.x[0].copy(), 1e-15, case=activation)]
    return [*claims, Case(x=s.v[0], p=s.p)]


@equation(
    PAPER, "11", "17",
    statement="The ReLU and, off 0, its slope; at 0, where there is none, the package takes 0.",
    formula=r"\begin{gathered} \mathcal{A}(z) = \max(z, 0) \\ \mathcal{A}'(z) = \begin{cases} 1 & "
            r"z > 0 \\ 0 & z < 0 \end{cases} \end{gathered}",
    kind="definition",
    verdict="holds",
    implements=(ReLU.value, ReLU.slope),
)
def rectifier(rng):
    f, h = ReLU(), 1e-3
    z = rng.uniform(0.1, 2, 8) * np.array([-1, 1] * 4)
    return [Equal("value against the larger of z and 0",
                  f.value(z), [max(value, 0.0) for value in z], 1e-15),
            Equal("slope against a difference quotient",
                  f.slope(z), (f.value(z + h) - f.value(z - h)) / (2 * h), 1e-12),
            Property("slope at 0", float(f.slope(np.zeros(1))[0]), 0.0),
            Case(z=z)]


@equation(
    PAPER, "14",
    statement="The softmax of the output.",
    formula=r"\hat{y}^j = \frac{\exp(p^j)}{\sum_l \exp(p^l)}",
    kind="definition",
    verdict="holds",
    implements=(softmax,),
)
def softmax_of_the_output(rng):
    p = rng.normal(size=(2, 4)) * 3
    made, by_hand = (softmax(p),
                     [[np.exp(a) / sum(np.exp(b) for b in row) for a in row] for row in p])
    return [Equal("against its formula", made, by_hand, 1e-14),
            Equal("sum", made.sum(axis=1), np.ones(2), 1e-14),
            Equal("large outputs do not overflow", softmax(p + 1e4), by_hand, 1e-11),
            Case(p=p, y_hat=made)]


@equation(
    PAPER, "15",
    statement="The cross-entropy of labels and softmax.",
    formula=r"f = -y^l \ln \hat{y}^l",
    kind="definition",
    verdict="holds",
    implements=(SoftmaxCrossEntropy.value,),
)
def cross_entropy(rng):
    p, y = rng.normal(size=(3, 4)), rng.dirichlet(np.ones(4), 3)
    by_hand = [sum(-t * np.log(np.exp(a) / sum(np.exp(row))) for t, a in zip(
        target, row)) for target, row in zip(y, p)]
    return [Equal("against its formula", SoftmaxCrossEntropy().value(p, y), by_hand, 1e-14),
            Case(p=p, y=y)]


@equation(
    PAPER, "16",
    statement="The objective is the mean of f over the samples.",
    formula=r"F = E[f]",
    kind="definition",
    verdict="holds",
    implements=(Evaluation.loss,),
)
def objective(rng):
    case = network_case(rng, "tanh", samples=5)
    at = case.evaluation
    alone = [at.network.evaluate(at.loss_function, at.x[k : k + 1],
                                 at.y[k : k + 1]).losses[0] for k in range(5)]
    return [Equal("against the samples one by one", at.loss, sum(alone) / 5, 1e-14),
            Equal("the first f against jets", alone[0], case.f.value, TOLERANCE),
            Case(f=alone)]


@equation(
    PAPER, "table-1",
    statement="The nomenclature: n, x, v, w, A, u, p, labels, f and F, as one object at one "
              "sample.",
    formula=r"n,\; x^i,\; v^{(k),j},\; w_i^{(k),j},\; \mathcal{A},\; u_i^j,\; p^j,\; \hat{y}^l,\; "
            r"y^l,\; f,\; F",
    kind="definition",
    verdict="definition",
    implements=(quantities.quantities,),
)
def nomenclature(rng):
    case = network_case(rng, "softplus")
    s = case.sample
    p = reference.variables(s.p)[0]
    f = reference.cross_entropy(p, case.evaluation.y[0])
    return [Property("n hidden layers", s.n, 3),
            Property("shapes of w and u",
                     tuple(w.shape for w in (*s.w[1:], s.u)), ((4, 3), (3, 4), (4, 3), (3, 4))),
            Equal("v", stacked(s.v), stacked(reference.values(v) for v in case.v), TOLERANCE),
            Equal("z", stacked(s.z[1:]),
                  stacked(reference.values(z) for z in case.z[1:]), TOLERANCE),
            Equal("slopes", stacked(s.slope[1:]),
                  stacked(reference.ACTIVATIONS["softplus"][1](z) for z in s.z[1:]), TOLERANCE),
            Equal("second derivatives", stacked(s.curvature[1:]),
                  stacked(reference.ACTIVATIONS["softplus"][2](z) for z in s.z[1:]), TOLERANCE),
            Equal("f_p against jets", s.f_p, f.first, TOLERANCE),
            Equal("f_pp against jets", s.f_pp, f.second, TOLERANCE),
            Case(x=s.v[0], u=s.u, p=s.p, f=f.value)]
