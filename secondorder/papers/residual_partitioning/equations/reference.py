"""What the checks compare with: sums index by index, without the room's code."""

import functools
from typing import NamedTuple

import numpy as np
from scipy import optimize

from ....nets import Activation, Skip


def ratio(a, b):
    """a / b, and 0 where b is 0."""
    a, b = np.broadcast_arrays(a, b)
    return np.where(b == 0, 0.0, a / np.where(b == 0, 1.0, b))


def with_first(value, x):
    """x (S, m) with a column of `value` in front, (S, 1 + m)."""
    return np.hstack([np.full((len(x), 1), value, x.dtype), x])


# -- one affine layer, y (S, k) with 1 for the bias in column 0 ------------------------------------

def own_inputs(layer, x):
    """y of a layer at inputs x (S, in); none, k = 0, where it is not trained."""
    if not layer.trainable:
        return x[:, :0]
    return x if layer.bias is None else with_first(1, x)


def parts(y, w, dw, dy):
    """The parts of the first-order change of every output, (S, out, k + in): dw_ij y_sj, then
    w_ij dy_sj.
    """
    k = y.shape[1]
    change = np.zeros((len(y), len(w), k + w.shape[1]))
    for s, i, j in np.ndindex(change.shape):
        change[s, i, j] = dw[i, j] * y[s, j] if j < k else w[i, j - k] * dy[s, j - k]
    return change


def terms(y, w, u):
    """The numbers that share a simplex: parts if weights change by one and inputs by u."""
    return parts(y, w, np.ones((len(w), y.shape[1])), u)


def squares(x, p):
    """sum_j x_sij^2 / p_sij, (S, out), over the terms that are not zero."""
    total = np.zeros(x.shape[:2])
    for s, i, j in np.ndindex(x.shape):
        if x[s, i, j] != 0:
            total[s, i] += x[s, i, j] ** 2 / p[s, i, j]
    return total


def shares(x):
    """|x_ij| / sum_j' |x_ij'| over the last axis, and 0 where all are zero."""
    if x.ndim == 1:
        total = sum(map(abs, x))
        return np.array([abs(v) / total if total else 0.0 for v in x])
    return np.array([shares(row) for row in x])


def quadratics(a, dw, dy, W_dot, W_ddot, Y_dot, Y_ddot):
    """Both sides of (8) at changes dw, dy, each as its linear and its quadratic part: (2, 2)."""
    change = parts(a.y, a.w, dw, dy).sum(axis=2)
    return np.array([[np.sum(a.Y_dot * change), np.sum(a.Y_ddot * change**2) / 2],
                     [np.sum(W_dot * dw) + np.sum(Y_dot * dy),
                      (np.sum(W_ddot * dw**2) + np.sum(Y_ddot * dy**2)) / 2]])


def affine_coefficients(a):
    """W_dot, W_ddot, Y_dot, Y_ddot as differences of the right side of (8), with (7) in it.

    The function is a sum of univariate quadratics, for which differences of any width are exact.
    """
    def pieces(step):
        return step[:a.dw.size].reshape(a.dw.shape), step[a.dw.size:].reshape(a.dy.shape)

    def right_side(step):
        dw, dy = pieces(step)
        x = parts(a.y, a.w, dw, dy * (a.u > 0))  # what cannot move does not
        return np.sum(a.Y_dot * x.sum(axis=2) + a.Y_ddot * squares(x, a.p) / 2)

    units = np.eye(a.dw.size + a.dy.size)
    up, down = (np.array([right_side(sign * e) for e in units]) for sign in (1, -1))
    (W_dot, Y_dot), (W_ddot, Y_ddot) = pieces((up - down) / 2), pieces(up + down)
    return W_dot, W_ddot, Y_dot, Y_ddot


