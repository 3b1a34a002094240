"""Step lengths from the cubic model along a direction: (8)-(9), (37), (40)-(41).

With a = g . grad F, h = g^T H g and c = sigma |g|^3 the model of F along g, for s >= 0, is

    a s + h s^2 / 2 + c s^3 / 6.

For a < 0 its only minimiser with s > 0 is the positive root of a + h s + c s^2 / 2,

    s = 2 |a| / (h + sqrt(h^2 + 2 |a| c))  for h >= 0,   (-h + sqrt(h^2 + 2 |a| c)) / c  for h < 0;

(37) prints the second form for both, where h > 0 cancels. Numbers are split into mantissa and
exponent, exponents are added as integers: |g|^3 is never formed, and nothing overflows or
underflows on the way.
"""

import numpy as np

from ...checks import number_in, one_of, positive_number

LARGEST = float(np.finfo(np.float64).max)
ASCENT = ("skip", "flip", "minimum")


def step_length(g_dot_grad, g_H_g, g_norm, sigma, ascent="skip", largest=LARGEST):
    """Eq. (37): what to multiply the direction g by, in a form that does not cancel.

    Parameters
    ----------
    g_dot_grad, g_H_g, g_norm : float or arrays of one shape
        Directional derivative and curvature along g, and its length (not negative). Arrays give a
        rate for each entry.
    sigma : float
        Weight of the cubic term sigma |s|^3 / 6, not negative.
    ascent : {"skip", "flip", "minimum"}
        What to do where g_dot_grad is positive. ``"skip"``: 0. ``"flip"``: the negative rate, which
        goes down the other way. ``"minimum"``: the model's minimum further along g, if it lies
        below the start (3 h^2 > 8 a c and h < 0), else 0.
    largest : float
        Upper limit of the rate's size, and the rate where the model falls for ever (sigma = 0 and
        no curvature upwards).

    Returns
    -------
    float or array
        In float64. 0 where the length is 0 or one of the numbers is not finite. Where g_dot_grad is
        0, the minimum that negative curvature leads to, else 0.

    Raises
    ------
    TypeError, ValueError
        sigma negative or not finite, a negative length, numbers that are not real, shapes that do
        not go together, unknown `ascent`.
    """
    sigma = number_in(sigma, "sigma", 0, np.inf)
    one_of(ASCENT, ascent, "ascent")
    largest = positive_number(largest, "largest")
    numbers = [np.asarray(value) for value in (g_dot_grad, g_H_g, g_norm)]
    if any(value.dtype.kind not in "iuf" for value in numbers):
        raise TypeError("g_dot_grad, g_H_g and g_norm must be real numbers, got "
                        f"{', '.join(str(value.dtype) for value in numbers)}")
    try:
        a, h, length = np.broadcast_arrays(*(value.astype(np.float64) for value in numbers))
    except ValueError:
        shapes = ", ".join(str(value.shape) for value in numbers)
        raise ValueError("g_dot_grad, g_H_g and g_norm must be numbers or arrays of one shape, got "
                         f"shapes {shapes}") from None
    if (length < 0).any():
        raise ValueError(f"g_norm must not be negative, got {length.min()}")
    usable = np.isfinite(a) & np.isfinite(h) & np.isfinite(length) & (length > 0)
    a, h, length = (np.where(usable, value, 1.0) for value in (a, h, length))
    down = descent_root(-np.abs(a), h, length, sigma, largest)
    up = {"skip": np.zeros_like(a),
          "flip": -down,
          "minimum": _far_minimum(a, h, length, sigma, largest)}[ascent]
    rate = np.where(usable, np.where(a > 0, up, down), 0.0)
    return float(rate) if rate.ndim == 0 else rate


def _split(value):
    """Mantissa in [1/2, 1) and integer exponent."""
    mantissa, exponent = np.frexp(value)
    return mantissa, exponent.astype(np.int64)


