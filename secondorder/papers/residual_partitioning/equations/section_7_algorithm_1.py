"""Algorithm 1 in the readings that its text admits, against loops and against the bound."""

import numpy as np

from ....ledger import AtMost, Case, Equal, Printed, PrintedShape, Property, Stated, equation
from .. import PAPER
from ..method import bound_at
from ..section_7_algorithm_1 import (algorithm_1, algorithm_1_as_printed, eq_9_10_inputs,
                                     eq_9_10_weights, eq_41_carried, eq_45_46_jensen)
from . import cases, reference
from .claims import in_case, is_bound
from .reference import Reading

TWO_READINGS = (
    "Where a line can be read in two ways, it is read like (46) and (41). The other readings run "
    "too, and fail.")


@equation(PAPER, "algorithm-1",
          statement="One forward pass for u and one backward pass give the update of every "
                    "parameter. (Wrong in print: Y_ddot is not divided by u again, u^(0) stands "
                    "for u^(1), the bias j = 0 and the loop over s are missing. Last: affine and "
                    "activation layers.)",
          condition=TWO_READINGS, kind="algorithm", verdict="erratum", weight="substance",
          implements=(Stated(algorithm_1, "u", "Z", "W_ddot"), eq_45_46_jensen, eq_9_10_weights,
                      eq_9_10_inputs, eq_41_carried, algorithm_1_as_printed),
          uses=("9", "11", "theorem-2", "15", "18", "41", "46"))
def algorithm_1_check(rng):
    curved, loss = rng.choice(cases.CURVED), rng.choice(list(cases.LOSSES))
    claims = []
    for name, scale in ((curved, 1.5), ("sin", 3.0)):
        at = cases.evaluation(rng, name, loss, samples=3, sizes=(2, 3, 2, 3), scale=scale)
        claims += in_case(name, *corrected_lines(at), *printed_lines(at))
    return [*claims, *every_row(rng), *printed_bound(rng), *diagonal_start(rng), *indices(at)]


def every_row(rng):
    """All forms against loops: frozen layers, batches of all sizes, nested chains, float32."""
    claims = []
    for name, at in cases.rows(rng).items():
        expected, single = reference.algorithm(at), cases.single_precision(at)
        claims.append(Equal("parts above zero: W_ddot against loops",
                            bound_at(at, "jensen", "max").curvature,
                            reference.algorithm(at, Reading(way="max"))[1], 1e-12, case=name))
        if not ("fixed" in name or "only" in name):
            claims.append(Equal("algorithm_1_as_printed: W_ddot against loops",
                                algorithm_1_as_printed(at),
                                reference.algorithm(at, Reading("Y_ddot"))[1], 1e-12, case=name))
        forms = {"the algorithm": bound_at(at, "jensen"), "explicit fractions": cases.built(at),
                 "nested chains": bound_at(cases.nested(at), "jensen"),
                 "float32": bound_at(single, "jensen")}
        claims += [Equal(f"{form}: W_dot and W_ddot against loops", (one.gradient, one.curvature),
                         expected, 1e-4 if form == "float32" else 1e-12, case=name)
                   for form, one in forms.items()]
        claims.append(Property("float32: the curvature stays float32",
                               forms["float32"].curvature.dtype.name, "float32", case=name))
    return claims


def corrected_lines(at):
    """The corrected algorithm, all its lines, against loops."""
    W_dot, W_ddot = reference.algorithm(at)
    u, Z, curvature = algorithm_1(at, "jensen")
    by_loops, fractions = reference.total_gradients(at), cases.built(at)
    step, decrease = cases.last_lines(W_dot, W_ddot, 0.5)
    return [Equal("W_ddot against loops", curvature, W_ddot, 1e-12),
            Equal("u against loops", np.hstack(u[1:]), np.hstack(by_loops[1:]), 1e-13),
            Equal("Z against S Y_ddot u of explicit fractions", np.hstack(Z[1:]), at.samples
                  * np.hstack([a * b for a, b in zip(fractions.Y_ddot[1:], by_loops[1:])]), 1e-12),
            Equal("the update, and what it promises, against loops", [*(0.5 * step), decrease],
                  [*(-0.5 * g / h for g, h in zip(W_dot, W_ddot)),
                   sum((0.5 - 0.125) * g**2 / h for g, h in zip(W_dot, W_ddot))], 1e-12),
            Case(y_1=at.x, u_L=u[-1], W_dot=W_dot, W_ddot=W_ddot)]


def printed_lines(at):
    """The printed algorithm as the package keeps it, and each misprint by itself."""
    right, printed = bound_at(at, "jensen").curvature, algorithm_1_as_printed(at)
    last = at.network.slices[-1]
    readings = {"Y_ddot in place of Z": Reading("Y_ddot"),
                "other reading: one root over f_ii and the sum": Reading(root="nested"),
                "other reading: |.| squared around the first term": Reading(absolute="square")}
    return [Equal("algorithm_1_as_printed against loops", printed,
                  reference.algorithm(at, Reading("Y_ddot"))[1], 1e-12),
            *(Printed(Equal(f"W_ddot, {what}", reference.algorithm(at, reading)[1], right, 1e-6))
              for what, reading in readings.items()),
            Equal("in it, the last layer is right", printed[last], right[last], 1e-12)]


def printed_bound(rng):
    """Small total gradients: the printed algorithm gives no bound."""
    theta = np.array([1.0, -3.0, 1.0, 1.0]) * (1 + 0.01 * rng.uniform(-1, 1, 4))
    small = cases.one_unit(theta, -1.0, "softplus", x=0.5)
    H = cases.bounded(small)
    printed, right = algorithm_1_as_printed(small), bound_at(small, "jensen").curvature
    return [is_bound("corrected: 0 against the least eigenvalue of diag(W_ddot) - bounded Hessian",
                     right, H),
            Printed(AtMost("algorithm_1_as_printed: 0 against the same", 0.0,
                           reference.least_eigenvalue(printed, H), 1e-4, scale=right))]


def diagonal_start(rng):
    """Squared error, f_ii' = 0 for i != i': the printed first backward line bounds, with several
    times what it takes; f_ii u would do.
    """
    at = cases.evaluation(rng)
    needed = reference.algorithm(at, Reading(start="diagonal"))[1]
    return [is_bound("squared error: 0 against the least eigenvalue with f_ii u at the outputs",
                     needed, cases.bounded(at)),
            Printed(AtMost("squared error: W_ddot of the printed first line against what is needed",
                           reference.algorithm(at)[1].sum(), needed.sum(), 1e-2))]


def indices(at):
    """Loops that leave out what a later line reads."""
    first, u = reference.walk(at)[0][0], reference.total_gradients(at)
    # layers whose u the printed loops set: 0 at the start, 2, ..., L
    filled = {0} | set(range(2, len(u) + 1))
    return [Property("layers whose u is read and never set, as u^(0) is set in its place",
                     tuple(sorted(set(range(1, len(u) + 1)) - filled)), (1,)),
            # filled by the loop over j in [m], read by the return line
            PrintedShape("W_ddot of layer 1, as filled and as read", first.layer.weight.shape,
                         first.A.shape),
            PrintedShape("u^(2) as the loop over i alone fills it, and as the lines that follow "
                         "read it", u[1][0].shape, u[1].shape)]
