"""Random numbers come in through an argument `rng`, never from a global seed."""

import numpy as np

from .brief import shown


def generator(rng):
    """`rng` as a generator: itself if it is one, else a new one with this seed."""
    expected = f"rng must be None, a whole number from 0, or a numpy.random.Generator, got "\
               f"{shown(rng)}"
    if isinstance(rng, (bool, np.bool_)):  # NumPy would take it for the seed 0 or 1
        raise TypeError(expected)
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(expected) from error
