"""Beyond the paper's text: the sum of the bound, where it is tight, other layers, and images.

The formulas are written in the paper's notation, with Z = Y_ddot u.
"""

from itertools import product

import numpy as np

from ....ledger import Case, Equal, Property, Stated, equation
from ....nets import Activation, AvgPool2d, Chain, Conv2d, Flatten, Linear, Network, Skip
from .. import PAPER, Bound, theorems
from ..fast import bound_at
from ..rules import ActivationRule, ChainRule, LinearRule, SkipRule
from ..explicit import explicit_bound
from ..shaped_layers import ConvolutionRule, PoolingRule
from . import cases, dense_reference, reference
from .claims import in_case, is_bound

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
    """Against explicit fractions and the dense Hessians, for both ways and with cross terms.

    `crossed` are the activations with which the true Hessian is compared; it takes time.
    """
    claims = []
    for activation, loss in zip(ACTIVATIONS, ("squared", "softmax", "softmax", "squared")):
        at, name = make(rng, activation, loss), f"{activation}, {loss}"
        for way in ("abs", "max"):
            fast, explicit = bound_at(at, "jensen", way), dense_reference.bound(at, way)
            claims += in_case(
                f"{name}, {way}",
                Equal("total gradients of the outputs, with one matrix a layer",
                      fast.total_gradients[-1], explicit.u, 1e-12),
                Equal("curvature from explicit fractions", fast.curvature, explicit.curvature,
                      1e-12),
                Equal("sum rule", fast.curvature.sum(), explicit.total, 1e-12),
                is_bound("0 against the least eigenvalue of bound minus model", fast.curvature,
                         explicit.H))
        if activation in crossed:
            claims += in_case(name, is_bound(
                "with cross terms: 0 against the least eigenvalue of bound minus true Hessian",
                bound_at(at, "pairwise", cross=True).curvature, cases.true_hessian(at)))
    return [*claims, Case(x=at.x, u_L=fast.total_gradients[-1], Z_L=fast.carried[-1],
                          curvature=fast.curvature)]


def by_carried(at, Z, way):
    """Right side of the sum rule, from the Z carried to activations' outputs, u by loops."""
    u = reference.total_gradients(at)
    activations = []
    for k, layer in enumerate(at.network.layers):
        if isinstance(layer, Activation):
            f, y = layer.function, at.saved[k].input
            bent = np.abs(f.slope(y)) * Z[k + 1] + at.deltas[k] * f.curvature(y) * u[k]
            corrected = np.abs(bent) if way == "abs" else np.maximum(bent, 0)
            activations.append((corrected, f.slope(y), Z[k + 1], u[k]))
    return float(theorems.sum_rule(Z[-1], u[-1], activations))


@equation(PAPER, "extension-sum-rule",
          statement="The second coefficients of all parameters sum to Z u at the outputs plus what "
                    "the activation layers add.",
          formula=r"""\begin{aligned}
                  \sum_{\ell \in P} \sum_{ij} \ddot{W}_{ij}^{(\ell)} = &\sum_{si} Z_{si}^{(L)}
                  u_{si}^{(L)} \\
                  &+ \sum_{\ell \, \text{activation}} \sum_{sj} \left(Z_{sj}^{(\ell)} -
                  |\dot{\sigma}_\ell(y_{sj}^{(\ell)})| Z_{sj}^{(\ell+1)}\right) u_{sj}^{(\ell)}
                  \end{aligned}""",
          kind="identity", verdict="holds", ours=True,
          implements=(theorems.sum_rule, LinearRule.backward, ActivationRule.backward,
                      SkipRule.backward),
          uses=("algorithm-1", "25"))
def extension_sum_rule(rng):
    claims = []
    chains = cases.variety(rng, samples=3), cases.variety(rng, cases.CURVED, samples=3, fixed=(1,))
    for fixed, ats in zip(("", ", one layer fixed"), chains):
        for (name, at), (output, way) in product(ats.items(),
                                                 (("jensen", "abs"), ("pairwise", "max"))):
            fast = bound_at(at, output, way)
            claims += in_case(f"{name}{fixed}, {way}", Equal(
                "chains, from the Z and u that are carried", fast.curvature.sum() * at.samples,
                by_carried(at, fast.carried, way), 1e-12))
    for loss, way in product(cases.LOSSES, ("abs", "max")):
        at = skip_case(rng, rng.choice(cases.CURVED), loss)
        claims.append(Equal("through skip connections, from explicit arrays",
                            bound_at(at, "jensen", way).curvature.sum(),
                            dense_reference.bound(at, way).total, 1e-12, case=f"{loss}, {way}"))
    return [*claims,
            Case(curvature=fast.curvature, u_L=fast.total_gradients[-1], Z_L=fast.carried[-1])]


