"""Rules of the layers that the paper names and does not write out, and of pooling.

Section 3.1 names convolutions and residual connections. With J and B the derivatives of a layer's
outputs in its inputs and in its parameters, every rule is

    up:    u_out = |J| u + |B| 1
    down:  Z_in = |J|^T Z,   W_ddot = |B|^T Z, a mean over the samples.

A weight that is used at many places has fractions of its own at each: the sum over the places joins
the sum over the samples.
"""

import numpy as np

from ...nets import AvgPool2d, Chain, Conv2d, Flatten, MaxPool2d, Reshape, Skip
from .section_7_algorithm_1 import backward_pass, down, forward_pass, up


@up.register(Chain)
def up_chain(layer, saved, u):
    return forward_pass(layer.layers, saved, u)[-1]


@down.register(Chain)
def down_chain(layer, saved, u, Y_dot, Z, correct, cross):
    us, Y_dots = forward_pass(layer.layers, saved, u), layer.output_gradients(saved, Y_dot)
    Zs, W_ddot = backward_pass(layer.layers, saved, us, Y_dots, Z, correct, cross)
    return Zs[0], W_ddot


@up.register(Skip)
def up_skip(layer, saved, u):
    """y = x + F(x): u_out = u + u_F."""
    u_F = up_chain(layer.inner, saved.inner, u)
    return u_F if u is None else u + u_F


@down.register(Skip)
def down_skip(layer, saved, u, Y_dot, Z, correct, cross):
    """Z_in = Z + Z_F."""
    Z_F, W_ddot = down_chain(layer.inner, saved.inner, u, Y_dot, Z, correct, cross)
    return None if u is None else Z + Z_F, W_ddot


@up.register(Conv2d)
def up_convolution(layer, saved, u):
    """u_out_sopq = 1 + sum_clk |z|_scpqlk + sum_clk |W_oclk| z_u_scpqlk.

    z and z_u are the windows of x and of u; the 1 is for the bias.
    """
    u_out = 0 if u is None else layer.convolve(u, np.abs(layer.weight))
    if layer.trainable:
        own = layer.convolve(np.abs(saved.input), np.ones_like(layer.weight))
        u_out = u_out + own + (layer.bias is not None)
    return u_out


@down.register(Conv2d)
def down_convolution(layer, saved, u, Y_dot, Z, correct, cross):
    """W_ddot_oclk = (1/S) sum_spq Z_sopq |z|_scpqlk;  b_ddot_o = (1/S) sum_spq Z_sopq;
    Z_in_scij = sum_opqlk Z_sopq |W_oclk|, over the windows with z_scpqlk = x_scij.
    """
    W_ddot = ()
    if layer.trainable:
        W_ddot = [layer.correlate(Z, np.abs(saved.input)).mean(axis=0)]
        if layer.bias is not None:
            W_ddot.append(Z.sum(axis=(2, 3)).mean(axis=0))
    if u is None:
        return None, W_ddot
    Z_in = layer.convolve_back(Z, np.abs(layer.weight), u.shape)
    if cross and layer.trainable:
        g = np.abs(Y_dot)
        W_ddot[0] += layer.correlate(g, u).mean(axis=0)
        Z_in += layer.convolve_back(g, np.ones_like(layer.weight), u.shape)
    return Z_in, W_ddot


@up.register(AvgPool2d, MaxPool2d)
def up_pooling(layer, saved, u):
    """u is pooled like a change of x; where the largest is taken, the entries stay the chosen."""
    return layer.flat_tangent(saved, u, None)[0]


@down.register(AvgPool2d, MaxPool2d)
def down_pooling(layer, saved, u, Y_dot, Z, correct, cross):
    """Z is spread like a gradient."""
    return layer.input_gradient(saved, Z), ()


@up.register(Flatten, Reshape)
def up_reshape(layer, saved, u):
    return u.reshape(saved.output.shape)


@down.register(Flatten, Reshape)
def down_reshape(layer, saved, u, Y_dot, Z, correct, cross):
    return Z.reshape(saved.input.shape), ()
