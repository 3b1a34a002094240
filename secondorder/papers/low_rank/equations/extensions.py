"""What goes further than the paper: biases, all blocks at once, the fast routes, ranks, more
channels; ``extension_steps`` has the step lengths.
"""

import numpy as np

from .... import exact
from ....ledger import AtMost, Case, Equal, equation
from ....nets import Conv2d, SoftmaxCrossEntropy, mlp
from .. import (PAPER, convolution, curvature, curved_activations, diagonal, factors, quantities,
                relu)
from ..rules import ActivationRule, LinearRule, Rule
from ..sample_hessian import SampleHessian, generic_rank
from . import reference
from .batch_cases import IN_PARTS, batch, nested, rows
from .cases import (ACTIVATIONS, TOLERANCE, compared, kinds, network_case, pairs,
                    second_of_objective, stacked)
from .reference import by_loops


@equation(PAPER, "extension-biases",
          where="section 2, after (7): biases would not change the structure",
          statement="With a 1 behind every v, and a row of zeros behind an eta whose upper index "
                    "meets it, every block has its biases.",
          formula=r"\bar{v} = (v, 1), \quad \bar{\eta} = (\eta; 0)",
          kind="identity", verdict="holds", ours=True,
          implements=(quantities.eta_bar, curved_activations.block_ww, relu.block_uw,
                      relu.block_uu),
          uses=("78", "79", "80"))
def extension_biases(rng):
    def block(sample, k, r):
        n = sample.n
        if k == r == n + 1:
            return relu.block_uu(sample)
        if n + 1 in (k, r):
            block_of_u = relu.block_uw(sample, min(k, r))
            return block_of_u if k == n + 1 else block_of_u.transpose(2, 3, 0, 1)
        return curved_activations.block_ww(sample, k, r)

    cases = [(name, case) for name, case in kinds(rng, *ACTIVATIONS)
             if any("bias" in layer.parameters for layer in case.evaluation.network.layers)]

    def below(case, k, l):  # derivatives of (v, 1), where there is a 1
        eta = reference.eta(case.ws, case.sample.v[0], case.activation, k, l)
        missing = len(case.sample.v_bar[k]) - len(case.sample.v[k])
        return np.vstack([eta, np.zeros((missing, eta.shape[1]))])

    claims = compared("all blocks against jets", block, second_of_objective,
                      lambda n: pairs(n + 1), cases)
    claims += compared("eta_bar against plain products and rows of zeros", quantities.eta_bar,
                       below, pairs, cases)
    return [*claims, network_case(rng, bias=True).live()]


@equation(PAPER, "extension-blocks",
          where="(33)-(36) and (66)-(80) in one formula",
          statement="One formula for all blocks, with the output as a layer. All second "
                    "derivatives above both layers stand between two outer products; where the "
                    "layers differ, there is one more.",
          formula=r"""\frac{\partial^2 f}{\partial w^{(r)} \partial w^{(k)}} = M^{rk} \otimes
                      v^{(r-1)} v^{(k-1) T} + \delta^r \otimes \eta^{(r-1,k)} \otimes
                      v^{(k-1)}, \quad M^{rr} = G W^T M^{r+1,r+1} W G
                      + \operatorname{diag}\left( \mathcal{A}'' \frac{\partial f}{\partial v}
                      \right)""",
          kind="identity", verdict="holds", ours=True,
          implements=(diagonal.pre_activation_hessian, factors.hessian, factors.Factors._core),
          uses=("78", "79", "80"))
def extension_blocks(rng):
    claims = []
    for row in [*rows(rng), *rows(rng, IN_PARTS), *rows(rng, {"ReLU": {"activation": "relu"}})]:
        claims += [Equal("against Hessian-vector products", factors.hessian(*row.model), row.H,
                         row.tolerance, case=row.name),
                   Equal("with a penalty", factors.hessian(*row.model, l2=0.3),
                         row.H + 0.3 * np.eye(len(row.H)), row.tolerance, case=row.name)]
        factored = factors.factors_at(row.at)
        last = len(factored.layers) - 1
        S, recursion = factored.core[last, last], []
        for k in reversed(range(last)):
            W = factored.layers[k + 1].linear.weight
            S = diagonal.pre_activation_hessian(S, W, factored.delta[k + 1] @ W,
                                                factored.layers[k])
            recursion.append(S)
        claims.append(Equal("M_kk against its recursion",
                            stacked(factored.core[k, k] for k in reversed(range(last))),
                            stacked(recursion), row.tolerance, case=row.name))
    return [*claims, Case(x=row.at.x, H=row.H)]


