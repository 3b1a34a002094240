"""The channels that compare a layer's passes with each other and with a whole network.

They run on passes that agree with differences: a pass that is known to be wrong would only be
named again.
"""

import copy

import numpy as np

from ...exact import gradient, hessian_vector_product
from ...exact.finite_differences import (gradient_of_objective, objective, taylor_order,
                                         taylor_remainders)
from ...nets import Activation, Linear, Network, Reshape, SquaredError
from ..differences import at_zero, central, error_by_step
from .layer_under_test import MOST_ENTRIES, none_if_empty
from .passes import PAIRS, flat, run

_SLACK = 0.35
_LINES = 3
_FEW = (8, 1)  # of the numbers move on the second and the third line, which cross fewer kinks
_LONGEST, _STEPS = 3e-2, 14


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


def check_rates(checks):
    """Taylor remainders along a line: order 2 with the gradient, 3 with the Hessian too.

    The outputs pass through a cosine first, so that the remainders do not vanish for layers that
    are linear.
    """
    subject, recorder, shift = checks.subject, checks.recorder, checks.y_bar
    start = np.concatenate([subject.x.ravel(), subject.theta])

    def split(vector):
        return vector[:subject.x.size].reshape(subject.x.shape), vector[subject.x.size:]

    def scalar(point):
        return float(np.sum(np.cos(subject.forward(*split(point)) + shift)))

    steps, moving = _LONGEST * 2.0 ** -np.arange(_STEPS), iter((start.size, *_FEW))
    sine, cosine = np.sin(checks.y + shift), np.cos(checks.y + shift)

    def draw():
        direction = subject.rng.standard_normal(start.size)
        direction[subject.rng.permutation(start.size)[next(moving):]] = 0.0
        x_t, theta_t = split(direction)
        saved = subject.call("forward", subject.x)[1]
        y_t = subject.call("tangent", saved, x_t, none_if_empty(theta_t))
        y_2 = subject.call("second_tangent", saved, x_t, np.zeros_like(x_t), none_if_empty(theta_t))
        derivatives = [scalar(start), -np.sum(sine * y_t), -np.sum(cosine * y_t**2 + sine * y_2)]
        kinks = _bends(lambda t: subject.forward(*subject.moved(t, x_t, theta_t)), steps)
        return steps, lambda order: taylor_remainders(scalar, start, direction, derivatives[:order],
                                                      steps), kinks

    if not check_orders(recorder, {"tangent": 2, "second_tangent": 3}, draw,
                        scale=abs(scalar(start)) + 1):
        recorder.note("the Taylor rates were left out: every line that was drawn crosses a kink")


def check_orders(recorder, orders, draw, scale):
    """Taylor remainders must fall at least like steps ** order on one line of a few.

    Where two terms of the remainder happen to cancel, it does not fall as it should on this one
    line. `orders` has the order of the remainder that is formed with a pass, by its name. `draw`
    gives a line, (steps, order -> remainders, what kinks add to them by step). This is False where
    kinks stand in the way on all lines.
    """
    lines, judged = [], True
    for name, order in orders.items():
        fitted = -np.inf  # the best order that is no kink's
        for position in range(_LINES):
            if position == len(lines):
                lines.append(draw())
            steps, remainders, kinks = lines[position]
            remainders = remainders(order)
            usable = np.flatnonzero(remainders > 1e3 * np.finfo(float).eps * scale)[-3:]
            here = np.inf  # all is rounding
            if usable.size == 3:  # the shortest steps, where the leading term is the largest
                here = taylor_order(remainders[usable], steps[usable])
            if here > order - _SLACK or not (kinks[usable] > 0.1 * remainders[usable]).any():
                fitted = max(fitted, here)
            if fitted > order - _SLACK:
                break
        if fitted == -np.inf:
            judged = False
            continue
        recorder.fact(name, f"Taylor remainder along a line falls like step^{order}",
                      fitted > order - _SLACK,
                      f"the Taylor remainder along a line falls like step^{fitted:.2f}, not "
                      f"step^{order}", "\n".join(f"step {t:.2g}: remainder {r:.3g}"
                                                 for t, r in zip(steps, remainders)))
    return judged


def _bends(function, steps):
    """How much kinks between 0 and each step change a function along a line, all entries together:
    f(t) - 2 f(0) + f(-t) is four times that of t / 2 but for terms of the fourth order.
    """
    here = function(0.0)

    def bend(t):
        return function(t) - 2 * here + function(-t)

    return np.array([np.abs(bend(t) - 4 * bend(t / 2)).sum() for t in steps])


def difference_curves(checks):
    """Error of central differences against the passes by step size, for the picture; broken passes
    have none.
    """
    subject, y_bar, x_t = checks.subject, checks.y_bar, checks.x_tangent
    theta_t = checks.theta_tangent

    def after(name, t, *args):
        result = subject.after_forward(name, *subject.moved(t, x_t, theta_t), *args)
        if name not in PAIRS:
            return result
        return np.concatenate([np.ravel(result[0]), flat(result[1])])

    def output(t):
        return subject.forward(*subject.moved(t, x_t, theta_t))

    along, still = (x_t, none_if_empty(theta_t)), np.zeros_like(x_t)
    curves = {
        "backward": (lambda t: np.sum(y_bar * output(t)), lambda: np.dot(
            after("backward", 0.0, y_bar), np.concatenate([x_t.ravel(), theta_t])), ()),
        "tangent": (output, lambda: after("tangent", 0.0, *along), ()),
        "second_tangent": (lambda t: after("tangent", t, *along), lambda: after(
            "second_tangent", 0.0, x_t, still, along[1]), ("tangent",)),
        "backward_tangent": (lambda t: after("backward", t, y_bar), lambda: after(
            "backward_tangent", 0.0, *along, y_bar, 0 * y_bar), ("backward",))}
    return {name: error_by_step(function, derivative())
            for name, (function, derivative, needs) in curves.items()
            if {name, *needs} <= {*checks.judged} - checks.recorder.broken}


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
