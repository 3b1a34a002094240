"""Step lengths beyond the paper: a rate for every sample, for every layer, and without
cancellation.
"""

from decimal import Decimal, localcontext

import numpy as np

from ....ledger import AtMost, Case, Equal, Property, equation
from .. import PAPER, curvature, joint_rates, steps
from .batch_cases import batch, nested, rows, sample_by_sample
from .model import ray


@equation(PAPER, "extension-per-sample",
          where="section 3.1, the first two options: a rate for every sample",
          statement="Along a sample's own gradient the curvature needs one product a layer for "
                    "the whole batch, and no array of a sample's weights.",
          formula=r"""\phi_b^{(k)} = -\delta_b^k v_b^{(k-1) T}: \quad \phi_b^{(k)} v_b^{(k-1)}
                      = -\delta_b^k \|v_b^{(k-1)}\|^2, \quad \delta_b^{k T} \phi_b^{(k)}
                      \dot{v}_b = -\|\delta_b^k\|^2 \, v_b \cdot \dot{v}_b""",
          kind="identity", verdict="holds", ours=True, implements=curvature.sample_curvatures_at,
          uses=("38", "39", "option-1"))
def extension_per_sample(rng):
    claims = []
    for l2 in (0.0, 0.2):
        for row in [*rows(rng), *rows(rng, {"ReLU": {"activation": "relu"}})]:
            alone = sample_by_sample(row, l2)
            a, h, lengths = curvature.sample_curvatures_at(row.at, l2)
            size = max(np.abs(one.g) @ np.abs(one.H) @ np.abs(one.g) for one in alone)
            name = f"{row.name}, l2 = {l2}"
            claims += [Equal("g . grad f against dense gradients", a,
                             [-one.g @ one.g for one in alone], row.tolerance, case=name),
                       Equal("curvatures against dense Hessians", h,
                             [one.g @ one.H @ one.g for one in alone], row.tolerance, scale=size,
                             case=name),
                       Equal("lengths", lengths, [np.linalg.norm(one.g) for one in alone],
                             row.tolerance, case=name)]
    return [*claims, Case(x=row.at.x, curvatures=h)]


@equation(PAPER, "extension-layer-rates",
          where="section 4: rates for layers would not be difficult",
          statement="Rates for layers that minimise one joint model with the products between "
                    "layers are never worse than a single rate.",
          formula=r"""\min_s \; a^T s + \frac{1}{2} s^T Q s + \frac{\sigma}{6} \Big( \sum_k
                      \|g_k\|^2 s_k^2 \Big)^{\frac{3}{2}}, \quad Q_{kr} = g_k^T \mathbf{H} g_r""",
          kind="optimality", verdict="holds", ours=True,
          implements=(joint_rates.joint_model, joint_rates.coupled_rates,
                      joint_rates.layer_products, joint_rates.block_products),
          uses=("8", "9"))
def extension_layer_rates(rng):
    sigma, claims = 5.0, []
    for row in [*rows(rng), nested(batch(rng, "tanh")), batch(rng, "tanh")]:
        blocks = [where for where in row.at.network.slices if where.stop > where.start]
        d, g, H = row.direction, row.g, row.H
        for l2 in (0.2, 0.0):
            name = f"{row.name}, l2 = {l2}"
            g_l2, H_l2 = g + l2 * row.at.network.theta, H + l2 * np.eye(len(H))
            a, Q, norms, slices = joint_rates.layer_products(row.at, d, l2)
            claims += [Equal("Q against the dense Hessian", Q,
                             [[d[k] @ H_l2[k, r] @ d[r] for r in blocks] for k in blocks],
                             row.tolerance, scale=row.curvature[1], case=name),
                       Equal("directional derivatives", a, [d[k] @ g_l2[k] for k in blocks],
                             row.tolerance, scale=np.abs(d) @ np.abs(g_l2), case=name),
                       Equal("lengths", norms, [np.linalg.norm(d[k]) for k in blocks],
                             row.tolerance, case=name),
                       Property("places", slices == blocks, case=name)]

    def joint(s):
        return joint_rates.joint_model(a, Q, norms, sigma, s)

    def derivative(k, s, h=1e-6):
        e = np.eye(len(s))[k] * h
        return (joint(s + e) - joint(s - e)) / (2 * h)

    s = joint_rates.coupled_rates(a, Q, norms, sigma)
    single = min(joint(np.full(len(a), t)) for t in np.linspace(-2, 2, 4001))
    near = [joint(s * (1 + t * rng.normal(size=len(s)))) for t in np.geomspace(1e-3, 1, 100)]
    alone = [t * a[k] + t**2 * Q[k, k] / 2 + sigma * abs(t * norms[k]) ** 3 / 6
             for k in range(len(a)) for t in (-1.0, 2.0)]
    return [*claims, Equal("the joint model where one layer moves, against its own",
                           [joint(t * e) for e in np.eye(len(a)) for t in (-1.0, 2.0)], alone,
                           1e-12),
            AtMost("the joint model there against the best single rate", joint(s), single),
            AtMost("against points around", joint(s), near),
            Equal("it is stationary, beside the directional derivatives",
                  [derivative(k, s) for k in range(len(s))], np.zeros(len(s)), 1e-6, scale=a),
            Property("rates differ", bool(np.ptp(s) > 1e-3 * np.abs(s).max())),
            Case(rates=s, directional_derivatives=a)]


