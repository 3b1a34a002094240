"""What goes beyond the paper's text: how the sum of the bound is made up, where it is tight, and other layers.

The paper says nothing of these; the formulas are written in its notation, with Z = Y_ddot u.
"""

import numpy as np

from ... import exact
from ...nets import Activation, Linear, Network, Skip
from ...ledger import AtMost, Case, Equal, Property, equation
from .. import PAPER
from .. import bound as bound_of
from .. import bounding, partitions, total_gradient
from ..bound import ActivationRule, LinearRule, SkipRule
from ..hessian import bounded_hessian
from ..partitions import ratio
from . import cases, fractions

CURVED = ("tanh", "softplus", "sigmoid")


def bound_at(made, **options):
    return bound_of(made.network, made.loss_function, made.x, made.y, **options)


def relative_slack(curvature, H):
    """Least eigenvalue of diag(curvature) - H in units of the largest curvature."""
    return cases.least_eigenvalue(curvature, H) / curvature.max()


def skip_case(rng, activation, loss="squared"):
    """A network with two skip connections, one inside the other, and one around the first layer; two samples."""
    def linear(n_in, n_out, **options):
        return Linear(n_in, n_out, init=1.5 / np.sqrt(n_in), rng=rng, **options)

    inner = Skip([Activation(activation), linear(2, 2, bias=False)])
    net = Network([Skip([linear(2, 2)]), Activation(activation), Skip([linear(2, 2), inner, Activation("tanh")]),
                   linear(2, 3)])
    x, y = cases.batch(rng, net, loss, samples=2)
    return net.evaluate(cases.LOSSES[loss](), x, y)


# -- skip connections by explicit arrays ------------------------------------------------------------------------------

def totals_up(layers, saved, u):
    """u at the inputs of all layers of a chain and at its output; a skip connection adds those of its branches."""
    us = [u]
    for layer, kept in zip(layers, saved):
        if isinstance(layer, Skip):
            us.append(us[-1] + totals_up(layer.layers, kept.inner, us[-1])[-1])
        elif isinstance(layer, Activation):
            us.append(total_gradient.activation(kept.slope, us[-1]))
        else:
            us.append(total_gradient.affine(layer, kept.input, us[-1]))
    return us


def coefficients_down(layers, saved, us, Y_dot, Y_ddot, negative_curvature):
    """Carry Y_dot and Y_ddot down a chain with explicit fractions.

    Returns both at its input, the second coefficients of its parameters, and what activation layers add to Y_ddot u^2.
    """
    pieces, added = [], 0.0
    for layer, kept, u, u_above in zip(layers[::-1], saved[::-1], us[-2::-1], us[:0:-1]):
        if isinstance(layer, Skip):
            inside = totals_up(layer.layers, kept.inner, u)
            straight, around = ratio(Y_ddot, ratio(u, u_above)), ratio(Y_ddot, ratio(inside[-1], u_above))
            g, below, own, more = coefficients_down(layer.layers, kept.inner, inside, Y_dot, around, negative_curvature)
            Y_dot, Y_ddot, added = Y_dot + g, straight + below, added + more
            pieces.insert(0, own)
        elif isinstance(layer, Activation):
            above = np.sum(Y_ddot * u_above**2)
            Y_dot, Y_ddot = bounding.activation(Y_dot, Y_ddot, kept.slope, kept.curvature, negative_curvature)
            added += np.sum(Y_ddot * u**2) - above
        else:
            made = bounding.affine(layer, kept.input, Y_dot, Y_ddot, partitions.optimal(layer, kept.input, u))
            Y_dot, Y_ddot = made.Y_dot, made.Y_ddot
            if layer.trainable:
                pieces.insert(0, bounding.flatten(layer, made.W_ddot))
    return Y_dot, Y_ddot, np.concatenate(pieces or [np.empty(0)]), added


def by_explicit_arrays(made, negative_curvature="abs"):
    """Second coefficients of all parameters, and both parts of the sum rule's right side, with (46) at the loss."""
    us = totals_up(made.network.layers, made.saved, np.zeros_like(made.x))
    f_i = made.loss_function.gradient(made.outputs, made.y) / made.samples
    f_ii = made.loss_function.hessian_diagonal(made.outputs, made.y) / made.samples
    Y_ddot = ratio(f_ii, partitions.optimal_output(f_ii, us[-1]))
    _, _, curvature, added = coefficients_down(made.network.layers, made.saved, us, f_i, Y_ddot, negative_curvature)
    return curvature, float(np.sum(Y_ddot * us[-1] ** 2)), float(added)


@equation(PAPER, "extension-sum-rule",
          statement="The second coefficients of all parameters sum to Z u at the outputs plus what the activation "
                    "layers add.",
          formula=r"""\begin{aligned}
                  \sum_{\ell \in P} \sum_{ij} \ddot{W}_{ij}^{(\ell)} = &\sum_{si} Z_{si}^{(L)} u_{si}^{(L)} \\
                  &+ \sum_{\ell \, \text{activation}} \sum_{sj} \left(Z_{sj}^{(\ell)} -
                  |\dot{\sigma}_\ell(y_{sj}^{(\ell)})| Z_{sj}^{(\ell+1)}\right) u_{sj}^{(\ell)}
                  \end{aligned}""",
          kind="identity", verdict="holds",
          implements=(bound_of, LinearRule.backward, ActivationRule.backward, SkipRule.backward))
