"""A network of the house as the paper's: layers 1 .. n and the output, of a batch or a sample."""

from typing import NamedTuple

import numpy as np

from ...nets import Activation, Linear
from ...nets.rules import LayerRules
from .eq_10_26_network import Sample

kind_of = LayerRules("low-rank factors")  # TypeError for any other layer, or one with own passes
for kind in (Linear, Activation):
    kind_of.register(kind)(kind)


class Layer(NamedTuple):
    """Layer k with a batch; u is the last one."""

    own: Linear  # w^(k), and the biases
    where: slice  # its place in theta
    v: np.ndarray  # (S, d_k-1)  v^(k-1), what comes in
    f_z: np.ndarray  # (S, d_k)  gradient of f before the activation
    f_v: np.ndarray  # (S, d_k)  and behind it
    slope: np.ndarray  # (S, d_k)  A'
    bend: np.ndarray  # (S, d_k)  A''

    @property
    def trained(self):
        """Whether its weights stand in theta."""
        return self.where.start < self.where.stop

    def part(self, rows):
        """The same for some of the samples."""
        return Layer(self.own, self.where, *(array[rows] for array in self[2:]))


def fcnn(evaluation):
    """[layer 1, .., layer n, output] and f_pp (S, C, C) of an evaluated network.

    A(z) = z where no activation follows; two in a row are one. An activation behind the output
    belongs to f, one before all layers only changes x. TypeError names a layer of another kind.
    """
    evaluation.require_current()
    network, layers = evaluation.network, []
    network.require_parameters()
    kinds = [kind_of(own) for own in network.layers]
    output = max(i for i, kind in enumerate(kinds) if kind is Linear)
    for i, (own, where, saved, bar) in enumerate(zip(network.layers, network.slices,
                                                     evaluation.saved, evaluation.deltas)):
        if kinds[i] is Linear:
            layers.append(Layer(own, where, saved.input, bar, bar, np.ones_like(bar),
                                np.zeros_like(bar)))
        elif layers and i < output:  # (B(A(z)))'' = B'' A'^2 + B' A''
            k = layers[-1]
            layers[-1] = k._replace(f_v=bar, slope=saved.slope * k.slope,
                                    bend=saved.curvature * k.slope**2 + saved.slope * k.bend)
    H = evaluation.loss_function.hessian(evaluation.outputs, evaluation.y)
    f_pp = network.chain.input_hessian_from(evaluation.saved, evaluation.deltas, H, output + 1)[0]
    return layers, f_pp


def sample(evaluation, i=0):
    """The :class:`Sample` i of an evaluated network, with a unit that is 1 if there are biases."""
    layers, f_pp = fcnn(evaluation)
    unit = [1.0] * any(layer.own.bias is not None for layer in layers)

    def weights(own, last=False):
        b = np.zeros(own.out_features) if own.bias is None else own.bias
        w = np.column_stack([own.weight, *[b for _ in unit]])
        return w if last else np.vstack([w, *[np.eye(1, w.shape[1], w.shape[1] - 1) for _ in unit]])

    *hidden, output = layers
    return Sample([None, *(weights(k.own) for k in hidden)],
                  [np.append(k.v[i], unit) for k in layers],
                  [None, *(np.append(k.slope[i], unit) for k in hidden)],
                  [None, *(np.append(k.bend[i], 0 * np.array(unit)) for k in hidden)],
                  weights(output.own, last=True), output.f_z[i], f_pp[i])
