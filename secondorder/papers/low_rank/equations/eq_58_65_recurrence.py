"""The recurrent layer, a network whose layers share their weights, (58)-(65)."""

from dataclasses import dataclass

import numpy as np

from ....ledger import Case, Counterexample, Equal, Printed, PrintedShape, Property, equation
from ....nets.layers.activation_functions import activation_function
from .. import PAPER
from .. import eq_58_65_recurrence as eq
from ..eq_10_26_network import Sample, eq_23_eta
from ..eq_29_33_second_derivatives import eq_32_deta
from . import layer_cases, reference
from .cases import CLEAR, TOLERANCE, tolerance
from .conditions import STRAIGHT


STEPS = 4


@dataclass(frozen=True)
class RecurrenceCase(layer_cases.LayerCase):
    """With the unrolled quantities."""

    sample: Sample
    classes = "Recurrent"

    def of_layers(self):
        return layer_cases.recurrence(self.x, self.w, self.sample.n, self.activation)

    def live(self):
        return Case(w=self.w, x=self.x, steps=self.sample.n, v=reference.values(self.v))


def recurrence_case(rng, activation="relu", steps=STEPS, dtype="float64", d=3):
    """A random case; with ReLU, some units are dead at some time and none is dead for ever."""
    while True:
        w, x = rng.normal(size=(d, d)).astype(dtype), (rng.normal(size=d) + 0.5).astype(dtype)
        sample = eq.eq_58_59_unrolled(w, x, steps, activation_function(activation))
        slopes = np.array(sample.slope[1:])
        if activation != "relu" or (slopes.any(axis=1).all() and not slopes.all()
                                    and slopes[-1].sum() > 1):
            break
    v, w_jets = reference.variables(x, w)
    for _ in range(steps):
        v = np.array([jet.through(*reference.ACTIVATIONS[activation])
                      for jet in reference.affine(w_jets, v)], dtype=object)
    return RecurrenceCase(x, w, v, activation, sample)


def cases(rng, *activations):
    """(name, case): every activation, one step, float32."""
    first = activations[0]
    return [*((activation, recurrence_case(rng, activation)) for activation in activations),
            (f"{first}, one step", recurrence_case(rng, first, 1)),
            (f"{first}, float32", recurrence_case(rng, first, dtype="float32"))]


def against(rng, rule, right, activations=("relu",), what=""):
    """Claims of :func:`layer_cases.against` on all cases: the rule for a sample's quantities."""
    return layer_cases.against(cases(rng, *activations), lambda case: rule(case.sample), right,
                               what)


@equation(PAPER, "58", "59",
          statement="The layer: the same weights, over and over.",
          formula=r"""\begin{aligned} v_{(t)}^j &= \mathcal{A}(w_i^j v_{(t-1)}^i) \tag{58} \\
                      v_{(0)}^j &= x^j \tag{59} \end{aligned}""",
          kind="definition", verdict="holds", implements=eq.eq_58_59_unrolled, uses=())
def equations_58_and_59(rng):
    claims = []
    for name, case in cases(rng, "relu", "tanh"):
        last, allowed = case.sample.v[-1], tolerance(case.w.dtype)
        # (58)
        claims += [Equal("against loops", last, reference.values(case.v), allowed, case=name),
                   Equal("against Recurrent", last, case.of_layers().value, allowed, case=name),
                   # (59)
                   Equal("v_(0) against x", case.sample.v[0], case.x.copy(), 1e-15, case=name),
                   Property("all copies of the weights are one",
                            all(w is case.w for w in case.sample.w[1:]), case=name)]
    return [*claims, case.live()]


@equation(PAPER, "60",
          statement="A derivative in the shared weights is the sum of those in the copies; in the "
                    "middle member the copy's indices pair with nothing.",
          kind="identity", verdict="erratum", weight="misprint",
          implements=eq.eq_60_sum, uses=("58",))
