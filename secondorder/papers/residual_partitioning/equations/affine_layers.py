"""Equations (4)-(9): bounding through an affine layer, with any fractions."""

from itertools import product

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Property, Rate, Stated, equation
from .. import PAPER, coefficients, partitions, theorems
from . import cases, reference
from .claims import by_differences, in_case, is_refused, last_times, quadratics_bounded
from .conditions import FIRST_ORDER, NOT_NEGATIVE


@equation(PAPER, "4",
          statement="An affine output is the weighted sum of its inputs, bias included. To first "
                    "order its change has two parts: weight changes times inputs, and weights "
                    "times input changes.",
          formula=r"""\begin{aligned}
                  y_{si}^{(\ell+1)} &\equiv \sum_{j=0}^{m_\ell} w_{ij}^{(\ell)} y_{sj}^{(\ell)} \\
                  \Delta y_{si}^{(\ell+1)} &\approx \sum_{j=0}^{m_\ell} \Delta w_{ij}^{(\ell)}
                  y_{sj}^{(\ell)} + \sum_{j=1}^{m_\ell} w_{ij}^{(\ell)} \Delta y_{sj}^{(\ell)}
                  \end{aligned}""",
          kind="approximation", verdict="holds", implements=(coefficients.output_change,), uses=())
def equation_4(rng):
    claims = []
    for name, a in cases.affine_rows(rng).items():
        w, dW = reference.weights_with_bias(a.layer), a.dW.copy()
        dW[:, 0] *= a.layer.bias is not None
        first = coefficients.output_change(a.layer, a.y, dW, a.dY)

        def output(t):
            moved = np.hstack([np.ones((len(a.y), 1)), a.y + t * a.dY])
            return np.array([[sum((w + t * dW)[i] * row) for i in range(len(w))] for row in moved])

        claims += in_case(
            name, Equal("output against a sum over inputs from j = 0", a.layer.forward(a.y)[0],
                        output(0), 1e-14),
            Equal("first-order change against sums over j", first,
                  reference.parts(a.layer, a.y, dW, a.dY).sum(axis=2), 1e-14),
            Equal("what is left out against the product of both changes",
                  output(1.0) - output(0) - first, a.dY @ dW[:, 1:].T, 1e-12, scale=first))
        if name == "four samples":
            steps = 2.0 ** -np.arange(6)
            left_out = [np.abs(output(t) - output(0) - t * first).max() for t in steps]
            claims += [Rate("what is left out, against the size of the step", steps, left_out,
                            order=2, tolerance=1e-3), Case(y=a.y, w=w, dW=dW, dY=a.dY)]
    return claims


@equation(PAPER, "5",
          statement="For every sample and output, the fractions for the weights and for the inputs "
                    "are not negative and add up to one.",
          formula=r"\sum_{j=0}^{m_\ell} \varepsilon_{sij}^{(\ell)} + \sum_{j=1}^{m_\ell} "
                  r"\varphi_{sij}^{(\ell)} = 1 \quad \forall s, i \quad \varepsilon_{sij}^{(\ell)} "
                  r"\geq 0 \quad \varphi_{sij}^{(\ell)} \geq 0 \quad \forall s, i, j",
          kind="definition", verdict="definition",
          implements=(theorems.sums_of_fractions, partitions.check, partitions.optimal,
                      partitions.arbitrary), uses=())
def equation_5(rng):
    def refused(a, eps, phi):
        return is_refused(partitions.check, partitions.Partition(eps, phi), a.layer, a.y, a.u)

    claims = []
    for name, a in cases.affine_and_first(rng).items():
        for eps, phi in (a.best, a.partition):
            p = np.concatenate([eps, phi], axis=2)
            claims += in_case(
                name, Equal("sums over j against one", theorems.sums_of_fractions(eps, phi),
                            np.ones(a.Y_dot.shape), 1e-13),
                Equal("sums over j by loops", [[sum(row) for row in rows] for rows in p],
                      np.ones(a.Y_dot.shape), 1e-13),
                AtMost("0 against eps and phi", 0.0, p),
                Property("accepted", not refused(a, eps, phi)))
        claims += in_case(
            name, AtMost("0.01 against the difference of arbitrary from optimal fractions", 0.01,
                         np.abs(np.concatenate(a.best, axis=2) - p).max()),
            Property("refused when it adds up to 1.1", refused(a, 1.1 * eps, 1.1 * phi)),
            Property("refused when it does so for the last sample only",
                     refused(a, last_times(1.1, eps), last_times(1.1, phi))))
        claims += [Property(f"some of it goes to the weights, {name} layer", bool(eps.any()),
                            name != "fixed"),
                   Property(f"some of it goes further down, {name} layer", bool(phi.any()),
                            name != "first")]
    shifted = eps.copy()
    shifted[..., 0], shifted[..., 1] = eps[..., 0] + eps[..., 1] + 0.1, -0.1
    return [*claims, Property("refused when an entry is negative although the sum is one",
                              refused(a, shifted, phi)), Case(eps=eps, phi=phi)]


