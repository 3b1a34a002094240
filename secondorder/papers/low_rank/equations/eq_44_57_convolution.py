"""The convolution by its patches, (44)-(53), (55), and by cases, (54), (56), (57)."""

import numpy as np

from ....ledger import Case, Counterexample, Equal, Printed, PrintedShape, Property, equation
from ....nets import Conv2d
from .. import PAPER
from .. import eq_44_57_convolution as eq
from . import reference
from .cases import CLEAR, TOLERANCE
from .conditions import COUNTING
from .layer_cases import STRIDES, against, convolution_case, convolutions
from .reference import by_loops


def loops(x, w, strides):
    """The arguments of the activation, as numbers."""
    variables = reference.Variables({"x": x, "w": w})
    return reference.values(by_loops(variables["x"], variables["w"], strides))


@equation(PAPER, "44",
          statement="The layer: an activation of the kernel's sums over patches; the patch lacks "
                    "the index l, over which the kernel is summed.",
          kind="definition", verdict="erratum", weight="extraction",
          implements=eq.eq_44_46_argument, uses=("45",))
def equation_44(rng):
    c = convolution_case(rng).of
    without_l = np.einsum("stk,lk->stl", c.z[:, :, 0], c.w)  # a patch without l: its first row
    right = loops(c.x, c.w, c.strides)
    return [*equation_46(rng),
            PrintedShape("sums over k alone keep l", without_l.shape, right.shape),
            Printed(Equal("what they give for every l, against loops over outputs and kernel",
                          without_l, np.repeat(right[:, :, None], c.w.shape[0], axis=2), CLEAR))]


@equation(PAPER, "46",
          statement="The layer: an activation of the kernel's sums over patches.",
          kind="definition", verdict="holds", implements=eq.eq_44_46_argument, uses=("44",))
def equation_46(rng):
    cases = convolutions(rng)
    return [*(Equal("arguments of the activation against loops over outputs and kernel",
                    eq.eq_44_46_argument(case.of.z, case.w), loops(case.x, case.w, case.of.strides),
                    case.tolerance, case=name) for name, case in cases.items()),
            next(iter(cases.values())).live()]


@equation(PAPER, "45",
          statement="What a patch holds; the text that was read lacks the index l on the left.",
          condition=COUNTING,
          kind="definition", verdict="conditional", weight="extraction",
          implements=(eq.eq_45_patches, eq.eq_45_as_printed,
                      eq.places), uses=())
def equation_45(rng):
    x, w = rng.normal(size=(7, 8)), rng.normal(size=(3, 2))
    right, cropped = loops(x, w, STRIDES), loops(x[STRIDES[0] - 1:, STRIDES[1] - 1:], w, STRIDES)
    left = eq.eq_44_46_argument(eq.eq_45_as_printed(x, w.shape, *STRIDES), w)
    both = tuple(slice(0, min(a, b)) for a, b in zip(left.shape, right.shape))
    z = eq.eq_45_patches(x, w.shape, *STRIDES)
    by_index = [x[STRIDES[0] * s + l - 1, STRIDES[1] * t + k - 1]  # l and k from 1
                for s, t in np.ndindex(z.shape[:2]) for l in range(1, 4) for k in range(1, 3)]
    return [Equal("outputs from 0, kernel from 1: index by index", z.ravel(), by_index, 1e-15),
            Equal("the layer with these patches, against loops", eq.eq_44_46_argument(z, w), right,
                  TOLERANCE),
            Property("number of outputs", eq.places(x.shape, w.shape, *STRIDES), right.shape),
            Equal("all from 1: the same layer on an input without its first rows and columns",
                  left, cropped, TOLERANCE),
            Counterexample(Equal("all from 1: the outputs that both have", left[both], right[both],
                                 CLEAR)),
            Printed(Equal("a left side without l: one row of a patch for all its rows",
                          np.repeat(z[:, :, :1], 3, axis=2), z, CLEAR)),
            Case(x=x, w=w)]


@equation(PAPER, "47",
          statement="How outputs change with inputs; w must have z's index as its lower index.",
          kind="identity", verdict="erratum", weight="misprint", implements=eq.eq_47_dv_dx,
          uses=("46",))
def equation_47(rng):
    case = convolution_case(rng)
    literal = np.einsum("st,mp,stmqij->stij", case.of.slope, case.w, case.of.dz_dx)
    return [*against(convolutions(rng), lambda c: eq.eq_47_dv_dx(c.slope, c.w, c.dz_dx), "x"),
            Printed(Equal("as printed, p and q summed each on its own", literal, case.d("x"),
                          CLEAR))]


@equation(PAPER, "48",
          statement="A patch holds an input or it does not; the condition names p where the left "
                    "side has q.",
          condition=COUNTING,
          kind="identity", verdict="erratum", weight="misprint",
          implements=eq.eq_48_dz_dx, uses=("45",))
