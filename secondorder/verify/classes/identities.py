"""The channels that compare a layer's passes with each other and with a whole network.

They run on passes that agree with differences: a pass that is known to be wrong would only be
named again.
"""

import copy

import numpy as np

from ...exact import gradient, hessian_vector_product, two_jet
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
    recorder, passes = checks.recorder, _passes(checks)
    x_t, x_2, theta_t = checks.x_tangent, checks.x_second, none_if_empty(checks.theta_tangent)
    y_bar, y_bar_t = checks.y_bar, checks.y_bar_tangent
    x_bar, theta_bar = passes("backward", y_bar)
    y_t = passes("tangent", x_t, theta_t)
    y_2 = passes("second_tangent", x_t, x_2, theta_t)
    x_bar_t, theta_bar_t = passes("backward_tangent", x_t, theta_t, y_bar, y_bar_t)

    def inner(a, b):
        return 0.0 if b is None else float(np.sum(a * b))

    def same(name, what, left, right):
        scale = sum(abs(term) for term in left + right)
        recorder.compare(name, what, sum(left), sum(right), names=("left", "right"),
                         scale=max(scale, 1.0))

    same("backward", "<y_bar, y_tangent> against <x_bar, x_tangent> + <theta_bar, theta_tangent>",
         [inner(y_bar, y_t)], [inner(x_bar, x_t), inner(theta_bar, theta_t)])
    if theta_bar.size:
        recorder.compare("parameter_gradients", "rows summed over samples against theta_bar",
                         flat(passes("parameter_gradients", y_bar), 1).sum(axis=0), theta_bar,
                         names=("sum", "theta_bar"))
    same("backward_tangent",
         "the derivative of that identity: <y_bar, y_second> + <y_bar_tangent, y_tangent> against "
         "<x_bar_tangent, x_tangent> + <x_bar, x_second> + <theta_bar_tangent, theta_tangent>",
         [inner(y_bar, y_2), inner(y_bar_t, y_t)],
         [inner(x_bar_t, x_t), inner(x_bar, x_2), inner(theta_bar_t, theta_t)])
    _check_polarisation(checks, inner, same)
    _check_contraction(checks)


def _passes(checks):
    """A function of a pass's name and arguments; of a pair, the part for the parameters is flat."""
    def call(name, *args):
        result = run(checks.subject.layer, name, checks.saved, args)
        return (result[0], flat(result[1])) if name in PAIRS else result
    return call


def _check_polarisation(checks, inner, same):
    """<w, H v> from `backward_tangent` is (q(v + w) - q(v) - q(w)) / 2 with q from
    `second_tangent`.
    """
    passes, rng, still = _passes(checks), checks.subject.rng, np.zeros_like(checks.x_tangent)
    v = checks.x_tangent, checks.theta_tangent
    w = rng.standard_normal(v[0].shape), rng.standard_normal(v[1].shape)

    def q(direction):
        return inner(checks.y_bar,
                     passes("second_tangent", direction[0], still, none_if_empty(direction[1])))

    zero = np.zeros_like(checks.y_bar)
    x_part, theta_part = passes("backward_tangent", v[0], none_if_empty(v[1]), checks.y_bar, zero)
    both = v[0] + w[0], v[1] + w[1]
    same("second_tangent",
         "polarisation: <w, H v> by backward_tangent against (q(v + w) - q(v) - q(w)) / 2",
         [inner(x_part, w[0]), inner(theta_part, w[1])], [q(both) / 2, -q(v) / 2, -q(w) / 2])


def _check_contraction(checks):
    """x_tangent^T H_x x_tangent sample by sample, from both forward passes."""
    passes, samples = _passes(checks), len(checks.y)
    x_t = checks.x_tangent.reshape(samples, -1)
    H_x = passes("input_hessian", checks.y_bar, checks.H_y)
    y_t = passes("tangent", checks.x_tangent, None).reshape(samples, -1)
    y_2 = passes("second_tangent", checks.x_tangent, np.zeros_like(checks.x_tangent), None)
    expected = np.einsum("si,sij,sj->s", y_t, checks.H_y,
                         y_t) + (checks.y_bar * y_2).reshape(samples, -1).sum(axis=1)
    checks.recorder.compare(
        "input_hessian", "x_tangent^T H_x x_tangent against tangent and second_tangent",
        np.einsum("si,sij,sj->s", x_t, H_x, x_t), expected, names=("input_hessian", "tangents"))
    scale = float(np.abs(H_x).max()) or 1.0
    checks.recorder.compare("input_hessian", "H_x against its transpose", H_x,
                            H_x.transpose(0, 2, 1), scale=scale, names=("H_x", "transposed"))


