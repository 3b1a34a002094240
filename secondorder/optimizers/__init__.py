"""Optimizers: one contract, first-order methods, truncated Newton, schedules of the rate."""

from ..checks import close_names
from ..exact.conjugate_gradients import CGResult, conjugate_gradients
from .base import Optimizer
from .first_order import SGD, Adadelta, Adagrad, Adam, Momentum
from .schedules import Constant, ExponentialDecay
from .truncated_newton import TruncatedNewton
from .wrapper import Wrapper

__all__ = ["CGResult", "SGD", "Adadelta", "Adagrad", "Adam", "Constant", "ExponentialDecay",
           "Momentum", "Optimizer", "TruncatedNewton", "Wrapper", "conjugate_gradients"]

__getattr__ = close_names.names(__name__)
