"""Hot loops compiled by numba, each with its plain NumPy twin: the same arithmetic in the same
order.

Every loop takes the scalars in the dtype of its arrays; `scalars` converts them. Arrays are flat
and contiguous. No fast-math rules are used, but for sums that only report something: those may be
taken in any order.

The passes that end in ``_step`` take a whole step of a method over all P parameters. They go
through the arrays block by block: what one loop writes is still in the nearest cache when the next
one reads it, and it is read from memory once.
"""

import numpy as np
from numba import njit


def compiled(function, **options):
    """Compile a loop at its first call and keep the result on disk, or only in memory where no
    folder can be written.

    Division follows NumPy's rules: x / 0 is inf or NaN. A test for zero at every division would
    cost the SIMD code.
    """
    try:
        return _forgiving(njit(cache=True, error_model="numpy", **options)(function))
    except RuntimeError:  # numba found no place for its cache
        return njit(error_model="numpy", **options)(function)


def _forgiving(dispatcher):
    """Compile anew, and write the cache anew, where a file of the cache is damaged."""
    cache = getattr(dispatcher, "_cache", None)
    load = getattr(cache, "load_overload", None)

    def load_overload(*arguments):
        try:
            return load(*arguments)
        except Exception:  # whatever unpickling a damaged file raises
            cache.flush()
            return None

    if load is not None:
        cache.load_overload = load_overload
    return dispatcher


def scalars(dtype, *values):
    """The values as NumPy scalars of `dtype`: a loop over float32 then computes in float32."""
    return tuple(dtype.type(value) for value in values)


# -- lines of activation functions -----------------------------------------------------------------
# What stands between NumPy's exp, log1p and tanh, which are faster than any loop. Twins: the NumPy
# lines beside the calls in `secondorder.nets.activations`, which do the same for small, complex and
# scattered arrays.


@compiled
def minus_size(x, out):
    """out = -|x|"""
    for i in range(x.size):
        out[i] = -abs(x[i])


@compiled
def logistic(x, e, value, slope):
    """The logistic function and its derivative, from e = exp(-|x|)."""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for i in range(x.size):
        whole = e[i] + one
        value[i] = (e[i] if x[i] < zero else one) / whole
        slope[i] = e[i] / (whole * whole)


@compiled
def logistic_curvature(value, slope, curvature):
    """curvature = slope (1 - 2 value)"""
    one, minus_two = value.dtype.type(1), value.dtype.type(-2)
    for i in range(value.size):
        curvature[i] = (value[i] * minus_two + one) * slope[i]


@compiled
def add_part_above_zero(x, value):
    """value += max(x, 0)"""
    zero = x.dtype.type(0)
    for i in range(x.size):
        value[i] += x[i] if x[i] > zero else zero


@compiled
def tanh_derivatives(value, slope, curvature):
    """slope = sech^2 with sech = 2 e / (1 + e^2), from e = exp(-|x|) in slope's place;
    curvature = -2 value slope"""
    one, two, minus_two = value.dtype.type(1), value.dtype.type(2), value.dtype.type(-2)
    for i in range(value.size):
        e = slope[i]
        sech = two * e / (one + e * e)
        t = sech * sech
        slope[i] = t
        curvature[i] = value[i] * t * minus_two


@compiled
def leaky(x, below, value, slope):
    """value = x and slope = 1 where x > 0, else below x and below."""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    for i in range(x.size):
        t = one if x[i] > zero else below
        slope[i] = t
        value[i] = x[i] * t


# -- sums and extremes -----------------------------------------------------------------------------


def summing(function):
    """Compile a sum whose terms may be added in any order, as NumPy's own sums are."""
    return compiled(function, fastmath={"reassoc"})


@summing
def squares(v):
    """sum_i v_i^2, in float64, so that squares of float32 entries do not overflow."""
    total = 0.0
    for i in range(v.size):
        x = np.float64(v[i])
        total += x * x
    return total


