"""Initial parameter values: an initialiser is a function ``f(shape, fan_in, fan_out, rng)``.

``"uniform"``  weights and biases uniform in +-1/sqrt(fan_in) (PyTorch's default for linear layers)
``"xavier"``   weights uniform in +-sqrt(6 / (fan_in + fan_out)), biases 0
a number a     weights and biases uniform in +-a
"""

from functools import partial

import numpy as np

from ...checks import function_of, initial_values, lookup, number_in


def uniform_fan_in(shape, fan_in, fan_out, rng):
    """Uniform in +-1/sqrt(fan_in)."""
    return rng.uniform(-1, 1, size=shape) / np.sqrt(fan_in)


def xavier(shape, fan_in, fan_out, rng):
    """Uniform in +-sqrt(6 / (fan_in + fan_out)) for matrices, 0 for vectors (biases)."""
    if len(shape) == 1:
        return np.zeros(shape)
    return rng.uniform(-1, 1, size=shape) * np.sqrt(6 / (fan_in + fan_out))


LARGEST = 1e150  # of a half-width, so that neither 2a nor squares of weights overflow


def uniform(a, shape, fan_in, fan_out, rng):
    """Uniform in +-a for weights and biases."""
    return rng.uniform(-a, a, size=shape)


INITIALISERS = {"uniform": uniform_fan_in, "xavier": xavier}


def initialiser(init):
    """Turn a name, a number (half-width) or a callable into an initialiser."""
    if callable(init):
        return function_of(init, "init", 4,
                           "a name, a number or a function of (shape, fan_in, fan_out, rng)")
    if isinstance(init, (int, float)) and not isinstance(init, bool):
        return partial(uniform, number_in(init, "init: the half-width", 0, LARGEST))
    return lookup(INITIALISERS, init, "init")


def draw(init, shape, fan_in, fan_out, rng):
    """An array of this shape from what :func:`initialiser` takes."""
    return initial_values(initialiser(init)(shape, fan_in, fan_out, rng), shape)
