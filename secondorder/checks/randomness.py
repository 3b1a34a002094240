"""Random numbers come in through an argument `rng`, never from a global seed."""

import numpy as np


def generator(rng, name="rng"):
    """`rng` as a generator: itself if it is one, else a new one with this seed (None: a seed of its
    own).

    Parameters
    ----------
    rng : None, int or numpy.random.Generator
    name : str
        The argument's name, for the message.

    Returns
    -------
    numpy.random.Generator

    Raises
    ------
    TypeError, ValueError
        If it is no seed, naming the argument.
    """
    if isinstance(rng, (bool, np.bool_)):  # NumPy would take it for the seed 0 or 1
        raise TypeError(f"{name} must be None, a whole number from 0, or a numpy.random.Generator, "
                        f"got {rng!r}")
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{name} must be None, a whole number from 0, or a numpy.random.Generator, got "
                   f"{rng!r}") from error
