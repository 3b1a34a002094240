"""Equations (5)-(7), (15)-(17), Supplement D: means of products as products of means."""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Printed, PrintedShape, equation
from ....nets.layers.activation_functions import activation_function
from .. import PAPER, curvatures, errors, hessians, rules
from . import cases, reference
from .conditions import ALIKE

MONOTONE = {"sigmoid": 0.25, "tanh": 1.0, "softplus": 1.0}  # activations with 0 <= h' <= L, and L
LIPSCHITZ = MONOTONE | {"sin": 1.0}


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
          implements=(curvatures.fisher_of_expectations, hessians.mean_outer, hessians.cov_t),
          uses=())
def u_expect(rng):
    case = cases.case(rng, "sigmoid", "softmax", samples=40)
    h, g = case.inputs(1), case.deltas(1)
    outer = g[:, :, None] * g[:, None, :]

    def sides(h):
        return (reference.mean_kron(h, outer),
                curvatures.fisher_of_expectations(h, g),
                hessians.cov_t(h, outer))

    whole, product, covariance = sides(h)
    same, its_product, nothing = sides(h[0] * rng.choice([-1.0, 1.0], size=(40, 1)))
    return [Equal("mean of products minus product of means, against the covariance",
                  whole - product, covariance, 1e-12),
            Equal("E[h h^T] by loops", hessians.mean_outer(h), reference.second_moment(h), 1e-12),
            Equal("inputs that differ in sign only", same, its_product, 1e-12),
            Equal("and their covariance", nothing, np.zeros_like(nothing), 1e-12, scale=same),
            Counterexample(AtMost("relative size of what is left out, normal inputs, against 1 %",
                                  np.linalg.norm(covariance) / np.linalg.norm(whole), 0.01, 1e-3)),
            Case(h=h, g=g)]


@equation(PAPER, "5",
          where="Expectation Approximation",
          statement="The mean Hessian in the weights is the product of the means plus the "
                    "element-wise covariance cov-t (with 1/S), which is dropped. It is small "
                    "only where inputs or Hessians hardly vary.",
          formula=r"\mathbb{E}_i[\nabla_{\mathbf{W}^t}^2 \xi_i] = \text{EhhT}^{t-1} \otimes "
                  r"\mathbb{E}_i[\nabla_{\mathbf{b}^t}^2 \xi_i] + \text{cov-t} \approx "
                  r"\text{EhhT}^{t-1} \otimes \mathbb{E}_i[\nabla_{\mathbf{b}^t}^2 \xi_i]",
          kind="approximation", verdict="conditional", condition=ALIKE,
          implements=(hessians.mean_weight_hessian, hessians.cov_t, curvatures.weight_block),
          uses=("4c", "u-expect"))
def equation_5(rng):
    claims = []
    for case in [*cases.unusual(rng, ("eleven instances", "no activation after layer 1")),
                 *cases.variety(rng, ("sigmoid", "sin"))]:
        exact = case.exact()
        for t in (1, 3):
            h, H = case.inputs(t), exact[t - 1]
            mean, left_out = reference.mean_kron(h, H), hessians.cov_t(h, H)
            claims += [case.equal("identity", hessians.mean_weight_hessian(h, H), mean, 1e-12, t),
                       case.equal("product of means", curvatures.weight_block(h, H.mean(axis=0)),
                                  mean - left_out, 1e-12, t)]
    same = np.broadcast_to(h[0], h.shape)
    share = (np.linalg.norm(hessians.cov_t(case.inputs(1), exact[0]))
             / np.linalg.norm(reference.mean_kron(case.inputs(1), exact[0])))
    return [*claims,
            Equal("equal inputs: both sides of the second step",
                  curvatures.weight_block(same, H.mean(axis=0)), reference.mean_kron(same, H),
                  1e-12),
            Counterexample(AtMost("relative size of cov-t, normal inputs, against 1 %", share,
                                  0.01, 1e-3)),
            Case(h=h, H=H)]


def mean_step(W, H, *arguments):
    """Mean over instances of (4b); with one matrix for all H_i it is the second line of (6)."""
    return np.mean(reference.steps_down(W, H, *arguments), axis=0)


