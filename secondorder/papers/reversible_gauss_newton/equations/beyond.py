"""What follows beyond the paper: the update as one sweep, Gram matrices, the Moore-Penrose step,
weights of the blocks.
"""

from functools import partial

import numpy as np

from ....ledger import AtMost, Case, Equal, Property, Stated, equation
from ....nets import SoftmaxCrossEntropy, SquaredError, mlp
from .. import PAPER, direction, ntk, ntk_product
from ..eq_01_07_gauss_newton import eq_5_by_kernel
from ..eq_12_13_jacobian import to_theta
from ..eq_14_15_coupling import Coupling
from ..eq_14_15_revmlp import block_states
from ..eq_16_17_right_inverse import at_features, eq_16_17_deltas
from ..eq_33_57_proof import eq_56_57_step, shortest, swept_delta
from ..layers import jacobian, tangent_kernel
from ..method import GaussNewton
from ..recompute import RunningEvaluation
from ..section_5_pseudo_inverse import FORMS, gram_solve, noise, times_pseudo_inverse
from . import cases, reference


@equation(PAPER, "extension-sweep",
          where="beyond the paper",
          statement="With independent features the bracket of (17) is the error one block lower, "
                    "so that one inverse sweep gives both matrices.",
          formula=r"\Delta_\ell^{(1)}=e_\ell^{(1)}S_1^+,\qquad \Delta_\ell^{(2)}"
                  r"=e_{\ell-1}^{(2)}S_2^+",
          kind="identity", verdict="holds", ours=True,
          implements=(swept_delta, eq_16_17_deltas, at_features,
                      Coupling.undone, RunningEvaluation.deltas),
          uses=("16", "17"))
def extension_sweep(rng):
    at = cases.small(rng)
    sweep, claims = cases.blocks_of(at, cases.fast_direction(at)), []
    for l, state in enumerate(at.states):
        below = reference.inverse_jacobian(at.net, at.x, l - 1)
        e1 = (reference.inverse_jacobian(at.net, at.x, l) @ at.eps)[:6].reshape(3, 2).T
        e2 = (below @ at.eps)[6:].reshape(3, 2).T
        claims += [Equal(f"Delta{k + 1}", sweep[l][k], -e @ reference.pinv(S) / 3, 1e-8,
                         case=f"block {l + 1}")
                   for k, (e, S) in enumerate(((e1, state.S1), (e2, state.S2)))]
        claims.append(Equal("Delta2 of the formula", swept_delta(e2, state.S2), -3 * sweep[l][1],
                            1e-8, case=f"block {l + 1}"))
    for name, other in cases.rows(rng):
        for way, options in WAYS.items():
            form = {key: value for key, value in options.items() if key != "recompute"}
            literal = reference.right_inverse_step(other.net, other.x, other.eps,
                                                   reference.plus_of(**form))
            step = cases.fast_direction(other, **options)
            claims.append(Equal("the step, by complex steps", step, literal, 1e-8,
                                case=f"{way}: {name}"))
        single = cases.fast_direction(other, True)
        claims += [Equal("the step in float32", single,
                         reference.right_inverse_step(other.net, other.x, other.eps), 2e-3,
                         case=name),
                   Equal("ranks of the features", ranks_of(other), literal_ranks(other), 1e-12,
                         case=name), two_steps(other, name),
                   AtMost("drift of the inverse network", drift_of(other), 1e-9, case=name)]
    return [*claims, Property("type of the step in float32", str(single.dtype), "float32"),
            Case(e1=e1, e2=e2)]


#: Ways to make a step, and their options.
WAYS = {"the update": {}, "recomputed": {"recompute": True},
        "damped": {"pseudo_inverse": "damp", "strength": 0.3},
        "tikhonov": {"pseudo_inverse": "tikhonov", "strength": 0.2},
        "truncated, recomputed": {"pseudo_inverse": "truncate", "strength": 0.3,
                                  "recompute": True}}


