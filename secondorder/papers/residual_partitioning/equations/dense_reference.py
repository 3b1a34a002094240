"""What checks of other layers compare with: every layer as a matrix with shared entries.

An affine layer is y_n = sum_m A_nm x_m for flat x and y, with x_0 = 1 for the bias, and every
entry of A that can change is one parameter, sum_k E_nmk w_k with E 0 or 1. The fractions are those
of a fully-connected layer, one for every (n, m).
"""

from typing import NamedTuple

import numpy as np

from ....nets import Activation, Skip
from ..partitions import ratio


def affine(layer, x_shape):
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


def with_one(x):
    """Flat inputs with x_0 = 1 in front, (S, 1 + in)."""
    return np.hstack([np.ones_like(x[:, :1]), x])


class Step(NamedTuple):
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
            A, E = affine(layer, own_saved.input.shape[1:])
            u = u @ np.abs(A[:, 1:]).T + np.abs(with_one(x)) @ (E.sum(axis=2) > 0).T
            J = np.einsum("nm,smp->snp", A[:, 1:], J)
            J[:, :, where] += np.einsum("nmk,sm->snk", E, with_one(x))
        steps.append(Step(layer, x, here[0], u, here[1], where, inner, A, E))
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
