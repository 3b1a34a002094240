"""exp for arguments that are not positive, and log1p, as formulas that LLVM turns into SIMD code.

A call of the C library's exp would keep a loop scalar. Here, with v <= 0,

    v = k log 2 + r,  k whole, |r| <= log(2) / 2:   exp(v) = 2^k (1 + m),  m = expm1(r)

and m is r times the Taylor polynomial of expm1(r) / r. What is left out of it is below a tenth of a
unit in the last place: r^7 / 8! = 1.5e-8 in float32 (7 terms), r^13 / 14! = 1.2e-17 in float64 (13
terms). k log 2 is subtracted in two parts, of which the first has so few digits that its product
with k is exact (Cody and Waite). 2^k is made of the bits of k; in two factors, since 2^k itself
underflows before exp does.

    log(1 + e) = 2 artanh(z) = 2 z (1 + z^2/3 + z^4/5 + ...),  z = e / (2 + e) <= 1/3 for e <= 1

is cut off after 1/15 in float32, 1/33 in float64, where the next term is below a tenth of a unit.
"""

import math

import numpy as np

f32 = np.float32


def power_of_two(k):
    """2^k for a whole number k, held as a float."""
    return type(k)(math.ldexp(1.0, int(k)))


def exp_parts(v):
    """m, 2^(k - h) and 2^h with exp(v) = (1 + m) 2^(k - h) 2^h, for v <= 0; NaN stays NaN."""
    if v != v:
        return v, v, v
    return exp_parts_32(v) if isinstance(v, f32) else exp_parts_64(v)


def exp_parts_32(v):
    v = f32(-110.0) if v < f32(-110.0) else v  # 8 exp is 0 from there on
    magic = f32(12582912.0)  # 1.5 2^23: what is added to it is rounded to a whole number
    k = (v * f32(1.4426950408889634) + magic) - magic
    r = (v - k * f32(0.693359375)) - k * f32(-2.1219444005469057e-4)
    p = f32(1 / 5040)
    p = p * r + f32(1 / 720)
    p = p * r + f32(1 / 120)
    p = p * r + f32(1 / 24)
    p = p * r + f32(1 / 6)
    p = p * r + f32(1 / 2)
    m = p * (r * r) + r
    h = (k * f32(0.5) + magic) - magic
    return m, power_of_two(k - h), power_of_two(h)


def exp_parts_64(v):
    v = -760.0 if v < -760.0 else v  # 8 exp is 0 from there on
    magic = 6755399441055744.0  # 1.5 2^52
    k = (v * 1.4426950408889634 + magic) - magic
    r = (v - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    p = 1 / 6227020800
    p = p * r + 1 / 479001600
    p = p * r + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 1 / 2
    m = p * (r * r) + r
    h = (k * 0.5 + magic) - magic
    return m, power_of_two(k - h), power_of_two(h)


def log1p(e):
    """log(1 + e) for e from 0 to 1."""
    return log1p_32(e) if isinstance(e, f32) else log1p_64(e)


def log1p_32(e):
    z = e / (f32(2) + e)
    q = z * z
    p = f32(1 / 15)
    p = p * q + f32(1 / 13)
    p = p * q + f32(1 / 11)
    p = p * q + f32(1 / 9)
    p = p * q + f32(1 / 7)
    p = p * q + f32(1 / 5)
    p = p * q + f32(1 / 3)
    return f32(2) * (z + z * (q * p))


def log1p_64(e):
    z = e / (2.0 + e)
    q = z * z
    p = 1 / 33
    p = p * q + 1 / 31
    p = p * q + 1 / 29
    p = p * q + 1 / 27
    p = p * q + 1 / 25
    p = p * q + 1 / 23
    p = p * q + 1 / 21
    p = p * q + 1 / 19
    p = p * q + 1 / 17
    p = p * q + 1 / 15
    p = p * q + 1 / 13
    p = p * q + 1 / 11
    p = p * q + 1 / 9
    p = p * q + 1 / 7
    p = p * q + 1 / 5
    p = p * q + 1 / 3
    return 2.0 * (z + z * (q * p))