def check_rates(checks):
    """Taylor remainders along a line: order 2 with the gradient, 3 with the Hessian too.

    The outputs pass through a cosine first, so that the remainders do not vanish for layers that
    are linear.
    """
    subject, recorder = checks.subject, checks.recorder
    shift = checks.y_bar

    def scalar(point):
        x, theta = point[:subject.x.size].reshape(subject.x.shape), point[subject.x.size:]
        return float(np.sum(np.cos(subject.forward(x, theta) + shift)))

    start = np.concatenate([subject.x.ravel(), subject.theta])
    steps = _LONGEST * 2.0 ** -np.arange(_STEPS)
    moving = iter((start.size, *_FEW))
    sine, cosine = np.sin(checks.y + shift), np.cos(checks.y + shift)

    def draw():
        direction = subject.rng.standard_normal(start.size)
        some = subject.rng.permutation(start.size)[:next(moving)]
        direction[np.setdiff1d(np.arange(start.size), some)] = 0.0
        x_t = direction[:subject.x.size].reshape(subject.x.shape)
        theta_t = none_if_empty(direction[subject.x.size:])
        saved = subject.call("forward", subject.x)[1]
        y_t = subject.call("tangent", saved, x_t, theta_t)
        y_2 = subject.call("second_tangent", saved, x_t, np.zeros_like(x_t), theta_t)
        derivatives = [scalar(start), -np.sum(sine * y_t), -np.sum(cosine * y_t**2 + sine * y_2)]
        kinks = bends(lambda t: subject.forward(subject.x + t * x_t, subject.theta + t
                                                 * direction[subject.x.size:]), steps)
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
        told = None
        for position in range(_LINES):
            if position == len(lines):
                lines.append(draw())
            steps, remainders, kinks = lines[position]
            remainders = remainders(order)
            fitted, used = _fitted_order(remainders, steps, scale)
            if fitted > order - _SLACK:
                told = fitted
                break
            if not (kinks[used] > 0.1 * remainders[used]).any():
                told = fitted if told is None else max(told, fitted)
        if told is None:
            judged = False
            continue
        fitted = told
        recorder.fact(name, f"Taylor remainder along a line falls like step^{order}",
                      fitted > order - _SLACK,
                      f"the Taylor remainder along a line falls like step^{fitted:.2f}, not "
                      f"step^{order}",
                      "\n".join(f"step {t:.2g}: remainder {r:.3g}"
                                for t, r in zip(steps, remainders)))
    return judged


def _fitted_order(remainders, steps, scale):
    """The order in the step, over the three shortest steps above rounding, where the leading term
    is the largest; infinite if all is rounding. And which steps these are.
    """
    usable = np.flatnonzero(remainders > 1e3 * np.finfo(float).eps * scale)[-3:]
    return (taylor_order(remainders[usable], steps[usable]) if usable.size == 3 else np.inf), usable


def bends(function, steps):
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
    subject, y_bar = checks.subject, checks.y_bar
    x_t, theta_t = checks.x_tangent, none_if_empty(checks.theta_tangent)

    def at(t):
        return subject.x + t * x_t, subject.theta + t * checks.theta_tangent

    def output(t):
        return subject.forward(*at(t))

    def tangent(t):
        return subject.after_forward("tangent", *at(t), x_t, theta_t)

    def bar(t):
        return _flat(subject.after_forward("backward", *at(t), y_bar))

    curves = {
        "backward": (lambda t: np.sum(y_bar * output(t)),
                     lambda: np.dot(bar(0.0), _flat((x_t, checks.theta_tangent))), ()),
        "tangent": (output, lambda: tangent(0.0), ()),
        "second_tangent": (tangent, lambda: subject.after_forward(
            "second_tangent", *at(0.0), x_t, np.zeros_like(x_t), theta_t), ("tangent",)),
        "backward_tangent": (bar, lambda: _flat(subject.after_forward(
            "backward_tangent", *at(0.0), x_t, theta_t, y_bar, np.zeros_like(y_bar))),
            ("backward",))}
    return {name: error_by_step(function, derivative())
            for name, (function, derivative, needs) in curves.items()
            if {name, *needs} <= {*checks.judged} - checks.recorder.broken}


def _flat(pair):
    """A pair for the input and for the parameters as one vector."""
    first, second = pair
    return np.concatenate([np.ravel(first),
                           second if isinstance(second, np.ndarray) else flat(second)])


# -- the layer in the middle of a network ----------------------------------------------------------

def check_in_network(checks):
    """Gradient and Hessian-vector product of a network that has the layer in its middle."""
    recorder, rng = checks.recorder, checks.subject.rng
    case, direction, by_derivative = _gradient_in_network(checks)
    recorder.compare("network",
                     "Hessian-vector product of that network against differences of its gradient",
                     hessian_vector_product(*case, direction), by_derivative.value,
                     by_derivative.error, names=("product", "differences"))
    _check_network_identities(recorder, case, direction, rng.standard_normal(case[0].size))


def error_in_network(checks):
    """The gradient of a network that has the layer in its middle; how far a Hessian-vector product
    is off, relative to its largest entry, where the network supplies passes by differences.
    """
    case, direction, by_derivative = _gradient_in_network(checks)
    product = hessian_vector_product(*case, direction)
    return np.abs(product - by_derivative.value).max() / (np.abs(product).max() or 1.0)


def _gradient_in_network(checks):
    """Compare a network's gradient; the network with a batch, a direction, and differences of the
    gradient along it.
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
    return case, direction, by_derivative


def _check_network_identities(recorder, case, v, w):
    """The quadratic form from the forward passes alone, and polarisation of the two-jet."""
    net, loss, x, y = case
    product = hessian_vector_product(*case, v)
    evaluation = net.evaluate(loss, x, y)
    y_tangent, moved = net.chain.tangents(evaluation.saved, None, v)
    y_second = net.chain.second_tangent_from(evaluation.saved, moved)
    p, y = evaluation.outputs, evaluation.y
    form = np.sum(y_tangent * loss.hessian_product(p, y, y_tangent)) \
        + np.sum(loss.gradient(p, y) * y_second)
    scale = float(np.abs(product) @ np.abs(v)) or 1.0
    recorder.compare("network", "v^T H v against tangents and second tangents",
                     v @ product,
                     form / evaluation.samples, names=("product", "tangents"), scale=scale)
    q_both, q_v, q_w = (two_jet(*case, direction)[2] for direction in (v + w, v, w))
    recorder.compare("network", "w^T H v against polarisation of the two-jet", w @ product,
                     (q_both - q_v - q_w) / 2, names=("product", "polarisation"),
                     scale=abs(q_both) + abs(q_v) + abs(q_w) or 1.0)
