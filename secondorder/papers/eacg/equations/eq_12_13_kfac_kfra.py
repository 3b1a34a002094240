"""The rivals: Fisher matrices, KFI (12), (13), KFRA's Gauss-Newton recursion."""

import numpy as np

from ....exact.dense import gauss_newton as whole_gauss_newton
from ....exact.dense import hessian as whole_hessian
from ....ledger import AtMost, Case, Counterexample, Equal, PrintedShape, Rate, Stated, equation
from ....nets import BoundedCriterion
from .. import PAPER, eq_12_13_kfac_kfra as rivals
from ..eq_04_hessian import gauss_newton_hessian, mean_of_instances
from ..method import CURVATURES, direction
from . import cases, reference
from .conditions import CONSTANT, LIGHT, UNLIKELY, WITHIN

ALPHA = 0.05


@equation(PAPER, "u-fisher",
          where="Related Works",
          statement="A block of one instance's Fisher matrix, between the weights of two layers. "
                    "Inputs of one layer meet inputs of the other, gradients meet gradients.",
          formula=r"[\tilde{F}_i]_{\mu\nu} = (\mathbf{h}_i^{\mu-1} \otimes "
                  r"\mathbf{h}_i^{(\mu-1)T}) \otimes (\nabla_{\mathbf{b}^\nu} \xi_i \otimes "
                  r"\nabla_{\mathbf{b}^\nu} \xi_i^T)",
          corrected=r"[\tilde{F}_i]_{\mu\nu} = (\mathbf{h}_i^{\mu-1} \otimes "
                    r"\mathbf{h}_i^{(\nu-1)T}) \otimes (\nabla_{\mathbf{b}^\mu} \xi_i \otimes "
                    r"\nabla_{\mathbf{b}^\nu} \xi_i^T)",
          kind="identity", verdict="erratum", weight="misprint", implements=rivals.fisher_block,
          uses=("u-backprop",))
def u_fisher(rng):
    claims = []
    for case in cases.variety(rng, ("sigmoid", "sin"), sizes=(3, 4, 5, 2)):
        for mu, nu in ((1, 2), (3, 1), (2, 2)):
            (h_mu, g_mu), (h, g) = ((case.inputs(t)[0], case.deltas(t)[0]) for t in (mu, nu))
            outer = np.outer(*(reference.gradients(case, reference.weight_places(case, t))[0]
                               for t in (mu, nu)))
            name = f"{case.activation}, block ({mu}, {nu})"
            claims.append(Equal("outer product of gradients",
                                rivals.fisher_block(h_mu, g_mu, h, g), outer, 1e-12, case=name))
            printed = rivals.fisher_block_as_printed(h_mu, g)
            if mu == nu:
                claims.append(Equal("as printed it is right", printed, outer, 1e-12, case=name))
            else:
                claims.append(PrintedShape(name, printed.shape, outer.shape))
    return [*claims, Case(h=h, g=g)]


@equation(PAPER, "u-fisher-labels",
          where="Related Works",
          statement="The Fisher matrix as printed has the gradients of the given targets "
                    "(empirical). Drawn from the model instead, its mean over draws is the exact "
                    "one, the mean Gauss-Newton block.",
          formula=r"\begin{aligned} \mathbb{E}_i[\hat{F}_i^t] &= \mathbb{E}_i[(\mathbf{h}_i^{t-1} "
                  r"\otimes \mathbf{h}_i^{(t-1)T}) \otimes (\nabla_{\mathbf{b}^t} \xi_i \otimes "
                  r"\nabla_{\mathbf{b}^t} \xi_i^T)] \\ &\approx \mathbb{E}_i[\mathbf{h}_i^{t-1} "
                  r"\otimes \mathbf{h}_i^{(t-1)T}] \otimes \mathbb{E}_i[\nabla_{\mathbf{b}^t} "
                  r"\xi_i \otimes \nabla_{\mathbf{b}^t} \xi_i^T], \end{aligned}",
          kind="definition", verdict="definition",
          implements=(rivals.fisher_of_expectations, rivals.fisher, rivals.fisher_step),
          uses=("u-fisher", "u-expect"))
def u_fisher_labels(rng):
    draws, usual = 200, cases.case(rng, "tanh", "softmax")
    claims = []
    for case in [usual, *cases.unusual(rng, loss="softmax")]:
        empirical, exact = (fisher(case, kind) for kind in ("empirical", "exact"))
        for t in (1, 2, 3):
            given, (models, deviation) = reference.bias_gradients(case, t), of_the_model(case, t)
            claims += [case.equal("empirical", empirical[t - 1], reference.second_moment(given),
                                  1e-11, t),
                       case.equal("exact, label by label", exact[t - 1], models, 1e-11, t)]
            if case is usual:
                sampled = [sum(B) / draws for B in zip(*(fisher(case, "sampled", rng)
                                                         for _ in range(draws)))]
                claims.append(AtMost(
                    f"sampled minus exact against six standard deviations of {draws} draws",
                    np.abs(sampled[t - 1] - models), 6 * deviation / np.sqrt(draws),
                    case=case.named(t)))
    h, g = usual.inputs(1), reference.bias_gradients(usual, 1)
    loops = reference.kron(reference.second_moment(h), reference.second_moment(g))
    return [*claims, Equal("the product of both means, by loops",
                           rivals.fisher_of_expectations(h, g), loops, 1e-12), Case(g=given)]