@summing
def dot(a, b):
    """sum_i a_i b_i, in float64."""
    total = 0.0
    for i in range(a.size):
        total += np.float64(a[i]) * np.float64(b[i])
    return total


@compiled
def bits_of_extremes(v):
    """Bit patterns of the smallest and the largest |v_i|, as integers.

    Without the bit of the sign, the patterns of floating-point numbers are in the order of their
    sizes, inf and then NaN after all others; and integers are compared many at a time. `number`
    turns a pattern into the number again.
    """
    if v.itemsize == 4:
        short = v.view(np.int32)
        low, high = np.int32(0x7FFFFFFF), np.int32(0)
        for i in range(short.size):
            x = np.int32(short[i] & np.int32(0x7FFFFFFF))
            low, high = min(low, x), max(high, x)
        return np.int64(low), np.int64(high)
    wide = v.view(np.int64)
    least, most = np.int64(0x7FFFFFFFFFFFFFFF), np.int64(0)
    for i in range(wide.size):
        y = wide[i] & np.int64(0x7FFFFFFFFFFFFFFF)
        least, most = min(least, y), max(most, y)
    return least, most


NO_ENDS = np.array([np.iinfo(np.int64).max, 0])  # of no numbers at all


def number(bits, dtype):
    """The floating-point number of `dtype` with a bit pattern, as a float."""
    return float(np.array(bits, f"i{dtype.itemsize}").view(dtype))


def extremes(v):
    """Smallest and largest |v_i| of a flat vector, as floats. NumPy twin: `extremes_numpy`."""
    return tuple(number(bits, v.dtype) for bits in bits_of_extremes(v))


def extremes_numpy(v):
    """Twin of `extremes`."""
    return float(np.abs(v).min()), float(np.abs(v).max())


# -- updates of the methods that use gradients only ------------------------------------------------


@compiled
def sgd(gradient, direction):
    """direction = -gradient, both (P,). NumPy twin: `sgd_numpy`."""
    for i in range(gradient.size):
        direction[i] = -gradient[i]


def sgd_numpy(gradient, direction):
    """Twin of `sgd`."""
    direction[...] = -gradient


@compiled
def momentum(gradient, buffer, new_buffer, direction, factor, nesterov):
    """Momentum: `new_buffer` and `direction` (P,) from `gradient` and `buffer`.

    new_buffer = factor buffer + gradient; direction = -new_buffer, or with Nesterov's variant
    -(gradient + factor new_buffer) (`nesterov` not 0). NumPy twin: `momentum_numpy`.
    """
    for i in range(gradient.size):
        g = gradient[i]
        b = factor * buffer[i] + g
        new_buffer[i] = b
        direction[i] = -(g + factor * b) if nesterov != 0 else -b


def momentum_numpy(gradient, buffer, new_buffer, direction, factor, nesterov):
    """Twin of `momentum`."""
    new_buffer[...] = factor * buffer + gradient
    direction[...] = -(gradient + factor * new_buffer) if nesterov else -new_buffer


@compiled
def adagrad(gradient, total, new_total, direction, epsilon):
    """Adagrad: `new_total` and `direction` (P,) from `gradient` and `total`.

    new_total = total + gradient^2; direction = -gradient / (sqrt(new_total) + epsilon). NumPy twin:
    `adagrad_numpy`.
    """
    for i in range(gradient.size):
        g = gradient[i]
        t = total[i] + g * g
        new_total[i] = t
        direction[i] = -g / (np.sqrt(t) + epsilon)


def adagrad_numpy(gradient, total, new_total, direction, epsilon):
    """Twin of `adagrad`."""
    new_total[...] = total + gradient * gradient
    direction[...] = -gradient / (np.sqrt(new_total) + epsilon)


