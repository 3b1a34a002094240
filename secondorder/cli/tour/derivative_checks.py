"""How each exact derivative of a network is checked: measured error beside expected error.

Every row compares a hand-derived quantity with a channel that shares no code with it: differences
of function values, the rate of a Taylor remainder, or a second hand-derived route through other
passes.
"""

from dataclasses import asdict, dataclass

import numpy as np

from secondorder import exact
from secondorder.exact.finite_differences import (central, complex_step, taylor_remainders,
                                                  taylor_order)
from secondorder.checks.randomness import generator

ROUNDING = 1e-12  # relative difference allowed between two exact routes in float64
RATE = 0.1  # allowed deviation of a Taylor remainder's slope from its order
PAIRS = 40  # of directions, each of all parameters, in which the Hessian is polarised
STEPS = 10.0 ** -np.arange(1.0, 3.01, 0.25)


@dataclass(frozen=True)
class Check:
    """One row of the table: `error` is to stay below `tolerance`."""

    quantity: str
    against: str
    error: float
    tolerance: float
    measure: str

    @property
    def ok(self):
        return bool(self.error <= self.tolerance)

    def to_dict(self):
        """Plain values for JSON."""
        return asdict(self) | {"ok": self.ok}


def check_derivatives(network, loss, x, y, l2=0.0, rng=None):
    """Check a network's gradient, Jacobian, Hessian, its products and Gauss-Newton matrix.

    The network is in float64, small, since whole matrices are built, and smooth. x is (S, D); `rng`
    draws the directions.
    """
    rng = generator(rng)
    v = rng.standard_normal(network.size)
    v /= np.linalg.norm(v)
    gradient = exact.gradient(network, loss, x, y, l2=l2)
    hessian = exact.hessian(network, loss, x, y, method="blocks", l2=l2)
    functions = _Functions(network, loss, x, y, l2)
    return [*_first_order(functions, gradient, v),
            *_second_order(functions, gradient, hessian, v),
            *_routes(functions, hessian, v),
            _polarisation(functions, hessian, rng.standard_normal((PAIRS, 2, network.size))),
            _gauss_newton(functions)]


class _Functions:
    """Loss, gradient and outputs as functions of the parameters, on a copy of the network."""

    def __init__(self, network, loss, x, y, l2):
        self.network, self.loss, self.x, self.y, self.l2 = network.copy(), loss, x, y, l2
        self.theta = network.theta.copy()
        self.complex_network = network.astype("complex128")

    def _at(self, theta, network=None):
        network = network or self.network
        network.theta = theta
        return network

    def value(self, theta):
        evaluation = self._at(theta).evaluate(self.loss, self.x, self.y)
        return evaluation.loss + 0.5 * self.l2 * theta @ theta

    def complex_value(self, theta):
        evaluation = self._at(theta, self.complex_network).evaluate(self.loss, self.x, self.y)
        return evaluation.losses.mean() + 0.5 * self.l2 * theta @ theta

    def gradient(self, theta):
        return exact.gradient(self._at(theta), self.loss, self.x, self.y, l2=self.l2)

    def outputs(self, theta):
        return self._at(theta)(self.x)

    def restored(self):
        return self._at(self.theta)


def _first_order(functions, gradient, v):
    by_differences = central(functions.value, functions.theta)
    by_complex_step = complex_step(functions.complex_value, functions.theta)
    jacobian = exact.jacobian(functions.restored(), functions.x)
    jacobian_differences = central(functions.outputs, functions.theta)
    remainders = taylor_remainders(functions.value, functions.theta, v,
                                   [functions.value(functions.theta), gradient @ v], STEPS)
    return [_predicted("gradient", "central differences of the loss", by_differences, gradient),
            _relative("gradient", "one complex step in every parameter", gradient, by_complex_step),
            _rate("gradient", "Taylor remainder of the loss", remainders, 2),
            _predicted("Jacobian of the outputs", "central differences of the outputs",
                       jacobian_differences, jacobian)]


