"""Equations (5)-(7), (15)-(17), Supplement D: means of products as products of means."""

import numpy as np

from ....ledger import (AtMost, Case, Counterexample, Equal, Printed, Property, equation)
from ....nets.activations import activation_function
from .. import PAPER, curvatures, errors, hessians, rules
from . import cases, reference
from .conditions import ALIKE

MONOTONE = {"sigmoid": 0.25, "tanh": 1.0, "softplus": 1.0}  # activations with 0 <= h' <= L, and L
LIPSCHITZ = MONOTONE | {"sin": 1.0}


def relative(left_out, whole):
    """Frobenius norm of what is left out, relative to the whole."""
    return float(np.linalg.norm(left_out) / np.linalg.norm(whole))


@equation(PAPER, "u-expect",
          where="Expectation Approximation",
          statement="The covariance of an entry of h h^T and an entry of g g^T is left out. It is "
                    "not negligible in general, and zero where one of the two does not vary.",
          formula=r"\begin{aligned} & \mathbb{E}_i[[\mathbf{h}_i^{t-1} \otimes "
                  r"\mathbf{h}_i^{(t-1)T}]_{uv} \cdot [\nabla_{\mathbf{b}^t} \xi_i \otimes "
                  r"\nabla_{\mathbf{b}^t} \xi_i^T]_{\mu\nu}] \\ & \approx "
                  r"\mathbb{E}_i[[\mathbf{h}_i^{t-1} \otimes \mathbf{h}_i^{(t-1)T}]_{uv}] \cdot "
                  r"\mathbb{E}_i[[\nabla_{\mathbf{b}^t} \xi_i \otimes \nabla_{\mathbf{b}^t} "
                  r"\xi_i^T]_{\mu\nu}]. \end{aligned}",
          kind="approximation", verdict="conditional", condition=ALIKE,
          implements=(hessians.mean_outer, hessians.cov_t))
def u_expect(rng):
    case = cases.case(rng, "sigmoid", "softmax", samples=40)
    h, g = case.inputs(1), case.deltas(1)
    outer = g[:, :, None] * g[:, None, :]

    def both(h):
        whole = sum(reference.kron(np.outer(a, a), np.outer(b, b)) for a, b in zip(h, g)) / len(g)
        return (whole,
                reference.kron(hessians.mean_outer(h), hessians.mean_outer(g)),
                hessians.cov_t(h, outer))

    whole, product, covariance = both(h)
    same, its_product, nothing = both(h[0] * rng.choice([-1.0, 1.0], size=(40, 1)))
    return [
        Equal("mean of products minus product of means, against the covariance", whole - product,
              covariance, 1e-12),
        Equal("E[h h^T] by loops", hessians.mean_outer(h),
              sum(np.outer(row, row) for row in h) / len(h), 1e-12),
        Equal("inputs that differ in sign only", same, its_product, 1e-12),
        Equal("and their covariance", nothing, np.zeros_like(nothing), 1e-12,
              scale=np.abs(same).max()),
        Counterexample(AtMost("relative size of what is left out, normal inputs, against 1 %",
                              relative(covariance, whole), 0.01, 1e-3)),
        Case(h=h, g=g),
    ]


@equation(PAPER, "5",
          where="Expectation Approximation",
          statement="The mean Hessian in the weights is the product of the means plus the "
                    "element-wise covariance cov-t (with 1/S), which is dropped; that is small "
                    "only where inputs or Hessians hardly vary.",
          formula=r"\mathbb{E}_i[\nabla_{\mathbf{W}^t}^2 \xi_i] = \text{EhhT}^{t-1} \otimes "
                  r"\mathbb{E}_i[\nabla_{\mathbf{b}^t}^2 \xi_i] + \text{cov-t} \approx "
                  r"\text{EhhT}^{t-1} \otimes \mathbb{E}_i[\nabla_{\mathbf{b}^t}^2 \xi_i]",
          kind="approximation", verdict="conditional", condition=ALIKE,
          implements=(hessians.mean_weight_hessian, hessians.cov_t, curvatures.weight_block))
