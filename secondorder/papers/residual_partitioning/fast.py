"""The bound in one forward and one backward pass: the corrected Algorithm 1.

Downwards it carries Z = Y_ddot * u instead of Y_ddot, so that nothing is divided by a total
gradient that may be zero (inputs, dead units, saturated units, everything below the first trained
layer). Replacing every map by its absolute value gives all rules: u_out = |A| u_in going up, Z_in =
|A|^T Z_out going down.
"""

from dataclasses import dataclass

import numpy as np

from ...checks import boolean, check_l2, lookup, promised, real_array, require_real
from ...exact.curvature import check_network, evaluate
from ...nets import Activation, Chain, Flatten, Linear, Reshape, Skip
from .rule import Options, Rule, rules

NEGATIVE_CURVATURE = {"abs": False, "max": True}  # whether to clip at zero


@dataclass(frozen=True)
class Bound:
    """A quadratic upper bound with a diagonal Hessian, at one point.

    Attributes
    ----------
    loss : float
        Objective at the point, penalty included.
    gradient : (P,) array
        Gradient of the objective.
    curvature : (P,) array
        Diagonal of the bound's Hessian, not negative.
    total_gradients : list of (S, m_l) arrays or None
        u at the input of every layer and, last, at the output; None where nothing below is trained
        (u = 0).
    carried : list of (S, m_l) arrays or None
        Z = Y_ddot * u (per-sample, not divided by S) at the same places; None where it is not
        needed.
    output : str
        The rule used at the output.
    """

    loss: float
    gradient: np.ndarray
    curvature: np.ndarray
    total_gradients: list
    carried: list
    output: str

    def value(self, delta):
        """The bound at theta + delta: loss + gradient . delta + (1/2) sum curvature delta^2.

        Parameters
        ----------
        delta : (P,) array

        Raises
        ------
        ValueError
            If delta has another shape or entries that are not finite.
        """
        delta = real_array(delta, "delta", self.gradient.shape)
        return float(self.loss + self.gradient @ delta + 0.5 * np.sum(self.curvature * delta**2))


# -- the loss --------------------------------------------------------------------------------------

def _diagonal(loss, p, y, u):
    """Z_si = |f_ii| u_si, Eq. (15) times u: nothing to partition where the loss's Hessian is
    diagonal."""
    return np.abs(loss.hessian_diagonal(p, y)) * u


def _jensen(loss, p, y, u):
    """Z_si = r_si sum_i' r_si' u_si' with r = sqrt(f_ii): Eq. (45), f_ii / phi_si, times u, with
    phi of Eq. (46)."""
    r = np.sqrt(loss.hessian_diagonal(p, y))
    return r * (r * u).sum(axis=1, keepdims=True)


def _pairwise(loss, p, y, u):
    """Z_si = sum_i' |F_ii'| u_si': never above Jensen in sum, the same as diagonal for diagonal
    losses, right for any loss."""
    return np.einsum("sij,sj->si", np.abs(loss.hessian(p, y)), u)


OUTPUTS = {"auto": None, "diagonal": _diagonal, "jensen": _jensen, "pairwise": _pairwise}


def output_rule(loss, output):
    """Name of the rule that `output` stands for.

    "auto" takes diagonal where the loss's Hessian is, else jensen, or pairwise where the loss is
    not convex and Jensen's inequality has nothing to say.

    Raises
    ------
    ValueError
        If the rule is unknown or gives no bound for this loss.
    """
    lookup(OUTPUTS, output, "output")
    if output == "auto" and getattr(loss, "diagonal_hessian", False):
        return "diagonal"
    if output == "auto":
        return "jensen" if getattr(loss, "convex", False) else "pairwise"
    if output == "diagonal":
        promised(loss, "diagonal_hessian", "output='diagonal'", "; use 'jensen' or 'pairwise'")
    if output == "jensen":
        promised(loss, "convex", "output='jensen'", "; use 'pairwise'")
    return output


# -- the layers ------------------------------------------------------------------------------------

