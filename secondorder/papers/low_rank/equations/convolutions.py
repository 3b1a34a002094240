"""The convolution by its patches, (44)-(53), (55)."""

import numpy as np

from ....ledger import Case, Counterexample, Equal, Printed, PrintedShape, Property, equation
from .. import PAPER, convolution
from . import by_layers, reference
from .cases import CLEAR, TOLERANCE, tolerance
from .conditions import COUNTING
from .convolution_cases import STRIDES, against, cases, convolution_case
from .reference import by_loops


@equation(PAPER, "44",
          statement="The layer: an activation of the kernel's sums over patches; the patch lacks "
                    "the index l, over which the kernel is summed.",
          formula=r"v_t^s = \mathcal{A}\left( (\tilde{x}_t^s)_k w_k^l \right)",
          corrected=r"v_t^s = \mathcal{A}\left( (\tilde{x}_t^s)_k^l w_k^l \right)",
          kind="definition", verdict="erratum", weight="extraction",
          implements=convolution.argument, uses=("45",))
def equation_44(rng):
    c = convolution_case(rng)
    without_l = np.einsum("stk,lk->stl", c.z[:, :, 0], c.w)  # a patch without l: its first row
    right = reference.values(by_loops(c.x, c.w, c.strides))
    return [*equation_46(rng),
            PrintedShape("sums over k alone keep l", without_l.shape, right.shape),
            Printed(Equal("what they give for every l, against loops over outputs and kernel",
                          without_l, np.repeat(right[:, :, None], c.w.shape[0], axis=2), CLEAR))]


@equation(PAPER, "46",
          statement="The layer: an activation of the kernel's sums over patches.",
          formula=r"v_t^s = \mathcal{A}(z_{tk}^{sl} w_k^l)",
          kind="definition", verdict="holds", implements=convolution.argument, uses=("44",))
def equation_46(rng):
    claims = []
    for name, c in cases(rng).items():
        value, allowed = reference.ACTIVATIONS[c.activation][0], tolerance(c.x.dtype)
        left = value(convolution.argument(c.z, c.w))
        claims += [Equal("against loops over outputs and kernel", left, reference.values(c.v),
                         allowed, case=name),
                   Equal("against Conv2d and Activation", left, c.of_layers().value, allowed,
                         case=name)]
    return [*claims, c.live()]


@equation(PAPER, "45",
          statement="What a patch holds; the text that was read lacks the index l on the left.",
          formula=r"(\tilde{x}_t^s)_k = x_{\tau t+k-1}^{\sigma s+l-1}",
          corrected=r"(\tilde{x}_t^s)_k^l = x_{\tau t+k-1}^{\sigma s+l-1}",
          condition=COUNTING,
          kind="definition", verdict="conditional", weight="extraction",
          implements=(convolution.patches, convolution.patches_as_printed,
                      convolution.output_shape), uses=())
def equation_45(rng):
    x, w = rng.normal(size=(7, 8)), rng.normal(size=(3, 2))
    right = reference.values(by_loops(x, w, STRIDES))
    cropped = reference.values(by_loops(x[STRIDES[0] - 1 :, STRIDES[1] - 1 :], w, STRIDES))
    left = convolution.argument(convolution.patches_as_printed(x, w.shape, STRIDES), w)
    stride_one = convolution.patches_as_printed(x, w.shape, (1, 1))
    both = tuple(slice(0, min(a, b)) for a, b in zip(left.shape, right.shape))
    z = convolution.patches(x, w.shape, STRIDES)
    by_index = [x[STRIDES[0] * s + l - 1, STRIDES[1] * t + k - 1]  # l and k from 1
                for s in range(z.shape[0]) for t in range(z.shape[1])
                for l in range(1, 4) for k in range(1, 3)]
    return [Equal("outputs from 0, kernel from 1: index by index", z.ravel(), by_index, 1e-15),
            Equal("the layer with these patches, against loops", convolution.argument(z, w), right,
                  TOLERANCE),
            Equal("the layer, against Conv2d", by_layers.convolution(x, w, STRIDES,
                                                                     "identity").value,
                  right, TOLERANCE),
            Property("number of outputs", convolution.output_shape(x.shape, w.shape, STRIDES),
                     right.shape),
            Equal("all from 1: the same layer on an input without its first rows and columns",
                  left, cropped, TOLERANCE),
            Counterexample(Equal("all from 1: the outputs that both have", left[both], right[both],
                                 CLEAR)),
            Equal("all from 1, at stride one: nothing is lost", convolution.argument(stride_one, w),
                  reference.values(by_loops(x, w, (1, 1))), TOLERANCE),
            Printed(Equal("a left side without l: one row of a patch for all its rows",
                          np.repeat(z[:, :, :1], 3, axis=2), z, CLEAR)),
            Case(x=x, w=w)]


