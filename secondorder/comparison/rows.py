"""The curvatures that are compared: how each is made, what it takes to store, what is promised."""

from dataclasses import dataclass

import numpy as np

from secondorder import exact
from secondorder.checks import NoModel
from secondorder.nets import Linear
from secondorder.papers import eacg, low_rank, residual_partitioning

POSITIVE = "positive semidefinite"
HESSIAN = "equals the Hessian"
ABOVE = "M - H is positive semidefinite"
GAUSS_NEWTON = "equals Gauss-Newton"


@dataclass(frozen=True)
class Row:
    """One curvature: its name, its paper and label (or what it is known by), how it is made, and
    what theory promises of it. `make` takes a `Point` and returns the matrix (P, P) and the bytes
    that its own form takes.
    """

    name: str
    source: str
    make: object
    promises: tuple = ()


def dense(matrix):
    """A matrix that is stored whole."""
    return matrix, matrix.nbytes


def exactly(function, **options):
    """A matrix by a function of `so.exact`."""
    return lambda point: dense(function(*point.model, **options))


def low_rank_factors(point):
    """Assembled from the eta factors; what one sample's factors take, times the samples."""
    one = low_rank.SampleHessian(point.network, point.loss, point.x[:1], point.y[:1])
    return low_rank.hessian(*point.model), one.nbytes * len(point.x)


def mean_of_squares(point):
    """J^T J / S: Gauss-Newton with the identity in the place of the loss's Hessian."""
    J = exact.jacobian(point.network, point.x).reshape(-1, point.network.size)
    return dense(J.T @ J / len(point.x))


def diagonal_bound(cross):
    """The diagonal bound of residual partitioning."""
    def make(point):
        curvature = residual_partitioning.bound(*point.model, cross=cross).curvature
        return np.diag(curvature), curvature.nbytes
    return make


def kronecker(curvature):
    """E[h h^T] (x) B^t for every linear layer ([ea-cg] (8c)), bias included; stored are the factors
    of the trained layers.
    """
    def make(point):
        blocks = eacg.bias_curvatures(*point.model, curvature=curvature)
        linear = [layer for layer in point.network.layers if isinstance(layer, Linear)]
        stored = sum(B.nbytes + 8 * (layer.in_features + (layer.bias is not None))**2
                     for B, layer in zip(blocks, linear) if layer.size)
        return eacg.matrix(*point.model, curvature=curvature), stored
    return make


def absolute_hessian(point):
    """|H|: the eigenvalues of the Hessian without their signs."""
    values, vectors = point.spectrum
    return dense((vectors * abs(values)) @ vectors.T)


def identity(point):
    return np.eye(point.network.size), 0


def has_model(loss, outputs):
    """Whether a loss is the negative log-likelihood of a model of its targets.

    Every `Loss` has the method `fisher`; without a model, which may depend on the loss's own
    options, it refuses.
    """
    try:
        loss.fisher(outputs)
    except NoModel:
        return False
    return True


def rows(loss, outputs):
    """The rows for a loss, in the order of the table; `outputs` (S, C) are some that it may get."""
    likelihood = has_model(loss, outputs)
    convex = bool(getattr(loss, "convex", False))
    table = [
        Row("Hessian", "exact", exactly(exact.hessian)),
        Row("low-rank factors", "low-rank (78)-(80)", low_rank_factors, (HESSIAN,)),
        Row("Gauss-Newton", "exact", exactly(exact.gauss_newton), (POSITIVE,) if convex else ()),
        Row("J'J / S", "reversible-gauss-newton (8)", mean_of_squares, (POSITIVE,))]
    if likelihood:
        table.append(Row("Fisher, exact", "exact", exactly(exact.fisher, kind="exact"),
                         (POSITIVE, GAUSS_NEWTON)))
    table += [
        Row("Fisher, empirical", "ea-cg u-fisher", exactly(exact.fisher, kind="empirical"),
            (POSITIVE,)),
        Row("diagonal bound", "residual-partitioning algorithm-1", diagonal_bound(False),
            (POSITIVE,)),
        Row("diagonal bound, cross terms", "residual-partitioning (4)", diagonal_bound(True),
            (POSITIVE, ABOVE)),
        Row("PCH-1", "ea-cg (8)", kronecker("pch-1"), (POSITIVE,)),
        Row("PCH-2", "ea-cg (8)", kronecker("pch-2"), (POSITIVE,)),
        Row("KFRA", "ea-cg u-kfra", kronecker("gauss-newton"), (POSITIVE,)),
        Row("KFAC", "ea-cg u-kfi", kronecker("fisher-exact" if likelihood else "fisher-empirical"),
            (POSITIVE,)),
        Row("|H|", "exact", absolute_hessian, (POSITIVE, ABOVE)),
        Row("identity", "gradient descent", identity, (POSITIVE,))]
    return table


def own(name, matrix):
    """A user's matrix or operator as a row."""
    def make(point):
        P = point.network.size
        whole = np.asarray(matrix @ np.eye(P) if hasattr(matrix, "matvec") else matrix, dtype=float)
        if whole.shape != (P, P):
            raise ValueError(f"extra: {name!r} has shape {whole.shape}, expected {(P, P)}: one row "
                             "and column for every parameter")
        if not np.isfinite(whole).all():
            raise ValueError(f"extra: {name!r} holds numbers that are not finite")
        return whole, getattr(matrix, "nbytes", whole.nbytes)
    return Row(name, "yours", make)
