"""What the checks compare with: the paper's sums index by index, without the room's code."""

from typing import NamedTuple

import numpy as np
from scipy import optimize

from ....nets import Activation, Skip

# -- one affine layer ------------------------------------------------------------------------------
# y (S, k) are the inputs that meet weights, with 1 for the bias in column 0

def own_inputs(layer, x):
    """y of a layer at inputs x (S, in); none, k = 0, where it is not trained."""
    ones = np.ones((len(x), int(layer.bias is not None)), x.dtype)
    return np.hstack([ones, x]) if layer.trainable else x[:, :0]


def weights_with_bias(layer):
    """w_ij, (out, 1 + in), with the bias, or 0 without one, at j = 0."""
    bias = np.zeros(layer.out_features) if layer.bias is None else layer.bias
    return np.hstack([bias[:, None], layer.weight])


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
    """|x_sij| / sum_j' |x_sij'|, and 0 where all are zero."""
    fractions = np.zeros(x.shape)
    for s, i, j in np.ndindex(x.shape):
        fractions[s, i, j] = abs(x[s, i, j]) / (sum(abs(t) for t in x[s, i]) or 1.0)
    return fractions


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
    p = np.concatenate([a.eps, a.phi], axis=2)

    def pieces(step):
        return step[:a.dw.size].reshape(a.dw.shape), step[a.dw.size:].reshape(a.dy.shape)

    def right_side(step):
        dw, dy = pieces(step)
        x = parts(a.y, a.w, dw, dy * (a.u > 0))  # what cannot move does not
        return np.sum(a.Y_dot * x.sum(axis=2) + a.Y_ddot * squares(x, p) / 2)

    units = np.eye(a.dw.size + a.dy.size)
    up, down = (np.array([right_side(sign * e) for e in units]) for sign in (1, -1))
    (W_dot, Y_dot), (W_ddot, Y_ddot) = pieces((up - down) / 2), pieces(up + down)
    return W_dot, W_ddot, Y_dot, Y_ddot


# -- a chain of layers -----------------------------------------------------------------------------

def total_gradients(at):
    """u of Eq. (11) at the inputs of all layers and, last, at the outputs."""
    u = [np.zeros_like(at.x)]
    for layer, saved in zip(at.network.layers, at.saved):
        if isinstance(layer, Activation):
            u.append(np.abs(layer.function.slope(saved.input)) * u[-1])
        else:
            y = own_inputs(layer, saved.input)
            u.append(np.abs(terms(y, layer.weight, u[-1])).sum(axis=2))
    return u


def own_sum(at, explicit, k):
    """sum_ij W_ddot_ij of the affine layer at place k, from Eq. (9), bias included."""
    layer, x = at.network.layers[k], at.saved[k].input
    x = terms(own_inputs(layer, x), layer.weight, np.zeros_like(x))
    p = np.concatenate(explicit.partitions[k], axis=2)
    return float(np.sum(explicit.Y_ddot[k + 1] * squares(x, p)))


def sum_up_to(at, explicit, below):
    """Sum of all second coefficients of the parameters of the first `below` layers."""
    return float(explicit.curvature[: at.network.slices[below - 1].stop].sum())


def weighted(at, built, below):
    """sum_si Y_ddot_si u_si^2 after the first `below` layers."""
    return float(np.sum(built.Y_ddot[below] * total_gradients(at)[below] ** 2))


def constant(at, below):
    """The constant of (25): Y_dot sigma'' u^2, over activations among the first `below` layers."""
    u, total = total_gradients(at), 0.0
    for k, layer in enumerate(at.network.layers[:below]):
        if isinstance(layer, Activation):
            curvature, Y_dot = layer.function.curvature(at.saved[k].input), at.deltas[k]
            total += np.sum(Y_dot * curvature * u[k] ** 2) / at.samples
    return total


class Reading(NamedTuple):
    """How the lines of Algorithm 1 are read; the defaults are the corrected algorithm."""

    carried: str = "Z"      # or "Y_ddot": what the backward lines hand down
    root: str = "separate"  # or "nested": the first root spans the sum over i'
    absolute: str = "all"   # or "square": |.| spans the first factor only, and is squared
    start: str = "jensen"   # or "diagonal": f_ii u, where the loss's Hessian is diagonal
    way: str = "abs"        # or "max": the part above zero in the place of |.|
    cross: bool = False     # or True: the products that (4) drops are bounded, too


