"""What follows beyond the paper: the update as one sweep, Gram matrices, the Moore-Penrose step,
weights of the blocks.
"""

import warnings

import numpy as np

from ....ledger import AtMost, Case, Equal, Property, Stated, equation
from ....nets import SoftmaxCrossEntropy, SquaredError, mlp
from .. import PAPER, diagnostics, directions, features, gram, kernel, rules, sweep
from ..dense import jacobians, right_inverse, steps
from ..dense.columns import half_order, to_theta
from ..coupling import Coupling
from ..optimizer import GaussNewton
from ..options import Options
from ..update import RankWarning
from . import cases, reference, whole_networks


@equation(PAPER, "extension-sweep",
          where="beyond the paper",
          statement="With independent features the bracket of (17) is the error one block lower, "
                    "so that one inverse sweep gives both matrices.",
          formula=r"\Delta_\ell^{(1)}=e_\ell^{(1)}S_1^+,\qquad \Delta_\ell^{(2)}"
                  r"=e_{\ell-1}^{(2)}S_2^+",
          kind="identity", verdict="holds", ours=True,
          implements=(Stated(right_inverse.swept_deltas, "first", "second"),
                      Stated(sweep.block_update, "0", "1"), Coupling.inverse_tangent),
          uses=("16", "17"))
def extension_sweep(rng):
    at = cases.small(rng)
    fast, claims = cases.blocks_of(at, cases.fast_direction(at)), []
    recomputed = directions.update(at.net, SquaredError(), at.x, at.y,
                                   Options(pseudo_inverse="exact", recompute=True)).direction
    for l, state in enumerate(at.states):
        below = reference.inverse_jacobian(at.net, at.x, l - 1)
        e1 = (reference.inverse_jacobian(at.net, at.x, l) @ at.eps)[:6].reshape(3, 2).T
        e2 = (below @ at.eps)[6:].reshape(3, 2).T
        claims += [Equal(f"Delta{k + 1}", fast[l][k], -e @ reference.pinv(S) / 3, 1e-8,
                         case=f"block {l + 1}")
                   for k, (e, S) in enumerate(((e1, state.S1), (e2, state.S2)))]
        swept = right_inverse.swept_deltas(e1, state.S1, e2, state.S2)
        claims += [Equal(f"Delta{k + 1} of the formula", fast[l][k], -delta / 3, 1e-8,
                         case=f"block {l + 1}") for k, delta in enumerate(swept)]
    for k, (name, other) in enumerate(cases.rows(rng)):
        for j, (way, options) in enumerate(WAYS.items()):
            form = {key: value for key, value in options.items() if key in FORM}
            literal = whole_networks.update(other.net, other.x, other.eps,
                                            whole_networks.pseudo_inverse(**form))
            case, step = f"{way}: {name}", cases.fast_direction(other, **options)
            claims.append(Equal("the step, by complex steps", step, literal, 1e-8, case=case))
            if (j - k) % 3 == 0:  # every way on every third row
                single = cases.fast_direction(other, True, **options)
                claims.append(Equal("the step in float32", single, literal, 2e-3, case=case))
        claims += [Equal("ranks of the features", ranks_of(other), literal_ranks(other), 1e-12,
                         case=name), two_steps(other, name),
                   AtMost("drift of the inverse network", drift_of(other), 1e-9, case=name)]
    return [*claims, Equal("with activations recomputed by inversion", recomputed,
                           cases.fast_direction(at), 1e-9),
            Property("type of the step in float32", str(single.dtype), "float32"),
            Case(e1=e1, e2=e2)]


FORM = ("pseudo_inverse", "strength")
#: Ways to make a step, and their options.
WAYS = {"the update": {}, "recomputed": {"recompute": True},
        "recomputed by a second forward pass": {"recompute": True, "drift_tolerance": 1e-300},
        "by decomposition": {"decomposition": "svd"},
        "damped": {"pseudo_inverse": "damp", "strength": 0.3},
        "tikhonov": {"pseudo_inverse": "tikhonov", "strength": 0.2},
        "damped, by decomposition": {"pseudo_inverse": "damp", "strength": 0.2,
                                     "decomposition": "svd"},
        "truncated, recomputed": {"pseudo_inverse": "truncate", "strength": 0.3,
                                  "recompute": True}}


