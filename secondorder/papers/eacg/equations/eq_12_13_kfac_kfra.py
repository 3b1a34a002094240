"""The rivals: Fisher matrices, KFI (12), (13), KFRA's Gauss-Newton recursion."""

import numpy as np

from ....exact.dense import gauss_newton as whole_gauss_newton
from ....exact.dense import hessian as whole_hessian
from ....ledger import AtMost, Case, Counterexample, Equal, PrintedShape, Rate, Stated
from ....nets import BoundedCriterion
from .. import eq_12_13_kfac_kfra as rivals
from ..eq_04_hessian import gauss_newton_hessian, mean_of_instances
from ..method import CURVATURES, direction
from . import cases, reference
from .cases import equation, positive
from .conditions import CONSTANT, LIGHT, UNLIKELY, WITHIN
from .eq_11_table_1 import unlikely_classes

ALPHA = 0.05


@equation(
    "u-fisher", where="Related Works", kind="identity", verdict="erratum", weight="misprint",
    uses=("u-backprop",),
    statement="A block of one instance's Fisher matrix, between the weights of two layers. Inputs "
              "of one layer meet inputs of the other, gradients meet gradients.",
    implements=rivals.fisher_block)
def u_fisher(rng):
    for case in cases.variety(rng, ("sigmoid", "sin"), sizes=(3, 4, 5, 2)):
        for mu, nu in ((1, 2), (3, 1), (2, 2)):
            (h_mu, g_mu), (h, g) = ((case.layer(t).h[0], case.layer(t).g[0]) for t in (mu, nu))
            outer = np.outer(*(reference.gradients(case, reference.weight_places(case, t))[0]
                               for t in (mu, nu)))
            name = f"{case.activation}, block ({mu}, {nu})"
            yield Equal("outer product of gradients", rivals.fisher_block(h_mu, g_mu, h, g), outer,
                        1e-12, case=name)
            printed = rivals.fisher_block_as_printed(h_mu, g)
            yield (Equal("as printed it is right", printed, outer, 1e-12, case=name) if mu == nu
                   else PrintedShape(name, printed.shape, outer.shape))
    yield Case(h=h, g=g)


@equation(
    "u-fisher-labels", where="Related Works", kind="definition", verdict="definition",
    uses=("u-fisher", "u-expect"),
    statement="The Fisher matrix as printed has the gradients of the given targets (empirical). "
              "Drawn from the model instead, its mean over draws is the exact one, the mean "
              "Gauss-Newton block.",
    implements=(rivals.fisher_of_expectations, rivals.fisher, rivals.fisher_step))
def u_fisher_labels(rng):
    draws, usual = 200, cases.case(rng, "tanh", "softmax")

    def fisher(case, kind):
        return CURVATURES[f"fisher-{kind}"](case.evaluation, case.all_layers, rng)

    for case in [usual, *cases.unusual(rng, loss="softmax")]:
        empirical, exact = (fisher(case, kind) for kind in ("empirical", "exact"))
        for t in (1, 2, 3):
            given, (models, deviation) = reference.bias_gradients(case, t), of_the_model(case, t)
            yield case.equal("empirical", empirical[t - 1], reference.second_moment(given), 1e-11,
                             t)
            yield case.equal("exact, label by label", exact[t - 1], models, 1e-11, t)
            if case is usual:
                mean = sum(fisher(case, "sampled")[t - 1] for _ in range(draws)) / draws
                yield AtMost(
                    f"sampled minus exact against six standard deviations of {draws} draws",
                    np.abs(mean - models), 6 * deviation / np.sqrt(draws), case=case.named(t))
    h, g = usual.layer(1).h, reference.bias_gradients(usual, 1)
    yield Equal("the product of both means, by loops", rivals.fisher_of_expectations(h, g),
                np.kron(reference.second_moment(h), reference.second_moment(g)), 1e-12)
    yield Case(g=given)


def of_the_model(case, t):
    """Mean of g g^T over the model's labels and the instances, and the standard deviation of one
    draw, in shifts of z^t.
    """
    q, labelled = reference.of_labels(case)
    terms = np.array([reference.bias_outer(one, t) for one in labelled])  # (C, S, n, n)
    means = (q * terms).sum(axis=0)
    variance = (q * (terms - means) ** 2).sum(axis=(0, 1)) / len(means)**2
    return means.mean(axis=0), np.sqrt(variance)


@equation(
    "12", where="Related Works; pi as Martens and Grosse choose it", kind="approximation",
    verdict="conditional", condition=LIGHT, uses=("u-fisher-labels",),
    statement="The damped inverse is replaced by a Kronecker product of damped inverses. The "
              "matrix inverted has two more terms, so that it always damps too much. With pi^2 the "
              "ratio of mean eigenvalues the traces of these terms are least.",
    implements=(Stated(rivals.eq_12_factors, "0", "1"), rivals.eq_12_inverse, rivals.pi_t))
