"""The bound in one forward and one backward pass: the corrected Algorithm 1.

Downwards it carries Z = Y_ddot * u instead of Y_ddot, so that nothing is divided by a total gradient that may be zero
(inputs, dead units, saturated units, everything below the first trained layer). Replacing every map by its absolute value
gives all rules: u_out = |A| u_in going up, Z_in = |A|^T Z_out going down.
"""

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..checks import boolean, check_l2, lookup, real_array
from ..exact.curvature import check_network, evaluate
from ..nets import Activation, Chain, Linear, Reshape, Skip
from ..nets.workspace import fresh
from .rule import Options, Rule, rules

NEGATIVE_CURVATURE = {"abs": False, "max": True}  # value: clip at zero instead of taking the absolute value


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
        u at the input of every layer and, last, at the output; None where nothing below is trained (u = 0).
    carried : list of (S, m_l) arrays or None
        Z = Y_ddot * u (per-sample, not divided by S) at the same places; None where it is not needed.
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
        """The bound at parameters theta + delta: loss + gradient . delta + (1/2) sum curvature delta^2.

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


# -- the loss ---------------------------------------------------------------------------------------------------------

def _diagonal(loss, p, y, u):
    """Z_i = |f_ii| u_i: nothing to partition where the loss's Hessian is diagonal."""
    return np.abs(loss.hessian_diagonal(p, y)) * u


def _jensen(loss, p, y, u):
    """Z_i = f_ii u_i / phi_i with phi of Eq. (46): r_i sum_i' r_i' u_i', r = sqrt(f_ii)."""
    r = np.sqrt(loss.hessian_diagonal(p, y))
    return r * np.sum(r * u, axis=1, keepdims=True)


def _pairwise(loss, p, y, u):
    """Z_i = sum_i' |F_ii'| u_i': never above Jensen in sum, the same as diagonal for diagonal losses, right for any loss."""
    return np.einsum("sij,sj->si", np.abs(loss.hessian(p, y)), u)


OUTPUTS = {"auto": None, "diagonal": _diagonal, "jensen": _jensen, "pairwise": _pairwise}


def output_rule(loss, output):
    """Name of the rule that `output` stands for.

    "auto" takes diagonal where the loss's Hessian is, else jensen, or pairwise where the loss is not convex and Jensen's
    inequality has nothing to say.

    Raises
    ------
    ValueError
        If the rule is unknown or gives no bound for this loss.
    """
    lookup(OUTPUTS, output, "output")
    diagonal, convex = (getattr(loss, flag, False) for flag in ("diagonal_hessian", "convex"))
    if output == "auto":
        return "diagonal" if diagonal else "jensen" if convex else "pairwise"
    if output == "diagonal" and not diagonal:
        raise ValueError("output='diagonal' needs a loss whose Hessian in the outputs is diagonal; that of "
                         f"{loss!r} is not, so the result would not be a bound; use 'jensen' or 'pairwise'")
    if output == "jensen" and not convex:
        raise ValueError(f"output='jensen' needs a loss that is convex in the outputs; {loss!r} is not; use 'pairwise'")
    return output


# -- the layers -------------------------------------------------------------------------------------------------------