def ranks_of(at):
    """Ranks of all features (L, 2), as the update reports them."""
    return directions.update(at.net, SquaredError(), at.x, at.y,
                             Options(pseudo_inverse="exact")).ranks.astype(float)


def drift_of(at):
    """How far the inverse network misses the input, as the update reports it."""
    return directions.update(at.net, SquaredError(), at.x, at.y,
                             Options(pseudo_inverse="exact", recompute=True)).drift


def literal_ranks(at):
    """The same from the singular values of S."""
    return np.array([[cases.rank_of(S) for S in pair[2:]]
                     for pair in whole_networks.deltas(at.net, at.x, at.eps)], dtype=float)


def two_steps(at, name):
    """A claim on the method: two steps at half the rate or less, the second in the arrays of the
    first.
    """
    net, literal, rate = at.net.copy(), at.net.copy(), 0.5
    step = literal_step(literal, at)
    literal.theta = at.net.theta + rate * step
    while whole_networks.conditions(literal, at.x).max() > 1e3:  # the next step would lose digits
        rate /= 2
        literal.theta = at.net.theta + rate * step
    literal.theta = literal.theta + rate * literal_step(literal, at)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        method = GaussNewton(net, SquaredError(), learning_rate=rate, l2=0.1,
                             pseudo_inverse="exact")
        for _ in range(2):
            method.step(at.x, at.y)
    return Equal("two steps of the method", net.theta, literal.theta, 1e-6, case=name)


def literal_step(net, at):
    """The direction of the method with weight decay 0.1, from the equations."""
    return whole_networks.update(net, at.x, whole_networks.outputs(net, at.x) - at.y
                                 ) - 0.1 * net.theta


@equation(PAPER, "extension-gram",
          where="beyond the paper",
          statement="T S+ is applied through S^T S or S S^T, regularised or not, and never formed.",
          formula=r"T S^+=T Q f(\Lambda) Q^T S^T,\qquad S^TS=Q\Lambda Q^T",
          kind="identity", verdict="holds", ours=True,
          implements=(gram.through_gram, Stated(features.fit, "weight", "reached", "bias"),
                      gram.filtered, gram.gram_matrix), uses=("16",))
def extension_gram(rng):
    claims = []
    for name, shape in (("n < d'", (5, 9)), ("n > d'", (9, 4))):
        F, E = rng.normal(size=shape), rng.normal(size=(shape[0], 3))
        U, s, Vt = np.linalg.svd(F, full_matrices=False)
        forms = {"exact": 1 / s,
                 "truncate": np.where(s >= 0.5 * s[0], 1 / s, 0),
                 "damp": 1 / (s + 0.5 * s[0]),
                 "tikhonov": s / (s**2 + 0.5 * s[0] ** 2)}
        claims.append(Equal("damped, through the eigenvalues of S^T S",
                            gram.through_gram(E.T, F.T, lambda t: 1 / (t + 0.5 * s[0] ** 2)),
                            (E.T @ U) * forms["tikhonov"] @ Vt, 1e-9, case=name))
        for form, f in forms.items():
            expected = (E.T @ U) * f @ Vt
            for way in ("gram", "svd"):
                result = features.fit(F, E, form, None if form == "exact" else 0.5,
                                     decomposition=way)
                claims += [Equal("weights", result.weight, expected, 1e-9,
                                 case=f"{name}, {form}, {way}"),
                           Equal("what is reached", result.reached, F @ expected.T, 1e-9,
                                 case=f"{name}, {form}, {way}")]
    wide, E = rng.normal(size=(4, 5000)), rng.normal(size=(4, 2))  # more than one part of columns
    loops = sum(np.outer(column, column) for column in wide.T)
    claims += [Equal("5000 features: the Gram matrix, column by column",
                     gram.gram_matrix(wide, np.dtype(float)), loops, 1e-12),
               Equal("5000 features: with a row of ones", gram.gram_matrix(wide, np.dtype(float),
                                                                          ones=True),
                     loops + 1, 1e-12),
               Equal("5000 features: weights", features.fit(wide, E).weight,
                     E.T @ reference.pinv(wide.T), 1e-9)]
    tall, E = rng.normal(size=(7, 3)), rng.normal(size=(7, 4))  # S^T S of rank 3
    by_pivots = gram.pivoted_inverse(tall @ tall.T, 1e-6)
    claims += [Equal("dependent samples, by pivots: S+", tall.T @ by_pivots.solve(E),
                     reference.pinv(tall) @ E, 1e-10),
               Equal("and its rank", float(by_pivots.rank), 3.0, 1e-12)]
    F, E = rng.normal(size=(5, 9)), rng.normal(size=(5, 3))
    fit = features.fit(F, E, ones=True)
    with_ones = E.T @ reference.pinv(np.hstack([F, np.ones((5, 1))]).T)
    return [*claims, Equal("with a row of ones: weights", fit.weight, with_ones[:, :-1], 1e-9),
            Equal("with a row of ones: bias", fit.bias, with_ones[:, -1], 1e-9), Case(F=F, s=s)]


