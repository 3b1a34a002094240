"""Residual partitioning as a method: what trains, and the bound at one point.

No formula stands here: `direction` runs Algorithm 1, `bound` gives what it makes of one batch.
"""

import math
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from ...checks import (Checked, all_finite, boolean, check_l2, lookup, number_in, one_of, promised,
                       real_array, require_real)
from ...exact.curvature import check_network, evaluate
from ...optimizers.base import Optimizer
from ...optimizers.step import ALONE, own_evaluation
from ...optimizers.trials import halved, objective_after
from .section_3_residual_partitioning import NEGATIVE_CURVATURE, eq_3_bound, quadratic
from .section_7_algorithm_1 import OUTPUTS, algorithm_1, algorithm_1_last_lines, down, up

# By output rule: the largest of 1, 3, 10, ... at which all small nets tried stayed stable (digits,
# wine, diabetes; one to three hidden layers of tanh, relu and softplus).
LEARNING_RATES = {"diagonal": 1.0, "jensen": 3.0, "pairwise": 3.0}
HALVINGS = 20  # a millionth of the step


class ResidualPartitioning(Optimizer):
    """Minimise the bound of Deep Residual Partitioning at every step: -gradient / curvature,
    parameter by parameter.

    Parameters
    ----------
    network : Network
        Of layers that have a rule: see :func:`bound`.
    loss : Loss
    learning_rate : float or schedule, optional
        lambda. Default by output rule: 1 (diagonal), 3 (jensen, pairwise), which is cautious.
    l2 : float
        Penalty (l2/2)|theta|^2. The rate scales the data's curvature only: the step is the exact
        minimiser of g d + curvature d^2 / (2 rate) + (l2/2) (theta + d)^2.
    output, negative_curvature, cross
        As for :func:`bound`.
    damping : float
        Added to the data's curvature. It limits the step where the bound is nearly flat and the
        gradient is not, as with a softmax that is confidently wrong.
    safeguard : bool
        Whether a step that raises the batch's objective is halved until it does not, up to 20
        times, and else left out. It costs one more forward pass a step, or a few. A wrapper decides
        itself how far to go and does without.

    Notes
    -----
    *What is bounded* is the second-order model of the loss at the present parameters, without the
    products that (4) leaves out unless ``cross=True``. The loss itself may rise, with a rate far
    below 1 as well, where higher derivatives matter: ``safeguard=True`` looks, and halves.

    *The best rate is far above 1*, although the bound guarantees a decrease only between 0 and 2:
    Jensen's inequality is loose where a change is split over many parameters. Raise the rate by
    factors of 3 until training becomes unstable, then go back by one factor.

    *Where the curvature is 0*, damping included, a parameter is left alone, penalty included. Its
    gradient need not be 0, as where a softmax is so confident that its second derivatives
    underflow.

    ``step`` reports ``bound_decrease``, what the bound promises at this rate (negative where the
    rate is too large for a promise), and ``idle_parameters``, how many curvatures are 0, both
    before the step is halved; with a safeguard also ``halvings`` and ``accepted``.
    """

    cross, safeguard = Checked(boolean), Checked(boolean)
    damping = Checked(number_in, 0, np.inf)
    negative_curvature = Checked(lambda value, name: one_of(NEGATIVE_CURVATURE, value, name))
    output = property(attrgetter("_output"), doc="The name in `OUTPUTS` of the output's rule.")

    def __init__(self, network, loss, learning_rate=None, l2=0.0, output="auto",
                 negative_curvature="abs", cross=False, damping=0.0, safeguard=False):
        rate = LEARNING_RATES[checked(network, loss, output)] if learning_rate is None \
            else learning_rate
        super().__init__(network, loss, rate, l2)
        self.output, self.negative_curvature = output, negative_curvature
        self.cross, self.damping, self.safeguard = cross, damping, safeguard

    @output.setter
    def output(self, value):
        self._output = checked(self.network, self.loss, value)

    @property
    def depends_on_rate(self):
        """True with a penalty: the rate scales the data's curvature only."""
        return self.l2 > 0

    def direction(self, evaluation, step=ALONE):
        """Algorithm 1: the minimiser of the bound, parameter by parameter, over lambda."""
        own_evaluation(self, evaluation)
        with np.errstate(over="ignore", invalid="ignore"):
            W_ddot = algorithm_1(evaluation, self.output,
                                 NEGATIVE_CURVATURE[self.negative_curvature], self.cross).W_ddot
        direction, decrease, idle = step.run(algorithm_1_last_lines, self, evaluation,
                                             (self.learning_rate, self.damping), given=[W_ddot])
        if not math.isfinite(decrease):  # with a curvature of inf the step is 0, and looks right
            finite(self.network, W_ddot)
        self.details.update(bound_decrease=decrease, idle_parameters=idle)
        return direction

    def _straight(self):
        return type(self).change is ResidualPartitioning.change and not self.safeguard

    def change(self, evaluation, direction, rate):
        """rate * direction; with a safeguard halved until the batch's objective does not rise."""
        change = super().change(evaluation, direction, rate)
        if self.safeguard and all_finite(change):
            after = objective_after(self, evaluation, change)
            halvings, accepted = halved(self, evaluation, change, after, HALVINGS)
            self.details.update(halvings=halvings, accepted=accepted)
            if not accepted:
                change[...] = 0
        return change