@equation(PAPER, "extension-tangent",
          where="(39), whose cost need not grow with the square of the depth",
          statement="Each sum over eta in (39) is a tangent of a layer's output or a "
                    "back-propagated gradient: one tangent gives the curvature.",
          formula=r"""\sum_{r<k} \eta^{(k-1,r)} \phi^{(r)} v^{(r-1)} = \dot{v}^{(k-1)}, \quad
                      (u \eta^{(n,k)})^T \frac{\partial f}{\partial p} = \delta^k, \quad
                      \mathbf{g}^T \mathbf{H} \mathbf{g} = E\left[ \dot{p}^T \frac{\partial^2
                      f}{\partial p^2} \dot{p} + 2 \sum_k \delta^{k T} \phi^{(k)}
                      \dot{v}^{(k-1)} + \sum_k \frac{\partial f}{\partial v^{(k)}}
                      \mathcal{A}'' (\dot{z}^{(k)})^2 \right]""",
          uses=("39",), kind="identity", verdict="holds", ours=True,
          implements=(LinearRule.along, ActivationRule.along, Rule.along))
def extension_tangent(rng):
    claims = []
    for activation in ("relu", "tanh"):
        row = batch(rng, activation, (4, 5, 3, 4, 3), bias=True)
        expected, scale = row.curvature
        claims += [Equal("against the dense Hessian",
                         curvature.directional_curvature_at(row.at, row.direction)[1], expected,
                         1e-13, scale=scale, case=row.name),
                   Equal("the sums of eta are the tangents of layers", *tangents(row), 1e-13,
                         scale=1.0, case=row.name)]
    layer, saved, bar = row.at.network.layers[2], row.at.saved[2], row.at.deltas[2]
    tangent, piece = rng.normal(size=saved.input.shape), rng.normal(size=layer.size)
    output, second_order = Rule.along(layer, saved, tangent, piece, bar)
    P, b = layer.split(piece)
    z, delta = row.at.saved[3].input, row.at.deltas[3]
    _, of_activation = Rule.along(row.at.network.layers[3], row.at.saved[3], tangent @ P.T, None,
                                  delta)
    # both sums may cancel: an error is relative to the sum of what their terms are without signs
    mixed = 2 * bar * (tangent @ P.T)
    curved = delta * reference.ACTIVATIONS["tanh"][2](z) * (tangent @ P.T) ** 2
    return [*claims,
            Equal("any layer: its tangent", output,
                  tangent @ layer.weight.T + saved.input @ P.T + b, 1e-13),
            Equal("any layer: <gradient, second derivative>", second_order,
                  mixed.sum(), 1e-13, scale=np.abs(mixed).sum()),
            Equal("a layer without parameters: <gradient, second derivative>", of_activation,
                  curved.sum(), 1e-13, scale=np.abs(curved).sum()),
            Case(x=row.at.x, direction=row.direction)]


def tangents(row):
    """v' of the second hidden layer of sample 0: from explicit eta, and by a complex step along the
    direction.
    """
    s, net = quantities.quantities(row.at), row.at.network
    pieces = [net.layers[i].split(row.direction[net.slices[i]]) for i in (0, 2)]
    by_eta = sum(quantities.eta(s, 2, k + 1) @ (P @ s.v[k] + b) for k, (P, b) in enumerate(pieces))
    step = net.astype("complex128")
    step.theta = step.theta + 1e-30j * row.direction
    z = row.at.x[0].astype(complex)
    for layer in step.layers[:4]:
        z = layer.forward(z[None])[0][0]
    return by_eta, np.imag(z) / 1e-30


@equation(PAPER, "extension-jet",
          where="(38)-(39) without a backward pass",
          statement="Value, derivative and curvature along a direction from forward passes alone.",
          formula=r"""\ddot{z} = w \ddot{v} + 2 \phi \dot{v}, \quad \ddot{v} = \mathcal{A}'
                      \ddot{z} + \mathcal{A}'' \dot{z}^2, \quad \mathbf{g}^T \mathbf{H}
                      \mathbf{g} = E\left[ \dot{p}^T \frac{\partial^2 f}{\partial p^2} \dot{p}
                      + \frac{\partial f}{\partial p} \ddot{p} \right]""",
          kind="identity", verdict="holds", ours=True, implements=exact.two_jet, uses=("38", "39"))
def extension_jet(rng):
    claims = []
    for row in [*rows(rng), *rows(rng, {"ReLU": {"activation": "relu"}})]:
        (a, a_scale), (h, h_scale) = row.derivative, row.curvature
        value, directional_derivative, second = exact.two_jet(*row.model, row.direction)
        claims += [Equal("curvature against one tangent and the gradients that come back", second,
                         curvature.directional_curvature_at(row.at, row.direction)[1],
                         row.tolerance, scale=h_scale, case=row.name),
                   Equal("curvature against the dense Hessian", second, h, row.tolerance,
                         scale=h_scale, case=row.name),
                   Equal("directional derivative", directional_derivative, a, row.tolerance,
                         scale=a_scale, case=row.name),
                   Equal("value", value, row.at.loss, row.tolerance, case=row.name)]
    return [*claims, Case(x=row.at.x, direction=row.direction)]


