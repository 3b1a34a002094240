"""Beyond the paper's text: the sum of the bound, where it is tight, and other layers.

The paper says nothing of these; the formulas are written in its notation, with Z = Y_ddot u.
"""

from itertools import product

import numpy as np

from .... import exact
from ....ledger import AtMost, Case, Equal, Property, Stated, equation
from ....nets import Activation, Chain, Linear, Network, Skip
from .. import PAPER, coefficients, partitions, total_gradient
from ..fast import Bound, bound_at
from ..rules import ActivationRule, ChainRule, LinearRule, SkipRule
from ..explicit import explicit_bound
from ..partitions import ratio
from . import cases, reference


def relative_slack(curvature, H):
    """Least eigenvalue of diag(curvature) - H in units of the largest curvature."""
    return reference.least_eigenvalue(curvature, H) / curvature.max()


def skip_case(rng, activation, loss="squared"):
    """A network with nested skip connections, and one around the first layer; two samples."""
    def linear(n_in, n_out, **options):
        return Linear(n_in, n_out, init=1.5 / np.sqrt(n_in), rng=rng, **options)

    inner = Skip([Activation(activation), linear(2, 2, bias=False)])
    net = Network([Skip([linear(2, 2)]), Activation(activation),
                   Skip([linear(2, 2), inner, Activation("tanh")]), linear(2, 3)])
    x, y = cases.batch(rng, net, loss, samples=2)
    return net.evaluate(cases.LOSSES[loss](), x, y)


# -- skip connections by explicit arrays -----------------------------------------------------------

def totals_up(layers, saved, u):
    """u at all layers of a chain and at its output; a skip connection adds its branches'."""
    us = [u]
    for layer, seen in zip(layers, saved):
        if isinstance(layer, Skip):
            us.append(us[-1] + totals_up(layer.layers, seen.inner, us[-1])[-1])
        elif isinstance(layer, Activation):
            us.append(total_gradient.activation(seen.slope, us[-1]))
        else:
            us.append(total_gradient.affine(layer, seen.input, us[-1]))
    return us


def coefficients_down(layers, saved, us, Y_dot, Y_ddot, way):
    """Carry Y_dot and Y_ddot down a chain with explicit fractions.

    Returns both at its input, the second coefficients of its parameters, and what activation layers
    add to Y_ddot u^2.
    """
    pieces, added = [], 0.0
    for layer, seen, u, u_above in zip(layers[::-1], saved[::-1], us[-2::-1], us[:0:-1]):
        if isinstance(layer, Skip):
            inside = totals_up(layer.layers, seen.inner, u)
            straight = ratio(Y_ddot, ratio(u, u_above))
            around = ratio(Y_ddot, ratio(inside[-1], u_above))
            g, below, own, more = coefficients_down(layer.layers, seen.inner, inside, Y_dot, around,
                                                    way)
            Y_dot, Y_ddot, added = Y_dot + g, straight + below, added + more
            pieces.insert(0, own)
        elif isinstance(layer, Activation):
            above = np.sum(Y_ddot * u_above**2)
            Y_dot, Y_ddot = coefficients.activation(Y_dot, Y_ddot, seen.slope, seen.curvature, way)
            added += np.sum(Y_ddot * u**2) - above
        else:
            found = coefficients.affine(layer, seen.input, Y_dot, Y_ddot,
                                        partitions.optimal(layer, seen.input, u))
            Y_dot, Y_ddot = found.Y_dot, found.Y_ddot
            if layer.trainable:
                pieces.insert(0, coefficients.flatten(layer, found.W_ddot))
    return Y_dot, Y_ddot, np.concatenate(pieces or [np.empty(0)]), added


def by_explicit_arrays(at, way="abs"):
    """All W_ddot, and both parts of the sum rule's right side, with (46) at the loss."""
    us = totals_up(at.network.layers, at.saved, np.zeros_like(at.x))
    f_i = at.loss_function.gradient(at.outputs, at.y) / at.samples
    f_ii = at.loss_function.hessian_diagonal(at.outputs, at.y) / at.samples
    Y_ddot = ratio(f_ii, partitions.optimal_output(f_ii, us[-1]))
    _, _, curvature, added = coefficients_down(at.network.layers, at.saved, us, f_i, Y_ddot, way)
    return curvature, float(np.sum(Y_ddot * us[-1] ** 2)), float(added)


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
        _, at_outputs, added = by_explicit_arrays(at, way)
        claims.append(Equal("through skip connections, from explicit arrays",
                            bound_at(at, "jensen", way).curvature.sum(), at_outputs + added, 1e-12,
                            case=f"{loss}, {way}"))
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
        p_tangent = slope_along_ones(at)
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


def slope_along_ones(at):
    """Derivative of the outputs when all parameters grow alike, by the complex step."""
    net, h = at.network.astype("complex128"), 1e-30
    net.theta = net.theta + 1j * h
    return net(at.x).imag / h


