"""The loss, back-propagation, (4a)-(4c), supplements B and C: derivatives layer by layer."""

import numpy as np

from ....exact.curvature import gradient as mean_gradient
from ....ledger import Case, Equal, Printed, PrintedShape, Property, equation
from ....nets import Activation, Linear
from .. import PAPER, hessians, objective
from . import cases, reference

DIFFERENCES = 1e-8  # of second derivatives from fourth-order differences


@equation(PAPER, "u-loss",
          where="Fully-Connected Neural Networks",
          statement="Training minimises the sum of the instances' losses, a criterion of the "
                    "softmax of the outputs; (9) has its mean, and so has everything here.",
          formula=r"\min_{\theta} \sum_{i=1}^l \xi(\mathbf{h}_i^k | \mathbf{y}_i) \equiv "
                  r"\min_{\theta} \sum_{i=1}^l C(\hat{\mathbf{y}}_i | \mathbf{y}_i)",
          kind="definition", verdict="definition",
          implements=(objective.total_loss, mean_gradient), uses=())
def u_loss(rng):
    claims = []
    for case in [*cases.variety(rng), *cases.unusual(rng)]:
        one = case.evaluation
        total = reference.gradients(case, np.arange(case.theta.size)).sum(axis=0)
        by_hand = sum(reference.loss(case, s, case.theta) for s in range(len(case.x)))
        claims += [case.equal("the sum, instance by instance",
                              objective.total_loss(one.loss_function, one.outputs, one.y), by_hand,
                              1e-12),
                   case.equal("samples times the gradient against the sum's",
                              len(case.x) * mean_gradient(*case.model), total, 1e-12)]
    return [*claims, Case(x=case.x, y=case.y, theta=case.theta)]


@equation(PAPER, "u-block",
          where="PCH Matrix",
          statement="The blocks of weights and biases of every layer stand on the diagonal; what "
                    "couples layers, or weights and bias of one layer, is dropped.",
          formula=r"\text{diag}(\mathbb{E}_i[\nabla_{\mathbf{W}^1}^2 \xi_i], "
                  r"\mathbb{E}_i[\nabla_{\mathbf{b}^1}^2 \xi_i], \dots, "
                  r"\mathbb{E}_i[\nabla_{\mathbf{W}^k}^2 \xi_i], "
                  r"\mathbb{E}_i[\nabla_{\mathbf{b}^k}^2 \xi_i])",
          kind="definition", verdict="definition",
          implements=(hessians.block_diagonal, hessians.mean_weight_hessian),
          uses=("u-loss",))
def u_block(rng):
    case = cases.case(rng, "tanh", "bounded")
    t, H = 2, case.exact()[1]
    whole = np.mean([reference.instance_hessian(case, s, reference.all_places(case, t))
                     for s in range(len(case.x))], axis=0)
    mine, n = hessians.mean_weight_hessian(case.inputs(t), H), H.shape[1]
    blocks = hessians.block_diagonal([mine, H.mean(axis=0)])
    uncoupled = np.zeros_like(whole)
    uncoupled[:-n, :-n], uncoupled[-n:, -n:] = whole[:-n, :-n], whole[-n:, -n:]
    return [Equal("both blocks on one diagonal, by differences", blocks, uncoupled, DIFFERENCES),
            Equal("block of the weights of layer 2, by differences", mine, whole[:-n, :-n],
                  DIFFERENCES),
            Equal("block of its bias", H.mean(axis=0), whole[-n:, -n:], DIFFERENCES),
            Property("weights and bias of one layer are coupled, and that is dropped",
                     bool(np.abs(whole[:-n, -n:]).max() > 1e-3 * np.abs(whole).max())),
            Case(whole=whole)]


def back_propagation(rng, layers, claim):
    """Claims ``claim(case, t)`` for networks of several activations and unusual ones, for each of
    their layers t in `layers`.
    """
    claims = []
    for case in [*cases.variety(rng), *cases.unusual(rng, HARD)]:
        claims += [one for t in layers for one in claim(case, t)]
    return [*claims, Case(x=case.x, theta=case.theta)]


#: Unusual cases in which a derivative of the layers may go wrong.
HARD = ("middle layer frozen", "no biases", "chains in chains", "no activation after layer 2",
        "one instance", "eleven instances", "float32")


