"""The convolution, (44)-(57): one channel, an activation, any strides."""

from typing import NamedTuple

import numpy as np

from ....ledger import (Case, Condition, Counterexample, Equal, Printed, PrintedShape, Property,
                        equation)
from ....nets import Conv2d
from .. import PAPER, convolution
from . import by_layers, reference
from .cases import CLEAR, TOLERANCE

STRIDES = (2, 3)
COUNTING = Condition("counting from 0 and from 1",
                     "Inputs and outputs are counted from 0, the entries of the kernel from 1. "
                     "(With all of them from 1, strides above 1 never see the first rows and "
                     "columns.)")


class ConvolutionCase(NamedTuple):
    """Input, kernel and strides; slopes and second derivatives at the arguments; the outputs as
    jets in (x, w).
    """

    x: np.ndarray
    w: np.ndarray
    strides: tuple
    z: np.ndarray
    slope: np.ndarray
    bend: np.ndarray
    dz_dx: np.ndarray
    v: np.ndarray  # jets
    activation: str

    def of_layers(self):
        """The same derivatives from the passes of `Conv2d` and `Activation`."""
        return by_layers.convolution(self.x, self.w, self.strides, self.activation)

    def first(self, of):
        return self._cut(reference.firsts(self.v), 2, of)

    def second(self, left, right):
        return self._cut(self._cut(reference.seconds(self.v), 3, right), 2, left)

    def _cut(self, array, axis, of):
        array = np.moveaxis(array, axis, -1)
        part = array[..., : self.x.size] if of == "x" else array[..., self.x.size :]
        part = part.reshape(*part.shape[:-1], *(self.x if of == "x" else self.w).shape)
        return np.moveaxis(part, (-2, -1), (axis, axis + 1))

    def live(self):
        return Case(x=self.x, w=self.w, strides=np.array(self.strides), v=reference.values(self.v))


