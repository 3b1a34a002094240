"""Beyond the paper's text: the sum of the bound, where it is tight, other layers; other starts at
the loss, the true Hessian, and the penalty.

The formulas are written in the paper's notation, with Z = Y_ddot u.
"""

from itertools import product

import numpy as np

from ....ledger import AtMost, Case, Equal, Stated, equation
from ....nets import (Activation, AvgPool2d, BoundedCriterion, Chain, Conv2d, Flatten, Linear,
                      Network, Skip, SoftmaxCrossEntropy, TukeyBiweight)
from .. import PAPER, Bound, ResidualPartitioning
from ..layers import (down_chain, down_convolution, down_pooling, down_skip, up_chain,
                      up_convolution, up_pooling, up_skip)
from ..method import bound_at
from ..section_3_residual_partitioning import NEGATIVE_CURVATURE, products_left_out_of_4, theorem_1
from ..section_7_algorithm_1 import (algorithm_1, diagonal, down_linear, eq_9_10_weights,
                                     eq_41_carried, eq_45_46_jensen, pairwise, up_linear)
from . import cases, reference
from .claims import in_case, is_bound
from .reference import Reading

ACTIVATIONS = ("tanh", "softplus", "sigmoid", "relu")


def skip_case(rng, activation, loss="squared"):
    """A network with nested skip connections, and one around the first layer; two samples."""
    def linear(n_in, n_out, **options):
        return Linear(n_in, n_out, init=1.5 / np.sqrt(n_in), rng=rng, **options)

    inner = Skip([Activation(activation), linear(2, 2, bias=False)])
    net = Network([Skip([linear(2, 2)]), Activation(activation),
                   Skip([linear(2, 2), inner, Activation("tanh")]), linear(2, 3)])
    return cases.evaluated(rng, net, loss, samples=2)


def claims_of_a_bound(rng, make, crossed=ACTIVATIONS):
    """Against loops and the dense Hessians, for both ways and with cross terms.

    `crossed` are the activations with which the true Hessian is compared; it takes time.
    """
    claims = []
    for curved, loss in zip(ACTIVATIONS, ("squared", "softmax", "softmax", "squared")):
        at, name = make(rng, curved, loss), f"{curved}, {loss}"
        H = cases.bounded(at)
        claims.append(Equal("what is bounded, from one Jacobian a layer", H,
                            reference.bounded_hessian(at), 1e-12, case=name))
        for way in NEGATIVE_CURVATURE:
            made = algorithm_1(at, "jensen", NEGATIVE_CURVATURE[way])
            claims += in_case(
                f"{name}, {way}",
                Equal("total gradients of the outputs, with one matrix a layer", made.u[-1],
                      reference.total_gradients(at)[-1].reshape(made.u[-1].shape), 1e-12),
                Equal("curvature by loops", made.W_ddot,
                      reference.algorithm(at, Reading(way=way))[1], 1e-12),
                is_bound("0 against the least eigenvalue of bound minus model", made.W_ddot, H))
        if curved in crossed:
            claims += in_case(name, is_bound(
                "with cross terms: 0 against the least eigenvalue of bound minus true Hessian",
                bound_at(at, "pairwise", cross=True).curvature, cases.true_hessian(at)))
    return [*claims, Case(x=at.x, u_L=made.u[-1], Z_L=made.Z[-1], curvature=made.W_ddot)]


@equation(PAPER, "extension-sum-rule",
          statement="The second coefficients of all parameters sum to Z u at the outputs plus what "
                    "the activation layers add.",
          kind="identity", verdict="holds", ours=True,
          implements=(eq_9_10_weights, eq_41_carried, Stated(down_skip, "0")),
          uses=("algorithm-1", "25"))
def extension_sum_rule(rng):
    claims = []
    ats = cases.variety(rng, samples=3) | {
        f"skip connections, {loss}": skip_case(rng, rng.choice(cases.CURVED), loss)
        for loss in cases.LOSSES} | {"one layer fixed": cases.by_chance(rng, fixed=(1,))}
    for (name, at), way in product(ats.items(), NEGATIVE_CURVATURE):
        made = algorithm_1(at, "jensen", NEGATIVE_CURVATURE[way])
        claims.append(Equal("sum of W_ddot against what is carried, by loops", made.W_ddot.sum(),
                            reference.sum_of_coefficients(at, Reading(way=way)), 1e-12,
                            case=f"{name}, {way}"))
    return [*claims, Case(curvature=made.W_ddot, u_L=made.u[-1], Z_L=made.Z[-1])]