@equation(PAPER, "u-backprop", "b-i", "b-iii",
          where="Layer-wise Equations; Supplement B",
          statement="Gradients of one instance's loss in biases and weights, from the last layer "
                    "down.",
          formula=r"""\begin{aligned}
                  \nabla_{\mathbf{b}^k} \xi_i &= \nabla_{\mathbf{h}_i^k} \xi_i \\
                  \nabla_{\mathbf{b}^{t-1}} \xi_i &= \text{diag}(\mathbf{h}_i^{(t-1)'})
                  \mathbf{W}^{tT} \nabla_{\mathbf{b}^t} \xi_i \\ \nabla_{\mathbf{W}^t} \xi_i &=
                  \nabla_{\mathbf{b}^t} \xi_i \otimes \mathbf{h}_i^{(t-1)T}
                  \end{aligned}""",
          kind="identity", verdict="holds",
          implements=(hessians.bias_gradients_below, Linear.input_gradient,
                      Activation.input_gradient, Linear.parameter_gradients),
          uses=("b-ii", "u-loss"))
def u_backprop(rng):
    def claim(case, t):
        g, unit = reference.bias_gradients(case, t), case.linear(t)
        claims = [case.equal("bias by complex steps", case.deltas(t), g, 1e-12, t)]
        if case.layers[t - 1].weight is not None:
            rows = unit.layer.parameter_gradients(unit.saved, unit.delta)
            h = reference.inputs(case, t)
            outer = np.array([np.outer(*pair).ravel() for pair in zip(g, h)])
            claims.append(case.equal("weights against g h^T", rows[:, : outer.shape[1]], outer,
                                     1e-12, t))
        return claims

    below = [case.equal("one step down, by complex steps",
                        hessians.bias_gradients_below(case.weights(3).astype(float),
                                                      reference.bias_gradients(case, 3),
                                                      reference.slopes(case, 2)[0]),
                        reference.bias_gradients(case, 2), 1e-12, 2)
             for case in cases.variety(rng)]
    return [*below, *back_propagation(rng, (1, 2, 3), claim)]


@equation(PAPER, "b-ii",
          where="Supplement B (ii), case 1",
          statement="In a bias's gradient a row of W^T, not a column, meets the gradient above.",
          kind="proof-step", verdict="erratum", weight="misprint",
          implements=(hessians.bias_gradient_entry, Linear.input_gradient,
                      Activation.input_gradient), uses=())
def b_ii(rng):
    claims = []
    for case in [*cases.variety(rng), *cases.unusual(rng, HARD)]:
        W, above = case.weights(3).astype(float), reference.bias_gradients(case, 3)
        slope = reference.slopes(case, 2)[0]
        by_rows = np.stack([hessians.bias_gradient_entry(W, above, slope, r)
                            for r in range(slope.shape[1])], axis=1)
        by_sums = np.zeros(slope.shape)
        for i, r in np.ndindex(slope.shape):
            by_sums[i, r] = sum(above[i, s] * W[s, r] * slope[i, r] for s in range(len(W)))
        claims += [case.equal("rows of W^T", case.deltas(2), by_rows, 1e-12),
                   case.equal("the sum over s", case.deltas(2), by_sums, 1e-12)]
    W = cases.case(rng, sizes=(3, 5, 2)).weights(2)
    square = cases.case(rng, "tanh", "softmax", sizes=(3, 4, 4))
    by_columns = reference.slopes(square, 1)[0] * (reference.bias_gradients(square, 2)
                                                   @ square.weights(2).T)
    return [*claims,
            PrintedShape("a column of W^T against the gradient above", W.T[:, 0].shape,
                         W[:, 0].shape),
            Printed(Equal("layers of one width: columns of W^T", by_columns,
                          reference.bias_gradients(square, 1), 1e-8)),
            Case(W=W)]


@equation(PAPER, "4a", "c-i",
          statement="The Hessian in the last bias is the one in the outputs (the logits).",
          formula=r"\nabla_{\mathbf{b}^k}^2 \xi_i = \nabla_{\mathbf{h}_i^k}^2 \xi_i",
          kind="identity", verdict="holds", implements=hessians.output_hessians,
          uses=("u-backprop",))
def equation_4a(rng):
    return back_propagation(rng, (3,), lambda case, t: [
        case.equal("differences in b^k", case.top(), reference.bias_hessians(case, t),
                   DIFFERENCES)])


@equation(PAPER, "4b",
          statement="The Hessian in a bias from the Hessian in the bias above, instance by "
                    "instance; the last term is a diagonal matrix.",
          formula=r"""\nabla_{\mathbf{b}^{t-1}}^2 \xi_i =
                  \text{diag}(\mathbf{h}_i^{(t-1)'}) \mathbf{W}^{tT} \nabla_{\mathbf{b}^t}^2 \xi_i
                  \mathbf{W}^t \text{diag}(\mathbf{h}_i^{(t-1)'}) + \text{diag}(
                  \mathbf{h}_i^{(t-1)''}) \odot (\mathbf{W}^{tT} \nabla_{\mathbf{b}^t} \xi_i)""",
          kind="identity", verdict="holds",
          implements=(hessians.hidden_hessians, hessians.bias_hessians, hessians.exact_step,
                      Activation.input_hessian, Linear.input_hessian), uses=("u-backprop", "c-ii"))