def equation_60(rng):
    case = recurrence_case(rng, "tanh")
    ws = reference.variables(*[case.w] * STEPS)
    constant = [reference.Jet(value, np.zeros(STEPS * case.w.size),
                              np.zeros(2 * (STEPS * case.w.size,))) for value in case.x]
    untied = reference.firsts(reference.layers(ws, constant, "tanh")[1][-1]).reshape(3, STEPS, 3, 3)
    left, right = eq.eq_60_sum(untied[:, k] for k in range(STEPS)), case.first("w")
    # d w_b^(k),a / d w_d^c = 1 where a = c and b = d, indices a, b, c, d
    of_a_copy = np.einsum("ac,bd->abcd", np.eye(3), np.eye(3))
    middle = sum(np.einsum("xmp,mpij->xij", untied[:, k], of_a_copy) for k in range(STEPS))
    repeated = left * np.einsum("ijij->", of_a_copy)  # m and p are left over
    return [Equal("sum over copies against the shared weights, by jets", left, right, TOLERANCE),
            Equal("sum over copies against Recurrent", left, case.of_layers().first("w"),
                  TOLERANCE),
            Equal("middle member, corrected", middle, right, TOLERANCE),
            PrintedShape("free indices of the left side, and of the middle member", ("i", "j"),
                         ("m", "p")),
            Printed(Equal("middle member, its i and j summed as they are repeated", repeated,
                          right, CLEAR)),
            case.live()]


@equation(PAPER, "61",
          statement="First derivatives in the weights: each copy has its own input, not all of "
                    "them the last.",
          formula=r"""\frac{\partial v_{(t)}^m}{\partial w_r^s} = \sum_k \eta_s^{(t,k),m}
                      v_{(t-1)}^r""",
          corrected=r"""\frac{\partial v_{(t)}^m}{\partial w_r^s} = \sum_k \eta_s^{(t,k),m}
                        v_{(k-1)}^r""",
          kind="identity", verdict="erratum", weight="misprint",
          implements=(eq.eq_61_dv_dw, eq.eq_61_as_printed), uses=("24", "60"))
def equation_61(rng):
    claims = against(rng, eq.eq_61_dv_dw, lambda of: of.first("w"), ("relu", "tanh"))
    case = recurrence_case(rng, "tanh")
    s, printed = case.sample, eq.eq_61_as_printed(case.sample)
    etas = sum(reference.eta(s.w, case.x, "tanh", STEPS, k) for k in range(1, STEPS + 1))
    return [*claims,
            Equal("the printed form is what it says", printed,
                  etas[:, :, None] * s.v[STEPS - 1], TOLERANCE),
            Printed(Equal("as printed, against jets", printed, case.first("w"), CLEAR)),
            case.live()]


@equation(PAPER, "62",
          statement="First derivatives in the input.",
          formula=r"\frac{\partial v_{(t)}^m}{\partial x^i} = \eta_s^{(t,1),m} w_i^s",
          kind="identity", verdict="holds", implements=eq.eq_62_dv_dx,
          uses=("20", "21", "23", "58"))
def equation_62(rng):
    claims = against(rng, eq.eq_62_dv_dx, lambda of: of.first("x"), ("relu", "softplus"))
    return [*claims, recurrence_case(rng).live()]


@equation(PAPER, "63",
          statement="Second derivatives in the weights where A'' = 0; twice the one-sided sum, as "
                    "printed, is right only along one direction taken twice.",
          condition=STRAIGHT,
          kind="identity", verdict="erratum", weight="substance",
          implements=(eq.eq_63_relu, eq.eq_63_as_printed, eq.eq_63_dw_dw), uses=("33", "60", "61"))
def equation_63(rng):
    def right(of):
        return of.second("w", "w")

    claims = against(rng, eq.eq_63_relu, right)
    claims += against(rng, eq.eq_63_dw_dw, right, what="sum over copies, ")
    case, curved = recurrence_case(rng), recurrence_case(rng, "tanh")
    printed, direction = eq.eq_63_as_printed(case.sample), rng.normal(size=(3, 3))
    twice = [np.einsum("mijqr,ij,qr->m", of, direction, direction)
             for of in (printed, right(case))]
    return [*claims,
            Printed(Equal("as printed, against jets", printed, right(case), CLEAR)),
            Equal("as printed, along one direction twice", *twice, TOLERANCE),
            Counterexample(Equal("tanh", eq.eq_63_relu(curved.sample), right(curved),
                                 CLEAR)),
            case.live()]


