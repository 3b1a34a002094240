"""Random batches with the dense derivatives of their objective; a network with `rows` of options is
one of ``cases``.
"""

from typing import NamedTuple

import numpy as np

from .... import exact, nets
from .cases import CURVED, LOSSES, dead, network, targets, tolerance


class Batch(NamedTuple):
    """An evaluation, a direction, and the gradient and Hessian of its objective, dense."""

    name: str
    at: object
    direction: np.ndarray
    g: np.ndarray
    H: np.ndarray

    @property
    def tolerance(self):
        """What rounding allows in this network's precision."""
        return tolerance(self.at.network.dtype)

    @property
    def derivative(self):
        """g . grad F, and the size of its terms."""
        return self.direction @ self.g, np.abs(self.direction) @ np.abs(self.g)

    @property
    def curvature(self):
        """g^T H g, and the size of its terms."""
        d = self.direction.astype(np.float64)
        return d @ self.H @ d, np.abs(d) @ np.abs(self.H) @ np.abs(d)

    @property
    def model(self):
        """Network, loss, inputs and targets."""
        return self.at.network, self.at.loss_function, self.at.x, self.at.y


def batch(rng, activation="relu", sizes=(4, 5, 6, 5, 3), samples=6, loss="softmax", **options):
    """A random :class:`Batch`; drawn again where a layer is dead for some sample."""
    while True:
        net = network(rng, activation, sizes, **options)
        x, y = rng.normal(size=(samples, sizes[0])), targets(rng, loss, samples, sizes[-1])
        at = net.evaluate(LOSSES[loss][0](), x, y)
        if samples > 20 or not dead(at):
            names = activation if isinstance(activation, str) else ", ".join(activation)
            return with_dense(f"{names}, {loss}", at, rng.normal(size=net.size))


def with_dense(name, at, direction, l2=0.0):
    """The :class:`Batch` of an evaluation; dense derivatives are computed in float64."""
    wide = at.network.astype("float64"), at.loss_function, at.x, at.y
    return Batch(name, at, direction.astype(at.network.dtype), exact.gradient(*wide, l2=l2),
                 exact.hessian(*wide, method="products", l2=l2))


def sample_by_sample(row, l2=0.0):
    """The samples of a batch, each as a :class:`Batch` with the same direction."""
    net, loss, x, y = row.model
    return [with_dense("", net.evaluate(loss, x[b : b + 1], y[b : b + 1]), row.direction, l2)
            for b in range(len(x))]


def moved(at, change):
    """A copy of an evaluation's network with parameters theta + change, in float64."""
    net = at.network.astype("float64")
    net.theta = net.theta + change
    return net


#: What else a batch or its network may be, by name: options of `batch`.
ROWS = {
    "first layer frozen": {"frozen": (1,)},
    "middle layer frozen": {"frozen": (2,)},
    "two layers frozen, ReLU": {"frozen": (1, 3), "activation": "relu"},
    "only the first activation curved": {"activation": ("softplus", "relu", "relu")},
    "only the last activation curved": {"activation": ("relu", "relu", "tanh")},
    "output frozen": {"frozen": (4,)},
    "no biases": {"bias": False},
    "biases in some layers": {"bias": (True, False, True, False)},
    "no biases in some layers": {"bias": (False, True, False, True)},
    "no activation after layer 1": {"plain": (1,)},
    "no activation after layer 2": {"plain": (2,)},
    "two activations after layer 2": {"twice": (2,)},
    "an activation at the output": {"output": "tanh"},
    "one sample": {"samples": 1},
    "two samples": {"samples": 2},
    "eleven samples": {"samples": 11},
    "float32": {"dtype": "float32"},
}
#: A batch that `factors.hessian` works through in parts, the last of them shorter.
IN_PARTS = {"two parts of a batch": {"sizes": (60, 3, 2), "samples": 400, "loss": "softmax"}}


def rows(rng, chosen=None, activation=None):
    """A :class:`Batch` for each of `ROWS`, with a loss and a curved activation by chance; or with
    the given activation, where a row has none of its own.
    """
    for name, options in (ROWS if chosen is None else chosen).items():
        if activation is not None and "activation" in options:
            continue
        kind = {"sizes": (4, 5, 3, 4, 3), "bias": True, "samples": 3,
                "activation": activation or str(rng.choice(CURVED)),
                "loss": str(rng.choice(list(LOSSES)))} | options
        row = batch(rng, **kind)
        yield row._replace(name=f"{name}, {row.name}")


def nested(row):
    """The same network as a chain in a chain in a chain, on the same batch."""
    first, *rest = [layer.copy() for layer in row.at.network.layers]
    net = nets.Network([first, nets.Chain([rest[0], nets.Chain(rest[1:])])])
    at = net.evaluate(row.at.loss_function, row.at.x, row.at.y)
    return row._replace(name=f"chains in chains, {row.name}", at=at)