def by_loops(x, w, strides):
    """Arguments of the activation, output by output, as jets in all entries of x and w."""
    x, w = reference.variables(x, w)
    counts = [(n - k) // stride + 1 for n, k, stride in zip(x.shape, w.shape, strides)]
    found = np.empty(counts, dtype=object)
    for s, t in np.ndindex(*counts):
        found[s, t] = 0.0
        for l, k in np.ndindex(w.shape):
            found[s, t] = w[l, k] * x[strides[0] * s + l, strides[1] * t + k] + found[s, t]
    return found


def convolution_case(rng, activation="tanh", strides=STRIDES, x_shape=(6, 5), w_shape=(3, 2)):
    """A random :class:`ConvolutionCase`; the kernel fits more than once in both directions."""
    f, some = reference.ACTIVATIONS[activation], False
    while not some:  # a ReLU that is neither dead everywhere nor live everywhere
        x, w = rng.normal(size=x_shape), rng.normal(size=w_shape)
        arguments = by_loops(x, w, strides)
        slopes = f[1](reference.values(arguments))
        some = slopes.any() and (activation != "relu" or not slopes.all())
    v = np.empty(arguments.shape, dtype=object)
    for index in np.ndindex(v.shape):
        v[index] = arguments[index].through(*f)
    z = convolution.patches(x, w_shape, strides)
    at = reference.values(arguments)
    return ConvolutionCase(x, w, strides, z, f[1](at), f[2](at),
                           convolution.patch_derivative(x_shape, w_shape, strides), v, activation)


def cases(rng):
    """Strides above one, strides one, and a piecewise-linear activation."""
    return {"tanh, strides 2 and 3": convolution_case(rng),
            "softplus, strides 1": convolution_case(rng, "softplus", (1, 1), (4, 4), (2, 3)),
            "ReLU, strides 3 and 1": convolution_case(rng, "relu", (3, 1), (7, 3), (3, 2))}


def against(rng, compute, expected):
    """Two claims a case: what the room computes against the jets, and against the layer classes."""
    found, claims = cases(rng), []
    for name, c in found.items():
        scale = np.abs(reference.firsts(c.v)).max()
        claims += [Equal("against jets", compute(c), expected(c), TOLERANCE, scale=scale,
                         case=name),
                   Equal("against Conv2d and Activation", compute(c), expected(c.of_layers()),
                         TOLERANCE, scale=scale, case=name)]
    return [*claims, found["tanh, strides 2 and 3"].live()]


@equation(
    PAPER, "44",
    statement="The layer: an activation of the kernel's sums over patches; the patch lacks the "
              "index l, over which the kernel is summed.",
    formula=r"v_t^s = \mathcal{A}\left( (\tilde{x}_t^s)_k w_k^l \right)",
    corrected=r"v_t^s = \mathcal{A}\left( (\tilde{x}_t^s)_k^l w_k^l \right)",
    kind="definition",
    verdict="erratum",
    weight="extraction",
    implements=(convolution.argument,),
)
def layer_without_an_index(rng):
    c = convolution_case(rng)
    made = convolution.argument(c.z, c.w)
    without_l = np.einsum("stk,lk->stl", c.z[:, :, 0], c.w)  # a patch without l: its first row
    return [*layer(rng), PrintedShape("sums over k alone keep l", without_l.shape, made.shape),
            Printed(Equal("what they give for every l, against loops over outputs and kernel",
                          without_l, np.repeat(reference.values(by_loops(c.x, c.w, c.strides))[
                              :, :, None], c.w.shape[0], axis=2), CLEAR))]


@equation(
    PAPER, "46",
    statement="The layer: an activation of the kernel's sums over patches.",
    formula=r"v_t^s = \mathcal{A}(z_{tk}^{sl} w_k^l)",
    kind="definition",
    verdict="holds",
    implements=(convolution.argument,),
)
def layer(rng):
    c = convolution_case(rng)
    made = reference.ACTIVATIONS["tanh"][0](convolution.argument(c.z, c.w))
    what = "against loops over outputs and kernel"
    return [Equal(what, made, reference.values(c.v), TOLERANCE),
            Equal("against Conv2d and Activation", made, c.of_layers().value, TOLERANCE), c.live()]


@equation(
    PAPER, "45",
    statement="What a patch holds; the text that was read lacks the index l on the left.",
    formula=r"(\tilde{x}_t^s)_k = x_{\tau t+k-1}^{\sigma s+l-1}",
    corrected=r"(\tilde{x}_t^s)_k^l = x_{\tau t+k-1}^{\sigma s+l-1}",
    kind="definition",
    verdict="conditional",
    condition=COUNTING,
    weight="extraction",
    implements=(convolution.patches, convolution.patches_as_printed, convolution.output_shape),
)
def patches(rng):
    x, w = rng.normal(size=(7, 8)), rng.normal(size=(3, 2))
    right = reference.values(by_loops(x, w, STRIDES))
    cropped = reference.values(by_loops(x[STRIDES[0] - 1 :, STRIDES[1] - 1 :], w, STRIDES))
    made = convolution.argument(convolution.patches_as_printed(x, w.shape, STRIDES), w)
    stride_one = convolution.patches_as_printed(x, w.shape, (1, 1))
    both = tuple(slice(0, min(a, b)) for a, b in zip(made.shape, right.shape))
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
                  made, cropped, TOLERANCE),
            Counterexample(Equal("all from 1: the outputs that both have", made[both], right[both],
                                 CLEAR)),
            Equal("all from 1, at stride one: nothing is lost", convolution.argument(stride_one, w),
                  reference.values(by_loops(x, w, (1, 1))), TOLERANCE),
            Printed(Equal("a left side without l: one row of a patch for all its rows",
                          np.repeat(z[:, :, :1], 3, axis=2), z, CLEAR)),
            Case(x=x, w=w)]


@equation(
    PAPER, "47",
    statement="How outputs change with inputs; the lower index of w must be that of z.",
    formula=r"\frac{\partial v_t^s}{\partial x_j^i} = \mathcal{A}'(z_{tk}^{sl} w_k^l) w_p^m "
            r"\frac{\partial z_{tq}^{sm}}{\partial x_j^i}",
    corrected=r"\frac{\partial v_t^s}{\partial x_j^i} = \mathcal{A}'(z_{tk}^{sl} w_k^l) w_q^m "
              r"\frac{\partial z_{tq}^{sm}}{\partial x_j^i}",
    kind="identity",
    verdict="erratum",
    weight="misprint",
    implements=(convolution.dv_dx,),
)
def inputs(rng):
    claims = against(rng, lambda c: convolution.dv_dx(c.slope, c.w,
                                                      c.dz_dx), lambda c: c.first("x"))
    c = convolution_case(rng)
    literal = np.einsum("st,mp,stmqij->stij", c.slope, c.w, c.dz_dx)
    return [*claims, Printed(Equal("as printed, p and q summed each on its own", literal,
                                   c.first("x"), CLEAR))]


