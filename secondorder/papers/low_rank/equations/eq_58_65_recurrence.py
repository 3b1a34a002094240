"""The recurrent layer, a network whose layers share their weights, (58)-(65)."""

import numpy as np

from ....ledger import Counterexample, Equal, Printed, PrintedShape, Property, equation
from ....nets import Recurrent
from .. import PAPER
from .. import eq_58_65_recurrence as eq
from ..eq_10_26_network import eq_23_eta
from ..eq_29_33_second_derivatives import eq_32_deta
from . import reference
from .cases import CLEAR, TOLERANCE
from .conditions import STRAIGHT
from .layer_cases import STEPS, against, recurrence_case, recurrences


@equation(PAPER, "58", "59",
          statement="The layer: the same weights, over and over.",
          kind="definition", verdict="holds", implements=eq.eq_58_59_unrolled, uses=())
def equations_58_and_59(rng):
    claims = []
    for name, case in recurrences(rng, "relu", "tanh").items():
        s = case.of
        # (58)
        claims += [Equal("against loops", s.v[-1], reference.values(case.v), case.tolerance,
                         case=name),
                   # (59)
                   Equal("v_(0) against x", s.v[0], case.x.copy(), 1e-15, case=name),
                   Property("all copies of the weights are one",
                            all(w is case.w for w in s.w[1:]), case=name)]
    layer = Recurrent(3, steps=STEPS, activation="tanh", bias=False)
    layer.weight = case.w
    return [*claims, Equal("tanh, against Recurrent", s.v[-1], layer.forward(case.x[None])[0][0],
                           TOLERANCE), case.live()]


@equation(PAPER, "60",
          statement="A derivative in the shared weights is the sum of those in the copies; in the "
                    "middle member the copy's indices pair with nothing.",
          kind="identity", verdict="erratum", weight="misprint",
          implements=eq.eq_60_sum, uses=("58",))
def equation_60(rng):
    case = recurrence_case(rng, "tanh")
    copies = reference.Variables({("w", k): case.w for k in range(1, STEPS + 1)}
                                 | reference.shifts([3] * (STEPS + 1)))
    v = reference.layers(copies, [copies["w", k] for k in range(1, STEPS + 1)], case.x,
                         [["tanh"]] * STEPS)[1][-1]
    untied = [copies.of(v, ("w", k)) for k in range(1, STEPS + 1)]
    left, right = eq.eq_60_sum(untied), case.d("w")
    # d w_b^(k),a / d w_d^c = 1 where a = c and b = d, indices a, b, c, d
    of_a_copy = np.einsum("ac,bd->abcd", np.eye(3), np.eye(3))
    middle = sum(np.einsum("xmp,mpij->xij", one, of_a_copy) for one in untied)
    repeated = left * np.einsum("ijij->", of_a_copy)  # m and p are left over
    return [Equal("sum over copies against the shared weights, by jets", left, right, TOLERANCE),
            Equal("middle member, corrected", middle, right, TOLERANCE),
            PrintedShape("free indices of the left side, and of the middle member", ("i", "j"),
                         ("m", "p")),
            Printed(Equal("middle member, its i and j summed as they are repeated", repeated,
                          right, CLEAR)),
            case.live()]


@equation(PAPER, "61",
          statement="First derivatives in the weights: each copy has its own input, not all of "
                    "them the last.",
          kind="identity", verdict="erratum", weight="misprint",
          implements=(eq.eq_61_dv_dw, eq.eq_61_as_printed), uses=("24", "60"))
def equation_61(rng):
    case = recurrence_case(rng, "tanh")
    printed = eq.eq_61_as_printed(case.of)
    etas = sum(case.d(("z", k)) for k in range(1, STEPS + 1))
    return [*against(recurrences(rng, "relu", "tanh"), eq.eq_61_dv_dw, "w"),
            Equal("the printed form is what it says", printed,
                  etas[:, :, None] * case.of.v[STEPS - 1], TOLERANCE),
            Printed(Equal("as printed, against jets", printed, case.d("w"), CLEAR))]


@equation(PAPER, "62",
          statement="First derivatives in the input.",
          kind="identity", verdict="holds", implements=eq.eq_62_dv_dx,
          uses=("20", "21", "23", "58"))
def equation_62(rng):
    return against(recurrences(rng, "relu", "softplus"), eq.eq_62_dv_dx, "x")


