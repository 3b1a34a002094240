"""Directions against dense linear algebra on the exact Jacobian, and what is refused. Of reversible
networks of all kinds the equations prove more: `extension-sweep`, (17) and Proposition 4.4.
"""

import warnings
from functools import partial

import numpy as np
import pytest

import secondorder as so
from harness.reversible_cases import batch, jacobian, network
from secondorder.papers import reversible_gauss_newton as room
from secondorder.papers.reversible_gauss_newton import RankWarning
from secondorder.papers.reversible_gauss_newton.equations import reference

SQUARED, SOFTMAX = so.SquaredError(), so.SoftmaxCrossEntropy()
INVERSES = pytest.mark.parametrize("inverse", ("right", "moore-penrose"))
# the inverse of the equations, where a test names no other
direction = partial(room.direction, pseudo_inverse="exact")


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def close(found, expected, tolerance):
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


def partly_fixed(net, place=2, what="trained", value=False):
    """The same reversible network with W of one of its half-coupled layers fixed."""
    layers = [layer.copy() for layer in net.layers]
    getattr(layers[place], what).trainable = value
    fixed = object.__new__(type(net))
    so.Network.__init__(fixed, layers)
    vars(fixed).update({name: value for name, value in vars(net).items()
                        if name not in vars(fixed)})
    return fixed


def test_the_right_inverse_refuses_what_it_does_not_move(rng):
    words = r"in Coupling\(6.* W is fixed or V is not; inverse='moore-penrose' takes any network"
    for changed in ((2, "trained", False), (5, "fixed", True)):
        net = partly_fixed(network(rng, activation="tanh"), *changed)
        with pytest.raises(ValueError, match=words):
            so.GaussNewton(net, SQUARED)
        with pytest.raises(ValueError, match=words):
            direction(net, SQUARED, *batch(rng, net))


@INVERSES
def test_generalised_step_with_the_hessian_of_the_loss(inverse, rng):
    net = network(rng, outputs=3, activation="tanh", bottleneck=24)
    x, y = batch(rng, net)
    J, H = jacobian(net, x), reference.softmax_hessian(net(x))
    wanted = -np.linalg.pinv(H, rcond=1e-11) @ reference.softmax_errors(
        net(x), np.eye(3)[y]).ravel()
    step = direction(net, SOFTMAX, x, y, inverse=inverse, curvature="loss")
    close(J @ step, wanted, 1e-8)
    if inverse == "moore-penrose":
        close(step, np.linalg.pinv(J) @ wanted, 1e-7)


@INVERSES
def test_penalty_is_decoupled(inverse, rng):
    net = network(rng, activation="tanh", bottleneck=24)
    x, y = batch(rng, net)
    close(direction(net, SQUARED, x, y, inverse=inverse, l2=0.3),
          direction(net, SQUARED, x, y, inverse=inverse) - 0.3 * net.theta, 1e-12)


@INVERSES
def test_only_an_exact_inverse_that_does_not_exist_is_warned_of(inverse, rng):
    independent = network(rng, activation="tanh", bottleneck=24)
    dependent = network(rng, blocks=1, bottleneck=2)
    x, y = batch(rng, independent)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        direction(independent, SQUARED, x, y, inverse)
        room.direction(dependent, SQUARED, x, y, inverse, "damp")
    with pytest.warns(RankWarning, match="samples are not independent.* pseudo_inverse='truncate'"):
        direction(dependent, SQUARED, x, y, inverse)


@pytest.mark.parametrize("options, words", [
    ({"pseudo_inverse": "exact", "strength": 0.1}, "strength"), ({"strength": -0.1}, "strength"),
    ({"pseudo_inverse": "trunkate"}, "truncate"), ({"inverse": "left"}, "right"),
    ({"curvature": "hessian"}, "identity"),
    ({"inverse": "moore-penrose", "pseudo_inverse": "noise"}, "inverse='right'")], ids=str)
def test_bad_options_are_refused(options, words, rng):
    net = network(rng, outputs=2)
    with pytest.raises((ValueError, TypeError), match=words):
        room.direction(net, SOFTMAX, *batch(rng, net), **options)


def test_bad_networks_are_refused(rng):
    net = network(rng, outputs=2)
    x, y = batch(rng, net)
    with pytest.raises(TypeError, match="needs a RevMLP"):
        direction(so.mlp([3, 2], rng=0), SOFTMAX, np.ones((2, 3)), [0, 1])
    net.theta = np.full(net.size, 1e200)
    with pytest.raises(FloatingPointError):
        direction(net, SOFTMAX, x, y)