# -- a network: every affine layer as a matrix with shared entries ---------------------------------
# An affine layer is y_n = sum_m A_nm x_m for flat x and y, with x_0 = 1 for the bias. Every entry
# of A that can change is one parameter, sum_k E_nmk w_k with E 0 or 1. Fractions are those of a
# fully connected layer, one for every (n, m).

class Step(NamedTuple):
    """One layer on the way up: flat inputs x (S, m), their Jacobian J (S, m, P) in theta, u before
    and after, the place of its parameters; an affine layer's A (out, 1 + in) and E (out, 1 + in,
    parameters); and the steps inside a skip connection.
    """

    layer: object
    x: np.ndarray
    J: np.ndarray
    u: np.ndarray
    u_out: np.ndarray
    where: slice
    A: np.ndarray
    E: np.ndarray
    inner: list


@functools.lru_cache(maxsize=64)
def walk(at):
    """The steps through the network of an evaluation, and the Jacobian of its outputs (S, C, P)."""
    x = at.x.reshape(at.samples, -1)
    return upwards(at.network.layers, at.saved, np.zeros_like(x),
                   np.zeros((*x.shape, at.network.size)))[::2]


def upwards(layers, saved, u, J, start=0):
    """The steps through `layers`, then u and J at the end and the next place in theta."""
    steps = []
    for layer, own_saved in zip(layers, saved):
        x, below, A, E, inner = own_saved.input.reshape(len(u), -1), (J, u), None, None, []
        where = slice(start, start + layer.size)
        if isinstance(layer, Skip):
            inner, u, J, _ = upwards(layer.layers, own_saved.inner, u, J, start)
            J, u = below[0] + J, below[1] + u
        elif isinstance(layer, Activation):
            slope = layer.function.slope(x)
            u, J = np.abs(slope) * u, slope[:, :, None] * J
        else:
            A, E = matrix_of(layer, own_saved.input.shape[1:])
            u = u @ np.abs(A[:, 1:]).T + np.abs(with_first(1, x)) @ (E.sum(axis=2) > 0).T
            J = np.einsum("nm,smp->snp", A[:, 1:], J)
            J[:, :, where] += np.einsum("nmk,sm->snk", E, with_first(1, x))
        steps.append(Step(layer, x, *below, u, where, A, E, inner))
        start += layer.size
    return steps, u, J, start


def matrix_of(layer, x_shape):
    """A and E of a layer, from its outputs at unit inputs and unit parameters."""
    units, layer = np.eye(int(np.prod(x_shape))).reshape(-1, *x_shape), layer.copy()

    def matrix():
        constant, *columns = layer.forward(np.concatenate([0 * units[:1], units]))[0]
        return np.stack([constant, *(column - constant for column in columns)]).reshape(
            1 + len(units), -1).T

    A, E = matrix(), []
    for unit in np.eye(layer.size):
        for name, piece in zip(layer.parameters, layer.split(unit)):
            layer.assign(name, piece)
        E.append(matrix())
    return A, np.array(E).reshape(-1, *A.shape).transpose(1, 2, 0)


# -- a chain of layers -----------------------------------------------------------------------------

def total_gradients(at):
    """u of Eq. (11) at the inputs of all layers and, last, at the outputs."""
    steps, _ = walk(at)
    return [step.u for step in steps] + [steps[-1].u_out]


def own_sum(at, explicit, k):
    """sum_ij W_ddot_ij of the affine layer at place k, from Eq. (9), bias included."""
    layer, x = at.network.layers[k], at.saved[k].input
    own = terms(own_inputs(layer, x), layer.weight, np.zeros_like(x))
    p = np.concatenate(explicit.partitions[k], axis=2)
    return float(np.sum(explicit.Y_ddot[k + 1] * squares(own, p)))


def sum_up_to(at, explicit, below):
    """Sum of all second coefficients of the parameters of the first `below` layers."""
    return float(explicit.curvature[: at.network.slices[below - 1].stop].sum())


