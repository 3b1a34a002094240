"""The convolution by cases, the entry of the kernel that an input meets: (54), (56), (57)."""

import numpy as np

from ....ledger import Equal, Printed, PrintedShape, equation
from .. import PAPER, convolution
from . import reference
from .cases import CLEAR, TOLERANCE
from .conditions import COUNTING
from .convolution_cases import STRIDES, against, convolution_case


@equation(PAPER, "54",
          statement="(47) by cases: the kernel's entry that an input meets; the print has no "
                    "upper bounds, so that it asks for entries beyond the kernel.",
          condition=COUNTING,
          kind="identity", verdict="erratum", weight="misprint",
          implements=(convolution.dv_dx_by_cases, convolution.kernel_at), uses=("47", "48"))
def equation_54(rng):
    claims = against(rng, lambda c: convolution.dv_dx_by_cases(c.slope, c.w, c.x.shape, c.strides),
                     lambda c: c.first("x"))
    return [*claims, *without_bounds(
        rng, lambda c, asked: c.slope[:, :, None, None] * asked, lambda c: c.first("x"))]


def without_bounds(rng, literal, right):
    """Claims on cases as printed, which ask for entries beyond the kernel: right if those are 0,
    wrong if the kernel goes on.
    """
    c = convolution_case(rng)
    scale = np.abs(reference.firsts(c.v)).max()
    return [PrintedShape("largest index that the print asks of the kernel, and the kernel",
                         largest_index(c), c.w.shape),
            Equal("the printed cases with 0 beyond the kernel, by loops",
                  literal(c, kernel_asked(c, 0.0)), right(c), TOLERANCE, scale=scale),
            Printed(Equal("the printed cases with a kernel that goes on with ones",
                          literal(c, kernel_asked(c, 1.0)), right(c), CLEAR, scale=scale))]


def largest_index(c):
    """How far the conditions of (54) and (57) let i + 1 - sigma s and j + 1 - tau t run."""
    places = np.argwhere(np.isfinite(kernel_asked(c, 1.0)))
    rows, columns = (places[:, 2 + axis] + 1 - c.strides[axis] * places[:, axis]
                     for axis in (0, 1))
    return int(rows.max()), int(columns.max())


def kernel_asked(c, beyond):
    """w at (i + 1 - sigma s, j + 1 - tau t), counted from 1, where both are positive, and `beyond`
    where the kernel has no such entry; 0 elsewhere; indices s, t, i, j from 0.
    """
    result = np.zeros((*c.v.shape, *c.x.shape))
    for s, t, i, j in np.ndindex(result.shape):
        m, r = i + 1 - c.strides[0] * s, j + 1 - c.strides[1] * t
        if m > 0 and r > 0:
            inside = m <= c.w.shape[0] and r <= c.w.shape[1]
            result[s, t, i, j] = c.w[m - 1, r - 1] if inside else beyond
    return result


@equation(PAPER, "56",
          statement="(51) by cases; as printed, entries where one of two indices agrees are 0.",
          condition=COUNTING,
          kind="identity", verdict="erratum", weight="substance",
          implements=(convolution.d2v_dw_dx_by_cases, convolution.d2v_dw_dx_as_printed),
          uses=("48", "51"))
def equation_56(rng):
    claims = against(rng, lambda c: convolution.d2v_dw_dx_by_cases(
        c.slope, c.second_derivative, c.w, c.x, c.strides), lambda c: c.second("w", "x"))
    c = convolution_case(rng)
    printed = convolution.d2v_dw_dx_as_printed(c.slope, c.second_derivative, c.w, c.x, c.strides)
    right, (s, t, p, q, i, j) = c.second("w", "x"), np.indices(printed.shape)
    one_agrees = (i - STRIDES[0] * s == p) != (j - STRIDES[1] * t == q)
    return [*claims, Printed(Equal("as printed, against jets", printed, right, CLEAR)),
            Equal("as printed, where both indices agree or neither does", printed[~one_agrees],
                  right[~one_agrees], TOLERANCE)]


@equation(PAPER, "57",
          statement="(50) by cases; the print has no upper bounds.",
          condition=COUNTING,
          kind="identity", verdict="erratum", weight="misprint",
          implements=convolution.d2v_dx_dx_by_cases, uses=("48", "50"))
def equation_57(rng):
    claims = against(rng, lambda c: convolution.d2v_dx_dx_by_cases(
        c.second_derivative, c.w, c.x.shape, c.strides), lambda c: c.second("x", "x"))
    return [*claims, *without_bounds(
        rng, lambda c, asked: np.einsum("st,stpq,stij->stpqij", c.second_derivative, asked, asked),
        lambda c: c.second("x", "x"))]
