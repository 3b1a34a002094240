"""KFAC and KFRA: Fisher matrix, Gauss-Newton recursion, Kronecker-factored inverses (12), (13)."""

import numpy as np

from ....exact.dense import gauss_newton as whole_gauss_newton
from ....exact.dense import hessian as whole_hessian
from ....ledger import AtMost, Case, Counterexample, Equal, PrintedShape, Rate, Stated, equation
from ....nets import BoundedCriterion
from .. import PAPER, curvatures, hessians, kronecker_inverse
from ..direction import direction
from . import cases, reference
from .conditions import CONSTANT, LIGHT, UNLIKELY, WITHIN

ALPHA = 0.05


def vec_gradient(case, s, t):
    """Gradient of instance s in Vec(W^t), by complex steps."""
    return reference.gradient(lambda p: reference.loss(case, s, p), case.theta,
                              reference.weight_places(case, t))


@equation(PAPER, "u-fisher",
          where="Related Works",
          statement="A block of one instance's Fisher matrix, between the weights of two layers: "
                    "inputs of one with inputs of the other, gradients of one with gradients of "
                    "the other.",
          formula=r"[\tilde{F}_i]_{\mu\nu} = (\mathbf{h}_i^{\mu-1} \otimes "
                  r"\mathbf{h}_i^{(\mu-1)T}) \otimes (\nabla_{\mathbf{b}^\nu} \xi_i \otimes "
                  r"\nabla_{\mathbf{b}^\nu} \xi_i^T)",
          corrected=r"[\tilde{F}_i]_{\mu\nu} = (\mathbf{h}_i^{\mu-1} \otimes "
                    r"\mathbf{h}_i^{(\nu-1)T}) \otimes (\nabla_{\mathbf{b}^\mu} \xi_i \otimes "
                    r"\nabla_{\mathbf{b}^\nu} \xi_i^T)",
          kind="identity", verdict="erratum", weight="misprint", implements=curvatures.fisher_block)
def u_fisher(rng):
    claims = []
    for case in cases.variety(rng, ("sigmoid", "sin"), sizes=(3, 4, 5, 2)):
        for mu, nu in ((1, 2), (3, 1), (2, 2)):
            g = {t: case.deltas(t)[0] for t in (mu, nu)}
            h = {t: case.inputs(t)[0] for t in (mu, nu)}
            block = curvatures.fisher_block(h[mu], g[mu], h[nu], g[nu])
            wanted = np.outer(vec_gradient(case, 0, mu), vec_gradient(case, 0, nu))
            claims.append(Equal("outer product of gradients", block, wanted, 1e-12,
                                case=f"{case.activation}, block ({mu}, {nu})"))
            printed = curvatures.fisher_block_as_printed(h[mu], g[nu])
            if mu == nu:
                claims.append(Equal("as printed it is right", printed, wanted, 1e-12,
                                    case=f"{case.activation}, block ({mu}, {nu})"))
            else:
                claims.append(PrintedShape(f"{case.activation}, block ({mu}, {nu})", printed.shape,
                                           wanted.shape))
    return [*claims, Case(h=h[nu], g=g[nu])]


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
          implements=(curvatures.fisher, hessians.mean_outer))
def u_fisher_labels(rng):
    draws, usual = 400, cases.case(rng, "tanh", "softmax")
    claims = []
    for case in [usual, *cases.unusual(rng, loss="softmax")]:
        empirical, exact = (curvatures.fisher(case.evaluation, case.units, kind)
                            for kind in ("empirical", "exact"))
        for t in (1, 2, 3):
            given, options = reference.bias_gradients(case, t), {"case": f"{case.name}, layer {t}"}
            models, deviation = of_the_model(case, t)
            claims += [Equal("empirical", empirical[t - 1],
                             sum(np.outer(g, g) for g in given) / len(given), case.allowed(1e-11),
                             **options),
                       Equal("exact, label by label", exact[t - 1], models, case.allowed(1e-11),
                             **options)]
            if case is usual:
                sampled = curvatures.fisher(case.evaluation, case.units, "sampled", rng, draws)
                claims.append(AtMost(
                    f"sampled minus exact against six standard deviations of {draws} draws",
                    np.abs(sampled[t - 1] - models), 6 * deviation / np.sqrt(draws), **options))
    return [*claims, Case(g=given)]


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
          statement="The damped inverse is replaced by a Kronecker product of damped inverses: "
                    "the matrix inverted has two more terms, so that it always damps too much. "
                    "With pi^2 the ratio of mean eigenvalues the traces of these terms are least.",
          formula=r"\begin{gathered} (\mathbb{E}_i[\hat{F}_i^t] + \alpha I)^{-1} \approx "
                  r"(\mathcal{H}^t)^{-1} \otimes (\mathcal{G}^t)^{-1} \\ (\mathcal{H}^t)^{-1} = "
                  r"(\mathbb{E}_i[\mathbf{h}_i^{t-1} \otimes \mathbf{h}_i^{(t-1)T}] + \pi_t "
                  r"\sqrt{\alpha} I)^{-1} \\ (\mathcal{G}^t)^{-1} = "
                  r"(\mathbb{E}_i[\nabla_{\mathbf{b}^t} \xi_i \otimes \nabla_{\mathbf{b}^t} "
                  r"\xi_i^T] + (\sqrt{\alpha}/\pi_t) I)^{-1} \end{gathered}",
          uses=("11a",), kind="approximation", verdict="conditional", condition=LIGHT,
          implements=(Stated(kronecker_inverse.factors, "0", "1"), kronecker_inverse.inverse,
                      kronecker_inverse.trace_norm_pi))