@rules.register(Linear)
class LinearRule(Rule):
    """u_out = sum_{j>=0} |y_sj| + u |W|^T; Z_in = Z |W|; W_ddot = Z^T |y|. Layers that are not trained lack the first and last."""

    @staticmethod
    def forward(layer, saved, u, new):
        size_of_input = size_of_weight = below = None
        if u is not None:
            size_of_weight = np.abs(layer.weight, out=new("|W|", layer.weight.shape, layer.weight.dtype))
            below = np.matmul(u, size_of_weight.T, out=new("u", saved.output.shape, saved.output.dtype))
        if layer.trainable:
            size_of_input = np.abs(saved.input, out=new("|y|", saved.input.shape, saved.input.dtype))
            own = size_of_input.sum(axis=1, keepdims=True)
            if layer.bias is not None:
                own += 1
            below = np.repeat(own, layer.out_features, axis=1) if below is None else np.add(below, own, out=below)
        return below, (size_of_input, size_of_weight)

    @staticmethod
    def backward(layer, saved, sizes, u, g, Z, new, options):
        size_of_input, size_of_weight = sizes
        curvature = np.empty(layer.size, dtype=Z.dtype)
        if layer.trainable:
            pieces = layer.split(curvature)
            np.matmul(Z.T, size_of_input, out=pieces[0])
            if layer.bias is not None:
                Z.sum(axis=0, out=pieces[1])
        if u is None:
            return None, curvature
        Z_in = np.matmul(Z, size_of_weight, out=new("Z", u.shape, Z.dtype))
        if options.cross and layer.trainable:
            size_of_g = np.abs(g)
            pieces[0][...] += size_of_g.T @ u
            Z_in += size_of_g.sum(axis=1, keepdims=True)
        return Z_in, curvature


@rules.register(Activation)
class ActivationRule(Rule):
    """u_out = |slope| u; Z_in = | |slope| Z + g curvature u |, or the part above zero."""

    @staticmethod
    def forward(layer, saved, u, new):
        if u is None:
            return None, None
        size_of_slope = np.abs(saved.slope, out=new("|slope|", saved.slope.shape, saved.slope.dtype))
        return np.multiply(size_of_slope, u, out=new("u", u.shape, u.dtype)), size_of_slope

    @staticmethod
    def backward(layer, saved, size_of_slope, u, g, Z, new, options):
        nothing = np.empty(0, dtype=Z.dtype)
        if u is None:
            return None, nothing
        Z_in = new("Z", u.shape, Z.dtype)
        if getattr(layer.function, "piecewise_linear", False):
            return np.multiply(size_of_slope, Z, out=Z_in), nothing
        kernels.partition_activation(g.ravel(), Z.ravel(), saved.slope.ravel(), saved.curvature.ravel(), u.ravel(), options.clip,
                                     Z_in.ravel())
        return Z_in, nothing


@rules.register(Reshape)
class ReshapeRule(Rule):
    """u_out and Z_in are u and Z in the other shape."""

    @staticmethod
    def forward(layer, saved, u, new):
        return (None if u is None else u.reshape(saved.output.shape)), None

    @staticmethod
    def backward(layer, saved, kept, u, g, Z, new, options):
        return (None if u is None else Z.reshape(saved.input.shape)), np.empty(0, dtype=Z.dtype)


@rules.register(Chain)
class ChainRule(Rule):
    """The rules of its layers, one after the other."""

    @staticmethod
    def forward(layer, saved, u, new):
        us, kept = up(layer, saved, u)
        return us[-1], (us, kept)

    @staticmethod
    def backward(layer, saved, kept, u, g, Z, new, options):
        us, inner = kept
        carried, curvature = down(layer, saved, inner, us, layer.output_gradients(saved, g), Z, options)
        return carried[0], curvature


@rules.register(Skip)
class SkipRule(Rule):
    """y = x + F(x): u adds, Z is copied to both branches and the branches' results add."""

    @staticmethod
    def forward(layer, saved, u, new):
        inside, kept = ChainRule.forward(layer.inner, saved.inner, u, new)
        if u is None or inside is None:
            return (inside if u is None else u), kept
        return u + inside, kept

    @staticmethod
    def backward(layer, saved, kept, u, g, Z, new, options):
        Z_in, curvature = ChainRule.backward(layer.inner, saved.inner, kept, u, g, Z, new, options)
        return (None if u is None else Z + Z_in), curvature


def check_layers(network):
    """TypeError, naming the first layer that has no rule; ValueError if the network computes with complex numbers."""
    if network.dtype.kind == "c":
        raise ValueError(f"residual partitioning needs a network of real numbers, got {network.dtype}")
    for layer in network.chain.sublayers():
        rules(layer)


