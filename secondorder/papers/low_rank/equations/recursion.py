"""The recurrent layer, (58)-(65): a feedforward network whose layers share their weights."""

from typing import NamedTuple

import numpy as np

from ....ledger import (Case, Counterexample, Equal, Printed, PrintedShape, Property, equation)
from ....nets.activations import activation_function
from .. import PAPER, recurrence, relu
from ..quantities import Quantities
from . import by_layers, reference
from .cases import CLEAR, STRAIGHT, TOLERANCE

STEPS = 4


class RecurrenceCase(NamedTuple):
    """The unrolled quantities, and the output as jets in (W, x)."""

    sample: Quantities
    w: np.ndarray
    x: np.ndarray
    v: np.ndarray  # jets
    activation: str

    def of_layer(self):
        """The same derivatives from the passes of `Recurrent`."""
        return by_layers.recurrence(self.x, self.w, STEPS, self.activation)

    def first(self, of):
        return self._cut(reference.firsts(self.v), 1, of)

    def second(self, left, right):
        return self._cut(self._cut(reference.seconds(self.v), 2, right), 1, left)

    def _cut(self, array, axis, of):
        array = np.moveaxis(array, axis, -1)
        if of == "x":
            return np.moveaxis(array[..., self.w.size :], -1, axis)
        part = array[..., : self.w.size].reshape(*array.shape[:-1], *self.w.shape)
        return np.moveaxis(part, (-2, -1), (axis, axis + 1))

    def live(self):
        return Case(w=self.w, x=self.x, steps=STEPS, v=reference.values(self.v))


def recurrence_case(rng, activation="relu", d=3):
    """A random case; with ReLU, some units are dead at some time and none is dead for ever."""
    while True:
        w, x = rng.normal(size=(d, d)), rng.normal(size=d) + 0.5
        sample = recurrence.unrolled(w, x, STEPS, activation_function(activation))
        slopes = np.array(sample.slope[1:])
        if activation != "relu" or (slopes.any(axis=1).all() and not slopes.all()
                                    and slopes[-1].sum() > 1):
            break
    w_jets, v = reference.variables(w, x)
    for _ in range(STEPS):
        v = np.array([jet.through(*reference.ACTIVATIONS[activation]) for jet in reference.affine(
            w_jets, v)], dtype=object)
    return RecurrenceCase(sample, w, x, v, activation)


@equation(
    PAPER, "58", "59",
    statement="The layer: the same weights, over and over.",
    formula=r"\begin{aligned} v_{(t)}^j &= \mathcal{A}(w_i^j v_{(t-1)}^i) \\ "
            r"v_{(0)}^j &= x^j \end{aligned}",
    kind="definition",
    verdict="holds",
    implements=(recurrence.unrolled,),
)
def layer(rng):
    claims = []
    for activation in ("relu", "tanh"):
        case = recurrence_case(rng, activation)
        claims += [Equal("against loops", case.sample.v[STEPS], reference.values(case.v),
                         TOLERANCE, case=activation),
                   Equal("against Recurrent", case.sample.v[STEPS], case.of_layer().value,
                         TOLERANCE, case=activation),
                   Equal("v_(0) against x", case.sample.v[0], case.x.copy(), 1e-15,
                         case=activation)]
    return [*claims, Property("all copies of the weights are one",
                              all(w is case.w for w in case.sample.w[1:])), case.live()]


