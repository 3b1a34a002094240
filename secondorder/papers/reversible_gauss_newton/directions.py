"""`direction`: the Gauss-Newton step through the paper's right inverse, or through the
Moore-Penrose inverse.

A step is made by one of three strategies: through the tangent kernel (``moore_penrose``), through
the right inverse from activations that were saved (``sweep``), or from activations that are
computed again by running the network backwards (``recomputed``).
"""

import numpy as np

from ...checks import check_l2
from ...nets import SquaredError
from .moore_penrose import kernel_step
from .options import Options, checked
from .update import relative_size, residual, warn
from .recomputed import RunningEvaluation, recomputed_step, running_residual
from .sweep import stored_step


def direction(network, loss, x, y, inverse="right", pseudo_inverse="truncate", strength=None,
              block_weights="uniform", curvature="identity", l2=0.0, decomposition="gram",
              recompute=False, drift_tolerance=1e-4, rng=None):
    """The Gauss-Newton direction, (P,): what is added at rate 1.

    It is minus J^+ eps, with J^+ a generalised inverse of the Jacobian of all outputs. eps is the
    gradient of the SUM of the losses in the outputs. (The package's objective is the mean.) A
    decoupled penalty, l2 times the parameters, is subtracted.

    Parameters
    ----------
    network : Network
        A `RevMLP` for the right inverse; any network for the Moore-Penrose inverse.
    loss : Loss
    x, y : a batch
    inverse : {"right", "moore-penrose"}
        "right": Eqs. (16)-(17), the average (55) of the blocks' right
        inverses. "moore-penrose": Eq. (5), the shortest step with the same J d, through the kernel
        J J^T (n C, n C).
    pseudo_inverse : {"truncate", "exact", "damp", "tikhonov", "noise"}
        How singular values s are treated: of the features S = sigma(V X) of every half-coupled
        layer for the right inverse, of J for Moore-Penrose. truncate: those below strength * s_max
        or below 1e-5 are left out, as in the paper's experiments. exact: all that differ from zero
        are inverted, as in the equations; a step explodes where one is small. damp: 1 / (s +
        strength s_max). tikhonov: s / (s^2 + strength s_max^2). noise: the pseudo-inverse of S +
        strength std(S) N.
    strength : float, optional
        Default 0.01 for truncate and damp, 1e-4 for tikhonov, 0.1 for noise.
    block_weights : {"uniform", "shortest", "last", "full-rank"} or (L,) array with sum 1
        c_l. uniform: 1/L, as in the paper. shortest: the shortest step among all weights. last: the
        last block only. full-rank: equal for the blocks where both matrices of features have
        independent columns.
    curvature : {"identity", "loss"}
        "identity" is what the paper runs: the Hessian of the loss is replaced by I. "loss" is the
        generalised Gauss-Newton step (19), for losses whose Hessian is invertible.
    l2 : float
    decomposition : {"gram", "svd"}
        How S+ is applied: through a small Gram matrix, or a thin singular value decomposition
        (slower; it sees relative singular values below 1e-7).
    recompute : bool
        Do not keep activations: recompute them by running the network backwards. Where that misses
        the input by more than `drift_tolerance`, relative to the largest |x_l|, the step is made
        again from a second forward pass.
    drift_tolerance : float
    rng : None, int or numpy.random.Generator
        For "noise".

    Returns
    -------
    (P,) array

    Raises
    ------
    ValueError, TypeError
        Bad data or options. For the right inverse, a network that is no RevMLP or has a fixed W.
        curvature="loss" for a loss whose Hessian is singular.
    FloatingPointError
        If outputs, the tangent kernel or the direction are not finite.

    Warns
    -----
    RankWarning
        Once, with the ranks, if an exact inverse does not exist.
    PrecisionWarning
        If it exists, and the step still misses more of eps than the precision allows.
    """
    options = Options(inverse, pseudo_inverse, strength, block_weights, curvature, decomposition,
                      recompute, drift_tolerance, True, rng)
    l2 = check_l2(l2)
    step = update(network, loss, x, y, options)
    warn(step, pseudo_inverse, stacklevel=2)
    return step.direction - network.dtype.type(l2) * network.theta


def update(network, loss, x, y, options=Options()):
    """`Update` for a batch: `direction` without the penalty, with its ranks and its residual.

    Raises
    ------
    TypeError, ValueError, FloatingPointError
        As :func:`direction`; `options` must be :class:`Options`.
    """
    options = checked(network, options)
    if options.recompute:
        return update_at(RunningEvaluation(network, loss, x, y), options)
    return update_at(network.evaluate(loss, x, y), options)


def update_at(evaluation, options, out=None):
    """`Update` at an evaluation, for options that were :func:`~options.checked`; the direction of
    the right inverse goes to `out` (P,) if that is given.
    """
    network = evaluation.network
    eps = errors(evaluation.loss_function, evaluation.outputs, evaluation.y, options.curvature)
    running = isinstance(evaluation, RunningEvaluation)
    strategy = (kernel_step if options.inverse == "moore-penrose"
                else recomputed_step if running else stored_step)
    with np.errstate(over="ignore", invalid="ignore"):
        step = strategy(evaluation, eps, options, out)
    network.require_finite(step.direction, "the Gauss-Newton direction")
    if not options.measure_residual or np.isfinite(step.residual):
        return step
    rest = (running_residual(network, evaluation.x, step.direction, eps) if running
            else residual(evaluation.saved, network, step.direction, eps))
    return step._replace(residual=relative_size(rest, eps))


def errors(loss, outputs, y, curvature):
    """eps (S, C): the gradient of every sample's loss in its outputs, or H^{-1} eps with the
    Hessian H of its loss, Eq. (19).
    """
    eps = loss.gradient(outputs, y)
    if curvature == "identity" or isinstance(loss, SquaredError):
        return eps
    H = loss.hessian(outputs, y)
    if not np.all(np.linalg.cond(H) < 0.1 / np.finfo(H.dtype).eps):
        raise ValueError(f"curvature='loss' needs an invertible Hessian in the outputs; {loss!r} "
                         "has none (a softmax does not see a constant added to all outputs). "
                         "Add a Ridge, or take curvature='identity'")
    return np.linalg.solve(H, eps[:, :, None])[:, :, 0]