def up(chain, saved, u, workspace=None):
    """Total gradients at the inputs of all layers of a chain and at its output, and what each rule kept."""
    us, kept = [u], []
    for layer, layer_saved in zip(chain.layers, saved):
        u, own = rules(layer).forward(layer, layer_saved, u, workspace.of(layer) if workspace else fresh)
        us.append(u)
        kept.append(own)
    return us, kept


def down(chain, saved, kept, us, deltas, Z, options, workspace=None):
    """Carry Z through a chain; return Z at the inputs of all layers and at the output, and the flat curvature sums.

    `deltas` are the gradients in the outputs of all layers.
    """
    curvatures, carried = [], [Z]
    nothing = np.empty(0, dtype=Z.dtype)
    for i in reversed(range(len(chain.layers))):
        if us[i + 1] is None:  # nothing up to here is trained: no parameters, and nothing to carry
            Z, curvature = None, nothing
        else:
            layer = chain.layers[i]
            new = workspace.of(layer) if workspace else fresh
            Z, curvature = rules(layer).backward(layer, saved[i], kept[i], us[i], deltas[i], Z, new, options)
        curvatures.append(curvature)
        carried.append(Z)
    return carried[::-1], np.concatenate(curvatures[::-1])


def bound(network, loss, x, y, output="auto", negative_curvature="abs", cross=False, l2=0.0):
    """Upper bound on the second-order model, with a diagonal Hessian ([residual-partitioning] (2)-(3), Algorithm 1 corrected).

    Parameters
    ----------
    network : Network
        Of `Linear` (trained or fixed), `Activation`, `Reshape`, `Skip` and `Chain` layers, and of
        layers of your own that have a rule.
    loss : Loss
    x : (S, *input_shape) array
    y : targets of the loss
    output : {"auto", "diagonal", "jensen", "pairwise"}
        How the loss's Hessian F is bounded by a diagonal. ``"diagonal"``: it is diagonal. ``"jensen"``: Eq. (46), as the
        paper, for convex losses. ``"pairwise"``: row sums of |F| weighted by u; tighter, and right for any loss. ``"auto"``:
        diagonal where F is, else jensen (pairwise for losses that are not convex).
    negative_curvature : {"abs", "max"}
        What becomes of a negative coefficient below a curved activation: its absolute value (the paper), or zero (tighter).
    cross : bool
        False bounds the quadratic with Hessian :func:`bounded_hessian`, as the paper's derivation does; True adds the products
        of changes of weights and activations that Eq. (4) drops, and bounds the true second-order model.
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
        Unknown options, an output rule that gives no bound for this loss, bad x, y or l2, no trainable parameters.
    FloatingPointError
        If gradient or curvature is not finite; the layer is named.
    """
    return bound_at(evaluate(network, loss, x, y), output, negative_curvature, cross, l2)


def bound_at(evaluation, output="auto", negative_curvature="abs", cross=False, l2=0.0):
    """:func:`bound` at an evaluation that was made before."""
    l2 = check_l2(l2)
    options = Options(clip=lookup(NEGATIVE_CURVATURE, negative_curvature, "negative_curvature"), cross=boolean(cross, "cross"))
    network, loss = evaluation.network, evaluation.loss_function
    check_network(network)
    check_layers(network)
    evaluation.require_current()
    output = output_rule(loss, output)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused below, with the layer's name
        us, kept = up(network.chain, evaluation.saved, None, evaluation.workspace)
        Z = OUTPUTS[output](loss, evaluation.outputs, evaluation.y, us[-1])
        carried, curvature = down(network.chain, evaluation.saved, kept, us, evaluation.deltas, Z, options,
                                  evaluation.workspace)
    curvature /= evaluation.samples
    network.require_finite(curvature, "residual partitioning: the curvature")
    value, gradient = evaluation.loss, evaluation.gradient + l2 * network.theta
    if l2:
        value += l2 / 2 * float(network.theta @ network.theta)
        curvature += l2
    return Bound(value, gradient, curvature, us, carried, output)