def start_of(at, u, reading):
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
    net, S, u = at.network, at.samples, total_gradients(at)
    Y_dot, carried = at.loss_function.gradient(at.outputs, at.y), start_of(at, u[-1], reading)
    if reading.carried == "Y_ddot":
        carried = np.where(u[-1] > 0, carried / np.where(u[-1] > 0, u[-1], 1.0), 0.0)
    pieces = []
    for k in reversed(range(len(net.layers))):
        layer, y = net.layers[k], at.saved[k].input
        if isinstance(layer, Activation):
            Y_dot, carried = through_activation(layer, y, u[k], Y_dot, carried, reading)
            continue
        scaled = carried if reading.carried == "Z" else carried * u[k + 1]
        g = np.abs(Y_dot) * (reading.cross and layer.trainable)
        W_dot, W_ddot = np.zeros((2, *layer.weight.shape))
        below_dot, below = np.zeros((2, *y.shape))
        for s, i, j in np.ndindex(*scaled.shape, y.shape[1]):
            W_dot[i, j] += Y_dot[s, i] * y[s, j] / S
            W_ddot[i, j] += (scaled[s, i] * abs(y[s, j]) + g[s, i] * u[k][s, j]) / S
            below_dot[s, j] += Y_dot[s, i] * layer.weight[i, j]
            below[s, j] += scaled[s, i] * abs(layer.weight[i, j]) + g[s, i]
        if layer.trainable:
            biases = [[] if layer.bias is None else a.sum(axis=0) / S for a in (Y_dot, scaled)]
            pieces.insert(0,
                          [np.concatenate([W.ravel(), b]) for W, b in zip((W_dot, W_ddot), biases)])
        Y_dot, carried = below_dot, below
    return tuple(np.concatenate(arrays) for arrays in zip(*pieces))


def through_activation(layer, y, u, Y_dot, carried, reading):
    """The two backward lines of Algorithm 1 for an activation layer."""
    below_dot, below = np.zeros_like(y), np.zeros_like(y)
    for s, j in np.ndindex(y.shape):
        slope = layer.function.slope(y[s, j])
        second_order = Y_dot[s, j] * layer.function.curvature(y[s, j])
        below_dot[s, j] = Y_dot[s, j] * slope
        if reading.carried == "Y_ddot":
            below[s, j] = abs(carried[s, j] * slope**2 + second_order)
        elif reading.absolute == "all":
            Z = abs(slope) * carried[s, j] + second_order * u[s, j]
            below[s, j] = abs(Z) if reading.way == "abs" else max(Z, 0.0)
        else:
            Y_ddot = carried[s, j] / (abs(slope) * u[s, j]) if u[s, j] else 0.0
            below[s, j] = (abs(Y_ddot * slope) ** 2 + second_order) * u[s, j]
    return below_dot, below


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
    along = [Change(np.zeros_like(at.x), np.zeros_like(at.x))]
    for layer, where, saved in zip(at.network.layers, at.network.slices, at.saved):
        along.append(change_of_layer(layer, saved.input, along[-1], delta[where], products))
    return along


def change_of_layer(layer, y, change, delta, products=False):
    """Change of the output of one affine or activation layer."""
    first, second = change
    if isinstance(layer, Activation):
        slope, curvature = layer.function.slope(y), layer.function.curvature(y)
        return Change(slope * first, slope * second + curvature * first**2)
    dW, db = weights_and_biases(layer, delta)
    twice = 2 * first @ dW.T if products else 0
    return Change(first @ layer.weight.T + y @ dW.T + db, second @ layer.weight.T + twice)


def weights_and_biases(layer, delta):
    """A layer's piece of a flat step as (out, in) and (out,); zeros where the layer has none."""
    out, width = layer.weight.shape
    if not layer.trainable:
        return np.zeros((out, width)), np.zeros(out)
    weights, rest = delta[:out * width].reshape(out, width), delta[out * width:]
    return weights, rest if layer.bias is not None else np.zeros(out)


def model(at, delta, products=False):
    """The second-order model at a step `delta` (P,): without the products of (4), or true."""
    first, second = changes(at, delta, products)[-1]
    p, y, loss = at.outputs, at.y, at.loss_function
    linear = np.sum(loss.gradient(p, y) * (first + second / 2), axis=1)
    square = np.einsum("si,sij,sj->s", first, loss.hessian(p, y), first)
    return float(np.mean(loss.value(p, y) + linear + square / 2))


