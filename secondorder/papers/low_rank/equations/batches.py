"""What is averaged over a mini-batch: (38)-(39), Table 2, and how the cost grows with depth."""

import numpy as np

from ....ledger import Case, Counterexample, Equal, Printed, Rate, Stated, equation
from ....ledger.multiplication_counter import counted
from ....nets import Activation, SquaredError
from .. import PAPER, curvature, diagonal, first_derivatives, quantities, relu
from ..curvature import directional_curvature_at
from ..rules import ActivationRule, LinearRule
from . import reference
from .batch_cases import batch, moved, nested, rows
from .cases import ACTIVATIONS, CLEAR, kinds, network
from .conditions import EVERY_ETA, ONE_SAMPLE, STRAIGHT


@equation(PAPER, "38",
          statement="The derivative along the direction, from the pieces omega and phi of the "
                    "direction.",
          formula=r"""\mathbf{g}^T \nabla f = \frac{\partial F}{\partial p^i} v^{(n),j}
                      \omega_j^i + \sum_k \frac{\partial F}{\partial p^l} u_m^l
                      \eta_i^{(n,k),m} v^{(k-1),j} \phi_j^{(k),i}""",
          condition=ONE_SAMPLE,
          kind="identity", verdict="conditional",
          implements=(first_derivatives.directional_derivative,
                      Stated(curvature.directional_curvature_at, "0")), uses=("1", "16", "28"))
def equation_38(rng):
    claims = []
    for name, case in kinds(rng, *ACTIVATIONS):
        pieces = [None, *(rng.normal(size=w.shape) for w in case.ws[1:])]
        literal = first_derivatives.directional_derivative(case.sample, pieces[-1], pieces[:-1])
        by_jets = [np.sum(case.first(case.f, k) * pieces[k]) for k in range(1, len(pieces))]
        claims.append(Equal("one sample: the sum over eta, against jets", literal, sum(by_jets),
                            case.tolerance, scale=np.abs(by_jets).sum(), case=name))
    for row in [*rows(rng), nested(batch(rng, "tanh"))]:
        expected, scale = row.derivative
        claims.append(Equal("averaged over a batch, against gradient times direction",
                            directional_curvature_at(row.at, row.direction)[0], expected,
                            row.tolerance, scale=scale, case=row.name))
    row = batch(rng)
    f_p = row.at.loss_function.gradient(row.at.outputs, row.at.y)
    outside = f_p.mean(axis=0) @ tangents(row.at, row.direction)[-1].mean(axis=0)
    return [*claims,
            Counterexample(Equal("a batch, with dF/dp in front of the mean tangent of p", outside,
                                 row.derivative[0], CLEAR)),
            Case(direction=row.direction, x=row.at.x)]


def tangents(at, direction, h=1e-6):
    """Tangents of all layers' outputs along the direction, by differences of the forward pass."""
    low, high = (moved(at, s * direction).evaluate(at.loss_function, at.x, at.y).saved
                 for s in (-h, h))
    return [(b.output - a.output) / (2 * h) for a, b in zip(low, high)]


@equation(PAPER, "39",
          statement="Curvature along g: the print leaves out f_pp between different hidden layers.",
          condition=(ONE_SAMPLE, STRAIGHT),
          uses=("3", "4", "5", "16"), kind="identity", verdict="erratum", weight="substance",
          implements=(relu.directional_curvature, curvature.by_explicit_eta, LinearRule.along,
                      ActivationRule.along,
                      curvature.curvature_as_printed,
                      Stated(curvature.directional_curvature_at, "1")))
