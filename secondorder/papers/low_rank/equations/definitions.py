"""The network, its output and its objective, (10)-(17) and Table 1."""

import numpy as np

from ....ledger import Case, Equal, Property, equation
from ....nets import ReLU, SoftmaxCrossEntropy
from ....nets.losses.classes import softmax
from .. import PAPER, quantities, relu
from . import reference
from .batch_cases import rows
from .cases import ACTIVATIONS, compared, kinds, network_case, stacked


@equation(PAPER, "10", "12", "13",
          statement="Layer by layer: v^(0) = x, an activation of weighted sums, and weighted sums "
                    "for the output.",
          formula=r"""\begin{aligned} v^{(k),j} &= \mathcal{A}(w_i^{(k),j} v^{(k-1),i}), \quad
                      k = 1, \dots, n \tag{10} \\
                      v^{(0),i} &= x^i \tag{12} \\
                      p^j &= u_i^j v^{(n),i} \tag{13} \end{aligned}""",
          kind="definition", verdict="holds",
          implements=(quantities.layer_output, quantities.quantities), uses=())
def equations_10_12_and_13(rng):
    cases = list(kinds(rng, *ACTIVATIONS))
    claims = compared("v of all layers against loops", lambda sample: stacked(sample.v),
                      lambda case: stacked(map(reference.values, case.v)), lambda n: [()], cases)
    claims += compared("p against loops", lambda sample: sample.p,  # (13)
                       lambda case: reference.values(case.p), lambda n: [()], cases)
    case = network_case(rng, "tanh")
    first = quantities.layer_output(case.sample.w[1], case.sample.v[0], np.tanh)
    # (10)
    return [Equal("one layer against loops", first, reference.values(case.v[1]), 1e-13), *claims,
            Equal("v^(0) against x", case.sample.v[0], case.evaluation.x[0].copy(), 1e-15),  # (12)
            Case(x=case.sample.v[0], p=case.sample.p)]


@equation(PAPER, "11", "17",
          statement="The ReLU and, off 0, its slope; at 0, where there is none, the package takes "
                    "0.",
          formula=r"""\begin{gathered} \mathcal{A}(z) = \max(z, 0) \tag{11} \\
                      \mathcal{A}'(z) = \begin{cases} 1 & z > 0 \\
                      0 & z < 0 \end{cases} \tag{17} \end{gathered}""",
          kind="definition", verdict="holds",
          implements=(relu.rectifier, relu.rectifier_slope, ReLU.value, ReLU.slope), uses=())
def equations_11_and_17(rng):
    f, h = ReLU(), 1e-3
    z = rng.uniform(0.1, 2, 8) * np.array([-1, 1] * 4)
    larger, quotient = [max(value, 0.0) for value in z], (f.value(z + h) - f.value(z - h)) / (2 * h)
    return [Equal("A against the larger of z and 0", relu.rectifier(z), larger, 1e-15),  # (11)
            # (17)
            Equal("A' against a difference quotient", relu.rectifier_slope(z), quotient, 1e-12),
            Equal("the package's ReLU against the larger of z and 0", f.value(z), larger, 1e-15),
            Equal("its slope against a difference quotient", f.slope(z), quotient, 1e-12),
            Property("its slope at 0", float(f.slope(np.zeros(1))[0]), 0.0),
            Case(z=z)]


@equation(PAPER, "14",
          statement="The softmax of the output.",
          formula=r"\hat{y}^j = \frac{\exp(p^j)}{\sum_l \exp(p^l)}",
          kind="definition", verdict="holds", implements=softmax, uses=())
def equation_14(rng):
    p = rng.normal(size=(2, 4)) * 3
    left, by_hand = (softmax(p),
                     [[np.exp(a) / sum(np.exp(b) for b in row) for a in row] for row in p])
    return [Equal("against its formula", left, by_hand, 1e-14),
            Equal("sum", left.sum(axis=1), np.ones(2), 1e-14),
            Equal("large outputs do not overflow", softmax(p + 1e4), by_hand, 1e-11),
            Case(p=p, y_hat=left)]


