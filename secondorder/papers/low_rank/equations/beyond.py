"""What goes further than the paper: biases, all blocks at once, the fast routes, ranks, rates for
layers.
"""

from itertools import pairwise

import numpy as np

from .... import exact
from ....ledger import AtMost, Case, Equal, Property, equation
from ....nets import Chain, Network, SoftmaxCrossEntropy, mlp
from .. import PAPER, coupling, curvature, curved, diagonal, factors, quantities, relu
from . import reference
from .cases import IN_PARTS, LOSSES, TOLERANCE, dead, pairs, stacked, unusual


@equation(
    PAPER, "extension-biases",
    where="section 2, after (7): biases would not change the structure",
    statement="With a 1 behind every v, and a row of zeros behind an eta whose upper index meets "
              "it, every block has its biases.",
    formula=r"\bar{v} = (v, 1), \quad \bar{\eta} = (\eta; 0)",
    kind="identity",
    verdict="holds",
    ours=True,
    implements=(curved.block_ww, relu.block_uw, relu.block_uu, quantities.eta_bar),
)
def biases(rng):
    claims = []
    for activation in ("relu", "tanh"):
        net = mlp([3, 4, 3, 4, 2], activation=activation, init=1.0, rng=rng)
        x, y = rng.normal(size=(1, 3)), rng.normal(size=(1, 2))
        evaluation = net.evaluate(LOSSES["squared"][0](), x, y)
        s, written = quantities.quantities(evaluation), _by_jets(net, x[0], y[0], activation)
        n, slices = s.n, written["slices"]
        found, right = [], []
        for k, r in pairs(n + 1):
            if k == r == n + 1:
                block = relu.block_uu(s)
            elif n + 1 in (k, r):
                block = relu.block_uw(s, min(k, r))
                block = block if k == n + 1 else block.transpose(2, 3, 0, 1)
            else:
                block = curved.block_ww(s, k, r)
            found.append(block)
            right.append(written["second"][slices[k - 1], slices[r - 1]])
        claims.append(Equal("all blocks against jets", stacked(found), stacked(right), TOLERANCE,
                            case=activation))
        claims.append(Equal("eta_bar^(2,1) against eta and a row of zeros",
                            quantities.eta_bar(s, 2, 1),
                            np.vstack( [quantities.eta(s, 2, 1), np.zeros((1, 4))]), TOLERANCE,
                            scale=1.0, case=activation))
    return [*claims, Case(x=x, y=y)]


def _by_jets(net, x, y, activation):
    """Hessian of one sample with every layer's weights and biases as rows (w_i, b_i)."""
    rows = [np.column_stack([layer.weight, layer.bias]) for layer in net.layers[::2]]
    ws = reference.variables(*rows)
    size = sum(row.size for row in rows)
    v = [reference.Jet(value, np.zeros(size), np.zeros((size, size))) for value in x]
    one = reference.Jet(1.0, np.zeros(size), np.zeros((size, size)))
    for k, w in enumerate(ws):
        v = reference.affine(w, [*v, one])
        if k < len(ws) - 1:
            v = [jet.through(*reference.ACTIVATIONS[activation]) for jet in v]
    ends = np.cumsum([0, *(row.size for row in rows)])
    return {"second": reference.squared_error(v, y).second,
            "slices": [slice(a, b) for a, b in pairwise(ends)]}


def dense_case(rng, activation, samples=4, sizes=(4, 5, 3, 4, 3), bias=True):
    """An evaluation and its dense gradient and Hessian; drawn again where a layer is dead."""
    while True:
        net = mlp(list(sizes), activation=activation, bias=bias, init=0.9, rng=rng)
        x, y = rng.normal(size=(samples, sizes[0])), rng.integers(0, sizes[-1], samples)
        args = net, SoftmaxCrossEntropy(), x, y
        at = net.evaluate(*args[1:])
        if not dead(at):
            return at, exact.gradient(*args), exact.hessian(*args, method="products")