@equation(PAPER, "extension-stable-step",
          where="section 3.1 and (37), in floating point",
          statement="(37) cancels where curvature dominates; the reciprocal form does not, and "
                    "the step is the same for every length of the direction.",
          formula=r"""s = \frac{2 |a|}{h + \sqrt{h^2 + 2 |a| c}} \; (h \ge 0), \quad s
                      = \frac{-h + \sqrt{h^2 + 2 |a| c}}{c} \; (h < 0), \quad c = \sigma
                      \|\mathbf{g}\|^3""",
          kind="algorithm", verdict="holds", ours=True,
          implements=(steps.reciprocal_root, steps.descent_root, steps.step_length), uses=("37",))
def extension_stable_step(rng):
    a, h = -rng.uniform(0.5, 1), 10.0 ** rng.uniform(4, 5)
    length, sigma = rng.uniform(0.01, 0.02), rng.uniform(1, 2)
    c = sigma * length**3
    series = -a / h * (1 + a * c / (2 * h**2))  # the next term is below rounding
    lost = abs(steps.positive_root(a, h, length, sigma) / series - 1)
    scaled = [k * steps.step_length(k * a, k**2 * h, k * length, sigma)
              for k in 10.0 ** np.arange(-120.0, 121, 40)]
    other = ray(rng)
    root = np.roots([other[3] * other[2] ** 3 / 2, other[1], other[0]]).real.max()
    raw = steps.descent_root(*map(np.float64, other[:3]), other[3])
    # h dominates at one end (and (37) cancels for h > 0), c at the other: 2 |a| c = eps h^2
    eps, sign = 10.0 ** np.repeat(np.arange(-40.0, 41, 5), 2), np.tile([1.0, -1.0], 17)
    slopes = -rng.uniform(1, 2, eps.shape) * eps / c
    curvatures = sign * np.sqrt(2 * np.abs(slopes) * c / eps)
    in_digits = [with_digits(*numbers, length, sigma) for numbers in zip(slopes, curvatures)]
    edges = (steps.step_length(-1.0, 1.0, 0.0, 1.0), steps.step_length(-2.0, 4.0, 1.0, 0.0),
             steps.step_length(-2.0, -4.0, 1.0, 0.0))
    return [Equal("against the series in c", steps.step_length(a, h, length, sigma), series, 1e-14),
            Equal("the formula against the series, and h < 0 against the roots",
                  [steps.reciprocal_root(a, h, length, sigma) / series,
                   steps.reciprocal_root(*other) / root], [1.0, 1.0], 1e-8),
            AtMost("the printed formula has lost four digits or more", 1e-12, lost),
            Equal("one step for directions of length 1e-120 to 1e120", scaled, np.full(7, series),
                  1e-13),
            Equal("where nothing cancels, against the roots", raw, root, 1e-9),
            Equal("over (37) with 100 digits, h of either sign, 2 |a| c from 1e-40 h^2 to 1e40 h^2",
                  steps.descent_root(slopes, curvatures, np.full(34, length), sigma) / in_digits,
                  np.ones(34), 1e-14),
            Property("defined at the edges: no direction, no curvature and no sigma", edges,
                     (0.0, 0.5, steps.LARGEST)),
            Case(directional_derivative=a, curvature=h, length=length, sigma=sigma)]


def with_digits(a, h, length, sigma):
    """(37) as it stands, with 100 digits: at most 41 of them cancel."""
    with localcontext(prec=100):
        a, h, c = Decimal(a), Decimal(h), Decimal(sigma) * Decimal(length) ** 3
        return float((-h + (h * h - 2 * a * c).sqrt()) / c)
