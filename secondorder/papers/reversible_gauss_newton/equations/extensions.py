"""What follows beyond the paper: the update as one sweep, Gram matrices, the Moore-Penrose step,
weights of the blocks.
"""

import numpy as np

from ....ledger import AtMost, Case, Equal, equation
from ....nets import SoftmaxCrossEntropy, SquaredError, mlp
from .. import PAPER, directions, features, gram, jacobians, kernel, sweep
from ..columns import half_order, to_theta
from ..coupling import Coupling
from ..options import Options
from . import cases, reference


@equation(
    PAPER, "extension-sweep",
    where="beyond the paper",
    statement="With independent features the bracket of (17) is the error one block lower, so "
              "that one inverse sweep gives both matrices.",
    formula=r"\Delta_\ell^{(1)}=e_\ell^{(1)}S_1^+,\qquad \Delta_\ell^{(2)}=e_{\ell-1}^{(2)}S_2^+",
    kind="identity",
    verdict="holds",
    ours=True,
    implements=(sweep.block_update, Coupling.inverse_tangent),
)
def extension_sweep(rng):
    at = cases.small(rng)
    fast, claims = cases.blocks_of(at, cases.fast_direction(at)), []
    recomputed = directions.update(at.net, SquaredError(), at.x, at.y,
                                   Options(recompute=True)).direction
    for l, state in enumerate(at.found):
        below = reference.inverse_jacobian(at.net, at.x, l - 1)
        e1 = (reference.inverse_jacobian(at.net, at.x, l) @ at.eps)[:6].reshape(3, 2).T
        e2 = (below @ at.eps)[6:].reshape(3, 2).T
        claims += [
            Equal(f"block {l + 1}: Delta1", fast[l][0], -e1 @ reference.pinv(state.S1) / 3, 1e-8),
            Equal(f"block {l + 1}: Delta2", fast[l][1], -e2 @ reference.pinv(state.S2) / 3, 1e-8)]
    return [*claims, Equal("with activations recomputed by inversion", recomputed,
                           cases.fast_direction(at), 1e-9), Case(e1=e1, e2=e2)]


@equation(
    PAPER, "extension-gram",
    where="beyond the paper",
    statement="T S+ is applied through S^T S or S S^T, regularised or not, and never formed.",
    formula=r"T S^+=T Q f(\Lambda) Q^T S^T,\qquad S^TS=Q\Lambda Q^T",
    kind="identity",
    verdict="holds",
    ours=True,
    implements=(features.fit, gram.filtered, gram.gram_matrix),
)
def extension_gram(rng):
    claims = []
    for name, shape in (("n < d'", (5, 9)), ("n > d'", (9, 4))):
        F, E = rng.normal(size=shape), rng.normal(size=(shape[0], 3))
        U, s, Vt = np.linalg.svd(F, full_matrices=False)
        forms = {"exact": 1 / s,
                 "truncate": np.where(s >= 0.5 * s[0], 1 / s, 0),
                 "damp": 1 / (s + 0.5 * s[0]),
                 "tikhonov": s / (s**2 + 0.5 * s[0] ** 2)}
        for form, f in forms.items():
            expected = (E.T @ U) * f @ Vt
            for way in ("gram", "svd"):
                found = features.fit(F, E, form, None if form == "exact" else 0.5,
                                     decomposition=way)
                claims.append(Equal(f"{name}, {form}, {way}", found.weight, expected, 1e-9))
                claims.append(Equal("what is reached", found.reached, F @ expected.T, 1e-9,
                                    case=f"{name}, {form}, {way}"))
    wide, E = rng.normal(size=(4, 5000)), rng.normal(size=(4, 2))  # more than one part of columns
    loops = sum(np.outer(column, column) for column in wide.T)
    claims += [Equal("5000 features: the Gram matrix, column by column",
                     gram.gram_matrix(wide, np.dtype(float)), loops, 1e-12),
               Equal("5000 features: with a row of ones", gram.gram_matrix(wide, np.dtype(float),
                                                                          ones=True),
                     loops + 1, 1e-12),
               Equal("5000 features: weights", features.fit(wide, E).weight,
                     E.T @ reference.pinv(wide.T), 1e-9)]
    F, E = rng.normal(size=(5, 9)), rng.normal(size=(5, 3))
    found = features.fit(F, E, ones=True)
    with_ones = E.T @ reference.pinv(np.hstack([F, np.ones((5, 1))]).T)
    return [*claims, Equal("with a row of ones: weights", found.weight, with_ones[:, :-1], 1e-9),
            Equal("with a row of ones: bias", found.bias, with_ones[:, -1], 1e-9), Case(F=F, s=s)]


