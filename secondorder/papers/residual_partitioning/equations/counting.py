"""Counting the multiply-adds of every matrix product of a computation."""

from ....ledger.counted import counted
from ....nets import SquaredError
from . import cases


def multiply_adds(rng, sizes, samples, work):
    """Multiply-adds of every matrix product of work(evaluation), forward pass included."""
    net, log = cases.network(rng, "relu", sizes), []
    for layer in net.layers[::2]:
        dict.__setitem__(layer.parameters, "weight", counted(layer.weight, log))
    x, y = cases.batch(rng, net, samples=samples)
    work(net.evaluate(SquaredError(), x, y))
    return log
