"""The step without saved activations: they are computed again by running the network backwards."""

import numpy as np

from ...checks import check_loss
from .sweep import from_inputs, inverted, sweep


class RunningEvaluation:
    """A forward pass that keeps no activations: the attributes of
    :class:`~secondorder.nets.Evaluation` as far as they need none, and ``features`` (S, width),
    x_L. FloatingPointError if the outputs are not finite.
    """

    def __init__(self, network, loss, x, y):
        self.network, self.loss_function = network, check_loss(loss)
        with np.errstate(over="ignore", invalid="ignore"):
            self.x = network.check_input(x)
            self.features = network.features(self.x)
            self.outputs = (self.features if network.readout is None
                            else self.features @ network.readout.T)
            if not np.isfinite(self.outputs).all():
                raise FloatingPointError("the outputs of the network are not finite")
            self.y = loss.prepare_target(y, self.outputs.shape, network.dtype)
            self.losses = loss.value(self.outputs, self.y)
        self.loss = float(self.losses.mean(dtype=np.float64))


def recomputed_step(evaluation, eps, options, out=None):
    """`Update` of the right inverse, from activations that the inverse network computes again.

    Where it misses the input by more than the tolerance, they come from a second forward pass.
    """
    network = evaluation.network
    states = inverted(network.blocks, evaluation.features)
    result = sweep(network, states, eps, options, out)
    start = padded(network, evaluation.x)
    missed = drift(start, result, states)
    if not missed <= options.drift_tolerance:
        result = sweep(network, from_inputs(network.blocks, start), eps, options, out)
    return result._replace(drift=missed)


def padded(network, x):
    """x (S, width): with a zero for an odd number of inputs."""
    for layer in network.layers[:network._begin]:
        x = layer.forward(x)[0]
    return x


def drift(start, result, states):
    """How far the inverse network misses its input `start` (S, width), relative to the largest
    |x_l|.

    `result` is the `Update` that went through `states`, which is run to its end here.
    """
    end, largest = result.start, result.largest
    for _, saved in states:
        end, largest = saved[0].input, max(largest, float(np.abs(saved[1].output).max()))
    missed = float(np.abs(end - start).max())
    return missed / largest if largest else np.inf if missed else 0.0  # a batch of zeros stays 0


def running_residual(network, x, direction, eps):
    """J d + eps from a forward pass that keeps one layer at a time: outputs and their tangents."""
    tangent = None
    for layer, piece in zip(network.chain.parts, network.chain.split(direction)):
        y, saved = layer.forward(x)
        if tangent is not None or piece is not None:
            tangent, _ = layer.flat_tangent(saved, tangent, piece)
        x = y
    return tangent + eps