@equation(PAPER, "47",
          statement="How outputs change with inputs; w must have z's index as its lower index.",
          formula=r"""\frac{\partial v_t^s}{\partial x_j^i} = \mathcal{A}'(z_{tk}^{sl} w_k^l)
                      w_p^m \frac{\partial z_{tq}^{sm}}{\partial x_j^i}""",
          corrected=r"""\frac{\partial v_t^s}{\partial x_j^i} = \mathcal{A}'(z_{tk}^{sl} w_k^l)
                        w_q^m \frac{\partial z_{tq}^{sm}}{\partial x_j^i}""",
          kind="identity", verdict="erratum", weight="misprint", implements=convolution.dv_dx,
          uses=("46",))
def equation_47(rng):
    claims = against(rng, lambda c: convolution.dv_dx(c.slope, c.w,
                                                      c.dz_dx), lambda c: c.first("x"))
    c = convolution_case(rng)
    literal = np.einsum("st,mp,stmqij->stij", c.slope, c.w, c.dz_dx)
    return [*claims, Printed(Equal("as printed, p and q summed each on its own", literal,
                                   c.first("x"), CLEAR))]


@equation(PAPER, "48",
          statement="A patch holds an input or it does not; the condition names p where the left "
                    "side has q.",
          formula=r"""\frac{\partial z_{tq}^{sm}}{\partial x_j^i} = \begin{cases} 1 & i
                      = \sigma s + m - 1 \text{ and } j = \tau t + p - 1 \\
                      0 & \text{else} \end{cases}""",
          corrected=r"""\frac{\partial z_{tq}^{sm}}{\partial x_j^i} = \begin{cases} 1 & i
                        = \sigma s + m - 1 \text{ and } j = \tau t + q - 1 \\
                        0 & \text{else} \end{cases}""",
          condition=COUNTING,
          kind="identity", verdict="erratum", weight="misprint",
          implements=convolution.patch_derivative, uses=("45",))
def equation_48(rng):
    c = convolution_case(rng)
    places = np.arange(c.x.size).reshape(c.x.shape)
    z = convolution.patches(places, c.w.shape, c.strides)
    by_place = (z[..., None, None] == places).astype(float)
    printed = condition_of_48(c, 0)  # indices s, t, m, p, i, j; q does not stand in it
    for_all_q = np.repeat(printed[:, :, :, None], c.w.shape[1], axis=3)
    left = np.repeat(c.dz_dx[:, :, :, :, None], c.w.shape[1], axis=4)
    return [Equal("against the numbers of the inputs in every patch", c.dz_dx, by_place, 1e-15),
            Equal("q for p, inputs and outputs from 0, kernel from 1", printed, by_place, 1e-15),
            Property("every entry of a patch is one input",
                     set(c.dz_dx.sum(axis=(4, 5)).ravel()), {1.0}),
            Printed(Equal("the printed condition, for every q beside every p", for_all_q, left,
                          CLEAR)),
            Counterexample(Equal("q for p, all from 1", condition_of_48(c, 1), by_place, CLEAR)),
            c.live()]


def condition_of_48(c, first):
    """1 where i = sigma s + m - 1 and j = tau t + p - 1, else 0; s, t, i, j counted from `first`,
    m and p from 1; indices s, t, m, p, i, j.
    """
    result = np.zeros(c.dz_dx.shape)
    for s, t, m, p, i, j in np.ndindex(result.shape):
        row = i + first == c.strides[0] * (s + first) + m + 1 - 1
        result[s, t, m, p, i, j] = row and j + first == c.strides[1] * (t + first) + p + 1 - 1
    return result


@equation(PAPER, "49",
          statement="How outputs change with the kernel: by the patch that it meets.",
          formula=r"""\frac{\partial v_t^s}{\partial w_q^p} = \mathcal{A}' (z_{tk}^{sl} w_k^l)
                      z_{tq}^{sp}""",
          kind="identity", verdict="holds", implements=convolution.dv_dw, uses=("46",))
def equation_49(rng):
    return against(rng, lambda c: convolution.dv_dw(c.slope, c.z), lambda c: c.first("w"))


def inputs_met(c, first):
    """x at (sigma s + p - 1, tau t + q - 1), indices s, t, p, q, with s, t and x's own counted from
    `first` and p, q from 1; nan where there is no such input.
    """
    result = np.full((*c.v.shape, *c.w.shape), np.nan)
    for s, t, p, q in np.ndindex(result.shape):
        i = c.strides[0] * (s + first) + p + 1 - 1 - first
        j = c.strides[1] * (t + first) + q + 1 - 1 - first
        if i < c.x.shape[0] and j < c.x.shape[1]:
            result[s, t, p, q] = c.x[i, j]
    return result