@rules.register(Linear)
class LinearRule(Rule):
    """An affine layer, y_si = sum_{j>=0} w_ij x_sj with x_s0 = 1.

    u_out_si = sum_{j>=0} |x_sj| + sum_{j>=1} |w_ij| u_sj                                 Eq. (11)
    Z_in_sj = sum_i Z_si |w_ij|;   W_ddot_ij = sum_s Z_si |x_sj|              Eqs. (9), (10), (37)

    *Derivation.* By Eq. (9) the coefficient of x_sj is Y_ddot_in_sj = sum_i Y_ddot_si w_ij^2 /
    phi_sij, where by Eqs. (10) and (37) phi_sij = |w_ij| u_sj / u_out_si; this is sum_i Y_ddot_si
    u_out_si |w_ij| / u_sj. Times u_sj, with Z = Y_ddot u at both ends: Z_in_sj = sum_i Z_si |w_ij|,
    that is Z_in = Z |W|. In the same way w_ij has sum_s Y_ddot_si x_sj^2 / eps_sij with eps_sij =
    |x_sj| / u_out_si: sum_s Z_si |x_sj|.

    A layer that is not trained lacks the sums over |x|; with ``cross`` the products of changes that
    Eq. (4) drops add |g_si| u_sj to W_ddot_ij and sum_i |g_si| to Z_in_sj.
    """

    @staticmethod
    def forward(layer, saved, u):
        u_out = np.zeros_like(saved.output)
        if u is not None:
            u_out = u @ np.abs(layer.weight).T
        if layer.trainable:
            x_0 = 0 if layer.bias is None else 1
            u_out = u_out + (np.abs(saved.input).sum(axis=1, keepdims=True) + x_0)
        return u_out, None

    @staticmethod
    def backward(layer, saved, kept, u, g, Z, options):
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

    u_out_sj = |slope_sj| u_sj                                                            Eq. (11)
    Z_in_sj = | |slope_sj| Z_sj + g_sj curvature_sj u_sj |, or the part above zero        Eq. (41)

    *Derivation.* Eq. (41) gives x_sj the coefficient Y_ddot_sj slope_sj^2 + g_sj curvature_sj, of
    which a bound takes the absolute value. Times u_sj: Y_ddot_sj slope_sj^2 u_sj = Y_ddot_sj
    u_out_sj |slope_sj| = Z_sj |slope_sj|.
    """

    @staticmethod
    def forward(layer, saved, u):
        return np.abs(saved.slope) * u, None

    @staticmethod
    def backward(layer, saved, kept, u, g, Z, options):
        z = np.abs(saved.slope) * Z + g * saved.curvature * u
        return np.maximum(z, 0) if options.clip else np.abs(z), np.empty(0, Z.dtype)


@rules.register(Flatten, Reshape)
class ReshapeRule(Rule):
    """u_out and Z_in are u and Z in the other shape."""

    @staticmethod
    def forward(layer, saved, u):
        return u.reshape(saved.output.shape), None

    @staticmethod
    def backward(layer, saved, kept, u, g, Z, options):
        return Z.reshape(saved.input.shape), np.empty(0, Z.dtype)


@rules.register(Chain)
class ChainRule(Rule):
    """The rules of its layers, one after the other."""

    @staticmethod
    def forward(layer, saved, u):
        us, kept = up(layer, saved, u)
        return us[-1], (us, kept)

    @staticmethod
    def backward(layer, saved, kept, u, g, Z, options):
        us, inner = kept
        deltas = layer.output_gradients(saved, g)
        carried, curvature = down(layer, saved, inner, us, deltas, Z, options)
        return carried[0], curvature


@rules.register(Skip)
class SkipRule(Rule):
    """y = x + F(x): u_out = u + u of F, and Z_in = Z + Z_in of F, as the change of y is the sum of
    both branches' changes."""

    @staticmethod
    def forward(layer, saved, u):
        inside, kept = ChainRule.forward(layer.inner, saved.inner, u)
        return inside if u is None else u + inside, kept

    @staticmethod
    def backward(layer, saved, kept, u, g, Z, options):
        Z_in, curvature = ChainRule.backward(layer.inner, saved.inner, kept, u, g, Z, options)
        return None if u is None else Z + Z_in, curvature


def up(chain, saved, u):
    """Total gradients at all layers' inputs and the chain's output, and what each rule kept.

    Both are None as long as nothing is trained.
    """
    us, kept = [u], []
    for layer, seen in zip(chain.layers, saved):
        idle = u is None and not layer.size
        u, own = (None, None) if idle else rules(layer).forward(layer, seen, u)
        us.append(u)
        kept.append(own)
    return us, kept


