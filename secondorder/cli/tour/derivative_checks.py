"""How each exact derivative of a network is checked: measured error beside expected error.

Every row compares a hand-derived quantity with a channel that shares no code with it: differences
of function values, the rate of a Taylor remainder, or a second hand-derived route through other
passes.
"""

from dataclasses import asdict, dataclass

import numpy as np

from secondorder import exact
from secondorder.exact.finite_differences import (central, complex_step, gradient_of_objective,
                                                  objective, taylor_order, taylor_remainders)
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
    rng, model = generator(rng), (network, loss, x, y)
    v = rng.standard_normal(network.size)
    v /= np.linalg.norm(v)
    gradient = exact.gradient(*model, l2=l2)
    hessian = exact.hessian(*model, method="blocks", l2=l2)
    return [*_first_order(model, l2, gradient, v),
            *_second_order(model, l2, gradient, hessian, v),
            *_routes(model, l2, hessian, v),
            _polarisation(model, l2, hessian, rng.standard_normal((PAIRS, 2, network.size))),
            _gauss_newton(model, l2)]


def _outputs(network, x):
    """The outputs as a function of the parameters, of a copy of the network."""
    own = network.copy()

    def outputs(theta):
        own.theta = theta
        return own(x)

    return outputs


def _first_order(model, l2, gradient, v):
    network, _, x, _ = model
    theta, value = network.theta, objective(*model, l2)
    remainders = taylor_remainders(value, theta, v, [value(theta), gradient @ v], STEPS)
    return [_predicted("gradient", "central differences of the loss", central(value, theta),
                       gradient),
            _relative("gradient", "one complex step in every parameter", gradient,
                      complex_step(value, theta)),
            _rate("gradient", "Taylor remainder of the loss", remainders, 2),
            _predicted("Jacobian of the outputs", "central differences of the outputs",
                       central(_outputs(network, x), theta), exact.jacobian(network, x))]


def _second_order(model, l2, gradient, hessian, v):
    theta, value = model[0].theta, objective(*model, l2)
    remainders = taylor_remainders(value, theta, v, [value(theta), gradient @ v, v @ hessian @ v],
                                   STEPS)
    return [_predicted("Hessian, by blocks", "central differences of the gradient",
                       central(gradient_of_objective(*model, l2), theta), hessian),
            _rate("Hessian, by blocks", "Taylor remainder of the loss", remainders, 3)]


def _routes(model, l2, hessian, v):
    theta, slope = model[0].theta, gradient_of_objective(*model, l2)
    by_products = exact.hessian(*model, method="products", l2=l2)
    product = exact.hessian_vector_product(*model, v, l2=l2)
    along = central(lambda t: slope(theta + t[0] * v), np.zeros(1))
    return [_relative("Hessian, by products", "Hessian, by blocks", by_products, hessian),
            _predicted("Hessian-vector product", "central differences of the gradient along v",
                       along, product[:, None]),
            _relative("v'Hv, forward passes only", "v' times the Hessian-vector product",
                      exact.two_jet(*model, v, l2=l2)[2], v @ product)]


def _polarisation(model, l2, hessian, pairs):
    """v^T H w = (q(v + w) - q(v) - q(w)) / 2 for pairs (N, 2, P), q by forward passes."""
    def q(v):
        return exact.two_jet(*model, v, l2=l2)[2]

    polarised = np.array([(q(v + w) - q(v) - q(w)) / 2 for v, w in pairs])
    return _relative("Hessian, by polarisation", f"Hessian, by blocks, in {len(pairs)} pairs",
                     polarised, np.array([v @ hessian @ w for v, w in pairs]))


def _gauss_newton(model, l2):
    """J'FJ: J by differences of the outputs, F by differences of the loss's gradient."""
    network, loss, x, y = model
    jacobian, outputs = central(_outputs(network, x), network.theta), network(x)
    targets = loss.prepare_target(y, outputs.shape, outputs.dtype)
    samples = len(outputs)
    curvatures = [central(lambda p, s=s: loss.gradient(p[None], targets[s : s + 1])[0], outputs[s])
                  for s in range(samples)]
    form = sum(jacobian.value[s].T @ curvatures[s].value @ jacobian.value[s]
               for s in range(samples)) / samples
    error = sum(_product_error(jacobian, curvatures[s], s) for s in range(samples)) / samples
    matrix = exact.gauss_newton(*model, l2=l2) - l2 * np.eye(network.size)
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
