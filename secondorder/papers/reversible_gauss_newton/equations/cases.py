"""Random small cases for the checks; what they are compared with stands in ``reference``."""

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import lambertw, softmax

from ....ledger import Counterexample, Equal
from ....nets import (Activation, Chain, LayerNorm, Linear, Network, Skip, SquaredError, mlp)
from ..eq_01_07_gauss_newton import eq_5_gauss_newton
from ..eq_08_11_any_right_inverse import eq_8_step, euler
from ..eq_12_13_jacobian import eq_12_jacobian, half_order
from ..eq_14_15_revmlp import RevMLP, block_states
from ..eq_23_32_two_flows import eq_23_flow, eq_24_flow
from ..eq_33_57_proof import eq_55_right_inverse
from ..method import RankWarning, direction
from . import reference


@dataclass
class At:
    """A reversible network with a batch, for half the squared error at its present parameters."""

    net: RevMLP
    x: np.ndarray
    y: np.ndarray

    @property
    def states(self):
        """`BlockState` of every block."""
        return block_states(self.net, self.net.forward(self.x)[1])

    @property
    def eps(self):
        """eps (S, C)."""
        return reference.outputs(self.net, self.x) - self.y

    @property
    def error(self):
        """eps of x_L in half order."""
        return in_half_order(self.net, self.eps)

    @property
    def jacobian(self):
        """J by complex steps, rows in half order."""
        return reference.parameter_jacobian(self.net, self.x)

    def moved(self, theta):
        """The same with other parameters."""
        net = self.net.copy()
        net.theta = theta
        return At(net, self.x, self.y)

    def step(self, single=False, **options):
        """The method's direction, exact unless the options say otherwise; `single`: of the same
        network in float32.
        """
        net = self.net.astype("float32") if single else self.net
        with quietly():
            return direction(net, SquaredError(), self.x, self.y,
                             **{"pseudo_inverse": "exact"} | options)

    def pairs_of(self, direction):
        """-L times the two matrices of every block of a direction: Delta of (16) and (17)."""
        blocks = self.moved(-len(self.net.blocks) * direction).net.blocks
        return [(block.W1, block.W2) for block in blocks]


def quietly():
    """Without a `RankWarning`."""
    return warnings.catch_warnings(action="ignore", category=RankWarning)


def in_half_order(net, eps):
    """eps (S, width) of x_L as one vector in half order."""
    return eps.ravel()[half_order(net.width, len(eps))]


def to_theta(w, network):
    """A vector (p,) in the paper's order of the weights, in that of ``network.theta``: there every
    W stands row by row. For networks without biases.
    """
    pieces, start = [], 0
    for W in [W for block in network.blocks for W in (block.W1, block.W2)]:
        pieces.append(w[start:start + W.size].reshape(W.shape, order="F").ravel())
        start += W.size
    return np.concatenate(pieces)


def from_theta(theta, network):
    """The inverse of :func:`to_theta`."""
    w = np.empty_like(theta)
    w[to_theta(np.arange(network.size), network)] = theta
    return w


def blockwise(what, left, right, tolerance, case=None, scale=None, wrap=lambda claim: claim):
    """A claim for every block: `left` has an array for each, `right` is a function of l = 0, 1, ...
    """
    name = "" if case is None else f"{case}, "
    return [wrap(Equal(what, one, right(l), tolerance, scale and scale(l), f"{name}block {l + 1}"))
            for l, one in enumerate(left)]


# -- networks --------------------------------------------------------------------------------------

def network(rng, d=4, blocks=3, bottleneck=8, activation="tanh", scale=0.4, **options):
    """Normal weights of this standard deviation, and V with entries of size 1."""
    net = RevMLP(d, blocks, bottleneck, activation=activation, rng=rng, **options)
    net.theta = scale * rng.normal(size=net.size)
    for half in net.couplings:
        if half.fixed is not None:
            half.fixed.weight = rng.normal(size=half.fixed.weight.shape)
    return net


def small(rng, samples=3, limit=np.inf, equal=False, **options):
    """Normal inputs and targets; `equal` makes the first two samples the same. Redrawn until those
    singular values of every half's features that are not 0 are so far apart at most: a relu may
    leave dead units.
    """
    while True:
        net = network(rng, **options)
        x, y = (rng.normal(size=(samples, *shape)) for shape in (net.input_shape, net.output_shape))
        x[:2] = x[0] if equal else x[:2]
        if limit == np.inf or reference.conditions(net, x).max() < limit:
            return At(net, x, y)


def dependent(rng, blocks=3):
    """Fewer features than samples: the condition of Proposition 4.4 fails."""
    return small(rng, blocks=blocks, bottleneck=2)


