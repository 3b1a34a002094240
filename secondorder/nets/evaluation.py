"""`Evaluation`: what one forward pass, and on demand one backward pass, leave behind."""

import cmath
from functools import cached_property, partial

import numpy as np

from .. import checks
from .losses import Loss


# what overflows is found by the tests of what comes out; NumPy need not warn
quiet = partial(np.errstate, over="ignore", invalid="ignore", divide="ignore")


class Evaluation:
    """What one forward pass, and on demand one backward pass, leave behind at one point `theta`.

    All arrays are new: nothing in here is overwritten later.

    Parameters
    ----------
    network : Network
    loss : Loss
    x, y
        A batch and its targets.
    lasting : bool
        Whether the evaluation may be asked after x, y or the parameters were changed: it then keeps
        copies of them. False for one that is used at once and thrown away.

    Attributes
    ----------
    network, loss_function, x, y
        As given; x and y converted to the network's dtype (y in the loss's own form, e.g. one-hot).
    outputs : (S, C) array
    saved : list
        What each layer saved.
    losses : (S,) array
    loss : float
        Mean over the batch, without penalty.
    samples : int
        S.
    share : number of the network's dtype
        1 / S.
    deltas : list of arrays
        For each layer, the gradient of every sample's own loss with respect to that layer's output
        (not divided by S).
    gradient_sum : (P,) array
        Gradient of the sum of the losses.
    gradient : (P,) array
        Gradient of `loss`; read-only.

    Raises
    ------
    FloatingPointError
        If a layer's outputs, the losses or the gradient are not finite.
    RuntimeError
        If the parameters were changed between the forward pass and the first request for `deltas`
        or `gradient`, or a later request for curvature. What was computed before stays what it was.
    """

    def __init__(self, network, loss, x, y, lasting=True):
        if not (isinstance(loss, Loss) and hasattr(network, "chain")
                and len(network.output_shape) == 1):
            checks.evaluated(network, loss)
        self.network, self.loss_function = network, loss
        self.x = checks.batch(x, network.input_shape, network.dtype)
        self.samples, self.share = len(self.x), network.dtype.type(1 / len(self.x))
        self.y = loss.prepare_target(y, (self.samples, *network.output_shape), network.dtype)
        self.point = None
        if lasting:
            self.x, self.y = _own(self.x, x), _own(self.y, y)
            self.point = network.all_parameters.copy()
        with quiet():
            self.outputs, self.saved = network.chain.forward(self.x)
            checks.outputs(self.outputs, self.saved, network)
            if hasattr(loss, "value_and_gradient"):
                self.losses, self._p_bar = loss.value_and_gradient(self.outputs, self.y)
            else:
                self.losses, self._p_bar = loss.value(self.outputs, self.y), None
            checks.result_of(loss, "value", self.losses, self.outputs[:, 0])
            wide = np.complex128 if network.dtype.kind == "c" else np.float64
            self.loss = np.add.reduce(self.losses, dtype=wide).item() / self.samples
        if not cmath.isfinite(self.loss):
            checks.losses(self.losses, loss)

    def require_current(self):
        """Raise RuntimeError if the network's parameters are no longer those of the evaluation."""
        if self.point is not None:
            checks.unchanged([self.point], [self.network.all_parameters])

    def _output_gradient(self):
        """Gradient of every sample's loss in the outputs, (S, C)."""
        if self._p_bar is None:
            self._p_bar = self.loss_function.gradient(self.outputs, self.y)
        checks.result_of(self.loss_function, "gradient", self._p_bar, self.outputs)
        return self._p_bar

    @cached_property
    def deltas(self):
        self.require_current()
        with quiet():
            return self.network.chain.output_gradients(self.saved, self._output_gradient())

    @cached_property
    def gradient_sum(self):
        network = self.network
        if not network.size:
            network.require_parameters()
        self.require_current()
        with quiet():
            out = np.empty(network.size, network.dtype)
            if "deltas" in self.__dict__:
                return network.chain.parameter_gradient_from(self.saved, self.deltas, out)
            return network.chain.parameter_gradient(self.saved, self._output_gradient(), out)

    @cached_property
    def gradient(self):
        gradient = self.gradient_sum * self.share
        self.network.require_finite(gradient, "the gradient")
        gradient.flags.writeable = False  # it is kept, and others rely on it
        return gradient

    def objective_gradient(self, l2):
        """Gradient of the mean loss plus (l2 / 2) |theta|^2, (P,); read-only."""
        if not l2:
            return self.gradient
        self.require_current()
        gradient = self.gradient + self.network.dtype.type(l2) * self.network.theta
        gradient.flags.writeable = False
        return gradient


def _own(array, source):
    """The array; a copy if it is the caller's own, whose later changes then change nothing here."""
    if isinstance(source, np.ndarray) and np.may_share_memory(array, source):
        return array.copy()
    return array
