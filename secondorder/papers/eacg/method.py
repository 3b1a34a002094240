"""The method: a curvature and a solver by name, the direction, the optimizer.

There is no formula here. What is called are the paper's displays, in the files of their numbers.
"""

import functools
import math

import numpy as np

from ...checks import Checked, check_l2, fraction, lookup, number_in, whole_number
from ...checks.randomness import generator
from ...exact.curvature import check_network
from ...exact.dense import fisher_scores
from ...optimizers.base import Optimizer
from ...optimizers.step import own_evaluation
from .beyond import clipped_step, clipped_top, closed_form, closed_form_of_bias, exact_form
from .eq_01_03_newton import pos_eig
from .eq_04_hessian import (eq_4a_output_hessian, exact_step, kind_of, layers_of, mean_of_instances,
                            numbered)
from .eq_05_07_expectation import expectation
from .eq_08_pch import pch
from .eq_09_11_ea_cg import (Limits, eq_10a_bias, eq_10a_bias_compiled, eq_10b_cg, eq_10b_ea_cg,
                             eq_10b_ea_cg_as_printed)
from .eq_12_13_kfac_kfra import (eq_13_direction, fisher, fisher_step, gauss_newton, kfi,
                                 kfi_as_printed, kfi_bias)

# -- curvatures ------------------------------------------------------------------------------------


def top(evaluation, rows=slice(None)):
    """(4a) of all instances, or of some: (S, C, C)."""
    return eq_4a_output_hessian(evaluation.loss_function, evaluation.outputs[rows],
                                evaluation.y[rows])


def mean_hessian(evaluation, layers):
    """The exact mean of (4a), (4b)."""
    return mean_of_instances(layers, functools.partial(top, evaluation), exact_step)


def clipped(evaluation, layers):
    """The mean of what is left of (4a), (4b) without negative curvature, instance by instance."""
    convex = evaluation.loss_function.convex
    return mean_of_instances(layers, lambda rows: clipped_top(top(evaluation, rows), convex),
                             clipped_step)


def fisher_exact(evaluation, layers):
    """The Fisher matrix of the model's own targets."""
    of_outputs = evaluation.loss_function.fisher
    return mean_of_instances(layers, lambda rows: of_outputs(evaluation.outputs[rows]), fisher_step)


def fisher_sampled(evaluation, rng):
    """The Fisher matrix of one target drawn from the model for every instance."""
    score, = fisher_scores(evaluation, "sampled", rng)
    return fisher(layers_of(evaluation, evaluation.network.chain.output_gradients(evaluation.saved,
                                                                                  score)))


#: Name -> function of evaluation, layers and rng that gives [B^1 .. B^k].
CURVATURES = {
    "pch-1": lambda e, layers, rng: pch(layers, top(e), -1.0),
    "pch-2": lambda e, layers, rng: pch(layers, top(e), 0.0),
    "pch-mean": lambda e, layers, rng: [pos_eig(H) for H in mean_hessian(e, layers)],
    "clipped": lambda e, layers, rng: clipped(e, layers),
    "gauss-newton": lambda e, layers, rng: gauss_newton(layers, top(e), e.loss_function.convex),
    "fisher-empirical": lambda e, layers, rng: fisher(layers),
    "fisher-sampled": lambda e, layers, rng: fisher_sampled(e, rng),
    "fisher-exact": lambda e, layers, rng: fisher_exact(e, layers),
    "expectation": lambda e, layers, rng: expectation(layers, top(e)),
    "hessian": lambda e, layers, rng: mean_hessian(e, layers),
}
POSITIVE = tuple(CURVATURES)[:-2]  # the others may be indefinite


def known_curvature(name, positive=True):
    """`name`, if it is that of a curvature; with `positive`, of a positive semidefinite one, as (9)
    needs it. Else ValueError or TypeError.
    """
    lookup(CURVATURES, name, "curvature")
    if positive and name not in POSITIVE:
        raise ValueError(f"curvature {name!r} may be indefinite, and the damped system (9) needs a "
                         f"positive semidefinite one: choose from {', '.join(POSITIVE)}")
    return name


def curvatures_at(evaluation, layers, curvature, rng=None):
    """[B^1 .. B^k] at an evaluation; FloatingPointError, naming the layer, unless all are finite.
    """
    try:
        blocks = CURVATURES[curvature](evaluation, layers, rng)
    except np.linalg.LinAlgError as error:
        raise FloatingPointError("EA-CG: the curvature in the outputs is not finite") from error
    for t, B in enumerate(blocks, start=1):
        if not math.isfinite(B.trace()):  # at least as large as all that counts
            raise not_finite(f"the curvature of linear layer {t}")
    return blocks


def not_finite(what):
    """The FloatingPointError of a matrix or a system that overflows."""
    return FloatingPointError(f"EA-CG: {what} is not finite: scale inputs or weights down")


