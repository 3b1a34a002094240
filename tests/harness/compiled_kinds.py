"""A small network for every kind of layer that has a compiled form, and what one asks of it.

Before the kind stands what makes its input move, behind it what bends: every sum of every pass has
its terms.
"""

import numpy as np

import secondorder as so
from secondorder.exact.curvature import two_jet_at
from secondorder.nets import (ACTIVATIONS, Activation, AvgPool2d, BinaryCrossEntropy,
                              BoundedCriterion, Chain, Conv2d, Flatten, Huber, LayerNorm, Linear,
                              MaxPool2d, Network, PoissonNLL, Recurrent, Reshape, Skip,
                              SoftmaxCrossEntropy, SquaredError, TukeyBiweight)
from secondorder.papers.reversible_gauss_newton import Coupling

WIDTH, OUTPUTS = 24, 3  # as vectors (24,), sequences (6, 4) or images (2, 4, 3)

# name -> the layers under test, with biases or without, trained or fixed
KINDS = {
    "linear": lambda **o: [Linear(WIDTH, 5, rng=1, **o)],
    **{name: lambda name=name, **o: [Activation(name)] for name in ACTIVATIONS},
    "chain": lambda **o: [Chain([Linear(WIDTH, 4, rng=1, **o), Activation("sin")])],
    "skip": lambda **o: [Skip([Linear(WIDTH, 4, rng=1, **o), Activation("softplus"),
                               Skip([Activation("sin")]), Linear(4, WIDTH, rng=2)])],
    "coupling": lambda bias=True, trainable=True: [
        Coupling(WIDTH, 5, "first", "tanh", bias=bias, rng=1),
        Coupling(WIDTH, 7, "second", "softplus", bias=bias, rng=2)],
    "layer-norm": lambda bias=True, trainable=True: [
        Reshape(WIDTH, (2, 3, 4)), LayerNorm((3, 4), 0.1, trainable=trainable), Flatten()],
    "recurrent": lambda **o: [Reshape(WIDTH, (6, 4)), Recurrent(4, 5, rng=1, **o)],
    "states": lambda **o: [Recurrent(WIDTH, steps=3, activation="softplus", rng=1, **o)],
    "convolution": lambda **o: [Reshape(WIDTH, (2, 4, 3)),
                                Conv2d(2, 3, 2, padding=1, stride=(2, 1), rng=1, **o), Flatten()],
    "average-pool": lambda **o: [Reshape(WIDTH, (2, 4, 3)), AvgPool2d((3, 2), 1), Flatten()],
    "max-pool": lambda **o: [Reshape(WIDTH, (2, 4, 3)), MaxPool2d((3, 2), 1), Flatten()],
    "shapes": lambda **o: [Reshape(WIDTH, (2, 4, 3)), Flatten()],
}
WITH_PARAMETERS = ("linear", "chain", "skip", "coupling", "layer-norm", "recurrent", "states",
                   "convolution")

LOSSES = (SquaredError(), SoftmaxCrossEntropy(), BoundedCriterion(3.0, 0.3), TukeyBiweight(1.5),
          BinaryCrossEntropy(np.arange(1.0, 1 + OUTPUTS)), Huber(0.4), PoissonNLL())


def network(kind, dtype="float64", **options):
    """Linear, tanh, the kind, sin, Linear; all parameters, also fixed ones, away from where they
    begin.
    """
    rng = np.random.default_rng(0)
    inside = KINDS[kind](**options)
    width, = Chain(inside).output_shape((WIDTH,))
    net = Network([Linear(5, WIDTH, rng=3), Activation("tanh"), *inside, Activation("sin"),
                   Linear(width, OUTPUTS, rng=4)], dtype=dtype)
    for parameters in (net.theta, *net.fixed_parameters()):
        parameters += rng.normal(size=parameters.shape) / 5
    return net


def batch(samples, loss=None, seed=1):
    """Inputs, and targets that the loss takes."""
    rng = np.random.default_rng(seed)
    x, shape = rng.normal(size=(samples, 5)), (samples, OUTPUTS)
    if isinstance(loss, (SoftmaxCrossEntropy, BoundedCriterion)):
        return x, rng.integers(0, OUTPUTS, samples)
    if isinstance(loss, BinaryCrossEntropy):
        return x, rng.random(shape)
    if isinstance(loss, PoissonNLL):
        return x, rng.integers(0, 9, shape)
    return x, rng.normal(size=shape)


def direction(net, seed=2):
    return np.random.default_rng(seed).normal(size=net.size).astype(net.dtype)


# name -> what is asked of (network, loss, x, y), and within how many units in the last place of its
# largest entry the two forms agree
QUANTITIES = {
    "outputs": (lambda net, loss, x, y: net(x), 16),
    "losses": (lambda net, loss, x, y: net.evaluate(loss, x, y).losses, 16),
    "gradient": (lambda *given: so.exact.gradient(*given, l2=0.1), 32),
    "sample gradients": (lambda *given: so.exact.sample_gradients(*given), 32),
    "jacobian": (lambda net, loss, x, y: so.exact.jacobian(net, x), 32),
    "hessian product": (lambda net, *given: so.exact.hessian_vector_product(
        net, *given, direction(net)), 64),
    "gauss-newton product": (lambda net, *given: so.exact.GaussNewtonOperator(net, *given)
                             @ direction(net), 64),
    "fisher product": (lambda net, *given: so.exact.FisherOperator(
        net, *given, kind="empirical")
        @ direction(net), 64),
    "two jet": (lambda net, *given: np.asarray(
        two_jet_at(net.evaluate(*given), direction(net)), net.dtype), 128),
    "curvature along": (lambda net, *given: np.asarray(so.low_rank.directional_curvature(
        net, *given, direction(net)), net.dtype), 128),
}
