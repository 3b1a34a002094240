"""The loss, back-propagation, (4a)-(4c): derivatives layer by layer."""

import numpy as np

from ....exact.curvature import gradient as mean_gradient
from ....ledger import Case, Equal, Property, equation
from ....nets import Activation, Linear
from .. import PAPER, eq_04_hessian as eq
from ..eq_05_07_expectation import eq_5_mean_weight_hessian
from ..eq_08_pch import block_diagonal
from . import cases, reference

DIFFERENCES = 1e-8  # of second derivatives from fourth-order differences


@equation(PAPER, "u-loss",
          where="Fully-Connected Neural Networks",
          statement="Training minimises the sum of the instances' losses, a criterion of the "
                    "softmax of the outputs; (9) has its mean, and so has everything here.",
          formula=r"\min_{\theta} \sum_{i=1}^l \xi(\mathbf{h}_i^k | \mathbf{y}_i) \equiv "
                  r"\min_{\theta} \sum_{i=1}^l C(\hat{\mathbf{y}}_i | \mathbf{y}_i)",
          kind="definition", verdict="definition",
          implements=(eq.total_loss, mean_gradient), uses=())
def u_loss(rng):
    claims = []
    for case in [*cases.variety(rng), *cases.unusual(rng)]:
        one = case.evaluation
        total = reference.gradients(case, np.arange(case.theta.size)).sum(axis=0)
        by_hand = sum(reference.loss(case, s, case.theta) for s in range(len(case.x)))
        claims += [case.equal("the sum, instance by instance",
                              eq.total_loss(one.loss_function, one.outputs, one.y), by_hand,
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
          implements=(block_diagonal, eq_5_mean_weight_hessian),
          uses=("u-loss",))
def u_block(rng):
    case = cases.case(rng, "tanh", "bounded")
    t, H = 2, case.exact()[1]
    whole = np.mean([reference.instance_hessian(case, s, reference.all_places(case, t))
                     for s in range(len(case.x))], axis=0)
    mine, n = eq_5_mean_weight_hessian(case.inputs(t), H), H.shape[1]
    blocks = block_diagonal([mine, H.mean(axis=0)])
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
          implements=(eq.bias_gradient_below, eq.weight_gradient,
                      Linear.input_gradient, Activation.input_gradient),
          uses=("b-ii", "u-loss"))
def u_backprop(rng):
    def claim(case, t):
        g, h = reference.bias_gradients(case, t), reference.inputs(case, t)
        claims = [case.equal("bias by complex steps", case.deltas(t), g, 1e-12, t)]
        if case.layers[t - 1].weight is not None:
            wanted = reference.gradients(case, case.layers[t - 1].weight.ravel())
            claims.append(case.equal("weights by complex steps", eq.weight_gradient(
                g, h).reshape(wanted.shape), wanted, 1e-12, t))
        return claims

    below = [case.equal("one step down, by complex steps",
                        eq.bias_gradient_below(case.weights(3).astype(float),
                                                      reference.bias_gradients(case, 3),
                                                      reference.slopes(case, 2)[0]),
                        reference.bias_gradients(case, 2), 1e-12, 2)
             for case in cases.variety(rng)]
    return [*below, *back_propagation(rng, (1, 2, 3), claim)]


@equation(PAPER, "4a", "c-i",
          statement="The Hessian in the last bias is the one in the outputs (the logits).",
          formula=r"\nabla_{\mathbf{b}^k}^2 \xi_i = \nabla_{\mathbf{h}_i^k}^2 \xi_i",
          kind="identity", verdict="holds", implements=eq.eq_4a_output_hessian,
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
          implements=(eq.eq_4b_hidden_hessian, eq.bias_hessians), uses=("u-backprop", "c-ii"))
def equation_4b(rng):
    def claim(case, t):
        exact, by_differences = case.exact(), reference.bias_hessians(case, t - 1)
        literal = eq.eq_4b_hidden_hessian(case.weights(t), exact[t - 1],
                                                *cases.below(case, t))
        return [case.equal("as printed, by differences", literal, by_differences, DIFFERENCES,
                           t - 1),
                case.equal("through the layers", exact[t - 2], by_differences, DIFFERENCES, t - 1)]

    return back_propagation(rng, (3, 2), claim)


@equation(PAPER, "4c", "c-iii",
          where="Supplement C (iii) prints an exponent t - i for t - 1, and differentiates "
                "through h^t, which needs an invertible activation; through z^t it needs none",
          statement="The Hessian in the weights, columns one below the other, is the Kronecker "
                    "product of the inputs' outer product and the Hessian in the bias.",
          formula=r"\nabla_{\mathbf{W}^t}^2 \xi_i = (\mathbf{h}_i^{t-1} \otimes "
                  r"\mathbf{h}_i^{(t-1)T}) \otimes \nabla_{\mathbf{b}^t}^2 \xi_i",
          kind="identity", verdict="holds", implements=eq.eq_4c_weight_hessian,
          uses=("u-backprop",))
def equation_4c(rng):
    claims = []
    for case, t in zip(cases.variety(rng), (1, 2, 3, 2)):
        h, H = case.inputs(t)[0], case.exact()[t - 1][0]
        by_differences = reference.instance_hessian(case, 0, reference.weight_places(case, t))
        claims.append(case.equal("by differences", eq.eq_4c_weight_hessian(h, H), by_differences,
                                 DIFFERENCES, t))
    return [*claims, Case(h=h, H=H)]
