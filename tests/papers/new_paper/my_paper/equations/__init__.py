"""A check for each of the four displays; the gradients are those of a quadratic, y = H s."""

import math

import numpy as np

from ....ledger import Case, Equal, Printed, equation
from .. import PAPER
from ..eq_1_4_two_points import (eq_1_changes, eq_2_long_step, eq_3_short_step, eq_4_ratio,
                                 eq_4_ratio_as_printed)


def changes(rng):
    """A positive definite H and two points: s, and y = H s."""
    half, s = rng.normal(size=(4, 4)), rng.normal(size=4)
    return s, (half @ half.T + np.eye(4)) @ s


@equation(PAPER, "1", statement="Both changes are differences of two steps.",
          formula=r"s = \theta_k - \theta_{k-1}, \quad y = g_k - g_{k-1}",
          kind="definition", verdict="definition", implements=eq_1_changes)
def equation_1(rng):
    s, y = changes(rng)
    start, g = rng.normal(size=4), rng.normal(size=4)
    mine = eq_1_changes(start + s, start, g + y, g)
    return [Equal("the change of the parameters", mine[0], s, 1e-12),
            Equal("the change of the gradient", mine[1], y, 1e-12), Case(s=s, y=y)]


@equation(PAPER, "2", statement="The long step is the inverse of the number nearest to H along s.",
          formula=r"a = \frac{s^T s}{s^T y}", kind="optimality", verdict="holds",
          implements=eq_2_long_step)
def equation_2(rng):
    s, y = changes(rng)
    nearest = np.linalg.lstsq(s[:, None], y, rcond=None)[0][0]
    return [Equal("against a least-squares fit of y by s", eq_2_long_step(s, y), 1 / nearest,
                  1e-12), Case(s=s, y=y)]


@equation(PAPER, "3", statement="The short step is the number nearest to the inverse of H along y.",
          formula=r"b = \frac{s^T y}{y^T y}", kind="optimality", verdict="holds",
          implements=eq_3_short_step)
def equation_3(rng):
    s, y = changes(rng)
    nearest = np.linalg.lstsq(y[:, None], s, rcond=None)[0][0]
    return [Equal("against a least-squares fit of s by y", eq_3_short_step(s, y), nearest, 1e-12),
            Case(s=s, y=y)]


@equation(PAPER, "4", statement="The ratio of the steps is one over the squared cosine of phi, the "
                                "angle between s and y; the print has it upside down.",
          formula=r"a / b = \cos^2 \varphi", corrected=r"a / b = 1 / \cos^2 \varphi",
          kind="identity", verdict="erratum", weight="misprint", implements=eq_4_ratio,
          uses=("2", "3"))
def equation_4(rng):
    s, y = changes(rng)
    # the step along y, by the sums of (2) and (3) written out
    a = math.fsum(s * s) / math.fsum(s * y)
    ratio = a / (math.fsum(s * y) / math.fsum(y * y))
    return [Equal("the quotient of both steps", eq_4_ratio(s, y), ratio, 1e-12),
            Printed(Equal("upside down", eq_4_ratio_as_printed(s, y), ratio, 1e-12)),
            Case(s=s, y=y)]
