"""KFAC: the Fisher matrix, and inverses of Kronecker products, (12) and (13)."""

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, PrintedShape, Rate, Stated, equation
from .. import PAPER, curvatures, hessians
from ..solvers import kronecker_inverse, systems
from ..direction import direction
from . import cases, reference
from .conditions import CONSTANT, LIGHT

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
          kind="identity", verdict="erratum", weight="misprint", implements=curvatures.fisher_block,
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
                                curvatures.fisher_block(h_mu, g_mu, h, g), outer, 1e-12, case=name))
            printed = curvatures.fisher_block_as_printed(h_mu, g)
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
          implements=(curvatures.fisher_of_expectations, curvatures.fisher, hessians.mean_outer),
          uses=("u-fisher", "u-expect"))
def u_fisher_labels(rng):
    draws, usual = 400, cases.case(rng, "tanh", "softmax")
    claims = []
    for case in [usual, *cases.unusual(rng, loss="softmax")]:
        empirical, exact = (curvatures.fisher(*case.passes, kind)
                            for kind in ("empirical", "exact"))
        for t in (1, 2, 3):
            given, (models, deviation) = reference.bias_gradients(case, t), of_the_model(case, t)
            claims += [case.equal("empirical", empirical[t - 1], reference.second_moment(given),
                                  1e-11, t),
                       case.equal("exact, label by label", exact[t - 1], models, 1e-11, t)]
            if case is usual:
                sampled = curvatures.fisher(*case.passes, "sampled", rng, draws)
                claims.append(AtMost(
                    f"sampled minus exact against six standard deviations of {draws} draws",
                    np.abs(sampled[t - 1] - models), 6 * deviation / np.sqrt(draws),
                    case=case.named(t)))
    h, g = usual.inputs(1), reference.bias_gradients(usual, 1)
    loops = reference.kron(reference.second_moment(h), reference.second_moment(g))
    return [*claims, Equal("the product of both means, by loops",
                           curvatures.fisher_of_expectations(h, g), loops, 1e-12), Case(g=given)]


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
    of_inputs, of_gradients = kronecker_inverse.factors(A, B, ALPHA)
    diagonal = np.diag([1.0, 2, 3]), np.diag([0.5, 0.1])
    off = kronecker_inverse.inverse(*diagonal, ALPHA) - np.linalg.inv(reference.kron(*diagonal)
                                                                      + ALPHA * np.eye(6))
    return [Equal("inverse of the approximate inverse: two terms more",
                  np.linalg.inv(kronecker_inverse.inverse(A, B, ALPHA)), exact + more, 1e-10),
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
          kind="identity", verdict="holds", implements=kronecker_inverse.direction,
          uses=("12", "u-vec"))
def u_kfi(rng):
    _, B, G = factors(rng)
    claims = []
    for S in (2, 9):
        X = rng.normal(size=(S, 4))
        A = reference.second_moment(X)
        damped_A, damped_B, _ = by_hand(A, B)
        d = -np.linalg.solve(reference.kron(damped_A, damped_B), reference.vec(G))
        for name, D in (("three matrices", kronecker_inverse.direction(A, B, G, ALPHA)),
                        ("from the inputs", kronecker_inverse.preconditioner(X, B, ALPHA)(-G))):
            claims.append(Equal(name, reference.vec(D), d, 1e-11, case=f"{S} instances"))
    solve = kronecker_inverse.inputs_solver(X, 0.3)
    return [*claims,
            Equal("the inputs' factor alone", solve(G) @ (A + 0.3 * np.eye(4)), G, 1e-12),
            Case(X=X, B=B, G=G)]


@equation(PAPER, "13",
          where="Convex Criterion",
          statement="In the first layer, the outer product of the mean input replaces the second "
                    "moment of the inputs. The formula of Sherman and Morrison inverts it.",
          formula=r"\mathcal{H}^1 \approx \mathbb{E}_i[\mathbf{h}_i^0] \otimes "
                  r"\mathbb{E}_i[\mathbf{h}_i^{0T}] + \pi_1 \sqrt{\alpha} I",
          uses=("11b", "12"), kind="approximation", verdict="conditional", condition=CONSTANT,
          implements=(kronecker_inverse.first_layer_factor, kronecker_inverse.first_layer_inverse,
                      kronecker_inverse.solution))
def equation_13(rng):
    _, B, G = factors(rng)
    X = rng.normal(size=(6, 4)) + 0.5
    mean = X.mean(axis=0)
    damped_A, damped_B, pi = by_hand(np.outer(mean, mean), B)
    shift = pi * np.sqrt(ALPHA) * np.eye(4)
    moment = reference.second_moment(X) + shift
    system = systems.System(B, X, np.zeros((6, 3)), G, G, ALPHA, 0.0)
    D = kronecker_inverse.solution(system, rank_one=True)
    factor, of_one_input = (kronecker_inverse.first_layer_factor(h, pi, ALPHA)
                            for h in (mean, np.mean([X[0]] * 6, axis=0)))
    claims = []
    for case in cases.unusual(rng, KFI_CASES):
        fisher = [reference.second_moment(reference.bias_gradients(case, t)) for t in (1, 2, 3)]
        claims += kfi_directions(case, "kfi-rank-one", "fisher", fisher, l2=0.1)
    return [*claims,
            Equal("the factor", factor, damped_A, 1e-13),
            Equal("its inverse", kronecker_inverse.first_layer_inverse(mean, pi, ALPHA, G),
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
