"""The method: a step through the right inverse (16)-(17), or the Moore-Penrose inverse (5).

There is no formula here. What is called are the paper's displays, in the files of their numbers.
"""

import warnings
from functools import partial

import numpy as np

from ...checks import Checked, boolean, one_of, positive_number
from ...checks.randomness import generator
from ...optimizers.base import Optimizer
from ...optimizers.step import own_evaluation
from .eq_01_07_gauss_newton import eq_4_defect, eq_5_by_kernel, eq_5_gauss_newton
from .eq_08_11_any_right_inverse import eq_10_errors
from .eq_14_15_revmlp import RevMLP, downwards
from .eq_16_17_right_inverse import at_features, eq_8_55_step, eq_16_17_deltas
from .eq_18_22_generalised import eq_19_errors
from .layers import jacobian, tangent_kernel
from .section_5_pseudo_inverse import FORMS, exact, noise, times_pseudo_inverse

#: Entries of the largest Jacobian that is made.
LARGEST_JACOBIAN = 2**16
#: Name -> eps (S, C) of a loss, outputs and targets.
ERRORS = {"identity": eq_10_errors, "loss": eq_19_errors}


class RankWarning(UserWarning):
    """Features, or rows of a Jacobian, are not independent: no exact inverse exists, and the step
    removes a part of the error.
    """


def right_inverse(evaluation, eps, plus):
    """(16)-(17) and (55): d (P,) for eps (S, C), and the least rank of the features of a half."""
    network = evaluation.network
    e1, e2 = np.split(at_features(network.readout, eps.T), 2)
    deltas = eq_16_17_deltas(downwards(network, evaluation.saved), e1, e2, plus)
    return eq_8_55_step(network, deltas), min(Delta.rank for pair in deltas for Delta in pair)


def moore_penrose(evaluation, eps, f):
    """(5) for any network: d (P,) for eps (S, C), and the rank of J."""
    network, saved, column = evaluation.network, evaluation.saved, eps.T.ravel()
    if eps.size * network.size <= LARGEST_JACOBIAN:
        return eq_5_gauss_newton(jacobian(network, saved, *eps.shape), column, f)

    def J_T(a):
        y_bar = a.reshape(eps.T.shape).T.astype(network.dtype)
        return network.chain.parameter_gradient(saved, y_bar)

    K = tangent_kernel(network, saved, *eps.shape).reshape(eps.size, eps.size)
    d, rank, sure = eq_5_by_kernel(K, column, J_T, f)
    if f is exact and not sure:  # once more, for what the rounding of K has left of eps
        J_d = network.chain.tangents(saved, None, d)[0]
        d = d + eq_5_by_kernel(K, (J_d + eps).T.ravel(), J_T, f)[0]
    return d, rank


def direction(network, loss, x, y, inverse="right", pseudo_inverse="truncate", strength=None,
              curvature="identity", l2=0.0, rng=None):
    """The Gauss-Newton direction, (P,): what is added at rate 1.

    It is minus a generalised inverse of the Jacobian J of all outputs, times eps, the gradient of
    the SUM of the losses in the outputs. (The package's objective is the mean.) The other arguments
    are those of :class:`GaussNewton`, which also says what is raised and when a `RankWarning`
    comes.

    Parameters
    ----------
    network : Network
        A `RevMLP` for the right inverse; any network for the Moore-Penrose inverse.
    loss : Loss
    x, y : a batch

    Returns
    -------
    (P,) array
    """
    method = GaussNewton(network, loss, 1.0, l2, inverse, pseudo_inverse, strength, curvature,
                         measure=False, rng=rng)
    return method.direction(network.evaluate(loss, x, y))