@equation(PAPER, "6",
          statement="One step down with the mean Hessian above in place of each instance's own. "
                    "The diagonal term stays a mean over instances and is exact.",
          kind="approximation", verdict="conditional", condition=ALIKE,
          implements=(curvatures.expectation_step, curvatures.expectation,
                      errors.expectation_error), uses=("4b", "u-expect"))
def equation_6(rng):
    claims = []
    for case in [*cases.variety(rng), *cases.unusual(rng)]:
        whole = curvatures.expectation(*case.passes)
        H = [reference.bias_hessians(case, t) for t in (1, 2, 3)]
        by_loops = reference.recursion(case, H[-1].mean(axis=0), 1)
        for t, (B, other) in enumerate(zip(whole, by_loops), start=1):
            claims += [case.equal("the whole network, by loops", B, other, 1e-7, t),
                       case.precise(B, t)]
        for t in (3, 2):
            W, B, options = case.weights(t), H[t - 1].mean(axis=0), {"case": case.named(t - 1)}
            arguments = reference.step_arguments(case, t)
            below = curvatures.expectation_step(W, B, *arguments)
            claims += [Equal("third line against the second", below,
                             mean_step(W, [B] * len(case.x), *arguments), 1e-12, **options),
                       Equal("exact mean minus one step from it, against the predicted error",
                             H[t - 2].mean(axis=0) - below,
                             errors.expectation_error(W, H[t - 1], arguments[1]), 1e-7,
                             scale=H[t - 2], **options)]
    return [*claims, *one_step(rng), Case(W=W, B=B, slope=arguments[1])]


def one_step(rng):
    """One step of (6) for instances of one input, and for inputs that vary."""
    case = cases.case(rng, "tanh", "softmax", samples=12, scale=1.5)
    same = case.network.evaluate(case.evaluation.loss_function,
                                 np.broadcast_to(case.x[0], case.x.shape), case.y)
    alike = case._replace(x=same.x, evaluation=same, units=rules.units(same))

    def sides(one):
        above, below = (reference.bias_hessians(one, t).mean(axis=0) for t in (2, 1))
        return curvatures.expectation_step(one.weights(2), above, one.deltas(2),
                                           *reference.slopes(one, 1)), below

    return [Equal("instances of one input, and different labels", *sides(alike), 1e-7),
            Counterexample(Equal("inputs that vary: one step against the exact mean", *sides(case),
                                 1e-4))]


def step(rng, activation="sigmoid", samples=6):
    """W, H, slope of one step down, and the case."""
    case = cases.case(rng, activation, "softmax", samples=samples, name=activation)
    return case.weights(2), case.exact()[1], case.hidden(1).slope, case


def outer_products(slope):
    """h'_i h'_i^T (S, m, m)."""
    return np.array([np.outer(row, row) for row in slope])


def carried_by_loops(W, H):
    """W^T H_i W (S, m, m)."""
    return np.array([W.T @ one @ W for one in H])


def covariance_by_loops(X, Y):
    """Covariance (1/S) of X and Y (S, m, m), entry by entry."""
    out, S = np.empty(X.shape[1:]), len(X)
    for u, v in np.ndindex(out.shape):
        x, y = X[:, u, v], Y[:, u, v]
        out[u, v] = sum(x * y) / S - sum(x) / S * sum(y) / S
    return out


@equation(PAPER, "15",
          where="Supplement D",
          statement="The exact mean minus (6), fed with the exact mean above, is an element-wise "
                    "covariance: of what is carried down and of the slopes' products. The "
                    "diagonal terms cancel. A bracket closes early: the covariance with h' alone "
                    "does not conform. (7) has it right.",
          kind="identity", verdict="erratum", weight="extraction",
          implements=(errors.expectation_error, errors.carried, hessians.ele_cov), uses=("4b", "6"))