def outputs(net, x, delta):
    """Outputs (S, C) at a step `delta` (P,), without the layers' own passes."""
    for layer, where in zip(net.layers, net.slices):
        if isinstance(layer, Activation):
            x = layer.function.value(x)
        else:
            dW, db = weights_and_biases(layer, delta[where])
            x = x @ (layer.weight + dW).T + db + (0 if layer.bias is None else layer.bias)
    return x


def derivative_along_ones(at):
    """Derivative of the outputs when all parameters grow alike, by the complex step."""
    net, h = at.network.astype("complex128"), 1e-30
    net.theta = net.theta + 1j * h
    return net(at.x).imag / h


def losses(name, p, y):
    """Losses (S,) from their formulas, a sum over outputs; complex p are allowed."""
    if name == "squared":
        return sum((p[:, i] - y[:, i]) ** 2 for i in range(p.shape[1])) / 2
    right = p[np.arange(len(p)), np.argmax(y, axis=1)]
    return np.log(sum(np.exp(p[:, i] - right) for i in range(p.shape[1])))


def least_eigenvalue(curvature, H):
    """Least eigenvalue of diag(curvature) - H: not negative if the bound holds everywhere."""
    return float(np.linalg.eigvalsh(np.diag(curvature) - H)[0])


# -- every layer as a matrix with shared entries ---------------------------------------------------
# An affine layer is y_n = sum_m A_nm x_m for flat x and y, with x_0 = 1 for the bias. Every entry
# of A that can change is one parameter, sum_k E_nmk w_k with E 0 or 1. Fractions are those of a
# fully connected layer, one for every (n, m).

def matrix_of(layer, x_shape):
    """A (out, 1 + in) and E (out, 1 + in, parameters) of a layer, from its outputs at unit inputs
    and unit parameters.
    """
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


def ratio(a, b):
    """a / b, and 0 where b is 0."""
    a, b = np.broadcast_arrays(a, b)
    return np.where(b == 0, 0.0, a / np.where(b == 0, 1.0, b))


def with_one(x):
    """Flat inputs with x_0 = 1 in front, (S, 1 + in)."""
    return np.hstack([np.ones_like(x[:, :1]), x])


class Up(NamedTuple):
    """One layer on the way up: flat input x, u before and after, the Jacobian of x in theta
    (S, m, P), where the layer's parameters stand; `inner` are the steps inside a skip connection,
    A and E those of an affine layer.
    """

    layer: object
    x: np.ndarray
    u: np.ndarray
    u_out: np.ndarray
    J: np.ndarray
    where: slice
    inner: list
    A: np.ndarray
    E: np.ndarray


def upwards(layers, saved, u, J, start=0):
    """The steps through `layers`, then u and J at the end and the next place in theta."""
    steps = []
    for layer, own_saved in zip(layers, saved):
        x, here, inner, A, E = own_saved.input.reshape(len(u), -1), (u, J), [], None, None
        where = slice(start, start + layer.size)
        if isinstance(layer, Skip):
            inner, u, J, _ = upwards(layer.layers, own_saved.inner, u, J, start)
            u, J = here[0] + u, here[1] + J
        elif isinstance(layer, Activation):
            slope = layer.function.slope(x)
            u, J = np.abs(slope) * u, slope[:, :, None] * J
        else:
            A, E = matrix_of(layer, own_saved.input.shape[1:])
            u = u @ np.abs(A[:, 1:]).T + np.abs(with_one(x)) @ (E.sum(axis=2) > 0).T
            J = np.einsum("nm,smp->snp", A[:, 1:], J)
            J[:, :, where] += np.einsum("nmk,sm->snk", E, with_one(x))
        steps.append(Up(layer, x, here[0], u, here[1], where, inner, A, E))
        start += layer.size
    return steps, u, J, start


