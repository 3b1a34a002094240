"""What a case works on: a setting in a few words; the network, loss and batch it stands for."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

import secondorder as so
from secondorder.checks import lookup

LOSSES = {"cross-entropy": so.SoftmaxCrossEntropy, "squared-error": so.SquaredError}


@dataclass(frozen=True)
class Setting:
    """Widths such as ``"64-32-10"``, batch, dtype, activation and loss.

    ``"64-3x32-10"`` has three hidden layers of 32.
    """

    widths: str = "64-32-10"
    batch: int = 100
    dtype: str = "float64"
    activation: str = "tanh"
    loss: str = "cross-entropy"

    def __post_init__(self):
        if len(self.sizes) < 2 or min(self.sizes) < 1 or self.batch < 1:
            raise ValueError(f"expected at least two widths and one sample, given {self}")
        lookup(LOSSES, self.loss, "loss")

    @property
    def sizes(self):
        """Widths as a list of integers."""
        try:
            pairs = [part.rpartition("x") for part in self.widths.split("-")]
            return [int(width) for times, _, width in pairs for _ in range(int(times or 1))]
        except ValueError:
            raise ValueError("expected widths such as 64-32-10 or 64-3x32-10, given "
                             f"{self.widths!r}") from None

    def changed(self, **changes):
        """The setting with what is given here and is not None.

        Returns
        -------
        Setting
        """
        return replace(self,
                       **{name: value for name, value in changes.items() if value is not None})

    def __str__(self):
        return f"{self.widths} {self.activation}, {self.loss}, batch {self.batch}, {self.dtype}"


class Problem:
    """A network with random weights, and a random batch; unpacks into ``network, loss, x, y``.

    Parameters
    ----------
    setting : Setting
    seed : int
    """

    def __init__(self, setting, seed=0):
        self.setting, self.rng = setting, np.random.default_rng(seed)
        sizes, batch = setting.sizes, setting.batch
        self.loss = LOSSES[setting.loss]()
        self.x = self.rng.standard_normal((batch, sizes[0])).astype(setting.dtype)
        if setting.loss == "cross-entropy":
            self.y = self.rng.integers(0, sizes[-1], batch)
        else:
            self.y = self.rng.standard_normal((batch, sizes[-1])).astype(setting.dtype)

    @cached_property
    def network(self):
        """The fully-connected network; a method with one of its own does not pay for it."""
        return self.new_network()

    def new_network(self):
        """Another network with the same weights, for a contender that trains.

        Returns
        -------
        Network
        """
        return so.mlp(self.setting.sizes, activation=self.setting.activation, rng=0,
                      dtype=self.setting.dtype)

    def __iter__(self):
        return iter((self.network, self.loss, self.x, self.y))
