"""The loss and the accuracy over a whole set, and what the steps reported, averaged."""

import numpy as np

from ..checks import instance_of, plain_array
from ..nets import Evaluation, Network

CHUNK = 1024  # samples in one forward pass of an evaluation


def evaluate(network, loss, x, y):
    """Mean loss over a whole set, in chunks, and the accuracy where the targets are integer labels.

    Parameters
    ----------
    network : Network
    loss : Loss
    x : (N, *input_shape) array
    y : targets of N samples

    Returns
    -------
    loss : float
        Without penalty.
    accuracy : float or None
        Part of the samples whose label has the largest output; None unless y is (N,) of integers.

    Raises
    ------
    FloatingPointError
        If outputs or losses are not finite.
    """
    x, y = plain_array(x, "x"), plain_array(y, "y")
    if x.ndim == 0 or len(x) == 0 or not isinstance(network, Network):
        instance_of(network, Network, "network").check_input(x)
    if y.ndim == 0 or len(y) != len(x):
        raise ValueError(f"x holds {len(x)} samples, y has shape {y.shape}: one target a sample")
    labels = np.ndim(y) == 1 and np.asarray(y).dtype.kind in "iu"
    total, right = 0.0, 0
    for start in range(0, len(x), CHUNK):
        part = slice(start, start + CHUNK)
        evaluation = Evaluation(network, loss, x[part], y[part], lasting=False)
        total += evaluation.loss * evaluation.samples
        if labels:
            right += int(np.count_nonzero(evaluation.outputs.argmax(axis=1) == y[part]))
    return total / len(x), right / len(x) if labels else None


def means(infos):
    """Mean of each number and boolean in a list of dicts, over the dicts that have it, as floats.

    Numbers of a dict inside, the reports of a wrapped method, are named ``Name.number``.
    """
    infos = [_flat(info) for info in infos]
    names = dict.fromkeys(name for info in infos for name in info
                          if name not in ("loss", "objective"))
    result = {}
    for name in names:
        values = [info[name] for info in infos if name in info]
        if all(isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating))
               for value in values):
            result[name] = float(np.mean(values, dtype=np.float64))
    return result


def _flat(info):
    flat = {}
    for name, value in info.items():
        nested = isinstance(value, dict)
        flat |= {f"{name}.{key}": v for key, v in _flat(value).items()} if nested else {name: value}
    return flat
