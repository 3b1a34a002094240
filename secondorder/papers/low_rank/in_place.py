"""Twins of `through_linear`, `through_activation` and `through_layer`, which write into arrays that
are used again; see :mod:`secondorder.nets.in_place`."""

import numpy as np

from ...nets.in_place import Buffered, like_y
from ...nets.in_place.convolution import ConvolutionInPlace
from ...nets.in_place.pooling import AvgPoolInPlace, MaxPoolInPlace
from ...nets.in_place.layers import ActivationInPlace, LinearInPlace
from .curvature import inner, through_layer


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

    def __call__(self, kept, tangent, piece, bar):
        return through_layer(self.passes.layer, kept, tangent, piece, bar)


class ThroughLinear(Through):
    moved = like_y()

    def __call__(self, kept, tangent, piece, bar):
        z_tangent = self.passes.tangent(kept, tangent, piece)
        if piece is None or tangent is None:
            return z_tangent, 0.0
        P = piece[:self.passes.W.size].reshape(self.passes.W.shape)
        return z_tangent, 2 * inner(bar, np.matmul(tangent, P.T, out=self.moved))


class ThroughConvolution(Through):
    moved = like_y()

    def __call__(self, kept, tangent, piece, bar):
        y_tangent = self.passes.tangent(kept, tangent, piece)
        if piece is None or tangent is None:
            return y_tangent, 0.0
        V, _ = self.passes.split(piece)
        return y_tangent, 2 * inner(bar, self.passes.convolve(tangent, V, self.moved))


class ThroughPooling(Through):

    def __call__(self, kept, tangent, piece, bar):
        return self.passes.tangent(kept, tangent, None), 0.0


class ThroughActivation(Through):
    bent = like_y()

    def __init__(self, passes):
        super().__init__(passes)
        self.straight = getattr(passes.layer.function, "piecewise_linear", False)

    def __call__(self, kept, tangent, piece, bar):
        bend = 0.0
        if not self.straight:
            bent = np.multiply(bar, kept.curvature, out=self.bent)
            bent *= tangent
            bend = inner(bent, tangent)
        return self.passes.tangent(kept, tangent, None), bend


TWINS = {LinearInPlace: ThroughLinear, ActivationInPlace: ThroughActivation,
         ConvolutionInPlace: ThroughConvolution, AvgPoolInPlace: ThroughPooling,
         MaxPoolInPlace: ThroughPooling}


class Along(Buffered):
    """The layers of a chain, one after the other."""

    def __init__(self, passes):
        super().__init__(passes.dtype)
        self.passes = passes
        self.layers = [TWINS.get(type(inner), Through)(inner) for inner in passes.layers]

    def resize(self, rows):
        super().resize(rows)
        for layer in self.layers:
            layer.resize(rows)

    def __call__(self, evaluation, direction):
        bend, tangent, pieces = 0.0, None, self.passes.pieces(direction)
        for layer, kept, piece, bar in zip(self.layers, evaluation.saved, pieces,
                                           evaluation.deltas):
            if tangent is not None or piece is not None:
                tangent, own = layer(kept, tangent, piece, bar)
                bend += own
        return tangent, bend