@equation(
    PAPER, "60",
    statement="A derivative in the shared weights is the sum of those in the copies; in the "
              "middle member the copy's indices pair with nothing.",
    formula=r"\frac{\partial(\cdot)}{\partial w_j^i} = \sum_k "
            r"\frac{\partial(\cdot)}{\partial w_p^{(k),m}} "
            r"\frac{\partial w_j^{(k),i}}{\partial w_j^i} = \sum_k "
            r"\frac{\partial(\cdot)}{\partial w_j^{(k),i}}",
    corrected=r"\frac{\partial(\cdot)}{\partial w_j^i} = \sum_k "
              r"\frac{\partial(\cdot)}{\partial w_p^{(k),m}} "
              r"\frac{\partial w_p^{(k),m}}{\partial w_j^i} = \sum_k "
              r"\frac{\partial(\cdot)}{\partial w_j^{(k),i}}",
    kind="identity",
    verdict="erratum",
    weight="misprint",
    implements=(recurrence.sum_of_copies,),
)
def copies(rng):
    case = recurrence_case(rng, "tanh")
    ws = reference.variables(*[case.w] * STEPS)
    constant = [reference.Jet(value, np.zeros(STEPS * case.w.size),
                              np.zeros(2 * (STEPS * case.w.size,))) for value in case.x]
    untied = reference.firsts(reference.layers(ws, constant, "tanh")[1][-1]).reshape(3, STEPS, 3, 3)
    made, right = recurrence.sum_of_copies(untied[:, k] for k in range(STEPS)), case.first("w")
    # d w_b^(k),a / d w_d^c = 1 where a = c and b = d, indices a, b, c, d
    of_a_copy = np.einsum("ac,bd->abcd", np.eye(3), np.eye(3))
    middle = sum(np.einsum("xmp,mpij->xij", untied[:, k], of_a_copy) for k in range(STEPS))
    repeated = made * np.einsum("ijij->", of_a_copy)  # m and p are left over
    return [Equal("sum over copies against the shared weights, by jets", made, right, TOLERANCE),
            Equal("sum over copies against Recurrent", made, case.of_layer().first("w"), TOLERANCE),
            Equal("middle member, corrected", middle, right, TOLERANCE),
            PrintedShape("free indices of the left side, and of the middle member", ("i", "j"),
                         ("m", "p")),
            Printed(Equal("middle member, its i and j summed as they are repeated", repeated,
                          right, CLEAR)),
            case.live()]


@equation(
    PAPER, "61",
    statement="First derivatives in the weights: each copy has its own input, not all of them the "
              "last.",
    formula=r"\frac{\partial v_{(t)}^m}{\partial w_r^s} = \sum_k \eta_s^{(t,k),m} v_{(t-1)}^r",
    corrected=r"\frac{\partial v_{(t)}^m}{\partial w_r^s} = \sum_k \eta_s^{(t,k),m} v_{(k-1)}^r",
    kind="identity",
    verdict="erratum",
    weight="misprint",
    implements=(recurrence.dv_dw, recurrence.dv_dw_as_printed),
)
def weights(rng):
    claims = []
    for activation in ("relu", "tanh"):
        case = recurrence_case(rng, activation)
        made = recurrence.dv_dw(case.sample)
        claims += [Equal("against jets", made, case.first("w"), TOLERANCE, case=activation),
                   Equal("against Recurrent", made, case.of_layer().first("w"), TOLERANCE,
                         case=activation)]
    made = recurrence.dv_dw_as_printed(case.sample)
    s = case.sample
    etas = sum(reference.alpha([None, *[case.w] * STEPS], case.x, "tanh", STEPS,
                               k) @ np.diag(s.slope[k]) for k in range(1, STEPS + 1))
    return [*claims, Equal("the printed form is what it says",
                           made, etas[:, :, None] * s.v[STEPS - 1], TOLERANCE),
            Printed(Equal("as printed, against jets", made, case.first("w"), CLEAR)), case.live()]


@equation(
    PAPER, "62",
    statement="First derivatives in the input.",
    formula=r"\frac{\partial v_{(t)}^m}{\partial x^i} = \eta_s^{(t,1),m} w_i^s",
    kind="identity",
    verdict="holds",
    implements=(recurrence.dv_dx,),
)
def inputs(rng):
    claims = []
    for activation in ("relu", "softplus"):
        case = recurrence_case(rng, activation)
        made = recurrence.dv_dx(case.sample)
        claims += [Equal("against jets", made, case.first("x"), TOLERANCE, case=activation),
                   Equal("against Recurrent", made, case.of_layer().first("x"), TOLERANCE,
                         case=activation)]
    return [*claims, case.live()]


