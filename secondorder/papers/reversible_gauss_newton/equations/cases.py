"""Random small cases for the checks; what they are compared with stands in ``reference``."""

import warnings
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from ....ledger import Counterexample
from ....nets import (Activation, Chain, LayerNorm, Linear, Network, Skip, SoftmaxCrossEntropy,
                      SquaredError, mlp)
from ..eq_01_07_gauss_newton import eq_5_gauss_newton
from ..eq_08_11_any_right_inverse import eq_8_step
from ..eq_12_13_jacobian import eq_12_jacobian, half_order, to_theta
from ..eq_33_57_proof import eq_55_right_inverse
from ..eq_14_15_revmlp import RevMLP, block_states
from ..method import RankWarning, direction
from . import reference


class Small(NamedTuple):
    """A network without biases, a batch, the blocks' states, and eps of the half squared error in
    half order.
    """

    net: RevMLP
    x: np.ndarray
    y: np.ndarray
    states: list
    eps: np.ndarray


def network(rng, d=4, blocks=3, bottleneck=8, activation="tanh", scale=0.4, **options):
    """Normal weights of this standard deviation, and V with entries of size 1."""
    net = RevMLP(d, blocks, bottleneck, activation=activation, rng=rng, **options)
    net.theta = scale * rng.normal(size=net.size)
    for half in net.couplings:
        if half.fixed is not None:
            half.fixed.weight = rng.normal(size=half.fixed.weight.shape)
    return net


def states_at(net, x):
    """`BlockState` of every block for a batch x."""
    return block_states(net, net.forward(x)[1])


def small(rng, samples=3, **options):
    """`Small` with normal numbers as targets."""
    net = network(rng, **options)
    x, y = rng.normal(size=(samples, net.width)), rng.normal(size=(samples, net.width))
    eps = (net(x) - y).ravel()[half_order(net.width, samples)]
    return Small(net, x, y, states_at(net, x), eps)


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
            if max(np.linalg.cond(S) for state in at.states for S in (state.S1, state.S2)) < 1e3:
                break
        yield name, at


WIDE = {"d": 10, "bottleneck": 30, "blocks": 2}
#: Everything that a fault may hide behind, by name: options of `row`.
ROWS = {
    "one sample": {"samples": 1},
    "two samples": {"samples": 2},
    "eleven samples": {"samples": 11, **WIDE},
    "more samples than features": {"samples": 11, "bottleneck": 4},
    "equal samples": {"equal": True},
    "biases": {"bias": True},
    "biases, eleven samples": {"bias": True, "samples": 11, **WIDE},
    "biases, more samples than features": {"bias": True, "samples": 11, "bottleneck": 4},
    "biases, one block": {"bias": True, "blocks": 1},
    "no bottleneck": {"d": 8, "bottleneck": None},
    "no bottleneck, biases, one block": {"d": 8, "bottleneck": None, "bias": True, "blocks": 1},
    "no activation": {"activation": "identity", "samples": 2},
    "no activation, more samples than units": {"activation": "identity"},
    "a linear first block": {"first_activation": "identity", "bias": True},
    "a relu": {"activation": "relu", "bottleneck": 24},
    "four blocks": {"blocks": 4},
    "five blocks": {"blocks": 5},
    "five blocks, biases": {"blocks": 5, "bias": True},
    "an odd number of inputs": {"d": 5},
    "a readout": {"d": 6, "outputs": 3},
    "a readout that is not orthonormal, biases": {
        "d": 6, "bias": True, "readout": np.array([[1.0, 0, 2, 0, -1, 0], [0, 1, 0, 3, 0, 1]])},
}


#: Networks of all kinds for the tangent kernel, by name; what is frozen counts for nothing.
NETWORKS = {
    "biases": lambda rng: mlp([3, 5, 3], rng=rng),
    "no biases": lambda rng: mlp([3, 5, 4, 3], bias=False, rng=rng),
    "first layer frozen": lambda rng: layers_of(rng, (0,)),
    "middle layer frozen": lambda rng: layers_of(rng, (1,)),
    "last layer frozen": lambda rng: layers_of(rng, (2,)),
    "two layers frozen, nested chains": lambda rng: layers_of(rng, (0, 2), nested=True),
    "nested chains": lambda rng: layers_of(rng, (), nested=True),
    "no activation": lambda rng: layers_of(rng, (), activation="identity"),
    "a skip": lambda rng: Network([Linear(3, 4, rng=rng), Skip([Activation("tanh"), Linear(
        4, 4, rng=rng)]), Linear(4, 3, rng=rng)]),
    "a layer without structure": lambda rng: Network([Linear(3, 4, rng=rng), Activation("tanh"),
                                                      LayerNorm((4,)), Linear(4, 5, rng=rng)]),
    "one output": lambda rng: mlp([3, 4, 1], rng=rng),
    "six outputs": lambda rng: mlp([3, 4, 6], rng=rng),
    "reversible, no bottleneck, biases": lambda rng: network(rng, d=4, bottleneck=None, bias=True),
    "reversible, a readout, biases": lambda rng: network(rng, d=5, bottleneck=4, bias=True,
                                                         blocks=2, outputs=3),
}