def is_model(what, at, step, case=None):
    """The bound's value at a step is the model's."""
    return Equal(what, bound_at(at).value(step), reference.model(at, step), 1e-12, case=case)


@equation(PAPER, "extension-tightness",
          statement="With positive weights and inputs, one output and all changes equal, the bound "
                    "is the model itself.",
          kind="identity", verdict="holds", ours=True,
          implements=(Bound.value, eq_9_10_weights), uses=("3", "theorem-2"))
def extension_tightness(rng):
    claims, c = [], rng.uniform(0.2, 2.0)
    for kind, sign in product(("relu", "identity"), (-1, 1)):
        at = cases.tight(rng, kind)
        claims.append(is_model("bound against model", at, np.full(at.network.size, sign * c),
                               f"{kind}, change {'+-'[sign < 0]}"))
    at = cases.evaluation(rng, "softplus", positive=True, sizes=(3, 4, 2))
    at = cases.with_residual(at, rng.uniform(0.5, 2.0, at.outputs.shape))
    return [*claims,
            is_model("softplus, two outputs, outputs above their targets", at,
                     np.full(at.network.size, c)),
            Case(theta=at.network.theta, x=at.x, outputs=at.outputs, change=c)]


@equation(PAPER, "extension-skip",
          statement="A skip connection adds total gradients, and hands Z to both branches "
                    "unchanged.",
          kind="inequality", verdict="holds", ours=True,
          implements=(up_skip, down_skip, up_chain, down_chain), uses=("algorithm-1", "lemma-3"))
def extension_skip(rng):
    at = skip_case(rng, rng.choice(cases.CURVED))
    layers = [layer.copy() for layer in at.network.layers]
    grouped = Network([Chain(layers[:2]), *layers[2:]]).evaluate(at.loss_function, at.x, at.y)
    return [*claims_of_a_bound(rng, skip_case),
            Equal("grouped into a chain of its own: the same curvature",
                  bound_at(grouped, "jensen").curvature, reference.algorithm(at)[1],
                  1e-12)]


@equation(PAPER, "extension-fixed-layers",
          statement="An affine layer that is not trained passes u and Z through its absolute "
                    "weights and keeps nothing.",
          kind="inequality", verdict="holds", ours=True,
          implements=(up_linear, down_linear, Stated(theorem_1, "W_ddot")),
          uses=("11", "algorithm-1"))
def extension_fixed_layers(rng):
    claims = []
    for fixed in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)):
        at = cases.by_chance(rng, fixed=fixed, scale=2.0)
        made, W_ddot = algorithm_1(at, "jensen"), reference.algorithm(at)[1]
        # with one trained layer there are no products of changes
        H = cases.true_hessian(at) if len(fixed) == 2 else cases.bounded(at)
        claims += in_case(
            f"fixed layers {fixed}",
            Equal("curvature from explicit fractions against loops", cases.built(at).curvature,
                  W_ddot, 1e-12),
            Equal("curvature of the algorithm against loops", made.W_ddot, W_ddot, 1e-12),
            is_bound("0 against the least eigenvalue of bound minus model", made.W_ddot, H),
            Equal("total gradient of the outputs against loops", made.u[-1],
                  reference.total_gradients(at)[-1], 1e-13))
    return [*claims, Case(x=at.x, u_L=made.u[-1], curvature=made.W_ddot)]


# -- convolutions and pooling ---------------------------------------------------------------------

