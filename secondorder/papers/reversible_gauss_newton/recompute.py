"""4. Without saved activations: they are computed again by running the network backwards."""

import numpy as np

from ...checks import check_loss
from .eq_14_15_revmlp import block_state, downwards
from .eq_16_17_right_inverse import eq_16_17_deltas

#: How far the inverse network may miss the input, relative to the largest |x_l|.
DRIFT = 1e-4


class RunningEvaluation:
    """A forward pass that keeps no activations: the attributes of
    :class:`~secondorder.nets.Evaluation` as far as they need none, ``features`` x_L (S, width), and
    ``drift``: how far the inverse network missed the input, relative to the largest |x_l|.

    FloatingPointError if the outputs are not finite.
    """

    def __init__(self, network, loss, x, y):
        self.network, self.loss_function, self.drift = network, check_loss(loss), np.nan
        self.x = network.check_input(x)
        self.features = network.features(self.x)
        U = network.readout
        self.outputs = self.features if U is None else self.features @ U.T
        self.y = loss.prepare_target(y, self.outputs.shape, network.dtype)
        self.losses = loss.value(self.outputs, self.y)
        self.loss = float(self.losses.mean(dtype=np.float64))

    def deltas(self, e1, e2, plus):
        """(16), (17) from activations that the inverse network computes; where it misses the input
        by more than `DRIFT`, from a second forward pass that keeps them.
        """
        found = eq_16_17_deltas(self.undone(), e1, e2, plus)
        if self.drift <= DRIFT:
            return found
        _, saved = self.network.chain.forward(self.x)
        return eq_16_17_deltas(downwards(self.network, saved), e1, e2, plus)

    def undone(self):
        """`BlockState` of every block from the last one down, one at a time."""
        x, largest = self.features, np.abs(self.features).max()
        for block in self.network.blocks[::-1]:
            between, second = block.second.undone(x)
            x, first = block.first.undone(between)
            yield block_state(block, (first, second))
            largest = max(largest, np.abs(x).max())
        missed = np.abs(x[:, :self.x.shape[1]] - self.x).max()
        self.drift = float(missed / largest) if largest else 0.0

    def moved_outputs(self, direction):
        """J d (S, C), from one more forward pass that keeps one layer at a time."""
        chain, x, tangent = self.network.chain, self.x, None
        for layer, piece in zip(chain.parts, chain.split(direction)):
            y, saved = layer.forward(x)
            if tangent is not None or piece is not None:
                tangent, _ = layer.flat_tangent(saved, tangent, piece)
            x = y
        return tangent
