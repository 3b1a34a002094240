"""The recurrent layer, (58)-(65): v_(t) = A(W v_(t-1)), v_(0) = x, a feedforward network whose
layers share W.

The quantities are those of the unrolled network
(:class:`~secondorder.papers.low_rank.quantities.Quantities` without an output), whose copies W^(k)
are all W; a derivative in W is the sum of those in the copies.
"""

import numpy as np

from . import curved_activations, relu
from .quantities import Quantities, alpha, eta


def unrolled(w, x, steps, activation):
    """Eq. (58)-(59): the `Quantities` of a recurrence as a network of `steps` equal layers without
    biases; f plays no part.

    v_(t) = A(w v_(t-1)),   v_(0) = x

    Parameters
    ----------
    w : (d, d) array
    x : (d,) array
    steps : int
        t, at least 1.
    activation : ActivationFunction
    """
    v, z = [np.asarray(x)], [None]  # (59)
    for _ in range(steps):
        z.append(w @ v[-1])
        v.append(activation.value(z[-1]))  # (58)
    slope, second_derivative = ([None, *(f(argument) for argument in z[1:])]
                                for f in (activation.slope, activation.curvature))
    no_u, no_p = np.zeros((1, len(x)), dtype=w.dtype), np.zeros(1, dtype=w.dtype)
    return Quantities(steps, [None, *([w] * steps)], z, v, v, slope, second_derivative, no_u, no_p,
                      no_p, no_p[:, None])


def sum_of_copies(derivatives):
    """Eq. (60): the derivative in the shared weights is the sum of those in the copies, an iterable
    of arrays.
    """
    return sum(derivatives)


def dv_dw(sample):
    """Eq. (61), corrected: d v_(t)^m / d w_r^s, indices m, s, r.

    sum over k of eta_s^(t,k),m v_(k-1)^r
    """
    t = sample.n
    return sum_of_copies(np.einsum("ms,r->msr", eta(sample, t, k), sample.v[k - 1])
                         for k in range(1, t + 1))


def dv_dw_as_printed(sample):
    """Eq. (61) as printed, with v_(t-1) for every k."""
    t = sample.n
    return sum(np.einsum("ms,r->msr", eta(sample, t, k), sample.v[t - 1]) for k in range(1, t + 1))


def dv_dx(sample):
    """Eq. (62): d v_(t)^m / d x^i = eta_s^(t,1),m w_i^s, indices m, i."""
    return np.einsum("ms,si->mi", eta(sample, sample.n, 1), sample.w[1])


def d2v_dw_dw_relu(sample):
    """Eq. (63), corrected, for A'' = 0: d2 v_(t)^m / d w_j^i d w_r^q, indices m, i, j, q, r.

    The sum over p < k of eta_i^(t,k),m eta_q^(k-1,p),j v_(p-1)^r, and of the same with (i, j) and
    (q, r) exchanged.
    """
    one_sided = _later_first(sample)
    return one_sided + one_sided.transpose(0, 3, 4, 1, 2)


def d2v_dw_dw_as_printed(sample):
    """Eq. (63) as printed: twice the one-sided sum; right only along one direction taken twice."""
    return 2 * _later_first(sample)


def _later_first(sample):
    """The one-sided sum in (63), indices m, i, j, q, r.

    sum over k = 2..t and p < k of eta_i^(t,k),m eta_q^(k-1,p),j v_(p-1)^r
    """
    t, d = sample.n, len(sample.v[0])
    total = np.zeros((d, d, d, d, d), dtype=sample.p.dtype)
    for k in range(2, t + 1):
        for p in range(1, k):
            total += np.einsum("mi,jq,r->mijqr", eta(sample, t, k), eta(sample, k - 1, p),
                               sample.v[p - 1])
    return total


def d2v_dx_dx(sample):
    """Eq. (64) for any activation: d2 v_(t)^m / d x^i d x^l, indices m, i, l; 0 for A'' = 0.

    sum over r and b of
    alpha_b^(t,r),m A''(z_(r)^b) (w alpha^(r-1,0))_i^b (w alpha^(r-1,0))_l^b
    """
    total = 0
    for r in range(1, sample.n + 1):
        arriving = sample.w[r] @ alpha(sample, r - 1, 0)
        total = total + np.einsum("mb,b,bi,bl->mil", alpha(sample, sample.n, r),
                                  sample.second_derivative[r], arriving, arriving)
    return total


def d2v_dw_dx_relu(sample):
    """Eq. (65), corrected, for A'' = 0: d2 v_(t)^m / d w_r^q d x^i, indices m, q, r, i.

    eta_q^(t,1),m delta_i^r + sum over k >= 2 of eta_q^(t,k),m eta_s^(k-1,1),r w_i^s
    """
    t, d = sample.n, len(sample.v[0])
    identity = np.eye(d, dtype=sample.p.dtype)
    total = np.einsum("mq,ri->mqri", eta(sample, t, 1), identity)
    for k in range(2, t + 1):
        total += np.einsum("mq,rs,si->mqri", eta(sample, t, k), eta(sample, k - 1, 1), sample.w[1])
    return total


def d2v_dw_dx(sample):
    """d2 v_(t)^m / d w_r^q d x^i for any activation, indices m, q, r, i.

    The sum over k of eta_q^(t,k),m alpha_i^(k-1,0),r and of v_(k-1)^r times
    alpha_q^(t,k),m A''(z_(k)^q) (w alpha^(k-1,0))_i^q and what A'' adds in the layers above k
    """
    t, total = sample.n, 0
    for k in range(1, t + 1):
        below, v = alpha(sample, k - 1, 0), sample.v[k - 1]
        total = total + np.einsum("mq,ri->mqri", eta(sample, t, k), below)
        own = np.einsum("mq,q,qi->mqi", alpha(sample, t, k), sample.second_derivative[k],
                        sample.w[k] @ below)
        for r in range(k + 1, t + 1):
            own += np.einsum("mb,b,bq,bi->mqi", alpha(sample, t, r), sample.second_derivative[r],
                             sample.w[r] @ eta(sample, r - 1, k),
                             sample.w[r] @ alpha(sample, r - 1, 0))
        total = total + np.einsum("mqi,r->mqri", own, v)
    return total


def d2v_dw_dw(sample):
    """d2 v_(t)^m / d w_j^i d w_r^q for any activation, indices m, i, j, q, r.

    The corrected (77), summed over pairs of copies.
    """
    copies = range(1, sample.n + 1)
    # indices m, row, column, row, column
    pairs = (curved_activations.d2v_dw_dw(sample, k, p) for k in copies for p in copies)
    return sum_of_copies(pairs)


def d2v_dw_dw_of_copies(sample):
    """The first line of Eq. (63): (33), for A'' = 0, summed over pairs of copies.

    Indices m, i, j, q, r.
    """
    copies = range(1, sample.n + 1)
    return sum_of_copies(relu.d2v_dw_dw(sample, k, p) for k in copies for p in copies)