def image_case(rng, activation, loss):
    """Convolutions with padding, stride 2, a fixed one, one inside a skip connection; between them
    pooling over windows that overlap, and over windows that leave a row out; two samples.
    """
    def conv(n_in, n_out, kernel, **options):
        return Conv2d(n_in, n_out, kernel, init=1.5 / np.sqrt(n_in * np.size(kernel)), rng=rng,
                      **options)

    net = Network([
        conv(2, 2, 2, padding=1), Activation(activation),
        Skip([conv(2, 2, (1, 3), padding=(0, 1), bias=False), Activation("tanh")]),
        AvgPool2d((2, 2), (1, 2)), conv(2, 2, 1, trainable=False),
        conv(2, 2, 2, stride=2, padding=(1, 0)), Activation(activation), Flatten(),
        Linear(4, 3, init=1.5, rng=rng)], input_shape=(2, 2, 3))
    return cases.evaluated(rng, net, loss, samples=2)


def images(rng):
    """The claims of a bound; and with positive weights and images, one output and all changes
    equal, bound and model agree.
    """
    net = Network([Conv2d(1, 2, 2, padding=1, rng=rng), Activation("relu"), AvgPool2d(2, 1),
                   Conv2d(2, 1, 2, stride=2, rng=rng), Flatten(), Linear(1, 1, rng=rng)],
                  input_shape=(1, 2, 2))
    net.theta = np.abs(net.theta)
    at = cases.evaluated(rng, net, samples=3, positive=True)
    return [*claims_of_a_bound(rng, image_case, crossed=("sigmoid",)),
            is_model("positive network, equal changes: the bound against the model", at,
                     np.full(net.size, rng.uniform(0.2, 2.0)))]


@equation(PAPER, "extension-convolution",
          statement="A weight that is used at many places has fractions of its own at each: the "
                    "sum over places joins the sum over samples.",
          kind="inequality", verdict="holds", ours=True,
          implements=(up_convolution, down_convolution), uses=("theorem-2", "algorithm-1"))
def extension_convolution(rng):
    return images(rng)


@equation(PAPER, "extension-pooling",
          statement="An average over K entries pools total gradients like values and spreads Z "
                    "like gradients.",
          kind="inequality", verdict="holds", ours=True,
          implements=(up_pooling, Stated(down_pooling, "0")), uses=("algorithm-1",))
def extension_pooling(rng):
    return images(rng)


# -- starts at the loss, the true Hessian, the penalty ---------------------------------------------

@equation(PAPER, "extension-pairwise",
          statement="Row sums of the loss's absolute Hessian, weighted by u, start the bound for "
                    "every loss. Their sum is never above Jensen's start. Where the Hessian is "
                    "diagonal they are |f_ii| u.",
          kind="inequality", verdict="holds", ours=True,
          implements=(pairwise, eq_45_46_jensen, diagonal), uses=("lemma-3", "algorithm-1"))
def extension_pairwise(rng):
    claims = []
    for loss, samples in product((SoftmaxCrossEntropy(), BoundedCriterion()), (1, 11, 5)):
        start = cases.evaluation(rng, "tanh", "softmax", samples, sizes=(3, 4, 5), scale=3.0)
        at = start.network.evaluate(loss, start.x, start.y)
        u, Z = reference.total_gradients(at)[-1], algorithm_1(at, "pairwise").Z[-1]
        F = loss.hessian(at.outputs, at.y)
        loops = [[sum(abs(F[s, i, k]) * u[s, k] for k in range(5)) for i in range(5)]
                 for s in range(len(u))]
        least = [np.linalg.eigvalsh(np.diag(Z[s] / u[s]) - F[s])[0] for s in range(len(Z))]
        name = f"{type(loss).__name__}, {samples} samples"
        claims += in_case(
            name, Equal("Z against row sums by loops", Z, loops, 1e-13),
            AtMost("0 against the least eigenvalue of Z / u minus the Hessian", 0.0, least,
                   scale=F))
        if loss.convex:
            start_of_paper = algorithm_1(at, "jensen").Z[-1]
            claims += in_case(
                name, Equal("Jensen's start against loops", start_of_paper,
                            reference.start_of(at, u), 1e-12),
                AtMost("sum of u Z, sample by sample, against Jensen's", np.sum(u * Z, axis=1),
                       np.sum(u * start_of_paper, axis=1)))
    # diagonal Hessians, with entries of 10, and with entries of both signs below one
    for loss, samples in product((cases.Steep(), TukeyBiweight(1.0)), (11, 5)):
        start = cases.evaluation(rng, "sigmoid", samples=samples, scale=2.0)
        at = start.network.evaluate(loss, start.x, start.y)
        right = reference.start_of(at, reference.total_gradients(at)[-1], Reading(start="diagonal"))
        claims += [Equal("diagonal loss: Z against |f_ii| u by loops", algorithm_1(at, rule).Z[-1],
                         right, 1e-13, case=f"{type(loss).__name__}, {samples} samples, {rule}")
                   for rule in ("diagonal", "pairwise")]
    return [*claims, Case(F=F, u_L=u, Z_L=Z)]