def sweep_of(at):
    """The `Fit` of every half, of a `Row`."""
    states = block_states(at.net, at.net.forward(at.x)[1])
    e1, e2 = np.split(at_features(at.net.readout, at.eps.T), 2)
    return eq_16_17_deltas(states[::-1], e1, e2)


def ranks_of(at):
    """Ranks of all features (L, 2), as the sweep finds them."""
    return np.array([[Delta.rank for Delta in pair] for pair in sweep_of(at)], dtype=float)


def drift_of(at):
    """How far the inverse network misses the input."""
    running = RunningEvaluation(at.net, SquaredError(), at.x, at.y)
    list(running.undone())
    return running.drift


def literal_ranks(at):
    """The same from the singular values of S."""
    return np.array([[cases.rank_of(S) for S in pair[2:]]
                     for pair in reference.deltas(at.net, at.x, at.eps)], dtype=float)


def two_steps(at, name):
    """A claim on the method: two steps at half the rate or less, the second in the arrays of the
    first.
    """
    net, literal, rate = at.net.copy(), at.net.copy(), 0.5
    step = literal_step(literal, at)
    literal.theta = at.net.theta + rate * step
    while reference.conditions(literal, at.x).max() > 1e3:  # the next step would lose digits
        rate /= 2
        literal.theta = at.net.theta + rate * step
    literal.theta = literal.theta + rate * literal_step(literal, at)
    method = GaussNewton(net, SquaredError(), learning_rate=rate, l2=0.1, pseudo_inverse="exact")
    with cases.quietly():
        for _ in range(2):
            method.step(at.x, at.y)
    return Equal("two steps of the method", net.theta, literal.theta, 1e-6, case=name)


def literal_step(net, at):
    """The direction of the method with weight decay 0.1, from the equations."""
    return reference.right_inverse_step(net, at.x, reference.outputs(net, at.x) - at.y
                                 ) - 0.1 * net.theta


@equation(PAPER, "extension-gram",
          where="beyond the paper",
          statement="T S+ is applied through S^T S, regularised or not, and never formed.",
          formula=r"T S^+=T Q f(\Lambda) Q^T S^T,\qquad S^TS=Q\Lambda Q^T",
          kind="identity", verdict="holds", ours=True,
          implements=(Stated(times_pseudo_inverse, "product", "reached", "rank"),
                      Stated(gram_solve, "0", "1"), *FORMS.values(),
                      Stated(noise, "product", "reached")),
          uses=("16",))
def extension_gram(rng):
    claims = []
    for name, shape in (("n < d'", (9, 5)), ("n > d'", (4, 9)), ("dependent samples", (9, 5))):
        S, T = rng.normal(size=shape), rng.normal(size=(3, shape[1]))
        if name == "dependent samples":
            S[:, 0] = S[:, 1]
        U, s, Vt = np.linalg.svd(S, full_matrices=False)
        U, s, Vt = U[:, s > 1e-12], s[s > 1e-12], Vt[s > 1e-12]
        forms = {"exact": 1 / s, "truncate": np.where(s >= 0.5 * s[0], 1 / s, 0),
                 "damp": 1 / (s + 0.5 * s[0]), "tikhonov": s / (s**2 + 0.5 * s[0] ** 2)}
        for form, f in forms.items():
            plus = (Vt.T * f) @ U.T
            given = {} if form == "exact" else {"strength": 0.5}
            used = partial(FORMS[form], **given) if given else FORMS[form]
            fit, case = times_pseudo_inverse(T, S, used), f"{name}, {form}"
            claims += [Equal("T S+", fit.product, T @ plus, 1e-9, case=case),
                       Equal("T S+ S", fit.reached, T @ plus @ S, 1e-9, case=case)]
            if form != "tikhonov":  # it weighs what is zero by next to nothing
                claims.append(Equal("rank", float(fit.rank), float(np.count_nonzero(f)), 1e-12,
                                    case=case))
            claims.append(Equal(f"f(s), {form}", FORMS[form](s, **given), f, 1e-14, case=name))
    G, E = S[:, 1:].T @ S[:, 1:], rng.normal(size=(4, 2))
    U, s, Vt = np.linalg.svd(S[:, 1:], full_matrices=False)
    for form, f in (("exact", 1 / s**2), ("damp", 1 / (s * (s + 1e-2 * s[0])))):
        solution, rank, _ = gram_solve(G, E, FORMS[form])
        claims += [Equal("(S^T S)+ E", solution, (Vt.T * f) @ Vt @ E, 1e-9, case=form),
                   Equal("rank of S, from S^T S", float(rank), 4.0, 1e-12, case=form)]
    S1, drawn = np.vstack([S[:, 1:], np.ones(4)]), np.random.default_rng(4)
    noisy = S1.copy()
    noisy[:9] += 0.3 * S1[:9].std() * drawn.standard_normal((4, 9)).T
    fit = noise(T[:, 1:], S1, np.random.default_rng(4), 0.3, 9)
    with_noise = T[:, 1:] @ reference.pinv(noisy)
    return [*claims, Equal("with noise, and ones for a bias", fit.product, with_noise, 1e-9),
            Equal("what it makes of S", fit.reached, with_noise @ S1, 1e-9), Case(S=S, s=s)]