def fisher(case, kind, rng=None):
    """The blocks of one of the three Fisher matrices, as the method makes them."""
    return CURVATURES[f"fisher-{kind}"](case.evaluation, case.all_layers, rng)


def of_the_model(case, t):
    """Mean of g g^T over the model's labels and the instances, and the standard deviation of one
    draw, in shifts of z^t.
    """
    S = len(case.x)
    q = np.exp([reference.outputs(case, s, case.theta) for s in range(S)])
    q = (q / q.sum(axis=1, keepdims=True)).T[:, :, None, None]
    labelled = [reference.bias_gradients(case._replace(y=np.full(S, c)), t) for c in range(len(q))]
    terms = np.array([[np.outer(g, g) for g in rows] for rows in labelled])  # (C, S, n, n)
    means = (q * terms).sum(axis=0)
    variance = (q * (terms - means) ** 2).sum(axis=(0, 1)) / S**2
    return means.mean(axis=0), np.sqrt(variance)


def factors(rng, n=3, m=4):
    """A (m, m), B (n, n) and G (n, m)."""
    return cases.psd(rng, m), cases.psd(rng, n), rng.normal(size=(n, m))


def by_hand(A, B, alpha=ALPHA):
    """The two damped factors of (12), with pi from traces."""
    pi = np.sqrt(sum(np.linalg.eigvalsh(A)) / len(A) / (sum(np.linalg.eigvalsh(B)) / len(B)))
    return A + pi * np.sqrt(alpha) * np.eye(len(A)), B + np.sqrt(alpha) / pi * np.eye(len(B)), pi


@equation(PAPER, "12",
          where="Related Works; pi as Martens and Grosse choose it",
          statement="The damped inverse is replaced by a Kronecker product of damped inverses. "
                    "The matrix inverted has two more terms, so that it always damps too much. "
                    "With pi^2 the ratio of mean eigenvalues the traces of these terms are "
                    "least.",
          formula=r"\begin{gathered} (\mathbb{E}_i[\hat{F}_i^t] + \alpha I)^{-1} \approx "
                  r"(\mathcal{H}^t)^{-1} \otimes (\mathcal{G}^t)^{-1} \\ (\mathcal{H}^t)^{-1} = "
                  r"(\mathbb{E}_i[\mathbf{h}_i^{t-1} \otimes \mathbf{h}_i^{(t-1)T}] + \pi_t "
                  r"\sqrt{\alpha} I)^{-1} \\ (\mathcal{G}^t)^{-1} = "
                  r"(\mathbb{E}_i[\nabla_{\mathbf{b}^t} \xi_i \otimes \nabla_{\mathbf{b}^t} "
                  r"\xi_i^T] + (\sqrt{\alpha}/\pi_t) I)^{-1} \end{gathered}",
          uses=("u-fisher-labels",), kind="approximation", verdict="conditional", condition=LIGHT,
          implements=(Stated(rivals.eq_12_factors, "0", "1"), rivals.eq_12_inverse, rivals.pi_t))
def equation_12(rng):
    A, B, _ = factors(rng)
    I_m, I_n, (damped_A, damped_B, pi) = np.eye(4), np.eye(3), by_hand(A, B)
    exact = reference.kron(A, B) + ALPHA * np.eye(12)
    more = np.sqrt(ALPHA) * (reference.kron(A, I_n) / pi + pi * reference.kron(I_m, B))

    def traces(pi):
        return np.trace(reference.kron(A, I_n)) / pi + pi * np.trace(reference.kron(I_m, B))

    mine = rivals.pi_t(np.trace(A), 4, np.trace(B), 3)
    of_inputs, of_gradients = rivals.eq_12_factors(A, B, ALPHA)
    diagonal = np.diag([1.0, 2, 3]), np.diag([0.5, 0.1])
    off = rivals.eq_12_inverse(*diagonal, ALPHA) - np.linalg.inv(reference.kron(*diagonal)
                                                                      + ALPHA * np.eye(6))
    return [Equal("inverse of the approximate inverse: two terms more",
                  np.linalg.inv(rivals.eq_12_inverse(A, B, ALPHA)), exact + more, 1e-10),
            Equal("factor of the inputs", of_inputs, damped_A, 1e-13),
            Equal("factor of the gradients", of_gradients, damped_B, 1e-13),
            AtMost("0 against the least eigenvalue of those terms", 0.0, reference.least(more),
                   scale=1.0),
            AtMost("traces at pi against other pi", traces(mine),
                   [traces(mine * f) for f in (0.3, 0.9, 1.1, 4.0)]),
            Equal("pi", mine, pi, 1e-13),
            AtMost("1 % against what diagonal factors mismatch by", 0.01, np.abs(off).max()),
            *light_and_heavy(rng),
            Case(A=A, B=B)]


