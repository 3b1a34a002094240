"""Random small cases for the checks of this paper, and what they are compared with, made without the room's code."""

from itertools import product
from typing import NamedTuple

import numpy as np

from ...nets import Activation, Linear, Network, SoftmaxCrossEntropy, SquaredError
from .. import partitions

LOSSES = {"squared": SquaredError, "softmax": SoftmaxCrossEntropy}


# -- networks and batches ---------------------------------------------------------------------------------------------

def network(rng, activation="tanh", sizes=(3, 4, 3, 3), scale=1.0, bias=True, output="identity", fixed=(),
            positive=False):
    """A chain Linear, Activation, ..., Linear with uniform weights and biases of half-width scale / sqrt(fan in).

    Parameters
    ----------
    rng : numpy.random.Generator
    activation, output : str
        ``output="identity"`` adds no layer at the end.
    fixed : sequence of int
        Which of the linear layers, counted from 0, are not trained.
    positive : bool
        Take absolute values of weights and biases.
    """
    layers = []
    for k, (n_in, n_out) in enumerate(zip(sizes[:-1], sizes[1:])):
        layer = Linear(n_in, n_out, bias=bias, trainable=k not in fixed, init=scale / np.sqrt(n_in), rng=rng)
        if positive:
            for name, value in layer.parameters.items():
                layer.assign(name, np.abs(value))
        name = activation if k < len(sizes) - 2 else output
        layers += [layer] if name == "identity" else [layer, Activation(name)]
    return Network(layers)


def batch(rng, net, loss="squared", samples=5, positive=False):
    """Inputs and targets: normal numbers, or labels for the softmax."""
    x = rng.normal(size=(samples, *net.input_shape))
    shape = (samples, *net.output_shape)
    y = rng.integers(0, shape[1], samples) if loss == "softmax" else rng.normal(size=shape)
    return np.abs(x) if positive else x, y


def evaluation(rng, activation="tanh", loss="squared", samples=5, positive=False, **options):
    """A random network (``options`` as for :func:`network`), evaluated on a random batch."""
    net = network(rng, activation, positive=positive, **options)
    return net.evaluate(LOSSES[loss](), *batch(rng, net, loss, samples, positive))


def variety(rng, activations=("tanh", "softplus", "sigmoid", "relu", "identity"), losses=tuple(LOSSES), **options):
    """A dict with an evaluation for every pair of activation and loss, named by both."""
    return {f"{activation}, {loss}": evaluation(rng, activation, loss, **options)
            for activation, loss in product(activations, losses)}


def product_of_weights(w1=0.0, w2=0.0, target=1.0, bias=True):
    """The smallest case in which dropped products matter: y = w2 w1 x, biases zero, x = 1, half squared error.

    Order of the parameters: w1, b1, w2, b2.
    """
    net = Network([Linear(1, 1, bias=bias, init=0.0), Linear(1, 1, bias=bias, init=0.0)])
    net.layers[0].weight, net.layers[1].weight = [[w1]], [[w2]]
    return net.evaluate(SquaredError(), np.ones((1, 1)), np.full((1, 1), target))


def bent_unit(w2=1.0, target=-5.0):
    """One tanh unit far above its target: the coefficient below it, before its absolute value is taken, is negative.

    y = w2 tanh(w1 x + b1) + b2 with w1 = x = 1 and both biases 0. Order of the parameters: w1, b1, w2, b2.
    """
    net = Network([Linear(1, 1, init=0.0), Activation("tanh"), Linear(1, 1, init=0.0)])
    net.layers[0].weight, net.layers[2].weight = [[1.0]], [[w2]]
    return net.evaluate(SquaredError(), np.ones((1, 1)), np.full((1, 1), target))


def with_dead_unit(rng, loss="squared"):
    """A relu network whose first hidden unit is 0 in the whole batch, and with it its slope."""
    net = network(rng, "relu")
    net.layers[0].bias[0] = -100.0
    return net.evaluate(LOSSES[loss](), *batch(rng, net, loss))


class AffineCase(NamedTuple):
    """One affine layer with everything that its equations mention, all entries non-zero."""

    layer: Linear
    y: np.ndarray       # (S, in)
    u: np.ndarray       # (S, in), positive
    Y_dot: np.ndarray   # (S, out), both signs
    Y_ddot: np.ndarray  # (S, out), positive
    dW: np.ndarray      # (out, 1 + in)
    dY: np.ndarray      # (S, in)
    partition: partitions.Partition