@equation(PAPER, "53",
          statement="(49) with the inputs themselves.",
          formula=r"""\frac{\partial v_t^s}{\partial w_q^p} = \mathcal{A}' \left(
                      (\tilde{x}_t^s)_k^l w_k^l \right) (\tilde{x}_t^s)_q^p = \mathcal{A}'
                      \left( (\tilde{x}_t^s)_k^l w_k^l \right) x_{\tau t+q-1}^{\sigma s+p-1}""",
          condition=COUNTING,
          kind="identity", verdict="conditional",
          implements=(convolution.dv_dw, convolution.patches), uses=("45", "49"))
def equation_53(rng):
    def literal(c, first):
        return c.slope[:, :, None, None] * inputs_met(c, first)

    return by_inputs(rng, lambda c, z: convolution.dv_dw(c.slope, z), literal,
                     lambda c: c.first("w"))


def by_inputs(rng, rule, literal, right):
    """Claims: the rule with patches, and ``literal(c, first)`` with the inputs themselves counted
    from `first`, against jets; from 1 it is wrong.
    """
    claims = []
    for name, c in cases(rng).items():
        scale, allowed = np.abs(reference.firsts(c.v)).max(), tolerance(c.x.dtype)
        claims += [Equal("inputs and outputs from 0, kernel from 1: against jets", literal(c, 0),
                         right(c), allowed, scale=scale, case=name),
                   Equal("the same with patches",
                         rule(c, convolution.patches(c.x, c.w.shape, c.strides)), right(c),
                         allowed, scale=scale, case=name)]
    c = convolution_case(rng)
    shifted = literal(c, 1)
    there = np.isfinite(shifted)
    return [*claims, Counterexample(Equal("all from 1, where there are such inputs",
                                          shifted[there], right(c)[there], CLEAR)), c.live()]


@equation(PAPER, "50",
          statement="Second derivatives in the inputs.",
          formula=r"""\frac{\partial^2 v_t^s}{\partial x_q^p \partial x_j^i}
                      = \mathcal{A}''(z_{tk}^{sl} w_k^l) w_r^m \frac{\partial
                      z_{tr}^{sm}}{\partial x_j^i} w_b^a \frac{\partial z_{tb}^{sa}}{\partial
                      x_q^p}""",
          kind="identity", verdict="holds", implements=convolution.d2v_dx_dx, uses=("47",))
def equation_50(rng):
    return against(rng, lambda c: convolution.d2v_dx_dx(c.second_derivative, c.w, c.dz_dx),
                   lambda c: c.second("x", "x"))


@equation(PAPER, "51",
          statement="Second derivatives in kernel and inputs.",
          formula=r"""\frac{\partial^2 v_t^s}{\partial w_q^p \partial x_j^i}
                      = \mathcal{A}'(z_{tk}^{sl} w_k^l) \frac{\partial z_{tq}^{sp}}{\partial
                      x_j^i} + \mathcal{A}''(z_{tk}^{sl} w_k^l) z_{tq}^{sp} w_r^m
                      \frac{\partial z_{tr}^{sm}}{\partial x_j^i}""",
          kind="identity", verdict="holds", implements=convolution.d2v_dw_dx, uses=("47", "49"))
def equation_51(rng):
    return against(rng, lambda c: convolution.d2v_dw_dx(c.slope, c.second_derivative, c.z, c.w,
                                                        c.dz_dx), lambda c: c.second("w", "x"))


@equation(PAPER, "55",
          statement="(52) with the inputs themselves.",
          formula=r"""\frac{\partial^2 v_t^s}{\partial w_q^p \partial w_b^a} = \mathcal{A}''
                      \left( (\tilde{x}_t^s)_k^l w_k^l \right) x_{\tau t+q-1}^{\sigma s+p-1}
                      x_{\tau t+b-1}^{\sigma s+a-1}""",
          condition=COUNTING,
          kind="identity", verdict="conditional", implements=convolution.d2v_dw_dw,
          uses=("45", "52"))
def equation_55(rng):
    def literal(c, first):
        met = inputs_met(c, first)
        return np.einsum("st,stpq,stab->stpqab", c.second_derivative, met, met)

    return by_inputs(rng, lambda c, z: convolution.d2v_dw_dw(c.second_derivative, z), literal,
                     lambda c: c.second("w", "w"))


@equation(PAPER, "52",
          statement="Second derivatives in the kernel.",
          formula=r"""\frac{\partial^2 v_t^s}{\partial w_q^p \partial w_b^a} = \mathcal{A}''
                      (z_{tk}^{sl} w_k^l) z_{tq}^{sp} z_{tb}^{sa}""",
          kind="identity", verdict="holds", implements=convolution.d2v_dw_dw, uses=("49",))
def equation_52(rng):
    return against(rng, lambda c: convolution.d2v_dw_dw(c.second_derivative, c.z),
                   lambda c: c.second("w", "w"))
