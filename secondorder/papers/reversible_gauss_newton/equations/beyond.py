"""What follows beyond the paper: the update as one sweep, Gram matrices, the Moore-Penrose step,
weights of the blocks.
"""

from functools import partial

import numpy as np

from ....ledger import AtMost, Case, Equal, Property, Stated, equation
from ....nets import SoftmaxCrossEntropy, mlp
from .. import PAPER, direction, ntk
from ..eq_01_07_gauss_newton import eq_5_by_kernel
from ..eq_14_15_revmlp import downwards
from ..eq_16_17_right_inverse import at_features, eq_16_17_deltas
from ..eq_33_57_proof import eq_56_57_step, eq_56_delta, shortest
from ..layers import jacobian, tangent_kernel
from ..section_5_pseudo_inverse import FORMS, gram_solve, noise, times_pseudo_inverse
from . import cases, reference
from .cases import blockwise

#: Ways to make a step, and their options.
WAYS = {"the update": {}, "damped": {"pseudo_inverse": "damp", "strength": 0.3},
        "tikhonov": {"pseudo_inverse": "tikhonov", "strength": 0.2},
        "truncated": {"pseudo_inverse": "truncate", "strength": 0.3}}


@equation(PAPER, "extension-sweep",
          where="beyond the paper",
          statement="With independent features the bracket of (17) is the error one block lower, "
                    "so that one inverse sweep gives both matrices.",
          kind="identity", verdict="holds", ours=True,
          implements=(eq_56_delta, eq_16_17_deltas, at_features), uses=("16", "17"))
def extension_sweep(rng):
    at, claims = cases.small(rng), []
    found = reference.deltas(at.net, at.x, at.eps)

    def error(l, half):
        """e^(1) or e^(2) (d/2, n) of block l."""
        return (reference.back(at.net, at.x, l) @ at.error).reshape(2, 3, 2)[half].T

    claims += blockwise("Delta2 from the error one block lower",
                        [eq_56_delta(error(l - 1, 1), b.S2) for l, b in enumerate(at.states)],
                        lambda l: found[l][1], 1e-8)
    for name, other in cases.rows(rng):
        literal = partial(reference.right_inverse_step, other.net, other.x, other.eps)
        claims += [Equal("the step, by complex steps", other.step(**options), literal(**options),
                         1e-8, case=f"{way}: {name}") for way, options in WAYS.items()]
        single = other.step(single=True)
        e1, e2 = np.split(at_features(other.net.readout, other.eps.T), 2)
        fits = eq_16_17_deltas(downwards(other.net, other.net.forward(other.x)[1]), e1, e2)
        ranks = [reference.rank(S) for S in reference.features_of(other.net, other.x)]
        claims += [Equal("the step in float32", single, literal(), 2e-3, case=name),
                   Property("ranks of the features", [fit.rank for two in fits for fit in two],
                            ranks, case=name)]
    return [*claims, Property("type of the step in float32", str(single.dtype), "float32"),
            Case(e1=error(2, 0), e2=error(1, 1))]


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
        s = np.linalg.svd(S, compute_uv=False)
        s = s[s > 1e-12]
        for form, f in FORMS.items():
            given, case = {} if form == "exact" else {"strength": 0.5}, f"{name}, {form}"
            plus, weights = reference.pinv(S, form, 0.5), reference.weighed(s, form, 0.5)
            fit = times_pseudo_inverse(T, S, partial(f, **given))
            claims += [Equal("T S+", fit.product, T @ plus, 1e-9, case=case),
                       Equal("T S+ S", fit.reached, T @ plus @ S, 1e-9, case=case),
                       Equal("f(s)", f(s, **given), weights, 1e-14, case=case)]
            if form != "tikhonov":  # it weighs what is zero by next to nothing
                claims.append(Property("rank", fit.rank, np.count_nonzero(weights), case=case))
    S, E = S[:, 1:], rng.normal(size=(4, 2))
    for form in ("exact", "damp"):
        solution, rank, _ = gram_solve(S.T @ S, E, FORMS[form])
        by_hand = reference.pinv(S, form, 1e-2) @ reference.pinv(S).T @ E
        claims += [Equal("(S^T S)+ E", solution, by_hand, 1e-9, case=form),
                   Property("rank of S, from S^T S", rank, 4, case=form)]
    S1, drawn = np.vstack([S, np.ones(4)]), np.random.default_rng(4)
    noisy = S1.copy()
    noisy[:9] += 0.3 * S.std() * drawn.standard_normal((4, 9)).T
    fit = noise(T[:, 1:], S1, np.random.default_rng(4), 0.3, 9)
    with_noise = T[:, 1:] @ reference.pinv(noisy)
    return [*claims, Equal("with noise, and ones for a bias", fit.product, with_noise, 1e-9),
            Equal("what it makes of S", fit.reached, with_noise @ S1, 1e-9), Case(S=S, s=s)]