def light_and_heavy(rng):
    """(12) for positive definite factors as alpha falls, and at an alpha that is not small."""
    A, B = (Q @ np.diag(rng.uniform(0.5, 2, len(Q))) @ Q.T
            for Q in (np.linalg.qr(rng.normal(size=(n, n)))[0] for n in (4, 3)))
    alphas, product = 1e-4 * 4.0 ** -np.arange(6), reference.kron(A, B)

    def sides(alpha):
        return (rivals.eq_12_inverse(A, B, alpha),
                np.linalg.inv(product + alpha * np.eye(12)))

    missed = [np.linalg.norm(left - right) for left, right in map(sides, alphas)]
    return [Rate("approximate minus exact inverse as alpha falls", alphas, missed, order=0.5,
                 tolerance=0.05),
            Counterexample(Equal("alpha = 0.5: approximate against exact inverse", *sides(0.5),
                                 1e-3))]


@equation(PAPER, "u-kfi",
          where="Related Works",
          statement="KFI's direction is a product of three matrices; it never needs the Kronecker "
                    "product.",
          formula=r"\begin{aligned} \hat{\mathbf{d}}_{\mathbf{W}^t} &= -((\mathcal{H}^t)^{-1} "
                  r"\otimes (\mathcal{G}^t)^{-1}) \cdot "
                  r"\text{Vec}(\mathbb{E}_i[\nabla_{\mathbf{W}^t} \xi_i]) \\ &= "
                  r"-\text{Vec}((\mathcal{G}^t)^{-1} \mathbb{E}_i[\nabla_{\mathbf{W}^t} \xi_i] "
                  r"(\mathcal{H}^t)^{-1}), \end{aligned}",
          kind="identity", verdict="holds",
          implements=(Stated(rivals.kfi_as_printed, "x"), Stated(rivals.kfi, "x"),
                      rivals.times_inverse), uses=("12", "u-vec"))
def u_kfi(rng):
    _, B, G = factors(rng)
    claims = []
    for S in (2, 9):
        X = rng.normal(size=(S, 4))
        damped_A, damped_B, _ = by_hand(reference.second_moment(X), B)
        d = -np.linalg.solve(reference.kron(damped_A, damped_B), reference.vec(G))
        for name, solver in (("with both matrices", rivals.kfi_as_printed),
                             ("without that of wide inputs", rivals.kfi)):
            claims.append(Equal(name, reference.vec(solver(B, G, X, ALPHA).x), d, 1e-11,
                                case=f"{S} instances"))
    return [*claims, Case(X=X, B=B, G=G)]


@equation(PAPER, "13",
          where="Convex Criterion",
          statement="In the first layer, the outer product of the mean input replaces the second "
                    "moment of the inputs. The formula of Sherman and Morrison inverts it.",
          formula=r"\mathcal{H}^1 \approx \mathbb{E}_i[\mathbf{h}_i^0] \otimes "
                  r"\mathbb{E}_i[\mathbf{h}_i^{0T}] + \pi_1 \sqrt{\alpha} I",
          uses=("11b", "12"), kind="approximation", verdict="conditional", condition=CONSTANT,
          implements=(rivals.eq_13_first_factor, Stated(rivals.eq_13_direction, "x"),
                      rivals.times_inverse))
def equation_13(rng):
    _, B, G = factors(rng)
    X = rng.normal(size=(6, 4)) + 0.5
    mean = X.mean(axis=0)
    damped_A, damped_B, pi = by_hand(np.outer(mean, mean), B)
    shift = pi * np.sqrt(ALPHA) * np.eye(4)
    moment = reference.second_moment(X) + shift
    D = rivals.eq_13_direction(B, G, mean, ALPHA).x
    factor, of_one_input = (rivals.eq_13_first_factor(h, pi, ALPHA)
                            for h in (mean, np.mean([X[0]] * 6, axis=0)))
    claims = []
    for case in cases.unusual(rng, KFI_CASES):
        blocks = [reference.second_moment(reference.bias_gradients(case, t)) for t in (1, 2, 3)]
        claims += kfi_directions(case, "kfi-rank-one", "fisher-empirical", blocks, l2=0.1)
    return [*claims,
            Equal("the factor", factor, damped_A, 1e-13),
            Equal("its inverse", rivals.times_inverse(G, mean[None], pi * np.sqrt(ALPHA)),
                  G @ np.linalg.inv(damped_A), 1e-12),
            Equal("the direction", D, -np.linalg.inv(damped_B) @ G @ np.linalg.inv(damped_A),
                  1e-11),
            Equal("the factor minus (12)'s, by the inputs' covariance", factor,
                  moment - reference.second_moment(X - mean), 1e-13),
            Equal("instances of one input: (12)'s factor", of_one_input,
                  np.outer(X[0], X[0]) + shift, 1e-13),
            Counterexample(Equal("inputs that vary: the direction of (12)", D,
                                 -np.linalg.inv(damped_B) @ G @ np.linalg.inv(moment), 1e-4)),
            Case(mean=mean, B=B)]