def equation_5(rng):
    claims = []
    for case in [*cases.unusual(rng, ("eleven instances", "no activation after layer 1")),
                 *cases.variety(rng, ("sigmoid", "sin"))]:
        for t in (1, 3):
            h, H = case.inputs(t), case.exact()[t - 1]
            mean = sum(reference.kron(np.outer(a, a), B) for a, B in zip(h, H)) / len(h)
            product = curvatures.weight_block(h, H.mean(axis=0))
            name = f"{case.name}, layer {t}"
            claims += [Equal("identity", hessians.mean_weight_hessian(h, H), mean, 1e-12,
                             case=name),
                       Equal("product of means", product, mean - hessians.cov_t(h, H), 1e-12,
                             case=name)]
    same = np.broadcast_to(h[0], h.shape)
    claims += [
        Equal("equal inputs: both sides of the second step",
              curvatures.weight_block(same, H.mean(axis=0)),
              sum(reference.kron(np.outer(a, a), B) for a, B in zip(same, H)) / len(h), 1e-12),
        Counterexample(AtMost("relative size of cov-t, normal inputs, against 1 %",
                              relative(hessians.cov_t(case.inputs(1), case.exact()[0]),
                                       mean_of(case, 1)), 0.01, 1e-3)),
    ]
    return [*claims, Case(h=h, H=H)]


def mean_of(case, t):
    """Mean of (4c) over the batch, by loops."""
    return sum(reference.kron(np.outer(a, a), B)
               for a, B in zip(case.inputs(t), case.exact()[t - 1])) / len(case.x)


def second_line_of_6(W, B, g, slope, curvature):
    """(6), second line: a mean over instances of diag(h') W^T B W diag(h') plus the diagonal."""
    total = np.zeros((W.shape[1],) * 2)
    for s in range(len(slope)):
        D = np.diag(slope[s])
        total += D @ W.T @ B @ W @ D + np.diag(curvature[s] * (W.T @ g[s]))
    return total / len(slope)


@equation(PAPER, "6",
          statement="One step down with the mean Hessian above in the place of each instance's "
                    "own; the diagonal term stays a mean over instances and is exact.",
          formula=r"\begin{aligned} & \mathbb{E}_i[\nabla_{\mathbf{b}^{t-1}}^2 \xi_i] \\ & "
                  r"\approx \mathbb{E}_i[\text{diag}(\mathbf{h}_i^{(t-1)'}) \mathbf{W}^{tT} "
                  r"\mathbb{E}_i[\nabla_{\mathbf{b}^t}^2 \xi_i] \mathbf{W}^t "
                  r"\text{diag}(\mathbf{h}_i^{(t-1)'}) \\ & \quad + "
                  r"\text{diag}(\mathbf{h}_i^{(t-1)''}) \odot (\mathbf{W}^{tT} "
                  r"\nabla_{\mathbf{b}^t} \xi_i)] \\ & = (\mathbf{W}^{tT} "
                  r"\mathbb{E}_i[\nabla_{\mathbf{b}^t}^2 \xi_i] \mathbf{W}^t) \odot "
                  r"\text{EhhT}^{(t-1)'} \\ & \quad + "
                  r"\mathbb{E}_i[\text{diag}(\mathbf{h}_i^{(t-1)''}) \odot (\mathbf{W}^{tT} "
                  r"\nabla_{\mathbf{b}^t} \xi_i)]. \end{aligned}",
          kind="approximation", verdict="conditional", condition=ALIKE,
          implements=(curvatures.expectation_step, curvatures.expectation,
                      errors.expectation_error))