@equation(
    PAPER, "48",
    statement="A patch holds an input or it does not; the condition names p where the left side "
              "has q.",
    formula=r"\frac{\partial z_{tq}^{sm}}{\partial x_j^i} = \begin{cases} 1 & i = \sigma s + m - "
            r"1 \text{ and } j = \tau t + p - 1 \\ 0 & \text{else} \end{cases}",
    corrected=r"\frac{\partial z_{tq}^{sm}}{\partial x_j^i} = \begin{cases} 1 & i = \sigma s + m - "
              r"1 \text{ and } j = \tau t + q - 1 \\ 0 & \text{else} \end{cases}",
    condition=COUNTING,
    kind="identity",
    verdict="erratum",
    weight="misprint",
    implements=(convolution.patch_derivative,),
)
def patch_derivative(rng):
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
    found = np.zeros(c.dz_dx.shape)
    for s, t, m, p, i, j in np.ndindex(found.shape):
        row = i + first == c.strides[0] * (s + first) + m + 1 - 1
        found[s, t, m, p, i, j] = row and j + first == c.strides[1] * (t + first) + p + 1 - 1
    return found


@equation(
    PAPER, "49",
    statement="How outputs change with the kernel: by the patch that it meets.",
    formula=r"\frac{\partial v_t^s}{\partial w_q^p} = \mathcal{A}' (z_{tk}^{sl} w_k^l) "
            r"z_{tq}^{sp}",
    kind="identity",
    verdict="holds",
    implements=(convolution.dv_dw,),
)
def kernel(rng):
    return against(rng, lambda c: convolution.dv_dw(c.slope, c.z), lambda c: c.first("w"))


def inputs_met(c, first):
    """x at (sigma s + p - 1, tau t + q - 1), indices s, t, p, q, with s, t and x's own counted from
    `first` and p, q from 1; nan where there is no such input.
    """
    found = np.full((*c.v.shape, *c.w.shape), np.nan)
    for s, t, p, q in np.ndindex(found.shape):
        i = c.strides[0] * (s + first) + p + 1 - 1 - first
        j = c.strides[1] * (t + first) + q + 1 - 1 - first
        if i < c.x.shape[0] and j < c.x.shape[1]:
            found[s, t, p, q] = c.x[i, j]
    return found


@equation(
    PAPER, "53",
    statement="(49) with the inputs themselves.",
    formula=r"\frac{\partial v_t^s}{\partial w_q^p} = \mathcal{A}' \left( (\tilde{x}_t^s)_k^l "
            r"w_k^l \right) (\tilde{x}_t^s)_q^p = \mathcal{A}' \left( (\tilde{x}_t^s)_k^l w_k^l "
            r"\right) x_{\tau t+q-1}^{\sigma s+p-1}",
    kind="identity",
    verdict="conditional",
    condition=COUNTING,
    implements=(convolution.dv_dw, convolution.patches),
)
def kernel_by_inputs(rng):
    claims = []
    for name, c in cases(rng).items():
        literal = c.slope[:, :, None, None] * inputs_met(c, 0)
        claims += [Equal("inputs and outputs from 0, kernel from 1: against jets", literal,
                         c.first("w"), TOLERANCE, case=name),
                   Equal("the same with patches", convolution.dv_dw(
                       c.slope, convolution.patches(c.x, c.w.shape, c.strides)), literal, TOLERANCE,
                       case=name)]
    c = convolution_case(rng)
    shifted = c.slope[:, :, None, None] * inputs_met(c, 1)
    there = np.isfinite(shifted)
    return [*claims, Counterexample(Equal("all from 1, where there is such an input",
                                          shifted[there], c.first("w")[there], CLEAR)), c.live()]


@equation(
    PAPER, "50",
    statement="Second derivatives in the inputs.",
    formula=r"\frac{\partial^2 v_t^s}{\partial x_q^p \partial x_j^i} = \mathcal{A}''(z_{tk}^{sl} "
            r"w_k^l) w_r^m \frac{\partial z_{tr}^{sm}}{\partial x_j^i} w_b^a "
            r"\frac{\partial z_{tb}^{sa}}{\partial x_q^p}",
    kind="identity",
    verdict="holds",
    implements=(convolution.d2v_dx_dx,),
)
def inputs_twice(rng):
    return against(rng, lambda c: convolution.d2v_dx_dx(c.bend, c.w,
                                                        c.dz_dx), lambda c: c.second("x", "x"))


