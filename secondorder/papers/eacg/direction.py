"""The direction that all layers' systems give together: what is added to the parameters."""

import numpy as np

from ...checks import check_l2
from ...checks.randomness import generator
from .curvatures import check_real_network, curvatures_at, finite, positive_curvature
from .options import checked
from .rules import linear, units
from .solvers.by_name import solve_bias, solve_weights
from .solvers.systems import System


def direction(network, loss, x, y, curvature="pch-1", solver="ea-cg", alpha=0.1, max_cg=None,
              tolerance=None, l2=0.0, joint=False, rank=1, preconditioner=None, literal=False,
              rng=None):
    """The damped Newton direction d of every layer, Eq. (9)-(10b): what learning rate 1 adds.

        ((1 - alpha) B + alpha I) d_b = -g
        ((1 - alpha) A (x) B + alpha I) Vec(D_W) = -Vec(G)

    Parameters
    ----------
    network : Network
        Of `Linear`, `Activation` and `Chain` layers.
    loss : Loss
    x : (S, n_0) array
    y : targets in the form that the loss takes
    curvature : str
        A curvature of :func:`~secondorder.papers.eacg.bias_curvatures` that is positive
        semidefinite.
    solver : {"ea-cg", "ea-closed", "cg", "exact", "kfi", "kfi-rank-one"}
        ``"ea-cg"``: conjugate gradients on (11b), the paper's method. ``"ea-closed"``: the same
        system in closed form. ``"cg"``: conjugate gradients on (11a). ``"exact"``: (11a) by
        eigenvectors. ``"kfi"``: (12). ``"kfi-rank-one"``: (12), with (13) in the first layer.
    alpha : float
        Weight of the identity in (9), above 0 and below 1.
    max_cg : int, optional
        Most products of conjugate gradients for a layer, 50 unless given. Refused with a solver
        that makes none.
    tolerance : float, optional
        Conjugate gradients end where |residual| <= tolerance |gradient|, 1e-10 unless given.
        Refused with a solver that makes no products.
    l2 : float
        Penalty (l2/2)|theta|^2. It enters the gradient, and as l2 I the curvature, which 1 - alpha
        multiplies. KFI has no such factor: alpha + l2 stands for alpha.
    joint : bool
        Solve for [W b] as one matrix, with inputs [h; 1], instead of W and b apart.
    rank : int
        For (11b): 1 is the paper's; higher ones add the largest parts of the inputs' covariance.
    preconditioner : None or "kfi"
        Of conjugate gradients: KFI's inverse.
    literal : bool
        ``"ea-cg"`` on arrays as large as the weights instead of on two coefficients. KFI with both
        matrices of (12), also where inputs are wider than the batch.
    rng : None, int or numpy.random.Generator
        For ``"fisher-sampled"``, the only one that draws; checked whatever the curvature.

    Returns
    -------
    (P,) array
        A descent direction, as the damped curvature is positive definite.

    Raises
    ------
    ValueError, TypeError
        Bad arguments; an option without effect; a curvature that may be indefinite; a layer without
        a rule.
    FloatingPointError
        If outputs, gradient, curvature, the inputs' second moment (or the square of their mean) or
        the direction are not finite; the layer is named.
    """
    l2 = check_l2(l2)
    options = checked(solver, alpha, l2, max_cg, tolerance, joint, rank, preconditioner, literal)
    positive_curvature(curvature)
    rng = generator(rng)
    check_real_network(network)
    evaluation = network.evaluate(loss, x, y)
    gradient = evaluation.gradient + l2 * network.theta
    step, _ = direction_at(evaluation, gradient, curvature, options, rng)
    return network.require_finite(step, "EA-CG: the direction")


def direction_at(evaluation, gradient, curvature, options, rng=None, out=None):
    """:func:`direction` at an evaluation, for the objective's gradient (P,), in `out` if given; and
    a (Report, Report or None) of weights and bias for every trained layer.
    """
    all_units = units(evaluation)
    matrices = finite(curvatures_at(evaluation, curvature, rng, all_units))
    step, reports = np.empty_like(gradient) if out is None else out, []
    for t, (unit, B) in enumerate(zip(linear(all_units), matrices)):
        if unit.layer.size:
            require_finite_factors(unit, B, options, t)
            piece, place = gradient[unit.where], step[unit.where]
            try:
                reports.append(layer_direction(unit, B, piece, options, t == 0, place))
            except FloatingPointError as error:
                raise FloatingPointError(f"linear layer {t + 1}: {error}") from error
    return step, reports


#: Solvers that see a layer's inputs by their mean only, if the rank is 1.
BY_THE_MEAN = ("ea-cg", "ea-closed")


def require_finite_factors(unit, B, options, t):
    """FloatingPointError, naming linear layer `t` + 1, unless A, B and A (x) B are surely finite.

    In the trace of A: it bounds every entry and eigenvalue, and needs no (m, m) array. A solver
    would take infinite curvature for a direction of 0.
    """
    X = unit.saved.input
    if options.rank == 1 and options.solver in BY_THE_MEAN:
        rows, what = X.mean(axis=0, keepdims=True), "the square of the mean input"
    else:
        rows, what = X, "the second moment of the inputs"
    with np.errstate(over="ignore", invalid="ignore"):
        trace_A = float(np.vdot(rows, rows)) + options.joint
        whole = trace_A * float(np.trace(B, dtype=np.float64))
    if not np.isfinite(trace_A):
        raise FloatingPointError(f"EA-CG: {what} of linear layer {t + 1} is not finite")
    if not np.isfinite(whole):
        raise FloatingPointError(f"EA-CG: the curvature of the weights of linear layer {t + 1} is "
                                 "not finite")


def layer_direction(unit, B, gradient, options, first, out):
    """Write the direction of one layer's parameters (size,) into `out`, and report."""
    layer, X = unit.layer, unit.saved.input
    G, g = (*layer.split(gradient), None)[:2]
    D, d = (*layer.split(out), None)[:2]
    if g is None or not options.joint:
        system = System(B, X, unit.delta, layer.weight, G, options.alpha, options.l2)
        weights = solve_weights(system, options, first, D)
        return weights, None if g is None else solve_bias(system, g, options, d)
    X = np.concatenate([X, np.ones_like(X[:, :1])], axis=1)
    system = System(B, X, unit.delta, _beside(layer.weight, layer.bias), _beside(G, g),
                    options.alpha, options.l2)
    both = np.empty_like(system.G)
    report = solve_weights(system, options, first, both)
    D[...], d[...] = both[:, :-1], both[:, -1]
    return report, None


def _beside(W, b):
    """[W b], (n, m + 1)."""
    return np.concatenate([W, b[:, None]], axis=1)
