"""What the paper measures beside the loss: tangent kernel, representations, weights, and the effect
of one step on its own batch.
"""

import numpy as np

from ...checks import boolean, instance_of, real_array, real_number, require_bytes
from ...exact.chunks import Chunks
from ...exact.curvature import check_network
from ...nets import Network
from .kernel import tangent_kernel


def ntk(network, x, max_bytes=2**30, batch_size=None, executor=None):
    """The empirical tangent kernel J J^T of all outputs, (S, C, S, C) in float64, from the
    structure of the layers.

    Parameters
    ----------
    network : Network
    x : (S, *input_shape) array
    max_bytes : int
        Refuse a larger kernel.
    batch_size : int, optional
        The samples are cut into chunks of this size. The kernel is computed for one pair of chunks
        after the other, in the memory of two chunks. Each pair costs a kernel of both chunks.
    executor : concurrent.futures.Executor, optional
        Computes the pairs in parallel; the result is the same bit for bit.

    Raises
    ------
    MemoryError
        If the kernel would be larger than `max_bytes`.
    ValueError, TypeError
        Wrong shape, empty batch, NaN, a network without parameters.
    FloatingPointError
        If outputs or the kernel are not finite.
    """
    check_network(network)
    x = network.check_input(x)
    samples, outputs = len(x), network.output_shape[0]
    require_bytes("the tangent kernel", (samples, outputs, samples, outputs), np.float64, max_bytes)
    if batch_size is None and executor is None:
        return _kernel(network, x)
    chunks = Chunks(network, None, x, None, batch_size, executor)
    K = np.empty((samples, outputs, samples, outputs))
    pairs = [(a, b) for a in chunks.slices for b in chunks.slices if a.start <= b.start]
    tasks = [(_kernel_of_pair, network, None, x[a], None, x[b]) for a, b in pairs]
    for (a, b), block in zip(pairs, chunks.made(tasks, pairs)):
        K[a, :, b], K[b, :, a] = block, block.transpose(2, 3, 0, 1)
    return K


def _kernel(network, x):
    saved = network.forward(x)[1]
    return tangent_kernel(network, saved, len(x), network.output_shape[0]).transpose(1, 0, 3, 2)


def _kernel_of_pair(network, loss, x, y, other):
    """The block (S, C, S', C) of the kernel of all samples of two chunks."""
    if x is other or np.array_equal(x, other):
        return _kernel(network, x)
    return _kernel(network, np.concatenate([x, other]))[: len(x), :, len(x) :]


def ntk_product(network, x, v):
    """The tangent kernel times v (S, C) without the kernel: J (J^T v), one backward and one forward
    pass.

    Raises
    ------
    ValueError, TypeError
        As :func:`ntk`; also a `v` of another shape.
    """
    check_network(network)
    x = network.check_input(x)
    _, saved = network.forward(x)
    v = real_array(v, "v", (len(x), *network.output_shape)).astype(network.dtype)
    return network.chain.tangents(saved, None, network.chain.parameter_gradient(saved, v))[0]


def kernel_similarity(K, other):
    """Cosine of two kernels (or of their products with one vector), <K, K'> / (|K| |K'|): 1 for
    kernels of one shape.

    Raises
    ------
    ValueError, TypeError
        Different shapes, a kernel that is zero or not finite, something else than real numbers.
    """
    K, other = (real_array(k, name).astype(float) for name, k in (("K", K), ("other", other)))
    _require_same(K, other)
    if not (K.any() and other.any()):
        raise ValueError("the cosine of a kernel that is zero everywhere is not defined")
    K, other = K / np.abs(K).max(), other / np.abs(other).max()  # squares overflow or vanish else
    return float(np.vdot(K, other) / (np.linalg.norm(K) * np.linalg.norm(other)))


def kernel_change(K, other):
    """Rate of change from K to K', 1 - cosine."""
    return 1 - kernel_similarity(K, other)


