"""Runs of an optimizer under check: always the same network, loss and batches, made anew."""

import copy

import numpy as np

from ..checks import plain_array
from ..ledger.mismatch import describe_mismatch
from ..optimizers.step import wrapped

#: What the base class keeps for its own use.
OWN = ("_network", "loss", "base", "steps", "details", "_given")
#: How a method that draws random numbers can resume.
DRAWS = ("a generator cannot be saved: keep a number, self.seed, and draw from "
         "np.random.default_rng([self.seed, self.steps])")


class Runs:
    """Makes optimizers that start alike, and steps them through the same batches."""

    def __init__(self, make, network, loss, x, y, steps, rng):
        self.make, self.network, self.loss = make, network, loss
        x, y = plain_array(x, "x"), plain_array(y, "y")
        whole = max(1, len(x) // 2)
        sizes = [whole if number % 3 != 2 else max(1, whole - 3) for number in range(steps)]
        self.batches = [(x[rows], y[rows]) for rows in
                        (rng.choice(len(x), size, replace=False) for size in sizes)]

    def fresh(self, network=None):
        """An optimizer as `make` makes it, on a copy of the network."""
        return self.make(copy.deepcopy(self.network if network is None else network), self.loss)

    def at(self, number):
        """An optimizer after so many steps."""
        optimizer = self.fresh()
        self.trace(optimizer, end=number)
        return optimizer

    def trace(self, optimizer, start=0, end=None):
        """Step through batches: the parameters after each step and what it reported."""
        trace = []
        for x, y in self.batches[start:end]:
            info = optimizer.step(x.copy(), y.copy())
            trace.append((optimizer.network.theta.copy(), copy.deepcopy(info)))
        return trace


def difference(one, other):
    """None where two traces are the same to the last bit, else what differs first, as text."""
    for number, ((theta, info), (theta_2, info_2)) in enumerate(zip(one, other), start=1):
        if not same(theta, theta_2):
            return (f"the parameters differ after step {number}:\n"
                    + describe_mismatch(theta_2, theta, error=0.0, limit=3,
                                        names=("this run", "the other")))
        if not same(info, info_2):
            names = [name for name in dict.fromkeys([*info, *info_2])
                     if not same(info.get(name), info_2.get(name))]
            return f"step {number} reports another {', '.join(names)}"
    return None


def same(one, other):
    """Whether two values are equal to the last bit; NaN is equal to NaN."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        one, other = np.asarray(one), np.asarray(other)
        return (one.shape == other.shape and one.dtype == other.dtype
                and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
    try:
        return bool(one == other or (one != one and other != other))
    except Exception:  # things that cannot be compared
        return one is other


def changed(before, after):
    """The names of what differs between two states, as text."""
    return ", ".join(name for name in before if not same(before[name], after.get(name)))


def attributes(method):
    """Copies of what an optimizer holds beside its base: arrays, numbers, texts, containers."""
    return {name: copy.deepcopy(value) for name, value in vars(method).items()
            if name not in OWN and _plain(value)}


def _plain(value):
    if isinstance(value, dict):
        return all(map(_plain, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_plain, value))
    return value is None or isinstance(value, (bool, int, float, str, np.ndarray, np.generic))


def what_is_forgotten(runs):
    """What changes from step to step although `state_names` does not list it, in words."""
    optimizer = runs.at(1)
    earlier = [(method, attributes(method)) for method in wrapped(optimizer)]
    runs.trace(optimizer, 1, 3)
    names = [name for method, before in earlier for name, value in attributes(method).items()
             if name not in method.state_names and not same(value, before.get(name))]
    if not names:
        return ("what the method carries from step to step must be arrays or numbers in "
                f"attributes that state_names lists; {DRAWS}")
    several = len(names) > 1
    return (f"{', '.join(names)} change{'' if several else 's'} from step to step: list "
            f"{'them' if several else 'it'} in state_names")
