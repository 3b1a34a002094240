"""`Network`: layers over one flat parameter vector."""

import copy
from operator import attrgetter

import numpy as np

from .. import checks
from .allocation import keep_freed_memory
from .evaluation import Evaluation, quiet
from .layers import Chain
from .layers.parameters import Settled
from .summary import text as summary_text


class Network:
    """Layers in a row over one flat parameter vector `theta`.

    Parameters
    ----------
    layers : sequence of Layer
        Each instance may belong to one network only.
    dtype : "float64" or "float32"
        Parameters have this dtype; inputs and targets are converted to it once. ("complex128"
        exists for the complex step.)
    input_shape : tuple of int, optional
        Needed only if the first layer that states its own stands behind one that changes shapes, or
        none does.

    Attributes
    ----------
    layers : tuple of Layer
    theta : (P,) array
        All trainable parameters, layer by layer, weight (C order) then bias. It is live: ``weight``
        and ``bias`` of the layers are views into it, and assigning to any of them copies in place.
        Take ``theta.copy()`` to keep a point.
    slices : list of slice
        Where each layer's parameters stand in `theta`.
    input_shape, output_shape : tuple of int
        Without the sample axis.

    Raises
    ------
    ValueError
        Layers that do not fit each other, one layer twice, a layer of another network, unknown
        dtype.
    """

    chain, dtype, input_shape, output_shape = (Settled() for _ in range(4))

    def __init__(self, layers, dtype="float64", input_shape=None):
        self.dtype = checks.network_dtype(dtype)
        self.chain = Chain(layers)
        checks.free_layers(self.chain)
        self.input_shape = checks.input_shape(input_shape, self.chain)
        self.output_shape = tuple(self.chain.output_shape(self.input_shape))
        self.chain.convert(self.dtype)
        self._bind()

    def _bind(self):
        fixed = sum(value.size for value in self.fixed_parameters())
        self._all = np.zeros(self.chain.size + fixed, dtype=self.dtype)
        self._theta = self._all[: self.chain.size]
        self.chain.bind(self._theta, self, self._all[self.chain.size :])
        keep_freed_memory()

    def __getstate__(self):
        # without theta: the layers carry the values
        return {name: value for name, value in self.__dict__.items()
                if name not in ("_all", "_theta")}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._bind()

    # -- parameters --------------------------------------------------------------------------------

    @property
    def layers(self):
        return self.chain.layers

    theta = property(attrgetter("_theta"))

    @theta.setter
    def theta(self, value):
        self._theta[...] = checks.fitting(value, self._theta, "theta")

    all_parameters = property(attrgetter("_all"), doc="`theta`, and behind it what is not "
                              "trainable, layer by layer: one array, live as that.")

    size = property(attrgetter("_theta.size"), doc="Number of trainable parameters P.")

    @property
    def slices(self):
        return self.chain.slices

    def require_parameters(self):
        """Raise ValueError if nothing in the network is trainable."""
        checks.some_parameters(self)

    def vector(self, v, name="v"):
        """Check a flat vector (P,) that a caller gave, and convert it to the network's dtype."""
        v = checks.fitting(v, self._theta, name, ": one entry per parameter")
        return v.astype(self.dtype, copy=False)

    def require_finite(self, result, what):
        """Return `result` (..., P) if it is finite; else FloatingPointError names the first layer
        in whose parameters something overflowed.
        """
        return result if checks.all_finite(result) else checks.finite_result(result, what, self)

    def fixed_parameters(self):
        """The arrays of parameters that are not trainable, which `theta` does not hold."""
        return [value for layer in self.chain.sublayers() if not layer.trainable
                for value in layer.parameters.values()]

    def copy(self):
        """An independent copy."""
        return copy.deepcopy(self)

    __copy__ = copy  # a shallow one would take the layers' views away from the original

    def astype(self, dtype):
        """An independent copy with parameters of another dtype."""
        other = self.copy()
        vars(other)["dtype"] = checks.network_dtype(dtype)
        other.chain.convert(other.dtype)
        other._bind()
        return other

    # -- passes ------------------------------------------------------------------------------------

    def check_input(self, x):
        """Check a batch (S, *input_shape) and convert it to the network's dtype.

        Raises
        ------
        ValueError
            Wrong shape, empty batch, NaN or infinite entries.
        TypeError
            Not real numbers.
        """
        return checks.batch(x, self.input_shape, self.dtype)

    def forward(self, x):
        """Return the outputs (S, C) and the list of what each layer saved.

        Raises
        ------
        FloatingPointError
            If an output is not finite; the message names the first layer where that happened.
        TypeError
            If a layer changed the dtype; likewise.
        """
        x = self.check_input(x)
        with quiet():
            p, saved = self.chain.forward(x)
        return checks.outputs(p, saved, self), saved

    def __call__(self, x):
        """Outputs (S, C) for a batch x (S, *input_shape), in an array of their own."""
        p, _ = self.forward(x)
        return p.copy() if np.may_share_memory(p, x) else p

    def evaluate(self, loss, x, y):
        """Run the network and the loss on a batch.

        Parameters
        ----------
        loss : Loss
        x : (S, *input_shape) array
        y : targets, in the form that the loss takes

        Returns
        -------
        Evaluation
        """
        return Evaluation(self, loss, x, y)

    def summary(self):
        """Print the layers, the shapes of their outputs, and how many parameters they have."""
        print(summary_text(self))

    def __repr__(self):
        inside = ", ".join(map(repr, self.layers))
        return f"Network([{inside}], dtype='{self.dtype}')  # {self.size} parameters"
