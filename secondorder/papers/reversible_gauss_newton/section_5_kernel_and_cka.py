"""5.2. What the paper measures beside the loss: the tangent kernel (NTK), representations (CKA) and
weights. Figures 4, 9 to 11.
"""

import numpy as np

from ...checks import instance_of, real_array, require_bytes
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


def kernel_similarity(K, other):
    """Cosine of two kernels, or of their products with one vector: <K, K'> / (|K| |K'|). The rate
    of change from K to K' is 1 minus it. ValueError for a kernel of zeros, or different shapes.
    """
    K = real_array(K, "K").astype(float)
    other = real_array(other, "other", K.shape).astype(float)
    if not (K.any() and other.any()):
        raise ValueError("the cosine of a kernel that is zero everywhere is not defined")
    K, other = K / np.abs(K).max(), other / np.abs(other).max()  # squares overflow or vanish else
    return float(np.vdot(K, other) / (np.linalg.norm(K) * np.linalg.norm(other)))


def linear_cka(a, b):
    """Linear centred kernel alignment of two representations of the same samples.

    |a^T b|^2 / (|a^T a| |b^T b|), centred over the samples: 1 if the centred a is a rotation of the
    centred b, up to a factor.

    Parameters
    ----------
    a, b : (S, n) and (S, m) arrays
        One row for each sample.

    Returns
    -------
    float

    Raises
    ------
    ValueError, TypeError
        Different numbers of samples, fewer than two, NaN, no real numbers, or a representation that
        is the same for all samples.
    """
    a, b = (real_array(r, name).astype(float) for name, r in (("a", a), ("b", b)))
    if a.ndim != 2 or b.ndim != 2 or len(a) != len(b) or len(a) < 2:
        raise ValueError("a and b must be (S, n) and (S, m) with one S, at least 2, got "
                         f"{a.shape} and {b.shape}")
    a, b = (r / (np.abs(r).max() or 1.0) for r in (a, b))  # squares overflow or vanish else
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    sizes = np.linalg.norm(a.T @ a), np.linalg.norm(b.T @ b)
    if min(sizes) <= 0:
        raise ValueError("a representation is the same for all samples: its alignment is not "
                         "defined")
    return float(np.linalg.norm(a.T @ b) ** 2 / (sizes[0] * sizes[1]))


def weight_change(network, start):
    """How the parameters moved since `start` (P,): for every layer that is trained, norm of the
    change and cosine with the start, [(float, float), ...].
    """
    start = instance_of(network, Network, "network").vector(start, "start").astype(float)
    now, changes, place = network.theta.astype(float), [], 0
    for layer in network.chain.sublayers():
        if layer.parameters and layer.trainable:
            before, after = start[place:place + layer.size], now[place:place + layer.size]
            sizes = np.linalg.norm(before) * np.linalg.norm(after)
            changes.append((float(np.linalg.norm(after - before)),
                            float(before @ after / sizes) if sizes else np.nan))
            place += layer.size
    return changes
