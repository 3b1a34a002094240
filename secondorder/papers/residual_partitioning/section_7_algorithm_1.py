"""Algorithm 1, at the end of section 7: one training step.

The paper carries Y_ddot u down to every affine layer and then calls sum_i (Y_ddot u)_i |w_ij| the
Y_ddot of the inputs. By (9) and (10) it is their Y_ddot u:

    Y_ddot_sj u_sj = sum_i Y_ddot_si w_ij^2 / phi_sij u_sj = sum_i (Y_ddot_si u_si) |w_ij|.

So Z = Y_ddot u is carried throughout, and nothing is divided by a u that may be 0. In print u^(0)
stands for u^(1), the backward lines leave out the bias j = 0, and the forward lines the loop over
s. ``algorithm_1`` is corrected, and trains; ``algorithm_1_as_printed`` stands at the end.
"""

from typing import NamedTuple

import numpy as np

from ...kernels import loop
from ...nets import Activation, Linear
from ...nets.rules import LayerRules
from .section_2_setup import by_parameter, flat, own_inputs, ratio
from .section_3_residual_partitioning import minimiser, products_left_out_of_4, quadratic
from .section_4_partitioning_variables import eq_11_activation, eq_11_affine

up, down = LayerRules("residual partitioning"), LayerRules("residual partitioning")


class Passes(NamedTuple):
    """u and Z of all layers' inputs and of the outputs, and W_ddot (P,).

    None stands for a u that is 0, as nothing below is trained, and for a Z that is not needed.
    """

    u: list
    Z: list
    W_ddot: np.ndarray


def algorithm_1(evaluation, output, correct=np.abs, cross=False):
    """Algorithm 1 without its last lines: u upwards; Z, and with it W_ddot, downwards, as `Passes`.

    `output` names the function of `OUTPUTS` that starts the way down, "jensen" in the paper;
    `correct` is one of `NEGATIVE_CURVATURE`. With `cross` the products that (4) leaves out are
    bounded, too, which is ours.
    """
    layers, saved = evaluation.network.layers, evaluation.saved
    u = forward_pass(layers, saved)
    Z = OUTPUTS[output](evaluation.loss_function, evaluation.outputs, evaluation.y, u[-1])
    Z, W_ddot = backward_pass(layers, saved, u, evaluation.deltas, Z, correct, cross)
    return Passes(u, Z, flat(W_ddot))


def forward_pass(layers, saved, u=None):
    """u of the layers' inputs and, last, of the outputs."""
    us = [u]
    for layer, own_saved in zip(layers, saved):
        moves = us[-1] is not None or layer.size
        us.append(up(layer)(layer, own_saved, us[-1]) if moves else None)
    return us


def backward_pass(layers, saved, us, Y_dots, Z, correct, cross):
    """Z of the layers' inputs and, last, of the outputs; W_ddot, an array a parameter.

    `Y_dots` are the gradients of every sample's loss in the layers' outputs.
    """
    Zs, W_ddot = [Z], []
    for layer, own_saved, u, Y_dot in reversed(list(zip(layers, saved, us, Y_dots))):
        Z, own = None, ()
        if u is not None or layer.size:
            Z, own = down(layer)(layer, own_saved, u, Y_dot, Zs[-1], correct, cross)
        Zs.append(Z)
        W_ddot = [*own, *W_ddot]
    return Zs[::-1], W_ddot


# -- the lines of the backward pass ----------------------------------------------------------------

def eq_45_46_jensen(loss, p, y, u):
    """Z_si = sqrt(f_ii) sum_i' u_si' sqrt(f_i'i'): (45) at the phi of (46), times u."""
    r = np.sqrt(loss.hessian_diagonal(p, y))
    return r * (r * u).sum(axis=1, keepdims=True)


def diagonal(loss, p, y, u):
    """Z_si = |f_ii| u_si, where the loss's Hessian is diagonal: there is nothing to split. Ours."""
    return np.abs(loss.hessian_diagonal(p, y)) * u


def pairwise(loss, p, y, u):
    """Z_si = sum_i' |f_ii'| u_si', for every loss; the sum of u Z is never above Jensen's. Ours."""
    return np.einsum("sij,sj->si", np.abs(loss.hessian(p, y)), u)


OUTPUTS = {"diagonal": diagonal, "jensen": eq_45_46_jensen, "pairwise": pairwise}


def eq_9_10_weights(Z, y):
    """W_ddot_ij = (1/S) sum_s Z_si |y_sj|, (out, k): (9) at the eps of (10), for y (S, k)."""
    return (Z / len(Z)).T @ np.abs(y)