def equation_6(rng):
    claims = []
    for case in [*cases.variety(rng), *cases.unusual(rng)]:
        whole = curvatures.expectation(case.evaluation, case.units)
        top = reference.bias_hessians(case, case.depth).mean(axis=0)
        for t, (B, by_loops) in enumerate(zip(whole, reference.recursion(case, top, 1)), start=1):
            options = {"case": f"{case.name}, layer {t}"}
            claims += [Equal("the whole network, by loops", B, by_loops, case.allowed(1e-7),
                             **options),
                       Property("in the network's precision", B.dtype, case.network.dtype,
                                **options)]
        for t in (3, 2):
            W, arguments = case.weights(t), (reference.bias_gradients(case, t),
                                             *reference.slopes(case, t - 1))
            above, below = (reference.bias_hessians(case, one) for one in (t, t - 1))
            B, options = above.mean(axis=0), {"case": f"{case.name}, layer {t - 1}"}
            step = curvatures.expectation_step(W, B, *arguments)
            claims += [Equal("third line against the second", step,
                             second_line_of_6(W, B, *arguments), 1e-12, **options),
                       Equal("exact mean minus one step from it, against the predicted error",
                             below.mean(axis=0) - step,
                             errors.expectation_error(W, above, arguments[1]), 1e-7,
                             scale=np.abs(below).max(), **options)]
    return [*claims, *one_step(rng), Case(W=W, B=B, slope=arguments[1])]


def one_step(rng):
    """One step of (6) for instances of one input, and for inputs that vary."""
    case, claims = cases.case(rng, "tanh", "softmax", samples=12, scale=1.5), []
    same = case.network.evaluate(case.evaluation.loss_function,
                                 np.broadcast_to(case.x[0], case.x.shape), case.y)
    alike = case._replace(x=same.x, evaluation=same, units=rules.units(same))
    for one in (alike, case):
        above, below = (reference.bias_hessians(one, t) for t in (2, 1))
        below_by_6 = curvatures.expectation_step(one.weights(2), above.mean(axis=0), one.deltas(2),
                                           *reference.slopes(one, 1))
        if one is alike:
            claims.append(Equal("instances of one input, and different labels", below_by_6,
                                below.mean(axis=0), 1e-7))
        else:
            claims.append(Counterexample(Equal("inputs that vary: one step against the exact mean",
                                               below_by_6, below.mean(axis=0), 1e-4)))
    return claims


def step(rng, activation="sigmoid", loss="softmax", samples=6):
    """W, H, slope of one step down, and the case."""
    case = cases.case(rng, activation, loss, samples=samples)
    return case.weights(2), case.exact()[1], case.hidden(1).slope, case


def covariance_by_loops(X, Y):
    """Covariance (1/S) of X and Y (S, m, m), entry by entry."""
    m = X.shape[1]
    out = np.empty((m, m))
    for u, v in np.ndindex(m, m):
        x, y = X[:, u, v], Y[:, u, v]
        out[u, v] = sum(a * b for a, b in zip(x, y)) / len(x) - sum(x) / len(x) * sum(y) / len(y)
    return out


@equation(PAPER, "15",
          where="Supplement D",
          statement="The exact mean minus (6), fed with the exact mean above, is the element-wise "
                    "covariance of what is carried down and the slopes' products; the diagonal "
                    "terms cancel.",
          formula=r"\begin{aligned} & \mathbb{E}_i[\text{diag}(\mathbf{h}_i^{(t-1)'}) "
                  r"\mathbf{W}^{tT} \nabla_{\mathbf{b}^t}^2 \xi_i \mathbf{W}^t "
                  r"\text{diag}(\mathbf{h}_i^{(t-1)'}) + \text{diag}(\mathbf{h}_i^{(t-1)''}) "
                  r"\odot (\mathbf{W}^{tT} \nabla_{\mathbf{b}^t} \xi_i)] \\ & - "
                  r"\mathbb{E}_i[\text{diag}(\mathbf{h}_i^{(t-1)'}) \mathbf{W}^{tT} "
                  r"\mathbb{E}_i[\nabla_{\mathbf{b}^t}^2 \xi_i] \mathbf{W}^t "
                  r"\text{diag}(\mathbf{h}_i^{(t-1)'}) + \text{diag}(\mathbf{h}_i^{(t-1)''}) "
                  r"\odot (\mathbf{W}^{tT} \nabla_{\mathbf{b}^t} \xi_i)] \\ & = "
                  r"\mathbb{E}_i[(\mathbf{W}^{tT} \nabla_{\mathbf{b}^t}^2 \xi_i \mathbf{W}^t) "
                  r"\odot (\mathbf{h}_i^{(t-1)'} \otimes \mathbf{h}_i^{(t-1)'T})] - "
                  r"(\mathbf{W}^{tT} \mathbb{E}_i[\nabla_{\mathbf{b}^t}^2 \xi_i] \mathbf{W}^t) "
                  r"\odot \text{EhhT}^{(t-1)'} \\ & = \text{Ele-Cov}(\mathbf{W}^{tT} "
                  r"\nabla_{\mathbf{b}^t}^2 \xi_i \mathbf{W}^t, \mathbf{h}_i^{(t-1)'} \otimes "
                  r"\mathbf{h}_i^{(t-1)'T}). \end{aligned}",
          kind="identity", verdict="holds",
          implements=(errors.expectation_error, errors.carried, hessians.ele_cov))