def _join(mantissa, exponent, largest):
    """mantissa 2^exponent, not above `largest`."""
    with np.errstate(over="ignore", under="ignore"):
        return np.minimum(np.ldexp(mantissa, np.clip(exponent, -3000, 3000)), largest)


def _cubic_weight(sigma, length):
    """c = sigma |g|^3 as mantissa and exponent."""
    (m_s, e_s), (m_g, e_g) = _split(np.float64(sigma)), _split(length)
    return m_s * m_g**3, e_s + 3 * e_g


def _root_parts(a, h, c, sign):
    """|h| and sqrt(h^2 + sign 2 |a| c) over one power of two: two numbers near 1 at most, and that
    power's exponent.
    """
    (m_a, e_a), (m_h, e_h), (m_c, e_c) = _split(np.abs(a)), _split(np.abs(h)), c
    m_q, e_q = 2 * m_a * m_c, e_a + e_c  # q = 2 |a| c
    odd = e_q % 2
    root, e_root = np.sqrt(m_q * (1 + odd)), (e_q - odd) // 2
    zero = np.int64(-(10**6))
    scale = np.maximum(np.where(m_h > 0, e_h, zero), np.where(root > 0, e_root, zero))
    scale = np.where(scale == zero, 0, scale)
    part_h, part_q = (np.ldexp(m, np.maximum(e - scale, -2000))
                      for m, e in ((m_h, e_h), (root, e_root)))
    if sign > 0:
        return part_h, np.hypot(part_h, part_q), scale
    return part_h, np.sqrt(np.maximum((part_h - part_q) * (part_h + part_q), 0)), scale


def descent_root(a, h, length, sigma, largest=LARGEST):
    """The minimiser s >= 0 of the model for a <= 0; arrays of one shape, all finite, length
    positive.
    """
    m_c, e_c = c = _cubic_weight(sigma, length)
    part_h, part_D, scale = _root_parts(a, h, c, +1)
    m_a, e_a = _split(np.abs(a))
    total = part_h + part_D
    with np.errstate(divide="ignore", invalid="ignore"):
        upwards = _join(*_quotient(2 * m_a, e_a, total, scale), largest)  # h >= 0
        downwards = _join(*_quotient(total, scale, m_c, e_c), largest)  # h < 0
    falls_for_ever = (m_c == 0) & ((h < 0) | ((h == 0) & (a < 0)))
    rate = np.where(h >= 0, np.where(a == 0, 0.0, upwards), downwards)
    return np.where(falls_for_ever, largest, rate)


def _quotient(m_top, e_top, m_bottom, e_bottom):
    """Quotient of two split numbers; its mantissa is brought back near 1, so that a later power of
    two is exact.
    """
    mantissa, shift = _split(m_top / m_bottom)
    return mantissa, e_top - e_bottom + shift


