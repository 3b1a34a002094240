"""The GEMM-bound: the matrix products that a piece of work cannot do without, run alone.

The lists below are those of chains of `Linear` and `Conv2d` layers and what has no products
(activations); a convolution multiplies patches that are there already. S is the number of samples.
"""

import math
from typing import NamedTuple

import numpy as np

from secondorder.nets import Conv2d, Linear


class Product(NamedTuple):
    """(rows, inner) times (inner, columns).

    `turned` says which factor is read transposed: "", "left" or "right". With `count` there are so
    many of them in a stack. A product with inner = 1 is an outer product.
    """

    rows: int
    inner: int
    columns: int
    turned: str = ""
    count: int = 0

    @property
    def flops(self):
        """Additions and multiplications."""
        return 2 * self.rows * self.inner * self.columns * max(1, self.count)


def bound(products, dtype):
    """A function that runs the products once, in arrays that are made here."""
    rng = np.random.default_rng(0)
    jobs = [_job(product, rng, np.dtype(dtype)) for product in products]

    def run():
        for multiply, left, right, out in jobs:
            multiply(left, right, out=out)

    return run


def _job(product, rng, dtype):
    stack = (product.count,) if product.count else ()
    shapes = [(product.rows, product.inner), (product.inner, product.columns)]
    factors = []
    for shape, side in zip(shapes, ("left", "right")):
        turned = product.turned == side
        factor = rng.standard_normal(stack + (shape[::-1] if turned else shape)).astype(dtype)
        factors.append(np.swapaxes(factor, -1, -2) if turned else factor)
    out = np.empty(stack + (product.rows, product.columns), dtype)
    return _outer if product.inner == 1 else np.matmul, *factors, out


def _outer(left, right, out):
    """Outer products; `einsum` writes them faster than `multiply` and `matmul` do."""
    np.einsum("...i,...j->...ij", left[..., 0], right[..., 0, :], out=out)


def widths(network):
    """(in, out) of every linear layer."""
    return [layer.weight.shape[::-1] for layer in network.layers if isinstance(layer, Linear)]


def _passes(network, samples):
    """Forward, input-gradient and parameter-gradient product of every layer that has some."""
    shape = network.input_shape
    for layer in network.layers:
        shape = layer.output_shape(shape)
        if isinstance(layer, Linear):
            n_out, n_in = layer.weight.shape
            yield (Product(samples, n_in, n_out, "right"), Product(samples, n_out, n_in),
                   Product(n_out, samples, n_in, "left"))
        elif isinstance(layer, Conv2d):
            n_out, places = shape[0], math.prod(shape[1:])
            n_in = math.prod(layer.weight.shape[1:])  # entries of a patch
            yield (Product(n_out, n_in, places, "", samples),
                   Product(n_in, n_out, places, "left", samples),
                   Product(n_out, places, n_in, "right", samples))


def forward(network, samples):
    """y = x W^T in every layer, or W Z with patches Z."""
    return [up for up, _, _ in _passes(network, samples)]


def input_gradients(network, samples):
    """x_bar = y_bar W in every layer but the first, or W^T y_bar."""
    return [down for _, down, _ in _passes(network, samples)][:0:-1]


def parameter_gradients(network, samples):
    """W_bar = y_bar^T x in every layer, or y_bar Z^T."""
    return [weights for _, _, weights in _passes(network, samples)]


def backward(network, samples):
    """One backward pass."""
    return input_gradients(network, samples) + parameter_gradients(network, samples)


def tangent(network, samples):
    """y_tangent = x_tangent W^T + x W_tangent^T, in the first layer without the first term."""
    return forward(network, samples) + forward(network, samples)[1:]


def backward_tangent(network, samples):
    """Each product of a backward pass twice, but the first layer has no x_tangent."""
    weights = parameter_gradients(network, samples)
    return 2 * input_gradients(network, samples) + weights + weights[1:]


def outer_products(network, samples):
    """The gradient of every sample alone: y_bar[s] x[s]^T in every layer."""
    return [Product(n_out, 1, n_in, count=samples) for n_in, n_out in widths(network)]


def dense_hessian(network, samples):
    """Upper triangle: for every unit, its inputs times its layer's and all later parameters."""
    sizes = [layer.size for layer in network.layers if isinstance(layer, Linear)]
    return [Product(n_in + 1, samples, sum(sizes[k:]), "left")
            for k, (n_in, n_out) in enumerate(widths(network)) for _ in range(n_out)]


def gradient(network, samples):
    """A forward pass and a backward pass."""
    return forward(network, samples) + backward(network, samples)


def sample_gradients(network, samples):
    """A forward pass, gradients in the inputs, and an outer product a sample and layer."""
    return (forward(network, samples) + input_gradients(network, samples)
            + outer_products(network, samples))


# -- the papers' methods ---------------------------------------------------------------------------


def partitioning_step(network, samples):
    """A gradient; u through every layer but the first, and Z back like the gradient."""
    return (gradient(network, samples) + forward(network, samples)[1:]
            + backward(network, samples))


def directional_curvature(network, samples):
    """P v and W v' in every layer, and P v' in every layer that gets a tangent."""
    return tangent(network, samples) + forward(network, samples)[1:]


def explicit_eta(sizes, samples):
    """W^k eta^(k-1,r) of every sample, for every pair of layers r < k."""
    outputs = sizes[1:]
    return [Product(outputs[k], outputs[k - 1], outputs[r], count=samples)
            for r in range(len(outputs) - 1) for k in range(r + 1, len(outputs))]


def eacg_step(network, samples):
    """A gradient; W^T B W and E[h' h'^T] in every layer but the first, the latter as half a
    product.
    """
    step = gradient(network, samples)
    for n_in, n_out in widths(network)[1:]:
        step += [Product(n_out, n_out, n_in), Product(n_in, n_out, n_in, "left"),
                 Product(n_in, max(1, samples // 2), n_in, "left")]
    return step


def right_inverse(network, samples):
    """Forward pass, inverse tangents (not below the first layer), and Y^T S^T, in the order met."""
    half, features = network.blocks[0].W1.shape
    count = len(network.couplings)
    up, down = (Product(samples, half, features, "right"),
                Product(samples, features, half, "right"))
    return ((2 * count - 1) * [up, down]
            + count * [Product(half, samples, features, "left")])


def moore_penrose(network, samples):
    """Gradients of every output in every half-coupled layer but the first, and Gram matrices."""
    half, features = network.blocks[0].W1.shape
    count, outputs = len(network.couplings), network.output_shape[0]
    back = [Product(samples, half, features), Product(samples, features, half)]
    own = Product(samples * outputs, half, samples * outputs, "right")
    inner = Product(samples, features, samples, "right")
    return (count - 1) * outputs * back + count * [own, inner]
