"""The curvature of all parameters as one matrix in the order of ``theta``, to look at and compare.

The paper stacks the columns of W, so that a layer's block is A (x) B, Eq. (8c); ``theta`` holds the
rows of W one after the other, and the same block is B (x) A. Blocks between layers are zero.
"""

import numpy as np

from ...checks import boolean, check_l2, lookup, number_in, one_of, require_bytes, whole_number
from ...checks.randomness import generator
from .solvers import kronecker_inverse
from .curvatures import CURVATURES, check_real_network, curvatures_at, finite
from .products import mean_outer
from .rules import linear, units
from .solvers.systems import low_rank_factor

MAX_BYTES = 2**30
FORMS = ("kronecker", "rank-one", "kfi")


def matrix(network, loss, x, y, curvature="pch-1", form="kronecker", alpha=0.0, l2=0.0, joint=True,
           rank=1, rng=None, max_bytes=MAX_BYTES):
    """Block-diagonal curvature (P, P) of a method, in the order of ``network.theta``.

    KFAC is ``curvature="fisher"`` as the paper has it (``"fisher-exact"`` or ``"fisher-sampled"``
    as its authors have it), KFRA ``"gauss-newton"``, PCH ``"pch-1"`` and ``"pch-2"``.

    Parameters
    ----------
    network : Network
        Of `Linear`, `Activation` and `Chain` layers.
    loss : Loss
    x : (S, n_0) array
    y : targets in the form that the loss takes
    curvature : str
        A curvature of :func:`~secondorder.papers.eacg.bias_curvatures`: B^t, the block of the bias.
    form : {"kronecker", "rank-one", "kfi"}
        What stands for the block of the weights, A (x) B in the paper's order.

        - ``"kronecker"``: A = E[h h^T], Eq. (8c) and (11a);
        - ``"rank-one"``: A = E[h] E[h]^T, Eq. (11b);
        - ``"kfi"``: (A + pi sqrt(alpha) I) (x) (B + sqrt(alpha) / pi I), which Eq. (12) inverts.
    alpha : float
        Weight of the identity in (9), from 0 to below 1: (1 - alpha) curvature + alpha I. With
        ``"kfi"`` it is the damping inside the factors, and the biases get B + alpha I.
    l2 : float
        Penalty (l2/2)|theta|^2: l2 I joins the curvature. For ``"kfi"`` it joins alpha.
    joint : bool
        Whether a layer's weights and bias are one matrix, with inputs [h; 1] and a block between
        them. Else this block is zero, as the paper solves (10a) and (10b) apart.
    rank : int
        For ``"rank-one"``: above 1, the largest parts of the inputs' covariance are added.
    rng : None, int or numpy.random.Generator
        For ``"fisher-sampled"``.
    max_bytes : int
        Limit of the matrix.

    Returns
    -------
    (P, P) array

    Raises
    ------
    TypeError, ValueError
        Bad arguments; a layer without a rule.
    MemoryError
        If the matrix is larger than `max_bytes`.
    FloatingPointError
        If the curvature is not finite.

    Examples
    --------
    >>> import numpy as np, secondorder as so
    >>> net, rng = so.mlp([3, 2], rng=0), np.random.default_rng(0)
    >>> case = net, so.SquaredError(), rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    >>> bool(np.allclose(so.eacg.matrix(*case), so.exact.hessian(*case)))  # one linear layer
    True
    """
    lookup(CURVATURES, curvature, "curvature")
    one_of(FORMS, form, "form")
    alpha, l2 = number_in(alpha, "alpha", 0, 1), check_l2(l2)
    rank, rng, joint = whole_number(rank, "rank", 1), generator(rng), boolean(joint, "joint")
    if rank > 1 and form != "rank-one":
        raise ValueError(f"rank={rank} is for form='rank-one', not for {form!r}")
    check_real_network(network)
    require_bytes("the curvature", (network.size, network.size), network.dtype, max_bytes)
    evaluation = network.evaluate(loss, x, y)
    all_units = units(evaluation)
    matrices = finite(curvatures_at(evaluation, curvature, rng, all_units))
    whole = np.zeros((network.size, network.size), network.dtype)
    with np.errstate(over="ignore", invalid="ignore"):  # named below
        for unit, B in zip(linear(all_units), matrices):
            if unit.layer.size:
                place = whole[unit.where, unit.where]
                place[...] = layer_block(unit, B, form, alpha, l2, joint, rank)
    return network.require_finite(whole, "EA-CG: the curvature")


def layer_block(unit, B, form, alpha, l2, joint, rank):
    """The block of one linear layer, over its weights row by row and then its bias."""
    X, bias = unit.saved.input, unit.layer.bias
    if bias is None:
        return _damped_block(B, X, form, alpha, l2, rank)
    if joint:
        X = np.concatenate([X, np.ones_like(X[:, :1])], axis=1)
        return _bias_last(_damped_block(B, X, form, alpha, l2, rank), len(B))
    weights = _damped_block(B, X, form, alpha, l2, rank)
    weight, damping = (1.0, alpha + l2) if form == "kfi" else (1 - alpha, alpha + (1 - alpha) * l2)
    n = len(B)
    block = np.zeros((len(weights) + n, len(weights) + n), B.dtype)
    block[:-n, :-n] = weights
    block[-n:, -n:] = weight * B + damping * np.eye(n, dtype=B.dtype)
    return block


def _damped_block(B, X, form, alpha, l2, rank):
    """Eq. (9) over the rows of W: (1 - alpha)(B (x) A + l2 I) + alpha I; for KFI B (x) A, damped.
    """
    if form == "kfi":
        A, B = kronecker_inverse.factors(mean_outer(X), B, alpha + l2)
        return np.kron(B, A)
    if form == "rank-one":
        F = low_rank_factor(X, rank)
        A = F @ F.T
    else:
        A = mean_outer(X)
    block = np.kron(B, A)
    return (1 - alpha) * block + (alpha + (1 - alpha) * l2) * np.eye(len(block), dtype=B.dtype)


def _bias_last(block, n):
    """From [W b] row by row to W row by row and then b, as ``theta`` has them."""
    order = np.arange(len(block)).reshape(n, -1)
    order = np.concatenate([order[:, :-1].ravel(), order[:, -1]])
    return block[np.ix_(order, order)]