def bias_curvatures(network, loss, x, y, curvature="pch-1", rng=None, l2=0.0):
    """Curvature matrices B^t (n_t, n_t) of the biases, for every linear layer from the input up:
    Eq. (6), (8a), (8b).

    Parameters
    ----------
    network : Network
        Of `Linear`, `Activation` and `Chain` layers.
    loss : Loss
    x : (S, n_0) array
    y : targets in the form that the loss takes
    curvature : str
        ``"pch-1"``, ``"pch-2"``: the paper's (8a)-(8b) with gamma -1 and 0. ``"pch-mean"``: Pos-Eig
        of the exact mean. ``"clipped"``: mean of per-instance Hessians without their negative
        parts. ``"gauss-newton"``: KFRA's recursion (its top block corrected by Pos-Eig where the
        loss is not convex). ``"fisher-empirical"``: with the given targets, as printed;
        ``"fisher-exact"``, ``"fisher-sampled"``: under the model's own targets. Possibly
        indefinite: ``"expectation"``: (6); ``"hessian"``: the exact mean of (4a)-(4b).
    rng : None, int or numpy.random.Generator
        For ``"fisher-sampled"``, the only one that draws.
    l2 : float
        Penalty (l2/2)|theta|^2: l2 I is added to every block, after the corrections.

    Returns
    -------
    list of (n_t, n_t) arrays

    Raises
    ------
    ValueError
        Unknown curvature, bad x or y, complex parameters.
    TypeError
        A layer that the paper does not have, or a Fisher matrix of the model for a loss that is no
        negative log-likelihood.
    FloatingPointError
        If outputs or curvature are not finite.
    """
    known_curvature(curvature, positive=False)
    l2, rng = check_l2(l2), generator(rng)
    check_real_network(network)
    evaluation = network.evaluate(loss, x, y)
    blocks = curvatures_at(evaluation, layers_of(evaluation), curvature, rng)
    return [(B + B.T) / 2 + l2 * np.eye(len(B), dtype=B.dtype) for B in blocks]


def check_real_network(network):
    """TypeError or ValueError unless it is a network with trainable parameters that are real."""
    check_network(network)
    if network.dtype.kind != "f":
        raise ValueError(f"network must hold real parameters, got {network.dtype}")


# -- solvers ---------------------------------------------------------------------------------------

#: Name -> the solution of (10b), the solution of (10a).
SOLVERS = {
    "ea-cg": (eq_10b_ea_cg, eq_10a_bias_compiled),
    "ea-cg-printed": (eq_10b_ea_cg_as_printed, eq_10a_bias),
    "ea-closed": (closed_form, closed_form_of_bias),
    "cg": (eq_10b_cg, eq_10a_bias),
    "exact": (exact_form, closed_form_of_bias),
    "kfi": (kfi, kfi_bias),
    "kfi-printed": (kfi_as_printed, kfi_bias),
    "kfi-rank-one": (kfi_as_printed, kfi_bias),
}
#: The same for the first layer, where that is another: Eq. (13).
FIRST = SOLVERS | {"kfi-rank-one": (eq_13_direction, kfi_bias)}


def direction_at(evaluation, layers, blocks, solver, alpha, limits, l2):
    """(9) layer by layer: d_theta (P,), and the (iterations, residual) of every system.

    The small matrices B are float64 here.
    """
    gradient = evaluation.objective_gradient(l2)
    d_theta, reports = np.empty_like(gradient), []
    for t, (layer, B) in enumerate(zip(numbered(layers), blocks), start=1):
        pieces, places, X = layer.pieces(gradient), layer.pieces(d_theta), layer.h
        if not pieces:  # the layer is not trained
            continue
        if not math.isfinite(float(np.vdot(X, X)) * float(B.trace())):
            raise not_finite(f"the curvature of the weights of linear layer {t}")
        B = np.ascontiguousarray(B, dtype=np.float64)
        (G, *bias), (of_weights, of_bias) = pieces, (SOLVERS if t > 1 else FIRST)[solver]
        try:
            solved = [of_weights(B, G, X, alpha, l2, limits)]
            if bias:
                solved.append(of_bias(B, *bias, alpha, l2, limits))
        except np.linalg.LinAlgError as error:
            raise FloatingPointError(f"EA-CG: rounding has left the damped system of linear layer "
                                     f"{t} indefinite: take a larger alpha") from error
        except FloatingPointError as error:
            raise FloatingPointError(f"EA-CG, linear layer {t}: {error}") from error
        for place, (solution, iterations, residual) in zip(places, solved):
            if not math.isfinite(residual):
                raise not_finite(f"the damped system of linear layer {t}")
            place[...] = solution
            reports.append((iterations, residual))
    return d_theta, reports


