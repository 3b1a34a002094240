"""Equations (4)-(9): bounding through an affine layer, with any fractions."""

from itertools import product

import numpy as np

from ....ledger import AtMost, Case, Counterexample, Equal, Printed, Property, Stated, equation
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
          kind="approximation", verdict="holds", implements=(eq_4_output_change,), uses=())
def equation_4(rng):
    claims = []
    for name, a in cases.affine_rows(rng).items():
        w, _ = reference.matrix_of(a.layer, a.x.shape[1:])
        dw = np.zeros_like(w)
        dw[:, dw.shape[1] - a.y.shape[1]:] = a.dw
        first = eq_4_output_change(*a.changes)

        def output(t):
            moved = reference.with_first(1, a.x + t * a.dy)
            return np.array([[sum((w + t * dw)[i] * row) for i in range(len(w))] for row in moved])

        claims += in_case(
            name, Equal("output against a sum over inputs from j = 0", a.layer.forward(a.x)[0],
                        output(0), 1e-14),
            Equal("first-order change against sums over j", first,
                  reference.parts(*a.changes).sum(axis=2), 1e-14),
            Equal("what is left out against the product of both changes",
                  output(1.0) - output(0) - first, a.dy @ dw[:, 1:].T, 1e-12, scale=first))
    return [*claims, Case(y=a.y, w=w, dw=dw, dy=a.dy)]


@equation(PAPER, "5",
          statement="For every sample and output, the fractions for the weights and for the inputs "
                    "are not negative and add up to one.",
          kind="definition", verdict="definition",
          implements=(eq_5_sums_of_fractions, Stated(eq_10_fractions, "0", "1")), uses=())
def equation_5(rng):
    claims = []
    for name, a in cases.affine_rows(rng, first=None).items():
        for one in (a.at_best(), a):
            claims += in_case(
                name, Equal("sums over j against one", eq_5_sums_of_fractions(one.eps, one.phi),
                            np.ones(a.Y_dot.shape), 1e-13),
                AtMost("0 against eps and phi", 0.0, one.p))
        claims += [Property(f"some of it goes to the weights, {name} layer", bool(a.eps.any()),
                            name != "fixed"),
                   Property(f"some of it goes further down, {name} layer", bool(a.phi.any()),
                            name != "first")]
    return [*claims, Case(eps=a.eps, phi=a.phi)]


@equation(PAPER, "6", "7",
          statement="Every part of the squared change of an output is multiplied and divided by "
                    "its fraction. By Jensen's inequality the square is at most the sum of "
                    "squared parts, each over its fraction.",
          uses=("4", "5"), kind="inequality", verdict="conditional", condition=FIRST_ORDER,
          implements=(eq_6_squared_change, eq_7_jensen))
def equations_6_and_7(rng):
    claims = []
    for (row, a), best, size in product(cases.affine_rows(rng).items(), (False, True),
                                        (1.0, 0.01, 100.0)):
        a = a._replace(dw=size * rng.normal(size=a.dw.shape), dy=rng.normal(size=a.dy.shape))
        a = a.at_best() if best else a
        x, change = reference.parts(*a.changes), eq_4_output_change(*a.changes)
        square, right = (eq(*a.changes, a.eps, a.phi) for eq in (eq_6_squared_change, eq_7_jensen))
        claims += in_case(
            f"{'optimal' if best else 'arbitrary'}, {row}",
            Equal("(6): squared change against the square of the sum over parts", change**2,
                  square, 1e-12),
            Equal("(6): the sum over parts by loops", square, x.sum(axis=2) ** 2, 1e-12),
            Equal("(7): right side against a sum over parts", right, reference.squares(x, a.p),
                  1e-12),
            AtMost("(7): squared change against the right side", change**2, right))
    one = cases.in_proportion(cases.affine(rng))
    first = eq_4_output_change(*one.changes)[0, 0]
    right = eq_7_jensen(*one.changes, one.eps, one.phi)[0, 0]
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
          kind="inequality", verdict="conditional", condition=(FIRST_ORDER, NOT_NEGATIVE),
          implements=(eq_8_bound_of_outputs, quadratic,
                      Stated(eq_9_coefficients, "W_dot", "W_ddot", "Y_dot", "Y_ddot")),
          uses=("7", "9"))
def equation_8(rng):
    def right_side(a, dw, dy):
        W_dot, W_ddot, Y_dot, Y_ddot = a.below()
        return eq_8_bound_of_outputs(quadratic(W_dot, W_ddot, dw), quadratic(Y_dot, Y_ddot, dy))

    return quadratics_bounded(cases.affine_rows(rng), rng, right_side)


@equation(PAPER, "9",
          statement="First and second coefficients of the quadratics of the weights and inputs of "
                    "an affine layer.",
          uses=("4", "7"), kind="definition", verdict="holds",
          implements=(Stated(eq_9_coefficients, "W_dot", "W_ddot", "Y_dot", "Y_ddot"),))
def equation_9(rng):
    claims = []
    for row, a in cases.affine_rows(rng).items():
        below = a.below()._asdict()
        of_weights = a.layer.trainable
        claims += by_differences(a, row, 8, {name: one for name, one in below.items()
                                             if of_weights or "Y" in name})
        if of_weights:
            claims.append(AtMost("0 against W_ddot, although Y_dot has both signs", 0.0,
                                 below["W_ddot"], case=row))
    return [*claims, Case(y=a.y, Y_dot_above=a.Y_dot, Y_ddot_above=a.Y_ddot, **below)]


@equation(PAPER, "u-note-below-9",
          statement="What keeps the second coefficients from being negative, and the bound in its "
                    "direction, are second coefficients above that are not negative. In the text "
                    "that was read the first ones are asked for, which take both signs.",
          where="Section 3.1, the sentence below (9)", kind="claim", verdict="erratum",
          weight="extraction", ours=True, unnumbered=True, uses=("9",),
          implements=(Stated(eq_9_coefficients, "W_ddot", "Y_ddot"),))
def note_below_9(rng):
    claims = []
    for row, a in cases.affine_rows(rng).items():
        if row == "fixed":
            continue
        right = a.below()
        printed = a._replace(Y_dot=np.abs(a.Y_dot), Y_ddot=-a.Y_ddot).below()
        expected = reference.affine_coefficients(a)
        claims += in_case(
            row, Equal("W_ddot and Y_ddot against differences of the right side of (8)",
                       [*right.W_ddot.flat, *right.Y_ddot.flat],
                       [*expected[1].flat, *expected[3].flat], 1e-12),
            AtMost("Y_ddot >= 0 above, Y_dot of both signs: 0 against W_ddot and Y_ddot", 0.0,
                   [*right.W_ddot.flat, *right.Y_ddot.flat]),
            Printed(AtMost("Y_dot >= 0 above, Y_ddot < 0: 0 against W_ddot and Y_ddot", 0.0,
                           [*printed.W_ddot.flat, *printed.Y_ddot.flat])))
    return [*claims, Case(Y_dot_above=a.Y_dot, Y_ddot_above=a.Y_ddot, W_ddot=right.W_ddot,
                          Y_ddot=right.Y_ddot)]
