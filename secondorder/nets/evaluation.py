"""`Evaluation`: what a network's passes leave behind."""

import cmath
from functools import cached_property

import numpy as np

from .. import checks
from ..compiled import forms
from ..compiled.arrays import Workspace, fresh
from . import programs


class Evaluation:
    """What one forward pass, and on demand one backward pass, leave behind at one point `theta`.

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
    deltas : list of arrays
        For each layer, the gradient of every sample's own loss with respect to that layer's output
        (not divided by S).
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

    def __init__(self, network, loss, x, y, workspace=None):
        if not hasattr(network, "settled"):
            raise TypeError(f"network must be a Network, got {type(network).__name__}")
        self.network, self.loss_function, literal = network, loss, forms.is_literal()
        settled = programs.settled(network)
        criterion = settled.criterion(loss)
        self.x = checks.batch(x, network.input_shape, network.dtype)
        self.samples = len(self.x)
        self.y = loss.prepare_target(y, (self.samples, *network.output_shape), network.dtype)
        self.workspace, self._point = None if literal else workspace, None
        if workspace is None:  # others may see it: nothing that they change later changes it
            self.x, self.y = _own(self.x, x), _own(self.y, y)
            self._point = [a.copy() for a in self._parameters()]
        self._with_penalty, self.work = {}, None
        if not literal and settled.program is not None and criterion is not None:
            work = (workspace or Workspace()).work(settled.program, self.samples)
            if (work.forward(network.all_parameters, self.x)
                    and work.start(criterion, self.y)):
                self.work, self.outputs, self.losses = work, work.outputs, work.losses
        if self.work is None:  # or something is not finite: the literal passes find out where
            self.outputs, self.saved = network.literally(self.x)
            with np.errstate(over="ignore", invalid="ignore"):
                self.losses = loss.value(self.outputs, self.y)
            checks.losses(self.losses, loss, self.outputs)

    @cached_property
    def saved(self):
        return programs.saved_of(self.network, self.work)

    def _parameters(self):
        return [self.network.theta, *self.network.fixed_parameters()]

    @cached_property
    def loss(self):
        with np.errstate(over="ignore"):
            mean = self.losses.mean(dtype=np.result_type(self.losses, np.float64)).item()
        return mean if cmath.isfinite(mean) else checks.finite_mean(mean, self.loss_function)

    def require_current(self):
        """Raise RuntimeError if the network's parameters have changed since this evaluation.

        With a workspace nothing is compared: such an evaluation is its maker's own, for one step
        only.
        """
        if self._point is not None:
            checks.unchanged(self._point, self._parameters())

    @cached_property
    def deltas(self):
        if self._point is not None:
            self.require_current()
        if self.work is not None:
            return programs.deltas_of(self.network, self.work)
        with np.errstate(over="ignore", invalid="ignore"):
            y_bar = self.loss_function.gradient(self.outputs, self.y)
            checks.result_of(self.loss_function, "gradient", y_bar, self.outputs)
            return self.network.chain.output_gradients(self.saved, y_bar)

    @cached_property
    def gradient_sum(self):
        """Gradient of the sum of the losses, (P,); neither checked nor protected from writing."""
        theta = self.network.theta
        if not theta.size:
            self.network.require_parameters()
        if self._point is not None:
            self.require_current()
        out = (self.workspace or fresh)("gradient_sum", theta.shape, theta.dtype)
        return self.write_gradient_sum(out)

    def write_gradient_sum(self, out):
        """`gradient_sum` in an array (P,)."""
        if self.work is not None:
            self.work.gradient(self.network.all_parameters, out)
            return out
        with np.errstate(over="ignore", invalid="ignore"):
            out[...] = self.network.chain.parameter_gradient_from(self.saved, self.deltas)
        return out

    def write_sample_gradients(self, out):
        """Gradient of every sample's loss in `out` (S, P); returns whether it is known that all are
        finite.
        """
        if self.work is not None and out.flags.carray:
            self.require_current()
            return self.work.sample_gradients(self.network.all_parameters, out)
        with np.errstate(over="ignore", invalid="ignore"):
            out[...] = self.network.chain.parameter_gradients_from(self.saved, self.deltas)
        return False

    def write_hessian_product(self, v, out, room):
        """Hessian of the sum of the losses times v, by the compiled passes, in `out` (P,)."""
        self.work.hessian_product(self.network.all_parameters, _behaved(v), out, room)

    def write_gauss_newton_product(self, v, middle, out, room):
        """Sum of J^T M J times v likewise; see `exact.curvature.gauss_newton_product_at`."""
        theta, v = self.network.all_parameters, _behaved(v)
        self.work.gauss_newton_product(theta, middle, v, out, room)

    def along(self, v):
        """v^T gradient and v^T H v of the sum of the losses, floats, by the compiled passes."""
        theta, v = self.network.all_parameters, _behaved(v)
        return self.work.along(theta, v, self.workspace or fresh)

    @cached_property
    def gradient(self):
        total = self.gradient_sum
        gradient = (self.workspace or fresh)("gradient", total.shape, total.dtype)
        np.multiply(total, total.dtype.type(1) / self.samples, out=gradient)
        return self.network.require_finite(_read_only(gradient), "the gradient")

    def objective_gradient(self, l2):
        """Gradient of the mean loss plus (l2 / 2) |theta|^2, (P,): read-only, one for each l2."""
        if not l2:
            return self.gradient
        if l2 not in self._with_penalty:
            self.require_current()
            new, data = self.workspace or fresh, self.gradient
            gradient = new(f"gradient with l2={l2}", data.shape, data.dtype)
            np.multiply(self.network.theta, l2, out=gradient)
            gradient += data
            self._with_penalty[l2] = _read_only(gradient)
        return self._with_penalty[l2]


def _read_only(array):
    """A view that cannot be written to: it is kept, and others rely on it."""
    view = array.view()
    view.flags.writeable = False
    return view


def _own(array, source):
    """The array; a copy if it is the caller's own, whose later changes then change nothing here."""
    if isinstance(source, np.ndarray) and np.may_share_memory(array, source):
        return array.copy()
    return array


def _behaved(array):
    """The array in one piece and writeable, as compiled passes take it."""
    return array if array.flags.carray else array.copy()