@equation(PAPER, "63",
          statement="Second derivatives in the weights where A'' = 0; twice the one-sided sum, as "
                    "printed, is right only along one direction taken twice.",
          condition=STRAIGHT,
          kind="identity", verdict="erratum", weight="substance",
          implements=(eq.eq_63_relu, eq.eq_63_as_printed, eq.eq_63_dw_dw), uses=("33", "60", "61"))
def equation_63(rng):
    case, curved = recurrence_case(rng), recurrence_case(rng, "tanh")
    printed, right = eq.eq_63_as_printed(case.of), case.d("w", "w")
    direction = rng.normal(size=(3, 3))
    twice = [np.einsum("mijqr,ij,qr->m", of, direction, direction) for of in (printed, right)]
    return [*against(recurrences(rng, "relu"), eq.eq_63_relu, "w", "w"),
            *against(recurrences(rng, "relu"), eq.eq_63_dw_dw, "w", "w",
                     what="sum over copies, "),
            Printed(Equal("as printed, against jets", printed, right, CLEAR)),
            Equal("as printed, along one direction twice", *twice, TOLERANCE),
            Counterexample(Equal("tanh", eq.eq_63_relu(curved.of), curved.d("w", "w"), CLEAR))]


@equation(PAPER, "64",
          statement="No second derivatives in the input where A'' = 0. (The left side lacks the 2 "
                    "of a second derivative, as in (63) and (65).)",
          condition=STRAIGHT,
          kind="identity", verdict="conditional", implements=eq.eq_64_dx_dx,
          uses=("29", "62"))
def equation_64(rng):
    curved = recurrence_case(rng, "tanh")
    return [*against(recurrences(rng, "relu"), eq.eq_64_dx_dx, "x", "x"),
            *against(recurrences(rng, "tanh"), eq.eq_64_dx_dx, "x", "x", what="any activation, "),
            Counterexample(Equal("tanh", curved.d("x", "x"), np.zeros((3, 3, 3)), CLEAR))]


@equation(PAPER, "65",
          statement="Second derivatives in weights and input; in the first term as printed the "
                    "copy's indices are lost.",
          condition=STRAIGHT,
          kind="identity", verdict="erratum", weight="misprint",
          implements=(eq.eq_65_dw_dx, eq_32_deta), uses=("32", "60", "62"))
def equation_65(rng):
    def first_line(s):
        return np.einsum("mq,ri->mqri", eq_23_eta(s, s.n, 1), np.eye(3)) + sum(
            np.einsum("msqr,si->mqri", eq_32_deta(s, s.n, 1, k), s.w[1])
            for k in range(1, s.n + 1))

    case, curved = recurrence_case(rng), recurrence_case(rng, "tanh")
    right, eta = case.d("w", "x"), case.d(("z", 1))
    lost = right - np.einsum("mq,ri->mqri", eta, np.eye(3)) + eta[:, None, None, :]
    as_if_straight = curved.of._replace(bend=[None, *map(np.zeros_like, curved.of.bend[1:])])
    return [*against(recurrences(rng, "relu"), eq.eq_65_dw_dx, "w", "x"),
            *against(recurrences(rng, "relu"), first_line, "w", "x",
                     what="first line, corrected, "),
            Printed(Equal("as printed, its free j read as m", lost, right, CLEAR)),
            Counterexample(Equal("tanh, without its second derivatives",
                                 eq.eq_65_dw_dx(as_if_straight), curved.d("w", "x"), CLEAR))]


@equation(PAPER, "u-recurrent-curved",
          where="appendix B.2.2, below (65): the results of the next section for other activations",
          statement="Second derivatives of the recurrent layer for any activation: the "
                    "unrolled network's, summed over copies of the weights.",
          kind="identity", verdict="holds", ours=True,
          implements=(eq.eq_63_dw_dw, eq.eq_65_dw_dx, eq.eq_64_dx_dx),
          uses=("60", "61", "62", "72", "77"))
def u_recurrent_curved(rng):
    claims = []
    for what, rule, names in (("weights twice, ", eq.eq_63_dw_dw, ("w", "w")),
                              ("weights and inputs, ", eq.eq_65_dw_dx, ("w", "x")),
                              ("inputs twice, ", eq.eq_64_dx_dx, ("x", "x"))):
        claims += against(recurrences(rng, "relu", "softplus", "tanh"), rule, *names, what=what)
    return claims
