"""Equations (4)-(9): bounding through an affine layer, with any fractions."""

from itertools import product

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Property, Rate, Stated, equation
from .. import PAPER
from ..section_3_residual_partitioning import (
    eq_4_output_change, eq_5_sums_of_fractions, eq_6_squared_change, eq_7_jensen,
    eq_8_bound_of_outputs, eq_9_coefficients, quadratic)
from ..section_4_partitioning_variables import eq_10_fractions
from . import cases, reference
from .claims import FIRST_ORDER, NOT_NEGATIVE, by_differences, in_case, quadratics_bounded


@equation(PAPER, "4",
          statement="An affine output is the weighted sum of its inputs, bias included. To first "
                    "order its change has two parts: weight changes times inputs, and weights "
                    "times input changes.",
          formula=r"""\begin{aligned}
                  y_{si}^{(\ell+1)} &\equiv \sum_{j=0}^{m_\ell} w_{ij}^{(\ell)} y_{sj}^{(\ell)} \\
                  \Delta y_{si}^{(\ell+1)} &\approx \sum_{j=0}^{m_\ell} \Delta w_{ij}^{(\ell)}
                  y_{sj}^{(\ell)} + \sum_{j=1}^{m_\ell} w_{ij}^{(\ell)} \Delta y_{sj}^{(\ell)}
                  \end{aligned}""",
          kind="approximation", verdict="holds", implements=(eq_4_output_change,), uses=())
def equation_4(rng):
    claims = []
    for name, a in cases.affine_rows(rng).items():
        w, dw = reference.weights_with_bias(a.layer), np.zeros((len(a.w), 1 + a.x.shape[1]))
        dw[:, dw.shape[1] - a.y.shape[1]:] = a.dw
        first = eq_4_output_change(a.y, a.w, a.dw, a.dy)

        def output(t):
            moved = np.hstack([np.ones((len(a.x), 1)), a.x + t * a.dy])
            return np.array([[sum((w + t * dw)[i] * row) for i in range(len(w))] for row in moved])

        claims += in_case(
            name, Equal("output against a sum over inputs from j = 0", a.layer.forward(a.x)[0],
                        output(0), 1e-14),
            Equal("first-order change against sums over j", first,
                  reference.parts(a.y, a.w, a.dw, a.dy).sum(axis=2), 1e-14),
            Equal("what is left out against the product of both changes",
                  output(1.0) - output(0) - first, a.dy @ dw[:, 1:].T, 1e-12, scale=first))
        if name == "four samples":
            steps = 2.0 ** -np.arange(6)
            left_out = [np.abs(output(t) - output(0) - t * first).max() for t in steps]
            claims += [Rate("what is left out, against the size of the step", steps, left_out,
                            order=2, tolerance=1e-3), Case(y=a.y, w=a.w, dw=a.dw, dy=a.dy)]
    return claims


@equation(PAPER, "5",
          statement="For every sample and output, the fractions for the weights and for the inputs "
                    "are not negative and add up to one.",
          formula=r"\sum_{j=0}^{m_\ell} \varepsilon_{sij}^{(\ell)} + \sum_{j=1}^{m_\ell} "
                  r"\varphi_{sij}^{(\ell)} = 1 \quad \forall s, i \quad \varepsilon_{sij}^{(\ell)} "
                  r"\geq 0 \quad \varphi_{sij}^{(\ell)} \geq 0 \quad \forall s, i, j",
          kind="definition", verdict="definition",
          implements=(eq_5_sums_of_fractions, Stated(eq_10_fractions, "0", "1")), uses=())
def equation_5(rng):
    claims = []
    for name, a in cases.affine_and_first(rng).items():
        for eps, phi in (a.best, (a.eps, a.phi)):
            p = np.concatenate([eps, phi], axis=2)
            claims += in_case(
                name, Equal("sums over j against one", eq_5_sums_of_fractions(eps, phi),
                            np.ones(a.Y_dot.shape), 1e-13),
                Equal("sums over j by loops", [[sum(row) for row in rows] for rows in p],
                      np.ones(a.Y_dot.shape), 1e-13),
                AtMost("0 against eps and phi", 0.0, p))
        claims += [Property(f"some of it goes to the weights, {name} layer", bool(eps.any()),
                            name != "fixed"),
                   Property(f"some of it goes further down, {name} layer", bool(phi.any()),
                            name != "first")]
    return [*claims, Case(eps=eps, phi=phi)]


