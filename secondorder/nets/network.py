"""`Network`: layers over one flat parameter vector. `Evaluation`: what its passes leave behind."""

import copy
import math
from functools import cached_property

import numpy as np

from .. import checks
from ..checks.randomness import generator
from ..compiled import forms
from ..compiled.arrays import Lender, fresh
from . import programs
from .layers import Activation, Chain, Linear, activation_function
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
        self.workspaces = Lender(self._width(), self.size)
        self.settled = None  # whether it runs compiled: see `programs`

    def _width(self):
        """Numbers that the layers make of one sample."""
        shape, width = self.input_shape, 0
        for layer in self.layers:
            shape = layer.output_shape(shape)
            width += math.prod(shape)
        return width

    def __getstate__(self):
        # without theta: the layers carry the values
        return {name: value for name, value in self.__dict__.items()
                if name not in ("_all", "_theta", "workspaces", "settled")}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._bind()

    # -- parameters --------------------------------------------------------------------------------

    @property
    def layers(self):
        return self.chain.layers

    @property
    def theta(self):
        return self._theta

    @theta.setter
    def theta(self, value):
        self._theta[...] = checks.fitting(value, self._theta, "theta")

    @property
    def all_parameters(self):
        """`theta`, and behind it what is not trainable, layer by layer: one array, live as that."""
        return self._all

    @property
    def size(self):
        """Number of trainable parameters P."""
        return self._theta.size

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
        """Return `result` (..., P) if it is finite.

        Raises
        ------
        FloatingPointError
            Names the first layer in whose parameters something overflowed.
        """
        return checks.finite_result(result, what, self)

    def where_not_finite(self, result):
        """Name of the first layer in whose parameters `result` (..., P) is not finite."""
        return checks.place_not_finite(result, self)

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
        return Network([layer.copy() for layer in self.layers], dtype=dtype,
                       input_shape=self.input_shape)

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

    def forward(self, x, workspace=None):
        """Return the outputs (S, C) and the list of what each layer saved.

        Raises
        ------
        FloatingPointError
            If an output is not finite; the message names the first layer where that happened.
        TypeError
            If a layer changed the dtype; likewise.
        """
        x = self.check_input(x)
        work = programs.run(self, x, workspace)
        if work is not None:
            return work.outputs, programs.saved_of(self, work)
        return self._literally(x)

    def _literally(self, x):
        """`forward` by the literal passes, for inputs that were checked before."""
        with np.errstate(over="ignore", invalid="ignore"):
            p, saved = self.chain.forward(x)
        return checks.outputs(p, saved, self), saved

    def __call__(self, x):
        """Outputs (S, C) for a batch x (S, *input_shape), in an array of their own."""
        x = self.check_input(x)
        with self.workspaces.lend(len(x)) as workspace:
            work = programs.run(self, x, workspace)
            if work is not None:
                return work.outputs.copy()
        return self._literally(x)[0].copy()

    def evaluate(self, loss, x, y, workspace=None):
        """Run the network and the loss on a batch.

        Parameters
        ----------
        loss : Loss
        x : (S, *input_shape) array
        y : targets, in the form that the loss takes
        workspace : Workspace, optional
            Where the layers' arrays go. They are overwritten by the next evaluation with the same
            workspace.

        Returns
        -------
        Evaluation
        """
        return Evaluation(self, loss, x, y, workspace)

    def summary(self):
        """Print the layers, the shapes of their outputs, and how many parameters they have."""
        print(summary_text(self))

    def __repr__(self):
        inside = ", ".join(map(repr, self.layers))
        return f"Network([{inside}], dtype='{self.dtype}')  # {self.size} parameters"


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
        self.network = checks.instance_of(network, Network, "network")
        self.loss_function = checks.check_loss(loss)
        alone = workspace is not None
        self.workspace = None if forms.is_literal() else workspace
        self.x = _own(network.check_input(x), x, alone)
        self.samples = len(self.x)
        shape = (self.samples, *checks.vector_shape(network.output_shape))
        self.y = _own(programs.targets_of(loss, y, shape, network, self.workspace), y, alone)
        self._point = None if alone else [a.copy() for a in self._parameters()]
        self._with_penalty = {}
        self.work = self._compiled()
        if self.work is None:
            self._literally()

    def _compiled(self):
        """Outputs and losses by the compiled passes: their work array; None where the network or
        the loss has none, or where something is not finite.
        """
        criterion = programs.criterion_of(self.loss_function, self.network)
        work = criterion and programs.run(self.network, self.x, self.workspace)
        if work is None or not work.start(criterion, programs.behaved(self.y)):
            return None  # the literal passes find out where
        self.outputs, self.losses = work.outputs, work.losses
        return work

    def _literally(self):
        """Outputs and losses by the literal passes."""
        self.outputs, self.saved = self.network._literally(self.x)
        with np.errstate(over="ignore", invalid="ignore"):
            self.losses = self.loss_function.value(self.outputs, self.y)
        checks.losses(self.losses, self.loss_function, self.outputs)

    @cached_property
    def saved(self):
        return programs.saved_of(self.network, self.work)

    def _parameters(self):
        return [self.network.theta, *self.network.fixed_parameters()]

    @cached_property
    def loss(self):
        with np.errstate(over="ignore"):
            mean = self.losses.mean(dtype=np.result_type(self.losses, np.float64)).item()
        return checks.finite_mean(mean, self.loss_function)

    def require_current(self):
        """Raise RuntimeError if the network's parameters have changed since this evaluation.

        With a workspace nothing is compared: such an evaluation is its maker's own, for one step
        only.
        """
        if self._point is not None:
            checks.unchanged(self._point, self._parameters())

    @cached_property
    def deltas(self):
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
        self.network.require_parameters()
        self.require_current()
        theta = self.network.theta
        return self.write_gradient_sum(self._array("gradient_sum", theta))

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
        self.work.hessian_product(self.network.all_parameters, programs.behaved(v), out, room)

    def write_gauss_newton_product(self, v, middle, out, room):
        """Sum of J^T M J times v likewise; see `exact.curvature.gauss_newton_product_at`."""
        theta, v = self.network.all_parameters, programs.behaved(v)
        self.work.gauss_newton_product(theta, middle, v, out, room)

    def along(self, v):
        """v^T gradient and v^T H v of the sum of the losses, floats, by the compiled passes."""
        theta, v = self.network.all_parameters, programs.behaved(v)
        return self.work.along(theta, v, self.workspace or fresh)

    @cached_property
    def gradient(self):
        total = self.gradient_sum
        gradient = self._array("gradient", total)
        np.multiply(total, total.dtype.type(1) / self.samples, out=gradient)
        return self.network.require_finite(_read_only(gradient), "the gradient")

    def _array(self, name, like):
        """An array like another: the workspace's of that name, or a new one."""
        return (self.workspace or fresh)(name, like.shape, like.dtype)

    def objective_gradient(self, l2):
        """Gradient of the mean loss plus (l2 / 2) |theta|^2, (P,): read-only, one for each l2."""
        if not l2:
            return self.gradient
        if l2 not in self._with_penalty:
            self.require_current()
            gradient = self._array(f"gradient with l2={l2}", self.gradient)
            np.multiply(self.network.theta, l2, out=gradient)
            gradient += self.gradient
            self._with_penalty[l2] = _read_only(gradient)
        return self._with_penalty[l2]


