"""Lemma 3 and its proof, equations (19)-(24): which point of the simplex is best."""

import numpy as np

from ....exact.finite_differences import complex_step
from ....ledger import AtMost, Case, Equal, Printed, Property, equation
from .. import PAPER
from ..section_7_3_proof_of_theorem_2 import (
    eq_19_lemma_3, eq_20_softmax, eq_21_derivatives, eq_22_as_printed, eq_22_gradient,
    eq_23_where_all_are_equal, eq_24_constant)
from .claims import in_case
from .reference import minimise_over_fractions, shares, weighted_squares


def simplex_case(rng, n=5):
    """Numbers x of both signs, none near zero, and a point far from their optimum."""
    x = rng.uniform(0.3, 2.0, n) * rng.choice([-1.0, 1.0], n)
    return x, softmax_by_hand(np.log(np.abs(x)) + rng.permutation(np.linspace(-1, 1, n)))


def objective(x, p):
    """sum_i x_i^2 / p_i."""
    return sum(x[i] ** 2 / p[i] for i in range(len(x)))


def softmax_by_hand(eta):
    """Eq. (20) as it stands; complex numbers are allowed."""
    return np.exp(eta) / sum(np.exp(e) for e in eta)


def slope(x, p):
    """Gradient of the objective in eta = log p, by a complex step."""
    return complex_step(lambda eta: objective(x, softmax_by_hand(eta)), np.log(p))


@equation(PAPER, "19", "lemma-3",
          statement="On the simplex a sum of x^2 / p is least where p is proportional to |x|; "
                    "where x is zero so is p, with 0/0 = 0.",
          kind="optimality", verdict="holds", implements=(eq_19_lemma_3,),
          uses=("20", "22", "23"))
def lemma_3(rng):
    claims = []
    for n in (2, 3, 6):
        x, _ = simplex_case(rng, n)
        best = eq_19_lemma_3(x)
        near = [best * np.exp(scale * rng.normal(size=n)) for scale in np.geomspace(1e-3, 1, 100)]
        others = [objective(x, p / p.sum()) for p in [*near, *rng.dirichlet(np.ones(n), 100)]]
        _, (nearest,) = minimise_over_fractions(weighted_squares(np.ones(()), x), [x != 0], rng)
        claims += in_case(
            f"n = {n}", Equal("optimum against |x| over the sum of |x|", best, shares(x), 1e-14),
            Equal("optimum against a numerical minimiser", best, nearest, 1e-5),
            AtMost("value there against values at other points", objective(x, best), others),
            Equal("value there against (sum |x|)^2", objective(x, best), sum(map(abs, x)) ** 2,
                  1e-13))
    x[::2] = 0
    best, p = eq_19_lemma_3(x), rng.dirichlet(np.ones(n))
    return [*claims, Property("with zeros: where x = 0, p = 0", not best[::2].any()),
            AtMost("with zeros: value against that at a point inside",
                   objective(x[1::2], best[1::2]), objective(x, p)),
            Case(x=x, p=best)]


@equation(PAPER, "20", "21",
          statement="Unconstrained numbers eta make a point of the simplex, the softmax, which has "
                    "these derivatives.",
          kind="identity", verdict="holds",
          implements=(eq_20_softmax, eq_21_derivatives), uses=())
def equations_20_and_21(rng):
    eta, p = rng.normal(size=(3, 5)) * 2, rng.dirichlet(np.ones(5))
    softmax = eq_20_softmax(eta)
    return [Equal("(20): softmax of several rows against its formula, row by row", softmax,
                  [softmax_by_hand(row) for row in eta], 1e-14),
            Equal("(20): every inner point is reached, softmax of log p",
                  eq_20_softmax(np.log(p)), p, 1e-13),
            Equal("(21): derivatives against a complex step", eq_21_derivatives(softmax[0]),
                  # p_i - p_i^2 cancels where p_i is near 1
                  complex_step(softmax_by_hand, eta[0]), 1e-14, scale=softmax[0]),
            Case(eta=eta, p=softmax, derivative=eq_21_derivatives(softmax[0]))]


@equation(PAPER, "22",
          statement="Gradient of the lemma's objective in eta; the last form has its sign turned "
                    "round.",
          kind="identity", verdict="erratum", weight="misprint",
          implements=(eq_22_gradient, eq_22_as_printed), uses=("21",))
def equation_22(rng):
    x, p = simplex_case(rng)
    expected, derivative, printed = slope(x, p), eq_21_derivatives(p), eq_22_as_printed(x, p)
    middle = [sum(-x[k] ** 2 / p[k] ** 2 * derivative[k, i] for k in range(x.size))
              for i in range(x.size)]
    return [Equal("corrected form against a complex step", eq_22_gradient(x, p), expected, 1e-12),
            Equal("middle form against a complex step", middle, expected, 1e-12),
            Printed(Equal("last form against a complex step", printed, expected, 1e-3)),
            Equal("last form, as printed, against minus it", printed, -expected, 1e-12),
            Case(x=x, p=p, gradient=expected)]


@equation(PAPER, "23", "24",
          statement="The gradient is zero where all x^2 / p^2 are equal, and at p proportional to "
                    "|x| all of them are the squared sum of |x|.",
          kind="proof-step", verdict="holds",
          implements=(eq_23_where_all_are_equal, eq_24_constant, eq_22_gradient, eq_19_lemma_3),
          uses=("22",))
def equations_23_and_24(rng):
    x, elsewhere = simplex_case(rng)
    best, c, zeros = eq_19_lemma_3(x), sum(map(abs, x)) ** 2, np.zeros(x.size)
    # off the simplex, where the sum of p is not 1, (23) does not vanish by itself
    p, d = 0.3 * elsewhere, rng.uniform(0.5, 2.0)
    return [Equal("(24): x^2 / p^2 against (sum |x|)^2", x**2 / best**2, np.full(x.size, c), 1e-13),
            Equal("(24): (sum |x|)^2 by loops", eq_24_constant(x), c, 1e-13),
            Equal("(23): zero at a point of the simplex, on the scale of c",
                  eq_23_where_all_are_equal(elsewhere, c), zeros, 1e-13, scale=c),
            Equal("(23): p_i (c - sum p c) by loops, off the simplex",
                  eq_23_where_all_are_equal(p, d), [q * (d - sum(r * d for r in p)) for q in p],
                  1e-13),
            Equal("(23): gradient at p proportional to |x|, on the scale of c",
                  eq_22_gradient(x, best), zeros, 1e-13, scale=c),
            Equal("(23): elsewhere it is not zero, but a complex step's",
                  eq_22_gradient(x, elsewhere), slope(x, elsewhere), 1e-12),
            Case(x=x, p=best, c=c)]