def equation_12(rng):
    A, B = cases.psd(rng, 4), cases.psd(rng, 3)
    damped_A, damped_B, pi = reference.kfi_factors(A, B, ALPHA)

    def more(pi):
        """The two terms that the product of the factors has more than A (x) B + alpha I."""
        return np.sqrt(ALPHA) * (np.kron(A, np.eye(3)) / pi
                                 + pi * np.kron(np.eye(4), B))

    def sides(A, B, alpha=ALPHA):
        exact = np.kron(A, B) + alpha * np.eye(len(A) * len(B))
        return rivals.eq_12_inverse(A, B, alpha), np.linalg.inv(exact)

    approximate, exact = sides(A, B)
    mine = rivals.pi_t(np.trace(A), 4, np.trace(B), 3)
    for what, factor, wanted in zip(("factor of the inputs", "factor of the gradients", "pi"),
                                    (*rivals.eq_12_factors(A, B, ALPHA), mine),
                                    (damped_A, damped_B, pi)):
        yield Equal(what, factor, wanted, 1e-13)
    yield Equal("inverse of the approximate inverse: two terms more", np.linalg.inv(approximate),
                np.linalg.inv(exact) + more(pi), 1e-10)
    yield positive("the least eigenvalue of those terms", more(pi))
    yield AtMost("traces at pi against other pi", np.trace(more(mine)),
                 [np.trace(more(mine * f)) for f in (0.3, 0.9, 1.1, 4.0)])
    definite = [Q @ np.diag(rng.uniform(0.5, 2, len(Q))) @ Q.T
                for Q in (np.linalg.qr(rng.normal(size=(n, n)))[0] for n in (4, 3))]
    alphas = 1e-4 * 4.0 ** -np.arange(6)
    missed = [np.linalg.norm(np.subtract(*sides(*definite, alpha))) for alpha in alphas]
    yield Rate("approximate minus exact inverse as alpha falls", alphas, missed, order=0.5,
               tolerance=0.05)
    yield Counterexample(Equal("alpha = 0.5: approximate against exact inverse",
                               *sides(*definite, 0.5), 1e-3))
    yield Case(A=A, B=B)


@equation(
    "u-kfi", where="Related Works", kind="identity", verdict="holds", uses=("12", "u-vec"),
    statement="KFI's direction is a product of three matrices; it never needs the Kronecker "
              "product.",
    implements=(Stated(rivals.kfi_as_printed, "x"), Stated(rivals.kfi, "x"), rivals.times_inverse))
def u_kfi(rng):
    for S in (2, 9):
        B, X, _, G = cases.layer(rng, S=S)
        damped_A, damped_B, _ = reference.kfi_factors(reference.second_moment(X), B, ALPHA)
        d = -np.linalg.solve(np.kron(damped_A, damped_B), reference.vec(G))
        for name, solver in (("with both matrices", rivals.kfi_as_printed),
                             ("without that of wide inputs", rivals.kfi)):
            yield Equal(name, reference.vec(solver(B, G, X, ALPHA).x), d, 1e-11,
                        case=f"{S} instances")
    yield Case(X=X, B=B, G=G)


@equation(
    "13", where="Convex Criterion", kind="approximation", verdict="conditional", condition=CONSTANT,
    uses=("11b", "12"),
    statement="In the first layer, the outer product of the mean input replaces the second moment "
              "of the inputs. The formula of Sherman and Morrison inverts it.",
    implements=(rivals.eq_13_first_factor, Stated(rivals.eq_13_direction, "x")))
def equation_13(rng):
    B, X, _, G = cases.layer(rng)
    damped_A, damped_B, pi = reference.kfi_factors(reference.of_mean(X), B, ALPHA)
    left, shift = -np.linalg.inv(damped_B) @ G, pi * np.sqrt(ALPHA) * np.eye(4)
    moment = reference.second_moment(X) + shift
    D = rivals.eq_13_direction(B, G, X, ALPHA).x
    factor = rivals.eq_13_first_factor(X.mean(axis=0), pi, ALPHA)
    for case in cases.unusual(rng):
        blocks = [reference.second_moment(reference.bias_gradients(case, t)) for t in (1, 2, 3)]
        yield from kfi_directions(case, "kfi-rank-one", "fisher-empirical", blocks, l2=0.1)
    yield Equal("the factor", factor, damped_A, 1e-13)
    yield Equal("the direction", D, left @ np.linalg.inv(damped_A), 1e-11)
    yield Equal("the factor minus (12)'s, by the inputs' covariance", factor,
                moment - reference.second_moment(X - X.mean(axis=0)), 1e-13)
    yield Equal("instances of one input: (12)'s factor",
                rivals.eq_13_first_factor(X[0], pi, ALPHA), np.outer(X[0], X[0]) + shift, 1e-13)
    yield Counterexample(Equal("inputs that vary: the direction of (12)", D,
                               left @ np.linalg.inv(moment), 1e-4))
    yield Case(X=X, B=B)


