"""Small reversible networks with random weights, and dense references that share no code with the
room.
"""

import secondorder as so
from secondorder.papers.reversible_gauss_newton import RevMLP


def network(rng, d=6, blocks=3, bottleneck=16, scale=0.4, **options):
    """A `RevMLP` with normal weights of this standard deviation, biases included."""
    net = RevMLP(d, blocks, bottleneck, rng=rng, **options)
    net.theta = scale * rng.normal(size=net.size)
    return net


def batch(rng, net, samples=4):
    """Inputs, and labels (with a readout) or numbers."""
    x = rng.normal(size=(samples, *net.input_shape))
    if net.readout is not None:
        return x, rng.integers(0, net.output_shape[0], samples)
    return x, rng.normal(size=(samples, *net.output_shape))


def jacobian(net, x):
    """Rows (s, c), columns in the order of theta, by reverse mode."""
    return so.exact.jacobian(net, x).reshape(-1, net.size)