def eq_9_10_biases(Z):
    """W_ddot_i0 = (1/S) sum_s Z_si, (out,), as y_s0 = 1."""
    return Z.sum(axis=0) / len(Z)


def eq_9_10_inputs(Z, w):
    """Z_sj = sum_i Z_si |w_ij|, (S, in): (9) at the phi of (10), times u."""
    return Z @ np.abs(w)


def eq_41_carried(Z, Y_dot, slope, curvature, u, correct=np.abs):
    """Z_sj = | |slope_sj| Z_sj + Y_dot_sj curvature_sj u_sj |, (S, m): the bracket of (41), times
    u, in the bars of Algorithm 1.
    """
    return correct(np.abs(slope) * Z + Y_dot * curvature * u)


@loop
def algorithm_1_last_lines(total, theta, share, l2, keep, rate, own_rate, damping, W_ddot, moved):
    """The last lines, dw_j = -lambda W_dot_j / W_ddot_j, and what (3) promises of this step: a
    direction dw / lambda, with lambda = `own_rate`, as :mod:`secondorder.kernels.updates` has it.

    A penalty (l2/2) w^2 enters (3) exactly. Its gradient is in W_dot; its curvature joins W_ddot /
    lambda, as there is nothing about it for lambda to scale. A parameter stays where W_ddot +
    damping is 0: there the bound has no bottom. Returned are what every such loop returns, L(0) -
    L_1 at dw, and how many parameters stay.
    """
    gg = dd = mm = decrease = 0.0
    idle, zero = 0, theta.dtype.type(0)
    for j in range(theta.size):
        W_dot, stays = share * total[j] + l2 * theta[j], W_ddot[j] + damping == 0
        step = zero if stays else minimiser(W_dot, W_ddot[j] + damping + own_rate * l2)
        decrease -= quadratic(W_dot, W_ddot[j] + l2, own_rate * step)
        idle += stays
        moved[j] = keep * theta[j] + rate * step
        gg += np.float64(W_dot) * W_dot
        dd += np.float64(step) * step
        mm += np.float64(moved[j]) * moved[j]
    return gg, dd, mm, decrease, decrease, idle


# -- which line for which layer; the other layers' are in `layers` ---------------------------------

@up.register(Linear)
def up_linear(layer, saved, u):
    if not layer.trainable:
        return eq_11_affine(saved.input[:, :0], layer.weight, u)
    return eq_11_affine(saved.input, layer.weight, u, layer.bias is not None)


@down.register(Linear)
def down_linear(layer, saved, u, Y_dot, Z, correct, cross):
    W_ddot = ()
    if layer.trainable:
        W_ddot = [eq_9_10_weights(Z, saved.input)]
        if layer.bias is not None:
            W_ddot.append(eq_9_10_biases(Z))
    if u is None:
        return None, W_ddot
    Z_in = eq_9_10_inputs(Z, layer.weight)
    if cross and layer.trainable:
        of_weights, of_inputs = products_left_out_of_4(Y_dot, u)
        W_ddot[0] += of_weights
        Z_in = Z_in + of_inputs
    return Z_in, W_ddot


@up.register(Activation)
def up_activation(layer, saved, u):
    return eq_11_activation(saved.slope, u)


@down.register(Activation)
def down_activation(layer, saved, u, Y_dot, Z, correct, cross):
    return eq_41_carried(Z, Y_dot, saved.slope, saved.curvature, u, correct), ()


# -- as printed ------------------------------------------------------------------------------------

def algorithm_1_as_printed(evaluation):
    """W_ddot (P,) of the printed lines, for a chain of trained `Linear` and `Activation` layers.

    On the way down there is one u_sj too many at every affine layer. Steps are too small where
    u > 1; where u < 1 the result need not bound anything. Two lines can be read in two ways; this
    is the reading that is nearest to the right one.
    """
    layers, saved = evaluation.network.layers, evaluation.saved
    u = forward_pass(layers, saved)
    Z = eq_45_46_jensen(evaluation.loss_function, evaluation.outputs, evaluation.y, u[-1])
    Y_ddot, W_ddot = ratio(Z, u[-1]), []
    for l in reversed(range(len(layers))):
        if isinstance(layers[l], Activation):
            Y_ddot = np.abs(Y_ddot * saved[l].slope**2 + evaluation.deltas[l] * saved[l].curvature)
        else:
            own = eq_9_10_weights(Y_ddot * u[l + 1], own_inputs(layers[l], saved[l].input))
            W_ddot = [*by_parameter(layers[l], own), *W_ddot]
            Y_ddot = eq_9_10_inputs(Y_ddot * u[l + 1], layers[l].weight)  # Y_ddot u, not Y_ddot
    return flat(W_ddot)