@equation(PAPER, "extension-moore-penrose",
          where="beyond the paper; Section 6 leaves it open",
          statement="The Moore-Penrose step of any network comes from J J^T, built layer by layer "
                    "without J.",
          formula=r"-J^+\epsilon=-J^T(JJ^T)^{-1}\epsilon,\qquad (JJ^T)_{(c,s),(c',t)}"
                  r"=\sum_{\text{layers}}(a_s\cdot a_t + 1)\,(g_{c,s}\cdot g_{c',t})",
          kind="identity", verdict="holds", ours=True,
          implements=(Stated(eq_5_by_kernel, "0", "1"), tangent_kernel, jacobian, ntk_product,
                      direction), uses=("5", "12"))
def extension_moore_penrose(rng):
    claims, at = [], cases.small(rng)
    J = reference.parameter_jacobian(at.net, at.x)
    step = cases.fast_direction(at, inverse="moore-penrose")
    claims.append(Equal("reversible network", step, to_theta(-reference.pinv(J) @ at.eps, at.net),
                        1e-8))
    by_kernel, rank, _ = eq_5_by_kernel(J @ J.T, at.eps, lambda a: J.T @ a)
    claims += [Equal("reversible network, the formula", by_kernel, -reference.pinv(J) @ at.eps,
                     1e-8), Equal("its rank", float(rank), float(len(J)), 1e-12)]
    net, x, y = mlp([3, 5, 3], rng=rng), rng.normal(size=(3, 3)), np.eye(3)[[2, 0, 1]]
    outputs, saved = net.forward(x)
    J = jacobian_by_differences(net, x)
    K = tangent_kernel(net, saved, 3, 3).transpose(1, 0, 3, 2).reshape(9, 9)
    eps = reference.softmax_errors(outputs, y).ravel()
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    for form, strength, f in (("exact", None, 1 / s),
                              ("tikhonov", 0.2, s / (s**2 + 0.2 * s[0] ** 2)),
                              ("truncate", 0.5, np.where(s >= 0.5 * s[0], 1 / s, 0))):
        step = direction(net, SoftmaxCrossEntropy(), x, y, "moore-penrose", form, strength)
        claims.append(Equal("tanh network", step, -Vt.T @ (f * (U.T @ eps)), 1e-6, case=form))
    for k, (name, make) in enumerate(cases.NETWORKS.items()):
        for samples in (11, 1 + k % 2):
            claims += of_kernel(rng, make(rng), samples, f"{name}, {samples} samples")
    return [*claims, Equal("J J^T of a tanh network with biases", K, J @ J.T, 1e-9), Case(K=K)]


