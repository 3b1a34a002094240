"""Which layers the method takes, and how a curvature matrix passes down through each of them.

A curvature matrix stands for the Hessian of the loss in a layer's output: of one instance, H_i, or
the mean over the batch, B. Going down, Eq. (4b), (6) and (8b) split into a rule for the affine map
and one for the activation:

    Linear        H_i <- W^T H_i W
                  B   <- W^T B W
    Activation    H_i <- diag(h'_i) H_i diag(h'_i) + diag(c_i),   c_i = h''_i (.) y_bar_i
                  B   <- B (.) E[h' h'^T] + diag(c),              c = E[h'' (.) y_bar]

with c_i or c corrected by Pos-Eig, where y_bar is the gradient in the activation's output, which is
W^T g of the layer above. ``gamma`` is Pos-Eig's factor: 1 leaves the second-order term c as it is,
None leaves it out (Gauss-Newton).
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


class Rule:
    """How a curvature matrix passes from a layer's output to its input: base of all rules."""

    @staticmethod
    def carry(unit, B, gamma):
        """The mean matrix B (n, n) of a batch, one step down: (m, m)."""
        raise NotImplementedError("a rule must define carry(unit, B, gamma)")

    @staticmethod
    def carry_each(unit, H, gamma):
        """The matrices H (S, n, n) of the instances, one step down: (S, m, m)."""
        raise NotImplementedError("a rule must define carry_each(unit, H, gamma)")


@rules.register(Linear)
class LinearRule(Rule):
    """B <- W^T B W."""

    @staticmethod
    def carry(unit, B, gamma):
        return congruence(unit.layer.weight, B)

    @staticmethod
    def carry_each(unit, H, gamma):
        W = unit.layer.weight
        return W.T @ H @ W


@rules.register(Activation)
class ActivationRule(Rule):
    """B <- B (.) E[h' h'^T] + diag(Pos-Eig(E[h'' (.) y_bar])), or no diagonal if gamma is None."""

    @staticmethod
    def carry(unit, B, gamma):
        slope, second_derivative = unit.saved.slope, unit.saved.curvature
        moment = second_moment(slope)
        B = np.multiply(moment, B, out=moment)
        if gamma is not None and not getattr(unit.layer.function, "piecewise_linear", False):
            second_order = np.einsum("si,si->i", second_derivative, unit.delta) / len(slope)
            B[np.diag_indices_from(B)] += pos_diagonal(second_order, gamma)
        return B

    @staticmethod
    def carry_each(unit, H, gamma):
        slope, second_derivative = unit.saved.slope, unit.saved.curvature
        H = slope[:, :, None] * H * slope[:, None, :]
        if gamma is not None:
            index = np.arange(H.shape[1])
            H[:, index, index] += pos_diagonal(second_derivative * unit.delta, gamma)
        return H


@rules.register(Chain)
class ChainRule(Rule):
    """A chain is nothing but its layers: :func:`units` puts them in its place."""


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
    for layer, its_saved, delta, where in zip(chain.layers, saved, deltas, chain.slices):
        place = slice(start + where.start, start + where.stop)
        if isinstance(layer, Chain):
            inner = layer.output_gradients(its_saved, delta)
            yield from _unfolded(layer, its_saved, inner, place.start)
        else:
            yield Unit(layer, its_saved, delta, place)


def linear(all_units):
    """Those of the units that are linear layers."""
    return [unit for unit in all_units if isinstance(unit.layer, Linear)]


def downwards(all_units, top, step):
    """Curvature at the output of every linear layer, from the input up, from that at the network's
    output, `top`. ``step(unit, M)`` carries M from a unit's output to its input. It is not called
    for the first linear layer and what lies below it, so that nothing as large as the inputs is
    made.
    """
    first = next(i for i, unit in enumerate(all_units) if isinstance(unit.layer, Linear))
    at_layers, M = [], top
    for unit in reversed(all_units[first:]):
        if isinstance(unit.layer, Linear):
            at_layers.append(M)
        if unit is not all_units[first]:
            M = step(unit, M)
    return at_layers[::-1]