def equation_12(rng):
    A, B, _ = factors(rng)
    I_m, I_n, (damped_A, damped_B, pi) = np.eye(4), np.eye(3), by_hand(A, B)
    exact = reference.kron(A, B) + ALPHA * np.eye(12)
    more = np.sqrt(ALPHA) * (reference.kron(A, I_n) / pi + pi * reference.kron(I_m, B))

    def traces(pi):
        return np.trace(reference.kron(A, I_n)) / pi + pi * np.trace(reference.kron(I_m, B))

    mine = kronecker_inverse.trace_norm_pi(np.trace(A), 4, np.trace(B), 3)
    diagonal = np.diag([1.0, 2, 3]), np.diag([0.5, 0.1])
    off = kronecker_inverse.inverse(*diagonal, ALPHA) - np.linalg.inv(reference.kron(*diagonal)
                                                                      + ALPHA * np.eye(6))
    return [
        Equal("inverse of the approximate inverse: two terms more",
              np.linalg.inv(kronecker_inverse.inverse(A, B, ALPHA)), exact + more, 1e-10),
        *(Equal(f"factor of the {name}", factor, wanted, 1e-13) for name, factor, wanted in zip(
              ("inputs", "gradients"), kronecker_inverse.factors(A, B, ALPHA), (damped_A, damped_B)
          )),
        AtMost("0 against the least eigenvalue of those terms", 0.0, reference.least(more),
               scale=1.0),
        AtMost("traces at pi against other pi", traces(mine),
               [traces(mine * f) for f in (0.3, 0.9, 1.1, 4.0)]),
        Equal("pi", mine, pi, 1e-13),
        AtMost("1 % against what diagonal factors mismatch by", 0.01, np.abs(off).max()),
        *light_and_heavy(rng),
        Case(A=A, B=B),
    ]


def light_and_heavy(rng):
    """(12) for positive definite factors as alpha falls, and at an alpha that is not small."""
    A, B = (Q @ np.diag(rng.uniform(0.5, 2, len(Q))) @ Q.T
            for Q in (np.linalg.qr(rng.normal(size=(n, n)))[0] for n in (4, 3)))
    alphas, product = 1e-4 * 4.0 ** -np.arange(6), reference.kron(A, B)

    def sides(alpha):
        return (kronecker_inverse.inverse(A, B, alpha),
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
          kind="identity", verdict="holds", implements=kronecker_inverse.direction)
def u_kfi(rng):
    _, B, G = factors(rng)
    claims = []
    for S in (2, 9):
        X = rng.normal(size=(S, 4))
        A = reference.second_moment(X)
        damped_A, damped_B, _ = by_hand(A, B)
        wanted = -np.linalg.solve(reference.kron(damped_A, damped_B), reference.vec(G))
        claims += [
            Equal("three matrices", reference.vec(kronecker_inverse.direction(A, B, G, ALPHA)),
                  wanted, 1e-11, case=f"{S} instances"),
            Equal("from the inputs",
                  reference.vec(kronecker_inverse.preconditioner(X, B, ALPHA)(-G)), wanted, 1e-11,
                  case=f"{S} instances"),
        ]
    solve = kronecker_inverse.inputs_solver(X, 0.3)
    return [*claims,
            Equal("the inputs' factor alone", solve(G) @ (A + 0.3 * np.eye(4)), G, 1e-12),
            Case(X=X, B=B, G=G)]