def equation_15(rng):
    claims = []
    for activation, samples in zip(LIPSCHITZ, (6, 11, 2, 9)):
        W, H, slope, case = step(rng, activation, samples=samples)
        saved, g = case.hidden(1), case.deltas(2)
        D = [np.diag(row) for row in saved.slope]
        exact = sum(D[s] @ W.T @ H[s] @ W @ D[s] + np.diag(saved.curvature[s] * (W.T @ g[s]))
                    for s in range(len(H))) / len(H)
        difference = exact - second_line_of_6(W, H.mean(axis=0), g, saved.slope, saved.curvature)
        mine = errors.expectation_error(W, H, slope)
        outer = np.array([np.outer(row, row) for row in slope])
        claims += [
            Equal("exact mean minus (6)", mine, difference, 1e-11, scale=np.abs(exact).max(),
                  case=activation),
            Equal("covariance by loops", mine, covariance_by_loops(errors.carried(W, H), outer),
                  1e-11, scale=np.abs(exact).max(), case=activation),
            Equal("W^T H W by loops", errors.carried(W, H), np.array([W.T @ one @ W for one in H]),
                  1e-12, case=activation),
        ]
    return [*claims, Case(W=W, H=H, slope=slope)]


@equation(PAPER, "16",
          where="Supplement D",
          statement="Cauchy-Schwarz: a squared covariance is at most the product of the "
                    "variances, entry by entry.",
          formula=r"\begin{aligned} & \left\| \text{Ele-Cov}(\mathbf{W}^{tT} "
                  r"\nabla_{\mathbf{b}^t}^2 \xi_i \mathbf{W}^t, \mathbf{h}_i^{(t-1)'} \otimes "
                  r"\mathbf{h}_i^{(t-1)'T}) \right\|_F^2 \\ & = \sum_{\mu, \nu} "
                  r"\text{Cov}([\mathbf{W}^{tT} \nabla_{\mathbf{b}^t}^2 \xi_i "
                  r"\mathbf{W}^t]_{\mu\nu}, [\mathbf{h}_i^{(t-1)'} \otimes "
                  r"\mathbf{h}_i^{(t-1)'T}]_{\mu\nu})^2 \\ & \leq \sum_{\mu, \nu} "
                  r"\text{Var}([\mathbf{W}^{tT} \nabla_{\mathbf{b}^t}^2 \xi_i "
                  r"\mathbf{W}^t]_{\mu\nu}) \text{Var}([\mathbf{h}_i^{(t-1)'} \otimes "
                  r"\mathbf{h}_i^{(t-1)'T}]_{\mu\nu}). \end{aligned}",
          kind="inequality", verdict="holds", implements=(errors.covariance_bound, errors.variance))
def equation_16(rng):
    claims = []
    for activation, samples in zip(LIPSCHITZ, (6, 11, 2, 9)):
        W, H, slope, _ = step(rng, activation, samples=samples)
        bound = errors.covariance_bound(W, H, slope)
        outer = np.array([np.outer(row, row) for row in slope])
        X = np.array([W.T @ one @ W for one in H])
        claims += [
            Equal("the right side by loops", bound,
                  np.sum(covariance_by_loops(X, X) * covariance_by_loops(outer, outer)), 1e-10,
                  case=activation),
            Equal("variance of the slopes' products", errors.variance(outer),
                  covariance_by_loops(outer, outer), 1e-10, case=activation),
            AtMost("left against right side", np.sum(errors.expectation_error(W, H, slope) ** 2),
                   bound, case=activation),
        ]
    W, slope = (
        np.eye(3),
        1 + np.arange(4.0)[:, None] * np.ones(3),
    )  # H_i in proportion to h'_i h'_i^T: no slack
    H = slope[:, :, None] * slope[:, None, :]
    return [
        *claims,
        Equal("equality where both are in proportion",
              np.sum(errors.expectation_error(W, H, slope) ** 2),
              errors.covariance_bound(W, H, slope), 1e-12),
        Case(W=W, H=H, slope=slope),
    ]