@compiled
def adadelta(gradient, square, change, new_square, new_change, direction, rho, rest, epsilon):
    """Adadelta: new running means and `direction` (P,) from `gradient` and the means so far; rest =
    1 - rho.

    `square` is the mean of gradient^2, `change` that of direction^2. NumPy twin: `adadelta_numpy`.
    """
    for i in range(gradient.size):
        g = gradient[i]
        s = rho * square[i] + rest * (g * g)
        d = -(np.sqrt(change[i] + epsilon) / np.sqrt(s + epsilon)) * g
        new_square[i] = s
        new_change[i] = rho * change[i] + rest * (d * d)
        direction[i] = d


def adadelta_numpy(gradient, square, change, new_square, new_change, direction, rho, rest, epsilon):
    """Twin of `adadelta`."""
    new_square[...] = rho * square + rest * (gradient * gradient)
    direction[...] = -(np.sqrt(change + epsilon) / np.sqrt(new_square + epsilon)) * gradient
    new_change[...] = rho * change + rest * (direction * direction)


@compiled
def adam(gradient, first, second, new_first, new_second, direction, beta1, rest1, beta2, rest2,
         scale1, scale2, epsilon):
    """Adam: new moments and `direction` (P,) from `gradient` and the moments so far; rest = 1 -
    beta.

    direction = -(scale1 first) / (scale2 sqrt(second) + epsilon); the scales correct the bias.
    NumPy twin: `adam_numpy`.
    """
    for i in range(gradient.size):
        g = gradient[i]
        m = beta1 * first[i] + rest1 * g
        v = beta2 * second[i] + rest2 * (g * g)
        new_first[i] = m
        new_second[i] = v
        direction[i] = -(scale1 * m) / (scale2 * np.sqrt(v) + epsilon)


def adam_numpy(gradient, first, second, new_first, new_second, direction, beta1, rest1, beta2,
               rest2, scale1, scale2, epsilon):
    """Twin of `adam`."""
    new_first[...] = beta1 * first + rest1 * gradient
    new_second[...] = beta2 * second + rest2 * (gradient * gradient)
    direction[...] = -(scale1 * new_first) / (scale2 * np.sqrt(new_second) + epsilon)


# -- whole steps -----------------------------------------------------------------------------------
# theta (P,) moves in place, and `backup` (P,) keeps what it was, so that a step that turns out not
# to be finite can be undone. `total` (P,) is the gradient of the sum of the losses; `backup` may be
# the same array, as each of its entries is read before it is written. What is
# reported goes to `sums` (3,) float64, |g|^2, |theta|^2 before the step and |d|^2, and to `peaks`
# (3,) int64, bit patterns of the largest |d|, |theta| after the step, and entry of the new memory.
# NumPy twin of each: `step_numpy` around the twin of the method's update.

BLOCK = 1024


@compiled
def objective_gradient(total, theta, samples, l2, gradient):
    """gradient = total / samples + l2 theta"""
    weight = total.dtype.type(1) / samples  # as a product: a division costs several
    for i in range(total.size):
        gradient[i] = total[i] * weight + l2 * theta[i]


@summing
def move(theta, backup, gradient, direction, memory, rate, sums, peaks):
    """theta += rate direction, for one block, and what is reported of it."""
    of_gradient = of_theta = of_direction = 0.0
    for i in range(theta.size):
        old = theta[i]
        g, t, d = np.float64(gradient[i]), np.float64(old), np.float64(direction[i])
        of_gradient += g * g
        of_theta += t * t
        of_direction += d * d
        backup[i] = old
        theta[i] = old + rate * direction[i]
    sums[0] += of_gradient
    sums[1] += of_theta
    sums[2] += of_direction
    peaks[0] = max(peaks[0], bits_of_extremes(direction)[1])
    peaks[1] = max(peaks[1], bits_of_extremes(theta)[1])
    peaks[2] = max(peaks[2], bits_of_extremes(memory)[1])