def weighted(at, built, below):
    """sum_si Y_ddot_si u_si^2 after the first `below` layers."""
    return float(np.sum(built.Y_ddot[below] * total_gradients(at)[below] ** 2))


class Reading(NamedTuple):
    """How the lines of Algorithm 1 are read; the defaults are the corrected algorithm."""

    carried: str = "Z"      # or "Y_ddot": what the backward lines hand down
    root: str = "separate"  # or "nested": the first root spans the sum over i'
    absolute: str = "all"   # or "square": |.| spans the first factor only, and is squared
    start: str = "jensen"   # or "diagonal": f_ii u, where the loss's Hessian is diagonal
    way: str = "abs"        # or "max": the part above zero in the place of |.|
    cross: bool = False     # or True: the products that (4) drops are bounded, too


def start_of(at, u, reading=Reading()):
    """The first backward line of Algorithm 1: Z at the outputs, (S, C)."""
    f = np.array([np.diag(F) for F in at.loss_function.hessian(at.outputs, at.y)])
    Z = np.zeros_like(f)
    for s, i in np.ndindex(f.shape):
        if reading.start == "diagonal":
            Z[s, i] = abs(f[s, i]) * u[s, i]
            continue
        inner = sum(u[s, k] * np.sqrt(f[s, k]) for k in range(f.shape[1]))
        nested = reading.root == "nested"
        Z[s, i] = np.sqrt(f[s, i] * inner) if nested else np.sqrt(f[s, i]) * inner
    return Z


def algorithm(at, reading=Reading()):
    """W_dot and W_ddot (P,) of Algorithm 1, one index at a time."""
    coefficients = np.zeros((2, at.network.size))
    activations_below(at, coefficients, reading)
    return tuple(coefficients / at.samples)


def activations_below(at, coefficients, reading):
    """(step, Y_dot above, carried above, carried below) of all activations on the way down; what
    the parameters get is added to `coefficients` (2, P).
    """
    (steps, _), met = walk(at), []
    carried = start_of(at, steps[-1].u_out, reading)
    if reading.carried == "Y_ddot":
        carried = ratio(carried, steps[-1].u_out)
    downwards(steps, at.loss_function.gradient(at.outputs, at.y), carried, reading, coefficients,
              met)
    return met


def downwards(steps, Y_dot, carried, reading, coefficients, met):
    """The backward lines of Algorithm 1; both ways through a skip connection add up."""
    for step in reversed(steps):
        if step.inner:
            around = downwards(step.inner, Y_dot, carried, reading, coefficients, met)
            Y_dot, carried = Y_dot + around[0], carried + around[1]
            continue
        if isinstance(step.layer, Activation):
            below_dot, below = through_activation(step, Y_dot, carried, reading)
            met.append((step, Y_dot, carried, below))
            Y_dot, carried = below_dot, below
            continue
        scaled = carried if reading.carried == "Z" else carried * step.u_out
        g = np.abs(Y_dot) * (reading.cross and step.layer.trainable)
        x, u, W = with_first(1, step.x), with_first(0, step.u), coefficients[:, step.where]
        below_dot, below = np.zeros((2, *x.shape))
        for s, n, m in np.ndindex(len(x), *step.A.shape):
            W[0] += step.E[n, m] * Y_dot[s, n] * x[s, m]
            W[1] += step.E[n, m] * (scaled[s, n] * abs(x[s, m]) + g[s, n] * u[s, m])
            below_dot[s, m] += Y_dot[s, n] * step.A[n, m]
            below[s, m] += scaled[s, n] * abs(step.A[n, m]) + g[s, n]
        Y_dot, carried = below_dot[:, 1:], below[:, 1:]
    return Y_dot, carried