def direction(network, loss, x, y, curvature="pch-1", solver="ea-cg", alpha=0.1, max_cg=50,
              tolerance=1e-10, l2=0.0, rng=None):
    """The damped Newton direction d of every layer, Eq. (9)-(10b): what learning rate 1 adds.

        ((1 - alpha) B + alpha I) d_b = -g
        ((1 - alpha) A (x) B + alpha I) Vec(D_W) = -Vec(G)

    Parameters
    ----------
    network, loss, x, y, rng
        As for :func:`bias_curvatures`.
    curvature : str
        A curvature of :func:`bias_curvatures` that is positive semidefinite.
    solver : str
        ``"ea-cg"``: the paper's method, conjugate gradients on (11b), with the iterates of
        ``"ea-cg-printed"`` in n + 1 numbers a layer. ``"ea-cg-printed"``: the same on arrays as
        large as the weights, as the paper has them. ``"ea-closed"``: that system solved exactly.
        ``"cg"``: conjugate gradients on (11a). ``"exact"``: (11a) solved exactly. ``"kfi"``: (12),
        without a matrix of the inputs where they are wider than the batch. ``"kfi-printed"``: with
        both matrices of (12). ``"kfi-rank-one"``: that, but (13) in the first layer.
    alpha : float
        Weight of the identity in (9), above 0 and below 1.
    max_cg : int
        Most products of conjugate gradients for a system.
    tolerance : float
        Conjugate gradients end where |residual| <= tolerance |gradient|.
    l2 : float
        Penalty (l2/2)|theta|^2. It enters the gradient, and as l2 I the curvature, which 1 - alpha
        multiplies. KFI has no such factor: alpha + l2 stands for alpha.

    Returns
    -------
    (P,) array
        A descent direction, as the damped curvature is positive definite.

    Raises
    ------
    ValueError, TypeError
        Bad arguments; a curvature that may be indefinite; a layer that the paper does not have.
    FloatingPointError
        If outputs, gradient, curvature or direction are not finite; the layer is named.
    """
    check_real_network(network)
    method = EACG(network, loss, 1.0, l2, curvature, solver, alpha, max_cg, tolerance, rng=rng)
    step = method.direction(network.evaluate(loss, x, y))
    return network.require_finite(step, "EA-CG: the direction")


class EACG(Optimizer):
    """Solve the damped system (9) of a curvature, layer by layer, at every step: Eq. (8)-(13).

    The defaults are the paper's method with PCH-1, its settings from the middle of its grids.

    Parameters
    ----------
    network : Network
        Of `Linear`, `Activation` and `Chain` layers.
    loss : Loss
    learning_rate : float or schedule
    l2, curvature, solver, alpha, max_cg, tolerance
        See :func:`direction`. All may be changed between two steps.
    momentum : float
        From 0 to below 1: buffer <- momentum * buffer + direction, and the buffer is what is added.
    rng : None, int or numpy.random.Generator
        For ``"fisher-sampled"``.

    Raises
    ------
    ValueError
        A curvature that may be indefinite, alpha outside (0, 1), unknown names.
    TypeError
        A layer that the paper does not have; a Fisher matrix of the model for a loss that is no
        negative log-likelihood.

    Notes
    -----
    Across the mean input of a layer the direction of ``"ea-cg"`` is the gradient over alpha. With a
    small alpha, most of a step is gradient descent at the rate learning_rate / alpha. Choose the
    two together.

    ``step`` reports ``cg_iterations`` (of all layers, biases included) and ``cg_residual`` (the
    largest relative residual that was left); both are 0 with a direct solver.
    """

    state_names = ("buffer", "seed", "draws")
    curvature = Checked(lambda value, name: known_curvature(value))
    solver = Checked(lambda value, name: lookup(SOLVERS, value, name) and value)
    alpha = Checked(fraction)
    max_cg = Checked(whole_number, 1)
    tolerance = Checked(number_in, 0, 1)
    momentum = Checked(number_in, 0, 1)

    def __init__(self, network, loss, learning_rate=0.1, l2=0.0, curvature="pch-1", solver="ea-cg",
                 alpha=0.02, max_cg=20, tolerance=1e-2, momentum=0.0, rng=None):
        super().__init__(network, loss, learning_rate, l2)
        self.curvature, self.solver, self.alpha = curvature, solver, alpha
        self.max_cg, self.tolerance, self.momentum = max_cg, tolerance, momentum
        for layer in network.chain.sublayers():
            kind_of(layer)
        if curvature in ("fisher-sampled", "fisher-exact"):
            loss.fisher(np.zeros((1, *network.output_shape), dtype=network.dtype))
        self.buffer = None
        self.seed, self.draws = int(generator(rng).integers(2**62)), 0

    def direction(self, evaluation):
        own_evaluation(self, evaluation)
        rng = None
        if self.curvature == "fisher-sampled":
            rng = np.random.default_rng([self.seed, self.draws])
            self.draws += 1
        layers = layers_of(evaluation)
        d, reports = direction_at(
            evaluation, layers, curvatures_at(evaluation, layers, self.curvature, rng), self.solver,
            self.alpha, Limits(self.max_cg, self.tolerance), self.l2)
        iterations, residuals = zip(*reports)
        self.details.update(cg_iterations=sum(iterations), cg_residual=max(residuals))
        if self.momentum:
            d = d if self.buffer is None else self.momentum * self.buffer + d
            self.buffer = d
        return d