def step_numpy(direction_of, total, theta, samples, l2, rate):
    """What the passes below do, for a function from the gradient to the direction and the memory to
    look at.

    Returns the new parameters, `sums` and the three largest sizes.
    """
    gradient = total * (1 / samples) + l2 * theta
    direction, memory = direction_of(gradient)
    moved = theta + rate * direction
    sums = [np.sum(v.astype(np.float64) ** 2) for v in (gradient, theta, direction)]
    return moved, np.array(sums), [float(np.abs(v).max()) for v in (direction, moved, memory)]


@compiled
def sgd_step(total, theta, backup, samples, l2, rate, sums, peaks):
    """A step of gradient descent."""
    g, d = np.empty(BLOCK, total.dtype), np.empty(BLOCK, total.dtype)
    for start in range(0, total.size, BLOCK):
        stop = min(start + BLOCK, total.size)
        gradient, direction, at = g[:stop - start], d[:stop - start], theta[start:stop]
        objective_gradient(total[start:stop], at, samples, l2, gradient)
        sgd(gradient, direction)
        move(at, backup[start:stop], gradient, direction, direction, rate, sums, peaks)


@compiled
def momentum_step(total, theta, backup, samples, l2, rate, sums, peaks, buffer, new_buffer, factor,
                  nesterov):
    """A step of gradient descent with momentum."""
    g, d = np.empty(BLOCK, total.dtype), np.empty(BLOCK, total.dtype)
    for start in range(0, total.size, BLOCK):
        stop = min(start + BLOCK, total.size)
        gradient, direction, at = g[:stop - start], d[:stop - start], theta[start:stop]
        new = new_buffer[start:stop]
        objective_gradient(total[start:stop], at, samples, l2, gradient)
        momentum(gradient, buffer[start:stop], new, direction, factor, nesterov)
        move(at, backup[start:stop], gradient, direction, new, rate, sums, peaks)


@compiled
def adagrad_step(total, theta, backup, samples, l2, rate, sums, peaks, square, new_square, epsilon):
    """A step of Adagrad."""
    g, d = np.empty(BLOCK, total.dtype), np.empty(BLOCK, total.dtype)
    for start in range(0, total.size, BLOCK):
        stop = min(start + BLOCK, total.size)
        gradient, direction, at = g[:stop - start], d[:stop - start], theta[start:stop]
        new = new_square[start:stop]
        objective_gradient(total[start:stop], at, samples, l2, gradient)
        adagrad(gradient, square[start:stop], new, direction, epsilon)
        move(at, backup[start:stop], gradient, direction, new, rate, sums, peaks)


@compiled
def adadelta_step(total, theta, backup, samples, l2, rate, sums, peaks, square, change, new_square,
                  new_change, rho, rest, epsilon):
    """A step of Adadelta."""
    g, d = np.empty(BLOCK, total.dtype), np.empty(BLOCK, total.dtype)
    for start in range(0, total.size, BLOCK):
        stop = min(start + BLOCK, total.size)
        gradient, direction, at = g[:stop - start], d[:stop - start], theta[start:stop]
        new = new_square[start:stop]
        objective_gradient(total[start:stop], at, samples, l2, gradient)
        adadelta(gradient, square[start:stop], change[start:stop], new, new_change[start:stop],
                 direction, rho, rest, epsilon)
        move(at, backup[start:stop], gradient, direction, new, rate, sums, peaks)


@compiled
def adam_step(total, theta, backup, samples, l2, rate, sums, peaks, first, second, new_first,
              new_second, beta1, rest1, beta2, rest2, scale1, scale2, epsilon):
    """A step of Adam."""
    g, d = np.empty(BLOCK, total.dtype), np.empty(BLOCK, total.dtype)
    for start in range(0, total.size, BLOCK):
        stop = min(start + BLOCK, total.size)
        gradient, direction, at = g[:stop - start], d[:stop - start], theta[start:stop]
        new = new_second[start:stop]
        objective_gradient(total[start:stop], at, samples, l2, gradient)
        adam(gradient, first[start:stop], second[start:stop], new_first[start:stop], new, direction,
             beta1, rest1, beta2, rest2, scale1, scale2, epsilon)
        move(at, backup[start:stop], gradient, direction, new, rate, sums, peaks)