def equation_4b(rng):
    def claim(case, t):
        exact, by_differences = case.exact(), reference.bias_hessians(case, t - 1)
        literal = hessians.hidden_hessians(case.weights(t), exact[t - 1],
                                           *reference.step_arguments(case, t))
        return [case.equal("as printed, by differences", literal, by_differences, DIFFERENCES,
                           t - 1),
                case.equal("through the layers", exact[t - 2], by_differences, DIFFERENCES, t - 1)]

    return back_propagation(rng, (3, 2), claim)


@equation(PAPER, "c-ii",
          where="Supplement C",
          statement="The step (4b), entry by entry. Its range ends at t = 2, as there is no bias "
                    "below the first layer. Its diagonal has a row of W^T.",
          formula=r"\begin{gathered} \text{Part 1} = \left([\mathbf{h}_i^{(t-1)''}]_r "
                  r"[\mathbf{W}^{tT}]_{sr} \nabla_{\mathbf{b}^t} \xi_i \right) \mathbf{e}_r \\ t "
                  r"= k, \dots, 1 \end{gathered}",
          corrected=r"""\text{Part 1} = \left([\mathbf{h}_i^{(t-1)''}]_r [\mathbf{W}^{tT}]_{r \cdot}
                  \nabla_{\mathbf{b}^t} \xi_i\right) \mathbf{e}_r, \qquad t = k, \dots, 2""",
          kind="proof-step", verdict="erratum", weight="misprint",
          implements=(hessians.second_order_part, hessians.hidden_hessians),
          uses=("u-backprop", "b-ii"))
def c_ii(rng):
    case = cases.case(rng, "tanh", "bounded", sizes=(3, 4, 4, 3))
    H, g, saved, W = case.exact()[1], case.deltas(2), case.hidden(1), case.weights(2)
    mine = hessians.hidden_hessians(W, H, g, saved.slope, saved.curvature)
    part_1, printed, part_2 = np.zeros((3, *mine.shape))
    for s, r in np.ndindex(saved.slope.shape):
        part_1[s, r, r] = saved.curvature[s, r] * sum(W.T[r, q] * g[s, q] for q in range(len(W)))
        printed[s, r, r] = saved.curvature[s, r] * sum(W.T[q, r] * g[s, q] for q in range(len(W)))
        part_2[s, r] = saved.slope[s] * (W.T @ H[s] @ (W[:, r] * saved.slope[s, r]))
    rows = np.stack([hessians.second_order_part(W, g, saved.curvature, r)
                     for r in range(W.shape[1])], axis=1)
    below = reference.bias_hessians(case, 1)
    bottom = cases.case(rng, "tanh", "bounded", sizes=(3, 4))
    return [Equal("Part 1, row by row against entry by entry", rows, part_1, 1e-12),
            Equal("both parts, entry by entry", mine, part_1 + part_2, 1e-12),
            Equal("(4b) by differences", mine, below, DIFFERENCES),
            Property("a network of one layer: the recursion ends there, no block belongs to b^0",
                     len(bottom.exact()), 1),
            PrintedShape("an entry of W^T times the gradient, where a number is needed",
                         (W.T[0, 0] * g[0]).shape, ()),
            Printed(Equal("layers of one width, s read as the index of the gradient, by "
                          "differences", printed + part_2, below, 1e-6)),
            Case(W=W, g=g)]


@equation(PAPER, "4c", "c-iii",
          where="Supplement C (iii) prints an exponent t - i for t - 1, and differentiates "
                "through h^t, which needs an invertible activation; through z^t it needs none",
          statement="The Hessian in the weights, columns one below the other, is the Kronecker "
                    "product of the inputs' outer product and the Hessian in the bias.",
          formula=r"\nabla_{\mathbf{W}^t}^2 \xi_i = (\mathbf{h}_i^{t-1} \otimes "
                  r"\mathbf{h}_i^{(t-1)T}) \otimes \nabla_{\mathbf{b}^t}^2 \xi_i",
          kind="identity", verdict="holds", implements=hessians.weight_hessian,
          uses=("u-backprop",))
def equation_4c(rng):
    claims = []
    for case, t in zip(cases.variety(rng), (1, 2, 3, 2)):
        h, H = case.inputs(t)[0], case.exact()[t - 1][0]
        by_differences = reference.instance_hessian(case, 0, reference.weight_places(case, t))
        claims.append(case.equal("by differences", hessians.weight_hessian(h, H), by_differences,
                                 DIFFERENCES, t))
    return [*claims, Case(h=h, H=H)]