@equation(
    PAPER, "extension-moore-penrose",
    where="beyond the paper; Section 6 leaves it open",
    statement="The Moore-Penrose step of any network comes from J J^T, built layer by layer "
              "without J.",
    formula=r"-J^+\epsilon=-J^T(JJ^T)^{-1}\epsilon,\qquad (JJ^T)_{(c,s),(c',t)}="
            r"\sum_{\text{layers}}(a_s\cdot a_t + 1)\,(g_{c,s}\cdot g_{c',t})",
    kind="identity",
    verdict="holds",
    ours=True,
    implements=(kernel.tangent_kernel, kernel.khatri_rao, directions.update_at),
)
def extension_moore_penrose(rng):
    claims, loss = [], SoftmaxCrossEntropy()
    at = cases.small(rng)
    found = directions.update_at(at.net.evaluate(SquaredError(), at.x, at.y),
                                 Options(inverse="moore-penrose"))
    J = reference.parameter_jacobian(at.net, at.x)
    claims.append(Equal("reversible network", found.direction,
                        to_theta(-reference.pinv(J) @ at.eps, at.net), 1e-8))
    net, x, y = mlp([3, 5, 3], rng=rng), rng.normal(size=(3, 3)), np.eye(3)[[2, 0, 1]]
    made = net.evaluate(loss, x, y)
    J = jacobian_by_differences(net, x)
    K = kernel.tangent_kernel(net, made.saved, 3, 3).transpose(1, 0, 3, 2).reshape(9, 9)
    eps = reference.softmax_errors(made.outputs, y).ravel()
    options = [Options(inverse="moore-penrose", pseudo_inverse=form, strength=s)
               for form, s in (("exact", None), ("tikhonov", 0.2), ("truncate", 0.5))]
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    for option, f in zip(options, (1 / s, s / (s**2 + 0.2 * s[0] ** 2),
                                   np.where(s >= 0.5 * s[0], 1 / s, 0))):
        claims.append(Equal(f"tanh network, {option.pseudo_inverse}", directions.update_at(
            made, option).direction, -Vt.T @ (f * (U.T @ eps)), 1e-6))
    return [*claims, Equal("J J^T of a tanh network with biases", K, J @ J.T, 1e-9), Case(K=K)]


def jacobian_by_differences(net, x, step=1e-5):
    """J (n c, P) of the outputs by central differences."""
    home, columns = net.theta.copy(), []
    for i in range(net.size):
        ends = []
        for sign in (1, -1):
            net.theta = home + sign * step * np.eye(net.size)[i]
            ends.append(net(x).ravel())
        columns.append((ends[0] - ends[1]) / (2 * step))
    net.theta = home
    return np.array(columns).T


@equation(
    PAPER, "extension-block-weights",
    where="beyond the paper",
    statement="Any weights of the blocks with sum 1 give a right inverse; the shortest step "
              "weighs a block by one over the square of its own length.",
    formula=r"J^\dashv=\begin{pmatrix}c_1J_1^\dashv\\\vdots\\c_LJ_L^\dashv\end{pmatrix},\ "
            r"\sum_\ell c_\ell=1,\qquad c_\ell\propto\|\Delta_\ell\|^{-2}",
    kind="optimality",
    verdict="holds",
    ours=True,
    implements=(sweep.shortest, sweep.sweep),
)
def extension_block_weights(rng):
    at = cases.small(rng)
    J = reference.parameter_jacobian(at.net, at.x)
    blocks = [-reference.pinv(reference.parameter_jacobian(at.net, at.x, [l]))
              @ at.eps for l in range(3)]
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
        made = cases.fast_direction(at, block_weights=given if name == "given" else name)
        expected = np.concatenate([c * block for c, block in zip(weights, blocks)])
        claims += [Equal("the step", made, to_theta(expected, at.net), 1e-7, case=name),
                   Equal("J times it", to_theta(J.T, at.net).T @ made, -at.eps, 1e-7, case=name)]
    at_half, expected = one_half_dependent(rng)
    claims.append(Equal("full-rank: a block one of whose halves has dependent features is left out",
                        cases.fast_direction(at_half, block_weights="full-rank"), expected, 1e-6))
    drawn = rng.dirichlet(np.ones(3), size=30)
    squares = (drawn**2 * lengths).sum(axis=1)
    best = float(np.linalg.norm(cases.fast_direction(at, block_weights="shortest")) ** 2)
    return [*claims, Equal("weights of the shortest step", sweep.shortest(lengths), least, 1e-10),
            AtMost("no other weights give a shorter step", best, squares),
            Equal("tight: the least of them", best, float((least**2 * lengths).sum()), 1e-7),
            Case(weights=least, lengths=lengths)]


def one_half_dependent(rng):
    """A network whose second block has one feature only in its first half, and the mean step of
    the other two blocks.
    """
    at = cases.small(rng)
    V = at.net.blocks[1].first.fixed.weight
    at.net.blocks[1].first.fixed.weight = np.ones((len(V), 1)) * V[:1]
    found = jacobians.states(at.net, at.x)
    eps = (at.net(at.x) - at.y).ravel()[half_order(4, 3)]
    at = at._replace(found=found, eps=eps)
    steps = [-reference.pinv(reference.parameter_jacobian(at.net, at.x, [l])) @ eps
             for l in range(3)]
    return at, to_theta(np.concatenate([steps[0] / 2, 0 * steps[1], steps[2] / 2]), at.net)
