"""Methods that use gradients only. g is the gradient of the objective, penalty included; defaults
are PyTorch's."""

import numpy as np

from ..checks import all_finite, boolean, number_in, whole_number
from .base import Optimizer, _loops


class _Looped(Optimizer):
    """A method whose update is one of the loops in :mod:`secondorder.optimizers.loops`.

    A subclass names the loop (`update`; the one for a whole step has ``_step`` at the end of its
    name); what it takes are gradient, memory, successors of the memory, direction and the numbers
    that `_settings` gives. `sums` names the memory that holds sums of squares, which must not
    overflow.
    """

    update = sums = None

    def _settings(self):
        return ()

    def _memory(self):
        """Names of the arrays of the memory, the arrays, and their successors, not yet written."""
        names = [name for name in self.state_names if isinstance(getattr(self, name), np.ndarray)]
        return names, [getattr(self, name) for name in names], [self._spare(name) for name in names]

    def _keep(self, names, new):
        for name, array in zip(names, new):
            setattr(self, name, array)

    def _direction(self, evaluation):
        loops, direction, (names, old, new) = _loops(), self._array("direction"), self._memory()
        settings = loops.scalars(direction.dtype, *self._settings())
        getattr(loops, self.update)(self._gradient(evaluation), *old, *new, direction, *settings)
        self._keep(names, new)
        if self.sums is not None and not all_finite(getattr(self, self.sums)):
            raise FloatingPointError(f"{type(self).__name__}, step {self.steps + 1}: the sum of "
                                     f"squared gradients overflows {self.network.dtype}")
        return direction

    def _fused(self, evaluation, rate):
        loops, (names, old, new) = _loops(), self._memory()
        settings = loops.scalars(self.network.dtype, *self._settings())
        found, _ = self._one_pass(getattr(loops, self.update + "_step"), evaluation, rate, *old,
                                  *new, *settings)
        if found is not None:
            self._keep(names, new)
        return found


class SGD(_Looped):
    """Gradient descent on mini-batches: direction = -g.

    Parameters
    ----------
    network : Network
    loss : Loss
    learning_rate : float or schedule
    l2 : float
        Penalty (l2 / 2) |theta|^2.
    """

    update = "sgd"

    def __init__(self, network, loss, learning_rate=1e-3, l2=0.0):
        super().__init__(network, loss, learning_rate, l2)


class Momentum(_Looped):
    """Gradient descent with momentum.

        buffer <- momentum * buffer + g
        direction = -buffer,  or  -(g + momentum * buffer) with Nesterov's variant

    Parameters
    ----------
    network : Network
    loss : Loss
    learning_rate : float or schedule
    l2 : float
        Penalty (l2 / 2) |theta|^2.
    momentum : float
        From 0 to below 1.
    nesterov : bool

    Attributes
    ----------
    buffer : (P,) array
    """

    state_names = ("buffer",)
    update = "momentum"

    def __init__(self, network, loss, learning_rate=1e-3, l2=0.0, momentum=0.9, nesterov=False):
        super().__init__(network, loss, learning_rate, l2)
        self.momentum = number_in(momentum, "momentum", 0, 1)
        self.nesterov = boolean(nesterov, "nesterov")
        self.buffer = np.zeros_like(network.theta)

    def _settings(self):
        return self.momentum, self.nesterov


class Adagrad(_Looped):
    """Adagrad (Duchi, Hazan and Singer 2011).

        total <- total + g^2
        direction = -g / (sqrt(total) + epsilon)

    Parameters
    ----------
    network : Network
    loss : Loss
    learning_rate : float or schedule
    l2 : float
        Penalty (l2 / 2) |theta|^2.
    initial_accumulator : float
        Where `total` starts, not negative.
    epsilon : float
        Positive.

    Attributes
    ----------
    total : (P,) array
    """

    state_names = ("total",)
    update, sums = "adagrad", "total"

    def __init__(self, network, loss, learning_rate=0.01, l2=0.0, initial_accumulator=0.0,
                 epsilon=1e-10):
        super().__init__(network, loss, learning_rate, l2)
        self.initial_accumulator = number_in(initial_accumulator, "initial_accumulator", 0, np.inf)
        self.epsilon = _epsilon(epsilon, network.dtype)
        self.total = np.full_like(network.theta, self.initial_accumulator)

    def _settings(self):
        return (self.epsilon,)


