"""What residual partitioning must know of a layer and of a loss: one step up for u, one down for Z.

`Rule` says which inequality a rule must satisfy; the rules of the ground floor's layers follow, and
at the end what bounds the loss. Replacing every map by its absolute value gives all of them:
u_out = |A| u_in going up, Z_in = |A|^T Z_out going down.
"""

import numpy as np

from ...nets import Activation, Chain, Flatten, Linear, Reshape, Skip
from ...nets.rules import LayerRules

rules = LayerRules("residual partitioning")


class Rule:
    """How one layer's part of the quadratic becomes separable: base of all rules.

    The layer maps x to ``y = f(x, theta)``. Derive from this class, register yours with
    ``@rules.register(MyLayer)``, and let ``verify.rule(MyLayer(...))`` judge it. The methods are
    static: what `backward` needs of the way up, `forward` returns as ``context``.

    Notes
    -----
    *The inequality.* Let J and B be the derivatives of y in x and in theta. The inequality

        sum_si (Z_si / u_out_si) dy_si^2 + sum_si g_si q_si
                <=  sum_sj (Z_in_sj / u_sj) dx_sj^2 + sum_k curvature_k dtheta_k^2

    must hold for every sample s, all changes dx (zero where u is zero) and one dtheta. It must hold
    for all u > 0, Z >= 0 and g, where ``u_out`` is what `forward` returned. Here
    ``dy_s = J_s dx_s + B_s dtheta``, and ``q_si`` is the second derivative of y_si along it. It has
    no products of dx and dtheta unless ``options.cross``.

    The quotients Z / u are the quadratic coefficients of the paper (its Y with two dots); carrying
    Z needs no division. Where every layer's rule satisfies the inequality, the sum from the loss to
    the input gives the bound. What a layer passes down is where the layer below it starts, and the
    curvatures remain.

    *How to find one.* An affine layer changes by ``dy_i = sum_j J_ij dx_j + sum_k B_ik dtheta_k``.
    Take as fraction of each term its share in ``u_out_i = sum_j |J_ij| u_j + sum_k |B_ik|``:
    Jensen's inequality gives ``Z_in = |J|^T Z`` and ``curvature = |B|^T Z``
    (Eqs. (9)-(11), (37)). It is tight: both sides have the same value for one step. This step moves
    every x_j by u_j and every theta_k by 1, with the signs of one row of J and B.

    Attributes
    ----------
    inner_products : bool
        Whether a use of the layer's parameters acts on what another use changed, as in layers made
        of layers. Such products of changes are left out too, unless ``options.cross``.
    """

    inner_products = False

    @staticmethod
    def forward(layer, saved, u):
        """Carry u up: how far an output can move if no parameter moves by more than one.

        Parameters
        ----------
        layer : Layer
        saved
            What the layer's `forward` left behind.
        u : array like x, or None
            Total gradient of the layer's input; None stands for zero: nothing below is trained,
            but the layer is. (Where neither is, no rule is asked.)

        Returns
        -------
        u_out : array like y
        context : object
            What `backward` needs of this.
        """
        raise NotImplementedError("a rule must define forward(layer, saved, u)")

    @staticmethod
    def backward(layer, saved, context, u, g, Z, options):
        """Carry Z down, and return the curvature of the layer's parameters.

        Parameters
        ----------
        layer, saved, u
            As for `forward`.
        context : object
            What `forward` returned as such.
        g : array like y
            Gradient of every sample's loss in the layer's output.
        Z : array like y
            Quadratic coefficients of the output times u_out; not negative, not to be written to.
        options : Options

        Returns
        -------
        Z_in : array like x, or None
            Not negative; None where u is None.
        curvature : (layer.size,) array
            Summed over samples, not negative; empty where the layer has nothing to train.
        """
        raise NotImplementedError("a rule must define backward(layer, saved, context, u, g, Z, "
                                  "options)")


# -- the layers ------------------------------------------------------------------------------------

@rules.register(Linear)
class LinearRule(Rule):
    """An affine layer, y_si = sum_{j>=0} w_ij x_sj with x_s0 = 1.

    *Derivation.* Eq. (9) gives x_sj the coefficient

        Y_ddot_in_sj = sum_i Y_ddot_si w_ij^2 / phi_sij = sum_i Y_ddot_si u_out_si |w_ij| / u_sj,

    with phi_sij = |w_ij| u_sj / u_out_si from Eqs. (10) and (37). Times u_sj, with Z = Y_ddot u at
    both ends, it is Z_in_sj = sum_i Z_si |w_ij|, that is Z_in = Z |W|. In the same way w_ij has

        sum_s Y_ddot_si x_sj^2 / eps_sij = sum_s Z_si |x_sj|    with eps_sij = |x_sj| / u_out_si.
    """

    @staticmethod
    def forward(layer, saved, u):
        """Eq. (11): u_out_si = sum_{j>=0} |x_sj| + sum_{j>=1} |w_ij| u_sj.

        A layer that is not trained lacks the first sum.
        """
        u_out = np.zeros_like(saved.output)
        if u is not None:
            u_out = u @ np.abs(layer.weight).T
        if layer.trainable:
            x_0 = 0 if layer.bias is None else 1
            u_out = u_out + (np.abs(saved.input).sum(axis=1, keepdims=True) + x_0)
        return u_out, None

    @staticmethod
    def backward(layer, saved, context, u, g, Z, options):
        """Eqs. (9), (10), (37): Z_in_sj = sum_i Z_si |w_ij|;  W_ddot_ij = sum_s Z_si |x_sj|.

        With ``cross`` the products of changes that Eq. (4) drops add, if the layer is trained,
        sum_i |g_si| to Z_in_sj and, for j >= 1, sum_s |g_si| u_sj to W_ddot_ij.
        """
        sizes = saved._replace(input=np.abs(saved.input))
        curvature = layer.parameter_gradient(sizes, Z)  # Z^T |x|, and the sum of Z for the bias
        if u is None:
            return None, curvature
        Z_in = Z @ np.abs(layer.weight)
        if options.cross and layer.trainable:
            layer.split(curvature)[0][...] += np.abs(g).T @ u
            Z_in = Z_in + np.abs(g).sum(axis=1, keepdims=True)
        return Z_in, curvature


