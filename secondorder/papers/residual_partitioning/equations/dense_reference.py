"""What checks of other layers compare with: every layer as a matrix with shared entries.

An affine layer is y_n = sum_m A_nm x_m + sum_o D_no b_o for flat x and y, and every
entry of A is one weight, sum_k E_nmk w_k with E 0 or 1. The fractions are those of a
fully-connected layer, one for every (n, m).
"""

from typing import NamedTuple

import numpy as np

from ....nets import Activation, Skip
from ..partitions import ratio


class Affine(NamedTuple):
    """A (out, in), which weight stands where E (out, in, weights), which bias D (out, biases)."""

    A: np.ndarray
    E: np.ndarray
    D: np.ndarray


def affine(layer, x_shape):
    """The matrices of a layer, from its outputs at unit inputs, unit weights and unit biases."""
    units, layer = np.eye(int(np.prod(x_shape))).reshape(-1, *x_shape), layer.copy()

    def outputs(x):
        return layer.forward(x)[0].reshape(len(x), -1)

    def matrix():
        return (outputs(units) - outputs(np.zeros_like(units))).T

    A, E, D = matrix(), [], []
    if "weight" in layer.parameters:
        for unit in np.eye(layer.weight.size):
            layer.weight = unit.reshape(layer.weight.shape)
            E.append(matrix())
    if "bias" in layer.parameters:
        for unit in np.eye(layer.bias.size):
            layer.bias = unit
            D.append(outputs(np.zeros_like(units[:1]))[0])
    return Affine(A, np.array(E).reshape(-1, *A.shape).transpose(1, 2, 0),
                  np.array(D).reshape(-1, len(A)).T)


class Step(NamedTuple):
    """One layer on the way up: flat input x, u before and after, the Jacobian of x in theta
    (S, m, P), where the layer's parameters stand; `inner` are the steps inside a skip connection,
    `matrices` those of an affine layer.
    """

    layer: object
    x: np.ndarray
    u: np.ndarray
    u_out: np.ndarray
    J: np.ndarray
    where: slice
    inner: list
    matrices: Affine


def upwards(layers, saved, u, J, start=0):
    """The steps through `layers`, then u and J at the end and the next place in theta."""
    steps = []
    for layer, own_saved in zip(layers, saved):
        x, samples = own_saved.input.reshape(len(u), -1), len(u)
        here, inner, matrices = (u, J), [], None
        where = slice(start, start + layer.size)
        if isinstance(layer, Skip):
            inner, u, J, _ = upwards(layer.layers, own_saved.inner, u, J, start)
            u, J = here[0] + u, here[1] + J
        elif isinstance(layer, Activation):
            slope = layer.function.slope(x)
            u, J = np.abs(slope) * u, slope[:, :, None] * J
        else:
            matrices = affine(layer, own_saved.input.shape[1:])
            u, J = u @ np.abs(matrices.A).T, np.einsum("nm,smp->snp", matrices.A, J)
            if layer.size:
                own = np.concatenate([np.einsum("nmk,sm->snk", matrices.E, x),
                                      np.broadcast_to(matrices.D, (samples, *matrices.D.shape))],
                                     axis=2)
                J[:, :, where] += own
                u = u + np.abs(x) @ (matrices.E.sum(axis=2) > 0).T + matrices.D.sum(axis=1)
        steps.append(Step(layer, x, here[0], u, here[1], where, inner, matrices))
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
            function = step.layer.function
            slope, second_derivative = function.slope(step.x), function.curvature(step.x)
            H += np.einsum("smp,sm,smq->pq", step.J, Y_dot * second_derivative, step.J)
            before = np.sum(Y_ddot * step.u_out**2)
            Y_ddot = Y_ddot * slope**2 + Y_dot * second_derivative
            Y_ddot = np.abs(Y_ddot) if way == "abs" else np.maximum(Y_ddot, 0)
            Y_dot = Y_dot * slope
            added += np.sum(Y_ddot * step.u**2) - before
        else:
            Y_dot, Y_ddot = through_affine(step, Y_dot, Y_ddot, curvature)
    return Y_dot, Y_ddot, added


def through_affine(step, Y_dot, Y_ddot, curvature):
    """W_ddot = sum Y_ddot y^2 / eps and Y_ddot_in = sum Y_ddot w^2 / phi, with eps = |y| / u_out
    and phi = |w| u / u_out for every (s, n, m).
    """
    A, E, D = step.matrices
    x, u, u_out = step.x[:, None, :], step.u[:, None, :], step.u_out[:, :, None]
    if step.layer.size:
        eps = ratio(np.abs(x), u_out)
        of_weights = np.einsum("snm,nmk->k", ratio(Y_ddot[:, :, None] * x**2, eps), E)
        of_biases = np.einsum("sn,no->o", ratio(Y_ddot, ratio(1, step.u_out)), D)
        curvature[step.where] += np.concatenate([of_weights, of_biases])
    phi = ratio(np.abs(A) * u, u_out)
    return Y_dot @ A, ratio(Y_ddot[:, :, None] * A**2, phi).sum(axis=1)


class Reference(NamedTuple):
    """All of a bound from explicit fractions: u at the outputs, W_ddot (P,), the right side of the
    sum rule, and the Hessian (P, P) of what is bounded.
    """

    u: np.ndarray
    curvature: np.ndarray
    total: float
    H: np.ndarray


def bound(at, way="abs"):
    """The `Reference` at an evaluation; (46) at a convex loss."""
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
    return Reference(u, curvature, float(at_outputs + added), H)
