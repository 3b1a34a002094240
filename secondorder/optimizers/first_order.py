"""Methods that use gradients only. g is the gradient of the objective, penalty included; defaults are PyTorch's."""

import numpy as np

from ..checks import boolean, number_in, whole_number
from .base import Optimizer


class SGD(Optimizer):
    """Gradient descent on mini-batches: direction = -g.

    Parameters
    ----------
    network : Network
    loss : Loss
    learning_rate : float or schedule
    l2 : float
        Penalty (l2 / 2) |theta|^2.
    """

    def __init__(self, network, loss, learning_rate=1e-3, l2=0.0):
        super().__init__(network, loss, learning_rate, l2)

    def _direction(self, evaluation):
        return np.negative(self._gradient(evaluation), out=self._array("direction"))


class Momentum(Optimizer):
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

    def __init__(self, network, loss, learning_rate=1e-3, l2=0.0, momentum=0.9, nesterov=False):
        super().__init__(network, loss, learning_rate, l2)
        self.momentum = number_in(momentum, "momentum", 0, 1)
        self.nesterov = boolean(nesterov, "nesterov")
        self.buffer = np.zeros_like(network.theta)

    def _direction(self, evaluation):
        g = self._gradient(evaluation)
        buffer = np.multiply(self.momentum, self.buffer, out=self._spare("buffer"))
        buffer += g
        self.buffer = buffer
        direction = self._array("direction")
        if self.nesterov:
            np.multiply(self.momentum, buffer, out=direction)
            direction += g
        else:
            direction[...] = buffer
        return np.negative(direction, out=direction)


class _Scaled(Optimizer):
    """A method that divides by running sums of squares; its loops stand in `secondorder.kernels`."""

    def _kernels(self):
        from .. import kernels  # here, so that numba is loaded only by those who use it

        return kernels

    def _finite(self, sums, direction):
        if not np.isfinite(sums).all():
            raise FloatingPointError(f"{type(self).__name__}, step {self.steps + 1}: the sum of squared gradients "
                                     f"overflows {self.network.dtype}")
        return direction


class Adagrad(_Scaled):
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

    def __init__(self, network, loss, learning_rate=0.01, l2=0.0, initial_accumulator=0.0, epsilon=1e-10):
        super().__init__(network, loss, learning_rate, l2)
        self.initial_accumulator = number_in(initial_accumulator, "initial_accumulator", 0, np.inf)
        self.epsilon = _epsilon(epsilon, network.dtype)
        self.total = np.full_like(network.theta, self.initial_accumulator)

    def _direction(self, evaluation):
        g = self._gradient(evaluation)
        direction, total, kernels = self._array("direction"), self._spare("total"), self._kernels()
        kernels.adagrad(g, self.total, total, direction, *kernels.scalars(g.dtype, self.epsilon))
        self.total = total
        return self._finite(total, direction)


class Adadelta(_Scaled):
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

    def __init__(self, network, loss, learning_rate=1.0, l2=0.0, rho=0.9, epsilon=1e-6):
        super().__init__(network, loss, learning_rate, l2)
        self.rho = number_in(rho, "rho", 0, 1)
        self.epsilon = _epsilon(epsilon, network.dtype)
        self.mean_square = np.zeros_like(network.theta)
        self.mean_square_change = np.zeros_like(network.theta)

    def _direction(self, evaluation):
        g = self._gradient(evaluation)
        direction, kernels = self._array("direction"), self._kernels()
        new = self._spare("mean_square"), self._spare("mean_square_change")
        kernels.adadelta(g, self.mean_square, self.mean_square_change, *new, direction,
                         *kernels.scalars(g.dtype, self.rho, 1 - self.rho, self.epsilon))
        self.mean_square, self.mean_square_change = new
        return self._finite(self.mean_square, direction)


class Adam(_Scaled):
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

    def __init__(self, network, loss, learning_rate=1e-3, l2=0.0, betas=(0.9, 0.999), epsilon=1e-8):
        super().__init__(network, loss, learning_rate, l2)
        if not isinstance(betas, (tuple, list)) or len(betas) != 2:
            raise TypeError(f"betas must be a pair of numbers, got {betas!r}")
        self.betas = tuple(number_in(beta, f"betas[{i}]", 0, 1) for i, beta in enumerate(betas))
        self.epsilon = _epsilon(epsilon, network.dtype)
        self.first, self.second = np.zeros_like(network.theta), np.zeros_like(network.theta)
        self.updates = 0

    def _direction(self, evaluation):
        g = self._gradient(evaluation)
        direction, new, kernels = self._array("direction"), (self._spare("first"), self._spare("second")), self._kernels()
        self.updates += 1
        beta1, beta2 = self.betas
        scale1, scale2 = 1 / (1 - beta1**self.updates), 1 / np.sqrt(1 - beta2**self.updates)
        kernels.adam(g, self.first, self.second, *new, direction,
                     *kernels.scalars(g.dtype, beta1, 1 - beta1, beta2, 1 - beta2, scale1, scale2, self.epsilon))
        self.first, self.second = new
        return self._finite(self.second, direction)

    def check_state(self, state):
        super().check_state(state)
        whole_number(state["updates"], "state: updates", 0)


def _epsilon(epsilon, dtype):
    """`epsilon` as a float that is above 0 in `dtype` too: a gradient that is always 0 then gives 0 / epsilon = 0."""
    value = number_in(epsilon, "epsilon", 0, np.inf)
    if dtype.type(value) <= 0:
        raise ValueError(f"epsilon must be above 0 in {dtype}, got {epsilon}")
    return value