def through_activation(step, Y_dot, carried, reading):
    """The two backward lines of Algorithm 1 for an activation layer."""
    below_dot, below = np.zeros_like(step.x), np.zeros_like(step.x)
    for s, j in np.ndindex(step.x.shape):
        slope, u = step.layer.function.slope(step.x[s, j]), step.u[s, j]
        second_order = Y_dot[s, j] * step.layer.function.curvature(step.x[s, j])
        below_dot[s, j] = Y_dot[s, j] * slope
        if reading.carried == "Y_ddot":
            below[s, j] = abs(carried[s, j] * slope**2 + second_order)
        elif reading.absolute == "all":
            Z = abs(slope) * carried[s, j] + second_order * u
            below[s, j] = abs(Z) if reading.way == "abs" else max(Z, 0.0)
        else:
            Y_ddot = carried[s, j] / (abs(slope) * u) if u else 0.0
            below[s, j] = (abs(Y_ddot * slope) ** 2 + second_order) * u
    return below_dot, below


def sum_of_coefficients(at, reading):
    """The sum of all W_ddot: Z u at the outputs, and what each activation adds to it."""
    u, none = total_gradients(at)[-1], np.zeros((2, at.network.size))
    added = [(below - np.abs(step.layer.function.slope(step.x)) * above) * step.u
             for step, _, above, below in activations_below(at, none, reading)]
    return (np.sum(start_of(at, u, reading) * u) + sum(map(np.sum, added))) / at.samples


def bounded_hessian(at):
    """Hessian (P, P) of what is bounded: Gauss-Newton, and every activation's own bend."""
    J, none = walk(at)[1], np.zeros((2, at.network.size))
    H = np.einsum("sip,sij,sjq->pq", J, at.loss_function.hessian(at.outputs, at.y), J)
    for step, Y_dot, _, _ in activations_below(at, none, Reading()):
        bent = Y_dot * step.layer.function.curvature(step.x)
        H += np.einsum("smp,sm,smq->pq", step.J, bent, step.J)
    return H / at.samples


# -- the model that is bounded ---------------------------------------------------------------------

class Change(NamedTuple):
    """First- and second-order change of a layer's input (S, m): dY is about first + second / 2."""

    first: np.ndarray
    second: np.ndarray


def changes(at, delta, products=False):
    """Changes of all layers' inputs and, last, of the outputs, at a step `delta` (P,).

    Activations are taken to second order. With ``products=False`` a change of weight times a change
    of activation is left out, as in Eq. (4); with True it is kept.
    """
    steps, J = walk(at)
    second = [np.zeros_like(steps[0].x)]
    first = [J @ delta for J in (*(step.J for step in steps), J)]
    for step, moved in zip(steps, first):
        if isinstance(step.layer, Activation):
            f = step.layer.function
            second.append(f.slope(step.x) * second[-1] + f.curvature(step.x) * moved**2)
        else:
            dA = (step.E @ delta[step.where])[:, 1:]
            second.append(second[-1] @ step.A[:, 1:].T + (2 * moved @ dA.T if products else 0))
    return list(map(Change, first, second))


def model(at, delta, products=False):
    """The second-order model at a step `delta` (P,): without the products of (4), or true."""
    first, second = changes(at, delta, products)[-1]
    p, y, loss = at.outputs, at.y, at.loss_function
    linear = np.sum(loss.gradient(p, y) * (first + second / 2), axis=1)
    square = np.einsum("si,sij,sj->s", first, loss.hessian(p, y), first)
    return float(np.mean(loss.value(p, y) + linear + square / 2))


def outputs(at, delta):
    """Outputs (S, C) at a step `delta` (P,), without the layers' own passes."""
    x = at.x
    for step in walk(at)[0]:
        x = (step.layer.function.value(x) if isinstance(step.layer, Activation)
             else with_first(1, x) @ (step.A + step.E @ delta[step.where]).T)
    return x


def losses(name, p, y):
    """Losses (S,) from their formulas, a sum over outputs; complex p are allowed."""
    if name == "squared":
        return sum((p[:, i] - y[:, i]) ** 2 for i in range(p.shape[1])) / 2
    right = p[np.arange(len(p)), np.argmax(y, axis=1)]
    return np.log(sum(np.exp(p[:, i] - right) for i in range(p.shape[1])))