@equation(PAPER, "extension-cross-terms",
          statement="Bounding the products that Eq. (4) drops makes the bound one on the true "
                    "second-order model.",
          kind="inequality", verdict="holds", ours=True,
          implements=(products_left_out_of_4, down_linear), uses=("4", "9", "theorem-2"))
def extension_cross_terms(rng):
    claims = []
    ats = cases.variety(rng, samples=3, scale=rng.uniform(1, 3)) | cases.rows(rng)
    for name, at in ats.items():
        H, right = cases.true_hessian(at), reference.algorithm(at, Reading(cross=True))[1]
        forms = {"": at, "nested chains, ": cases.nested(at),
                 "float32, ": cases.single_precision(at)}
        made = {form: bound_at(one, "jensen", cross=True).curvature for form, one in forms.items()}
        claims += [Equal(f"{form}with what the products add, by loops", W_ddot, right,
                         1e-4 if "float32" in form else 1e-12, case=name)
                   for form, W_ddot in made.items()]
        claims += [is_bound(f"{output}: 0 against the least eigenvalue of bound minus true Hessian",
                            W_ddot, H, case=name)
                   for output, W_ddot in (("jensen", made[""]), ("pairwise", bound_at(
                       at, "pairwise", cross=True).curvature))]
    small = cases.product_of_weights()
    H = cases.true_hessian(small)
    without, crossed = (bound_at(small, cross=cross).curvature for cross in (False, True))
    return [*claims,
            is_bound("y = w2 w1 x at zero: 0 against the least eigenvalue", crossed, H),
            AtMost("y = w2 w1 x at zero: without the products it is far below 0",
                   reference.least_eigenvalue(without, H), -1.0),
            Case(theta=small.network.theta, without=without, crossed=crossed, true_hessian=H)]


@equation(PAPER, "extension-penalty",
          statement="A squared penalty is separable and enters exactly. The rate scales the data's "
                    "curvature only. Then every new parameter lies, at every rate, between two "
                    "ends. One is zero, the other what the data's own step at that rate would "
                    "give.",
          kind="identity", verdict="holds", ours=True,
          implements=(Bound.value, ResidualPartitioning.direction),
          uses=("3", "claim-learning-rate"))
def extension_penalty(rng):
    at = cases.by_chance(rng)
    net, l2, rate = at.network, rng.uniform(0.05, 0.5), rng.uniform(3.0, 30.0)
    plain, with_penalty = bound_at(at, "jensen"), bound_at(at, "jensen", l2=l2)
    steps = cases.steps(rng, net.size, 6)
    gained = [with_penalty.value(d) - plain.value(d) for d in steps]
    penalties = [l2 / 2 * sum((w + v) ** 2 for w, v in zip(net.theta, d)) for d in steps]
    g, h = reference.algorithm(at)
    step = rate * ResidualPartitioning(net, at.loss_function, rate, l2=l2,
                                       output="jensen").direction(at)
    # the derivative of g d + h d^2 / (2 rate) + (l2 / 2) |theta + d|^2 at the step
    slope = g + h * step / rate + l2 * (net.theta + step)
    alone, new = net.theta - rate * g / h, net.theta + step
    return [Equal("the bound with penalty minus the bound without, against the penalty itself",
                  gained, penalties, 1e-10),
            Equal("step: slope of its model", slope, np.zeros_like(step), 1e-12,
                  scale=l2 * net.theta),
            AtMost("size of the new parameters against the data's own step's", np.abs(new),
                   np.abs(alone)),
            AtMost("0 against new parameter times the data's own step's", 0.0, new * alone),
            Case(theta=net.theta, W_dot=g, W_ddot=h, rate=rate, l2=l2, new=new, data_alone=alone)]
