"""What the method must know of a layer: its place in the paper's network, and its part of the
curvature along a direction.

`Rule` says what a rule is, and does what any layer can do by its own passes; the rules of affine
layers and of activations follow.
"""

import numpy as np

from ...exact.curvature import check_network
from ...nets import Activation, Linear
from ...nets.rules import LayerRules

rules = LayerRules("low-rank factors")


def rule_along(layer):
    """The rule for a layer along a direction: its own, or `Rule` for a layer that has none.

    A subclass that overrides a pass has none: its parent's formula may not hold for it.
    """
    try:
        return rules(layer)
    except TypeError:
        return Rule


def fully_connected(network):
    """Whether every layer of a network has a rule, so that it is the paper's network."""
    return all(rule_along(layer) is not Rule for layer in network.layers)


class Rule:
    """Any layer, by its own passes: base of the rules.

    The methods are static. `along` is for every layer; `collect` is for those that the paper's
    network is made of.
    """

    @staticmethod
    def collect(layer, saved, layers):
        """Add the layer to the list of `HiddenLayer`, or to its last entry."""
        raise NotImplementedError("a rule must define collect(layer, saved, layers)")

    @staticmethod
    def along(layer, saved, tangent, piece, bar):
        """The layer's part of g^T H g: one tangent up, and what is added to the sum.

        Parameters
        ----------
        layer : Layer
            Or what stands between a network and a layer for one direction.
        saved
            What its `forward` left behind.
        tangent : array like x, or None
            Derivative of the layer's input along the direction; None is zero.
        piece : (layer.size,) array, or None
            The direction in the layer's parameters; None is zero.
        bar : array like y
            Gradient of every sample's loss in the layer's output.

        Returns
        -------
        y_tangent : array like y
        second_order : float
            sum over samples of <bar, second derivative of the output along the direction>.
        """
        y_tangent, moved = layer.flat_tangent(saved, tangent, piece)
        return y_tangent, inner(bar, layer.second_tangent(saved, moved, None))


@rules.register(Linear)
class LinearRule(Rule):
    """An affine layer begins a new layer of the paper's network; z' = W v' + P v.

    What is added is 2 <delta, P v'>, the last line of (39).
    """

    @staticmethod
    def collect(layer, saved, layers):
        layers.append(HiddenLayer(layer, saved.input, saved.output))

    @staticmethod
    def along(layer, saved, tangent, piece, bar):
        z_tangent, _ = layer.flat_tangent(saved, tangent, piece)
        if piece is None or tangent is None:
            return z_tangent, 0.0
        P = layer.split(piece)[0]
        return z_tangent, 2 * inner(bar, tangent @ P.T)


@rules.register(Activation)
class ActivationRule(Rule):
    """An activation belongs to the affine layer before it; one before all of them only changes the
    inputs.

    v' = A'(z) z', and <df/dv A''(z), z'^2> is added; the latter is left out where A'' = 0.
    """

    @staticmethod
    def collect(layer, saved, layers):
        if layers:
            layers[-1].take_in(saved)

    @staticmethod
    def along(layer, saved, tangent, piece, bar):
        if getattr(layer.function, "piecewise_linear", False):
            return saved.slope * tangent, 0.0
        return saved.slope * tangent, inner(bar * saved.curvature * tangent, tangent)


class HiddenLayer:
    """An affine layer with the activation behind it: arrays of all samples, (S, d).

    ``slope`` and ``second_derivative`` are A'(z) and A''(z); None where nothing follows the affine
    layer, which means A(z) = z.
    """

    def __init__(self, linear, x, z):
        self.linear, self.input, self.z, self.output = linear, x, z, z
        self.slope = self.second_derivative = None

    def part(self, where):
        """The same layer with the samples `where` only."""
        if where == slice(None):
            return self
        layer = HiddenLayer(self.linear, self.input[where], self.z[where])
        layer.output = self.output[where]
        if self.slope is not None:
            layer.slope = self.slope[where]
            layer.second_derivative = self.second_derivative[where]
        return layer

    def take_in(self, saved):
        """Take in an activation; a second one in a row composes with the first.

        (B(A(z)))' = B' A' and (B(A(z)))'' = B'' A'^2 + B' A''.
        """
        if self.slope is None:
            self.slope, self.second_derivative = saved.slope, saved.curvature
        else:
            self.second_derivative = (saved.curvature * self.slope**2
                                      + saved.slope * self.second_derivative)
            self.slope = saved.slope * self.slope
        self.output = saved.output


def hidden_layers(evaluation):
    """The affine layers of a fully-connected chain as `HiddenLayer`, and the place of each.

    TypeError names a layer that is neither `Linear` nor `Activation`.
    """
    network = evaluation.network
    check_network(network)
    taken = [rules(layer) for layer in network.layers]
    layers, places = [], []
    for i, (layer, rule, saved) in enumerate(zip(network.layers, taken, evaluation.saved)):
        before = len(layers)
        rule.collect(layer, saved, layers)
        if len(layers) > before:
            places.append(i)
    return layers, places


def inner(a, b):
    """Sum of the products of all entries, as a float.

    It is summed in float64, as the terms of a curvature cancel.
    """
    if a.dtype == np.float64:
        return float(np.vdot(a, b))
    return float(np.einsum("i,i->", a.ravel(), b.ravel(), dtype=np.float64))