def least_eigenvalue(curvature, H):
    """Least eigenvalue of diag(curvature) - H: not negative if the bound holds everywhere."""
    return float(np.linalg.eigvalsh(np.diag(curvature) - H)[0])


# -- least sums, with no formula of the paper for them ---------------------------------------------

def minimise_over_fractions(objective, occupied, rng, starts=2):
    """Least value of a function of fractions, by L-BFGS over their logits, and where it is.

    In each array p the last axis is a simplex; fractions are zero where the mask of `occupied` is
    False. `objective` takes a list of arrays p with one axis more in front, the directions of the
    complex step that its derivative comes from, and returns a value for each.
    """
    ends = np.cumsum([mask.sum() for mask in occupied])

    def fractions(eta):
        return [softmax_over(mask, piece)
                for mask, piece in zip(occupied, np.split(eta, ends[:-1], axis=-1))]

    def value_and_derivative(eta):
        values = objective(fractions(eta + 1e-30j * np.eye(eta.size)))
        return values[0].real, values.imag / 1e-30

    runs = [optimize.minimize(value_and_derivative, rng.normal(size=ends[-1]), jac=True,
                              method="L-BFGS-B",
                              options={"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-12})
            for _ in range(starts)]
    best = min(runs, key=lambda run: run.fun)
    return float(best.fun), fractions(best.x)


def softmax_over(mask, logits):
    """Fractions with the softmax of `logits` where the mask is True, and 0 elsewhere."""
    spread = np.full((*logits.shape[:-1], *mask.shape), -np.inf, dtype=logits.dtype)
    spread[..., mask] = logits
    spread -= spread.real.max(axis=-1, keepdims=True)
    # a long trial step must not overflow 1 / p^2
    e = np.where(mask, np.exp(np.maximum(spread, -60.0)), 0.0)
    return e / e.sum(axis=-1, keepdims=True)


def weighted_squares(weights, x):
    """The objective sum_si weights_si sum_j x_sij^2 / p_sij."""
    def objective(p):
        terms = weights[..., None] * ratio(x**2, p[0])
        return terms.reshape(len(terms), -1).sum(axis=1)
    return objective


def sum_of_curvatures(at, negative_curvature="abs"):
    """The sum of all W_ddot as an objective, and where its fractions may be positive.

    The fractions are an array (S, out, k + in) for every affine layer, bottom to top, then (S, C)
    for the loss.
    """
    f_ii, (steps, _) = at.loss_function.hessian_diagonal(at.outputs, at.y) / at.samples, walk(at)
    affine = [step for step in steps if not isinstance(step.layer, Activation)]

    def terms_of(step, u):
        return terms(own_inputs(step.layer, step.x), step.layer.weight, u)

    squares_of = [terms_of(step, np.ones_like(step.u)) ** 2 for step in affine]
    bends = [(f.slope(step.x) ** 2, Y_dot / at.samples * f.curvature(step.x))
             if (f := getattr(step.layer, "function", None)) else None
             for step, Y_dot in zip(steps, at.deltas)]

    def objective(p):
        Y, total, left = ratio(f_ii, p[-1]), 0.0, list(zip(squares_of, p))
        for step, bend in reversed(list(zip(steps, bends))):
            if bend:
                Y = Y * bend[0] + bend[1]
                Y = Y * (Y.real > 0 if negative_curvature == "max" else np.sign(Y.real))
            else:
                parts = Y[..., None] * ratio(*left.pop())
                k_own = parts.shape[-1] - step.x.shape[1]
                total = total + parts[..., :k_own].sum(axis=(1, 2, 3))
                Y = parts[..., k_own:].sum(axis=2)
        return total

    occupied = [terms_of(step, step.u) != 0 for step in affine]
    return objective, [*occupied, steps[-1].u_out * f_ii > 0]