@equation(
    PAPER, "63",
    statement="Second derivatives in the weights where the activation does not bend; twice the "
              "one-sided sum, as printed, is right only along one direction taken twice.",
    formula=r"\frac{\partial v_{(t)}^m}{\partial w_j^i \partial w_r^q} = \sum_{k,p} "
            r"\frac{\partial v_{(t)}^m}{\partial w_j^{(k),i} \partial w_r^{(p),q}} = 2 "
            r"\sum_{k=2}^t \sum_{p=1}^{k-1} \eta_i^{(t,k),m} \eta_q^{(k-1,p),j} v_{(p-1)}^r",
    corrected=r"\sum_{k=2}^t \sum_{p=1}^{k-1} \left( \eta_i^{(t,k),m} \eta_q^{(k-1,p),j} "
              r"v_{(p-1)}^r + \eta_q^{(t,k),m} \eta_i^{(k-1,p),r} v_{(p-1)}^j \right)",
    condition=STRAIGHT,
    kind="identity",
    verdict="erratum",
    weight="substance",
    implements=(recurrence.d2v_dw_dw_relu, recurrence.d2v_dw_dw_as_printed,
                recurrence.d2v_dw_dw_of_copies),
)
def weights_twice(rng):
    case, direction = recurrence_case(rng), rng.normal(size=(3, 3))
    right = case.second("w", "w")
    printed = recurrence.d2v_dw_dw_as_printed(case.sample)
    curved = recurrence_case(rng, "tanh")
    return [Equal("corrected, against jets",
                  recurrence.d2v_dw_dw_relu(case.sample), right, TOLERANCE),
            Equal("corrected, against Recurrent", recurrence.d2v_dw_dw_relu(case.sample),
                  case.of_layer().second("w", "w"), TOLERANCE),
            Equal("for any activation: tanh, against Recurrent",
                  recurrence.d2v_dw_dw(curved.sample), curved.of_layer().second("w", "w"),
                  TOLERANCE),
            Equal("the sum over pairs of copies, against jets",
                  recurrence.d2v_dw_dw_of_copies(case.sample), right, TOLERANCE),
            Printed(Equal("as printed, against jets", printed, right, CLEAR)),
            Equal("as printed, along one direction twice",
                  np.einsum("mijqr,ij,qr->m", printed, direction, direction),
                  np.einsum("mijqr,ij,qr->m", right, direction, direction), TOLERANCE),
            Counterexample(Equal("tanh", recurrence.d2v_dw_dw_relu(curved.sample),
                                 curved.second("w", "w"), CLEAR)),
            case.live()]


@equation(
    PAPER, "64",
    statement="No second derivatives in the input where the activation does not bend. (The left "
              "side lacks the 2 of a second derivative, as in (63) and (65).)",
    formula=r"\frac{\partial v_{(t)}^m}{\partial x^i \partial x^l} = 0",
    kind="identity",
    verdict="conditional",
    condition=STRAIGHT,
    implements=(recurrence.d2v_dx_dx,),
)
def inputs_twice(rng):
    case, curved = recurrence_case(rng), recurrence_case(rng, "tanh")
    scale = case.first("x")
    bent = curved.second("x", "x")
    return [Equal("ReLU: jets against 0, beside the first derivatives",
                  case.second("x", "x"), np.zeros((3, 3, 3)), 1e-14, scale=scale),
            Equal("the general formula for ReLU",
                  recurrence.d2v_dx_dx(case.sample), np.zeros((3, 3, 3)), 1e-14, scale=scale),
            Equal("the general formula for tanh, against jets",
                  recurrence.d2v_dx_dx(curved.sample), bent, TOLERANCE),
            Equal("ReLU: Recurrent against 0", case.of_layer().second("x", "x"),
                  np.zeros((3, 3, 3)), 1e-14, scale=scale),
            Equal("the general formula for tanh, against Recurrent",
                  recurrence.d2v_dx_dx(curved.sample), curved.of_layer().second("x", "x"),
                  TOLERANCE),
            Counterexample(Equal("tanh", bent, np.zeros((3, 3, 3)), CLEAR)),
            case.live()]


