"""How each exact derivative of a network is checked: measured error beside allowed error.

Every row compares a hand-derived quantity with a channel that shares no code with it: differences
of function values, the rate of a Taylor remainder, or a second hand-derived route through other
passes.
"""

from typing import NamedTuple

import numpy as np

from secondorder import exact
from secondorder.checks.randomness import generator
from secondorder.exact.finite_differences import (central, complex_step, gradient_of_objective,
                                                  objective, outputs_of, taylor_order,
                                                  taylor_remainders)

ROUNDING = 1e-12  # relative difference allowed between two exact routes in float64
RATE = 0.1  # allowed deviation of a Taylor remainder's slope from its order
STEPS = 10.0 ** -np.arange(1.0, 3.01, 0.25)


class Check(NamedTuple):
    """One row of the table: `error` is to stay below `tolerance`."""

    quantity: str
    against: str
    error: float
    tolerance: float
    measure: str

    @property
    def ok(self):
        return bool(self.error <= self.tolerance)


def check_derivatives(network, loss, x, y, l2=0.0, rng=None):
    """Check a network's gradient, Jacobian, Hessian, its products and Gauss-Newton matrix.

    The network is in float64, small, since whole matrices are built, and smooth. x is (S, D); `rng`
    draws a direction.
    """
    rng, model, theta = generator(rng), (network, loss, x, y), network.theta
    v = rng.standard_normal(network.size)
    v /= np.linalg.norm(v)
    value, slope, outputs = (objective(*model, l2), gradient_of_objective(*model, l2),
                             outputs_of(network, x))
    gradient, jacobian = exact.gradient(*model, l2=l2), exact.jacobian(network, x)
    hessian = exact.hessian(*model, method="blocks", l2=l2)
    product = exact.hessian_vector_product(*model, v, l2=l2)
    along = central(lambda t: slope(theta + t[0] * v), np.zeros(1))
    return [
        _predicted("gradient", "central differences of the loss", central(value, theta), gradient),
        _relative("gradient", "one complex step in every parameter", gradient,
                  complex_step(value, theta)),
        _rate("gradient", value, theta, v, [value(theta), gradient @ v]),
        _predicted("Jacobian of the outputs", "central differences of the outputs",
                   central(outputs, theta), jacobian),
        _predicted("Hessian, by blocks", "central differences of the gradient",
                   central(slope, theta), hessian),
        _rate("Hessian, by blocks", value, theta, v,
              [value(theta), gradient @ v, v @ hessian @ v]),
        _relative("Hessian, by products", "Hessian, by blocks",
                  exact.hessian(*model, method="products", l2=l2), hessian),
        _predicted("Hessian-vector product", "central differences of the gradient along v", along,
                   product[:, None]),
        _relative("v'Hv, forward passes only", "v' times the Hessian-vector product",
                  exact.two_jet(*model, v, l2=l2)[2], v @ product),
        _relative("Gauss-Newton matrix", "J'FJ with J and F from complex steps",
                  exact.gauss_newton(*model, l2=l2), gauss_newton(model, outputs, l2))]


def gauss_newton(model, outputs, l2):
    """J'FJ / S + l2 I: J by complex steps of the outputs, F by those of the loss's gradient."""
    network, loss, x, y = model
    p = network(x)
    targets, jacobian = loss.prepare_target(y, p.shape, p.dtype), complex_step(outputs,
                                                                               network.theta)
    curvature = [complex_step(lambda own: loss.gradient(own[None], targets[s : s + 1])[0], p[s])
                 for s in range(len(p))]
    return np.einsum("sip,sij,sjq->pq", jacobian, curvature, jacobian, optimize=True) / len(
        p) + l2 * np.eye(network.size)


def _predicted(quantity, against, difference, reference):
    return Check(quantity, against, difference.excess(reference), 1.0, "of the predicted error")


def _relative(quantity, against, value, reference):
    error = float(np.max(np.abs(value - reference)) / np.max(np.abs(reference)))
    return Check(quantity, against, error, ROUNDING, "relative")


def _rate(quantity, value, theta, v, derivatives):
    order = len(derivatives)
    remainders = taylor_remainders(value, theta, v, derivatives, STEPS)
    return Check(quantity, "Taylor remainder of the loss",
                 abs(taylor_order(remainders, STEPS) - order), RATE, f"slope, from {order}")


def table(checks):
    """The checks as lines of text."""
    head = f"{'quantity':<27}{'checked against':<45}{'error':>8}  allowed  measured as"
    return "\n".join([head, "-" * len(head), *(
        f"{c.quantity:<27}{c.against:<45}{c.error:>8.1e}  {c.tolerance:<7.0e}  {c.measure:<24}"
        f"{'ok' if c.ok else 'FAILED'}" for c in checks)])