def extension_sum_rule(rng):
    left, right = [], []
    for made in [*cases.variety(rng, samples=3).values(), *cases.variety(rng, CURVED, samples=3, fixed=(1,)).values()]:
        for output, correction in (("jensen", "abs"), ("pairwise", "max")):
            b = bound_at(made, output=output, negative_curvature=correction)
            left.append(b.curvature.sum() * made.samples)
            right.append(by_carried(made, b.carried, correction))
    pairs = []
    for loss in ("squared", "softmax"):
        made = skip_case(rng, rng.choice(CURVED), loss)
        for correction in ("abs", "max"):
            _, at_outputs, added = by_explicit_arrays(made, correction)
            pairs.append((bound_at(made, output="jensen", negative_curvature=correction).curvature.sum(),
                          at_outputs + added))
    pairs = np.array(pairs)
    return [Equal("chains, from the Z and u that are carried", np.array(left), np.array(right), tolerance=1e-12),
            Equal("through skip connections, from explicit arrays", pairs[:, 0], pairs[:, 1].copy(), tolerance=1e-12),
            Case(curvature=b.curvature, u_L=b.total_gradients[-1], Z_L=b.carried[-1])]


def by_carried(made, Z, correction):
    """Right side of the sum rule, with Z below activations from the Z carried to their outputs, and u by loops."""
    u = fractions.total_gradients_by_loops(made)
    total = np.sum(Z[-1] * u[-1])
    for k, layer in enumerate(made.network.layers):
        if isinstance(layer, Activation):
            f, y = layer.function, made.saved[k].input
            straight = np.abs(f.slope(y)) * Z[k + 1]
            bent = straight + made.deltas[k] * f.curvature(y) * u[k]
            total += np.sum(((np.abs(bent) if correction == "abs" else np.maximum(bent, 0)) - straight) * u[k])
    return float(total)


@equation(PAPER, "extension-tightness",
          statement="With positive weights and inputs, one output and all changes equal, the bound is the model "
                    "itself.",
          formula=r"w, y^{(1)} > 0, \; m_L = 1, \; \Delta w_{ij}^{(\ell)} = c: \quad "
                  r"\tilde{\mathcal{L}}_1(\Delta w) = \tilde{\mathcal{L}}(\Delta w)",
          kind="identity", verdict="holds", implements=(bound_of,))
def extension_tightness(rng):
    claims = []
    for activation in ("relu", "identity"):
        made = cases.evaluation(rng, activation, positive=True, sizes=(3, 4, 3, 1))
        changes = rng.choice([-1.0, 1.0], 4) * rng.uniform(0.2, 2.0, 4)
        bounds = [bound_at(made).value(np.full(made.network.size, c)) for c in changes]
        p_tangent = slope_along_ones(made)
        models = [float(np.mean(np.sum((made.outputs + c * p_tangent - made.y) ** 2, axis=1)) / 2) for c in changes]
        claims.append(Equal(f"{activation}, changes of both signs", np.array(bounds), np.array(models),
                            tolerance=1e-12))
    made = cases.evaluation(rng, "softplus", positive=True, sizes=(3, 4, 2))
    made = fractions.with_residual(made, rng.uniform(0.5, 2.0, made.outputs.shape))
    step = np.full(made.network.size, rng.uniform(0.2, 2.0))
    claims.append(Equal("softplus, two outputs, outputs above their targets", bound_at(made).value(step),
                        cases.model(made, step), tolerance=1e-12))
    return [*claims, Case(theta=made.network.theta, x=made.x, outputs=made.outputs, step=step)]


def slope_along_ones(made):
    """Derivative of the outputs when all parameters grow alike, by the complex step."""
    net, h = made.network.astype("complex128"), 1e-30
    net.theta = net.theta + 1j * h
    return net(made.x).imag / h


@equation(PAPER, "extension-skip",
          statement="A skip connection adds total gradients, and hands Z to both branches unchanged.",
          formula=r"y = y_a + y_b: \quad u = u_a + u_b, \quad \varphi_a = u_a / u, \quad Z_a = Z_b = Z",
          kind="inequality", verdict="holds", implements=(SkipRule.forward, SkipRule.backward))