def down(chain, saved, kept, us, deltas, Z, options):
    """Carry Z through a chain; return Z at all inputs and the output, and the curvature sums.

    `deltas` are the gradients in the outputs of all layers.
    """
    slices, carried = chain.slices, [Z]
    curvature = np.zeros(chain.size, dtype=Z.dtype)
    idle = sum(u is None for u in us[1:])  # layers with nothing trained up to their output
    for i in reversed(range(idle, len(chain.layers))):
        layer = chain.layers[i]
        Z, curvature[slices[i]] = rules(layer).backward(layer, saved[i], kept[i], us[i], deltas[i],
                                                        Z, options)
        carried.append(Z)
    return [None] * idle + carried[::-1], curvature


def bound(network, loss, x, y, output="auto", negative_curvature="abs", cross=False, l2=0.0):
    """Upper bound on the second-order model, with a diagonal Hessian ([residual-partitioning]
    (2)-(3), Algorithm 1 corrected).

    Parameters
    ----------
    network : Network
        Of `Linear` (trained or fixed), `Activation`, `Reshape`, `Skip` and `Chain` layers, and of
        layers of your own that have a rule.
    loss : Loss
    x : (S, *input_shape) array
    y : targets of the loss
    output : {"auto", "diagonal", "jensen", "pairwise"}
        How the loss's Hessian F is bounded by a diagonal. ``"diagonal"``: it is diagonal.
        ``"jensen"``: Eq. (46), as the paper, for convex losses. ``"pairwise"``: row sums of |F|
        weighted by u; tighter, and right for any loss. ``"auto"``: diagonal where F is, else jensen
        (pairwise for losses that are not convex).
    negative_curvature : {"abs", "max"}
        What becomes of a negative coefficient below a curved activation: its absolute value (the
        paper), or zero (tighter).
    cross : bool
        False bounds the quadratic with Hessian :func:`bounded_hessian`, as the paper's derivation
        does; True adds the products of changes of weights and activations that Eq. (4) drops, and
        bounds the true second-order model.
    l2 : float
        Penalty (l2/2)|theta|^2; it is separable, so that it enters exactly.

    Returns
    -------
    Bound
        ``gradient`` (P,), ``curvature`` (P,), ``value(delta)``.

    Raises
    ------
    TypeError
        A layer that has no rule.
    ValueError
        Unknown options, an output rule that gives no bound for this loss, bad x, y or l2, no
        trainable parameters.
    FloatingPointError
        If gradient or curvature is not finite; the layer is named.
    """
    return bound_at(evaluate(network, loss, x, y), output, negative_curvature, cross, l2)


def bound_at(evaluation, output="auto", negative_curvature="abs", cross=False, l2=0.0):
    """:func:`bound` at an evaluation that was made before."""
    l2, network, loss = check_l2(l2), evaluation.network, evaluation.loss_function
    options, output = checked(network, loss, output, negative_curvature, cross)
    evaluation.require_current()
    us, carried, curvature = sums(evaluation, output, options)
    curvature = curvature * (curvature.dtype.type(1) / evaluation.samples)
    network.require_finite(curvature, "residual partitioning: the curvature")
    value, gradient = evaluation.loss, evaluation.gradient + l2 * network.theta
    if l2:
        value += l2 / 2 * float(network.theta @ network.theta)
        curvature += l2
    return Bound(value, gradient, curvature, us, carried, output)


def checked(network, loss, output, negative_curvature, cross):
    """The `Options` and the output rule for a network and a loss, or :func:`bound`'s errors."""
    check_network(network)
    require_real(network, "residual partitioning")
    for layer in network.chain.sublayers():
        rules(layer)
    clip = lookup(NEGATIVE_CURVATURE, negative_curvature, "negative_curvature")
    return Options(clip=clip, cross=boolean(cross, "cross")), output_rule(loss, output)


def sums(evaluation, output, options):
    """One pass up and one down: u and Z at all inputs and the output, and curvature sums (P,)."""
    chain, loss, p = evaluation.network.chain, evaluation.loss_function, evaluation.outputs
    # what is not finite is refused later, with the layer's name
    with np.errstate(over="ignore", invalid="ignore"):
        us, kept = up(chain, evaluation.saved, None)
        Z = OUTPUTS[output](loss, p, evaluation.y, us[-1])
        carried, curvature = down(chain, evaluation.saved, kept, us, evaluation.deltas, Z, options)
    return us, carried, curvature
