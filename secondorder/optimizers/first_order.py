"""Methods that use gradients only. The formula of each is a loop over the parameters, which stands
in :mod:`secondorder.kernels.updates`; `direction` says with which numbers and which memory.

g is the gradient of the objective, penalty included; the index t counts the steps from 1. Defaults
are PyTorch's.
"""

import math

import numpy as np

from ..checks import Checked, boolean, number_in, positive_number, shown
from ..kernels import updates
from ..nets.layers.parameters import Settled
from .base import Optimizer
from .step import ALONE


class SGD(Optimizer):
    """Gradient descent on mini-batches: direction = -g.

    Parameters
    ----------
    network, loss, learning_rate, l2
        As for `Optimizer`.
    """

    def __init__(self, network, loss, learning_rate=1e-3, l2=0.0):
        super().__init__(network, loss, learning_rate, l2)

    def direction(self, evaluation, step=ALONE):
        """-g"""
        direction, = step.run(updates.sgd, self, evaluation)
        return direction


class Momentum(Optimizer):
    """Gradient descent with momentum.

        buffer <- momentum * buffer + g
        direction = -buffer,  or  -(g + momentum * buffer) with Nesterov's variant

    Parameters
    ----------
    network, loss, learning_rate, l2
        As for `Optimizer`.
    momentum : float
        From 0 to below 1.
    nesterov : bool

    Attributes
    ----------
    buffer : (P,) array
    """

    state_names = ("buffer",)
    momentum, nesterov = Checked(number_in, 0, 1), Checked(boolean)

    def __init__(self, network, loss, learning_rate=1e-3, l2=0.0, momentum=0.9, nesterov=False):
        super().__init__(network, loss, learning_rate, l2)
        self.momentum, self.nesterov = momentum, nesterov
        self.buffer = np.zeros_like(network.theta)

    def direction(self, evaluation, step=ALONE):
        """b_t = momentum b_(t-1) + g;  -b_t, with Nesterov's variant -(g + momentum b_t)"""
        direction, self.buffer = step.run(updates.momentum, self, evaluation,
                                          (self.momentum, self.nesterov), [self.buffer])
        return direction


class Adagrad(Optimizer):
    """Adagrad (Duchi, Hazan and Singer 2011).

        total <- total + g^2
        direction = -g / (sqrt(total) + epsilon)

    Parameters
    ----------
    network, loss, learning_rate, l2
        As for `Optimizer`.
    initial_accumulator : float
        Where `total` starts, not negative.
    epsilon : float
        Positive.

    Attributes
    ----------
    total : (P,) array
    """

    state_names = ("total",)
    initial_accumulator, epsilon = Settled(), Checked(positive_number)

    def __init__(self, network, loss, learning_rate=0.01, l2=0.0, initial_accumulator=0.0,
                 epsilon=1e-10):
        super().__init__(network, loss, learning_rate, l2)
        self.initial_accumulator = number_in(initial_accumulator, "initial_accumulator", 0, np.inf)
        self.epsilon = epsilon
        self.total = np.full_like(network.theta, self.initial_accumulator)

    def direction(self, evaluation, step=ALONE):
        """G_t = G_(t-1) + g^2;  -g / (sqrt(G_t) + epsilon)"""
        direction, self.total = step.run(updates.adagrad, self, evaluation, (self.epsilon,),
                                         [self.total])
        return direction


class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012).

        mean_square <- rho mean_square + (1 - rho) g^2
        direction = -sqrt(mean_square_change + epsilon) / sqrt(mean_square + epsilon) g
        mean_square_change <- rho mean_square_change + (1 - rho) direction^2

    Parameters
    ----------
    network, loss, learning_rate, l2
        As for `Optimizer`.
    rho : float
        From 0 to below 1.
    epsilon : float
        Positive.

    Attributes
    ----------
    mean_square, mean_square_change : (P,) arrays
    """

    state_names = ("mean_square", "mean_square_change")
    rho, epsilon = Checked(number_in, 0, 1), Checked(positive_number)

    def __init__(self, network, loss, learning_rate=1.0, l2=0.0, rho=0.9, epsilon=1e-6):
        super().__init__(network, loss, learning_rate, l2)
        self.rho, self.epsilon = rho, epsilon
        self.mean_square = np.zeros_like(network.theta)
        self.mean_square_change = np.zeros_like(network.theta)

    def direction(self, evaluation, step=ALONE):
        """E[g^2]_t = rho E[g^2]_(t-1) + (1 - rho) g^2
        change = -RMS[change]_(t-1) / RMS[g]_t g, with RMS[.] = sqrt(E[.^2] + epsilon)
        E[change^2]_t = rho E[change^2]_(t-1) + (1 - rho) change^2
        """
        direction, self.mean_square, self.mean_square_change = step.run(
            updates.adadelta, self, evaluation, (self.rho, 1 - self.rho, self.epsilon),
            [self.mean_square, self.mean_square_change])
        return direction


def pair_of_means(value, name):
    """Return two weights of running means, each from 0 to below 1; TypeError or ValueError."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{name} must be a pair of numbers, got {shown(value)}")
    return tuple(number_in(weight, f"{name}[{i}]", 0, 1) for i, weight in enumerate(value))


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015), with corrected bias; t counts the updates from 1.

        first <- beta1 first + (1 - beta1) g
        second <- beta2 second + (1 - beta2) g^2
        direction = -(first / (1 - beta1^t)) / (sqrt(second / (1 - beta2^t)) + epsilon)

    Parameters
    ----------
    network, loss, learning_rate, l2
        As for `Optimizer`.
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
    betas, epsilon = Checked(pair_of_means), Checked(positive_number)

    def __init__(self, network, loss, learning_rate=1e-3, l2=0.0, betas=(0.9, 0.999), epsilon=1e-8):
        super().__init__(network, loss, learning_rate, l2)
        self.betas, self.epsilon = betas, epsilon
        self.first, self.second = np.zeros_like(network.theta), np.zeros_like(network.theta)
        self.updates = 0

    def direction(self, evaluation, step=ALONE):
        """m_t = beta1 m_(t-1) + (1 - beta1) g;  v_t = beta2 v_(t-1) + (1 - beta2) g^2
        -(m_t / (1 - beta1^t)) / (sqrt(v_t / (1 - beta2^t)) + epsilon), without the bias of both
        means towards their start at 0
        """
        (beta1, beta2), t = self.betas, self.updates + 1
        numbers = (beta1, 1 - beta1, beta2, 1 - beta2, 1 / (1 - beta1**t),
                   1 / math.sqrt(1 - beta2**t), self.epsilon)
        direction, self.first, self.second = step.run(updates.adam, self, evaluation, numbers,
                                                      [self.first, self.second])
        self.updates = t
        return direction