def linear_cka(a, b, debiased=False):
    """Linear centred kernel alignment of two representations of the same samples.

    Parameters
    ----------
    a, b : (S, n) and (S, m) arrays
        One row for each sample.
    debiased : bool
        The unbiased estimator of the alignment (diagonals left out), which does not grow with the
        width; needs 4 samples.

    Returns
    -------
    float
        1 if the centred a is a rotation of the centred b, up to a factor.

    Raises
    ------
    ValueError
        Different numbers of samples, too few, NaN, or a representation that is the same for all
        samples.
    TypeError
        Something else than real numbers.
    """
    debiased = boolean(debiased, "debiased")
    a, b = (real_array(r, name).astype(float) for name, r in (("a", a), ("b", b)))
    if a.ndim != 2 or b.ndim != 2 or len(a) != len(b):
        raise ValueError(f"a and b must be (S, n) and (S, m) with one S, got {a.shape} and "
                         f"{b.shape}")
    if len(a) < (4 if debiased else 2):
        raise ValueError(f"at least {4 if debiased else 2} samples are needed, got {len(a)}")
    align = _unbiased_alignment if debiased else _alignment
    a, b = (_centred(r / (np.abs(r).max() or 1.0)) for r in (a, b))
    sizes = align(a, a), align(b, b)
    if min(sizes) <= 0:
        raise ValueError("a representation is the same for all samples: its alignment is not "
                         "defined")
    return float(align(a, b) / np.sqrt(sizes[0] * sizes[1]))


def _centred(representation):
    return representation - representation.mean(axis=0)


def _alignment(a, b):
    """|a^T b|_F^2, the inner product of the centred Gram matrices."""
    return np.linalg.norm(a.T @ b) ** 2


def _unbiased_alignment(a, b):
    """The unbiased HSIC estimator: with K, L the Gram matrices without diagonals,
    (tr K L + (1 K 1)(1 L 1) / ((n-1)(n-2)) - 2 / (n-2) 1 K L 1) / (n (n-3)).
    """
    n = len(a)
    K, L = a @ a.T, b @ b.T
    np.fill_diagonal(K, 0)
    np.fill_diagonal(L, 0)
    rows_k, rows_l = K.sum(axis=0), L.sum(axis=0)
    total = (np.vdot(K, L) + rows_k.sum() * rows_l.sum() / ((n - 1) * (n - 2))
             - 2 / (n - 2) * (rows_k @ rows_l))
    return total / (n * (n - 3))


def weight_change(network, start):
    """How the parameters moved since `start` (P,): for every layer that is trained, norm of the
    change and cosine with the start.

    Returns
    -------
    list of (float, float)
    """
    start = instance_of(network, Network, "network").vector(start, "start")
    changes = []
    for layer, where in zip(network.layers, network.slices):
        for piece in _pieces(layer, where):
            before, now = start[piece].astype(float), network.theta[piece].astype(float)
            sizes = np.linalg.norm(before) * np.linalg.norm(now)
            changes.append((float(np.linalg.norm(now - before)),
                          float(before @ now / sizes) if sizes else np.nan))
    return changes


def _pieces(layer, where):
    """Where the parameters of each of the innermost trained layers stand."""
    inner = [part for part in layer.sublayers() if part.parameters and part.trainable]
    start = where.start
    for part in inner:
        yield slice(start, start + part.size)
        start += part.size


def percent_change(before, after):
    """100 (after - before) / before: what a step does to the loss of its own batch.

    Raises
    ------
    TypeError, ValueError
        No finite numbers; `before` is 0.
    """
    before, after = real_number(before, "before"), real_number(after, "after")
    if before == 0:
        raise ValueError("before is 0, so that a change in percent is not defined")
    return 100 * (after - before) / before


def _require_same(a, b):
    if a.shape != b.shape:
        raise ValueError(f"both must have one shape, got {a.shape} and {b.shape}")