@equation(
    PAPER, "extension-blocks",
    where="(33)-(36) and (66)-(80) in one formula",
    statement="One formula for all blocks, with the output as a layer of its own: what bends "
              "above both layers between two outer products, and one more where the layers differ.",
    formula=r"\frac{\partial^2 f}{\partial w^{(r)} \partial w^{(k)}} = M^{rk} \otimes v^{(r-1)} "
            r"v^{(k-1) T} + \delta^r \otimes \eta^{(r-1,k)} \otimes v^{(k-1)}, \quad M^{rr} = G "
            r"W^T M^{r+1,r+1} W G + \operatorname{diag}\left( \mathcal{A}'' "
            r"\frac{\partial f}{\partial v} \right)",
    kind="identity",
    verdict="holds",
    ours=True,
    implements=(diagonal.pre_activation_hessian, factors.hessian, factors.Factors._core),
)
def blocks(rng):
    claims = []
    for name, other, _, _, whole in [*unusual(rng), *unusual(rng, tuple(IN_PARTS))]:
        claims.append(Equal("unusual networks and batches, against Hessian-vector products",
                            factors.hessian(other.network, other.loss_function, other.x, other.y),
                            whole, TOLERANCE, case=name))
    for activation in ("relu", "tanh", "softplus"):
        at, _, H = dense_case(rng, activation)
        args = at.network, at.loss_function, at.x, at.y
        claims.append(Equal("against Hessian-vector products", factors.hessian(*args), H,
                            TOLERANCE, case=activation))
        made = factors.factors_at(at)
        last = len(made.layers) - 1
        S = made.core[last, last]
        recursion, cores = [], []
        for k in reversed(range(last)):
            W = made.layers[k + 1].linear.weight
            S = diagonal.pre_activation_hessian(S, W, made.delta[k + 1] @ W, made.layers[k])
            recursion.append(S)
            cores.append(made.core[k, k])
        claims.append(Equal("M_kk against its recursion", stacked(cores), stacked(recursion),
                            TOLERANCE, case=activation))
    return [*claims, Case(x=at.x, H=H)]


@equation(
    PAPER, "extension-tangent",
    where="(39), whose cost need not grow with the square of the depth",
    statement="Each sum over eta in (39) is a tangent of a layer's output or a back-propagated "
              "gradient: one tangent gives the curvature.",
    formula=r"\sum_{r<k} \eta^{(k-1,r)} \phi^{(r)} v^{(r-1)} = \dot{v}^{(k-1)}, \quad (u "
            r"\eta^{(n,k)})^T \frac{\partial f}{\partial p} = \delta^k, \quad \mathbf{g}^T "
            r"\mathbf{H} \mathbf{g} = E\left[ \dot{p}^T \frac{\partial^2 f}{\partial p^2} \dot{p} "
            r"+ 2 \sum_k \delta^{k T} \phi^{(k)} \dot{v}^{(k-1)} + \sum_k "
            r"\frac{\partial f}{\partial v^{(k)}} \mathcal{A}'' (\dot{z}^{(k)})^2 \right]",
    kind="identity",
    verdict="holds",
    ours=True,
    implements=(curvature.through_linear, curvature.through_activation, curvature.through_layer),
)
def tangent(rng):
    claims = []
    for activation in ("relu", "tanh"):
        at, _, H = dense_case(rng, activation)
        d = rng.normal(size=len(H))
        size = np.abs(d) @ np.abs(H) @ np.abs(d)
        claims.append(Equal("against the dense Hessian",
                            curvature.directional_curvature_at(at, d)[1], d @ H @ d, 1e-13,
                            scale=size, case=activation))
        claims.append(Equal("the sums of eta are the tangents of layers", *_tangents(at, d),
                            TOLERANCE, scale=1.0, case=activation))
    layer, kept, bar = at.network.layers[2], at.saved[2], at.deltas[2]
    moved, piece = rng.normal(size=at.saved[2].input.shape), rng.normal(size=layer.size)
    by_layer = curvature.through_layer(layer, kept, moved, piece, bar)
    P, b = layer.split(piece)
    return [*claims, Equal("any layer: its tangent",
                           by_layer[0], moved @ layer.weight.T + kept.input @ P.T + b, TOLERANCE),
            Equal("any layer: its own part", by_layer[1], 2 * np.sum(bar * (moved @ P.T)),
                  TOLERANCE), Case(x=at.x, direction=d)]


def _tangents(at, direction):
    """v' of the second hidden layer of sample 0: from explicit eta, and by differences along the
    direction.
    """
    s, net = quantities.quantities(at), at.network
    pieces = [net.layers[i].split(direction[net.slices[i]]) for i in (0, 2)]
    moved = [P @ s.v[k] + b for k, (P, b) in enumerate(pieces)]
    by_eta = sum(quantities.eta(s, 2, k + 1) @ moved[k] for k in range(2))
    step = net.astype("complex128")
    step.theta = step.theta + 1e-30j * direction
    z = at.x[0].astype(complex)
    for layer in step.layers[:4]:
        z = layer.forward(z[None])[0][0]
    smooth = np.imag(z) / 1e-30
    return by_eta, smooth