class Bound(NamedTuple):
    """A quadratic upper bound with a diagonal Hessian, at one point.

    Attributes
    ----------
    loss : float
        Objective at the point, penalty included.
    gradient : (P,) array
        Gradient of the objective.
    curvature : (P,) array
        Diagonal of the bound's Hessian, not negative.
    """

    loss: float
    gradient: np.ndarray
    curvature: np.ndarray

    def value(self, delta):
        """(3) at theta + delta (P,): loss + sum of gradient delta + curvature delta^2 / 2.

        ValueError if delta has another shape or entries that are not finite.
        """
        delta = real_array(delta, "delta", self.gradient.shape)
        return float(eq_3_bound(self.loss, [quadratic(self.gradient, self.curvature, delta)]))


def bound(network, loss, x, y, output="auto", negative_curvature="abs", cross=False, l2=0.0):
    """Upper bound (3) on the second-order model of the objective, with a diagonal Hessian.

    Parameters
    ----------
    network : Network
        Of `Linear`, `Conv2d` (trained or fixed), `Activation`, pooling, `Flatten`, `Reshape`,
        `Skip` and `Chain` layers, and of your layers that have a rule.
    loss : Loss
    x : (S, *input_shape) array
    y : targets of the loss
    output : {"auto", "diagonal", "jensen", "pairwise"}
        How the loss's Hessian F is bounded by a diagonal. ``"jensen"``: (46), as the paper, for
        convex losses. ``"diagonal"``: where F is. ``"pairwise"``: row sums of |F| weighted by u;
        tighter, and right for any loss. ``"auto"``: diagonal where F is, else jensen (pairwise for
        losses that are not convex).
    negative_curvature : {"abs", "max"}
        What becomes of a negative coefficient below a curved activation: its absolute value (the
        paper), or zero (tighter).
    cross : bool
        False bounds the quadratic with Hessian :func:`bounded_hessian`, as the paper's derivation
        does. True adds the products of changes of weights and units that (4) leaves out. The bound
        is then of the true second-order model.
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
    network, l2 = evaluation.network, check_l2(l2)
    output = checked(network, evaluation.loss_function, output)
    correct = lookup(NEGATIVE_CURVATURE, negative_curvature, "negative_curvature")
    evaluation.require_current()
    with np.errstate(over="ignore", invalid="ignore"):
        W_ddot = algorithm_1(evaluation, output, correct, boolean(cross, "cross")).W_ddot
    penalty = l2 / 2 * float(network.theta @ network.theta) if l2 else 0.0
    return Bound(evaluation.loss + penalty, evaluation.gradient + l2 * network.theta,
                 finite(network, W_ddot) + l2)


def checked(network, loss, output):
    """The name in `OUTPUTS` that `output` stands for; an error where there is no bound."""
    check_network(network)
    require_real(network, "residual partitioning")
    for layer in network.chain.sublayers():
        up(layer), down(layer)
    if output == "auto":
        return ("diagonal" if getattr(loss, "diagonal_hessian", False) else
                "jensen" if getattr(loss, "convex", False) else "pairwise")
    lookup(OUTPUTS, output, "output")
    if output == "diagonal":
        promised(loss, "diagonal_hessian", "output='diagonal'", "; use 'jensen' or 'pairwise'")
    if output == "jensen":
        promised(loss, "convex", "output='jensen'", "; use 'pairwise'")
    return output


def finite(network, W_ddot):
    """W_ddot (P,) if it is finite; else FloatingPointError names the layer, and a remedy."""
    try:
        return network.require_finite(W_ddot, "residual partitioning: the curvature")
    except FloatingPointError as error:
        if W_ddot.dtype == np.float64:
            raise
        raise FloatingPointError(f"{error}. It grows with every layer by about the width times the "
                                 "size of a weight; dtype='float64' has the range for it") from None