#: Unusual cases of the direction of KFI.
KFI_CASES = ("first layer frozen", "middle layer frozen", "no biases", "chains in chains",
             "no activation after layer 2", "one instance", "eleven instances", "float32")


def kfi_directions(case, solver, curvature, blocks, l2=0.0):
    """Claims on KFI's direction: weights by (12), or (13) in layer 1, biases by B + alpha I."""
    step = direction(*case.model, curvature, solver, ALPHA, l2=l2)
    for t, one, B, h, G, g in reference.trained(case, blocks, l2):
        layer = case._replace(name=f"{case.named(t)}, {solver}")
        moment = reference.second_moment if solver == "kfi" or t > 1 else reference.outer_of_mean
        damped_A, damped_B, _ = by_hand(moment(h), B, ALPHA + l2)
        D = -np.linalg.inv(damped_B) @ G @ np.linalg.inv(damped_A)
        yield layer.equal("direction of the package", step[one.weight], D, 1e-6)
        if g is not None:
            d = -np.linalg.solve(B + (ALPHA + l2) * np.eye(len(B)), g)
            yield layer.equal("direction of the package, bias", step[one.bias], d, 1e-6)


# -- KFRA ------------------------------------------------------------------------------------------


def reaches_everything(case):
    """Whether every instance has a live unit in every hidden layer, some unit is dead, all are
    away from their kinks, and a unit of the first layer is live for some instances only: without
    one, KFRA's mean over instances loses nothing.
    """
    hidden = [case.layer(t) for t in (2, 3)]
    live = [one.dh > 0 for one in hidden]
    return (min(np.abs(saved.input).min() for saved in case.evaluation.saved[1::2]) > 0.05
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
          implements=(rivals.gauss_newton, rivals.gauss_newton_step, direction),
          uses=("6", "12", "u-kfi"))
def u_kfra(rng):
    claims = []
    for case in [relu_case(rng), *cases.variety(rng, losses=("softmax",)),
                 *cases.unusual(rng, KFI_CASES, loss="softmax")]:
        by_loops = reference.recursion(case, reference.bias_hessians(case, 3).mean(axis=0), None)
        recursion = rivals.gauss_newton(*case.passes, convex=True)
        claims += [case.equal("the recursion, by loops", *sides, 1e-7, t)
                   for t, sides in enumerate(zip(recursion, by_loops), start=1)]
        claims += kfi_directions(case, "kfi", "gauss-newton", by_loops)
    return [*claims, Case(x=case.x, theta=case.theta)]


@equation(PAPER, "u-kfra-hessian",
          where="Related Works",
          statement="For piecewise linear activations the diagonal term of (4b) disappears, and "
                    "the Gauss-Newton matrix is the Hessian.",
          formula=r"\text{GN}(\nabla_{\mathbf{b}^t}^2 \xi_i) = \nabla_{\mathbf{b}^t}^2 \xi_i",
          kind="claim", verdict="conditional", condition=WITHIN, ours=True,
          implements=(gauss_newton_hessian, rivals.fisher_step, mean_of_instances),
          uses=("4b", "u-kfra"))
def u_kfra_hessian(rng):
    case = relu_case(rng)
    mean = mean_of_instances(case.all_layers, lambda rows: case.top()[rows], rivals.fisher_step)
    recursion = rivals.gauss_newton(*case.passes, convex=True)
    return [Equal("layer 2 from the exact Hessians above, instance by instance, by differences",
                  gauss_newton_hessian(case.weights(3).astype(float),
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
          implements=(rivals.gauss_newton, BoundedCriterion.hessian), uses=("14", "u-kfra"))
def u_gn(rng):
    claims = []
    for activation in ("sigmoid", "tanh", "softplus"):
        case = cases.case(rng, activation, "bounded", sizes=(3, 5, 8), scale=0.3, samples=2,
                          name=activation)
        uncorrected = rivals.gauss_newton(*case.passes, convex=True)[-1]
        corrected = rivals.gauss_newton(*case.passes, convex=False)
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