def bounds_and_models(at, changes):
    """Bound and model, half a squared error, where all parameters change by the same amount."""
    p_tangent, fast = reference.derivative_along_ones(at), bound_at(at)
    return ([fast.value(np.full(at.network.size, c)) for c in changes],
            [np.mean(np.sum((at.outputs + c * p_tangent - at.y) ** 2, axis=1)) / 2
             for c in changes])


@equation(PAPER, "extension-tightness",
          statement="With positive weights and inputs, one output and all changes equal, the bound "
                    "is the model itself.",
          formula=r"w, y^{(1)} > 0, \; m_L = 1, \; \Delta w_{ij}^{(\ell)} = c: \quad "
                  r"\tilde{\mathcal{L}}_1(\Delta w) = \tilde{\mathcal{L}}(\Delta w)",
          kind="identity", verdict="holds",
          ours=True, implements=(Bound.value, LinearRule.backward), uses=("3", "theorem-2"))
def extension_tightness(rng):
    claims = []
    for activation in ("relu", "identity"):
        at = cases.evaluation(rng, activation, positive=True, sizes=(3, 4, 3, 1))
        changes = rng.choice([-1.0, 1.0], 4) * rng.uniform(0.2, 2.0, 4)
        claims.append(Equal("bound against model, changes of both signs",
                            *bounds_and_models(at, changes), 1e-12, case=activation))
    at = cases.evaluation(rng, "softplus", positive=True, sizes=(3, 4, 2))
    at = cases.with_residual(at, rng.uniform(0.5, 2.0, at.outputs.shape))
    step = np.full(at.network.size, rng.uniform(0.2, 2.0))
    return [*claims,
            Equal("softplus, two outputs, outputs above their targets", bound_at(at).value(step),
                           reference.model(at, step), 1e-12),
            Case(theta=at.network.theta, x=at.x, outputs=at.outputs, step=step)]


@equation(PAPER, "extension-skip",
          statement="A skip connection adds total gradients, and hands Z to both branches "
                    "unchanged.",
          formula=r"y = y_a + y_b: \quad u = u_a + u_b, \quad \varphi_a = u_a / u, \quad Z_a = Z_b "
                  r"= Z",
          kind="inequality", verdict="holds", ours=True,
          implements=(SkipRule.forward, SkipRule.backward, ChainRule.forward, ChainRule.backward),
          uses=("algorithm-1", "lemma-3"))
def extension_skip(rng):
    at = skip_case(rng, rng.choice(cases.CURVED))
    layers = [layer.copy() for layer in at.network.layers]
    grouped = Network([Chain(layers[:2]), *layers[2:]]).evaluate(at.loss_function, at.x, at.y)
    return [*claims_of_a_bound(rng, skip_case),
            Equal("grouped into a chain of its own: the same curvature",
                  bound_at(grouped, "jensen").curvature, dense_reference.bound(at).curvature,
                  1e-12)]


@equation(PAPER, "extension-fixed-layers",
          statement="An affine layer that is not trained passes u and Z through its absolute "
                    "weights and keeps nothing.",
          formula=r"\ell \notin P: \quad u_{si}^{(\ell+1)} = \sum_{j \ge 1} |w_{ij}^{(\ell)}| "
                  r"u_{sj}^{(\ell)}, \quad Z_{sj}^{(\ell)} = \sum_i Z_{si}^{(\ell+1)} "
                  r"|w_{ij}^{(\ell)}|",
          kind="inequality", verdict="holds", ours=True,
          implements=(LinearRule.forward, LinearRule.backward,
                      Stated(explicit_bound, "curvature")),
          uses=("11", "algorithm-1"))