@equation(PAPER, "64",
          statement="No second derivatives in the input where A'' = 0. (The left side lacks the 2 "
                    "of a second derivative, as in (63) and (65).)",
          formula=r"\frac{\partial v_{(t)}^m}{\partial x^i \partial x^l} = 0",
          condition=STRAIGHT,
          kind="identity", verdict="conditional", implements=eq.eq_64_dx_dx,
          uses=("29", "62"))
def equation_64(rng):
    def right(of):
        return of.second("x", "x")

    curved = recurrence_case(rng, "tanh")
    return [*against(rng, eq.eq_64_dx_dx, right),
            *against(rng, eq.eq_64_dx_dx, right, ("tanh",), "any activation, "),
            Counterexample(Equal("tanh", right(curved), np.zeros((3, 3, 3)), CLEAR)),
            recurrence_case(rng).live()]


def straightened(s):
    """A sample as if A'' were 0."""
    return s._replace(bend=[None, *map(np.zeros_like, s.bend[1:])])


@equation(PAPER, "65",
          statement="Second derivatives in weights and input; in the first term as printed the "
                    "copy's indices are lost.",
          condition=STRAIGHT,
          kind="identity", verdict="erratum", weight="misprint",
          implements=(eq.eq_65_dw_dx, eq_32_deta), uses=("32", "60", "62"))
def equation_65(rng):
    def right(of):
        return of.second("w", "x")

    def first_line(sample):
        n, eta, identity = sample.n, eq_23_eta(sample, sample.n, 1), np.eye(3)
        return np.einsum("mq,ri->mqri", eta, identity) + sum(
            np.einsum("msqr,si->mqri", eq_32_deta(sample, n, 1, k), sample.w[1])
            for k in range(1, n + 1))

    claims = against(rng, eq.eq_65_dw_dx, right)
    claims += against(rng, first_line, right, what="first line, corrected, ")
    case, curved = recurrence_case(rng), recurrence_case(rng, "tanh")
    eta = reference.eta(case.sample.w, case.x, "relu", STEPS, 1)
    lost = (right(case) - np.einsum("mq,ri->mqri", eta, np.eye(3)) + eta[:, None, None, :])
    return [*claims,
            Printed(Equal("as printed, its free j read as m", lost, right(case), CLEAR)),
            Counterexample(Equal("tanh, without its second derivatives",
                                 eq.eq_65_dw_dx(straightened(curved.sample)), right(curved),
                                 CLEAR)),
            case.live()]


@equation(PAPER, "u-recurrent-curved",
          where="appendix B.2.2, below (65): the results of the next section for other activations",
          statement="Second derivatives of the recurrent layer for any activation: the "
                    "unrolled network's, summed over copies of the weights.",
          formula=r"""\frac{\partial^2 v_{(t)}^m}{\partial w_j^i \partial w_r^q} = \sum_{k,p}
                      \frac{\partial^2 v^{(t),m}}{\partial w_j^{(k),i} \partial w_r^{(p),q}},
                      \quad \frac{\partial^2 v_{(t)}^m}{\partial x^i \partial x^l} = \sum_r
                      \alpha_b^{(t,r),m} \mathcal{A}''(z^{(r),b}) (w \alpha^{(r-1,0)})_i^b (w
                      \alpha^{(r-1,0)})_l^b""",
          kind="identity", verdict="holds", ours=True,
          implements=(eq.eq_63_dw_dw, eq.eq_65_dw_dx, eq.eq_64_dx_dx),
          uses=("60", "61", "62", "72", "77"))
def u_recurrent_curved(rng):
    claims = []
    for what, rule, of in (("weights twice, ", eq.eq_63_dw_dw, ("w", "w")),
                           ("weights and inputs, ", eq.eq_65_dw_dx, ("w", "x")),
                           ("inputs twice, ", eq.eq_64_dx_dx, ("x", "x"))):
        claims += against(rng, rule, lambda side, of=of: side.second(*of),
                          ("tanh", "softplus", "relu"), what)
    return [*claims, recurrence_case(rng, "tanh").live()]
