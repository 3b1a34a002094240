"""A layer's passes against each other, in float32, and inside a whole network.

They run on passes that agree with differences: a pass that is known to be wrong would only be
named again.
"""

import copy

import numpy as np

from ...exact import gradient, hessian_vector_product
from ...exact.finite_differences import gradient_of_objective, objective
from ...nets import Activation, Linear, Network, Reshape, SquaredError
from ..differences import at_zero, central
from ..findings import PROMOTES
from .layer_under_test import MOST_ENTRIES, none_if_empty
from .passes import PAIRS, flat, labelled, run


def check_identities(checks):
    """What ties the passes together, to rounding: nothing here is a difference quotient."""
    recorder, x_t, x_2, y_bar = checks.recorder, checks.x_tangent, checks.x_second, checks.y_bar
    samples, y_bar_t = len(checks.y), checks.y_bar_tangent

    def passes(name, *args):
        result = run(checks.subject.layer, name, checks.saved,
                     tuple(none_if_empty(arg) for arg in args))
        return (result[0], flat(result[1])) if name in PAIRS else result

    def same(name, what, left, right):
        left, right = ([float(np.sum(a * b)) for a, b in side] for side in (left, right))
        recorder.compare(name, what, sum(left), sum(right), names=("left", "right"),
                         scale=max(np.abs(left + right).sum(), 1.0))

    theta_t, still = checks.theta_tangent, np.zeros_like(x_t)
    x_bar, theta_bar = passes("backward", y_bar)
    y_t, y_2 = passes("tangent", x_t, theta_t), passes("second_tangent", x_t, x_2, theta_t)
    x_bar_t, theta_bar_t = passes("backward_tangent", x_t, theta_t, y_bar, y_bar_t)
    same("backward", "<y_bar, y_tangent> against <x_bar, x_tangent> + <theta_bar, theta_tangent>",
         [(y_bar, y_t)], [(x_bar, x_t), (theta_bar, theta_t)])
    if theta_bar.size:
        recorder.compare("parameter_gradients", "rows summed over samples against theta_bar",
                         flat(passes("parameter_gradients", y_bar), 1).sum(axis=0), theta_bar,
                         names=("sum", "theta_bar"))
    same("backward_tangent",
         "the derivative of that identity: <y_bar, y_second> + <y_bar_tangent, y_tangent> against "
         "<x_bar_tangent, x_tangent> + <x_bar, x_second> + <theta_bar_tangent, theta_tangent>",
         [(y_bar, y_2), (y_bar_t, y_t)], [(x_bar_t, x_t), (x_bar, x_2), (theta_bar_t, theta_t)])
    H_x, rows = passes("input_hessian", y_bar, checks.H_y), x_t.reshape(samples, -1)
    y_t = passes("tangent", x_t, 0 * theta_t).reshape(samples, -1)
    y_2 = passes("second_tangent", x_t, still, 0 * theta_t)
    recorder.compare(
        "input_hessian", "x_tangent^T H_x x_tangent against tangent and second_tangent",
        np.einsum("si,sij,sj->s", rows, H_x, rows), np.einsum("si,sij,sj->s", y_t, checks.H_y, y_t)
        + (y_bar * y_2).reshape(samples, -1).sum(axis=1), names=("input_hessian", "tangents"))
    recorder.compare("input_hessian", "H_x against its transpose", H_x, H_x.transpose(0, 2, 1),
                     scale=float(np.abs(H_x).max()) or 1.0, names=("H_x", "transposed"))


def check_single_precision(checks):
    """Every pass in float32: what it returns is float32."""
    subject, narrow = checks.subject, copy.deepcopy(checks.subject.layer)
    narrow.convert("float32")
    y, saved = narrow.forward(subject.x.astype(np.float32))
    returned = {"forward": [("y", y)]}
    for name in checks.judged:
        args = [None if arg is None else arg.astype(np.float32) for arg in checks.arguments(name)]
        returned[name] = labelled(narrow, name, run(narrow, name, saved, args))
    for name, parts in returned.items():
        for label, part in parts:
            checks.recorder.fact(name, f"{label} keeps float32", part.dtype == np.float32,
                                 f"turns float32 into {part.dtype}: {label}",
                                 hint="write constants as Python numbers and make arrays with the "
                                      "dtype of the input", kind=PROMOTES)


# -- the layer in the middle of a network ----------------------------------------------------------

def check_in_network(checks, by_hand=True):
    """Gradient and Hessian-vector product of a network that has the layer in its middle, against
    differences; where the network supplies passes by differences itself, how far the product is
    off is told.
    """
    subject, recorder, rng = checks.subject, checks.recorder, checks.subject.rng
    n_in, n_out = subject.x[0].size, checks.y[0].size
    for _ in range(10):
        net = Network([Linear(3, n_in, rng=rng), Activation("tanh"),
                       Reshape(n_in, subject.shape[1:]), copy.deepcopy(subject.layer),
                       Reshape(checks.y.shape[1:], n_out), Linear(n_out, 2, rng=rng)])
        x, y = rng.standard_normal((len(subject.x), 3)), rng.standard_normal((len(subject.x), 2))
        case = net, SquaredError(), x, y
        direction = rng.standard_normal(net.size)
        chosen = np.sort(rng.permutation(net.size)[:MOST_ENTRIES // 2])
        value, derivative = objective(*case), gradient_of_objective(*case)

        def entries(values, value=value, net=net, chosen=chosen):
            theta = net.theta.copy()
            theta[chosen] = values
            return value(theta)
        by_value = central(entries, net.theta[chosen])
        by_derivative = at_zero(
            lambda t, net=net, derivative=derivative, d=direction: derivative(net.theta + t * d))
        if max(by_value.error.max(),
               by_derivative.error.max()) < 1e-4 * max(1.0, np.abs(by_value.value).max()):
            break
    recorder.compare(
        "network",
        "gradient of a network with the layer inside against differences of its objective",
        gradient(*case)[chosen], by_value.value, by_value.error, names=("gradient", "differences"))
    product = hessian_vector_product(*case, direction)
    if by_hand:
        recorder.compare(
            "network", "Hessian-vector product of that network against differences of its gradient",
            product, by_derivative.value, by_derivative.error, names=("product", "differences"))
        return
    error = np.abs(product - by_derivative.value).max() / (np.abs(product).max() or 1.0)
    recorder.note("a product with the Hessian of a small network, which takes the other passes "
                  f"from differences, is right to {error:.0e} of its largest entry")
