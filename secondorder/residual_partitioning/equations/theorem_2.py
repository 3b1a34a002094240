"""The rest of the proof of Theorem 2, Eqs. (40) to (46), and the theorem itself, by minimisation over all fractions."""

import numpy as np

from ...nets import Activation, Linear, Network, SquaredError
from ...ledger import AtMost, Case, Counterexample, Equal, Printed, Property, equation
from .. import PAPER, bounding, partitions, total_gradient
from ..bound import bound
from . import cases, fractions, induction


# -- activation layers ------------------------------------------------------------------------------------------------

@equation(PAPER, "40",
          statement="An activation layer has no parameters and adds nothing to the sum.",
          formula=r"""\sum_{\ell' \in P, \ell' \leq \ell} \sum_{i=1}^{m_{\ell'+1}}
                  \sum_{j=0}^{m_{\ell'}} \ddot{W}_{ij}^{(\ell')} =
                  \sum_{\ell' \in P, \ell' \leq \ell-1} \sum_{i=1}^{m_{\ell'+1}}
                  \sum_{j=0}^{m_{\ell'}} \ddot{W}_{ij}^{(\ell')}""",
          kind="identity", verdict="holds", implements=(bounding.explicit_bound,))
def equation_40(rng):
    made = induction.curved(rng, output="tanh")
    explicit = fractions.optimal_up_to(made, 0, rng)
    own = [induction.own_part_by_loops(made, explicit, k) for k in (0, 2, 4)]
    after = [fractions.sum_up_to(made, explicit, k + 2) for k in (0, 2, 4)]
    return [Equal("sums up to the activation layers, from the affine layers' own parts", after, np.cumsum(own),
                  tolerance=1e-12),
            Property("activation layers have no second coefficients",
                     all(explicit.W_ddot[k] is None for k in (1, 3, 5))),
            Case(own_parts=own, sums_after=after, W_ddot=explicit.W_ddot[0])]


@equation(PAPER, "41",
          statement="Below an activation, second coefficients have a part with its slope squared and a part with its "
                    "curvature. (Here i = j, and the curvature is that of layer l, whose index is not printed.)",
          formula=r"""\begin{aligned}
                  &\sum_{s=1}^S \sum_{j=1}^{m_\ell} \ddot{Y}_{sj}^{(\ell)} u_{sj}^{(\ell)2} \\
                  &= \sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \left(
                  \ddot{Y}_{si}^{(\ell+1)} \dot{\sigma}_\ell(y_{sj}^{(\ell)})^2 +
                  \dot{Y}_{si}^{(\ell+1)} \ddot{\sigma}(y_{sj}^{(\ell)}) \right) u_{sj}^{(\ell)2}
                  \end{aligned}""",
          kind="identity", verdict="conditional", condition=induction.EXPANSION, implements=(bounding.activation,))
def equation_41(rng):
    made = induction.curved(rng)
    f, y = made.network.layers[1].function, made.saved[1].input
    u, Y_dot, Y_ddot = rng.uniform(0.2, 2, y.shape), rng.normal(size=y.shape), rng.uniform(0.1, 2, y.shape)

    def above(change):
        moved = f.value(y + change) - f.value(y)
        return Y_dot * moved + Y_ddot * moved**2 / 2

    h = 1e-4
    second = (above(h) - 2 * above(0.0) + above(-h)) / h**2
    below = bounding.activation(Y_dot, Y_ddot, f.slope(y), f.curvature(y), "none")[1]
    loops = sum((Y_ddot[s, j] * f.slope(y[s, j]) ** 2 + Y_dot[s, j] * f.curvature(y[s, j])) * u[s, j] ** 2
                for s, j in np.ndindex(y.shape))
    negative = -10.0 / f.curvature(y) - Y_ddot
    reflected = bounding.activation(negative, Y_ddot, f.slope(y), f.curvature(y), "abs")[1]
    signed = Y_ddot * f.slope(y) ** 2 + negative * f.curvature(y)
    return [Equal("second coefficients against second differences of the quadratic above", below, second,
                  tolerance=1e-5),
            Equal("both sides, by loops", float(np.sum(below * u**2)), float(loops), tolerance=1e-12,
                  scale=float(np.sum(np.abs(below) * u**2))),
            Counterexample(Equal("absolute value of negative numbers", float(np.sum(reflected * u**2)),
                                 float(np.sum(signed * u**2)), tolerance=1e-3)),
            Case(y=y, slope=f.slope(y), curvature=f.curvature(y), Y_dot_above=Y_dot, Y_ddot_above=Y_ddot, Y_ddot=below)]