@equation(PAPER, "17",
          where="Supplement D",
          statement="The variance of a product of slopes is at most L^4. The printed bracket "
                    "squares each factor's mean; what is subtracted is the squared mean of the "
                    "product.",
          formula=r"\begin{aligned} \text{Var}([\mathbf{h}_i^{(t-1)'} \otimes "
                  r"\mathbf{h}_i^{(t-1)'T}]_{\mu\nu}) & = \mathbb{E}_i[[\mathbf{h}_i^{(t-1)'} "
                  r"\otimes \mathbf{h}_i^{(t-1)'T}]_{\mu\nu}^2] - "
                  r"\mathbb{E}_i[[\mathbf{h}_i^{(t-1)'} \otimes "
                  r"\mathbf{h}_i^{(t-1)'T}]_{\mu\nu}]^2 \\ & = "
                  r"\mathbb{E}_i[[\mathbf{h}_i^{(t-1)'}]_{\mu}^2 [\mathbf{h}_i^{(t-1)'}]_{\nu}^2] "
                  r"- \mathbb{E}_i[[\mathbf{h}_i^{(t-1)'}]_{\mu}] "
                  r"[\mathbf{h}_i^{(t-1)'}]_{\nu}]^2 \\ & \leq "
                  r"\mathbb{E}_i[[\mathbf{h}_i^{(t-1)'}]_{\mu}^2 [\mathbf{h}_i^{(t-1)'}]_{\nu}^2] "
                  r"\\ & \leq \mathbb{E}_i[L^2 L^2] = L^4. \end{aligned}",
          corrected=r"""\text{Var}([\mathbf{h}' \otimes \mathbf{h}'^T]_{\mu\nu}) =
                  \mathbb{E}_i[[\mathbf{h}']_{\mu}^2 [\mathbf{h}']_{\nu}^2] -
                  (\mathbb{E}_i[[\mathbf{h}']_{\mu} [\mathbf{h}']_{\nu}])^2 \leq L^4""",
          kind="inequality", verdict="erratum", weight="extraction", implements=errors.variance)
def equation_17(rng):
    claims = []
    for activation, L in LIPSCHITZ.items():
        slope = step(rng, activation, samples=30)[2]
        outer = slope[:, :, None] * slope[:, None, :]
        mine = errors.variance(outer)
        second = np.einsum("su,sv->uv", slope**2, slope**2) / len(slope)
        mean = np.einsum("su,sv->uv", slope, slope) / len(slope)
        misread = np.outer(slope.mean(axis=0), slope.mean(axis=0)) ** 2
        claims += [
            Equal("variance", mine, second - mean**2, 1e-10, case=activation),
            AtMost("second moment against L^4", second, L**4, case=activation),
            AtMost("variance against the second moment", mine, second, case=activation),
            Printed(Equal("means of the factors", second - misread, mine, 1e-10, case=activation)),
        ]
    half = np.array([[1.0], [0.0]]) * np.ones(2)  # slopes 0 and L half the time: Var = L^4 / 4
    return [
        *claims,
        Equal("slopes of 0 and 1, half and half: a quarter of L^4",
              errors.variance(half[:, :, None] * half[:, None, :]), np.full((2, 2), 0.25), 1e-12),
        Equal("sigmoids at 0: a second moment of L^4",
              hessians.mean_outer(activation_function("sigmoid").slope(np.zeros((7, 2))) ** 2),
              np.full((2, 2), 0.00390625), 1e-15),
        Case(slope=slope),
    ]