@equation(
    PAPER, "51",
    statement="Second derivatives in kernel and inputs.",
    formula=r"\frac{\partial^2 v_t^s}{\partial w_q^p \partial x_j^i} = \mathcal{A}'(z_{tk}^{sl} "
            r"w_k^l) \frac{\partial z_{tq}^{sp}}{\partial x_j^i} + \mathcal{A}''(z_{tk}^{sl} "
            r"w_k^l) z_{tq}^{sp} w_r^m \frac{\partial z_{tr}^{sm}}{\partial x_j^i}",
    kind="identity",
    verdict="holds",
    implements=(convolution.d2v_dw_dx,),
)
def kernel_and_inputs(rng):
    return against(rng, lambda c: convolution.d2v_dw_dx(c.slope, c.bend, c.z, c.w,
                                                        c.dz_dx), lambda c: c.second("w", "x"))


@equation(
    PAPER, "55",
    statement="(52) with the inputs themselves.",
    formula=r"\frac{\partial^2 v_t^s}{\partial w_q^p \partial w_b^a} = \mathcal{A}'' \left( "
            r"(\tilde{x}_t^s)_k^l w_k^l \right) x_{\tau t+q-1}^{\sigma s+p-1} x_{\tau "
            r"t+b-1}^{\sigma s+a-1}",
    kind="identity",
    verdict="conditional",
    condition=COUNTING,
    implements=(convolution.d2v_dw_dw,),
)
def kernel_twice_by_inputs(rng):
    def literal(c, first):
        met = inputs_met(c, first)
        return np.einsum("st,stpq,stab->stpqab", c.bend, met, met)

    claims = [Equal("inputs and outputs from 0, kernel from 1: against jets", literal(c, 0),
                    c.second("w", "w"), TOLERANCE, scale=np.abs(reference.firsts(c.v)).max(),
                    case=name) for name, c in cases(rng).items()]
    claims += [Equal("the same with patches", convolution.d2v_dw_dw(
        c.bend, convolution.patches(c.x, c.w.shape, c.strides)), literal(c, 0), TOLERANCE,
        scale=np.abs(reference.firsts(c.v)).max(), case=name) for name, c in cases(rng).items()]
    c = convolution_case(rng)
    shifted = literal(c, 1)
    there = np.isfinite(shifted)
    return [*claims, Counterexample(Equal("all from 1, where there are such inputs",
                                          shifted[there], c.second("w", "w")[there], CLEAR)),
            c.live()]


@equation(
    PAPER, "52",
    statement="Second derivatives in the kernel.",
    formula=r"\frac{\partial^2 v_t^s}{\partial w_q^p \partial w_b^a} = \mathcal{A}'' (z_{tk}^{sl} "
            r"w_k^l) z_{tq}^{sp} z_{tb}^{sa}",
    kind="identity",
    verdict="holds",
    implements=(convolution.d2v_dw_dw,),
)
def kernel_twice(rng):
    return against(rng, lambda c: convolution.d2v_dw_dw(c.bend, c.z), lambda c: c.second("w", "w"))


@equation(
    PAPER, "54",
    statement="(47) by cases: the kernel's entry that an input meets; the print has no upper "
              "bounds, so that it asks for entries beyond the kernel.",
    formula=r"\frac{\partial v_t^s}{\partial x_j^i} = \begin{cases} \mathcal{A}' \left( "
            r"(\tilde{x}_t^s)_k^l w_k^l \right) w_{j+1-\tau t}^{i+1-\sigma s} & i+1 > \sigma s, "
            r"j+1 > \tau t \\ 0 & \text{else} \end{cases}",
    corrected=r"\frac{\partial v_t^s}{\partial x_j^i} = \begin{cases} \mathcal{A}' \left( "
              r"(\tilde{x}_t^s)_k^l w_k^l \right) w_{j+1-\tau t}^{i+1-\sigma s} & 1 \le i+1-\sigma "
              r"s \le k_h, 1 \le j+1-\tau t \le k_w \\ 0 & \text{else} \end{cases} \quad (w "
              r"\text{ is } k_h \times k_w)",
    condition=COUNTING,
    kind="identity",
    verdict="erratum",
    weight="misprint",
    implements=(convolution.dv_dx_by_cases, convolution.kernel_at),
)
def inputs_by_cases(rng):
    claims = against(rng, lambda c: convolution.dv_dx_by_cases(c.slope, c.w, c.x.shape,
                                                               c.strides), lambda c: c.first("x"))
    c = convolution_case(rng)
    asked = kernel_asked(c, 1.0)
    return [*claims, PrintedShape("largest index that the print asks of the kernel, and the kernel",
                                  largest_index(c), c.w.shape),
            Equal("the printed cases with 0 beyond the kernel, by loops",
                  c.slope[:, :, None, None] * kernel_asked(c, 0.0), c.first("x"), TOLERANCE),
            Printed(Equal("the printed cases with a kernel that goes on with ones",
                          c.slope[:, :, None, None] * asked, c.first("x"), CLEAR))]


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
    found = np.zeros((*c.v.shape, *c.x.shape))
    for s, t, i, j in np.ndindex(found.shape):
        m, r = i + 1 - c.strides[0] * s, j + 1 - c.strides[1] * t
        if m > 0 and r > 0:
            inside = m <= c.w.shape[0] and r <= c.w.shape[1]
            found[s, t, i, j] = c.w[m - 1, r - 1] if inside else beyond
    return found