@equation(PAPER, "13",
          where="Convex Criterion",
          statement="In the first layer, the second moment of the inputs is replaced by the outer "
                    "product of their mean, and inverted by the formula of Sherman and Morrison.",
          formula=r"\mathcal{H}^1 \approx \mathbb{E}_i[\mathbf{h}_i^0] \otimes "
                  r"\mathbb{E}_i[\mathbf{h}_i^{0T}] + \pi_1 \sqrt{\alpha} I",
          uses=("12",), kind="approximation", verdict="conditional", condition=CONSTANT,
          implements=(kronecker_inverse.first_layer_factor, kronecker_inverse.first_layer_inverse,
                      kronecker_inverse.solution))
def equation_13(rng):
    _, B, G = factors(rng)
    X = rng.normal(size=(6, 4)) + 0.5
    mean = sum(X) / 6
    outer = reference.kron(mean[None], mean[:, None])
    pi = np.sqrt(np.trace(outer) / 4 / (np.trace(B) / 3))
    damped_A, damped_B = (outer + pi * np.sqrt(ALPHA) * np.eye(4),
                          B + np.sqrt(ALPHA) / pi * np.eye(3))
    step = kronecker_inverse.solution(system(X, B, G), rank_one=True)
    left_out = reference.second_moment(X - mean)
    moment = reference.second_moment(X) + pi * np.sqrt(ALPHA) * np.eye(4)
    same = np.outer(X[0], X[0]) + pi * np.sqrt(ALPHA) * np.eye(4)
    return [
        Equal("the factor", kronecker_inverse.first_layer_factor(mean, pi, ALPHA), damped_A, 1e-13),
        Equal("its inverse", kronecker_inverse.first_layer_inverse(mean, pi, ALPHA, G),
              G @ np.linalg.inv(damped_A), 1e-12),
        Equal("the direction", step, -np.linalg.inv(damped_B) @ G @ np.linalg.inv(damped_A), 1e-11),
        Equal("the factor minus that of (12), by the inputs' covariance",
              kronecker_inverse.first_layer_factor(mean, pi, ALPHA), moment - left_out, 1e-13),
        Equal("instances of one input: that of (12)",
              kronecker_inverse.first_layer_factor(np.mean([X[0]] * 6, axis=0), pi, ALPHA), same,
              1e-13),
        Counterexample(Equal("inputs that vary: the direction of (12)", step,
                             -np.linalg.inv(damped_B) @ G @ np.linalg.inv(moment), 1e-4)),
        *(claim for case in cases.unusual(rng, KFI_CASES) for claim in kfi_directions(
              case, "kfi-rank-one", "fisher", second_moments(case), l2=0.1)),
        Case(mean=mean, B=B),
    ]


#: Unusual cases of the direction of KFI.
KFI_CASES = ("first layer frozen", "middle layer frozen", "no biases", "chains in chains",
             "no activation after layer 2", "one instance", "eleven instances", "float32")


def second_moments(case):
    """E_i[g_i g_i^T] of every layer, by complex steps."""
    gradients = (reference.bias_gradients(case, t) for t in range(1, case.depth + 1))
    return [reference.second_moment(rows) for rows in gradients]


def kfi_directions(case, solver, curvature, matrices, l2=0.0):
    """Claims on KFI's direction: weights by (12), or (13) in layer 1, biases by B + alpha I."""
    step = direction(*case.model, curvature, solver, ALPHA, l2=l2)
    gradient = reference.gradients(case, np.arange(len(step))).mean(axis=0) + l2 * case.theta
    claims, alpha = [], ALPHA + l2
    for t, (one, B) in enumerate(zip(case.layers, matrices), start=1):
        if one.weight is None:
            continue
        h, name = reference.inputs(case, t), f"{case.name}, layer {t}, {solver}"
        mean = h.mean(axis=0)
        A = np.outer(mean, mean) if solver != "kfi" and t == 1 else h.T @ h / len(h)
        damped_A, damped_B, _ = by_hand(A, B, alpha)
        D = -np.linalg.inv(damped_B) @ gradient[one.weight] @ np.linalg.inv(damped_A)
        claims.append(Equal("direction of the package", step[one.weight], D, case.allowed(1e-6),
                            case=name))
        if one.bias is not None:
            d = -np.linalg.solve(B + alpha * np.eye(len(B)), gradient[one.bias])
            claims.append(Equal("direction of the package, bias", step[one.bias], d,
                                case.allowed(1e-6), case=name))
    return claims


def system(X, B, G):
    """The room's `System` around a gradient."""
    from ..systems import System

    return System(B, X, np.zeros((len(X), len(B))), G, G, ALPHA, 0.0)