def _read_only(array):
    """A view that cannot be written to: it is kept, and others rely on it."""
    view = array.view()
    view.flags.writeable = False
    return view


def _own(array, source, alone):
    """The array; a copy if it is the caller's own, whose later changes then change nothing here.

    An evaluation that is its maker's alone lives for one step only: nothing is copied.
    """
    if not alone and isinstance(source, np.ndarray) and np.may_share_memory(array, source):
        return array.copy()
    return array


def mlp(sizes, activation="tanh", output="identity", bias=True, init="uniform", rng=None,
        dtype="float64"):
    """A fully-connected network.

    Parameters
    ----------
    sizes : sequence of int
        Widths from input to output, e.g. ``[64, 32, 10]``.
    activation : str or ActivationFunction
        After every linear layer but the last.
    output : str or ActivationFunction
        After the last linear layer; ``"identity"`` adds no layer.
    bias : bool
    init : str, number or callable
        ``"uniform"`` (+-1/sqrt(fan in)), ``"xavier"``, a half-width, or an initialiser.
    rng : None, int or numpy.random.Generator
    dtype : "float64" or "float32"

    Returns
    -------
    Network

    Examples
    --------
    >>> net = mlp([64, 32, 10], rng=0)
    >>> net.size
    2410
    """
    sizes, rng = checks.widths(sizes, "sizes"), generator(rng)
    hidden, last = activation_function(activation), activation_function(output)
    layers = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        layers += [Linear(n_in, n_out, bias=bias, init=init, rng=rng), Activation(hidden)]
    layers[-1:] = [] if getattr(last, "name", None) == "identity" else [Activation(last)]
    return Network(layers, dtype=dtype)