def equation_48(rng):
    case = convolution_case(rng)
    c, q_count, places = case.of, case.w.shape[1], np.arange(case.x.size).reshape(case.x.shape)

    def where(z):
        """1 where an input, told by its number, stands in z; indices s, t, m, q (or p), i, j."""
        return (z[..., None, None] == places).astype(float)

    by_place = where(eq.eq_45_patches(places, c.w.shape, *c.strides))
    printed = where(inputs_met(c, places, 0))  # has p where the left side has q
    return [Equal("against the numbers of the inputs in every patch", c.dz_dx, by_place, 1e-15),
            Equal("q for p, inputs and outputs from 0, kernel from 1", printed, by_place, 1e-15),
            Property("every entry of a patch is one input",
                     set(c.dz_dx.sum(axis=(4, 5)).ravel()), {1.0}),
            Printed(Equal("the printed condition, for every q beside every p",
                          np.repeat(printed[:, :, :, None], q_count, axis=3),
                          np.repeat(c.dz_dx[:, :, :, :, None], q_count, axis=4), CLEAR)),
            Counterexample(Equal("q for p, all from 1", where(inputs_met(c, places, 1)), by_place,
                                 CLEAR)),
            case.live()]


def inputs_met(c, x, first):
    """x at (sigma s + p - 1, tau t + q - 1), indices s, t, p, q, with s, t and x's own counted from
    `first` and p, q from 1; nan where there is no such input.
    """
    result = np.full(c.z.shape, np.nan)
    for s, t, p, q in np.ndindex(result.shape):
        i = c.strides[0] * (s + first) + p + 1 - 1 - first
        j = c.strides[1] * (t + first) + q + 1 - 1 - first
        if i < x.shape[0] and j < x.shape[1]:
            result[s, t, p, q] = x[i, j]
    return result


@equation(PAPER, "49",
          statement="How outputs change with the kernel: by the patch that it meets.",
          kind="identity", verdict="holds", implements=eq.eq_49_dv_dw, uses=("46",))
def equation_49(rng):
    return against(convolutions(rng), lambda c: eq.eq_49_dv_dw(c.slope, c.z), "w")


@equation(PAPER, "53",
          statement="(49) with the inputs themselves.",
          condition=COUNTING,
          kind="identity", verdict="conditional",
          implements=(eq.eq_49_dv_dw, eq.eq_45_patches), uses=("45", "49"))
def equation_53(rng):
    return by_inputs(rng, lambda c, z: eq.eq_49_dv_dw(c.slope, z),
                     lambda c, met: c.slope[:, :, None, None] * met, "w")


def by_inputs(rng, rule, literal, *names):
    """Claims: the rule with patches, and ``literal(c, inputs)`` with the inputs themselves, against
    jets; with all indices from 1 it is wrong.
    """
    claims = []
    for name, case in convolutions(rng).items():
        scale, c, right = np.abs(case.d("x")).max(), case.of, case.d(*names)
        patches = eq.eq_45_patches(c.x, c.w.shape, *c.strides)
        claims += [Equal("inputs and outputs from 0, kernel from 1: against jets",
                         literal(c, inputs_met(c, c.x, 0)), right, case.tolerance, scale, name),
                   Equal("the same with patches", rule(c, patches), right, case.tolerance, scale,
                         name)]
    shifted = literal(c, inputs_met(c, c.x, 1))
    there = np.isfinite(shifted)
    return [*claims, Counterexample(Equal("all from 1, where there are such inputs",
                                          shifted[there], right[there], CLEAR)), case.live()]


@equation(PAPER, "50",
          statement="Second derivatives in the inputs.",
          kind="identity", verdict="holds", implements=eq.eq_50_dx_dx, uses=("47",))
def equation_50(rng):
    return against(convolutions(rng), lambda c: eq.eq_50_dx_dx(c.bend, c.w, c.dz_dx), "x", "x")


@equation(PAPER, "51",
          statement="Second derivatives in kernel and inputs.",
          kind="identity", verdict="holds", implements=eq.eq_51_dw_dx, uses=("47", "49"))
def equation_51(rng):
    return against(convolutions(rng),
                   lambda c: eq.eq_51_dw_dx(c.slope, c.bend, c.z, c.w, c.dz_dx), "w", "x")


@equation(PAPER, "55",
          statement="(52) with the inputs themselves.",
          condition=COUNTING,
          kind="identity", verdict="conditional", implements=eq.eq_52_dw_dw,
          uses=("45", "52"))
def equation_55(rng):
    return by_inputs(rng, lambda c, z: eq.eq_52_dw_dw(c.bend, z),
                     lambda c, met: np.einsum("st,stpq,stab->stpqab", c.bend, met, met), "w", "w")