# -- residual partitioning -------------------------------------------------------------------------


@compiled
def partition_activation(g, Z, slope, curvature, u, clip, Z_below):
    """Carry Z of residual partitioning through a curved activation; all flat (n,), the last one
    changed in place.

    Z_below = | |slope| Z + g curvature u |, or the part above zero if `clip`. NumPy twin:
    `partition_activation_numpy`.
    """
    zero = g.dtype.type(0)
    for i in range(g.size):
        z = abs(slope[i]) * Z[i] + g[i] * curvature[i] * u[i]
        if z < zero:
            z = zero if clip else -z
        Z_below[i] = z


def partition_activation_numpy(g, Z, slope, curvature, u, clip, Z_below):
    """Twin of `partition_activation`."""
    z = np.abs(slope) * Z + g * curvature * u
    Z_below[...] = np.maximum(z, 0) if clip else np.abs(z)


@compiled
def partition(gradient, curvature_sum, curvature, direction, samples, damping, shrink):
    """Residual partitioning: `curvature` of the data, and `direction`, all (P,), from the curvature
    summed over samples.

    curvature = curvature_sum / samples; direction = -gradient / (curvature + damping + shrink), or
    0 where curvature + damping is 0: the bound says nothing about such a parameter. NumPy twin:
    `partition_numpy`.
    """
    zero = gradient.dtype.type(0)
    weight = gradient.dtype.type(1) / samples
    for i in range(gradient.size):
        c = curvature_sum[i] * weight
        curvature[i] = c
        c = c + damping
        q = -gradient[i] / (c + shrink)
        direction[i] = q if c > zero else zero


def partition_numpy(gradient, curvature_sum, curvature, direction, samples, damping, shrink):
    """Twin of `partition`."""
    curvature[...] = curvature_sum * (1 / samples)
    damped = curvature + damping
    with np.errstate(divide="ignore", invalid="ignore"):
        direction[...] = np.where(damped > 0, -gradient / (damped + shrink), 0)


@compiled
def partition_step(total, theta, backup, samples, l2, rate, sums, peaks, curvature_sum, damping,
                   shrink, reports, ends):
    """A step of residual partitioning; `reports` (3,) float64 and `ends` (2,) int64 as
    `partition_reports` has them."""
    g, c = np.empty(BLOCK, total.dtype), np.empty(BLOCK, total.dtype)
    d = np.empty(BLOCK, total.dtype)
    for start in range(0, total.size, BLOCK):
        stop = min(start + BLOCK, total.size)
        gradient, curvature, direction = g[:stop - start], c[:stop - start], d[:stop - start]
        at = theta[start:stop]
        objective_gradient(total[start:stop], at, samples, l2, gradient)
        partition(gradient, curvature_sum[start:stop], curvature, direction, samples, damping,
                  shrink)
        partition_reports(gradient, curvature, direction, damping, reports, ends)
        move(at, backup[start:stop], gradient, direction, curvature[:0], rate, sums, peaks)
    peaks[2] = ends[1]


@summing
def partition_reports(gradient, curvature, direction, damping, reports, ends):
    """Add to `reports` sum g d, sum curvature d^2 and the number of parameters without curvature
    (damping included).

    `ends` holds the bit patterns of the smallest and the largest curvature so far; it starts as
    `NO_ENDS`.
    """
    slope = bend = 0.0
    for i in range(gradient.size):
        d = np.float64(direction[i])
        slope += np.float64(gradient[i]) * d
        bend += np.float64(curvature[i]) * (d * d)
    reports[0] += slope
    reports[1] += bend
    low, high = bits_of_extremes(curvature)
    if low == 0:
        zero = curvature.dtype.type(0)
        for i in range(curvature.size):
            reports[2] += curvature[i] + damping == zero
    ends[0], ends[1] = min(ends[0], low), max(ends[1], high)