def equation_15(rng):
    claims = []
    for activation, samples in zip(LIPSCHITZ, (6, 11, 2, 9)):
        W, H, slope, case = step(rng, activation, samples)
        saved, g = case.hidden(1), case.deltas(2)
        exact, by_6 = (mean_step(W, matrices, g, slope, saved.curvature)
                       for matrices in (H, [H.mean(axis=0)] * len(H)))
        mine, X = errors.expectation_error(W, H, slope), errors.carried(W, H)
        claims += [case.equal("exact mean minus (6)", mine, exact - by_6, 1e-11, scale=exact),
                   case.equal("covariance by loops", mine,
                              covariance_by_loops(X, outer_products(slope)), 1e-11, scale=exact),
                   case.equal("W^T H W by loops", X, carried_by_loops(W, H), 1e-12)]
    return [*claims, does_not_conform(W, H, slope), Case(W=W, H=H, slope=slope)]


def does_not_conform(W, H, slope):
    """The bracket of the print closes before the outer product: Ele-Cov(W^T H W, h') h'^T."""
    return PrintedShape("an instance of W^T H W and of h' alone, whose covariance is taken",
                        errors.carried(W, H)[0].shape, slope[0].shape)


@equation(PAPER, "16",
          where="Supplement D",
          statement="Cauchy-Schwarz: a squared covariance is at most the product of the "
                    "variances, entry by entry. A bracket closes early, as in (15).",
          kind="inequality", verdict="erratum", weight="extraction",
          implements=(errors.covariance_bound, errors.variance), uses=("15",))
def equation_16(rng):
    claims = []
    for activation, samples in zip(LIPSCHITZ, (6, 11, 2, 9)):
        W, H, slope, case = step(rng, activation, samples)
        bound, outer = errors.covariance_bound(W, H, slope), outer_products(slope)
        X, of_slopes = carried_by_loops(W, H), covariance_by_loops(outer, outer)
        left = np.sum(errors.expectation_error(W, H, slope) ** 2)
        claims += [case.equal("the right side by loops", bound,
                              np.sum(covariance_by_loops(X, X) * of_slopes), 1e-10),
                   case.equal("variance of the slopes' products", errors.variance(outer), of_slopes,
                              1e-10),
                   AtMost("left against right side", left, bound, case=activation)]
    # no slack where the H_i are in proportion to h'_i h'_i^T
    W, slope = np.eye(3), 1 + np.arange(4.0)[:, None] * np.ones(3)
    H = outer_products(slope)
    return [*claims,
            does_not_conform(W, H, slope),
            Equal("equality where both are in proportion",
                  np.sum(errors.expectation_error(W, H, slope) ** 2),
                  errors.covariance_bound(W, H, slope), 1e-12),
            Case(W=W, H=H, slope=slope)]


@equation(PAPER, "17",
          where="Supplement D",
          statement="The variance of a product of slopes is at most L^4. The printed bracket "
                    "squares each factor's mean; what is subtracted is the squared mean of the "
                    "product.",
          kind="inequality", verdict="erratum", weight="extraction", implements=errors.variance,
          uses=())
def equation_17(rng):
    claims = []
    for activation, L in LIPSCHITZ.items():
        _, _, slope, case = step(rng, activation, 30)
        mine = errors.variance(outer_products(slope))
        second = np.einsum("su,sv->uv", slope**2, slope**2) / len(slope)
        mean = np.einsum("su,sv->uv", slope, slope) / len(slope)
        misread = np.outer(slope.mean(axis=0), slope.mean(axis=0)) ** 2
        claims += [case.equal("variance", mine, second - mean**2, 1e-10),
                   AtMost("second moment against L^4", second, L**4, case=activation),
                   AtMost("variance against the second moment", mine, second, case=activation),
                   Printed(case.equal("means of the factors", second - misread, mine, 1e-10))]
    half = np.array([[1.0], [0.0]]) * np.ones(2)  # slopes 0 and L half the time: Var = L^4 / 4
    return [*claims,
            Equal("slopes of 0 and 1, half and half: a quarter of L^4",
                  errors.variance(outer_products(half)), np.full((2, 2), 0.25), 1e-12),
            Equal("sigmoids at 0: a second moment of L^4",
                  hessians.mean_outer(activation_function("sigmoid").slope(np.zeros((7, 2))) ** 2),
                  np.full((2, 2), 0.00390625), 1e-15),
            Case(slope=slope)]