def equation_39(rng):
    def against_dense(what, value, row, allowed):
        expected, scale = row.curvature
        return Equal(what, value, expected, allowed, scale=scale, case=row.name)

    claims = [against_dense("corrected, with every eta, against the dense Hessian",
                            curvature.by_explicit_eta(row.at, row.direction), row, row.tolerance)
              for row in rows(rng, activation="relu")]
    claims += [against_dense("corrected, by one tangent and A'' of curved activations, against "
                             "the dense Hessian",
                             directional_curvature_at(row.at, row.direction)[1], row, row.tolerance)
               for row in [*rows(rng, activation="relu"), *rows(rng), nested(batch(rng, "tanh"))]]
    claims += [against_dense("as printed, what it lacks, and A'' of curved activations, by "
                             "differences", directional_curvature_at(
                                 row.at, row.direction, "printed")[1]
                             + hidden_pairs(row) + second_order_terms(row), row, 1e-7)
               for row in rows(rng) if row.at.network.dtype == "float64"]
    row = batch(rng, "relu")
    claims.append(against_dense("corrected, line by line, averaged over samples, against the dense "
                                "Hessian", line_by_line(row), row, row.tolerance))
    row = batch(rng)
    expected, scale = row.curvature
    printed = directional_curvature_at(row.at, row.direction, "printed")[1]
    return [*claims, Printed(Equal("as printed, averaged over samples", printed, expected, CLEAR)),
            Equal("as printed plus what it lacks, by differences", printed + hidden_pairs(row),
                  expected, 1e-7, scale=scale),
            Case(direction=row.direction, x=row.at.x)]


def line_by_line(row):
    """The mean over samples of the literal (39), biases in a column behind the weights."""
    net, pieces = row.at.network, [None]
    for layer, where in zip(net.layers, net.slices):
        if layer.size:
            weight, *bias = layer.split(row.direction[where])
            pieces.append(np.hstack([weight, *(b[:, None] for b in bias)]))
    return np.mean([relu.directional_curvature(quantities.quantities(row.at, s), pieces[-1],
                                               pieces[:-1]) for s in range(row.at.samples)])


def second_order_terms(row):
    """E sum over layers of df/dv A''(z) z'^2, z' by differences, below the activation at the
    output, if there is one.
    """
    at, total, along = row.at, 0.0, tangents(row.at, row.direction)
    for k, (layer, bar) in enumerate(zip(at.network.layers[:-1], at.deltas)):
        if isinstance(layer, Activation):
            second_derivative = reference.ACTIVATIONS[layer.function.name][2](at.saved[k].input)
            total += np.sum(bar * second_derivative * along[k - 1] ** 2)
    return total / at.samples


def hidden_pairs(row):
    """E sum over k != r of q_k^T f_pp q_r over hidden layers, q_k by differences of the forward
    pass, f_pp with what stands behind p.
    """
    at, along = row.at, []
    affine = [k for k, layer in enumerate(at.network.layers) if not isinstance(layer, Activation)]
    last = affine[-1]
    for k in affine[:-1]:
        piece = np.zeros_like(row.direction)
        piece[at.network.slices[k]] = row.direction[at.network.slices[k]]
        along.append(tangents(at, piece)[last])
    f_pp = objective_hessian(at, last)
    return sum(np.einsum("si,sij,sj->", q, f_pp, r) for q in along for r in along
               if q is not r) / at.samples


def objective_hessian(at, last):
    """Hessians of every sample's f in the output p of layer `last`, by differences of gradients."""
    p, behind, columns = at.saved[last].output, at.network.layers[last + 1:], []

    def gradient(p):
        if not behind:
            return at.loss_function.gradient(p, at.y)
        y, saved = behind[0].forward(p)
        return behind[0].backward(saved, at.loss_function.gradient(y, at.y))[0]

    for e in 1e-6 * np.eye(p.shape[1]):
        columns.append((gradient(p + e) - gradient(p - e)) / 2e-6)
    return np.stack(columns, axis=2)


@equation(PAPER, "table-2",
          statement="A step length for every weight: its curvature is the diagonal entry, s = i "
                    "and t = j without a sum; the unit step has to point downhill.",
          condition=(ONE_SAMPLE, STRAIGHT),
          uses=("37", "38", "39", "80"), kind="algorithm", verdict="erratum", weight="misprint",
          implements=(diagonal.weight_curvatures, diagonal.hessian_diagonal_at,
                      diagonal.variable_rates))