@rules.register(Activation)
class ActivationRule(Rule):
    """An activation layer, y_sj = s(x_sj).

    *Derivation.* Eq. (41) gives x_sj the coefficient Y_ddot_sj slope_sj^2 + g_sj curvature_sj, of
    which a bound takes the absolute value. Times u_sj: Y_ddot_sj slope_sj^2 u_sj = Y_ddot_sj
    u_out_sj |slope_sj| = Z_sj |slope_sj|.
    """

    @staticmethod
    def forward(layer, saved, u):
        """Eq. (11): u_out_sj = |slope_sj| u_sj."""
        return np.abs(saved.slope) * u, None

    @staticmethod
    def backward(layer, saved, context, u, g, Z, options):
        """Eq. (41): Z_in_sj = | |slope_sj| Z_sj + g_sj curvature_sj u_sj |, or the part above
        zero.
        """
        z = np.abs(saved.slope) * Z + g * saved.curvature * u
        return np.maximum(z, 0) if options.clip else np.abs(z), np.empty(0, Z.dtype)


@rules.register(Flatten, Reshape)
class ReshapeRule(Rule):
    """u_out and Z_in are u and Z in the other shape."""

    @staticmethod
    def forward(layer, saved, u):
        return u.reshape(saved.output.shape), None

    @staticmethod
    def backward(layer, saved, context, u, g, Z, options):
        return Z.reshape(saved.input.shape), np.empty(0, Z.dtype)


@rules.register(Chain)
class ChainRule(Rule):
    """The rules of its layers, one after the other."""

    @staticmethod
    def forward(layer, saved, u):
        us, contexts = up(layer, saved, u)
        return us[-1], (us, contexts)

    @staticmethod
    def backward(layer, saved, context, u, g, Z, options):
        us, inner = context
        deltas = layer.output_gradients(saved, g)
        carried, curvature = down(layer, saved, inner, us, deltas, Z, options)
        return carried[0], curvature


@rules.register(Skip)
class SkipRule(Rule):
    """y = x + F(x): the change of y is the sum of both branches' changes."""

    @staticmethod
    def forward(layer, saved, u):
        """u_out = u + u_F, the total gradient of F(x)."""
        inside, context = ChainRule.forward(layer.inner, saved.inner, u)
        return inside if u is None else u + inside, context

    @staticmethod
    def backward(layer, saved, context, u, g, Z, options):
        """Z_in = Z + Z_F, with Z_F what Z becomes on its way down through F."""
        Z_in, curvature = ChainRule.backward(layer.inner, saved.inner, context, u, g, Z, options)
        return None if u is None else Z + Z_in, curvature


def up(chain, saved, u):
    """Total gradients at all layers' inputs and the chain's output, and the context of each rule.

    Both are None as long as nothing is trained.
    """
    us, contexts = [u], []
    for layer, own_saved, where in zip(chain.layers, saved, chain.slices):
        idle = u is None and where.stop == where.start  # nothing is trained up to its output
        u, own = (None, None) if idle else rules(layer).forward(layer, own_saved, u)
        us.append(u)
        contexts.append(own)
    return us, contexts


def down(chain, saved, contexts, us, deltas, Z, options):
    """Carry Z through a chain; return Z at all inputs and the output, and the curvature sums.

    `deltas` are the gradients in the outputs of all layers.
    """
    slices, carried = chain.slices, [Z]
    curvature = np.zeros(slices[-1].stop, dtype=Z.dtype)
    idle = len([u for u in us[1:] if u is None])  # layers with nothing trained up to their output
    for i in reversed(range(idle, len(chain.layers))):
        layer = chain.layers[i]
        Z, curvature[slices[i]] = rules(layer).backward(layer, saved[i], contexts[i], us[i],
                                                        deltas[i], Z, options)
        carried.append(Z)
    return [None] * idle + carried[::-1], curvature


# -- the loss --------------------------------------------------------------------------------------

def _diagonal(loss, p, y, u):
    """Z_si = |f_ii| u_si, Eq. (15) times u: nothing to partition where the loss's Hessian is
    diagonal.
    """
    return np.abs(loss.hessian_diagonal(p, y)) * u


def _jensen(loss, p, y, u):
    """Z_si = r_si sum_i' r_si' u_si' with r = sqrt(f_ii): Eq. (45), f_ii / phi_si, times u, with
    phi of Eq. (46).
    """
    r = np.sqrt(loss.hessian_diagonal(p, y))
    return r * (r * u).sum(axis=1, keepdims=True)


def _pairwise(loss, p, y, u):
    """Z_si = sum_i' |F_ii'| u_si': never above Jensen in sum, the same as diagonal for diagonal
    losses, right for any loss.
    """
    return np.einsum("sij,sj->si", np.abs(loss.hessian(p, y)), u)


OUTPUTS = {"auto": None, "diagonal": _diagonal, "jensen": _jensen, "pairwise": _pairwise}