@equation(PAPER, "6", "7",
          statement="Every part of the squared change of an output is multiplied and divided by "
                    "its fraction. By Jensen's inequality the square is at most the sum of "
                    "squared parts, each over its fraction.",
          uses=("4", "5"), kind="inequality", verdict="conditional", condition=FIRST_ORDER,
          implements=(eq_6_squared_change, eq_7_jensen))
def equations_6_and_7(rng):
    claims = []
    for (row, a), name, size in product(cases.affine_rows(rng).items(), ("arbitrary", "optimal"),
                                        (1.0, 0.01, 100.0)):
        eps, phi = (a.eps, a.phi) if name == "arbitrary" else a.best
        dw, dy = size * rng.normal(size=a.dw.shape), rng.normal(size=a.dy.shape)
        x = reference.parts(a.y, a.w, dw, dy)
        change = eq_4_output_change(a.y, a.w, dw, dy)
        right = eq_7_jensen(a.y, a.w, dw, dy, eps, phi)
        claims += in_case(
            f"{name}, {row}",
            Equal("(6): squared change against the square of the sum over parts", change**2,
                  eq_6_squared_change(a.y, a.w, dw, dy, eps, phi), 1e-12),
            Equal("(6): the sum over parts by loops",
                  eq_6_squared_change(a.y, a.w, dw, dy, eps, phi), x.sum(axis=2) ** 2, 1e-12),
            Equal("(7): right side against a sum over parts", right,
                  reference.squares(x, np.concatenate([eps, phi], axis=2)), 1e-12),
            AtMost("(7): squared change against the right side", change**2, right))
    one = cases.in_proportion(cases.affine(rng))
    first = eq_4_output_change(one.y, one.w, one.dw, one.dy)[0, 0]
    right = eq_7_jensen(one.y, one.w, one.dw, one.dy, one.eps, one.phi)[0, 0]
    # the change of this step or of the opposite one
    larger = abs(first) + abs(one.dy @ one.dw[:, 1:].T)[0, 0]
    return [*claims, Equal("equality where every part is in proportion to its fraction", right,
                           first**2, 1e-12),
            Counterexample(AtMost("the change itself, products of changes included, squared "
                                  "against the right side", larger**2, right, 1e-6)),
            Case(y=one.y, dw=one.dw, dy=one.dy, eps=one.eps, phi=one.phi)]


@equation(PAPER, "8",
          statement="The quadratics of an affine layer's outputs are at most the quadratics of "
                    "its weights and of its inputs.",
          formula=r"\sum_{s=1}^S \sum_{i=1}^{m_{\ell+1}} \mathcal{Y}_{si}^{(\ell+1)} \leq "
                  r"\sum_{i=1}^{m_{\ell+1}} \sum_{j=0}^{m_{\ell}} \mathcal{W}_{ij}^{(\ell)} + "
                  r"\sum_{s=1}^S \sum_{j=1}^{m_{\ell}} \mathcal{Y}_{sj}^{(\ell)}",
          kind="inequality", verdict="conditional", condition=(FIRST_ORDER, NOT_NEGATIVE),
          implements=(eq_8_bound_of_outputs, quadratic,
                      Stated(eq_9_coefficients, "W_dot", "W_ddot", "Y_dot", "Y_ddot")),
          uses=("7", "9"))
def equation_8(rng):
    def right_side(a, dw, dy):
        below = a.below()
        return eq_8_bound_of_outputs(quadratic(below.W_dot, below.W_ddot, dw),
                                     quadratic(below.Y_dot, below.Y_ddot, dy))

    rows = cases.affine_rows(rng)
    a = rows["four samples"]
    return [*(claim for name, one in rows.items()
              for claim in quadratics_bounded(one, rng, name, right_side)),
            Case(y=a.y, Y_dot=a.Y_dot, Y_ddot=a.Y_ddot, eps=a.eps)]


@equation(PAPER, "9",
          statement="First and second coefficients of the quadratics of the weights and inputs of "
                    "an affine layer.",
          uses=("4", "7"), kind="definition", verdict="holds",
          implements=(Stated(eq_9_coefficients, "W_dot", "W_ddot", "Y_dot", "Y_ddot"),))
def equation_9(rng):
    claims = []
    for row, a in cases.affine_rows(rng).items():
        below = a.below()
        claims += by_differences(a, row, 8, below, *below._fields[0 if a.layer.trainable else 2:])
        if a.layer.trainable:
            claims.append(AtMost("0 against W_ddot, although Y_dot has both signs", 0.0,
                                 below.W_ddot, case=row))
    return [*claims,
            Case(y=a.y, Y_dot_above=a.Y_dot, Y_ddot_above=a.Y_ddot, **below._asdict())]