@equation(PAPER, "15",
          statement="The cross-entropy of labels and softmax.",
          formula=r"f = -y^l \ln \hat{y}^l",
          kind="definition", verdict="holds",
          implements=(quantities.cross_entropy, SoftmaxCrossEntropy.value), uses=("14",))
def equation_15(rng):
    p, y = rng.normal(size=(3, 4)), rng.dirichlet(np.ones(4), 3)
    by_hand = [sum(-t * np.log(np.exp(a) / sum(np.exp(row))) for t, a in zip(target, row))
               for target, row in zip(y, p)]
    return [Equal("the formula, of a softmax, by loops",
                  quantities.cross_entropy(y, softmax(p)), by_hand, 1e-14),
            Equal("against its formula", SoftmaxCrossEntropy().value(p, y), by_hand, 1e-14),
            Case(p=p, y=y)]


@equation(PAPER, "16",
          statement="The objective is the mean of f over the samples.",
          formula=r"F = E[f]",
          kind="definition", verdict="holds",
          implements=(quantities.objective,), uses=("15",))
def equation_16(rng):
    case = network_case(rng, "tanh", samples=5)
    claims = []
    for row in rows(rng):
        net, loss, x, y = row.model
        alone = [net.evaluate(loss, x[b : b + 1], y[b : b + 1]).losses[0] for b in range(len(x))]
        claims += [Equal("F against the f of samples one by one", quantities.objective(alone),
                         sum(map(float, alone)) / len(x), row.tolerance, case=row.name),
                   Equal("the evaluation's F against them", row.at.loss,
                         sum(map(float, alone)) / len(x), row.tolerance, case=row.name)]
    return [*claims, Equal("the first f against jets", case.evaluation.losses[0], case.f.value,
                           case.tolerance), Case(f=alone)]


@equation(PAPER, "table-1",
          statement="The nomenclature: n, x, v, w, A, u, p, labels, f and F, as one object at one "
                    "sample.",
          formula=r"""n,\; x^i,\; v^{(k),j},\; w_i^{(k),j},\; \mathcal{A},\; u_i^j,\; p^j,\;
                      \hat{y}^l,\; y^l,\; f,\; F""",
          kind="definition", verdict="definition", implements=quantities.quantities,
          uses=("10", "14", "15", "16"))
def table_1(rng):
    def by_layer(which):
        return lambda case: stacked(
            reference.of_layer(case.activation, k)[which](reference.values(z))
            for k, z in enumerate(case.z[1:], start=1))

    def in_p(case):
        return case.objective(reference.variables(case.sample.p)[0])

    claims, case, cases = [], network_case(rng, "softplus"), list(kinds(rng, *ACTIVATIONS))
    for name, of_sample, right in (
            ("v", lambda s: stacked(s.v), lambda c: stacked(map(reference.values, c.v))),
            ("z", lambda s: stacked(s.z[1:]), lambda c: stacked(map(reference.values, c.z[1:]))),
            ("slopes", lambda s: stacked(s.slope[1:]), by_layer(1)),
            ("second derivatives", lambda s: stacked(s.second_derivative[1:]), by_layer(2)),
            ("f_p", lambda s: s.f_p, lambda c: in_p(c).first),
            ("f_pp", lambda s: s.f_pp, lambda c: in_p(c).second)):
        claims += compared(f"{name}, against jets", of_sample, right, lambda n: [()], cases,
                           lambda c: 1.0)
    s = case.sample
    return [Property("n hidden layers", s.n, 3),
            Property("shapes of w and u", tuple(w.shape for w in (*s.w[1:], s.u)),
                     ((4, 3), (3, 4), (4, 3), (3, 4))),
            *claims, Case(x=s.v[0], u=s.u, p=s.p, f=case.f.value)]