@equation(PAPER, "42",
          statement="The part with the activation's curvature does not depend on any fraction.",
          formula=r"= \sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \ddot{Y}_{si}^{(\ell+1)} "
                  r"\dot{\sigma}_\ell(y_{sj}^{(\ell)})^2 "
                  r"u_{sj}^{(\ell)2} + \text{const}",
          kind="proof-step", verdict="holds", implements=(bounding.activation, bounding.explicit_bound))
def equation_42(rng):
    made = induction.curved(rng)
    f, y, u = made.network.layers[3].function, made.saved[3].input, fractions.total_gradients_by_loops(made)[3]
    parts, sizes = [], []
    for _ in range(3):
        explicit = fractions.optimal_up_to(made, 0, rng)
        with_slope = np.sum(explicit.Y_ddot[4] * f.slope(y) ** 2 * u**2)
        parts.append(float(np.sum(explicit.Y_ddot[3] * u**2) - with_slope))
        sizes.append(float(with_slope))
    constant = fractions.constant_of_curvature(made, 4) - fractions.constant_of_curvature(made, 3)
    return [Equal("the rest is the same for three choices of all fractions", parts, [constant] * 3, tolerance=1e-11,
                  scale=max(sizes) + abs(constant)),
            Case(y=y, curvature=f.curvature(y), u=u, with_slope=sizes, rest=parts, constant=constant)]


@equation(PAPER, "43",
          statement="What depends on the fractions is Y_ddot u^2 after the activation.",
          formula=r"= \sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \ddot{Y}_{si}^{(\ell+1)} u_{si}^{(\ell+1)2} + \text{const}",
          kind="identity", verdict="holds", implements=(bounding.activation, total_gradient.activation))
def equation_43(rng):
    made = induction.curved(rng)
    u = total_gradient.total_gradients(made.network.layers, made.saved)
    left, right = [], []
    for _ in range(3):
        explicit = fractions.optimal_up_to(made, 0, rng)
        left.append(float(np.sum(explicit.Y_ddot[3] * u[3] ** 2)))
        right.append(float(np.sum(explicit.Y_ddot[4] * u[4] ** 2)))
    constant = fractions.constant_of_curvature(made, 4) - fractions.constant_of_curvature(made, 3)
    after = fractions.total_gradients_by_loops(made)[4]
    return [Equal("both sides for three choices of all fractions", left, np.array(right) + constant, tolerance=1e-11,
                  scale=max(right) + abs(constant)),
            Equal("total gradient after the activation, by loops", u[4], after, tolerance=1e-13),
            Case(u=u[3], u_above=after, left=left, right=right, constant=constant)]


# -- the loss ---------------------------------------------------------------------------------------------------------

def no_negative_arguments(rng, sizes=induction.SIZES):
    """Softplus, positive weights, outputs above their targets: no coefficient below an activation is negative."""
    start = cases.evaluation(rng, "softplus", samples=2, sizes=sizes, positive=True)
    return fractions.with_residual(start, rng.uniform(0.5, 3.0, start.outputs.shape))


@equation(PAPER, "44",
          statement="If every parameter changes by the same amount, the bound grows with the sum of all second "
                    "coefficients, and that sum is Y_ddot u^2 at the outputs, up to a constant.",
          formula=r"\tilde{\mathcal{L}}_1 = \sum_{\ell \in P} \sum_{i=1}^{m_{\ell'+1}} \sum_{j=0}^{m_{\ell'}} "
                  r"\ddot{W}_{ij}^{(\ell')} = \sum_{s=1}^S \sum_{i=1}^{m_L} \ddot{Y}_{si}^{(L)} u_{si}^{(L)2}",
          corrected=r"""\begin{aligned}
                    \tilde{\mathcal{L}}_1 &= \mathcal{L}(0) + \sum_{\ell \in P} \sum_{ij} \dot{W}_{ij}^{(\ell)}
                    \Delta w_{ij}^{(\ell)} + \frac{c^2}{2} \sum_{\ell \in P} \sum_{ij} \ddot{W}_{ij}^{(\ell)}
                    \quad \text{where all } |\Delta w_{ij}^{(\ell)}| = c \\
                    \sum_{\ell \in P} \sum_{ij} \ddot{W}_{ij}^{(\ell)} &=
                    \sum_{s=1}^S \sum_{i=1}^{m_L} \ddot{Y}_{si}^{(L)} u_{si}^{(L)2} + \text{const}
                    \end{aligned}""",
          kind="identity", verdict="erratum", implements=(bound, bounding.explicit_bound))
