"""The loss, back-propagation, (4a)-(4c): derivatives layer by layer."""

import numpy as np

from ....exact.curvature import gradient as mean_gradient
from ....ledger import Case, Equal, Printed, PrintedShape, Property
from ....nets import Activation, Linear
from .. import eq_04_hessian as eq
from ..eq_05_07_expectation import eq_5_mean_weight_hessian
from ..eq_08_pch import block_diagonal
from . import cases, reference
from .cases import equation

DIFFERENCES = 1e-8  # of second derivatives from fourth-order differences


@equation(
    "u-loss", where="Fully-Connected Neural Networks", kind="definition", verdict="definition",
    uses=(),
    statement="Training minimises the sum of the instances' losses, a criterion of the softmax of "
              "the outputs; (9) has its mean, and so has everything here.",
    implements=(eq.total_loss, mean_gradient))
def u_loss(rng):
    for case in cases.various(rng):
        one, S = case.evaluation, len(case.x)
        yield case.equal("the sum, instance by instance",
                         eq.total_loss(one.loss_function, one.outputs, one.y),
                         sum(reference.loss(case, s, case.theta) for s in range(S)), 1e-12)
        yield case.equal("samples times the gradient against the sum's",
                         S * mean_gradient(*case.model), reference.gradients(case).sum(axis=0),
                         1e-12)
    yield Case(x=case.x, y=case.y, theta=case.theta)


@equation(
    "u-block", where="PCH Matrix", kind="definition", verdict="definition", uses=("u-loss",),
    statement="The blocks of weights and biases of every layer stand on the diagonal; what couples "
              "layers, or weights and bias of one layer, is dropped.",
    implements=(block_diagonal, eq_5_mean_weight_hessian))
def u_block(rng):
    case = cases.case(rng, "tanh", "bounded")
    t, H = 2, case.exact()[1]
    whole = np.mean([reference.instance_hessian(case, s, reference.all_places(case, t))
                     for s in range(len(case.x))], axis=0)
    n, uncoupled = H.shape[1], np.zeros_like(whole)
    uncoupled[:-n, :-n], uncoupled[-n:, -n:] = whole[:-n, :-n], whole[-n:, -n:]
    mine = [eq_5_mean_weight_hessian(case.layer(t).h, H), H.mean(axis=0)]
    yield Equal("both blocks of layer 2 on one diagonal, by differences", block_diagonal(mine),
                uncoupled, DIFFERENCES)
    yield Property("weights and bias of one layer are coupled, and that is dropped",
                   bool(np.abs(whole[:-n, -n:]).max() > 1e-3 * np.abs(whole).max()))
    yield Case(whole=whole)


@equation(
    "u-backprop", "b-i", "b-iii", where="Layer-wise Equations; Supplement B", kind="identity",
    verdict="holds", uses=("b-ii", "u-loss"),
    statement="Gradients of one instance's loss in biases and weights, from the last layer down.",
    implements=(eq.bias_gradient_below, eq.weight_gradient, Linear.input_gradient,
                Activation.input_gradient))
def u_backprop(rng):
    for case in cases.various(rng):
        for t in (1, 2, 3):
            g, places = reference.bias_gradients(case, t), case.layers[t - 1].weight
            yield case.equal("bias by complex steps", case.layer(t).g, g, 1e-12, t)
            if places is not None:
                wanted = reference.gradients(case, places.ravel())
                mine = eq.weight_gradient(g, reference.inputs(case, t))
                yield case.equal("weights by complex steps", mine.reshape(wanted.shape), wanted,
                                 1e-12, t)
        yield case.equal("one step down, by complex steps", eq.bias_gradient_below(
            case.weights(3), g, reference.slopes(case, 2)[0]),
            reference.bias_gradients(case, 2), 1e-12, 2)
    yield Case(x=case.x, theta=case.theta)