@equation(PAPER, "extension-skip",
          statement="A skip connection adds total gradients, and hands Z to both branches "
                    "unchanged.",
          formula=r"y = y_a + y_b: \quad u = u_a + u_b, \quad \varphi_a = u_a / u, \quad Z_a = Z_b "
                  r"= Z",
          kind="inequality", verdict="holds", ours=True,
          implements=(SkipRule.forward, SkipRule.backward, ChainRule.forward, ChainRule.backward))
def extension_skip(rng):
    claims, named = [], zip((*cases.CURVED, "relu"), ("squared", "softmax", "softmax", "squared"))
    for activation, loss in named:
        at = skip_case(rng, activation, loss)
        H, true = model_hessian(at), exact.hessian(at.network, at.loss_function, at.x, at.y,
                                                   method="products")
        for way in ("abs", "max"):
            fast = bound_at(at, "jensen", way)
            claims += [Equal("curvature from explicit fractions", fast.curvature,
                             by_explicit_arrays(at, way)[0], 1e-12, case=f"{activation}, {way}"),
                       AtMost("0 against the least eigenvalue of bound minus model", 0.0,
                              relative_slack(fast.curvature, H), scale=1.0,
                              case=f"{activation}, {way}")]
        crossed = bound_at(at, "pairwise", cross=True)
        claims.append(AtMost("with cross terms: 0 against that of bound minus true Hessian", 0.0,
                             relative_slack(crossed.curvature, true), scale=1.0, case=activation))
    layers = [layer.copy() for layer in at.network.layers]
    grouped = Network([Chain(layers[:2]), *layers[2:]]).evaluate(at.loss_function, at.x, at.y)
    return [*claims, Equal("grouped into a chain of its own: the same curvature",
                           bound_at(grouped, "jensen").curvature, by_explicit_arrays(at)[0], 1e-12),
            Case(x=at.x, u_L=fast.total_gradients[-1], Z_L=fast.carried[-1],
                 curvature=fast.curvature)]


def model_hessian(at):
    """Hessian of the second-order model without the products of Eq. (4), by polarisation."""
    layers, unit = at.network.layers, np.eye(at.network.size)
    loss, p, y = at.loss_function, at.outputs, at.y
    gradient, alone = loss.gradient(p, y), [change(layers, at.saved, e) for e in unit]
    J = np.array([first for first, _ in alone])
    H = np.einsum("isa,sab,jsb->ij", J, loss.hessian(p, y), J)
    for i, j in zip(*np.tril_indices(len(H), -1)):
        both = change(layers, at.saved, unit[i] + unit[j])[1]
        H[i, j] = H[j, i] = H[i, j] + np.sum(gradient * (both - alone[i][1] - alone[j][1])) / 2
    H[np.diag_indices_from(H)] += [np.sum(gradient * second) for _, second in alone]
    return H / at.samples


def change(layers, saved, delta, start=None):
    """First and second derivative of a chain's output along `delta`, products dropped."""
    here = start or reference.Change(np.zeros_like(saved[0].input), np.zeros_like(saved[0].input))
    for layer, seen in zip(layers, saved):
        piece, delta = delta[: layer.size], delta[layer.size:]
        if isinstance(layer, Skip):
            inside = change(layer.layers, seen.inner, piece, here)
            here = reference.Change(here.first + inside.first, here.second + inside.second)
        else:
            here = reference.change_of_layer(layer, seen.input, here, piece)
    return here


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
        fast, case, W_ddot = bound_at(at,
                                      "jensen"), f"fixed layers {fixed}", reference.algorithm(at)[1]
        claims += [Equal("curvature of the fast path against loops", fast.curvature, W_ddot, 1e-12,
                         case=case),
                   Equal("curvature from explicit fractions against loops",
                         explicit_bound(at).curvature, W_ddot, 1e-12, case=case),
                   AtMost("0 against the least eigenvalue of bound minus model", 0.0,
                          relative_slack(fast.curvature, cases.bounded(at)), scale=1.0, case=case),
                   Equal("total gradient of the outputs against loops", fast.total_gradients[-1],
                         reference.total_gradients(at)[-1], 1e-13, case=case)]
        if len(fixed) == 2:
            true = exact.hessian(at.network, at.loss_function, at.x, at.y)
            claims.append(AtMost("one trained layer: 0 against that of bound minus true Hessian",
                                 0.0, relative_slack(fast.curvature, true), scale=1.0, case=case))
        expected = [k <= 2 * min({0, 1, 2} - set(fixed)) for k in range(6)]
        empty.append([u is None for u in fast.total_gradients] == expected)
    return [*claims, Property("u is None exactly where nothing below is trained", all(empty)),
            Case(x=at.x, u_L=fast.total_gradients[-1], curvature=fast.curvature)]