@equation(
    PAPER, "56",
    statement="(51) by cases: as printed, entries where one of the two indices agrees fall to 0.",
    formula=r"\frac{\partial^2 v_t^s}{\partial w_q^p \partial x_j^i} = \begin{cases} \mathcal{A}' "
            r"\left( (\tilde{x}_t^s)_k^l w_k^l \right) + \mathcal{A}'' \left( (\tilde{x}_t^s)_k^l "
            r"w_k^l \right) w_{j+1-\tau t}^{i+1-\sigma s} x_{\tau t+q-1}^{\sigma s+p-1} & "
            r"i+1-\sigma s = p, j+1-\tau t = q \\ \mathcal{A}'' \left( (\tilde{x}_t^s)_k^l w_k^l "
            r"\right) w_{j+1-\tau t}^{i+1-\sigma s} x_{\tau t+q-1}^{\sigma s+p-1} & i+1-\sigma s "
            r"> 0, i+1-\sigma s \neq p, j+1-\tau t > 0, j+1-\tau t \neq q \\ 0 & \text{else} "
            r"\end{cases}",
    corrected=r"\frac{\partial^2 v_t^s}{\partial w_q^p \partial x_j^i} = \begin{cases} "
              r"\mathcal{A}' \left( (\tilde{x}_t^s)_k^l w_k^l \right) + \mathcal{A}'' \left( "
              r"(\tilde{x}_t^s)_k^l w_k^l \right) w_{j+1-\tau t}^{i+1-\sigma s} x_{\tau "
              r"t+q-1}^{\sigma s+p-1} & i+1-\sigma s = p \text{ and } j+1-\tau t = q \\ "
              r"\mathcal{A}'' \left( (\tilde{x}_t^s)_k^l w_k^l \right) w_{j+1-\tau t}^{i+1-\sigma "
              r"s} x_{\tau t+q-1}^{\sigma s+p-1} & \text{else, with } 1 \le i+1-\sigma s \le k_h, "
              r"1 \le j+1-\tau t \le k_w \\ 0 & \text{else} \end{cases}",
    condition=COUNTING,
    kind="identity",
    verdict="erratum",
    weight="substance",
    implements=(convolution.d2v_dw_dx_by_cases, convolution.d2v_dw_dx_as_printed),
)
def kernel_and_inputs_by_cases(rng):
    claims = against(rng, lambda c: convolution.d2v_dw_dx_by_cases(
        c.slope, c.bend, c.w, c.x, c.strides), lambda c: c.second("w", "x"))
    c = convolution_case(rng)
    printed, right = (convolution.d2v_dw_dx_as_printed(c.slope, c.bend, c.w, c.x, c.strides),
                      c.second("w", "x"))
    s, t, p, q, i, j = np.indices(right.shape)
    one_agrees = (i - STRIDES[0] * s == p) != (j - STRIDES[1] * t == q)
    return [*claims, Printed(Equal("as printed, against jets", printed, right, CLEAR)),
            Equal("as printed, where both indices agree or neither does", printed[~one_agrees],
                  right[~one_agrees], TOLERANCE)]


