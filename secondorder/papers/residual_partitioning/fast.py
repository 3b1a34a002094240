"""The bound in one forward and one backward pass: the corrected Algorithm 1.

Downwards it carries Z = Y_ddot * u instead of Y_ddot, so that nothing is divided by a total
gradient that may be zero (inputs, dead units, saturated units, everything below the first trained
layer). What happens at every layer stands in `rules`.
"""

from dataclasses import dataclass

import numpy as np

from ...checks import check_l2, real_array
from ...exact.curvature import evaluate
from .options import checked
from .rules import OUTPUTS, down, up


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


def bound(network, loss, x, y, output="auto", negative_curvature="abs", cross=False, l2=0.0):
    """Upper bound on the second-order model, with a diagonal Hessian (Eqs. (2)-(3),
    Algorithm 1 corrected).

    Parameters
    ----------
    network : Network
        Of `Linear` (trained or fixed), `Activation`, `Reshape`, `Skip` and `Chain` layers, and of
        your layers that have a rule.
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
        does. True adds the products of changes of weights and activations that Eq. (4) drops. The
        bound is then of the true second-order model.
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
    options = checked(network, loss, output, negative_curvature, cross)
    evaluation.require_current()
    us, carried, curvature = sums(evaluation, options)
    curvature = curvature * (curvature.dtype.type(1) / evaluation.samples)
    network.require_finite(curvature, "residual partitioning: the curvature")
    value, gradient = evaluation.loss, evaluation.gradient + l2 * network.theta
    if l2:
        value += l2 / 2 * float(network.theta @ network.theta)
        curvature += l2
    return Bound(value, gradient, curvature, us, carried, options.output)


def sums(evaluation, options):
    """One pass up and one down: u and Z at all inputs and the output, and curvature sums (P,)."""
    chain, loss, p = evaluation.network.chain, evaluation.loss_function, evaluation.outputs
    # what is not finite is refused later, with the layer's name
    with np.errstate(over="ignore", invalid="ignore"):
        us, contexts = up(chain, evaluation.saved, None)
        Z = OUTPUTS[options.output](loss, p, evaluation.y, us[-1])
        carried, curvature = down(chain, evaluation.saved, contexts, us, evaluation.deltas, Z,
                                  options)
    return us, carried, curvature