@equation(PAPER, "extension-diagonal",
          where="section 2, after (7): the diagonal could be taken out",
          statement="The exact diagonal of a batch is one matrix product a layer. Where A'' = 0, "
                    "its left factor comes from back-propagating the columns of a root of f_pp.",
          formula=r"""\frac{\partial^2 F}{\partial (w_j^{(k),i})^2} = E\left[ S_{ii}^k
                      (v^{(k-1),j})^2 \right], \quad S_{ii}^k = \sum_c \pm (r_c^k)_i^2""",
          kind="identity", verdict="holds", ours=True,
          implements=(diagonal.weight_curvatures, diagonal.hessian_diagonal_at,
                      diagonal.squared_columns, diagonal.full_hessians), uses=("80",))
def extension_diagonal(rng):
    claims = []
    for row in [*rows(rng), *rows(rng, activation="relu"), nested(batch(rng, "tanh"))]:
        claims.append(Equal("with a penalty, against the dense Hessian",
                            diagonal.hessian_diagonal_at(row.at, 0.3), np.diag(row.H) + 0.3,
                            row.tolerance, scale=np.abs(row.H).max(), case=row.name))
    return [*claims, Case(x=row.at.x, diagonal=np.diag(row.H).copy())]


@equation(PAPER, "extension-rank",
          where="section 2: low rank for each sample",
          statement="How large the rank of a sample's Hessian is, with ReLU and cross-entropy: "
                    "the number of live units decides.",
          formula=r"""\operatorname{rank} H_b = a_1 + \sum_{k=2}^n (a_k + a_{k-1} - 1) + (C - 1
                      + a_n - 1)""",
          kind="identity", verdict="holds", ours=True,
          implements=(generic_rank, SampleHessian.rank), uses=("claim-low-rank", "11"))
def extension_rank(rng):
    claims = []
    for sizes in ((5, 4, 6, 3), (6, 7, 4), (4, 6, 5, 6, 4)):
        while True:
            net = mlp(list(sizes), activation="relu", bias=False, init=1.0, rng=rng)
            args = net, SoftmaxCrossEntropy(), rng.normal(size=(1, sizes[0])), np.array([1])
            live = [int((saved.slope > 0).sum()) for saved in net.evaluate(*args[1:]).saved[1::2]]
            if min(live) >= 2:
                break
        H, formula = exact.hessian(*args, method="products"), generic_rank(live, sizes[-1])
        name = f"live units {live}"
        claims += [Equal("the formula against the dense matrix", formula,
                         np.linalg.matrix_rank(H, tol=1e-11 * np.abs(H).max()), 1e-12, case=name),
                   Equal("from the factors against the formula",
                         SampleHessian(*args).rank(1e-11), formula, 1e-12, case=name),
                   AtMost("in float32, with its own tolerance, against the formula",
                          SampleHessian(net.astype("float32"), *args[1:]).rank(), formula,
                          case=name)]
    return [*claims, Case(live_units=np.array(live), rank=formula, weights=net.size)]


@equation(PAPER, "extension-channels",
          where="appendix B.2.1 has one channel",
          statement="More channels: the index of the kernel becomes (channel, row, column), and "
                    "every output channel stands alone.",
          formula=r"""v_o^{st} = \mathcal{A}\left( \sum_{c,l,k} w_{ck}^{ol} x_c^{\sigma s+l,
                      \tau t+k} + b_o \right)""",
          kind="identity", verdict="holds", ours=True,
          implements=(convolution.many_channels_argument, convolution.many_channels_two_jet),
          uses=("46",))
def extension_channels(rng):
    x, w, b = rng.normal(size=(2, 5, 6)), rng.normal(size=(3, 2, 2, 3)), rng.normal(size=3)
    left = convolution.many_channels_argument(x, w, b, (2, 1))
    by_channel = np.array([sum(reference.values(by_loops(x[c], w[o, c], (2, 1))) for c in range(2))
                           + b[o] for o in range(3)])
    moved = rng.normal(size=x.shape), rng.normal(size=w.shape), rng.normal(size=b.shape)
    first, second = convolution.many_channels_two_jet(x, w, *moved, (2, 1))
    layer = Conv2d(2, 3, (2, 3), (2, 1))
    layer.weight, layer.bias = w, b
    y, saved = layer.forward(x[None])
    flat = np.concatenate([moved[1].ravel(), moved[2]])
    y_tangent, at = layer.flat_tangent(saved, moved[0][None], flat)
    passes = y, y_tangent, layer.second_tangent(saved, at, None)

    def along(h):
        return convolution.many_channels_argument(*(a + h * d for a, d in zip((x, w, b), moved)),
                                                  (2, 1))

    return [Equal("against loops, channel by channel", left, by_channel, TOLERANCE),
            Equal("first derivative along a line: it is a polynomial of degree two",
                  first, (along(1) - along(-1)) / 2, TOLERANCE),
            Equal("second derivative along it",
                  second, along(1) - 2 * along(0) + along(-1), TOLERANCE),
            *(Equal(f"{what}, against Conv2d", ours, by_layer[0], TOLERANCE)
              for what, ours, by_layer in zip(("arguments", "first", "second"),
                                                   (left, first, second), passes)),
            Case(x=x, w=w, b=b)]