def equation_44(rng):
    made = no_negative_arguments(rng)
    net = made.network
    explicit = bounding.explicit_bound(made, output_phi=None)
    u, count = fractions.total_gradients_by_loops(made)[-1], len(net.layers)
    at_outputs = float(np.sum(explicit.Y_ddot[-1] * u**2))
    total = at_outputs + fractions.constant_of_curvature(made, count)
    c = rng.uniform(0.5, 1.5)
    step = c * rng.choice([-1.0, 1.0], size=net.size)
    first = cases.changes(made, step)[-1].first
    slope = float(np.mean(np.sum(made.loss_function.gradient(made.outputs, made.y) * first, axis=1)))
    value = bound(net, made.loss_function, made.x, made.y).value(step)
    summed = float(explicit.curvature.sum())
    return [Equal("bound at a step with all changes +c or -c", value, made.loss + slope + c**2 / 2 * total,
                  tolerance=1e-12),
            Equal("sum of all second coefficients, with the constant", summed, total, tolerance=1e-12),
            Printed(Equal("the bound is the sum of the second coefficients", value, summed, tolerance=1e-6)),
            Printed(Equal("without the constant", summed, at_outputs, tolerance=1e-6)),
            Case(W_ddot=explicit.curvature, Y_ddot_L=explicit.Y_ddot[-1], u_L=u, c=c, bound=value, sum_of_W_ddot=summed,
                 sum_of_Y_ddot_u2=at_outputs)]


@equation(PAPER, "45",
          statement="At the outputs, the second coefficients are the loss's second derivatives over the fractions.",
          formula=r"""\sum_{s=1}^S \sum_{i=1}^{m_L} \ddot{Y}_{si}^{(L)} u_{si}^{(L)2} =
                  \sum_{s=1}^S \sum_{i=1}^{m_L} \frac{1}{\varphi_{si}^{(L)}}
                  \frac{\partial^2 f(\mathbf{y}_s^{(L)} | \mathbf{x}_s)}{\partial y_{si}^{(L)2}} u_{si}^{(L)2}""",
          kind="identity", verdict="holds", implements=(bounding.output, bounding.explicit_bound))
def equation_45(rng):
    made = cases.evaluation(rng, "tanh", "softmax", samples=3, sizes=induction.SIZES)
    u, p, y = fractions.total_gradients_by_loops(made)[-1], made.outputs, made.y
    phi = partitions.arbitrary_output(np.ones_like(u), u, rng)
    gap = np.abs(phi - partitions.optimal_output(np.ones_like(u), u)).max()
    explicit = bounding.explicit_bound(made, output_phi=phi)
    second, h = np.zeros_like(p), 1e-4
    for i in range(p.shape[1]):
        e = h * np.eye(p.shape[1])[i]
        f = made.loss_function.value
        second[:, i] = (f(p + e, y) - 2 * f(p, y) + f(p - e, y)) / h**2 / made.samples
    return [Equal("coefficients at the outputs against second differences of the loss", explicit.Y_ddot[-1],
                  second / phi, tolerance=1e-5),
            Equal("both sides", float(np.sum(explicit.Y_ddot[-1] * u**2)), float(np.sum(second * u**2 / phi)),
                  tolerance=1e-5),
            AtMost("0.01 against the largest difference of these fractions from those proportional to u", 0.01, gap),
            Case(outputs=p, u_L=u, phi=phi, Y_ddot_L=explicit.Y_ddot[-1])]