def _far_minimum(a, h, length, sigma, largest):
    """The minimum at s > 0 for a > 0, where the model has one that lies below the start; else 0."""
    m_c, e_c = c = _cubic_weight(sigma, length)
    (m_a, e_a), (m_h, e_h) = _split(np.abs(a)), _split(np.abs(h))
    more = np.clip(2 * e_h - e_a - e_c, -100, 100)  # the mantissas decide nothing beyond that
    below = (h < 0) & (3 * np.ldexp(m_h**2, more) > 8 * m_a * m_c)
    part_h, part_D, scale = _root_parts(a, h, c, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = _join(*_quotient(part_h + part_D, scale, m_c, e_c), largest)
    return np.where(below, np.where(m_c == 0, largest, rate), 0.0)


def positive_root(g_dot_grad, g_H_g, g_norm, sigma):
    """Eq. (37) as it stands: it cancels for h > 0 and forms |g|^3.

    (-h + sqrt(h^2 - 2 a c)) / c with c = sigma |g|^3
    """
    c = cubic_weight(g_norm, sigma)
    return (-g_H_g + np.sqrt(g_H_g**2 - 2 * g_dot_grad * c)) / c


def stationary_points(g_dot_grad, g_H_g, g_norm, sigma):
    """Eq. (9): both roots of a + h s + c s^2 / 2, the smaller one first; for a < 0 one of each
    sign.

    far = -(h + sign(h) sqrt(h^2 - 2 a c)) / c,   near = 2 a / (c far)
    """
    c = cubic_weight(g_norm, sigma)
    far = -(g_H_g + np.copysign(np.sqrt(g_H_g**2 - 2 * g_dot_grad * c), g_H_g)) / c  # (9)
    near = 2 * g_dot_grad / (c * far)
    return min(near, far), max(near, far)


def cubic_weight(g_norm, sigma):
    """c = sigma |g|^3, the factor of s^3 / 6 in the model along g."""
    return sigma * g_norm**3


def direction_norm_cubed(pieces):
    """Eq. (40): |g|^3 from the pieces omega and phi^(k) of the direction, a sequence of
    arrays.
    """
    return sum(np.sum(piece * piece) for piece in pieces) ** 1.5


def model_change(g_dot_grad, g_H_g, g_norm, sigma, step):
    """Eq. (8): what the model says F changes by at the step s g.

    a s + h s^2 / 2 + sigma |s g|^3 / 6
    """
    moved = abs(step) * g_norm
    return step * g_dot_grad + step * (step * g_H_g) / 2 + sigma * moved / 6 * moved * moved


def limits(g_dot_grad, g_H_g, g_norm, sigma):
    """Eq. (41), corrected: the step in three limits.

    |a| / h                  for h^2 >> 2 |a| c and h > 0
    sqrt(2 |a| / c)          for h^2 << 2 |a| c
    2 |h| / c + |a| / |h|    for h^2 >> 2 |a| c and h < 0
    """
    a, h, c = abs(g_dot_grad), g_H_g, cubic_weight(g_norm, sigma)
    return a / abs(h), np.sqrt(2 * a / c), 2 * abs(h) / c + a / abs(h)


def flat_limit_as_printed(g_dot_grad, g_H_g, g_norm, sigma):
    """Eq. (41), second case as printed: sqrt(2 a / c), with a < 0 under the root."""
    with np.errstate(invalid="ignore"):
        return np.sqrt(2 * g_dot_grad / cubic_weight(g_norm, sigma))


def both_roots(g_dot_grad, g_H_g, g_norm, sigma):
    """Eq. (9) as it stands, both signs: (-h -+ sqrt(h^2 - 2 a c)) / c with c = sigma |g|^3."""
    c = cubic_weight(g_norm, sigma)
    root = np.sqrt(g_H_g**2 - 2 * g_dot_grad * c)
    return (-g_H_g - root) / c, (-g_H_g + root) / c


def reciprocal_root(g_dot_grad, g_H_g, g_norm, sigma):
    """The positive root for a < 0 without a cancellation, where nothing overflows.

    2 |a| / (h + sqrt(h^2 + 2 |a| c))  for h >= 0,   (-h + sqrt(h^2 + 2 |a| c)) / c  for h < 0
    """
    a, h, c = abs(g_dot_grad), g_H_g, cubic_weight(g_norm, sigma)
    root = np.sqrt(h**2 + 2 * a * c)
    return 2 * a / (h + root) if h >= 0 else (-h + root) / c


def moved(weights, rate, direction):
    """Eqs. (42), (43): u + alpha omega, and w^(k) + alpha phi^(k)."""
    return weights + rate * direction


def mean_step(rates, directions):
    """First option: E[alpha_j g_j], from rates (S,) and directions (S, P)."""
    return np.mean(rates[:, None] * directions, axis=0)


def mean_rate_times_mean_direction(rates, directions):
    """Second option: E[alpha_j] E[g_j], from rates (S,) and directions (S, P)."""
    return np.mean(rates) * np.mean(directions, axis=0)