@equation(PAPER, "52",
          statement="Second derivatives in the kernel.",
          kind="identity", verdict="holds", implements=eq.eq_52_dw_dw, uses=("49",))
def equation_52(rng):
    return against(convolutions(rng), lambda c: eq.eq_52_dw_dw(c.bend, c.z), "w", "w")


@equation(PAPER, "54",
          statement="(47) by cases: the kernel's entry that an input meets; the print has no "
                    "upper bounds, so that it asks for entries beyond the kernel.",
          condition=COUNTING,
          kind="identity", verdict="erratum", weight="misprint",
          implements=(eq.eq_54_dv_dx, eq.kernel_on_image), uses=("47", "48"))
def equation_54(rng):
    return [*against(convolutions(rng), lambda c: eq.eq_54_dv_dx(c.slope, c.on_x), "x"),
            *without_bounds(rng, lambda c, asked: c.slope[:, :, None, None] * asked, "x")]


def without_bounds(rng, literal, *names):
    """Claims on cases as printed, which ask for entries beyond the kernel: right if those are 0,
    wrong if the kernel goes on.
    """
    case = convolution_case(rng)
    scale, c, right = np.abs(case.d("x")).max(), case.of, case.d(*names)
    return [PrintedShape("largest index that the print asks of the kernel, and the kernel",
                         largest_index(c), c.w.shape),
            Equal("the printed cases with 0 beyond the kernel, by loops",
                  literal(c, kernel_asked(c, 0.0)), right, TOLERANCE, scale),
            Printed(Equal("the printed cases with a kernel that goes on with ones",
                          literal(c, kernel_asked(c, 1.0)), right, CLEAR, scale))]


def largest_index(c):
    """How far the conditions of (54) and (57) let i + 1 - sigma s and j + 1 - tau t run."""
    places = np.argwhere(kernel_asked(c, 1.0))
    rows, columns = (places[:, 2 + axis] + 1 - c.strides[axis] * places[:, axis]
                     for axis in (0, 1))
    return int(rows.max()), int(columns.max())


def kernel_asked(c, beyond):
    """w at (i + 1 - sigma s, j + 1 - tau t), counted from 1, where both are positive, and `beyond`
    where the kernel has no such entry; 0 elsewhere; indices s, t, i, j from 0.
    """
    result = np.zeros((*c.slope.shape, *c.x.shape))
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
          implements=(eq.eq_56_dw_dx, eq.eq_56_as_printed),
          uses=("48", "51"))
def equation_56(rng):
    def arguments(c):
        return c.slope, c.bend, c.z, c.on_x, *c.strides

    case = convolution_case(rng)
    printed, right = eq.eq_56_as_printed(*arguments(case.of)), case.d("w", "x")
    s, t, p, q, i, j = np.indices(printed.shape)
    one_agrees = (i - STRIDES[0] * s == p) != (j - STRIDES[1] * t == q)
    return [*against(convolutions(rng), lambda c: eq.eq_56_dw_dx(*arguments(c)), "w", "x"),
            Printed(Equal("as printed, against jets", printed, right, CLEAR)),
            Equal("as printed, where both indices agree or neither does", printed[~one_agrees],
                  right[~one_agrees], TOLERANCE)]


@equation(PAPER, "57",
          statement="(50) by cases; the print has no upper bounds.",
          condition=COUNTING,
          kind="identity", verdict="erratum", weight="misprint",
          implements=eq.eq_57_dx_dx, uses=("48", "50"))
def equation_57(rng):
    return [*against(convolutions(rng), lambda c: eq.eq_57_dx_dx(c.bend, c.on_x), "x", "x"),
            *without_bounds(rng, lambda c, asked: np.einsum("st,stpq,stij->stpqij", c.bend, asked,
                                                            asked), "x", "x")]


@equation(PAPER, "extension-channels",
          where="appendix B.2.1 has one channel",
          statement="More channels: the index of the kernel becomes (channel, row, column), and "
                    "every output channel stands alone.",
          kind="identity", verdict="holds", ours=True,
          implements=(eq.many_channels, Conv2d.forward),
          uses=("46",))
def extension_channels(rng):
    x, w, b = rng.normal(size=(2, 5, 6)), rng.normal(size=(3, 2, 2, 3)), rng.normal(size=3)
    by_channel = np.array([sum(loops(x[c], w[o, c], (2, 1)) for c in range(2)) + b[o]
                           for o in range(3)])
    layer = Conv2d(2, 3, (2, 3), (2, 1))
    layer.weight, layer.bias = w, b
    return [Equal("against loops, channel by channel", eq.many_channels(x, w, b, 2, 1), by_channel,
                  TOLERANCE),
            Equal("Conv2d against them", layer.forward(x[None])[0][0], by_channel, TOLERANCE),
            Case(x=x, w=w, b=b)]