@equation(PAPER, "extension-moore-penrose",
          where="beyond the paper; Section 6 leaves it open",
          statement="The Moore-Penrose step of any network comes from J J^T, built layer by layer "
                    "without J.",
          formula=r"-J^+\epsilon=-J^T(JJ^T)^{-1}\epsilon,\qquad (JJ^T)_{(c,s),(c',t)}"
                  r"=\sum_{\text{layers}}(a_s\cdot a_t + 1)\,(g_{c,s}\cdot g_{c',t})",
          kind="identity", verdict="holds", ours=True,
          implements=(steps.kernel_step, kernel.tangent_kernel, rules.khatri_rao,
                      Stated(directions.update_at, "direction")), uses=("5", "12"))
def extension_moore_penrose(rng):
    claims, loss = [], SoftmaxCrossEntropy()
    at = cases.small(rng)
    step = directions.update_at(at.net.evaluate(SquaredError(), at.x, at.y),
                                 Options("moore-penrose", "exact"))
    J = reference.parameter_jacobian(at.net, at.x)
    claims.append(Equal("reversible network", step.direction,
                        to_theta(-reference.pinv(J) @ at.eps, at.net), 1e-8))
    claims.append(Equal("reversible network, the formula", steps.kernel_step(J, at.eps),
                        -reference.pinv(J) @ at.eps, 1e-8))
    net, x, y = mlp([3, 5, 3], rng=rng), rng.normal(size=(3, 3)), np.eye(3)[[2, 0, 1]]
    evaluation = net.evaluate(loss, x, y)
    J = jacobian_by_differences(net, x)
    K = kernel.tangent_kernel(net, evaluation.saved, 3, 3).transpose(1, 0, 3, 2).reshape(9, 9)
    eps = reference.softmax_errors(evaluation.outputs, y).ravel()
    options = [Options(inverse="moore-penrose", pseudo_inverse=form, strength=s)
               for form, s in (("exact", None), ("tikhonov", 0.2), ("truncate", 0.5))]
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    for option, f in zip(options, (1 / s, s / (s**2 + 0.2 * s[0] ** 2),
                                   np.where(s >= 0.5 * s[0], 1 / s, 0))):
        claims.append(Equal("tanh network", directions.update_at(evaluation, option).direction,
                            -Vt.T @ (f * (U.T @ eps)), 1e-6, case=option.pseudo_inverse))
    for k, (name, make) in enumerate(cases.NETWORKS.items()):
        for samples in (11, 1 + k % 2):
            claims += of_kernel(rng, make(rng), samples, f"{name}, {samples} samples")
    return [*claims, Equal("J J^T of a tanh network with biases", K, J @ J.T, 1e-9), Case(K=K)]


def of_kernel(rng, net, samples, name):
    """Claims on the kernel of any network and on a step through it, also of dependent rows."""
    net.theta = net.theta + 0.3 * rng.normal(size=net.size)
    x = rng.normal(size=(samples, *net.input_shape))
    y = rng.normal(size=(samples, *net.output_shape))
    J = jacobian_by_differences(net, x)
    K = (J @ J.T).reshape(samples, -1, samples, y.shape[1])
    tikhonov = {"inverse": "moore-penrose", "pseudo_inverse": "tikhonov", "strength": 0.2}
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    step = -Vt.T @ (s / (s**2 + 0.2 * s[0] ** 2) * (U.T @ (net(x) - y).ravel()))
    at, v = cases.Row(net, x, y, net(x) - y), rng.normal(size=y.shape)
    return [Equal("J J^T by differences", diagnostics.ntk(net, x), K, 1e-9, case=name),
            Equal("J J^T in parts of four samples", diagnostics.ntk(net, x, batch_size=4), K, 1e-8,
                  case=name),
            Equal("J J^T in float32", diagnostics.ntk(net.astype("float32"), x), K, 1e-4,
                  case=name),
            Equal("J J^T v", diagnostics.ntk_product(net, x, v).ravel(), J @ (J.T @ v.ravel()),
                  1e-8, case=name),
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
          implements=(sweep.shortest, Stated(sweep.sweep, "direction")), uses=("55",))
