"""The diagonal bound against the Hessians it should bound, over 200 random networks."""

from itertools import product

import numpy as np
import pytest

import secondorder as so
from harness import slow
from harness.cases import LOSSES, relative, targets
from secondorder.nets import ACTIVATIONS, Activation, Linear, Network, Skip
from secondorder.papers.residual_partitioning import bound, bounded_hessian

ROUNDING = 1e-12


def random_case(seed):
    """A network with everything drawn: activations, widths, scale, biases, skips, fixed layers."""
    rng = np.random.default_rng([3, seed])
    names = rng.choice(sorted(ACTIVATIONS), size=4)
    scale, width = rng.uniform(1, 4), int(rng.integers(2, 5))
    fixed = rng.random(3) < 0.2
    fixed[rng.integers(3)] = False

    def linear(n_in, n_out, k, bias=None):
        bias = bool(rng.random() < 0.7) if bias is None else bias
        return Linear(n_in, n_out, bias=bias, trainable=not fixed[k], init=scale / np.sqrt(n_in),
                      rng=rng)

    layers = [linear(3, width, 0), Activation(names[0])]
    if rng.random() < 0.4:
        inner = [linear(width, 2, 1), Activation(names[1]), linear(2, width, 1, bias=False)]
        layers.append(Skip(inner if seed % 2 else [*inner, Skip([Activation(names[2])])]))
    else:
        layers += [linear(width, 3, 1), Activation(names[1])]
        width = 3
    layers.append(linear(width, 3, 2))
    if rng.random() < 0.3:
        layers.append(Activation(names[3]))
    loss = LOSSES[tuple(LOSSES)[seed % len(LOSSES)]]()
    net = Network(layers)
    x = rng.normal(size=(4, 3))
    return rng, net, loss, x, targets(loss, rng, 4)


def assert_bounds(curvature, H, what):
    """diag(curvature) - H has no negative eigenvalue."""
    least = np.linalg.eigvalsh(np.diag(curvature) - H)[0]
    assert least >= -ROUNDING * curvature.max() and (curvature >= 0).all(), what


@pytest.mark.parametrize("seed", [*range(50), *slow(range(50, 200))])
def test_no_step_leaves_the_bound(seed):
    rng, net, loss, x, y = random_case(seed)
    model, true = bounded_hessian(net, loss, x, y), so.exact.hessian(net, loss, x, y)
    rules = ["auto", "pairwise"] + ["diagonal"] * loss.diagonal_hessian + ["jensen"] * loss.convex
    for options in product(rules, ("abs", "max")):
        b = bound(net, loss, x, y, *options)
        assert_bounds(b.curvature, model, options)
        assert_bounds(bound(net, loss, x, y, *options, cross=True).curvature, true, options)
    assert relative(b.gradient, so.exact.gradient(net, loss, x, y)) < 1e-13
    with_penalty = bounded_hessian(net, loss, x, y, l2=0.3)
    assert relative(with_penalty, model + 0.3 * np.eye(net.size)) < 1e-14