@equation(
    PAPER, "65",
    statement="Second derivatives in weights and input; in the first term as printed the copy's "
              "indices are lost.",
    formula=r"\begin{aligned} \frac{\partial v_{(t)}^m}{\partial w_r^q \partial x^i} &= "
            r"\eta_s^{(t,1),j} \delta_i^s + \sum_k \frac{\partial \eta_q^{(t,1),m}}{\partial "
            r"w_t^{(k),s}} w_i^s \\ &= \eta_s^{(t,1),j} \delta_i^s + \sum_k \eta_q^{(t,k),m} "
            r"\eta_s^{(k-1,1),r} w_i^s \end{aligned}",
    corrected=r"\begin{aligned} \frac{\partial^2 v_{(t)}^m}{\partial w_r^q \partial x^i} &= "
              r"\eta_q^{(t,1),m} \delta_i^r + \sum_k \frac{\partial \eta_s^{(t,1),m}}{\partial "
              r"w_r^{(k),q}} w_i^s \\ &= \eta_q^{(t,1),m} \delta_i^r + \sum_{k=2}^t "
              r"\eta_q^{(t,k),m} \eta_s^{(k-1,1),r} w_i^s \end{aligned}",
    condition=STRAIGHT,
    kind="identity",
    verdict="erratum",
    weight="misprint",
    implements=(recurrence.d2v_dw_dx_relu, recurrence.d2v_dw_dx, relu.deta_dw),
)
def weights_and_inputs(rng):
    case, curved = recurrence_case(rng), recurrence_case(rng, "tanh")
    right, made = case.second("w", "x"), recurrence.d2v_dw_dx_relu(case.sample)
    eta_1 = reference.alpha([None, *[case.w] * STEPS], case.x, "relu", STEPS,
                            1) @ np.diag(case.sample.slope[1])
    lost = made - np.einsum("mq,ri->mqri", eta_1, np.eye(3)) + eta_1[:, None, None, :]
    first_line = np.einsum("mq,ri->mqri", eta_1, np.eye(3)) + sum(
        np.einsum("msqr,si->mqri", relu.deta_dw(case.sample, STEPS, 1, k), case.w)
        for k in range(1, STEPS + 1))
    return [Equal("corrected, against jets", made, right, TOLERANCE),
            Equal("corrected, against Recurrent", made, case.of_layer().second("w", "x"),
                  TOLERANCE),
            Equal("first line, corrected, against jets", first_line, right, TOLERANCE),
            Equal("for any activation: tanh, against jets",
                  recurrence.d2v_dw_dx(curved.sample), curved.second("w", "x"), TOLERANCE),
            Equal("for any activation: tanh, against Recurrent",
                  recurrence.d2v_dw_dx(curved.sample), curved.of_layer().second("w", "x"),
                  TOLERANCE),
            Printed(Equal("as printed, its free j read as m", lost, right, CLEAR)),
            Counterexample(Equal("tanh without its bends", recurrence.d2v_dw_dx_relu(curved.sample),
                                 curved.second("w", "x"), CLEAR)),
            case.live()]


@equation(
    PAPER, "u-recurrent-curved", ours=True,
    where="appendix B.2.2, below (65): the results of the next section for other activations",
    statement="Second derivatives of the recurrent layer for any activation: those of the "
              "unrolled network, summed over copies of the weights.",
    formula=r"\frac{\partial^2 v_{(t)}^m}{\partial w_j^i \partial w_r^q} = \sum_{k,p} "
            r"\frac{\partial^2 v^{(t),m}}{\partial w_j^{(k),i} \partial w_r^{(p),q}}, \quad "
            r"\frac{\partial^2 v_{(t)}^m}{\partial x^i \partial x^l} = \sum_r \alpha_b^{(t,r),m} "
            r"\mathcal{A}''(z^{(r),b}) (w \alpha^{(r-1,0)})_i^b (w \alpha^{(r-1,0)})_l^b",
    kind="identity",
    verdict="holds",
    implements=(recurrence.d2v_dw_dw, recurrence.d2v_dw_dx, recurrence.d2v_dx_dx),
)
def curved_recurrence(rng):
    claims = []
    for activation in ("relu", "tanh", "softplus"):
        case = recurrence_case(rng, activation)
        scale = np.abs(case.first("x")).max()
        claims += [
            Equal("weights twice, against jets", recurrence.d2v_dw_dw(case.sample),
                  case.second("w", "w"), TOLERANCE, case=activation),
            Equal("weights and inputs, against jets", recurrence.d2v_dw_dx(case.sample),
                  case.second("w", "x"), TOLERANCE, case=activation),
            Equal("inputs twice, against jets", recurrence.d2v_dx_dx(case.sample),
                  case.second("x", "x"), TOLERANCE, scale=scale, case=activation),
        ]
    return [*claims, case.live()]