@equation(PAPER, "46",
          statement="Fractions at the outputs that are proportional to u sqrt(f_ii) minimise the sum. (They are those "
                    "of layer L; printed is l.)",
          formula=r"\varphi_{si}^{*(\ell)} \propto |u_{si}^{(L)}| \sqrt{\frac{\partial^2 f(\mathbf{y}_s^{(L)} | "
                  r"\mathbf{x}_s)}"
                  r"{\partial y_{si}^{(L)2}}}",
          kind="optimality", verdict="holds", implements=(partitions.optimal_output, bounding.output))
def equation_46(rng):
    made = cases.evaluation(rng, "softplus", "softmax", sizes=(3, 3, 4))
    u = fractions.total_gradients_by_loops(made)[-1]
    f_ii = made.loss_function.hessian_diagonal(made.outputs, made.y)
    phi = partitions.optimal_output(f_ii, u)
    objective = fractions.weighted_squares(np.ones_like(u[:, 0]), u * np.sqrt(f_ii))
    least, found = fractions.minimise_over_fractions(objective, [u > 0], rng)
    value = float(np.sum(bounding.output(f_ii, f_ii, phi)[1] * u**2))
    closed = sum(sum(u[s, i] * np.sqrt(f_ii[s, i]) for i in range(4)) ** 2 for s in range(len(u)))
    return [Equal("fractions against the numerical minimiser of (45)", phi, found[0], tolerance=1e-4),
            Equal("least value", value, least, tolerance=1e-8),
            Equal("least value in closed form", value, float(closed), tolerance=1e-12),
            Case(u_L=u, f_ii=f_ii, phi=phi)]


# -- the theorem ------------------------------------------------------------------------------------------------------

def bent_the_wrong_way(rng):
    """One unit a layer, softplus, output far below its target: a negative coefficient at the fractions of (10)."""
    net = Network([Linear(1, 1), Activation("softplus"), Linear(1, 1)])
    net.theta = np.array([0.5, 0.25, 1.0, 0.0]) * (1 + 0.05 * rng.uniform(-1, 1, 4))
    return net.evaluate(SquaredError(), np.ones((1, 1)), np.full((1, 1), 20.0))


def sums(evaluation, rng, negative_curvature="abs"):
    """Sum of all second coefficients at the fractions of (10) and (46), and the least that the minimiser finds."""
    objective, occupied = fractions.sum_of_curvatures(evaluation, negative_curvature)
    least, _ = fractions.minimise_over_fractions(objective, occupied, rng)
    return float(bounding.explicit_bound(evaluation, negative_curvature=negative_curvature).curvature.sum()), least


@equation(PAPER, "theorem-2",
          statement="For changes of equal size the fractions of (10) and (46) make the bound least.",
          formula=r"\varepsilon_{sij}^{*(\ell)} = \frac{|y_{sj}^{(\ell)}|}{u_{si}^{(\ell+1)}} \quad "
                  r"\varphi_{sij}^{*(\ell)} = \frac{|w_{ij}^{(\ell)}| u_{sj}^{(\ell)}}{u_{si}^{(\ell+1)}} \quad "
                  r"\text{for } 1 < \ell < L, \quad \ell \in P",
          kind="optimality", verdict="conditional",
          condition="no negative number is corrected (by its absolute value or by zero) below an activation at these "
                    "fractions",
          implements=(partitions.optimal, partitions.optimal_output, bounding.explicit_bound))
def theorem_2(rng):
    sizes, claims = (2, 2, 2, 3), []
    for activation, loss in (("relu", "squared"), ("relu", "softmax"), ("identity", "softmax")):
        made = cases.evaluation(rng, activation, loss, samples=2, sizes=sizes)
        here, least = sums(made, rng)
        claims.append(Equal(f"sum against the numerical minimum, {activation}, {loss}", here, least, tolerance=1e-7))
    for correction in ("abs", "max"):
        here, least = sums(no_negative_arguments(rng, sizes), rng, correction)
        claims.append(Equal(f"softplus, no negative number met, {correction}", here, least, tolerance=1e-7))
        here, least = sums(bent_the_wrong_way(rng), rng, correction)
        claims.append(Counterexample(AtMost(f"softplus, negative numbers met, {correction}: nothing is less",
                                            here, least, tolerance=1e-3)))
    explicit = bounding.explicit_bound(made)
    eps, phi = explicit.partitions[2]
    return [*claims, Case(y=explicit.y[2], u=explicit.u[2], u_above=explicit.u[3], eps=eps, phi=phi,
                          W_ddot=explicit.curvature)]