def extension_block_weights(rng):
    at = cases.small(rng)
    J = reference.parameter_jacobian(at.net, at.x)
    parts = [reference.parameter_jacobian(at.net, at.x, [l]) for l in range(3)]
    blocks = [-reference.pinv(part) @ at.eps for part in parts]
    given = rng.normal(size=3)
    given /= given.sum()
    claims = []
    lengths = np.array([b @ b for b in blocks])
    least = np.linalg.solve(
        np.block([[np.diag(lengths), np.ones((3, 1))], [np.ones((1, 3)), np.zeros((1, 1))]]),
        [0, 0, 0, 1],
    )[:3]  # Lagrange: minimise sum c^2 |Delta|^2 with sum c = 1
    for name, weights in (("given", given),
                          ("last", np.array([0.0, 0, 1])),
                          ("shortest", least),
                          ("uniform", np.full(3, 1 / 3))):
        step = cases.fast_direction(at, block_weights=given if name == "given" else name)
        expected = np.concatenate([c * block for c, block in zip(weights, blocks)])
        claims += [Equal("the step", step, to_theta(expected, at.net), 1e-7, case=name),
                   Equal("J times it", to_theta(J.T, at.net).T @ step, -at.eps, 1e-7, case=name)]
    for half in ("first", "second"):
        at_half, expected = one_half_dependent(rng, half)
        claims.append(
            Equal("full-rank: a block one of whose halves has dependent features is left out",
                  cases.fast_direction(at_half, block_weights="full-rank"), expected, 1e-6,
                  case=f"the {half} half"))
    for name, other in cases.rows(rng, ("biases", "five blocks, biases", "one sample", "a readout",
                                        "biases, more samples than features")):
        parts = [whole_networks.flat(pair, other.net)
                 for pair in whole_networks.deltas(other.net, other.x, other.eps)]
        weights = {"shortest": sweep.shortest(np.array([part @ part for part in parts])),
                   "last": np.eye(len(parts))[-1], "given": rng.dirichlet(np.ones(len(parts)))}
        for kind, c in weights.items():
            step = cases.fast_direction(other, block_weights=c if kind == "given" else kind)
            claims.append(Equal("the step, by complex steps", step,
                                -np.concatenate([w * part for w, part in zip(c, parts)]), 1e-8,
                                case=f"{kind}: {name}"))
    drawn = rng.dirichlet(np.ones(3), size=30)
    squares = (drawn**2 * lengths).sum(axis=1)
    best = float(np.linalg.norm(cases.fast_direction(at, block_weights="shortest")) ** 2)
    return [*claims, Equal("weights of the shortest step", sweep.shortest(lengths), least, 1e-10),
            AtMost("no other weights give a shorter step", best, squares),
            Equal("tight: the least of them", best, float((least**2 * lengths).sum()), 1e-7),
            Case(weights=least, lengths=lengths)]


def one_half_dependent(rng, half):
    """A network whose second block has one feature only in one of its halves, and the mean step of
    the other two blocks.
    """
    at = cases.small(rng)
    layer = getattr(at.net.blocks[1], half).fixed
    layer.weight = np.ones((len(layer.weight), 1)) * layer.weight[:1]
    states = jacobians.states(at.net, at.x)
    eps = (at.net(at.x) - at.y).ravel()[half_order(4, 3)]
    at = at._replace(states=states, eps=eps)
    own_steps = [-reference.pinv(reference.parameter_jacobian(at.net, at.x, [l])) @ eps
                 for l in range(3)]
    halved = np.concatenate([own_steps[0] / 2, 0 * own_steps[1], own_steps[2] / 2])
    return at, to_theta(halved, at.net)
