"""Rates for every weight, sample and layer: Table 2, and what goes further."""

import numpy as np

from .... import exact
from ....ledger import AtMost, Case, Equal, Printed, equation
from .. import PAPER
from .. import eq_43_table_2_rates as eq
from .. import section_4_rates_by_layer as by_layer
from ..eq_37_43_step_length import eq_37_step_lengths, eq_39_by_layers
from ..layers import fcnn
from .cases import (CLEAR, RELU, all_layers, batch, compared, nested, network_case, once, outside,
                    rows, sample_by_sample, scale_of_outputs)
from .conditions import ONE_SAMPLE, STRAIGHT
from .reference import larger_root


@equation(PAPER, "table-2",
          statement="A step length for every weight: its curvature is the diagonal entry, s = i "
                    "and t = j without a sum; the unit step has to point downhill.",
          condition=(ONE_SAMPLE, STRAIGHT),
          uses=("37", "38", "39", "80"), kind="algorithm", verdict="erratum", weight="misprint",
          implements=(eq.table_2_u, eq.table_2_w, eq.table_2_models, exact.diagonal))
def table_2(rng):
    def entries(case, *layers):
        """The diagonal of a block of second derivatives, by jets."""
        return np.einsum("ijij->ij", case.block(*layers, *layers))

    row, sigma = batch(rng), 20.0
    g, h, d = row.g, np.diag(row.H), rng.normal(size=len(row.g))
    claims = [
        *compared(rng, ("one sample, output weights, against jets", eq.table_2_u, entries, once),
                  scale=scale_of_outputs),
        *compared(rng, ("one sample, hidden weights, against jets", eq.table_2_w, entries,
                        all_layers), activations=("relu",)),
        outside("tanh", eq.table_2_w, entries, all_layers(3), network_case(rng, "tanh")),
        *diagonals(rng, "the diagonal that a step takes, against the dense Hessian's", 0.0)]
    for name, direction in (("unit steps", -np.sign(g)),
                            ("steps of any length", -np.sign(g) * np.abs(d))):
        roots = [larger_root(-abs(a * e), e**2 * h_j, abs(e), sigma) if a else 0
                 for a, h_j, e in zip(g, h, direction)]
        claims.append(Equal("downhill, against the larger roots",
                            eq_37_step_lengths(*eq.table_2_models(direction, g, h), sigma),
                            roots, 1e-9, case=name))
    last, count = row.at.network.slices[-1], row.at.network.layers[-1].weight.size
    v, f_pp = row.at.saved[-1].input, row.at.loss_function.hessian(row.at.outputs, row.at.y)
    summed = np.einsum("bis,bj,bt->ij", f_pp, v, v) / row.at.samples
    return [*claims,
            Printed(Equal("output weights, s and t summed as printed", summed.ravel(),
                          h[last][:count].copy(), CLEAR))]


def diagonals(rng, what, l2):
    """Claims on the exact diagonal with a penalty, and one of the batches."""
    chosen = [*rows(rng), *rows(rng, activation="relu"), nested(batch(rng, "tanh"))]
    return [*(row.equal(what, exact.diagonal(*row.model, l2=l2), np.diag(row.H) + l2,
                        np.abs(row.H).max()) for row in chosen),
            Case(x=chosen[-1].at.x, diagonal=np.diag(chosen[-1].H))]


@equation(PAPER, "extension-diagonal",
          where="section 2, after (7): the diagonal could be taken out",
          statement="The exact diagonal of a batch is one matrix product a layer. Where A'' = 0, "
                    "its left factor comes from back-propagating the columns of a root of f_pp.",
          kind="identity", verdict="holds", ours=True,
          implements=exact.diagonal, uses=("80",))
def extension_diagonal(rng):
    return diagonals(rng, "with a penalty, against the dense Hessian", 0.3)


@equation(PAPER, "extension-per-sample",
          where="section 3.1, the first two options: a rate for every sample",
          statement="Along a sample's own gradient the curvature needs one product a layer for "
                    "the whole batch, and no array of a sample's weights.",
          kind="identity", verdict="holds", ours=True, implements=eq.eq_38_39_of_samples,
          uses=("38", "39", "option-1"))
def extension_per_sample(rng):
    claims = []
    for row in [*rows(rng), *rows(rng, RELU)]:
        alone = sample_by_sample(row)
        a, h, lengths = eq.eq_38_39_of_samples(*fcnn(row.at))
        size = max(np.abs(one.g) @ np.abs(one.H) @ np.abs(one.g) for one in alone)
        claims += [row.equal("g . grad f against dense gradients", a,
                             [-one.g @ one.g for one in alone]),
                   row.equal("curvatures against dense Hessians", h,
                             [one.g @ one.H @ one.g for one in alone], size),
                   row.equal("lengths", lengths, [np.linalg.norm(one.g) for one in alone])]
    return [*claims, Case(x=row.at.x, curvatures=h)]


@equation(PAPER, "extension-layer-rates",
          where="section 4: rates for layers would not be difficult",
          statement="Rates for layers that minimise one joint model with the products between "
                    "layers are never worse than a single rate.",
          kind="optimality", verdict="holds", ours=True,
          implements=(by_layer.joint_change, by_layer.joint_rates, by_layer.layer_models,
                      eq_39_by_layers),
          uses=("8", "9"))
def extension_layer_rates(rng):
    sigma, claims = 5.0, []
    for row in [*rows(rng), batch(rng, "tanh")]:
        blocks = [where for where in row.at.network.slices if where.stop > where.start]
        d, theta = row.direction, row.at.network.theta
        for l2 in (0.2, 0.0):
            g, H = row.g + l2 * theta, row.H + l2 * np.eye(len(row.H))
            named = row._replace(name=f"{row.name}, l2 = {l2}")
            a, Q, norms, _ = by_layer.layer_models(eq_39_by_layers, *fcnn(row.at), d, l2, theta)
            claims += [named.equal("Q against the dense Hessian", Q,
                                   [[d[k] @ H[k, r] @ d[r] for r in blocks] for k in blocks],
                                   row.curvature[1]),
                       named.equal("directional derivatives", a, [d[k] @ g[k] for k in blocks],
                                   np.abs(d) @ np.abs(g)),
                       named.equal("lengths", norms, [np.linalg.norm(d[k]) for k in blocks])]

    def joint(s):
        return by_layer.joint_change(a, Q, norms, sigma, s)

    s = by_layer.joint_rates(a, Q, norms, sigma)
    single = min(joint(np.full(len(a), t)) for t in np.linspace(-2, 2, 4001))
    near = [joint(s * (1 + t * rng.normal(size=len(s)))) for t in np.geomspace(1e-3, 1, 100)]
    alone = [t * a[k] + t**2 * Q[k, k] / 2 + sigma * abs(t * norms[k]) ** 3 / 6
             for k in range(len(a)) for t in (-1.0, 2.0)]
    return [*claims, Equal("the joint model where one layer moves, against its own",
                           [joint(t * e) for e in np.eye(len(a)) for t in (-1.0, 2.0)], alone,
                           1e-12),
            AtMost("the joint model there against the best single rate", joint(s), single),
            AtMost("against points around", joint(s), near),
            Case(rates=s, directional_derivatives=a)]
