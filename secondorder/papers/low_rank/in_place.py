"""Twins of the rules along a direction, which write into arrays that are used again.

See :mod:`secondorder.nets.in_place`. They are found by the class of a layer's own twin; a subclass
that overrides a pass has none, and its passes are asked.
"""

import numpy as np

from ...nets.in_place import Buffered, like_y
from ...nets.in_place.convolution import ConvolutionInPlace
from ...nets.in_place.pooling import AvgPoolInPlace, MaxPoolInPlace
from ...nets.in_place.layers import ActivationInPlace, LinearInPlace
from .rules import Rule, inner


def along(evaluation, direction):
    """As `curvature.along`, in the arrays of the evaluation's workspace."""
    passes = evaluation.passes
    twin = evaluation.workspace.twin(("along a direction", id(passes)), evaluation.samples,
                                     lambda: Along(passes))
    return twin(evaluation, direction)


class Through(Buffered):
    """Any layer, by its own passes."""

    def __init__(self, passes):
        super().__init__(passes.dtype)
        self.passes, self.output_shape = passes, passes.output_shape

    def __call__(self, saved, tangent, piece, bar):
        return Rule.along(self.passes.layer, saved, tangent, piece, bar)


class ThroughLinear(Through):
    moved = like_y()

    def __call__(self, saved, tangent, piece, bar):
        z_tangent = self.passes.tangent(saved, tangent, piece)
        if piece is None or tangent is None:
            return z_tangent, 0.0
        P = piece[:self.passes.W.size].reshape(self.passes.W.shape)
        return z_tangent, 2 * inner(bar, np.matmul(tangent, P.T, out=self.moved))


class ThroughConvolution(Through):
    moved = like_y()

    def __call__(self, saved, tangent, piece, bar):
        y_tangent = self.passes.tangent(saved, tangent, piece)
        if piece is None or tangent is None:
            return y_tangent, 0.0
        V, _ = self.passes.split(piece)
        return y_tangent, 2 * inner(bar, self.passes.convolve(tangent, V, self.moved))


class ThroughPooling(Through):

    def __call__(self, saved, tangent, piece, bar):
        return self.passes.tangent(saved, tangent, None), 0.0


class ThroughActivation(Through):
    product = like_y()

    def __init__(self, passes):
        super().__init__(passes)
        self.straight = getattr(passes.layer.function, "piecewise_linear", False)

    def __call__(self, saved, tangent, piece, bar):
        second_order = 0.0
        if not self.straight:
            product = np.multiply(bar, saved.curvature, out=self.product)
            product *= tangent
            second_order = inner(product, tangent)
        return self.passes.tangent(saved, tangent, None), second_order


TWINS = {LinearInPlace: ThroughLinear, ActivationInPlace: ThroughActivation,
         ConvolutionInPlace: ThroughConvolution, AvgPoolInPlace: ThroughPooling,
         MaxPoolInPlace: ThroughPooling}


class Along(Buffered):
    """The layers of a chain, one after the other."""

    def __init__(self, passes):
        super().__init__(passes.dtype)
        self.passes = passes
        self.layers = [TWINS.get(type(own), Through)(own) for own in passes.layers]

    def resize(self, rows):
        super().resize(rows)
        for layer in self.layers:
            layer.resize(rows)

    def __call__(self, evaluation, direction):
        second_order, tangent, pieces = 0.0, None, self.passes.pieces(direction)
        for layer, saved, piece, bar in zip(self.layers, evaluation.saved, pieces,
                                           evaluation.deltas):
            if tangent is not None or piece is not None:
                tangent, own = layer(saved, tangent, piece, bar)
                second_order += own
        return tangent, second_order