def extension_skip(rng):
    claims, slack, true_slack = [], [], []
    for activation, loss in zip(CURVED + ("relu",), ("squared", "softmax", "softmax", "squared")):
        made = skip_case(rng, activation, loss)
        H = model_hessian(made)
        for correction in ("abs", "max"):
            b = bound_at(made, output="jensen", negative_curvature=correction)
            curvature = by_explicit_arrays(made, correction)[0]
            claims.append(Equal(f"curvature from explicit fractions, {activation}, {correction}", b.curvature,
                                curvature, tolerance=1e-12))
            slack.append(relative_slack(b.curvature, H))
        crossed = bound_at(made, output="pairwise", cross=True)
        true_slack.append(relative_slack(crossed.curvature,
                                         exact.hessian(made.network, made.loss_function, made.x, made.y,
                                                       method="products")))
    return claims + [AtMost("no negative eigenvalue of bound minus model", 0.0, np.array(slack), tolerance=1e-12,
                            scale=1.0),
                     AtMost("with cross terms: of bound minus true Hessian", 0.0, np.array(true_slack), tolerance=1e-12,
                            scale=1.0),
                     Case(x=made.x, u_L=b.total_gradients[-1], Z_L=b.carried[-1], curvature=b.curvature,
                          model_hessian=H)]


def model_hessian(made):
    """Hessian of the second-order model without the products of Eq. (4), by polarisation."""
    layers, loss, p, y, unit = made.network.layers, made.loss_function, made.outputs, made.y, np.eye(made.network.size)
    gradient, alone = loss.gradient(p, y), [change(layers, made.saved, e) for e in unit]
    J = np.array([first for first, _ in alone])
    H = np.einsum("isa,sab,jsb->ij", J, loss.hessian(p, y), J)
    for i, j in np.ndindex(H.shape):
        if j < i:
            both = change(layers, made.saved, unit[i] + unit[j])[1]
            H[i, j] = H[j, i] = H[i, j] + np.sum(gradient * (both - alone[i][1] - alone[j][1])) / 2
    H[np.diag_indices_from(H)] += [np.sum(gradient * second) for _, second in alone]
    return H / made.samples


def change(layers, saved, delta, first=None, second=None):
    """First and second derivative of a chain's output along `delta`, without products of two changes."""
    first = np.zeros_like(saved[0].input) if first is None else first
    second = np.zeros_like(saved[0].input) if second is None else second
    for layer, kept in zip(layers, saved):
        piece, delta = delta[: layer.size], delta[layer.size:]
        if isinstance(layer, Skip):
            inside = change(layer.layers, kept.inner, piece, first, second)
            first, second = first + inside[0], second + inside[1]
        elif isinstance(layer, Activation):
            f, y = layer.function, kept.input
            first, second = f.slope(y) * first, f.slope(y) * second + f.curvature(y) * first**2
        else:
            dW, db = cases.weights_and_biases(layer, piece)
            first, second = first @ layer.weight.T + kept.input @ dW.T + db, second @ layer.weight.T
    return first, second


@equation(PAPER, "extension-fixed-layers",
          statement="An affine layer that is not trained passes u and Z through its absolute weights and keeps "
                    "nothing.",
          formula=r"\ell \notin P: \quad u_{si}^{(\ell+1)} = \sum_{j \ge 1} |w_{ij}^{(\ell)}| u_{sj}^{(\ell)}, \quad "
                  r"Z_{sj}^{(\ell)} = \sum_i Z_{si}^{(\ell+1)} |w_{ij}^{(\ell)}|",
          kind="inequality", verdict="holds",
          implements=(LinearRule.forward, LinearRule.backward, bounding.explicit_bound))
def extension_fixed_layers(rng):
    claims, slack, true_slack, empty = [], [], [], []
    for fixed in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)):
        made = cases.evaluation(rng, rng.choice(CURVED), rng.choice(["squared", "softmax"]), samples=3, fixed=fixed,
                                scale=2.0)
        net, b = made.network, bound_at(made, output="jensen")
        claims.append(Equal(f"curvature from explicit fractions, fixed layers {fixed}", b.curvature,
                            bounding.explicit_bound(made).curvature, tolerance=1e-12))
        H = bounded_hessian(net, made.loss_function, made.x, made.y)
        slack.append(relative_slack(b.curvature, H))
        if len(fixed) == 2:
            true_slack.append(relative_slack(b.curvature, exact.hessian(net, made.loss_function, made.x, made.y)))
        first_trained = min({0, 1, 2} - set(fixed))
        empty.append([u is None for u in b.total_gradients] == [k <= 2 * first_trained for k in range(6)])
        if 1 in fixed and first_trained == 0:
            below = b.total_gradients[2]
            above = np.array([[sum(abs(w) * v for w, v in zip(row, u)) for row in net.layers[2].weight] for u in below])
            claims.append(Equal(f"total gradient after the fixed layer, fixed layers {fixed}", b.total_gradients[3],
                                above, tolerance=1e-13))
    return claims + [AtMost("no negative eigenvalue of bound minus model", 0.0, np.array(slack), tolerance=1e-12,
                            scale=1.0),
                     AtMost("one trained layer: of bound minus true Hessian", 0.0, np.array(true_slack),
                            tolerance=1e-12, scale=1.0),
                     Property("u is None exactly where nothing below is trained", all(empty)),
                     Case(x=made.x, u_L=b.total_gradients[-1], curvature=b.curvature, bounded_hessian=H)]