def downwards(steps, Y_dot, Y_ddot, way, curvature, H):
    """Carry both coefficients down with explicit fractions; return both at the input, and what
    activations add to the sum of Y_ddot u^2.

    What the parameters get is added to `curvature` (P,), what the second derivatives of activations
    give to `H` (P, P).
    """
    added = 0.0
    for step in reversed(steps):
        if step.inner:
            straight = ratio(Y_ddot, ratio(step.u, step.u_out))
            around = ratio(Y_ddot, ratio(step.inner[-1].u_out, step.u_out))
            below_dot, below, more = downwards(step.inner, Y_dot, around, way, curvature, H)
            Y_dot, Y_ddot, added = Y_dot + below_dot, straight + below, added + more
        elif isinstance(step.layer, Activation):
            slope = step.layer.function.slope(step.x)
            bent = Y_dot * step.layer.function.curvature(step.x)
            H += np.einsum("smp,sm,smq->pq", step.J, bent, step.J)
            added -= np.sum(Y_ddot * step.u_out**2)
            Y_dot, Y_ddot = Y_dot * slope, Y_ddot * slope**2 + bent
            Y_ddot = np.abs(Y_ddot) if way == "abs" else np.maximum(Y_ddot, 0)
            added += np.sum(Y_ddot * step.u**2)
        else:
            Y_dot, Y_ddot = through_affine(step, Y_dot, Y_ddot, curvature)
    return Y_dot, Y_ddot, added


def through_affine(step, Y_dot, Y_ddot, curvature):
    """W_ddot = sum Y_ddot y^2 / eps and Y_ddot_in = sum Y_ddot w^2 / phi, with eps = |y| / u_out
    and phi = |w| u / u_out for every (s, n, m).
    """
    x, u, u_out = with_one(step.x)[:, None], step.u[:, None], step.u_out[:, :, None]
    eps = ratio(np.abs(x), u_out)
    curvature[step.where] += np.einsum("snm,nmk->k", ratio(Y_ddot[:, :, None] * x**2, eps), step.E)
    w = step.A[:, 1:]
    phi = ratio(np.abs(w) * u, u_out)
    return Y_dot @ w, ratio(Y_ddot[:, :, None] * w**2, phi).sum(axis=1)


class DenseBound(NamedTuple):
    """All of a bound from explicit fractions: u at the outputs, W_ddot (P,), the right side of the
    sum rule, and the Hessian (P, P) of what is bounded.
    """

    u: np.ndarray
    curvature: np.ndarray
    total: float
    H: np.ndarray


def dense_bound(at, way="abs"):
    """The `DenseBound` at an evaluation; (46) at a convex loss."""
    P, samples = at.network.size, at.samples
    start = at.x.reshape(samples, -1)
    steps, u, J, _ = upwards(at.network.layers, at.saved, np.zeros_like(start),
                             np.zeros((*start.shape, P)))
    F = at.loss_function.hessian(at.outputs, at.y) / samples
    r = np.sqrt(np.einsum("sii->si", F))
    Y_ddot = ratio(r**2, ratio(u * r, np.sum(u * r, axis=1, keepdims=True) + 0 * u))
    H, curvature = np.einsum("sip,sij,sjq->pq", J, F, J), np.zeros(P)
    at_outputs = np.sum(Y_ddot * u**2)
    Y_dot = at.loss_function.gradient(at.outputs, at.y) / samples
    _, _, added = downwards(steps, Y_dot, Y_ddot, way, curvature, H)
    return DenseBound(u, curvature, float(at_outputs + added), H)


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
    f_ii = at.loss_function.hessian_diagonal(at.outputs, at.y) / at.samples
    u = total_gradients(at)
    affine = [k for k, layer in enumerate(at.network.layers) if not isinstance(layer, Activation)]

    def terms_of(k, u):
        layer, x = at.network.layers[k], at.saved[k].input
        return terms(own_inputs(layer, x), layer.weight, u)

    squares_of = [terms_of(k, np.ones_like(u[k])) ** 2 for k in affine]

    def objective(p):
        Y, total, left = ratio(f_ii, p[-1]), 0.0, list(zip(squares_of, p))
        for k in reversed(range(len(at.saved))):
            saved = at.saved[k]
            if k in affine:
                parts = Y[..., None] * ratio(*left.pop())
                k_own = parts.shape[-1] - saved.input.shape[1]
                total = total + parts[..., :k_own].sum(axis=(1, 2, 3))
                Y = parts[..., k_own:].sum(axis=2)
            else:
                Y = Y * saved.slope**2 + at.deltas[k] / at.samples * saved.curvature
                Y = Y * (Y.real > 0 if negative_curvature == "max" else np.sign(Y.real))
        return total

    return objective, [terms_of(k, u[k]) != 0 for k in affine] + [u[-1] * f_ii > 0]
