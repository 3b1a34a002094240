"""The diagonal bound against the Hessians it should bound, over 200 random networks."""

from itertools import product

import numpy as np
import pytest

import secondorder as so
from harness import slow
from harness.cases import LOSSES, relative, targets
from secondorder.exact import finite_differences
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
    assert least >= -ROUNDING * curvature.max(), what


# -- 200 networks ----------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", [*range(50), *slow(range(50, 200))])
def test_no_step_leaves_the_bound(seed):
    rng, net, loss, x, y = random_case(seed)
    model, true = bounded_hessian(net, loss, x, y), so.exact.hessian(net, loss, x, y)
    rules = ["auto", "pairwise"] + ["diagonal"] * loss.diagonal_hessian + ["jensen"] * loss.convex
    for options in product(rules, ("abs", "max")):
        b = bound(net, loss, x, y, *options)
        assert (b.curvature >= 0).all()
        assert_bounds(b.curvature, model, options)
        assert_bounds(bound(net, loss, x, y, *options, cross=True).curvature, true, options)
    assert relative(b.gradient, so.exact.gradient(net, loss, x, y)) < 1e-13


# -- what is bounded -------------------------------------------------------------------------------

def outputs_without_products(layers, x, moved, theta):
    """Outputs at changed parameters when every change of a weight meets the input of its layer at
    the starting point.

    x: inputs at the starting point; moved: inputs after the change; theta: iterator over the
    changes of the layers.
    """
    for layer in layers:
        if isinstance(layer, Skip):
            here, there = outputs_without_products(layer.layers, x, moved, theta)
            x, moved = x + here, moved + there
        elif isinstance(layer, Activation):
            x, moved = layer.function.value(x), layer.function.value(moved)
        else:
            b = 0 if layer.bias is None else layer.bias
            there = moved @ layer.weight.T + b
            if layer.trainable:
                dW, *db = layer.split(next(theta))
                there = there + x @ dW.T + (db[0] if db else 0)
            x, moved = x @ layer.weight.T + b, there
    return x, moved


def trained(layers):
    for layer in layers:
        if isinstance(layer, Skip):
            yield from trained(layer.layers)
        elif layer.size:
            yield layer


def loss_without_products(net, loss, x, y, delta):
    """Mean loss at `delta` (P,), which may be complex, of the function with the products left
    out."""
    ends = np.cumsum([layer.size for layer in trained(net.layers)])
    _, outputs = outputs_without_products(net.layers, x, x, iter(np.split(delta, ends[:-1])))
    return np.mean(loss.value(outputs, loss.prepare_target(y, outputs.shape, np.float64)))


@pytest.mark.parametrize("seed", range(6))
def test_bounded_hessian_is_that_of_the_function_without_products(seed):
    _, net, loss, x, y = random_case(seed)

    def gradient(delta):
        return finite_differences.complex_step(lambda d: loss_without_products(net, loss, x, y, d),
                                               delta)

    start = np.zeros(net.size)
    assert (
        np.abs(gradient(start) - so.exact.gradient(net, loss, x, y)).max()
        < 1e-14 + 1e-12 * np.abs(gradient(start)).max()
    )
    H = bounded_hessian(net, loss, x, y)
    assert np.allclose(H, H.T, rtol=0, atol=1e-12 * np.abs(H).max())
    step, allowed = 1e-5, 1e-10 + 1e-6 * np.abs(H).max()
    for column, e in zip(H, np.eye(net.size)):
        difference = (gradient(step * e) - gradient(-step * e)) / (2 * step)
        assert np.abs(column - difference).max() < allowed
    penalised = bounded_hessian(net, loss, x, y, l2=0.3)
    assert relative(penalised, H + 0.3 * np.eye(net.size)) < 1e-14
