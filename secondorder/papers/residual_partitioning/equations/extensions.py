"""Beyond the paper's text: the sum of the bound, where it is tight, and other layers.

The formulas are written in the paper's notation, with Z = Y_ddot u.
"""

from itertools import product

import numpy as np

from .... import exact
from ....ledger import Case, Equal, Property, Stated, equation
from ....nets import Activation, Chain, Linear, Network, Skip
from .. import PAPER
from ..fast import Bound, bound_at
from ..rules import ActivationRule, ChainRule, LinearRule, SkipRule
from ..explicit import explicit_bound
from . import cases, dense_reference, reference
from .claims import claims_of_a_bound, in_case, is_bound


def skip_case(rng, activation, loss="squared"):
    """A network with nested skip connections, and one around the first layer; two samples."""
    def linear(n_in, n_out, **options):
        return Linear(n_in, n_out, init=1.5 / np.sqrt(n_in), rng=rng, **options)

    inner = Skip([Activation(activation), linear(2, 2, bias=False)])
    net = Network([Skip([linear(2, 2)]), Activation(activation),
                   Skip([linear(2, 2), inner, Activation("tanh")]), linear(2, 3)])
    x, y = cases.batch(rng, net, loss, samples=2)
    return net.evaluate(cases.LOSSES[loss](), x, y)


def by_carried(at, Z, way):
    """Right side of the sum rule, from the Z carried to activations' outputs, u by loops."""
    u = reference.total_gradients(at)
    total = np.sum(Z[-1] * u[-1])
    for k, layer in enumerate(at.network.layers):
        if isinstance(layer, Activation):
            f, y = layer.function, at.saved[k].input
            straight = np.abs(f.slope(y)) * Z[k + 1]
            bent = straight + at.deltas[k] * f.curvature(y) * u[k]
            total += np.sum(((np.abs(bent) if way == "abs" else np.maximum(bent, 0))
                             - straight) * u[k])
    return float(total)


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
          implements=(LinearRule.backward, ActivationRule.backward, SkipRule.backward))
def extension_sum_rule(rng):
    claims = []
    chains = cases.variety(rng, samples=3), cases.variety(rng, cases.CURVED, samples=3, fixed=(1,))
    for fixed, ats in zip(("", ", one layer fixed"), chains):
        for (name, at), (output, way) in product(ats.items(),
                                                 (("jensen", "abs"), ("pairwise", "max"))):
            fast = bound_at(at, output, way)
            claims.append(Equal("chains, from the Z and u that are carried",
                                fast.curvature.sum() * at.samples,
                                by_carried(at, fast.carried, way), 1e-12,
                                case=f"{name}{fixed}, {way}"))
    for loss, way in product(cases.LOSSES, ("abs", "max")):
        at = skip_case(rng, rng.choice(cases.CURVED), loss)
        claims.append(Equal("through skip connections, from explicit arrays",
                            bound_at(at, "jensen", way).curvature.sum(),
                            dense_reference.bound(at, way).total, 1e-12, case=f"{loss}, {way}"))
    return [*claims,
            Case(curvature=fast.curvature, u_L=fast.total_gradients[-1], Z_L=fast.carried[-1])]


@equation(PAPER, "extension-tightness",
          statement="With positive weights and inputs, one output and all changes equal, the bound "
                    "is the model itself.",
          formula=r"w, y^{(1)} > 0, \; m_L = 1, \; \Delta w_{ij}^{(\ell)} = c: \quad "
                  r"\tilde{\mathcal{L}}_1(\Delta w) = \tilde{\mathcal{L}}(\Delta w)",
          kind="identity", verdict="holds",
          ours=True, implements=(Bound.value, LinearRule.backward))
def extension_tightness(rng):
    claims = []
    for activation in ("relu", "identity"):
        at = cases.evaluation(rng, activation, positive=True, sizes=(3, 4, 3, 1))
        changes = rng.choice([-1.0, 1.0], 4) * rng.uniform(0.2, 2.0, 4)
        bounds = [bound_at(at).value(np.full(at.network.size, c)) for c in changes]
        p_tangent = reference.slope_along_ones(at)
        models = [float(np.mean(np.sum((at.outputs + c * p_tangent - at.y) ** 2, axis=1)) / 2)
                  for c in changes]
        claims.append(Equal("bound against model, changes of both signs", bounds, models, 1e-12,
                            case=activation))
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
          implements=(SkipRule.forward, SkipRule.backward, ChainRule.forward, ChainRule.backward))
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
          implements=(Stated(explicit_bound, "curvature"), LinearRule.forward, LinearRule.backward))
def extension_fixed_layers(rng):
    claims, empty = [], []
    for fixed in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)):
        at = cases.evaluation(rng, rng.choice(cases.CURVED), rng.choice(list(cases.LOSSES)),
                              samples=3, fixed=fixed, scale=2.0)
        fast, W_ddot = bound_at(at, "jensen"), reference.algorithm(at)[1]
        claims += in_case(
            f"fixed layers {fixed}",
            Equal("curvature of the fast path against loops", fast.curvature, W_ddot, 1e-12),
            Equal("curvature from explicit fractions against loops", explicit_bound(at).curvature,
                  W_ddot, 1e-12),
            is_bound("0 against the least eigenvalue of bound minus model", fast.curvature,
                     cases.bounded(at)),
            Equal("total gradient of the outputs against loops", fast.total_gradients[-1],
                  reference.total_gradients(at)[-1], 1e-13))
        if len(fixed) == 2:
            true = exact.hessian(at.network, at.loss_function, at.x, at.y)
            claims += in_case(f"fixed layers {fixed}", is_bound(
                "one trained layer: 0 against that of bound minus true Hessian", fast.curvature,
                true))
        expected = [k <= 2 * min({0, 1, 2} - set(fixed)) for k in range(6)]
        empty.append([u is None for u in fast.total_gradients] == expected)
    return [*claims, Property("u is None exactly where nothing below is trained", all(empty)),
            Case(x=at.x, u_L=fast.total_gradients[-1], curvature=fast.curvature)]
