"""`direction`: the Gauss-Newton step through the paper's right inverse, or through the
Moore-Penrose inverse.
"""

import numpy as np

from ...checks import check_l2, instance_of
from ...nets import SquaredError
from .moore_penrose import shortest_step
from .options import Options
from .outcome import Update, relative_size, residual, warn
from .running import RunningEvaluation, drift, padded, running_residual
from .sweep import from_inputs, inverted, stored, sweep


def direction(network, loss, x, y, inverse="right", pseudo_inverse="exact", strength=None,
              block_weights="uniform", curvature="identity", l2=0.0, decomposition="gram",
              recompute=False, drift_tolerance=1e-4, rng=None):
    """The Gauss-Newton direction, (P,): what is added at rate 1.

    It is minus a generalised inverse of the Jacobian J of all outputs times eps, the gradient of
    the SUM of the losses in the outputs (the package's objective is the mean), minus l2 times the
    parameters (a decoupled penalty).

    Parameters
    ----------
    network : Network
        A `RevMLP` for the right inverse; any network for the Moore-Penrose inverse.
    loss : Loss
    x, y : a batch
    inverse : {"right", "moore-penrose"}
        "right": [reversible-gauss-newton] Eqs. (16)-(17), the average (55) of the blocks' right
        inverses. "moore-penrose": Eq. (5), the shortest step with the same J d, through the kernel
        J J^T (n C, n C).
    pseudo_inverse : {"exact", "truncate", "damp", "tikhonov", "noise"}
        How singular values s are treated, of every S = sigma(V X) or of J. truncate: zero below
        strength * s_max or 1e-5. damp: 1 / (s + strength s_max). tikhonov: s / (s^2 + strength
        s_max^2). noise: the pseudo-inverse of S + strength std(S) N.
    strength : float, optional
        Default 0.01 for truncate and damp, 1e-4 for tikhonov, 0.1 for noise.
    block_weights : {"uniform", "shortest", "last", "full-rank"} or (L,) array with sum 1
        c_l in place of 1/L: the shortest step among all weights; the last block only; equal for the
        blocks where both matrices of features have independent columns.
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
        Bad data or options, another network than a RevMLP for the right inverse, curvature="loss"
        for a loss whose Hessian is singular.
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
    found = update(network, loss, x, y, options)
    warn(found, pseudo_inverse, stacklevel=2)
    return found.direction - network.dtype.type(l2) * network.theta


def update(network, loss, x, y, options):
    """`Update` for a batch; `direction` without the penalty, and with what it found on the way.

    Raises
    ------
    TypeError, ValueError, FloatingPointError
        As :func:`direction`; `options` must be :class:`Options`.
    """
    instance_of(options, Options, "options")
    options.check_network(network)
    if options.recompute:
        return update_at(RunningEvaluation(network, loss, x, y), options)
    return update_at(network.evaluate(loss, x, y), options)


def update_at(evaluation, options, out=None):
    """`Update` at an evaluation; `out` (P,) is where the direction of the right inverse goes, if it
    is given.
    """
    network = evaluation.network
    eps = errors(evaluation.loss_function, evaluation.outputs, evaluation.y, options.curvature)
    with np.errstate(over="ignore", invalid="ignore"):
        if options.inverse == "moore-penrose":
            found = shortest_step(network, evaluation.x, evaluation.saved, eps, options)
        elif isinstance(evaluation, RunningEvaluation):
            found = _running(evaluation, eps, options, out)
        else:
            states = stored(network.blocks, evaluation.saved[network._begin:network._end])
            found = _as_update(_right(network, states, eps, options, out,
                                       evaluation.passes), len(eps))
    network.require_finite(found.direction, "the Gauss-Newton direction")
    if not options.measure_defect or np.isfinite(found.defect):
        return found
    if isinstance(evaluation, RunningEvaluation):
        off = running_residual(network, evaluation.x, found.direction, eps)
    else:
        off = residual(evaluation.saved, network, found.direction, eps)
    return found._replace(defect=relative_size(off, eps))


def errors(loss, outputs, y, curvature):
    """eps (S, C): the gradient of every sample's loss in its outputs, or H^{-1} eps with the
    Hessian H of its loss, Eq. (19).
    """
    eps = loss.gradient(outputs, y)
    if curvature == "identity" or isinstance(loss, SquaredError):
        return eps
    H = loss.hessian(outputs, y)
    if not np.all(np.linalg.cond(H) < 0.1 / np.finfo(H.dtype).eps):
        raise ValueError(f"curvature='loss' needs a loss whose Hessian in the outputs "
                         f"is invertible, and that of {loss!r} is not (a softmax does not "
                         f"see a constant added to all outputs); add a Ridge, or take "
                         f"curvature='identity'")
    return np.linalg.solve(H, eps[:, :, None])[:, :, 0]


def at_features(network, eps):
    """The error in x_L: eps R^{+T} (S, width), the least change of x_L that changes the outputs f =
    R x_L by eps.
    """
    if network.readout is None:
        return eps
    return eps @ np.linalg.pinv(network.readout).T.astype(network.dtype)


def _right(network, states, eps, options, out=None, passes=None):
    """`Sweep` of the right inverse from the states of the blocks, last block first."""
    form = {"form": options.pseudo_inverse, "strength": options.strength,
            "decomposition": options.decomposition, "rng": options.rng}
    return sweep(network, states, at_features(network, eps), options.block_weights, form, out,
                 passes)


def _as_update(made, samples, drifted=0.0):
    """`Update` from a `Sweep`."""
    rank = int(made.ranks[made.ranks >= 0].min())
    return Update(made.direction, rank, samples, made.ranks, made.weights, drift=drifted,
                  missed=made.missed, undecided=made.undecided)


def _running(evaluation, eps, options, out):
    """`Update` of the right inverse without kept activations, made again where the inverse network
    drifts.
    """
    network = evaluation.network
    states = inverted(network.blocks, evaluation.features)
    made = _right(network, states, eps, options, out)
    start = padded(network, evaluation.x)
    missed = drift(start, made, states)
    if not missed <= options.drift_tolerance:
        made = _right(network, from_inputs(network.blocks, start), eps, options, out)
    return _as_update(made, len(eps), missed)
