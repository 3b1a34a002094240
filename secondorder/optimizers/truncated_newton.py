"""Truncated Newton: conjugate gradients on exact curvature products, with damping that adapts."""

import numpy as np

from ..checks import Checked, all_finite, boolean, number_in, one_of, positive_number, whole_number
from ..exact.conjugate_gradients import conjugate_gradients, dot
from ..exact.curvature import gauss_newton_product_at, hessian_vector_product_at
from .base import Optimizer
from .norms import norm
from .trials import halved, objective_after

CURVATURES = ("hessian", "gauss-newton")
SMALLEST_DAMPING = 0.03


class TruncatedNewton(Optimizer):
    """Newton's method with the linear system solved by a few iterations of conjugate gradients.

        (H + damping I) direction = -g

    H is the exact Hessian of the batch's objective, or its Gauss-Newton matrix, known by products
    with vectors only.

    Parameters
    ----------
    network : Network
    loss : Loss
    learning_rate : float or schedule
        1 is Newton's own step.
    l2 : float
        Penalty (l2 / 2) |theta|^2; it is part of g and of H.
    curvature : {"hessian", "gauss-newton"}
    damping : float
        Where the damping starts, not negative.
    max_cg : int
        Most iterations a step.
    tolerance : float
        Iterations end when the residual has shrunk to this part of |g|; from 0 to below 1. Small
        values pay on full batches; on small ones they fit the noise.
    adapt_damping : bool
        Whether the damping follows the reduction ratio.
    smallest_damping : float, optional
        Positive, and not above `damping` unless that is 0; by default 0.03, or `damping` where that
        is smaller. Adaptation does not shrink the damping below it. Small batches of a large
        network need it. Each can be fitted almost exactly, so that the ratio alone would let the
        damping vanish.
    max_halvings : int
        How often a step that raises the batch's objective is halved before it is given up; 0 takes
        every step as it is.

    Attributes
    ----------
    damping : float
        Of the next step.

    Notes
    -----
    *Negative curvature.* Where p^T (H + damping I) p <= 0 for a direction p of conjugate gradients,
    the iterations end. What was reached before is the direction. If nothing was (p is -g itself),
    the direction is -g / |k| with k = g^T H g / |g|^2, the curvature along it. It is no longer than
    max(1, |theta|).

    *Reduction ratio.* With s = rate * direction, ratio = (f(theta) - f(theta + s)) / (-g^T s - s^T
    H s / 2), both on this batch. Below 1/4 the damping grows by 3/2, above 3/4 it shrinks to 2/3
    (the rule of Martens 2010). From 0 it grows to `smallest_damping` first. The damping stays and
    no ratio is reported if the predicted decrease is lost in the rounding of f, or is negative
    (rates above 1).

    *Steps that do not descend.* If f(theta + s) > f(theta), beyond rounding, s is halved up to
    `max_halvings` times. If that does not help, the parameters stay and the damping is multiplied
    by 4 (unless `adapt_damping` is false).

    ``step`` reports ``cg_iterations``, ``residual`` (relative to |g|), ``negative_curvature``,
    ``damping`` (used in this step), ``reduction_ratio`` (of the whole step; -1 stands for -1 and
    all below), ``halvings`` and ``accepted``.
    """

    state_names = ("damping",)
    curvature = Checked(lambda value, name: one_of(CURVATURES, value, name))
    damping, tolerance = Checked(number_in, 0, np.inf), Checked(number_in, 0, 1)
    max_cg, max_halvings = Checked(whole_number, 1), Checked(whole_number, 0)
    adapt_damping, smallest_damping = Checked(boolean), Checked(positive_number)

    def __init__(self, network, loss, learning_rate=1.0, l2=0.0, curvature="hessian", damping=1.0,
                 max_cg=50, tolerance=0.5, adapt_damping=True, smallest_damping=None,
                 max_halvings=10):
        super().__init__(network, loss, learning_rate, l2)
        self.curvature, self.damping, self.max_cg = curvature, damping, max_cg
        self.tolerance, self.adapt_damping = tolerance, adapt_damping
        largest = self.damping or np.inf
        self.smallest_damping = min(SMALLEST_DAMPING, largest) if smallest_damping is None \
            else positive_number(smallest_damping, "smallest_damping", largest)
        self.max_halvings = max_halvings

    def direction(self, evaluation):
        """What the damped Newton system gives, after at most `max_cg` products."""
        g, damping = self.gradient(evaluation), self.damping
        result = conjugate_gradients(lambda v: self._curved(evaluation, v) + damping * v, -g,
                                     self.tolerance, self.max_cg)
        size = norm(g)
        residual = norm(result.residual) / size if size else 0.0
        self.details.update(cg_iterations=result.iterations, residual=residual,
                            negative_curvature=result.negative_curvature, damping=damping)
        if result.negative_curvature and result.iterations == 1:
            return self._steepest(g, result.curvature - damping)
        return result.solution

    def _curved(self, evaluation, v):
        """The curvature matrix, without damping, times v."""
        product = (hessian_vector_product_at if self.curvature == "hessian"
                   else gauss_newton_product_at)
        return product(evaluation, v, l2=self.l2)

    def _steepest(self, g, curvature):
        """-g / |curvature|, no longer than max(1, |theta|)."""
        longest = max(1.0, norm(self.network.theta)) / norm(g)
        length = longest if curvature == 0 else min(longest, 1 / abs(curvature))
        return -length * g

    def change(self, evaluation, direction, rate):
        """rate * direction, halved until the objective does not rise; adapts the damping."""
        s = super().change(evaluation, direction, rate)
        after = self._learn(evaluation, s)
        halvings, descends = halved(self, evaluation, s, after, self.max_halvings)
        accepted = descends or self.max_halvings == 0
        self.details.update(halvings=halvings, accepted=accepted)
        if accepted:
            return s
        if self.adapt_damping:
            self._grow(4.0)
        s[...] = 0
        return s

    def observe(self, evaluation, change):
        """Adapt the damping to a change that a wrapper makes, as to the method's own steps."""
        self._learn(evaluation, change)

    def _learn(self, evaluation, s):
        """Compare the objective at theta + s with what the model predicts there; adapt the damping.

        Returns the objective there.
        """
        before = self.objective(evaluation)
        rounding = 4 * float(np.finfo(s.dtype).eps) * abs(before)
        predicted = self._predicted_decrease(evaluation, s)
        after = objective_after(self, evaluation, s)
        if predicted > rounding:
            ratio = (before - after) / predicted
            self.details["reduction_ratio"] = max(ratio, -1.0)
            if self.adapt_damping:
                self._adapt(ratio)
        return after

    def _adapt(self, ratio):
        if ratio < 0.25:
            self._grow(1.5)
        elif ratio > 0.75:
            self.damping = min(self.damping, max(2 / 3 * self.damping, self.smallest_damping))

    def _grow(self, factor):
        self.damping = max(factor * self.damping, self.smallest_damping)

    def _predicted_decrease(self, evaluation, s):
        """-g^T s - s^T H s / 2, without the damping; NaN where something overflows."""
        if not all_finite(s):
            return np.nan
        try:
            Hs = self._curved(evaluation, s)
        except FloatingPointError:
            return np.nan
        return -dot(self.gradient(evaluation), s) - dot(s, Hs) / 2