class GaussNewton(Optimizer):
    """Gauss-Newton: move all outputs of the batch along minus the gradient of their losses.

    Parameters
    ----------
    network : RevMLP or Network
        A `RevMLP` for the right inverse, any network for the Moore-Penrose inverse.
    loss : Loss
    learning_rate : float or schedule
        alpha of (5), (16), (17). For the half squared error 1 is the full step, and everything
        below 2 is stable. For a softmax the loss falls like 1 / (alpha t).
    l2 : float
        Decoupled: ``l2 * theta`` is subtracted from the direction (a weight decay, not part of
        eps).
    inverse : {"right", "moore-penrose"}
        "right": (16)-(17), the average (55) of the blocks' right inverses. "moore-penrose": (5),
        the shortest step with the same J d; for large networks through J J^T (S C, S C).
    pseudo_inverse : {"truncate", "exact", "damp", "tikhonov", "noise"}
        How singular values s are treated: of the features S = sigma(V X) of every half-coupled
        layer for the right inverse, of J for Moore-Penrose. truncate: those below strength * s_max
        or below 1e-5 are left out, as in the paper's experiments. exact: all that differ from zero
        are inverted, as in the equations; a step explodes where one is small. damp: 1 / (s +
        strength s_max). tikhonov: s / (s^2 + strength s_max^2). noise: the pseudo-inverse of S +
        strength std(S) N; for the right inverse alone.
    strength : float, optional
        Default 0.01 for truncate and damp, 1e-4 for tikhonov, 0.1 for noise.
    curvature : {"identity", "loss"}
        "identity" is what the paper runs: the Hessian of the loss is replaced by I. "loss" is the
        generalised Gauss-Newton step (19), with the pseudo-inverse of the Hessian.
    measure : bool
        Report the norm of the gradient and the defect of the step, which cost about a gradient and
        a half; without, both are NaN.
    rng : None, int or numpy.random.Generator
        For "noise".

    Raises
    ------
    ValueError, TypeError
        Options that do not exist or do not go together; for the right inverse, a network that is no
        RevMLP, or has a fixed W. In `step`: bad data.
    FloatingPointError
        In `step`: outputs, the tangent kernel or the direction are not finite.

    Warns
    -----
    RankWarning
        Once, if an exact inverse was asked for and does not exist.

    Notes
    -----
    The direction belongs to the SUM of the losses, as in the paper: a step does not shrink with the
    batch. ``info["objective"]`` is the mean loss plus penalty, as everywhere.

    ``step`` reports ``rank``, the least rank of the features, or that of J; ``full_rank``, what it
    is if all samples are independent; and ``defect``, |J d + eps| / |eps|, 0 for an exact inverse.

    Matrices of features, J and J J^T are decomposed in float64. What a network in float32 has
    rounded before is lost: its exact inverses see no singular values below 1e-5 of the largest.
    J J^T of a large network does not know those below 1e-7, to which "exact" and "damp" give the
    largest weight; "truncate" and "tikhonov" do not need them.
    """

    state_names = ("seed",)
    inverse = Checked(lambda value, name: one_of(("right", "moore-penrose"), value, name))
    pseudo_inverse = Checked(lambda value, name: one_of((*FORMS, "noise"), value, name))
    strength = Checked(lambda value, name: value if value is None else positive_number(value, name))
    curvature = Checked(lambda value, name: one_of(ERRORS, value, name))
    measure = Checked(boolean)

    def __init__(self, network, loss, learning_rate=1.0, l2=0.0, inverse="right",
                 pseudo_inverse="truncate", strength=None, curvature="identity", measure=True,
                 rng=None):
        super().__init__(network, loss, learning_rate, l2)
        self.inverse, self.pseudo_inverse, self.strength = inverse, pseudo_inverse, strength
        self.curvature, self.measure = curvature, measure
        self.seed = int(generator(rng).integers(2**53))
        self._warned = False
        self.solver()

    def solver(self):
        """A function of an evaluation and eps (S, C) that gives d (P,) and its rank; ValueError or
        TypeError for what does not go together.
        """
        right, form = self.inverse == "right", self.pseudo_inverse
        given = {} if self.strength is None else {"strength": self.strength}
        if right:
            require_w_alone(self.network)
        elif form == "noise":
            raise ValueError("pseudo_inverse='noise' belongs to inverse='right'")
        if form == "exact" and given:
            raise ValueError("strength belongs to a regularised pseudo_inverse, not to 'exact'")
        if form == "noise":
            rng = np.random.default_rng([self.seed, self.steps])  # a resumed run draws the same
            features = self.network.couplings[0].trained.in_features
            return partial(right_inverse, plus=partial(noise, rng=rng, features=features, **given))
        f = partial(FORMS[form], **given) if given else FORMS[form]
        return partial(right_inverse, plus=partial(times_pseudo_inverse, f=f)) if right \
            else partial(moore_penrose, f=f)

    def _gradient_norm(self, evaluation):
        return super()._gradient_norm(evaluation) if self.measure else np.nan

    def direction(self, evaluation):
        own_evaluation(self, evaluation)
        network, solve = self.network, self.solver()
        eps = ERRORS[self.curvature](self.loss, evaluation.outputs, evaluation.y)
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                d, rank = solve(evaluation, eps)
        except np.linalg.LinAlgError as error:
            raise FloatingPointError("Gauss-Newton: products of the activations are not finite: "
                                     "scale inputs or weights down") from error
        d = network.require_finite(d.astype(network.dtype, copy=False),
                                   "the Gauss-Newton direction")
        full = len(eps) if self.inverse == "right" else eps.size
        self.details.update(rank=rank, full_rank=full, defect=np.nan)
        if self.measure:
            J_d = network.chain.tangents(evaluation.saved, None, d)[0]
            self.details["defect"] = eq_4_defect(J_d, eps)
        if self.pseudo_inverse == "exact" and rank < full and not self._warned:
            self._warned = True
            warnings.warn(f"the rank is {rank} of {full}: samples are not independent, no exact "
                          "inverse exists, and the step removes the part of the error that it can "
                          "reach. Small singular values make such a step explode: pseudo_inverse="
                          "'truncate', the default, leaves them out", RankWarning, stacklevel=2)
        return d - self.l2 * network.theta if self.l2 else d


def require_w_alone(network):
    """Raise unless a network trains what (16)-(17) move: W of every half, and nothing else."""
    if not isinstance(network, RevMLP):
        raise TypeError(f"inverse='right' needs a RevMLP, got a {type(network).__name__}; "
                        "inverse='moore-penrose' takes any network")
    for half in network.couplings:
        if not half.trained.trainable or half.fixed is not None and half.fixed.trainable:
            raise ValueError("inverse='right' moves W of every half-coupled layer and nothing "
                             f"else: in {half!r} W is fixed or V is not; "
                             "inverse='moore-penrose' takes any network")
