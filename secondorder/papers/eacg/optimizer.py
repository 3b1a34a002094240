"""Damped Newton directions of every layer as a training method: any curvature, any solver."""

import numpy as np

from ...checks import number_in
from ...checks.randomness import generator
from ...optimizers.base import Optimizer
from .curvatures import positive_curvature
from .direction import direction_at
from .options import checked
from .rules import check_layers

LIMITS = (20, 1e-2)  # max_cg and tolerance from the middle of the paper's grids


class EACG(Optimizer):
    """Solve the damped system (9) of a curvature, layer by layer, at every step: Eq. (8)-(13).

    The defaults are the paper's method with PCH-1, its settings from the middle of its grids.

    Parameters
    ----------
    network : Network
        Of `Linear`, `Activation` and `Chain` layers.
    loss : Loss
    learning_rate : float or schedule
    l2 : float
        Penalty (l2/2)|theta|^2; as l2 I it joins the curvature.
    curvature : str
        ``"pch-1"``, ``"pch-2"``, ``"pch-mean"``, ``"clipped"``, ``"gauss-newton"``,
        ``"fisher-empirical"`` (``"fisher"`` in the paper), ``"fisher-sampled"`` or
        ``"fisher-exact"``; see :func:`bias_curvatures`.
    solver : str
        ``"ea-cg"``, ``"ea-closed"``, ``"cg"``, ``"exact"``, ``"kfi"`` or ``"kfi-rank-one"``, as
        :func:`direction` explains them.
    alpha : float
        Weight of the identity, above 0 and below 1.
    max_cg : int, optional
        Most products of conjugate gradients for a layer, 20 unless given.
    tolerance : float, optional
        Conjugate gradients end where |residual| <= tolerance |gradient|, 0.01 unless given.
    momentum : float
        From 0 to below 1: buffer <- momentum * buffer + direction, and the buffer is what is added.
    joint : bool
        Weights and bias of a layer as one matrix, with inputs [h; 1].
    rank : int
        For (11b): above 1, the largest parts of the inputs' covariance are added.
    preconditioner : None or "kfi"
    literal : bool
        ``"ea-cg"`` on arrays as large as the weights instead of on two coefficients. KFI with both
        matrices of (12), also where inputs are wider than the batch.
    rng : None, int or numpy.random.Generator
        For ``"fisher-sampled"``.

    Raises
    ------
    ValueError
        A curvature that may be indefinite, alpha outside (0, 1), unknown names, an option without
        effect such as `max_cg` with a direct solver.
    TypeError
        A layer without a rule; a Fisher matrix of the model for a loss that is no negative
        log-likelihood.

    Notes
    -----
    Across the mean input of a layer the direction of ``"ea-cg"`` and ``"ea-closed"`` is the
    gradient over alpha. With a small alpha, most of a step is gradient descent at the rate
    learning_rate / alpha. Choose the two together.

    ``step`` reports ``cg_iterations`` (of all layers, biases included) and ``cg_residual`` (the
    largest relative residual that was left); both are 0 with a direct solver.
    """

    state_names = ("buffer", "seed", "draws")

    def __init__(self, network, loss, learning_rate=0.1, l2=0.0, curvature="pch-1", solver="ea-cg",
                 alpha=0.02, max_cg=None, tolerance=None, momentum=0.0, joint=False, rank=1,
                 preconditioner=None, literal=False, rng=None):
        super().__init__(network, loss, learning_rate, l2)
        self.curvature = positive_curvature(curvature)
        self.options = checked(solver, alpha, self.l2, max_cg, tolerance, joint, rank,
                               preconditioner, literal, LIMITS)
        self.max_cg, self.tolerance = self.options.max_cg, self.options.tolerance
        self.momentum = number_in(momentum, "momentum", 0, 1)
        check_layers(network)
        if curvature in ("fisher-sampled", "fisher-exact"):
            loss.fisher(np.zeros((1, *network.output_shape), dtype=network.dtype))
        self.buffer = np.zeros_like(network.theta) if self.momentum else None
        self.seed, self.draws = int(generator(rng).integers(2**62)), 0

    def direction(self, evaluation):
        rng = None
        if self.curvature == "fisher-sampled":
            rng = np.random.default_rng([self.seed, self.draws])
            self.draws += 1
        direction, reports = direction_at(evaluation, self.gradient(evaluation), self.curvature,
                                          self.options, rng)
        solved = [report for pair in reports for report in pair if report is not None]
        self.details.update(cg_iterations=sum(report.iterations for report in solved),
                            cg_residual=max(report.residual for report in solved))
        if not self.momentum:
            return direction
        self.buffer = self.momentum * self.buffer + direction
        return self.buffer