WIDE = {"d": 10, "bottleneck": 30, "blocks": 2}
#: Everything that a fault may hide behind: options of `small`, by name.
ROWS = {
    "one sample": {"samples": 1},
    "eleven samples": {"samples": 11, **WIDE},
    "more samples than features": {"samples": 11, "bottleneck": 4},
    "equal samples": {"equal": True},
    "biases": {"bias": True},
    "biases, eleven samples": {"bias": True, "samples": 11, **WIDE},
    "biases, more samples than features": {"bias": True, "samples": 11, "bottleneck": 4},
    "no bottleneck": {"d": 8, "bottleneck": None},
    "no bottleneck, biases, one block": {"d": 8, "bottleneck": None, "bias": True, "blocks": 1},
    "no activation": {"activation": "identity", "samples": 2},
    "no activation, more samples than units": {"activation": "identity"},
    "a linear first block": {"first_activation": "identity", "bias": True},
    "a relu": {"activation": "relu", "bottleneck": 24},
    "five blocks, biases": {"blocks": 5, "bias": True},
    "an odd number of inputs": {"d": 5},
    "a readout": {"d": 6, "outputs": 3},
    "a readout that is not orthonormal, biases": {
        "d": 6, "bias": True, "readout": np.array([[1.0, 0, 2, 0, -1, 0], [0, 1, 0, 3, 0, 1]])},
}


def rows(rng, names=tuple(ROWS)):
    """(name, `At`) of each, with features well apart."""
    for name in names:
        yield name, small(rng, limit=300, **ROWS[name])


def without_biases(rng):
    """(name, `At`) of those on which the written-out equations are defined."""
    return rows(rng, [name for name in ROWS if "bias" not in ROWS[name]])


def is_independent(at):
    """Whether the features of the samples are independent in every half."""
    return all(reference.rank(S) == len(at.x) for S in reference.features_of(at.net, at.x))


def blocks_of_any_rank(rng):
    """(case, `At`, l, state) of every block of networks with features that are independent, that
    are not, and of others.
    """
    networks = [("independent", small(rng)), ("two features, three samples", dependent(rng)),
                *rows(rng, ("no bottleneck", "one sample"))]
    for name, at in networks:
        for l, state in enumerate(at.states):
            yield f"{name}, block {l + 1}", at, l, state


def inside_and_outside(rng):
    """(name, `At`, what to make of a claim): features that are independent, and a counterexample
    with features that are not.
    """
    yield "independent", small(rng), lambda claim: claim
    yield "two features, three samples", dependent(rng), Counterexample


def classes(rng):
    """`At` of a network whose outputs are x_L and of one-hot labels. Redrawn until no class has a
    probability below 0.001: the Hessian of the loss would lose the digits of its class.
    """
    while True:
        net = network(rng)
        x = rng.normal(size=(3, net.width))
        if softmax(net(x), axis=1).min() > 1e-3:
            return At(net, x, np.eye(net.width)[rng.integers(0, net.width, 3)])


def positive_matrix(rng, size):
    """A random symmetric positive definite matrix with eigenvalues from 0.3 to 3."""
    Q = np.linalg.qr(rng.normal(size=(size, size)))[0]
    return (Q * np.linspace(0.3, 3, size)) @ Q.T


#: Networks of all kinds for the tangent kernel, by name; what is frozen counts for nothing.
NETWORKS = {
    "no biases": lambda rng: mlp([3, 5, 4, 3], bias=False, rng=rng),
    "first layer frozen": lambda rng: layers_of(rng, (0,)),
    "middle layer frozen": lambda rng: layers_of(rng, (1,)),
    "two layers frozen, nested chains": lambda rng: layers_of(rng, (0, 2), nested=True),
    "nested chains": lambda rng: layers_of(rng, (), nested=True),
    "a skip": lambda rng: Network([Linear(3, 4, rng=rng), Skip([Activation("tanh"), Linear(
        4, 4, rng=rng)]), Linear(4, 3, rng=rng)]),
    "a layer without structure": lambda rng: Network([Linear(3, 4, rng=rng), Activation("tanh"),
                                                      LayerNorm((4,)), Linear(4, 5, rng=rng)]),
    "one output": lambda rng: mlp([3, 4, 1], rng=rng),
    "six outputs": lambda rng: mlp([3, 4, 6], rng=rng),
    "reversible, no bottleneck, biases": lambda rng: network(rng, bottleneck=None, bias=True),
    "reversible, a readout, biases": lambda rng: network(rng, d=5, bottleneck=4, bias=True,
                                                         blocks=2, outputs=3),
}


def layers_of(rng, frozen, nested=False):
    """Three linear layers with biases, those of these places frozen."""
    sizes = (3, 4, 5, 3)
    one, two, three = (Linear(a, b, trainable=k not in frozen, rng=rng)
                       for k, (a, b) in enumerate(zip(sizes, sizes[1:])))
    f, g = Activation("tanh"), Activation("tanh")
    return Network([one, Chain([f, Chain([two, g])]), Chain([three])] if nested
                   else [one, f, two, g, three])


