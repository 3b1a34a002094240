"""Gauss-Newton as a training method, through the paper's right inverse or the Moore-Penrose
inverse.
"""

from dataclasses import replace

import numpy as np

from ...optimizers.base import Optimizer
from ...optimizers.step import own_evaluation
from ...checks.randomness import generator
from .directions import update_at
from .options import Options, checked
from .update import warn
from .recomputed import RunningEvaluation


class GaussNewton(Optimizer):
    """Gauss-Newton: move all outputs of the batch along minus the gradient of their losses.

    Parameters
    ----------
    network : RevMLP or Network
        A `RevMLP` for the right inverse, any network for the Moore-Penrose inverse.
    loss : Loss
    learning_rate : float or schedule
        alpha of Eqs. (5), (16), (17). For the half squared error 1 is the full step, and everything
        below 2 is stable. For a softmax the loss falls like 1 / (alpha t).
    l2 : float
        Decoupled: ``l2 * theta`` is subtracted from the direction (a weight decay, not part of
        eps).
    inverse, pseudo_inverse, strength, block_weights, curvature, decomposition, recompute,
    drift_tolerance
        As for :func:`direction`. By default singular values below 1 % of the largest, or below
        1e-5, are left out, as the paper does; ``pseudo_inverse="exact"`` inverts all of them.
    measure : bool
        Report the norm of the gradient and the residual of the step, which cost about a gradient
        and a half; without, both are NaN. (With ``recompute=True`` the gradient is never measured.)
    rng : None, int or numpy.random.Generator
        For ``pseudo_inverse="noise"``.

    Notes
    -----
    The direction belongs to the SUM of the losses, as in the paper: a step does not shrink with the
    batch. ``info["objective"]`` is the mean loss plus penalty, as everywhere.

    ``step`` reports

    - ``rank``: the least rank of the features, or the rank of the kernel;
    - ``full_rank``: the rank if all samples were independent;
    - ``ranks``: the ranks of all half-coupled layers, in order;
    - ``block_weights``;
    - ``defect``: the residual |J d + eps| / |eps|, 0 for an exact inverse;
    - ``drift``: how far the recomputed inverse missed the input.

    An optimizer gives one `RankWarning` if an exact inverse was asked for and does not
    exist. It gives one `PrecisionWarning` if such a step misses more of the error than the
    precision allows. With ``measure=False`` only the fits of the features are judged, by one
    random vector each.
    """

    state_names = ("seed",)

    def __init__(self, network, loss, learning_rate=1.0, l2=0.0, inverse="right",
                 pseudo_inverse="truncate", strength=None, block_weights="uniform",
                 curvature="identity", decomposition="gram", recompute=False, drift_tolerance=1e-4,
                 measure=True, rng=None):
        self.options = checked(network, Options(
            inverse, pseudo_inverse, strength, block_weights, curvature, decomposition, recompute,
            drift_tolerance, measure))
        super().__init__(network, loss, learning_rate, l2)
        self.seed = int(generator(rng).integers(2**53))
        self._warned = set()

    def step(self, x, y):
        if self.options.recompute:
            return self._taken(RunningEvaluation(self.network, self.loss, x, y))
        return super().step(x, y)

    def _gradient_norm(self, evaluation):
        if not self.options.measure_residual or isinstance(evaluation, RunningEvaluation):
            return np.nan
        return super()._gradient_norm(evaluation)

    def direction(self, evaluation):
        options = self.options
        if not isinstance(evaluation, RunningEvaluation):
            own_evaluation(self, evaluation)
        # of this step alone, so that a resumed run draws the same
        if options.pseudo_inverse == "noise":
            options = replace(options, rng=np.random.default_rng([self.seed, self.steps]))
        step = update_at(evaluation, options)
        self._report(step)
        return step.direction - self.l2 * self.network.theta if self.l2 else step.direction

    def _report(self, step):
        self.details.update(rank=step.rank, full_rank=step.full_rank, defect=step.residual,
                            drift=step.drift)
        if step.ranks is not None:
            self.details.update(ranks=", ".join(map(str, step.ranks.ravel())),
                                block_weights=", ".join(f"{c:.6g}" for c in step.weights))
        self._warned = warn(step, self.options.pseudo_inverse, 2, self._warned)