def layers_of(rng, frozen, nested=False, activation="tanh"):
    """Three linear layers with biases, those of these places frozen."""
    sizes = (3, 4, 5, 3)
    linear = [Linear(a, b, trainable=k not in frozen, rng=rng)
              for k, (a, b) in enumerate(zip(sizes, sizes[1:]))]
    if nested:
        return Network([linear[0], Chain([Activation(activation), Chain([linear[1], Activation(
            activation)])]), Chain([linear[2]])])
    return Network([linear[0], Activation(activation), linear[1], Activation(activation),
                    linear[2]])


class Row(NamedTuple):
    """A network of any kind with a batch; eps (S, C) of the half squared error."""

    net: RevMLP
    x: np.ndarray
    y: np.ndarray
    eps: np.ndarray


def row(rng, samples=3, equal=False, **options):
    """A `Row`; `equal` makes the first two samples the same.  Redrawn until those singular values
    of every half's features that are not 0 are well apart: a relu may leave dead units.
    """
    while True:
        net = network(rng, **options)
        x = rng.normal(size=(samples, *net.input_shape))
        if equal:
            x[1] = x[0]
        y = rng.normal(size=(samples, *net.output_shape))
        if reference.conditions(net, x).max() < 300:
            return Row(net, x, y, reference.outputs(net, x) - y)


def rows(rng, names=tuple(ROWS)):
    """(name, `Row`) of each."""
    for name in names:
        yield name, row(rng, **ROWS[name])


def without_biases(rng):
    """(name, `Row`) of those on which the literal equations are defined."""
    return rows(rng, [name for name, options in ROWS.items() if "bias" not in options])


def halves_of(columns):
    """(vec X^(1); vec X^(2)) of a matrix X (width, S)."""
    return reference.halves(*np.split(columns, 2))


def is_independent(at):
    """Whether the features of the samples are independent in every half: there are as many
    directions as samples.
    """
    return all(rank_of(S) == len(at.x) for pair in reference.deltas(at.net, at.x, at.eps)
               for S in pair[2:])


def of_any_rank(rng):
    """(name, `Small`): features that are independent, that are not, and of unusual networks."""
    yield "independent", small(rng)
    yield "two features, three samples", dependent(rng)
    yield from unusual(rng, ("no bottleneck", "one sample", "nine samples"))


def blocks_of_any_rank(rng):
    """(case, `Small`, l, state) of every block of the same."""
    for name, at in of_any_rank(rng):
        for l, state in enumerate(at.states):
            yield f"{name}, block {l + 1}", at, l, state


def inside_and_outside(rng):
    """(name, `Small`, what to make of a claim): features that are independent, and a counterexample
    with features that are not.
    """
    yield "independent", small(rng), lambda claim: claim
    yield "two features, three samples", dependent(rng), Counterexample


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
    states = states_at(net, x)
    if max(np.linalg.cond(S) for state in states for S in (state.S1, state.S2)) > 3:
        return smooth_path(rng, bottleneck)
    y = net(x) + 0.3 * rng.normal(size=(2, 4))
    return Small(net, x, y, states, (net(x) - y).ravel()[half_order(4, 2)])


def lower_rank(rng):
    """Three samples with two features each: the rows of J are dependent, and yet Euler steps stay
    bounded.

    The features that there are must be well apart, as for `smooth_path`, and the targets near.
    """
    while True:
        net, x = network(rng, blocks=2, bottleneck=2, scale=0.1), 1.5 * rng.normal(size=(3, 4))
        states = states_at(net, x)
        if max(np.linalg.cond(S) for state in states for S in (state.S1, state.S2)) < 2.5:
            break
    y = net(x) + 0.1 * rng.normal(size=(3, 4))
    return Small(net, x, y, states, (net(x) - y).ravel()[half_order(4, 3)])


def classes(rng, samples=3, **options):
    """A network whose outputs are x_L, a batch, one-hot labels, and the loss. Redrawn until no
    class has a probability below 0.001: the Hessian of the loss would lose the digits of its class.
    """
    while True:
        net = network(rng, **options)
        x = rng.normal(size=(samples, net.width))
        if softmax(net(x), axis=1).min() > 1e-3:
            break
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
            states = states_at(net, at.x)
            eps = eps_of(net(at.x)).ravel()[half_order(net.width, len(at.x))]
            if kind == "moore-penrose":
                step = eq_5_gauss_newton(eq_12_jacobian(states), eps)
            else:
                step = eq_8_step(eq_55_right_inverse(states, kind),
                                                eps)
            net.theta = net.theta + rate * to_theta(step, net)
        ends.append(eps_of(net(at.x)).ravel())
    return np.array(ends)


def gaps(at, eps_of, rates, kinds):
    """Largest distance in eps between the ends of any two trajectories, for every rate."""
    largest = []
    for rate in rates:
        ends = trajectories(at, eps_of, rate, kinds)
        largest.append(max(np.linalg.norm(a - b) for i, a in enumerate(ends) for b in ends[:i]))
    return largest


@contextmanager
def quietly():
    """Without a `RankWarning`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        yield


def fast_direction(at, single=False, **options):
    """The method's direction for the half squared error, of a `Small` or a `Row`, exact unless
    the options say otherwise; `single`: of the same network in float32.
    """
    net = at.net.astype("float32") if single else at.net
    with quietly():
        return direction(net, SquaredError(), at.x, at.y, **{"pseudo_inverse": "exact"} | options)


def blocks_of(at, direction):
    """The two matrices of every block of a direction."""
    net = at.net.copy()
    net.theta = direction
    return [(block.W1, block.W2) for block in net.blocks]


LOSSES = {"squared": SquaredError, "softmax": SoftmaxCrossEntropy}