def extension_fixed_layers(rng):
    claims, empty = [], []
    for fixed in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)):
        at = cases.by_chance(rng, fixed=fixed, scale=2.0)
        fast, W_ddot = bound_at(at, "jensen"), reference.algorithm(at)[1]
        claims += in_case(
            f"fixed layers {fixed}",
            Equal("curvature from explicit fractions against loops", explicit_bound(at).curvature,
                  W_ddot, 1e-12),
            Equal("curvature of the fast path against loops", fast.curvature, W_ddot, 1e-12),
            is_bound("0 against the least eigenvalue of bound minus model", fast.curvature,
                     cases.bounded(at)),
            Equal("total gradient of the outputs against loops", fast.total_gradients[-1],
                  reference.total_gradients(at)[-1], 1e-13))
        if len(fixed) == 2:
            claims += in_case(f"fixed layers {fixed}", is_bound(
                "one trained layer: 0 against the least eigenvalue of bound minus true Hessian",
                fast.curvature, cases.true_hessian(at)))
        expected = [k <= 2 * min({0, 1, 2} - set(fixed)) for k in range(6)]
        empty.append([u is None for u in fast.total_gradients] == expected)
    return [*claims, Property("u is None exactly where nothing below is trained", all(empty)),
            Case(x=at.x, u_L=fast.total_gradients[-1], curvature=fast.curvature)]


# -- convolutions and pooling ---------------------------------------------------------------------

def image_case(rng, activation, loss):
    """Convolutions with padding, stride 2, a fixed one, one inside a skip connection; pooling
    between them; two samples.
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


def tight(rng):
    """With positive weights and images, one output and all changes equal, bound and model agree."""
    net = Network([Conv2d(1, 2, 2, padding=1, rng=rng), Activation("relu"), AvgPool2d(2, 1),
                   Conv2d(2, 1, 2, stride=2, rng=rng), Flatten(), Linear(1, 1, rng=rng)],
                  input_shape=(1, 2, 2))
    net.theta = np.abs(net.theta)
    at = cases.evaluated(rng, net, samples=3, positive=True)
    return Equal("positive network, equal changes: the bound against the model",
                 *bounds_and_models(at, [rng.uniform(0.2, 2.0)]), 1e-12)


@equation(PAPER, "extension-convolution",
          statement="A weight that is used at many places has fractions of its own at each: the "
                    "sum over places joins the sum over samples.",
          kind="inequality", verdict="holds", ours=True,
          implements=(ConvolutionRule.forward, ConvolutionRule.backward),
          uses=("theorem-2", "algorithm-1"))
def extension_convolution(rng):
    return [*claims_of_a_bound(rng, image_case, crossed=("sigmoid",)), tight(rng)]


def pooling_case(rng, activation, loss):
    """Overlapping windows, windows that leave a row out, and one around the whole image."""
    net = Network([
        Conv2d(1, 2, 2, init=0.8, rng=rng), Activation(activation), AvgPool2d(2, 1),
        Conv2d(2, 2, 2, padding=1, init=0.8, rng=rng), AvgPool2d((1, 2), (2, 2)),
        Activation("tanh"), AvgPool2d((2, 1)), Flatten(), Linear(4, 3, init=1.0, rng=rng)],
        input_shape=(1, 4, 5))
    return cases.evaluated(rng, net, loss, samples=2)


@equation(PAPER, "extension-pooling",
          statement="An average over K entries pools total gradients like values and spreads Z "
                    "like gradients.",
          formula=r"""\begin{aligned}
                  y_{s p}^{(\ell+1)} &= \frac{1}{K} \sum_k y_{s \pi(p,k)}^{(\ell)}: \\
                  u_{s p}^{(\ell+1)} &= \frac{1}{K} \sum_k u_{s \pi(p,k)}^{(\ell)}, \\
                  Z_{s m}^{(\ell)} &= \frac{1}{K} \sum_{p, k \, : \, \pi(p,k) = m}
                  Z_{s p}^{(\ell+1)} \end{aligned}""",
          kind="inequality", verdict="holds", ours=True,
          implements=(PoolingRule.forward, PoolingRule.backward), uses=("algorithm-1",))
def extension_pooling(rng):
    return [*claims_of_a_bound(rng, pooling_case, crossed=("sigmoid",)), tight(rng)]
