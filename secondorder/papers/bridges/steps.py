"""The damped step of the third paper and the regularised Gauss-Newton step of the fourth.

With G = J^T J / S, g = J^T eps / S and lambda = alpha S / (1 - alpha)

    (alpha I + (1 - alpha) G)^-1 g = (J^T J + lambda I)^-1 J^T eps / (1 - alpha)
                                   = J^T (J J^T + lambda I)^-1 eps / (1 - alpha).
"""

import numpy as np

from .. import eacg, reversible_gauss_newton
from .kernels import kernel


def damping(alpha, samples):
    """lambda = alpha S / (1 - alpha): what the damping of a mean is for a sum."""
    return alpha * samples / (1 - alpha)


def damped(network, loss, x, y, alpha):
    """[ea-cg] (9), (11a) with the Gauss-Newton matrix: -(alpha I + (1 - alpha) G)^-1 g, (P,)."""
    return eacg.direction(network, loss, x, y, curvature="gauss-newton", solver="exact",
                          alpha=alpha)


def regularised(network, loss, x, y, alpha):
    """[reversible-gauss-newton] (5) with singular values s / (s^2 + lambda), over 1 - alpha, (P,).

    That room takes lambda relative to the square of the largest singular value of J.
    """
    largest = np.linalg.eigvalsh(kernel(network, x))[-1]
    relative = damping(alpha, len(x)) / largest
    step = reversible_gauss_newton.direction(network, loss, x, y, inverse="moore-penrose",
                                             pseudo_inverse="tikhonov", strength=relative)
    return step / (1 - alpha)
