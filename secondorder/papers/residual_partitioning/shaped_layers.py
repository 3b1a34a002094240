"""Rules for layers of images and sequences: the same map by absolute values, once more.

A weight that is used at many places, or at many steps, has a part of the quadratic from each use.
Every use has fractions of its own, so that all are bounded as if they were weights of their own,
and their coefficients add up: the sum over places or steps joins the sum over samples.
"""

import numpy as np

from ...nets import AvgPool2d, Conv2d, MaxPool2d, Recurrent
from ...nets.layers.flat_vectors import flat
from .rules import Rule, rules


@rules.register(Conv2d)
class ConvolutionRule(Rule):
    """A convolution, y_sopq = sum_clk W_oclk z_scpqlk + b_o with z the windows of x.

    z_u are the windows of u, |z| those of |x|; the sum over pq is for the sharing of weights.
    """

    @staticmethod
    def forward(layer, saved, u):
        """u_out_sopq = 1 + sum_clk |z|_scpqlk + sum_clk |W_oclk| z_u_scpqlk.

        Without training only the sum with |W| remains, without a bias the 1 is missing.
        """
        u_out = np.zeros_like(saved.output)
        if u is not None:
            u_out += layer.convolve(u, np.abs(layer.weight))
        if layer.trainable:
            every = np.ones_like(layer.weight[:1])
            u_out += layer.convolve(np.abs(saved.input), every) + (layer.bias is not None)
        return u_out, None

    @staticmethod
    def backward(layer, saved, context, u, g, Z, options):
        """W_ddot_oclk = sum_spq Z_sopq |z|_scpqlk;  b_ddot_o = sum_spq Z_sopq;
        Z_in_scij = sum_opqlk Z_sopq |W_oclk|, over the windows with z_scpqlk = x_scij.

        With ``cross``, |g| u joins W_ddot like Z |x|, and |g| joins Z_in with 1 for |W|.
        """
        curvature = layer.parameter_gradient(saved._replace(input=np.abs(saved.input)), Z)
        if u is None:
            return None, curvature
        Z_in = layer.convolve_back(Z, np.abs(layer.weight), u.shape)
        if options.cross and layer.trainable:
            layer.split(curvature)[0][...] += layer.correlate(np.abs(g), u).sum(axis=0)
            Z_in = Z_in + layer.convolve_back(np.abs(g), np.ones_like(layer.weight), u.shape)
        return Z_in, curvature


@rules.register(AvgPool2d, MaxPool2d)
class PoolingRule(Rule):
    """y_scpq = sum_lk a_scpqlk z_scpqlk with fractions a >= 0: u is pooled like a change of x, and
    Z is spread like a gradient. For the maximum the bound is that of the chosen entries.
    """

    @staticmethod
    def forward(layer, saved, u):
        """u_out_scpq = sum_lk a_scpqlk z_u_scpqlk, with z_u the windows of u."""
        return layer.tangent(saved, u, None), None

    @staticmethod
    def backward(layer, saved, context, u, g, Z, options):
        """Z_in_scij = sum_pqlk a_scpqlk Z_scpq, over the windows with z_scpqlk = x_scij."""
        return layer.backward(saved, Z)


@rules.register(Recurrent)
class RecurrentRule(Rule):
    """A recurrence, a_t = U x_t + W v_(t-1) + b and v_t = A(a_t): the rules of an affine layer and
    of an activation at every step, with the same weights.

    ua_t = |x_t| + |v_(t-1)| + 1 (sums over entries) + |U| u_t + |W| uv_(t-1);  uv_t = |A'| ua_t
    Za_t = | |A'| Zv_t + gv_t A'' ua_t |, or the part above zero;  Zv_(t-1) = |W|^T Za_t
    Z_in_t = |U|^T Za_t;  W_ddot = sum_st Za_t |v_(t-1)|^T;  U_ddot = sum_st Za_t |x_t|^T

    Products of changes, which ``cross`` adds, are here also those of W and of what W moved before.
    """

    inner_products = True

    @staticmethod
    def forward(layer, saved, u):
        U, W, _ = layer.named([np.abs(value) for value in layer.parameters.values()])
        u_x = np.zeros_like(saved.input) if u is None else u
        u_states, u_arguments = [layer.start(u_x)], []
        for t, slope in enumerate(saved.slopes, start=1):
            below = layer.argument(U, W, u_x, t, u_states[-1])
            u_arguments.append(below + _own_part(layer, saved, t) if layer.trainable else below)
            u_states.append(np.abs(slope) * u_arguments[-1])
        return u_states[-1], (u_x, u_states, u_arguments)

    @staticmethod
    def backward(layer, saved, context, u, g, Z, options):
        u_x, u_states, u_arguments = context
        U, W, _ = layer.named([np.abs(value) for value in layer.parameters.values()])
        crossed = options.cross and layer.trainable
        corrected = _above_zero if options.clip else np.abs
        Z_arguments, g_arguments = [], []
        steps = zip(*map(reversed, (saved.slopes, saved.curvatures, u_arguments)))
        for slope, second_derivative, ua in steps:
            Z_arguments.insert(0, corrected(np.abs(slope) * Z + g * second_derivative * ua))
            g_arguments.insert(0, slope * g)
            g, Z = g_arguments[0] @ layer.weight_hh, Z_arguments[0] @ W
            if crossed:
                Z = Z + np.abs(g_arguments[0]).sum(axis=1, keepdims=True)
        size = saved._replace(input=np.abs(saved.input), states=[np.abs(v) for v in saved.states])
        parts, sizes_of_g = layer.gathered(Z_arguments, size), [np.abs(a) for a in g_arguments]
        if crossed:
            products = layer.gathered(sizes_of_g, saved._replace(input=u_x, states=u_states))
            weights = 1 + layer.has_input
            parts[:weights] = [a + b for a, b in zip(parts[:weights], products)]
        curvature = flat(layer, *parts).sum(axis=0)
        if u is None:
            return None, curvature
        if layer.has_input:
            Z = np.stack(Z_arguments, axis=1) @ U
            if crossed:
                Z = Z + np.stack(sizes_of_g, axis=1).sum(axis=2, keepdims=True)
        return Z, curvature


def _own_part(layer, saved, t):
    """How far a_t moves by parameters alone: |x_t| + |v_(t-1)| + 1, sums over entries."""
    own = np.abs(saved.states[t - 1]).sum(axis=1, keepdims=True) + (layer.bias is not None)
    if layer.has_input:
        own = own + np.abs(saved.input[:, t - 1]).sum(axis=1, keepdims=True)
    return own


def _above_zero(a):
    return np.maximum(a, 0)