@equation(PAPER, "6", "7",
          statement="Every part of the squared change of an output is multiplied and divided by "
                    "its fraction. By Jensen's inequality the square is at most the sum of "
                    "squared parts, each over its fraction.",
          uses=("4", "5"), kind="inequality", verdict="conditional", condition=FIRST_ORDER,
          implements=(coefficients.squared_change_bound, coefficients.output_change,
                      partitions.optimal))
def equations_6_and_7(rng):
    claims = []
    for (row, a), name, size in product(cases.affine_rows(rng).items(), ("arbitrary", "optimal"),
                                        (1.0, 0.01, 100.0)):
        partition = a.partition if name == "arbitrary" else a.best
        p = np.concatenate(partition, axis=2)
        dW = size * rng.normal(size=a.dW.shape) * a.layer.trainable
        dY = rng.normal(size=a.dY.shape)
        x = reference.parts(a.layer, a.y, dW, dY)
        change = coefficients.output_change(a.layer, a.y, dW, dY)
        right = coefficients.squared_change_bound(a.layer, a.y, dW, dY, partition)
        claims += in_case(
            f"{name}, {row}", Equal("(6), before squaring: change against the sum over parts",
                                    change, (p * partitions.ratio(x, p)).sum(axis=2), 1e-12),
            Equal("(7), right side against a sum over parts", right, reference.squares(x, p),
                  1e-12),
            AtMost("(7), squared change against the right side", change**2, right))
    a = cases.affine(rng)
    first, right = cases.proportional_change(a)
    one = cases.in_proportion(a)
    # the change of this step or of the opposite one
    larger = abs(first) + abs(one.dY @ one.dW[:, 1:].T)[0, 0]
    return [*claims, Equal("equality where every part is in proportion to its fraction", right,
                           first**2, 1e-12),
            Counterexample(AtMost("the change itself, products of changes included, squared "
                                  "against the right side", larger**2, right, 1e-6)),
            Case(y=a.y, dW=a.dW, dY=a.dY, eps=a.partition.eps, phi=a.partition.phi)]


@equation(PAPER, "8",
          statement="The quadratics of an affine layer's outputs are at most the quadratics of "
                    "its weights and of its inputs.",
          formula=r"\sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \mathcal{Y}_{si}^{(\ell+1)} \leq "
                  r"\sum_{i=1}^{m_{\ell+1}} \sum_{j=0}^{m_{\ell}} \mathcal{W}_{ij}^{(\ell)} + "
                  r"\sum_{s=1}^S \sum_{j=1}^{m_{\ell}} \mathcal{Y}_{sj}^{(\ell)}",
          kind="inequality", verdict="conditional", condition=(FIRST_ORDER, NOT_NEGATIVE),
          implements=(theorems.bound_of_outputs, theorems.quadratic,
                      Stated(coefficients.affine, "W_dot", "W_ddot", "Y_dot", "Y_ddot")),
          uses=("7", "9"))
def equation_8(rng):
    return quadratics_bounded(rng, first=False)


@equation(PAPER, "9",
          statement="First and second coefficients of the quadratics of the weights and inputs of "
                    "an affine layer.",
          uses=("4", "7"), kind="definition", verdict="holds",
          implements=(Stated(coefficients.affine, "W_dot", "W_ddot", "Y_dot", "Y_ddot"),))
def equation_9(rng):
    claims = []
    for row, a in cases.affine_rows(rng).items():
        below = a.below()
        claims += by_differences(a, row, 8, *below._fields[0 if a.layer.trainable else 2:])
        if a.layer.trainable:
            claims.append(AtMost("0 against W_ddot, although Y_dot has both signs", 0.0,
                                 below.W_ddot, case=row))
    return [*claims,
            Case(y=a.y, Y_dot_above=a.Y_dot, Y_ddot_above=a.Y_ddot, **below._asdict())]
