"""`Reshape` gives every sample another shape: the way back from `Flatten`, and any other."""

from .. import checks
from .flatten import Flatten


class Reshape(Flatten):
    """y holds the entries of x, sample by sample in C order, in another shape.

    `Flatten` does this for a vector; its passes are shared.

    Parameters
    ----------
    input_shape, output_shape : int or tuple of int
        Shapes of one sample, of the same number of entries; 5 means (5,).

    Raises
    ------
    TypeError, ValueError
        If something is not a shape, or the numbers of entries differ.
    """

    def __init__(self, input_shape, output_shape):
        super().__init__()
        self.input_shape, self.made_shape = checks.shapes_alike(input_shape, output_shape)

    def output_shape(self, input_shape):
        checks.stated_shape(self, input_shape)
        return self.made_shape

    def saved_arguments(self):
        """What the constructor takes, for :mod:`~secondorder.nets.saving`."""
        return {"input_shape": self.input_shape, "output_shape": self.made_shape}

    def __repr__(self):
        return f"{type(self).__name__}({self.input_shape}, {self.made_shape})"