# -- iterations and flows --------------------------------------------------------------------------

def smooth_path(rng):
    """A case whose Euler steps stay in the regime where the first order in the rate rules.

    Two samples whose halves are at right angles, so that the features are well apart, and targets
    nearby.
    """
    while True:
        t, u = rng.uniform(0, 2 * np.pi, 2)
        x = 1.5 * np.array([[np.cos(t), np.sin(t), np.cos(u), np.sin(u)],
                            [-np.sin(t), np.cos(t), -np.sin(u), np.cos(u)]])
        net = network(rng, blocks=2, bottleneck=24, scale=0.1)
        if reference.conditions(net, x).max() < 3:
            return At(net, x, net(x) + 0.3 * rng.normal(size=(2, 4)))


def step_by(at, kind, eps):
    """The step (5), kind "moore-penrose", or (8) with (55) and the weights `kind`, in the order of
    the network, for eps (S, C).
    """
    error = in_half_order(at.net, eps)
    step = (eq_5_gauss_newton(eq_12_jacobian(at.states), error)[0] if kind == "moore-penrose"
            else eq_8_step(eq_55_right_inverse(at.states, kind), error))
    return to_theta(step, at.net)


def trajectories(at, eps_of, rate, kinds):
    """eps at the end of Euler steps to t = 1 with each right inverse, from the same start."""
    ends = []
    for kind in kinds:
        moving = at
        for _ in range(round(1 / rate)):
            step = step_by(moving, kind, eps_of(moving.net(at.x)))
            moving = moving.moved(moving.net.theta + rate * step)
        ends.append(eps_of(moving.net(at.x)).ravel())
    return np.array(ends)


def gaps(at, eps_of, rates, kinds):
    """Largest distance in eps between the ends of any two trajectories, for every rate."""
    every = [trajectories(at, eps_of, rate, kinds) for rate in rates]
    return [max(np.linalg.norm(a - b) for i, a in enumerate(ends) for b in ends[:i])
            for ends in every]


#: Names of both flows.
FLOWS = "Moore-Penrose inverse", "right inverse"


class TwoFlows(NamedTuple):
    """Both flows of f(a, b) = a e^b to t = 1, and Euler's points at the rates `alpha`.

    Lists of two, in the order of `FLOWS`: `lipschitz` and `K` of each field; of the points `off`,
    how far they are from the flow's end. `end` is eps at the end of each flow, `points` at the
    points; `stretch` is L_eps where they go.
    """

    alpha: np.ndarray
    lipschitz: list
    K: list
    off: np.ndarray
    end: list
    points: list
    stretch: float


def two_flows(rng):
    """The flows in closed form: eps falls like e^{-t}. Along (23) a^2 / 2 - b stays, as the steps
    have the direction of J; the other right inverse moves b alone.
    """
    (a, b), alpha = rng.uniform(0.5, 1, 2), np.array([0.1, 0.05, 0.025])
    start, stays = a * np.exp(b), a**2 / 2 - b
    f = start / 2 * (1 + np.exp(-np.linspace(0, 1, 11)))  # from a * e^b to half of it
    first = np.sqrt(lambertw((f * np.exp(stays)) ** 2).real)
    paths = np.array([np.c_[first, first**2 / 2 - stays], np.c_[np.full(11, a), np.log(f / a)]])

    def eps(w):
        return np.array([w[0] * np.exp(w[1]) - start / 2])

    def jacobian(w):
        return np.exp(w[1]) * np.array([[1.0, w[0]]])

    fields = (lambda w: eq_23_flow(jacobian(w), eps(w)),
              lambda w: eq_24_flow(np.array([[0.0], [1 / jacobian(w)[0, 1]]]), eps(w)))
    points, lipschitz, K = [], [], []
    for field, path in zip(fields, paths):
        points.append([euler(field, path[0], rate, round(1 / rate))[-1] for rate in alpha])
        slopes = [derivative(field, w) for w in path]
        # a tenth more for what lies between the points of the path and beside it
        lipschitz.append(1.1 * max(np.linalg.norm(slope, 2) for slope in slopes))
        second_order = max(np.linalg.norm(slope @ field(w)) for slope, w in zip(slopes, path))
        K.append(2 * lipschitz[-1] / (1.1 * second_order))
    off = np.linalg.norm(np.array(points) - paths[:, -1:], axis=2)
    stretch = 1.1 * max(np.linalg.norm(jacobian(w)) for w in [*paths[0], *paths[1]])
    return TwoFlows(alpha, lipschitz, K, off, [eps(path[-1]) for path in paths],
                    [[eps(w) for w in own] for own in points], stretch)


def derivative(field, w, h=1e-5):
    """Jacobian of a field at w by central differences."""
    return np.stack([(field(w + h * e) - field(w - h * e)) / (2 * h) for e in np.eye(len(w))],
                    axis=1)
