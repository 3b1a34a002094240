"""`Evaluation`: what a network's passes leave behind; and which form of them runs."""

import cmath
from functools import cached_property, partial

import numpy as np

from .. import checks
from ..compiled import forms
from ..compiled.arrays import Workspace, fresh
from ..compiled.program import Criterion
from . import programs
from .allocation import keep_freed_memory


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
    point : list of arrays or None
        A copy of all parameters; None with a workspace: such an evaluation is its maker's own, for
        one step only.
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
        form = settled(network)
        criterion = form.criterion(loss)
        self.x = checks.batch(x, network.input_shape, network.dtype)
        self.samples = len(self.x)
        self.y = loss.prepare_target(y, (self.samples, *network.output_shape), network.dtype)
        self.workspace, self.point = None if literal else workspace, None
        if workspace is None:  # others may see it: nothing that they change later changes it
            self.x, self.y = _own(self.x, x), _own(self.y, y)
            self.point = [a.copy() for a in self._parameters()]
        self._with_penalty, self.work = {}, None
        if not literal and form.program is not None and criterion is not None:
            work = (workspace or Workspace()).work(form.program, self.samples)
            if work.forward(network.all_parameters, self.x, criterion, self.y):
                self.work, self.outputs, self.losses = work, work.outputs, work.losses
        if self.work is None:  # or something is not finite: the literal passes find out where
            with np.errstate(over="ignore", invalid="ignore"):
                p, self.saved = network.chain.forward(self.x)
                self.outputs = checks.outputs(p, self.saved, network)
                self.losses = loss.value(p, self.y)
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
        """Raise RuntimeError if the network's parameters no longer equal `point`."""
        if self.point is not None:
            checks.unchanged(self.point, self._parameters())

    @cached_property
    def deltas(self):
        if self.point is not None:
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
        if self.point is not None:
            self.require_current()
        if self.work is None:
            with np.errstate(over="ignore", invalid="ignore"):
                return self.network.chain.parameter_gradient_from(self.saved, self.deltas)
        out = (self.workspace or fresh)("gradient_sum", theta.shape, theta.dtype)
        self.work.gradient(self.network.all_parameters, out)
        return out

    def own_gradient_sum(self):
        """`gradient_sum` in an array of the caller's own, (P,)."""
        if self.work is None:
            return self.gradient_sum
        out = np.empty_like(self.network.theta)
        self.work.gradient(self.network.all_parameters, out)
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
        total, share = self.gradient_sum, self.network.dtype.type(1) / self.samples
        if self.workspace is None:
            gradient = total * share
        else:
            new = self.workspace("gradient", total.shape, total.dtype)
            gradient = np.multiply(total, share, out=new).view()
        gradient.flags.writeable = False  # it is kept, and others rely on it
        return checks.finite_result(gradient, "the gradient", self.network)

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
            self._with_penalty[l2] = gradient = gradient.view()
            gradient.flags.writeable = False
        return self._with_penalty[l2]


def _own(array, source):
    """The array; a copy if it is the caller's own, whose later changes then change nothing here."""
    if isinstance(source, np.ndarray) and np.may_share_memory(array, source):
        return array.copy()
    return array


def _behaved(array):
    """The array in one piece and writeable, as compiled passes take it."""
    return array if array.flags.carray else array.copy()


# -- which form runs -------------------------------------------------------------------------------


class Settled:
    """The `program` of a network, or None and `why`; made once, and anew only if since then a layer
    was given a method of its own, another function, or a function of other numbers.
    """

    def __init__(self, network):
        self.known = [(vars(layer), len(vars(layer)), *_function_of(vars(layer)))
                      for layer in network.chain.sublayers()]
        self._dtype, self._outputs = network.dtype, network.output_shape
        self._loss = None, None, None  # the last one, its numbers, and as the passes see it
        try:
            self.program, self.why = programs.made(network), None
        except programs.NoEntry as error:
            self.program, self.why = None, str(error)
            keep_freed_memory()

    def criterion(self, loss):
        """A loss as compiled passes see it, or None where it has no entry. It is checked and made
        once, and anew only if a number of it has changed.
        """
        last, numbers, criterion = self._loss
        if last is loss and numbers is not None and vars(loss) == numbers:
            return criterion
        checks.check_loss(loss)
        C, = checks.vector_shape(self._outputs)
        entry = programs.criteria.find(loss)
        if entry is not None:
            module, name, own = entry
            entry = Criterion(module, name, partial(programs.numbers, loss, own, C), self._dtype)
        self._loss = loss, _plain_numbers(loss), entry
        return entry


def _function_of(state):
    """The activation function of a layer, if it has one, and a copy of its numbers."""
    function = state.get("function")
    return function, dict(getattr(function, "__dict__", {}))


def _plain_numbers(loss):
    """A copy of a loss's own numbers; None if it has anything else, which may change unseen."""
    numbers = dict(vars(loss))
    return numbers if all(type(n) in (int, float, bool, str) for n in numbers.values()) else None


def settled(network):
    """The `Settled` of a network, kept in it while its layers are what they were."""
    now = network.settled
    for state, length, function, numbers in now.known if now else ():
        if len(state) != length or state.get("function") is not function:
            now = None
        elif function is not None and getattr(function, "__dict__", {}) != numbers:
            now = None
    if now is None:
        now = network.settled = Settled(network)
    return now


def program_of(network):
    """The program that runs for a network now, or None: the literal passes run."""
    return None if forms.is_literal() else settled(network).program


def run(network, x, workspace=None):
    """The work array behind the compiled forward pass, for inputs x that were checked; None where
    the literal passes run, and where an output is not finite: they find out where.
    """
    program = program_of(network)
    if program is None:
        return None
    work = (workspace or Workspace()).work(program, len(x))
    return work if work.forward(network.all_parameters, x) else None


def form(network):
    """The sentence of ``network.summary()``: which form runs, and why."""
    if forms.is_literal():
        return "literal passes run, as asked"
    why = settled(network).why
    return "compiled passes run" if why is None else f"literal passes run: {why}"