@equation(PAPER, "7", "d",
          where="Supplement D",
          statement="The error of one step of (6) is at most L^4 times a sum of variances; a "
                    "quarter of it where the slopes lie between 0 and L. Down the recursion the "
                    "error above adds, grown by E[h'^2] |W|^2.",
          formula=r"""\left\| \text{Ele-Cov}(\mathbf{W}^{tT} \nabla_{\mathbf{b}^t}^2 \xi_i
                  \mathbf{W}^t,
                  \mathbf{h}_i^{(t-1)'} \otimes \mathbf{h}_i^{(t-1)'T}) \right\|_F^2 \leq L^4
                  \sum_{\mu, \nu}
                  \text{Var}([\mathbf{W}^{tT} \nabla_{\mathbf{b}^t}^2 \xi_i
                  \mathbf{W}^t]_{\mu\nu})""",
          kind="inequality", verdict="holds",
          implements=(errors.lipschitz_bound, errors.monotone_bound, errors.recursive_bound))
def equation_7(rng):
    claims = []
    for activation, L in LIPSCHITZ.items():
        W, H, slope, _ = step(rng, activation)
        X = np.array([W.T @ one @ W for one in H])
        right = L**4 * np.sum(covariance_by_loops(X, X))
        left = np.sum(errors.expectation_error(W, H, slope) ** 2)
        claims += [Equal("right side by loops", errors.lipschitz_bound(W, H, L), right, 1e-10,
                         case=activation),
                   AtMost("left against right side", left, right, case=activation)]
        if activation in MONOTONE:
            claims += [
                AtMost("and against a quarter", left, errors.monotone_bound(W, H, L),
                       case=activation),
                Equal("which is a quarter", errors.monotone_bound(W, H, L), right / 4, 1e-10,
                      case=activation),
            ]
        claims += recursion_claims(rng, activation)
    slope = np.array([[1.0], [0.0]]) * np.ones(3)
    H = slope[:, :, None] * slope[:, None, :]
    return [
        *claims,
        Equal("slopes of 0 and L with Hessians to match: equality with a quarter",
              np.sum(errors.expectation_error(np.eye(3), H, slope) ** 2),
              errors.monotone_bound(np.eye(3), H, 1.0), 1e-12),
        *sigmoid_example(rng),
        Case(W=W, H=H, slope=slope),
    ]


def sigmoid_example(rng):
    """The number that the paper gives for sigmoids, in front of the sum of variances."""
    W, H, slope, _ = step(rng, "sigmoid", samples=11)
    X = np.array([W.T @ one @ W for one in H])
    return [Equal("sigmoid: 0.00390625 in front of the sum", errors.lipschitz_bound(W, H, 0.25),
                  0.00390625 * np.sum(X.var(axis=0)), 1e-10),
            AtMost("sigmoid, eleven instances: left against right side",
                   np.sum(errors.expectation_error(W, H, slope) ** 2),
                   0.00390625 * np.sum(X.var(axis=0)))]


def recursion_claims(rng, activation):
    """The error of (6) all the way down against the recursive bound from the actual error above."""
    case = cases.case(rng, activation, "softmax")
    exact, approximate = case.exact(), curvatures.expectation(case.evaluation, case.units)
    off = [np.linalg.norm(H.mean(axis=0) - B) for H, B in zip(exact, approximate)]
    bounds = [errors.recursive_bound(off[t], case.weights(t + 1), exact[t], case.hidden(t).slope)
              for t in (1, 2)]
    slope = case.hidden(1).slope
    grows = (max(np.mean(slope[:, r] ** 2) for r in range(slope.shape[1]))
             * np.linalg.eigvalsh(case.weights(2).T @ case.weights(2))[-1])
    by_hand = grows * off[1] + np.linalg.norm(errors.expectation_error(case.weights(2), exact[1],
                                                                       slope))
    return [
        AtMost("error of layers 1, 2 against the recursive bound", off[:2], bounds,
               case=activation),
        Equal("layer 2, below the exact top: equality", off[1], bounds[1], 1e-9, case=activation),
        Equal("the bound of layer 1 by hand", bounds[0], by_hand, 1e-10, case=activation),
    ]