def kfi_directions(case, solver, curvature, blocks, l2=0.0):
    """Claims on KFI's direction: weights by (12), or (13) in layer 1, biases by B + alpha I."""
    step = direction(*case.model, curvature, solver, ALPHA, l2=l2)
    for t, one, B, h, G, g in reference.trained(case, blocks, l2):
        layer = case._replace(name=f"{case.named(t)}, {solver}")
        moment = reference.second_moment if solver == "kfi" or t > 1 else reference.of_mean
        yield layer.equal("direction of the package", step[one.weight],
                          reference.kfi(moment(h), B, G, ALPHA + l2), 1e-6)
        if g is not None:
            yield layer.equal("direction of the package, bias", step[one.bias], -np.linalg.solve(
                B + (ALPHA + l2) * np.eye(len(B)), g), 1e-6)


# -- KFRA ------------------------------------------------------------------------------------------


def off_the_kinks(rng):
    """A piecewise linear network whose batch is away from the kinks."""
    while True:
        case = cases.case(rng, "leaky_relu", "softmax")
        if min(np.abs(saved.input).min() for saved in case.evaluation.saved[1::2]) > 0.02:
            return case


@equation(
    "u-kfra", where="Related Works; E_i[GN] by KFRA's own recursion", kind="identity",
    verdict="holds", uses=("6", "12", "u-kfi"),
    statement="KFRA's direction: KFI with the Gauss-Newton block of the bias in the place of the "
              "second moment of its gradients.",
    implements=(rivals.gauss_newton, rivals.gauss_newton_step, direction))
def u_kfra(rng):
    for case in [off_the_kinks(rng), *cases.variety(rng, losses=("softmax",)),
                 *cases.unusual(rng, loss="softmax")]:
        by_loops = reference.recursion(case, reference.mean_hessian(case, 3), None)
        recursion = rivals.gauss_newton(*case.passes, convex=True)
        for t, sides in enumerate(zip(recursion, by_loops), start=1):
            yield case.equal("the recursion, by loops", *sides, 1e-7, t)
        yield from kfi_directions(case, "kfi", "gauss-newton", by_loops)
    yield Case(x=case.x, theta=case.theta)


@equation(
    "u-kfra-hessian", where="Related Works", kind="claim", verdict="conditional", condition=WITHIN,
    ours=True, uses=("4b", "u-kfra"),
    statement="For piecewise linear activations the diagonal term of (4b) disappears, and the "
              "Gauss-Newton matrix is the Hessian.",
    formula=r"\text{GN}(\nabla_{\mathbf{b}^t}^2 \xi_i) = \nabla_{\mathbf{b}^t}^2 \xi_i",
    implements=(gauss_newton_hessian, rivals.fisher_step))
def u_kfra_hessian(rng):
    case = off_the_kinks(rng)
    mean = mean_of_instances(case.all_layers, case.top, rivals.fisher_step)
    recursion = rivals.gauss_newton(*case.passes, convex=True)
    for t in (3, 2, 1):
        yield Equal("mean Gauss-Newton block against the Hessian, by differences", mean[t - 1],
                    reference.mean_hessian(case, t), 1e-8, case=f"layer {t}")
    yield Counterexample(Equal("the whole Hessian against the whole Gauss-Newton matrix",
                               whole_hessian(*case.model), whole_gauss_newton(*case.model), 1e-8))
    yield Counterexample(Equal("layer 1: KFRA's recursion against the mean", recursion[0], mean[0],
                               1e-8))
    yield Case(x=case.x, theta=case.theta)


@equation(
    "u-gn", where="Related Works; Non-Convex Criterion", kind="claim", verdict="conditional",
    condition=UNLIKELY, ours=True, uses=("14", "u-kfra"),
    statement="With the bounded criterion the Gauss-Newton matrix is indefinite; a corrected top "
              "block mends it.",
    formula=r"\mathbb{E}_i[\text{GN}(\nabla_{\mathbf{b}^t}^2 \xi_i)] \not\succeq 0",
    implements=(rivals.gauss_newton, BoundedCriterion.hessian))
def u_gn(rng):
    for case in unlikely_classes(rng, ("sigmoid", "tanh", "softplus")):
        uncorrected = rivals.gauss_newton(*case.passes, convex=True)[-1]
        corrected = rivals.gauss_newton(*case.passes, convex=False)
        mean = reference.mean_hessian(case, 2)
        yield AtMost("least eigenvalue of the top block against -1 % of its largest entry",
                     reference.least(uncorrected), -0.01, case=case.name)
        yield AtMost("least eigenvalue of the whole matrix against 0",
                     reference.least(whole_gauss_newton(*case.model)), 0.0, case=case.name)
        yield case.equal("top block by differences", uncorrected, mean, 1e-8)
        yield case.equal("corrected", corrected[-1], reference.absolute(mean), 1e-7)
        yield positive("the least eigenvalues once corrected", *corrected, case=case.name)
    likely = BoundedCriterion().hessian(np.array([[3.0, 0, 0]]), np.array([0]))[0]
    yield Counterexample(AtMost("the same for one instance whose class is likely",
                                reference.least(likely), -0.01))
    yield Case(top=uncorrected)