@equation(PAPER, "extension-moore-penrose",
          where="beyond the paper; Section 6 leaves it open",
          statement="The Moore-Penrose step of any network comes from J J^T, built layer by layer "
                    "without J.",
          kind="identity", verdict="holds", ours=True,
          implements=(Stated(eq_5_by_kernel, "0", "1"), tangent_kernel, jacobian, direction),
          uses=("5", "12"))
def extension_moore_penrose(rng):
    at = cases.small(rng)
    J = at.jacobian
    expected = -reference.pinv(J) @ at.error
    by_kernel, rank, _ = eq_5_by_kernel(J @ J.T, at.error, lambda a: J.T @ a)
    claims = [Equal("reversible network", at.step(inverse="moore-penrose"),
                    cases.to_theta(expected, at.net), 1e-8),
              Equal("reversible network, the formula", by_kernel, expected, 1e-8),
              Property("its rank", rank, 12)]
    net, x, y = mlp([3, 5, 3], rng=rng), rng.normal(size=(3, 3)), np.eye(3)[[2, 0, 1]]
    J, (outputs, saved) = reference.jacobian_by_differences(net, x), net.forward(x)
    K = tangent_kernel(net, saved, 3, 3).transpose(1, 0, 3, 2).reshape(9, 9)
    eps = reference.softmax_errors(outputs, y).ravel()
    for form, strength in (("exact", None), ("tikhonov", 0.2), ("truncate", 0.5)):
        step = direction(net, SoftmaxCrossEntropy(), x, y, "moore-penrose", form, strength)
        claims.append(Equal("tanh network", step, -reference.pinv(J, form, strength or 0) @ eps,
                            1e-6, case=form))
    for k, (name, make) in enumerate(cases.NETWORKS.items()):
        for samples in (11, 1 + k % 2):
            claims += of_kernel(rng, make(rng), samples, f"{name}, {samples} samples")
    return [*claims, Equal("J J^T of a tanh network with biases", K, J @ J.T, 1e-9), Case(K=K)]


def of_kernel(rng, net, samples, name):
    """Claims on J and the kernel of any network and on a step through them, also of dependent rows.
    """
    net.theta = net.theta + 0.3 * rng.normal(size=net.size)
    x, y = (rng.normal(size=(samples, *shape)) for shape in (net.input_shape, net.output_shape))
    J, at, C = reference.jacobian_by_differences(net, x), cases.At(net, x, y), y.shape[1]
    damped = {"inverse": "moore-penrose", "pseudo_inverse": "tikhonov", "strength": 0.2}
    step = -reference.pinv(J, "tikhonov", 0.2) @ (net(x) - y).ravel()
    K = (J @ J.T).reshape(samples, C, samples, C)
    outputs_first = J.reshape(samples, C, -1).transpose(1, 0, 2).reshape(J.shape)
    return [Equal(what, *sides, tolerance, case=name) for what, tolerance, *sides in (
        ("J J^T by differences", 1e-9, ntk(net, x), K),
        ("J itself, outputs before samples", 1e-9, jacobian(net, net.forward(x)[1], samples, C),
         outputs_first),
        ("J J^T in float32", 1e-4, ntk(net.astype("float32"), x), K),
        ("a damped step", 1e-7, at.step(**damped), step),
        ("a damped step in float32", 1e-3, at.step(single=True, **damped), step))]


@equation(PAPER, "extension-block-weights",
          where="beyond the paper",
          statement="Any weights of the blocks with sum 1 give a right inverse. The shortest "
                    "step weighs a block by one over the square of its own length.",
          kind="optimality", verdict="holds", ours=True,
          implements=(shortest, eq_56_57_step), uses=("55",))
def extension_block_weights(rng):
    at = cases.small(rng)
    blocks = [-reference.pinv(reference.in_weights(at.net, at.x, l)) @ at.error for l in range(3)]
    given, lengths = rng.normal(size=3), np.array([block @ block for block in blocks])
    system = np.block([[np.diag(lengths), np.ones((3, 1))], [np.ones((1, 3)), np.zeros((1, 1))]])
    least = np.linalg.solve(system, [0, 0, 0, 1])[:3]  # minimise sum c^2 |Delta|^2 with sum c = 1
    claims = []
    for name, weights in (("given", given / given.sum()), ("shortest", least)):
        step = eq_56_57_step(at.states, at.error, weights)
        expected = np.concatenate([c * block for c, block in zip(weights, blocks)])
        claims += [Equal("the step", step, expected, 1e-7, case=name),
                   Equal("J times it", at.jacobian @ step, -at.error, 1e-7, case=name)]
    squares = (rng.dirichlet(np.ones(3), size=30)**2 * lengths).sum(axis=1)
    best = float(np.linalg.norm(eq_56_57_step(at.states, at.error, shortest(lengths))) ** 2)
    return [*claims, Equal("weights of the shortest step", shortest(lengths), least, 1e-10),
            AtMost("no other weights give a shorter step", best, squares),
            Case(weights=least, lengths=lengths)]