def table_2(rng):
    claims, sigma = [], 20.0
    for row in [*rows(rng), *rows(rng, activation="relu"), nested(batch(rng, "tanh"))]:
        claims.append(Equal("the diagonal, against the dense Hessian's",
                            diagonal.hessian_diagonal_at(row.at), np.diag(row.H), row.tolerance,
                            scale=np.abs(row.H).max(), case=row.name))
    row = batch(rng)
    g, h, d = row.g, np.diag(row.H), rng.normal(size=len(row.g))
    for name, direction in (("unit steps", -np.sign(g)),
                            ("steps of any length", -np.sign(g) * np.abs(d))):
        roots = [np.roots([sigma * abs(e) ** 3 / 2, e**2 * h_j, -abs(a * e)]).real.max() if a else 0
                 for a, h_j, e in zip(g, h, direction)]
        claims.append(Equal("downhill, against the larger roots",
                            diagonal.variable_rates(direction, g, h, sigma), roots, 1e-9,
                            case=name))
    last, count = row.at.network.slices[-1], row.at.network.layers[-1].weight.size
    v, f_pp = row.at.saved[-1].input, row.at.loss_function.hessian(row.at.outputs, row.at.y)
    summed = np.einsum("bis,bj,bt->ij", f_pp, v, v) / row.at.samples
    return [*claims,
            Printed(Equal("output weights, s and t summed as printed", summed.ravel(),
                          h[last][:count].copy(), CLEAR)),
            Case(diagonal=h.copy(), gradient=g)]


@equation(PAPER, "u-depth",
          where="section 4, the second aspect of the cost",
          statement="The number of matrix products for the quantities of (9) grows with the "
                    "square of the number of layers.",
          formula=r"\frac{n(n+1)}{2} \text{ products with weights and } \eta",
          condition=EVERY_ETA,
          kind="claim", verdict="conditional", ours=True,
          implements=(quantities.number_of_products, curvature.by_explicit_eta,
                      curvature.directional_curvature_at),
          uses=("38", "39"))
def u_depth(rng):
    depths, every, one, claims = np.array([16, 32, 64]), [], [], []
    for n in depths:
        at, log = all_live(rng, n), []
        for layer in at.network.layers[::2]:
            dict.__setitem__(layer.parameters, "weight", counted(layer.weight, log, follow=False))
        direction = rng.normal(size=at.network.size)
        curvatures = [curvature.by_explicit_eta(at, direction)]
        every.append(log.count(at.samples * 2**3))  # the products W eta, every sample's at once
        log.clear()
        curvatures.append(curvature.directional_curvature_at(at, direction)[1])
        one.append(len(log))
        claims.append(Equal("both are the same curvature", *curvatures, 1e-9, case=f"{n} layers"))
    return [*claims,
            Equal("products of weights and eta, counted", np.array(every, float),
                  [quantities.number_of_products(n) for n in depths], 1e-12),
            # n (n + 1) = (n + 1/2)^2 - 1/4: from 16 to 64 layers the order is 2 within 7e-4
            Rate("every eta: products against depth", depths + 0.5, every, order=2,
                 tolerance=0.003),
            Counterexample(Rate("one tangent: products against depth", depths + 0.5, one, order=2,
                                tolerance=0.003)),
            Case(depths=depths, every=every, one=one)]


def all_live(rng, n):
    """An evaluation of a narrow ReLU network of n hidden layers in which all units are live."""
    net = network(rng, "relu", (2,) * (n + 2))
    for layer in net.layers[::2]:
        layer.weight = np.abs(layer.weight) / np.abs(layer.weight).sum(axis=1, keepdims=True)
    return net.evaluate(SquaredError(), rng.uniform(0.5, 1, (3, 2)), rng.normal(size=(3, 2)))