class Adadelta(_Looped):
    """Adadelta (Zeiler 2012).

        mean_square <- rho mean_square + (1 - rho) g^2
        direction = -sqrt(mean_square_change + epsilon) / sqrt(mean_square + epsilon) g
        mean_square_change <- rho mean_square_change + (1 - rho) direction^2

    Parameters
    ----------
    network : Network
    loss : Loss
    learning_rate : float or schedule
    l2 : float
        Penalty (l2 / 2) |theta|^2.
    rho : float
        From 0 to below 1.
    epsilon : float
        Positive.

    Attributes
    ----------
    mean_square, mean_square_change : (P,) arrays
    """

    state_names = ("mean_square", "mean_square_change")
    update, sums = "adadelta", "mean_square"

    def __init__(self, network, loss, learning_rate=1.0, l2=0.0, rho=0.9, epsilon=1e-6):
        super().__init__(network, loss, learning_rate, l2)
        self.rho = number_in(rho, "rho", 0, 1)
        self.epsilon = _epsilon(epsilon, network.dtype)
        self.mean_square = np.zeros_like(network.theta)
        self.mean_square_change = np.zeros_like(network.theta)

    def _settings(self):
        return self.rho, 1 - self.rho, self.epsilon


class Adam(_Looped):
    """Adam (Kingma and Ba 2015), with corrected bias; t counts the updates from 1.

        first <- beta1 first + (1 - beta1) g
        second <- beta2 second + (1 - beta2) g^2
        direction = -(first / (1 - beta1^t)) / (sqrt(second / (1 - beta2^t)) + epsilon)

    Parameters
    ----------
    network : Network
    loss : Loss
    learning_rate : float or schedule
    l2 : float
        Penalty (l2 / 2) |theta|^2.
    betas : (float, float)
        From 0 to below 1.
    epsilon : float
        Positive.

    Attributes
    ----------
    first, second : (P,) arrays
        Running means of g and g^2.
    updates : int
        t.
    """

    state_names = ("first", "second", "updates")
    update, sums = "adam", "second"

    def __init__(self, network, loss, learning_rate=1e-3, l2=0.0, betas=(0.9, 0.999), epsilon=1e-8):
        super().__init__(network, loss, learning_rate, l2)
        if not isinstance(betas, (tuple, list)) or len(betas) != 2:
            raise TypeError(f"betas must be a pair of numbers, got {betas!r}")
        self.betas = tuple(number_in(beta, f"betas[{i}]", 0, 1) for i, beta in enumerate(betas))
        self.epsilon = _epsilon(epsilon, network.dtype)
        self.first, self.second = np.zeros_like(network.theta), np.zeros_like(network.theta)
        self.updates = 0

    def _settings(self):
        (beta1, beta2), t = self.betas, self.updates + 1
        return (beta1, 1 - beta1, beta2, 1 - beta2, 1 / (1 - beta1**t), 1 / np.sqrt(1 - beta2**t),
                self.epsilon)

    def _keep(self, names, new):
        super()._keep(names, new)
        self.updates += 1

    def check_state(self, state):
        super().check_state(state)
        whole_number(state["updates"], "state: updates", 0)


def _epsilon(epsilon, dtype):
    """`epsilon` as a float that is above 0 in `dtype` too: a gradient that is always 0 then gives 0
    / epsilon = 0."""
    value = number_in(epsilon, "epsilon", 0, np.inf)
    if dtype.type(value) <= 0:
        raise ValueError(f"epsilon must be above 0 in {dtype}, got {epsilon}")
    return value