def of_kernel(rng, net, samples, name):
    """Claims on J and the kernel of any network and on a step through them, also of dependent rows.
    """
    net.theta = net.theta + 0.3 * rng.normal(size=net.size)
    x = rng.normal(size=(samples, *net.input_shape))
    y = rng.normal(size=(samples, *net.output_shape))
    J, C = jacobian_by_differences(net, x), y.shape[1]
    K = (J @ J.T).reshape(samples, C, samples, C)
    tikhonov = {"inverse": "moore-penrose", "pseudo_inverse": "tikhonov", "strength": 0.2}
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    step = -Vt.T @ (s / (s**2 + 0.2 * s[0] ** 2) * (U.T @ (net(x) - y).ravel()))
    at, v = cases.Row(net, x, y, net(x) - y), rng.normal(size=y.shape)
    outputs_first = J.reshape(samples, C, -1).transpose(1, 0, 2).reshape(J.shape)
    return [Equal("J J^T by differences", ntk(net, x), K, 1e-9, case=name),
            Equal("J itself, outputs before samples",
                  jacobian(net, net.forward(x)[1], samples, C), outputs_first, 1e-9, case=name),
            Equal("J J^T in float32", ntk(net.astype("float32"), x), K, 1e-4, case=name),
            Equal("J J^T v", ntk_product(net, x, v).ravel(), J @ (J.T @ v.ravel()), 1e-8,
                  case=name),
            Equal("a damped step", cases.fast_direction(at, **tikhonov), step, 1e-7, case=name),
            Equal("a damped step in float32", cases.fast_direction(at, True, **tikhonov), step,
                  1e-3, case=name)]


def jacobian_by_differences(net, x, step=3e-4):
    """J (n c, P) of the outputs f by differences of the fourth order, with h = `step`:

        (8 (f(h) - f(-h)) - (f(2 h) - f(-2 h))) / (12 h)
    """
    home, columns = net.theta.copy(), []
    for e in np.eye(net.size):
        total = 0
        for times, factor in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
            net.theta = home + times * step * e
            total = total + factor * net(x).ravel()
        columns.append(total / (12 * step))
    net.theta = home
    return np.array(columns).T


@equation(PAPER, "extension-block-weights",
          where="beyond the paper",
          statement="Any weights of the blocks with sum 1 give a right inverse. The shortest "
                    "step weighs a block by one over the square of its own length.",
          formula=r"J^\dashv=\begin{pmatrix}c_1J_1^\dashv\\\vdots\\"
                  r"c_LJ_L^\dashv\end{pmatrix},\ \sum_\ell c_\ell=1,\qquad c_\ell"
                  r"\propto\|\Delta_\ell\|^{-2}",
          kind="optimality", verdict="holds", ours=True,
          implements=(shortest, eq_56_57_step), uses=("55",))
def extension_block_weights(rng):
    at = cases.small(rng)
    J = reference.parameter_jacobian(at.net, at.x)
    blocks = [-reference.pinv(reference.parameter_jacobian(at.net, at.x, [l])) @ at.eps
              for l in range(3)]
    given = rng.normal(size=3)
    given /= given.sum()
    lengths = np.array([b @ b for b in blocks])
    least = np.linalg.solve(
        np.block([[np.diag(lengths), np.ones((3, 1))], [np.ones((1, 3)), np.zeros((1, 1))]]),
        [0, 0, 0, 1],
    )[:3]  # Lagrange: minimise sum c^2 |Delta|^2 with sum c = 1
    claims = []
    for name, weights in (("given", given), ("last", np.array([0.0, 0, 1])), ("shortest", least)):
        step = eq_56_57_step(at.states, at.eps, weights)
        expected = np.concatenate([c * block for c, block in zip(weights, blocks)])
        claims += [Equal("the step", step, expected, 1e-7, case=name),
                   Equal("J times it", J @ step, -at.eps, 1e-7, case=name)]
    drawn = rng.dirichlet(np.ones(3), size=30)
    squares = (drawn**2 * lengths).sum(axis=1)
    best = np.linalg.norm(eq_56_57_step(at.states, at.eps, shortest(lengths))) ** 2
    return [*claims, Equal("weights of the shortest step", shortest(lengths), least, 1e-10),
            AtMost("no other weights give a shorter step", float(best), squares),
            Equal("tight: the least of them", float(best), float((least**2 * lengths).sum()), 1e-7),
            Case(weights=least, lengths=lengths)]