@equation(
    PAPER, "extension-jet",
    where="(38)-(39) without a backward pass",
    statement="Value, slope and curvature along a direction from forward passes alone.",
    formula=r"\ddot{z} = w \ddot{v} + 2 \phi \dot{v}, \quad \ddot{v} = \mathcal{A}' \ddot{z} + "
            r"\mathcal{A}'' \dot{z}^2, \quad \mathbf{g}^T \mathbf{H} \mathbf{g} = E\left[ "
            r"\dot{p}^T \frac{\partial^2 f}{\partial p^2} \dot{p} + \frac{\partial f}{\partial p} "
            r"\ddot{p} \right]",
    kind="identity",
    verdict="holds",
    ours=True,
    implements=(exact.two_jet,),
)
def jet(rng):
    claims = []
    for activation in ("relu", "tanh"):
        at, g, H = dense_case(rng, activation)
        d = rng.normal(size=len(H))
        value, slope, bend = exact.two_jet(at.network, at.loss_function, at.x, at.y, d)
        size = np.abs(d) @ np.abs(H) @ np.abs(d)
        claims += [Equal("curvature against one tangent and the gradients that come back", bend,
                         curvature.directional_curvature_at(at, d)[1], 1e-13, scale=size,
                         case=activation),
                   Equal("curvature against the dense Hessian", bend, d @ H @ d, 1e-13, scale=size,
                         case=activation),
                   Equal("slope", slope, g @ d, 1e-13, scale=np.abs(g) @ np.abs(d),
                         case=activation),
                   Equal("value", value, at.loss, 1e-14, case=activation)]
    return [*claims, Case(x=at.x, direction=d)]


@equation(
    PAPER, "extension-diagonal",
    where="section 2, after (7): the diagonal could be taken out",
    statement="The exact diagonal of a batch is one matrix product a layer; without bends its "
              "left factor comes from back-propagating the columns of a root of f_pp.",
    formula=r"\frac{\partial^2 F}{\partial (w_j^{(k),i})^2} = E\left[ S_{ii}^k (v^{(k-1),j})^2 "
            r"\right], \quad S_{ii}^k = \sum_c \pm (r_c^k)_i^2",
    kind="identity",
    verdict="holds",
    ours=True,
    implements=(diagonal.weight_curvatures, diagonal.hessian_diagonal_at, diagonal.squared_columns,
                diagonal.full_hessians),
)
def exact_diagonal(rng):
    claims = []
    for activation in ("relu", "tanh"):
        at, _, H = dense_case(rng, activation, samples=11)
        claims.append(Equal("against the dense Hessian", diagonal.hessian_diagonal_at(at),
                            np.diag(H), TOLERANCE, case=activation))
    return [*claims, Case(x=at.x, diagonal=np.diag(H).copy())]


@equation(
    PAPER, "extension-rank",
    where="section 2: low rank for each sample",
    statement="How large the rank of a sample's Hessian is, with ReLU and cross-entropy: the "
              "number of live units decides.",
    formula=r"\operatorname{rank} H_b = a_1 + \sum_{k=2}^n (a_k + a_{k-1} - 1) + (C - 1 + a_n - 1)",
    kind="identity",
    verdict="holds",
    ours=True,
    implements=(factors.generic_rank, factors.SampleHessian.rank),
)
def rank(rng):
    made, predicted = [], []
    for sizes in ((5, 4, 6, 3), (6, 7, 4), (4, 6, 5, 6, 4)):
        while True:
            net = mlp(list(sizes), activation="relu", bias=False, init=1.0, rng=rng)
            args = net, SoftmaxCrossEntropy(), rng.normal(size=(1, sizes[0])), np.array([1])
            active = [int((kept.slope > 0).sum()) for kept in net.evaluate(*args[1:]).saved[1::2]]
            if min(active) >= 2:
                break
        H = exact.hessian(*args, method="products")
        made.append((factors.SampleHessian(*args).rank(1e-11),
                     np.linalg.matrix_rank(H, tol=1e-11 * np.abs(H).max())))
        predicted.append(factors.generic_rank(active, sizes[-1]))
    made = np.array(made)
    return [Equal("from the factors against the formula", made[:, 0], predicted, 1e-12),
            Equal("dense against the formula", made[:, 1], predicted, 1e-12),
            Case(live_units=np.array(active), rank=predicted[-1], weights=net.size)]


