"""What the checks compare with: the paper's sums index by index, without the room's code."""

from typing import NamedTuple

import numpy as np

from ....nets import Activation

# -- one affine layer ------------------------------------------------------------------------------

def weights_with_bias(layer):
    """w_ij, (out, 1 + in), with the bias, or 0 without one, at j = 0."""
    bias = np.zeros(layer.out_features) if layer.bias is None else layer.bias
    return np.hstack([bias[:, None], layer.weight])


def parts(layer, y, dW, dY):
    """The parts of the first-order change of every output, (S, out, 1 + 2 in).

    dW_ij y_sj for j = 0 (the bias, y = 1, or 0 without one), 1, ..., in; then w_ij dY_sj.
    """
    samples, width = y.shape
    change = np.zeros((samples, layer.out_features, 1 + 2 * width))
    for s, i in np.ndindex(change.shape[:2]):
        change[s, i, 0] = dW[i, 0] * (0.0 if layer.bias is None else 1.0)
        for j in range(width):
            change[s, i, 1 + j] = dW[i, 1 + j] * y[s, j]
            change[s, i, 1 + width + j] = layer.weight[i, j] * dY[s, j]
    return change


def terms(layer, y, u):
    """The numbers that share a simplex: parts if weights change by one and inputs by u."""
    return parts(layer, y, np.full((layer.out_features, 1 + y.shape[1]), float(layer.trainable)), u)


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


def quadratics(a, dW, dY, W_dot, W_ddot, Y_dot, Y_ddot):
    """Both sides of (8) at changes dW, dY, each as its linear and its quadratic part: (2, 2)."""
    change = parts(a.layer, a.y, dW, dY).sum(axis=2)
    return np.array([[np.sum(a.Y_dot * change), np.sum(a.Y_ddot * change**2) / 2],
                     [np.sum(W_dot * dW) + np.sum(Y_dot * dY),
                      (np.sum(W_ddot * dW**2) + np.sum(Y_ddot * dY**2)) / 2]])


def affine_coefficients(a):
    """W_dot, W_ddot, Y_dot, Y_ddot as differences of the right side of (8), with (7) in it.

    The function is a sum of univariate quadratics, for which differences of any width are exact.
    """
    p = np.concatenate(a.partition, axis=2)

    def pieces(step):
        return step[:a.dW.size].reshape(a.dW.shape), step[a.dW.size:].reshape(a.dY.shape)

    def right_side(step):
        dW, dY = pieces(step)
        # what cannot move does not
        x = parts(a.layer, a.y, dW * a.layer.trainable, dY * (a.u > 0))
        return np.sum(a.Y_dot * x.sum(axis=2) + a.Y_ddot * squares(x, p) / 2)

    units = np.eye(a.dW.size + a.dY.size)
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
            u.append(np.abs(terms(layer, saved.input, u[-1])).sum(axis=2))
    return u


def own_sum(at, explicit, k):
    """sum_ij W_ddot_ij of the affine layer at place k, from Eq. (9), bias included."""
    x = terms(at.network.layers[k], at.saved[k].input, np.zeros_like(at.saved[k].input))
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