def _second_order(functions, gradient, hessian, v):
    value = functions.value(functions.theta)
    remainders = taylor_remainders(functions.value, functions.theta, v,
                                   [value, gradient @ v, v @ hessian @ v], STEPS)
    return [_predicted("Hessian, by blocks", "central differences of the gradient",
                       central(functions.gradient, functions.theta), hessian),
            _rate("Hessian, by blocks", "Taylor remainder of the loss", remainders, 3)]


def _routes(functions, hessian, v):
    network, rest = functions.restored(), (functions.loss, functions.x, functions.y)
    rows = [_relative("Hessian, by products", "Hessian, by blocks",
                      exact.hessian(network, *rest, method="products", l2=functions.l2), hessian)]
    product = exact.hessian_vector_product(network, *rest, v, l2=functions.l2)

    def along(t):
        return functions.gradient(functions.theta + t[0] * v)

    rows.append(_predicted("Hessian-vector product", "central differences of the gradient along v",
                           central(along, np.zeros(1)), product[:, None]))
    curvature = exact.two_jet(functions.restored(), *rest, v, l2=functions.l2)[2]
    rows.append(_relative("v'Hv, forward passes only", "v' times the Hessian-vector product",
                          curvature, v @ product))
    return rows


def _polarisation(functions, hessian, pairs):
    """v^T H w = (q(v + w) - q(v) - q(w)) / 2 for pairs (N, 2, P), q by forward passes."""
    network, rest = functions.restored(), (functions.loss, functions.x, functions.y)

    def q(v):
        return exact.two_jet(network, *rest, v, l2=functions.l2)[2]

    polarised = np.array([(q(v + w) - q(v) - q(w)) / 2 for v, w in pairs])
    return _relative("Hessian, by polarisation", f"Hessian, by blocks, in {len(pairs)} pairs",
                     polarised, np.array([v @ hessian @ w for v, w in pairs]))


def _gauss_newton(functions):
    """J'FJ: J by differences of the outputs, F by differences of the loss's gradient."""
    jacobian = central(functions.outputs, functions.theta)
    outputs = functions.restored()(functions.x)
    targets = functions.loss.prepare_target(functions.y, outputs.shape, outputs.dtype)
    samples = len(outputs)
    curvatures = [central(lambda p, s=s: functions.loss.gradient(p[None], targets[s : s + 1])[0],
                          outputs[s]) for s in range(samples)]
    form = sum(jacobian.value[s].T @ curvatures[s].value @ jacobian.value[s]
               for s in range(samples)) / samples
    error = sum(_product_error(jacobian, curvatures[s], s) for s in range(samples)) / samples
    matrix = exact.gauss_newton(functions.network, functions.loss, functions.x, functions.y,
                                l2=functions.l2)
    matrix = matrix - functions.l2 * np.eye(len(matrix))
    return _predicted("Gauss-Newton matrix", "J'FJ with J and F from central differences",
                      type(jacobian)(form, error), matrix)


def _product_error(jacobian, curvature, s):
    """First-order error of J'FJ from the predicted errors of J and F."""
    value, error, inner = np.abs(jacobian.value[s]), jacobian.error[s], np.abs(curvature.value)
    crossed = value.T @ inner @ error
    return crossed + crossed.T + value.T @ curvature.error @ value


def _predicted(quantity, against, difference, reference):
    return Check(quantity, against, difference.excess(reference), 1.0, "of the predicted error")


def _relative(quantity, against, value, reference):
    scale = np.max(np.abs(reference))
    return Check(quantity, against, float(np.max(np.abs(value - reference)) / scale), ROUNDING,
                 "relative")


def _rate(quantity, against, remainders, order):
    return Check(quantity, against, abs(taylor_order(remainders, STEPS) - order), RATE,
                 f"slope, from {order}")


def table(checks):
    """The checks as lines of text."""
    head = ("quantity", "checked against", "error", "allowed", "measured as", "")
    rows = [(c.quantity, c.against, f"{c.error:.1e}", f"{c.tolerance:.0e}", c.measure,
             "ok" if c.ok else "FAILED") for c in checks]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
             for row in [head, *rows]]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])
