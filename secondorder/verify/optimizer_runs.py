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
        """Step through batches: the parameters after each step, (steps, P)."""
        trace = []
        for x, y in self.batches[start:end]:
            optimizer.step(x.copy(), y.copy())
            trace.append(optimizer.network.theta.copy())
        return np.array(trace)


def difference(one, other):
    """Where two traces differ first, as text; "" where they are the same to the last bit."""
    apart = np.flatnonzero((one != other).any(axis=1))
    if not apart.size:
        return ""
    return (f"the parameters differ after step {apart[0] + 1}:\n"
            + describe_mismatch(other[apart[0]], one[apart[0]], error=0.0, limit=3,
                                names=("this run", "the other")))


def same(one, other):
    """Whether two values are equal to the last bit; NaN is equal to NaN."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and np.array_equal(one, other,
                                                       equal_nan=one.dtype.kind in "fc")


def changed(before, after):
    """The names of what differs between two states, as text."""
    return ", ".join(name for name in before if not same(before[name], after.get(name)))


def attributes(method):
    """Copies of the arrays and numbers that an optimizer holds beside its base."""
    return {name: copy.deepcopy(value) for name, value in vars(method).items()
            if name not in OWN and isinstance(value, (int, float, np.ndarray, np.generic))}


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
    return f"{', '.join(names)} changes from step to step: list it in state_names"