def affine(rng, samples=4, n_in=3, n_out=2, first=False, **options):
    """A random :class:`AffineCase` with an arbitrary partition; `first`: nothing below is trained, u = dY = phi = 0."""
    layer = Linear(n_in, n_out, init=1.5, rng=rng, **options)
    y, dY = rng.normal(size=(2, samples, n_in))
    u = rng.uniform(0.2, 3.0, size=(samples, n_in))
    if first:
        u, dY = np.zeros_like(u), np.zeros_like(dY)
    Y_dot, Y_ddot = rng.normal(size=(samples, n_out)), rng.uniform(0.1, 2.0, size=(samples, n_out))
    dW = rng.normal(size=(n_out, 1 + n_in)) * layer.trainable
    return AffineCase(layer, y, u, Y_dot, Y_ddot, dW, dY, partitions.arbitrary(layer, y, u, rng))


def steps(rng, size, count=40):
    """Changes of all parameters, (count, size): normal, sign vectors and sparse ones, of lengths from 0.01 to 10."""
    normal, signs = rng.normal(size=(count, size)), rng.choice([-1.0, 1.0], size=(count, size))
    sparse = normal * (rng.random((count, size)) < 0.15)
    chosen = np.array([normal[k] if k % 3 == 0 else signs[k] if k % 3 == 1 else sparse[k] for k in range(count)])
    return chosen * 10.0 ** rng.uniform(-2, 1, size=(count, 1))


# -- independent references -------------------------------------------------------------------------------------------

class Change(NamedTuple):
    """First- and second-order change of a layer's input (S, m): dY is about first + second / 2."""

    first: np.ndarray
    second: np.ndarray


def changes(evaluation, delta, products=False):
    """Changes of the inputs of all layers and, last, of the outputs, when the parameters change by `delta` (P,).

    Activations are taken to second order. With ``products=False`` a change of weight times a change of activation is
    left out, as in Eq. (4); with True it is kept.
    """
    net = evaluation.network
    found = [Change(np.zeros_like(evaluation.x), np.zeros_like(evaluation.x))]
    for layer, where in zip(net.layers, net.slices):
        first, second = found[-1]
        y = evaluation.saved[len(found) - 1].input
        if isinstance(layer, Activation):
            slope, curvature = layer.function.slope(y), layer.function.curvature(y)
            found.append(Change(slope * first, slope * second + curvature * first**2))
            continue
        dW, db = weights_and_biases(layer, delta[where])
        twice = 2 * first @ dW.T if products else 0
        found.append(Change(first @ layer.weight.T + y @ dW.T + db, second @ layer.weight.T + twice))
    return found


def weights_and_biases(layer, delta):
    """A layer's piece of a flat step as (out, in) and (out,); zeros where the layer has none."""
    out, width = layer.weight.shape
    if not layer.trainable:
        return np.zeros((out, width)), np.zeros(out)
    weights, rest = delta[:out * width].reshape(out, width), delta[out * width:]
    return weights, rest if layer.bias is not None else np.zeros(out)


def model(evaluation, delta, products=False):
    """The second-order model of the mean loss at a step `delta` (P,): without the products of (4), or the true one."""
    first, second = changes(evaluation, delta, products)[-1]
    p, y, loss = evaluation.outputs, evaluation.y, evaluation.loss_function
    linear = np.sum(loss.gradient(p, y) * (first + second / 2), axis=1)
    square = np.einsum("si,sij,sj->s", first, loss.hessian(p, y), first)
    return float(np.mean(loss.value(p, y) + linear + square / 2))


def outputs_by_hand(net, x, delta):
    """Outputs (S, C) after the parameters changed by `delta` (P,), without the layers' own passes."""
    for layer, where in zip(net.layers, net.slices):
        if isinstance(layer, Activation):
            x = layer.function.value(x)
        else:
            dW, db = weights_and_biases(layer, delta[where])
            x = x @ (layer.weight + dW).T + db + (0 if layer.bias is None else layer.bias)
    return x


def losses_by_hand(name, p, y):
    """Losses (S,) from their formulas, sample by sample; complex p are allowed."""
    found = []
    for s in range(len(p)):
        if name == "squared":
            found.append(sum((p[s, i] - y[s, i]) ** 2 for i in range(p.shape[1])) / 2)
        else:
            found.append(np.log(sum(np.exp(p[s, i] - p[s, np.argmax(y[s])]) for i in range(p.shape[1]))))
    return np.array(found)


def least_eigenvalue(curvature, H):
    """Least eigenvalue of diag(curvature) - H: not negative exactly if the bound holds for every step."""
    return float(np.linalg.eigvalsh(np.diag(curvature) - H)[0])