@equation(PAPER, "7", "d",
          where="Supplement D",
          statement="The error of one step of (6) is at most L^4 times a sum of variances. It is "
                    "at most a quarter of that where the slopes lie between 0 and L. Down the "
                    "recursion the error above adds, grown by E[h'^2] |W|^2.",
          formula=r"""\left\| \text{Ele-Cov}(\mathbf{W}^{tT} \nabla_{\mathbf{b}^t}^2 \xi_i
                  \mathbf{W}^t, \mathbf{h}_i^{(t-1)'} \otimes \mathbf{h}_i^{(t-1)'T}) \right\|_F^2
                  \leq L^4 \sum_{\mu, \nu} \text{Var}([\mathbf{W}^{tT} \nabla_{\mathbf{b}^t}^2
                  \xi_i \mathbf{W}^t]_{\mu\nu})""",
          kind="inequality", verdict="holds",
          implements=(errors.lipschitz_bound, errors.monotone_bound, errors.recursive_bound),
          uses=("15", "16", "17"))
def equation_7(rng):
    claims = []
    for activation, L in LIPSCHITZ.items():
        W, H, slope, case = step(rng, activation)
        X = carried_by_loops(W, H)
        right = L**4 * np.sum(covariance_by_loops(X, X))
        left = np.sum(errors.expectation_error(W, H, slope) ** 2)
        claims += [case.equal("right side by loops", errors.lipschitz_bound(W, H, L), right, 1e-10),
                   AtMost("left against right side", left, right, case=activation)]
        if activation in MONOTONE:
            quarter = errors.monotone_bound(W, H, L)
            claims += [AtMost("and against a quarter", left, quarter, case=activation),
                       case.equal("which is a quarter", quarter, right / 4, 1e-10)]
        claims += recursion_claims(rng, activation)
    slope = np.array([[1.0], [0.0]]) * np.ones(3)
    H = outer_products(slope)
    return [*claims,
            Equal("slopes of 0 and L with Hessians to match: equality with a quarter",
                  np.sum(errors.expectation_error(np.eye(3), H, slope) ** 2),
                  errors.monotone_bound(np.eye(3), H, 1.0), 1e-12),
            *sigmoid_example(rng),
            Case(W=W, H=H, slope=slope)]


def sigmoid_example(rng):
    """The number that the paper gives for sigmoids, in front of the sum of variances."""
    W, H, slope, _ = step(rng, "sigmoid", 11)
    right = 0.00390625 * np.sum(np.var(carried_by_loops(W, H), axis=0))
    return [Equal("sigmoid: 0.00390625 in front of the sum", errors.lipschitz_bound(W, H, 0.25),
                  right, 1e-10),
            AtMost("sigmoid, eleven instances: left against right side",
                   np.sum(errors.expectation_error(W, H, slope) ** 2), right)]


def recursion_claims(rng, activation):
    """The error of (6) all the way down against the recursive bound from the actual error above."""
    case = cases.case(rng, activation, "softmax")
    exact, approximate = case.exact(), curvatures.expectation(*case.passes)
    off = [np.linalg.norm(H - B) for H, B in zip(case.exact_means(), approximate)]
    bounds = [errors.recursive_bound(off[t], case.weights(t + 1), exact[t], case.hidden(t).slope)
              for t in (1, 2)]
    W, slope, options = case.weights(2), case.hidden(1).slope, {"case": activation}
    growth = (slope**2).mean(axis=0).max() * np.linalg.eigvalsh(W.T @ W)[-1]
    by_hand = growth * off[1] + np.linalg.norm(errors.expectation_error(W, exact[1], slope))
    return [AtMost("error of layers 1, 2 against the recursive bound", off[:2], bounds, **options),
            Equal("layer 2, below the exact top: equality", off[1], bounds[1], 1e-9, **options),
            Equal("the bound of layer 1 by hand", bounds[0], by_hand, 1e-10, **options)]
