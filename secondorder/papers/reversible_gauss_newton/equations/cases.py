"""Random small cases, and the conditions that several displays share."""

from typing import NamedTuple

import numpy as np

from ....ledger import Condition
from ....nets import SoftmaxCrossEntropy, SquaredError
from .. import directions, jacobians, right_inverse, steps
from ..columns import half_order, to_theta
from ..revmlp import RevMLP
from ..options import Options

INDEPENDENT = Condition("independent features", "In every half-coupled layer the features sigma(V "
                        "X) of the samples have linearly independent columns, which needs d' >= n.")
SURJECTIVE = Condition("surjective Jacobian", "J has linearly independent rows (Assumption 4.1).")
IDENTITY_HESSIAN = Condition("identity Hessian", "The Hessian of the loss in the outputs is I: "
                             "half the squared error, to which section 4 restricts its results.")


class Small(NamedTuple):
    """A network without biases, a batch, the blocks' states, and eps of the half squared error in
    half order.
    """

    net: RevMLP
    x: np.ndarray
    y: np.ndarray
    found: list
    eps: np.ndarray


def network(rng, d=4, blocks=3, bottleneck=8, activation="tanh", scale=0.4, **options):
    """Normal weights of this standard deviation, and V with entries of size 1."""
    net = RevMLP(d, blocks, bottleneck, activation=activation, rng=rng, **options)
    net.theta = scale * rng.normal(size=net.size)
    for half in net.couplings:
        if half.fixed is not None:
            half.fixed.weight = rng.normal(size=half.fixed.weight.shape)
    return net


def small(rng, samples=3, **options):
    """`Small` with normal numbers as targets."""
    net = network(rng, **options)
    x, y = rng.normal(size=(samples, net.width)), rng.normal(size=(samples, net.width))
    eps = (net(x) - y).ravel()[half_order(net.width, samples)]
    return Small(net, x, y, jacobians.states(net, x), eps)


#: What else a network or a batch may be, by name: options of `small`.
UNUSUAL = {
    "no bottleneck": {"d": 8, "bottleneck": None},
    "no bottleneck, one block": {"d": 8, "bottleneck": None, "blocks": 1},
    "a linear first block": {"first_activation": "identity", "samples": 2},
    "one sample": {"samples": 1},
    "nine samples": {"samples": 9, "bottleneck": 14, "blocks": 2},
    "five blocks": {"blocks": 5},
    "wider outputs": {"d": 6},
}


def unusual(rng, names=tuple(UNUSUAL)):
    """(name, `Small`) of each, redrawn until the features of every half are well apart."""
    for name in names:
        while True:
            at = small(rng, **UNUSUAL[name])
            if max(np.linalg.cond(S) for state in at.found for S in (state.S1, state.S2)) < 1e3:
                break
        yield name, at


def dependent(rng, blocks=3):
    """The same with fewer features than samples: the condition of Proposition 4.4 fails."""
    return small(rng, blocks=blocks, bottleneck=2)


def smooth_path(rng, bottleneck=24):
    """A case whose Euler steps stay in the regime where the first order in the rate rules.

    Two samples whose halves are at right angles, so that the features are well apart, and targets
    nearby.
    """
    t, u = rng.uniform(0, 2 * np.pi, 2)
    x = 1.5 * np.array([[np.cos(t), np.sin(t), np.cos(u), np.sin(u)],
                        [-np.sin(t), np.cos(t), -np.sin(u), np.cos(u)]])
    net = network(rng, blocks=2, bottleneck=bottleneck, scale=0.1)
    found = jacobians.states(net, x)
    if max(np.linalg.cond(S) for state in found for S in (state.S1, state.S2)) > 3:
        return smooth_path(rng, bottleneck)
    y = net(x) + 0.3 * rng.normal(size=(2, 4))
    return Small(net, x, y, found, (net(x) - y).ravel()[half_order(4, 2)])


def lower_rank(rng):
    """Three samples with two features each: the rows of J are dependent, and yet Euler steps stay
    bounded.

    The features that there are must be well apart, as for `smooth_path`, and the targets near.
    """
    while True:
        net, x = network(rng, blocks=2, bottleneck=2, scale=0.1), 1.5 * rng.normal(size=(3, 4))
        found = jacobians.states(net, x)
        if max(np.linalg.cond(S) for state in found for S in (state.S1, state.S2)) < 2.5:
            break
    y = net(x) + 0.1 * rng.normal(size=(3, 4))
    return Small(net, x, y, found, (net(x) - y).ravel()[half_order(4, 3)])


def classes(rng, samples=3, **options):
    """A network whose outputs are x_L, a batch, one-hot labels, and the loss."""
    net = network(rng, **options)
    x = rng.normal(size=(samples, net.width))
    return net, x, np.eye(net.width)[rng.integers(0, net.width, samples)], SoftmaxCrossEntropy()


def surjective_matrix(rng, rows=6, columns=14):
    """A random matrix with independent rows."""
    return rng.normal(size=(rows, columns))


def positive_matrix(rng, size):
    """A random symmetric positive definite matrix with eigenvalues from 0.3 to 3."""
    Q = np.linalg.qr(rng.normal(size=(size, size)))[0]
    return (Q * np.linspace(0.3, 3, size)) @ Q.T


def rank_of(M):
    """Numerical rank from the singular values."""
    s = np.linalg.svd(M, compute_uv=False)
    return int(np.count_nonzero(s > 1e-9 * s[0]))


def trajectories(at, eps_of, rate, kinds):
    """eps at the end of Euler steps to t = 1 with each right inverse, from the same start."""
    ends = []
    for kind in kinds:
        net = at.net.copy()
        for _ in range(round(1 / rate)):
            found = jacobians.states(net, at.x)
            eps = eps_of(net(at.x)).ravel()[half_order(net.width, len(at.x))]
            if kind == "moore-penrose":
                step = steps.gauss_newton(jacobians.jacobian(found), eps)
            else:
                step = steps.right_inverse_step(right_inverse.stacked_right_inverse(found, kind),
                                                eps)
            net.theta = net.theta + rate * to_theta(step, net)
        ends.append(eps_of(net(at.x)).ravel())
    return np.array(ends)


def gaps(at, eps_of, rates, kinds):
    """Largest distance in eps between the ends of any two trajectories, for every rate."""
    found = []
    for rate in rates:
        ends = trajectories(at, eps_of, rate, kinds)
        found.append(max(np.linalg.norm(a - b) for i, a in enumerate(ends) for b in ends[:i]))
    return found


def fast_direction(at, **options):
    """The fast path's direction for the half squared error."""
    return directions.update_at(at.net.evaluate(SquaredError(), at.x, at.y),
                                Options(**options)).direction


def blocks_of(at, direction):
    """The two matrices of every block of a direction."""
    net = at.net.copy()
    net.theta = direction
    return [(block.W1, block.W2) for block in net.blocks]


LOSSES = {"squared": SquaredError, "softmax": SoftmaxCrossEntropy}
