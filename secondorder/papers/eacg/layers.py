"""Which layers the method takes, and how a curvature matrix passes down through each of them.

A curvature matrix of a batch stands for the mean Hessian of a sample's loss in a layer's output.
Going down, Eq. (6) and Eq. (8b) split into a rule for the affine map and one for the activation:

    Linear        B <- W^T B W
    Activation    B <- B (.) E[h' h'^T] + diag(c),    c = E[h'' (.) y_bar], corrected by Pos-Eig

with y_bar the gradient in the activation's output, which is W^T g of the layer above.
"""

from typing import NamedTuple

import numpy as np

from ...nets import Activation, Chain, Linear
from ...nets.rules import LayerRules
from .pos_eig import pos_diagonal
from .products import congruence, second_moment

rules = LayerRules("EA-CG")


class Unit(NamedTuple):
    """One linear or activation layer of a batch: what it saved, gradients of its output (S, n), its
    place in theta.
    """

    layer: object
    saved: object
    delta: np.ndarray
    where: slice

    def part(self, samples):
        """The same for some of the samples only."""
        saved = type(self.saved)(*(array[samples] for array in self.saved))
        return self._replace(saved=saved, delta=self.delta[samples])


@rules.register(Linear)
class LinearRule:
    """B <- W^T B W."""

    @staticmethod
    def carry(unit, B, gamma):
        return congruence(unit.layer.weight, B)


@rules.register(Activation)
class ActivationRule:
    """B <- B (.) E[h' h'^T] + diag(Pos-Eig(E[h'' (.) y_bar])), or no diagonal if gamma is None."""

    @staticmethod
    def carry(unit, B, gamma):
        slope, curvature = unit.saved.slope, unit.saved.curvature
        moment = second_moment(slope)
        B = np.multiply(moment, B, out=moment)
        if gamma is not None and not getattr(unit.layer.function, "piecewise_linear", False):
            bend = np.einsum("si,si->i", curvature, unit.delta) / len(slope)
            B[np.diag_indices_from(B)] += pos_diagonal(bend, gamma)
        return B


@rules.register(Chain)
class ChainRule:
    """A chain is nothing but its layers: see :func:`units`."""

    carry = None


def check_layers(network):
    """TypeError, naming the first layer that has no rule."""
    for layer in network.chain.sublayers():
        rules(layer)


def units(evaluation, deltas=None):
    """The linear and activation layers of an evaluated network from the input up, chains unfolded.

    `deltas` are gradients of the layers' outputs other than the evaluation's own.

    Raises
    ------
    TypeError
        A layer that the method does not support.
    RuntimeError
        If the parameters have changed since the evaluation.
    """
    check_layers(evaluation.network)
    evaluation.require_current()
    return list(_unfolded(evaluation.network.chain, evaluation.saved,
                          evaluation.deltas if deltas is None else deltas, 0))


def _unfolded(chain, saved, deltas, start):
    for layer, kept, delta, where in zip(chain.layers, saved, deltas, chain.slices):
        place = slice(start + where.start, start + where.stop)
        if isinstance(layer, Chain):
            yield from _unfolded(layer, kept, layer.output_gradients(kept, delta), place.start)
        else:
            yield Unit(layer, kept, delta, place)


def linear(all_units):
    """Those of the units that are linear layers."""
    return [unit for unit in all_units if isinstance(unit.layer, Linear)]


def downwards(all_units, top, step):
    """Curvature at the output of every linear layer, from the input up.

    Parameters
    ----------
    all_units : list of Unit
    top : array
        Curvature at the network's output.
    step : callable
        ``step(unit, M)`` carries M from a unit's output to its input. It is not called for the
        first linear layer and what lies below it, so that nothing as large as the inputs is made.
    """
    first = next(i for i, unit in enumerate(all_units) if isinstance(unit.layer, Linear))
    found, M = [], top
    for unit in reversed(all_units[first:]):
        if isinstance(unit.layer, Linear):
            found.append(M)
        if unit is not all_units[first]:
            M = step(unit, M)
    return found[::-1]