def reaches_everything(case):
    """Whether every instance has a live unit in every hidden layer, some unit is dead, and all are
    away from their kinks.
    """
    saved = [case.hidden(t) for t in (1, 2)]
    live = [one.slope > 0 for one in saved]
    return (min(np.abs(one.input).min() for one in saved) > 0.05
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
          implements=(curvatures.gauss_newton, kronecker_inverse.direction, direction))
def u_kfra(rng):
    claims = []
    for case in [relu_case(rng), *cases.variety(rng, losses=("softmax",)),
                 *cases.unusual(rng, KFI_CASES, loss="softmax")]:
        top = reference.bias_hessians(case, 3).mean(axis=0)
        wanted = reference.recursion(case, top, None)
        recursion = curvatures.gauss_newton(case.evaluation, case.units)
        claims += [Equal("the recursion, by loops", B, by_loops, case.allowed(1e-7),
                         case=f"{case.name}, layer {t}")
                   for t, (B, by_loops) in enumerate(zip(recursion, wanted), start=1)]
        claims += kfi_directions(case, "kfi", "gauss-newton", wanted)
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
          implements=(hessians.gauss_newton_step, hessians.mean_of_instances))
def u_kfra_hessian(rng):
    case = relu_case(rng)
    loss, claims = case.evaluation.loss_function, []
    mean = hessians.mean_of_instances(case.evaluation, case.units, lambda p, y: loss.hessian(p, y),
                                      hessians.gauss_newton_step)
    unit, H = case.units[3], case.top()[:, :1, :1] * np.ones((3, 3))
    by_loops = [np.diag(row) @ one @ np.diag(row) for row, one in zip(unit.saved.slope, H)]
    claims.append(Equal("one activation", hessians.gauss_newton_step(unit, H), by_loops, 1e-13))
    claims += [Equal("mean Gauss-Newton block against the Hessian, by differences", mean[t - 1],
                     reference.bias_hessians(case, t).mean(axis=0), 1e-8, case=f"layer {t}")
               for t in (3, 2, 1)]
    recursion = curvatures.gauss_newton(case.evaluation, case.units)
    return [
        *claims,
        Counterexample(Equal("the whole Hessian against the whole Gauss-Newton matrix",
                             whole_hessian(*case.model), whole_gauss_newton(*case.model), 1e-8)),
        Counterexample(Equal("layer 1: KFRA's recursion against the mean", recursion[0], mean[0],
                             1e-8)),
        Case(x=case.x, theta=case.theta),
    ]


@equation(PAPER, "u-gn",
          where="Related Works; Non-Convex Criterion",
          statement="With the bounded criterion the Gauss-Newton matrix is indefinite; a "
                    "corrected top block mends it.",
          formula=r"\mathbb{E}_i[\text{GN}(\nabla_{\mathbf{b}^t}^2 \xi_i)] \not\succeq 0",
          kind="claim", verdict="conditional", condition=UNLIKELY, ours=True,
          implements=(curvatures.gauss_newton, BoundedCriterion.hessian))
def u_gn(rng):
    claims = []
    for activation in ("sigmoid", "tanh", "softplus"):
        case = cases.case(rng, activation, "bounded", sizes=(3, 5, 8), scale=0.3, samples=2)
        uncorrected = curvatures.gauss_newton(case.evaluation, case.units, top_gamma=1.0)[-1]
        corrected = curvatures.gauss_newton(case.evaluation, case.units)
        by_differences = reference.bias_hessians(case, 2).mean(axis=0)
        whole = whole_gauss_newton(*case.model)
        eigenvalues, V = np.linalg.eigh(by_differences)
        claims += [
            AtMost("least eigenvalue of the top block against -1 % of its largest entry",
                   reference.least(uncorrected), -0.01, case=activation),
            AtMost("least eigenvalue of the whole matrix against 0", reference.least(whole), 0.0,
                   case=activation),
            Equal("top block by differences", uncorrected, by_differences, 1e-8, case=activation),
            Equal("corrected", corrected[-1], V @ np.diag(np.abs(eigenvalues)) @ V.T, 1e-7,
                  case=activation),
            AtMost("0 against the least eigenvalues once corrected", 0.0,
                   [reference.least(B) for B in corrected], scale=1.0, case=activation),
        ]
    likely = BoundedCriterion().hessian(np.array([[3.0, 0, 0]]), np.array([0]))[0]
    return [
        *claims,
        Counterexample(AtMost("the same for one instance whose class is likely",
                              reference.least(likely), -0.01)),
        Case(top=uncorrected),
    ]