@equation(
    PAPER, "57",
    statement="(50) by cases; the print has no upper bounds.",
    formula=r"\frac{\partial^2 v_t^s}{\partial x_q^p \partial x_j^i} = \begin{cases} "
            r"\mathcal{A}'' \left( (\tilde{x}_t^s)_k^l w_k^l \right) w_{j+1-\tau t}^{i+1-\sigma "
            r"s} w_{q+1-\tau t}^{p+1-\sigma s} & p+1 > \sigma s, i+1 > \sigma s \\ & q+1 > \tau "
            r"t, j+1 > \tau t \\ 0 & \text{else} \end{cases}",
    corrected=r"\frac{\partial^2 v_t^s}{\partial x_q^p \partial x_j^i} = \begin{cases} "
              r"\mathcal{A}'' \left( (\tilde{x}_t^s)_k^l w_k^l \right) "
              r"w_{j+1-\tau t}^{i+1-\sigma s} w_{q+1-\tau t}^{p+1-\sigma s} & 1 \le i+1-\sigma s, "
              r"p+1-\sigma s \le k_h, 1 \le "
              r"j+1-\tau t, q+1-\tau t \le k_w \\ 0 & \text{else} \end{cases}",
    condition=COUNTING,
    kind="identity",
    verdict="erratum",
    weight="misprint",
    implements=(convolution.d2v_dx_dx_by_cases,),
)
def inputs_twice_by_cases(rng):
    claims = against(rng, lambda c: convolution.d2v_dx_dx_by_cases(
        c.bend, c.w, c.x.shape, c.strides), lambda c: c.second("x", "x"))
    c = convolution_case(rng)

    def literal(beyond):
        asked = kernel_asked(c, beyond)
        return np.einsum("st,stpq,stij->stpqij", c.bend, asked, asked)

    return [*claims, PrintedShape("largest index that the print asks of the kernel, and the kernel",
                                  largest_index(c), c.w.shape),
            Equal("the printed cases with 0 beyond the kernel, by loops", literal(0.0),
                  c.second("x", "x"), TOLERANCE, scale=np.abs(reference.firsts(c.v)).max()),
            Printed(Equal("the printed cases with a kernel that goes on with ones", literal(1.0),
                          c.second("x", "x"), CLEAR, scale=np.abs(reference.firsts(c.v)).max()))]


@equation(
    PAPER, "extension-channels",
    where="appendix B.2.1 has one channel",
    statement="More channels: the index of the kernel becomes (channel, row, column), and every "
              "output channel stands alone.",
    formula=r"v_o^{st} = \mathcal{A}\left( \sum_{c,l,k} w_{ck}^{ol} x_c^{\sigma s+l, \tau t+k} + "
            r"b_o \right)",
    kind="identity",
    verdict="holds",
    ours=True,
    implements=(convolution.many_channels_argument, convolution.many_channels_two_jet),
)
def channels(rng):
    x, w, b = rng.normal(size=(2, 5, 6)), rng.normal(size=(3, 2, 2, 3)), rng.normal(size=3)
    made = convolution.many_channels_argument(x, w, b, (2, 1))
    by_channel = np.array([sum(reference.values(by_loops(x[c], w[o, c], (2, 1))) for c in range(2))
                           + b[o] for o in range(3)])
    moved = rng.normal(size=x.shape), rng.normal(size=w.shape), rng.normal(size=b.shape)
    first, second = convolution.many_channels_two_jet(x, w, *moved, (2, 1))
    layer = Conv2d(2, 3, (2, 3), (2, 1))
    layer.weight, layer.bias = w, b
    y, saved = layer.forward(x[None])
    flat = np.concatenate([moved[1].ravel(), moved[2]])
    passes = y, layer.tangent(saved, moved[0][None], flat), layer.second_tangent(
        saved, moved[0][None], None, flat)

    def along(h):
        return convolution.many_channels_argument(*(a + h * d for a, d in zip((x, w, b), moved)),
                                                  (2, 1))

    return [Equal("against loops, channel by channel", made, by_channel, TOLERANCE),
            Equal("first derivative along a line: it is a polynomial of degree two",
                  first, (along(1) - along(-1)) / 2, TOLERANCE),
            Equal("second derivative along it",
                  second, along(1) - 2 * along(0) + along(-1), TOLERANCE),
            *(Equal(f"{what}, against Conv2d", ours, made_by_layer[0], TOLERANCE)
              for what, ours, made_by_layer in zip(("arguments", "first", "second"),
                                                   (made, first, second), passes)),
            Case(x=x, w=w, b=b)]
