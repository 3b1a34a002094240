"""Derivatives from function values alone: the first channel of every check, which shares no code
with what it checks.
"""

import threading
from typing import NamedTuple

import numpy as np


class Difference(NamedTuple):
    """A derivative by central differences and its predicted error, both of the same shape."""

    value: np.ndarray
    error: np.ndarray

    def excess(self, reference):
        """Largest |reference - value| in units of the predicted error: at most 1 if right."""
        reference = np.asarray(reference)
        if reference.shape != self.value.shape:
            raise ValueError(f"reference has shape {reference.shape}, the difference quotient "
                             f"{self.value.shape}")
        return float(np.max(np.abs(reference - self.value) / self.error))


def central(f, theta, step=None):
    """Central differences of `f` at `theta`, with a predicted error.

    Parameters
    ----------
    f : callable
        Maps a (P,) array to a number or an array.
    theta : (P,) array
    step : float, optional
        Step relative to max(1, |theta_i|); default eps^(1/3), which balances truncation against
        rounding.

    Returns
    -------
    Difference
        ``value`` and ``error`` of shape f(theta).shape + (P,). The error adds a truncation part,
        from comparing the step h with 2h (their difference is three times the leading term of the
        error at h), and a rounding part, a small multiple of eps max|f| / h.
    """
    theta = np.array(theta, dtype=np.float64)
    eps = np.finfo(np.float64).eps
    step = eps ** (1 / 3) if step is None else step
    values, errors = [], []
    for i in range(theta.size):
        point, here = theta.copy(), theta[i]
        h = step * max(1.0, abs(here))
        f_at = []
        for k in (-2, -1, 1, 2):
            point[i] = here + k * h
            f_at.append(np.array(f(point), dtype=np.float64))
        width = (here + h) - (here - h)  # the steps that were really taken
        near = (f_at[2] - f_at[1]) / width
        far = (f_at[3] - f_at[0]) / ((here + 2 * h) - (here - 2 * h))
        size = max(np.max(np.abs(f)) for f in f_at)
        values.append(near)
        errors.append(np.abs(far - near) + 5 * eps * size / h + np.finfo(np.float64).tiny)
    return Difference(np.stack(values, axis=-1), np.stack(errors, axis=-1))


def complex_step(f, theta, step=1e-30):
    """Derivative of an analytic `f`, exact to rounding: Im f(theta + i step e_k) / step.

    Parameters
    ----------
    f : callable
        Maps a complex (P,) array to a number or an array; must be analytic (no abs, max or
        comparison of complex parts).
    theta : (P,) real array

    Returns
    -------
    array of shape f(theta).shape + (P,)
    """
    theta = np.asarray(theta, dtype=np.float64)
    columns = []
    for i in range(theta.size):
        point = theta.astype(np.complex128)
        point[i] += 1j * step
        columns.append(np.imag(f(point)) / step)
    return np.stack(columns, axis=-1)


def objective(network, loss, x, y, l2=0.0):
    """The objective, mean loss plus (l2/2)|theta|^2, as a function of theta alone.

    The function works on its own copy of the network, one for each thread that calls it, and
    follows the dtype of its argument, so that a complex theta gives a complex value (for
    :func:`complex_step`).

    Returns
    -------
    callable, (P,) -> float or complex
    """
    return _of_theta(network, lambda net, theta: net.evaluate(loss, x, y).loss + l2 / 2
                     * np.sum(theta * theta))


def gradient_of_objective(network, loss, x, y, l2=0.0):
    """Gradient of :func:`objective` by hand-derived back-propagation, as a function of theta alone,
    (P,) -> (P,).
    """
    return _of_theta(network, lambda net, theta: net.evaluate(loss, x, y).gradient + l2 * theta)


def outputs_of(network, x):
    """The outputs as a function of theta alone, (P,) -> (S, C), as :func:`objective` is one."""
    return _of_theta(network, lambda net, theta: net(x))


def _of_theta(network, f):
    own = threading.local()  # a copy of the network is moved to theta: one for each thread

    def function(theta):
        theta = np.asarray(theta)
        dtype = "complex128" if np.iscomplexobj(theta) else "float64"
        if not hasattr(own, dtype):
            setattr(own, dtype, network.astype(dtype))
        net = getattr(own, dtype)
        net.theta = theta
        return f(net, theta)

    return function