@equation(
    "4a", "c-i", kind="identity", verdict="holds", uses=("u-backprop",),
    statement="The Hessian in the last bias is the one in the outputs (the logits).",
    formula=r"\nabla_{\mathbf{b}^k}^2 \xi_i = \nabla_{\mathbf{h}_i^k}^2 \xi_i",
    implements=eq.eq_4a_output_hessian)
def equation_4a(rng):
    for case in cases.various(rng):
        yield case.equal("differences in b^k", case.top(), reference.bias_hessians(case, 3),
                         DIFFERENCES)
    yield Case(x=case.x, theta=case.theta)


@equation(
    "4b", kind="identity", verdict="holds", uses=("u-backprop", "c-ii"),
    statement="The Hessian in a bias from the Hessian in the bias above, instance by instance; the "
              "last term is a diagonal matrix.",
    implements=(eq.eq_4b_hidden_hessian, eq.bias_hessians))
def equation_4b(rng):
    for case in cases.various(rng):
        exact = case.exact()
        for t in (3, 2):
            by_differences = reference.bias_hessians(case, t - 1)
            literal = eq.eq_4b_hidden_hessian(case.layer(t).W, exact[t - 1],
                                              *reference.below(case, t))
            for what, mine in ("as printed", literal), ("through the layers", exact[t - 2]):
                yield case.equal(f"{what}, by differences", mine, by_differences, DIFFERENCES,
                                 t - 1)
    yield Case(x=case.x, theta=case.theta)


@equation(
    "4c", "c-iii", kind="identity", verdict="holds", uses=("u-backprop",),
    where="Supplement C (iii) differentiates through h^t, which needs an invertible activation; "
          "through z^t it needs none",
    statement="The Hessian in the weights, columns one below the other, is the Kronecker product "
              "of the inputs' outer product and the Hessian in the bias.",
    implements=eq.eq_4c_weight_hessian)
def equation_4c(rng):
    for case, t in zip(cases.variety(rng), (1, 2, 3, 2)):
        h, H = case.layer(t).h[0], case.exact()[t - 1][0]
        yield case.equal("by differences", eq.eq_4c_weight_hessian(h, H),
                         reference.instance_hessian(case, 0, reference.weight_places(case, t)),
                         DIFFERENCES, t)
    yield Case(h=h, H=H)


@equation(
    "u-c-iii", where="Supplement C (iii), the last lines", kind="proof-step", verdict="erratum",
    weight="misprint", uses=("4c",),
    statement="A column of the Hessian in the weights has the layer's own input as its factor. The "
              "print has the instance's index in the exponent.",
    formula=r"[\mathbf{h}_i^{t-i}]_s [\nabla_{\mathbf{b}^t}^2 \xi_i]_{\cdot q}",
    corrected=r"[\mathbf{h}_i^{t-1}]_s [\nabla_{\mathbf{b}^t}^2 \xi_i]_{\cdot q}",
    implements=eq.eq_4c_weight_hessian)
def u_c_iii(rng):
    case = cases.case(rng, "tanh", "softmax", sizes=(3, 3, 3, 3))
    t, i = 3, 1  # for the second instance t - i is t - 2
    mixed = reference.instance_hessian(case, i, reference.all_places(case, t))[9:, :9]
    H = reference.bias_hessians(case, t)[i]
    h, printed = (reference.inputs(case, t - back)[i] for back in (0, 1))
    yield Equal("[h^{t-1}]_s times column q, by differences in b and [W]_qs",
                np.kron(h[None], H), mixed, 1e-6)
    yield Equal("and once more [h^{t-1}]: (4c)", eq.eq_4c_weight_hessian(h, H),
                np.kron(h[:, None], mixed), 1e-6)
    yield Printed(Equal("the second instance, layers of one width: h^{t-2}",
                        np.kron(printed[None], H), mixed, 1e-6))
    narrow = cases.case(rng, sizes=(3, 5, 2))
    yield PrintedShape("the second instance of other layers: h^{t-2} for h^{t-1}",
                       narrow.layer(1).h[1].shape, narrow.layer(2).h[1].shape)
    yield Case(h=h, H=H)
