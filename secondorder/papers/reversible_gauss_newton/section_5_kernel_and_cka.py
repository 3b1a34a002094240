"""5.2. What the paper measures beside the loss: the tangent kernel (NTK), representations (CKA) and
weights. Figures 4, 9 to 11.
"""

import numpy as np

from ...checks import boolean, instance_of, real_array, require_bytes
from ...exact.curvature import check_network
from ...nets import Network
from .layers import tangent_kernel


def ntk(network, x, max_bytes=2**30):
    """The empirical tangent kernel J J^T of all outputs, (S, C, S, C) in float64, from the
    structure of the layers.

    Parameters
    ----------
    network : Network
    x : (S, *input_shape) array
    max_bytes : int
        Refuse a larger kernel.

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
    S, C = len(x), network.output_shape[0]
    require_bytes("the tangent kernel", (S, C, S, C), np.float64, max_bytes)
    return tangent_kernel(network, network.forward(x)[1], S, C).transpose(1, 0, 3, 2)


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
    """Cosine of two kernels, or of their products with one vector: <K, K'> / (|K| |K'|). The rate
    of change from K to K' is 1 minus it.

    Raises
    ------
    ValueError, TypeError
        Different shapes, a kernel that is zero or not finite, something else than real numbers.
    """
    K = real_array(K, "K").astype(float)
    other = real_array(other, "other", K.shape).astype(float)
    if not (K.any() and other.any()):
        raise ValueError("the cosine of a kernel that is zero everywhere is not defined")
    K, other = K / np.abs(K).max(), other / np.abs(other).max()  # squares overflow or vanish else
    return float(np.vdot(K, other) / (np.linalg.norm(K) * np.linalg.norm(other)))


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
