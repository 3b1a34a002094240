"""Algorithm 1 in the readings that its text admits, against loops and against the bound."""

import numpy as np

from .... import exact
from ....ledger import AtMost, Case, Equal, Printed, PrintedShape, Property, Stated, equation
from ....nets import Activation
from .. import PAPER, coefficients
from ..fast import bound_at
from ..rules import OUTPUTS, ActivationRule, LinearRule
from ..explicit import explicit_bound
from ..algorithm_1 import algorithm_1 as corrected_algorithm
from ..algorithm_1 import algorithm_1_as_printed
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
          implements=(Stated(corrected_algorithm, "W_dot", "W_ddot", "delta"), LinearRule.forward,
                      LinearRule.backward, ActivationRule.forward, ActivationRule.backward,
                      OUTPUTS["jensen"],
                      Stated(algorithm_1_as_printed, "W_dot", "W_ddot", "delta")),
          uses=("9", "11", "theorem-2", "15", "18", "41", "46"))
def algorithm_1(rng):
    activation, loss = rng.choice(cases.CURVED), rng.choice(list(cases.LOSSES))
    claims = []
    for name, scale in ((activation, 1.5), ("sin", 3.0)):
        at = cases.evaluation(rng, name, loss, samples=3, sizes=(2, 3, 2, 3), scale=scale)
        claims += in_case(name, *corrected_lines(at), *printed_lines(at))
    return [*claims, *every_row(rng), *printed_bound(rng), *diagonal_start(rng),
            *indices(at)]


def every_row(rng):
    """All forms against loops: frozen layers, batches of all sizes, nested chains, float32."""
    claims = []
    for name, at in cases.rows_and_sin(rng).items():
        expected, single = reference.algorithm(at), cases.single_precision(at)
        forms = {"the fast form": bound_at(at, "jensen"), "explicit fractions": explicit_bound(at),
                 "nested chains": bound_at(cases.nested(at), "jensen"),
                 "float32, the fast form": bound_at(single, "jensen"),
                 "float32, explicit fractions": explicit_bound(single)}
        forms = {form: (one.gradient, one.curvature) for form, one in forms.items()}
        forms |= {"the literal form": corrected_algorithm(at)[:2],
                  "float32, the literal form": corrected_algorithm(single)[:2]}
        claims.append(Equal("parts above zero: W_ddot against loops",
                            bound_at(at, "jensen", "max").curvature,
                            reference.algorithm(at, Reading(way="max"))[1], 1e-12, case=name))
        if all(layer.trainable or isinstance(layer, Activation) for layer in at.network.layers):
            claims.append(Equal("algorithm_1_as_printed: W_ddot against loops",
                                algorithm_1_as_printed(at).W_ddot,
                                reference.algorithm(at, Reading("Y_ddot"))[1], 1e-12, case=name))
        for form, sides in forms.items():
            claims.append(Equal(f"{form}: W_dot and W_ddot against loops", sides, expected,
                                1e-4 if "float32" in form else 1e-12, case=name))
            if "float32" in form:
                claims.append(Property(f"{form}: what it gives stays float32",
                                       {array.dtype.name for array in sides}, {"float32"}))
    return claims


def corrected_lines(at):
    """The corrected algorithm, line by line and fast, against loops."""
    W_dot, W_ddot = reference.algorithm(at)
    fast, by_loops = bound_at(at, "jensen"), (W_dot, W_ddot, -0.5 * W_dot / W_ddot)
    return [Equal("algorithm_1, line by line, against loops",
                  corrected_algorithm(at, learning_rate=0.5), by_loops, 1e-12),
            Equal("W_dot and W_ddot against loops", [fast.gradient, fast.curvature],
                  [W_dot, W_ddot], 1e-12),
            Equal("W_dot by loops against back-propagation", W_dot,
                  exact.gradient(at.network, at.loss_function, at.x, at.y), 1e-12),
            Case(y_1=at.x, u_L=fast.total_gradients[-1], W_dot=W_dot, W_ddot=W_ddot)]


def printed_lines(at):
    """The printed algorithm as the package keeps it, and each misprint by itself."""
    right, printed = bound_at(at, "jensen").curvature, algorithm_1_as_printed(at, learning_rate=0.5)
    W_dot, W_ddot = reference.algorithm(at, Reading("Y_ddot"))
    last, by_loops = at.network.slices[-1], (W_dot, W_ddot, -0.5 * W_dot / W_ddot)
    readings = {"Y_ddot in place of Z": Reading("Y_ddot"),
                "other reading: one root over f_ii and the sum": Reading(root="nested"),
                "other reading: |.| squared around the first term": Reading(absolute="square")}
    return [*(Equal(f"algorithm_1_as_printed against loops, {what}", array, expected, 1e-12)
              for what, array, expected in zip(("W_dot", "W_ddot", "update"), printed, by_loops)),
            *(Printed(Equal(f"W_ddot, {what}", reference.algorithm(at, reading)[1], right, 1e-6))
              for what, reading in readings.items()),
            Equal("in it, the last layer is right", printed.W_ddot[last], right[last], 1e-12)]


def printed_bound(rng):
    """Small total gradients: the printed algorithm gives no bound."""
    theta = np.array([1.0, -3.0, 1.0, 1.0]) * (1 + 0.01 * rng.uniform(-1, 1, 4))
    small = cases.one_unit(theta, -1.0, "softplus", x=0.5)
    H = cases.bounded(small)
    printed, right = algorithm_1_as_printed(small).W_ddot, bound_at(small, "jensen").curvature
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
            Equal("squared error: W_ddot that starts with f_ii u, against loops",
                  bound_at(at, "diagonal").curvature, needed, 1e-12),
            Printed(AtMost("squared error: W_ddot of the printed first line against what is needed",
                           reference.algorithm(at)[1].sum(), needed.sum(), 1e-2))]


def indices(at):
    """Loops that leave out what a later line reads."""
    first, u = at.network.layers[0], reference.total_gradients(at)
    read = coefficients.unflatten(first, at.network.theta[at.network.slices[0]])
    # layers whose u the printed loops set: 0 at the start, 2, ..., L
    filled = {0} | set(range(2, len(u) + 1))
    return [Property("layers whose u is read and never set, as u^(0) is set in its place",
                     tuple(sorted(set(range(1, len(u) + 1)) - filled)), (1,)),
            # filled by the loop over j in [m], read by the return line
            PrintedShape("W_ddot of layer 1, as filled and as read", first.weight.shape,
                         read.shape),
            PrintedShape("u^(2) as the loop over i alone fills it, and as the lines that follow "
                         "read it", u[1][0].shape, u[1].shape)]
