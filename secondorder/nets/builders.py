"""Small networks of the usual form: `mlp` for vectors, `cnn` for images, `rnn` for sequences."""

from .. import checks
from ..checks.images import pool_name, sequence_shape, stages
from ..checks.randomness import generator
from .layers import (Activation, AvgPool2d, Conv2d, Flatten, Linear, MaxPool2d, Recurrent,
                     activation_function)
from .network import Network

POOLING = {"avg": AvgPool2d, "max": MaxPool2d}


def mlp(sizes, activation="tanh", output="identity", bias=True, init="uniform", rng=None,
        dtype="float64"):
    """A fully-connected network.

    Parameters
    ----------
    sizes : sequence of int
        Widths from input to output, e.g. ``[64, 32, 10]``.
    activation : str or ActivationFunction
        After every linear layer but the last.
    output : str or ActivationFunction
        After the last linear layer; ``"identity"`` adds no layer.
    bias : bool
    init : str, number or callable
        ``"uniform"`` (+-1/sqrt(fan in)), ``"xavier"``, a half-width, or an initialiser.
    rng : None, int or numpy.random.Generator
    dtype : "float64" or "float32"

    Returns
    -------
    Network

    Examples
    --------
    >>> net = mlp([64, 32, 10], rng=0)
    >>> net.size
    2410
    """
    sizes, rng = checks.widths(sizes, "sizes"), generator(rng)
    hidden, last = activation_function(activation), activation_function(output)
    layers = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        layers += [Linear(n_in, n_out, bias=bias, init=init, rng=rng), Activation(hidden)]
    layers[-1:] = [] if getattr(last, "name", None) == "identity" else [Activation(last)]
    return Network(layers, dtype=dtype)


def cnn(input_shape, channels, outputs, kernel_size=3, stride=1, padding=0, pool="max",
        activation="relu", output="identity", bias=True, init="uniform", rng=None,
        dtype="float64"):
    """A convolutional network: stages of convolution, activation and pooling, then one linear
    layer.

    Parameters
    ----------
    input_shape : tuple of int
        (C, H, W) of one image.
    channels : sequence of int
        Output channels of each stage.
    outputs : int
        Of the linear layer behind the stages.
    kernel_size, stride, padding : int or pair of int
        Of all convolutions.
    pool : {"max", "avg", None}
        Pooling over 2 x 2 after each activation.
    activation, output : str or ActivationFunction
        After every convolution, and after the linear layer; ``"identity"`` adds no layer.
    bias, init, rng, dtype
        As for `mlp`.

    Returns
    -------
    Network

    Raises
    ------
    TypeError, ValueError
        Of the layers; a kernel or a pooling that is larger than what reaches it is named.

    Examples
    --------
    >>> net = cnn((1, 8, 8), [4, 8], 10, rng=0, padding=1)
    >>> net.output_shape, net.size
    ((10,), 666)
    """
    input_shape, rng = checks.shape(input_shape, "input_shape"), generator(rng)
    widths, pooling = stages(channels, "channels"), POOLING.get(pool_name(pool))
    layers, before = [], input_shape[0]
    for after in widths:
        layers += [Conv2d(before, after, kernel_size, stride, padding, bias, rng, init=init),
                   Activation(activation)]
        layers += [pooling(2)] if pooling else []
        before = after
    shape = input_shape
    for layer in layers:
        shape = layer.output_shape(shape)
    layers.append(Flatten())
    width, = layers[-1].output_shape(shape)
    layers += _ending(width, outputs, output, bias, init, rng)
    return Network(layers, dtype=dtype, input_shape=input_shape)


def rnn(input_shape, hidden_size, outputs, activation="tanh", output="identity", bias=True,
        init="uniform", rng=None, dtype="float64"):
    """A recurrent network for sequences: `Recurrent`, then a linear layer on its last state.

    Parameters
    ----------
    input_shape : tuple of int
        (T, D): T steps with D numbers each.
    hidden_size : int
        Width of the state.
    outputs : int
    activation, output : str or ActivationFunction
        Of the recurrence, and after the linear layer; ``"identity"`` adds no layer.
    bias, init, rng, dtype
        As for `mlp`.

    Returns
    -------
    Network

    Examples
    --------
    >>> net = rnn((10, 2), 8, 1, rng=0)
    >>> net.output_shape, net.size
    ((1,), 97)
    """
    input_shape = sequence_shape(checks.shape(input_shape, "input_shape"))
    rng = generator(rng)
    layers = [Recurrent(input_shape[1], hidden_size, activation=activation, bias=bias, init=init,
                        rng=rng)]
    layers += _ending(layers[0].hidden_size, outputs, output, bias, init, rng)
    return Network(layers, dtype=dtype, input_shape=input_shape)


def _ending(width, outputs, output, bias, init, rng):
    """The linear layer at the end, and its activation if it has one."""
    last = activation_function(output)
    linear = Linear(width, checks.whole_number(outputs, "outputs", 1), bias=bias, init=init,
                    rng=rng)
    return [linear] if getattr(last, "name", None) == "identity" else [linear, Activation(last)]
