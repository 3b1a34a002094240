"""Twins of the passes, which write into arrays that are used again: what a training step runs.

The passes of a layer return new arrays and know nothing of this. Beside each class whose steps are
to be fast stands a twin, found by class: it has the same passes under the same names, and owns the
arrays that they write into. A layer without a twin, and a subclass that overrides anything of a
class with one, is run by its own passes; what they return is then copied to where it belongs. A
test holds every twin to the literal passes.
"""

from .base import Buffer, Buffered, InPlace, Twins, like_x, like_y

twins = Twins(InPlace)  # layers: twin(layer, input_shape, dtype)


def in_place(layer, input_shape, dtype):
    """The twin of a layer in a network, for inputs of one shape.

    Parameters
    ----------
    layer : Layer
    input_shape : tuple of int
        Of one sample.
    dtype : numpy.dtype
        The network's.

    Returns
    -------
    InPlace
    """
    return twins.find(layer)(layer, input_shape, dtype)


from . import chain, convolution, layers, pooling  # noqa: E402, F401  they register their twins
from .losses import LossInPlace, losses  # noqa: E402

__all__ = ["Buffer", "Buffered", "InPlace", "LossInPlace", "Twins", "in_place", "like_x", "like_y",
           "losses", "twins"]