@equation(
    PAPER, "extension-per-sample",
    where="section 3.1, the first two options: a rate for every sample",
    statement="Along a sample's own gradient the curvature needs one product a layer for the "
              "whole batch, and no array of a sample's weights.",
    formula=r"\phi_b^{(k)} = -\delta_b^k v_b^{(k-1) T}: \quad \phi_b^{(k)} v_b^{(k-1)} = "
            r"-\delta_b^k \|v_b^{(k-1)}\|^2, \quad \delta_b^{k T} \phi_b^{(k)} \dot{v}_b = "
            r"-\|\delta_b^k\|^2 \, v_b \cdot \dot{v}_b",
    kind="identity",
    verdict="holds",
    ours=True,
    implements=(curvature.sample_curvatures_at,),
)
def per_sample(rng):
    claims = []
    evaluations = [("relu", 0.0, dense_case(rng, "relu")[0]),
                   ("tanh", 0.3, dense_case(rng, "tanh")[0])]
    evaluations += [(name, 0.2, at) for name, at, *_ in unusual(rng)]
    for activation, l2, at in evaluations:
        found, right, sizes = curvature.sample_curvatures_at(at, l2), [], []
        for b in range(at.samples):
            one = at.network, at.loss_function, at.x[b : b + 1], at.y[b : b + 1]
            g, H = exact.gradient(*one, l2=l2), exact.hessian(*one, method="products", l2=l2)
            right.append((-g @ g, g @ H @ g, np.linalg.norm(g)))
            sizes.append(np.abs(g) @ np.abs(H) @ np.abs(g))
        right = np.array(right).T
        for name, left, expected, scale in zip(("slopes", "curvatures", "lengths"), found, right,
                                               (None, np.max(sizes), None)):
            claims.append(Equal(f"{activation}, l2 = {l2}: {name} against dense Hessians", left,
                                expected, 1e-12, scale=scale))
    return [*claims, Case(x=at.x, curvatures=found[1])]


@equation(
    PAPER, "extension-layer-rates",
    where="section 4: rates for layers would not be difficult",
    statement="Rates for layers that minimise one joint model with the products between layers "
              "are never worse than a single rate.",
    formula=r"\min_s \; a^T s + \frac{1}{2} s^T Q s + \frac{\sigma}{6} \Big( \sum_k \|g_k\|^2 "
            r"s_k^2 \Big)^{\frac{3}{2}}, \quad Q_{kr} = g_k^T \mathbf{H} g_r",
    kind="optimality",
    verdict="holds",
    ours=True,
    implements=(coupling.coupled_rates, coupling.layer_products, coupling.block_products),
)
def layer_rates(rng):
    at, g, H = dense_case(rng, "tanh")
    d, sigma, claims = rng.normal(size=len(H)), 5.0, []
    copies = [layer.copy() for layer in at.network.layers]
    nested = Network([Chain(copies[:3]), *copies[3:]])
    inside = nested.evaluate(at.loss_function, at.x, at.y)
    cases = [*unusual(rng), ("chains in chains", inside, d, g, H), ("tanh", at, d, g, H)]
    for name, other, along, slopes, whole in cases:
        a, Q, norms, slices = coupling.layer_products(other, along)
        size = np.abs(along) @ np.abs(whole) @ np.abs(along)
        claims += [Equal("Q against the dense Hessian", Q, [[along[k] @ whole[k, r] @ along[r]
                                                             for r in slices] for k in slices],
                         TOLERANCE, scale=size, case=name),
                   Equal("slopes", a, [along[k] @ slopes[k] for k in slices], TOLERANCE, case=name,
                         scale=np.abs(along) @ np.abs(slopes)),
                   Equal("lengths", norms, [np.linalg.norm(along[k]) for k in slices], 1e-14,
                         case=name),
                   Equal("the whole curvature, by one tangent",
                         curvature.directional_curvature_at(other, along)[1],
                         along @ whole @ along, TOLERANCE, scale=size, case=name)]

    def joint(s):
        return a @ s + s @ Q @ s / 2 + sigma * np.linalg.norm(norms * s) ** 3 / 6

    def turn(k, s, h=1e-6):
        e = np.eye(len(s))[k] * h
        return (joint(s + e) - joint(s - e)) / (2 * h)

    s = coupling.coupled_rates(a, Q, norms, sigma)
    grid = np.linspace(-2, 2, 4001)
    single = min(joint(np.full(len(a), t)) for t in grid)
    near = [joint(s * (1 + t * rng.normal(size=len(s)))) for t in np.geomspace(1e-3, 1, 100)]
    return [*claims, AtMost("the joint model there against the best single rate", joint(s), single),
            AtMost("against points around", joint(s), near),
            Equal("it is stationary, beside the slopes",
                  [turn(k, s) for k in range(len(s))], np.zeros(len(s)), 1e-6, scale=a),
            Property("rates differ", bool(np.ptp(s) > 1e-3 * np.abs(s).max())),
            Case(rates=s, slopes=a)]
