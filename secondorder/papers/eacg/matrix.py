"""The curvature of all parameters as one matrix in the order of ``theta``, to look at and compare.

The paper stacks the columns of W, so that a layer's block is A (x) B, Eq. (8c); ``theta`` holds the
rows of W one after the other, and the same block is B (x) A. Blocks between layers are zero.
"""

import numpy as np

from ...checks import boolean, check_l2, number_in, one_of, require_bytes
from ...checks.randomness import generator
from .eq_04_hessian import layers_of, numbered, plus_diagonal
from .eq_05_07_expectation import ehht
from .eq_09_11_ea_cg import damping
from .eq_12_13_kfac_kfra import eq_12_factors
from .method import check_real_network, curvatures_at, known_curvature

MAX_BYTES = 2**30
FORMS = ("kronecker", "rank-one", "kfi")


def matrix(network, loss, x, y, curvature="pch-1", form="kronecker", alpha=0.0, l2=0.0, joint=True,
           rng=None, max_bytes=MAX_BYTES):
    """Block-diagonal curvature (P, P) of a method, in the order of ``network.theta``.

    KFAC is ``curvature="fisher-empirical"`` as the paper has it (``"fisher-exact"`` or
    ``"fisher-sampled"`` as its authors have it), KFRA ``"gauss-newton"``, PCH ``"pch-1"`` and
    ``"pch-2"``.

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
    known_curvature(curvature, positive=False)
    one_of(FORMS, form, "form")
    alpha, l2 = number_in(alpha, "alpha", 0, 1), check_l2(l2)
    rng, joint = generator(rng), boolean(joint, "joint")
    check_real_network(network)
    require_bytes("the curvature", (network.size, network.size), network.dtype, max_bytes)
    evaluation = network.evaluate(loss, x, y)
    layers = layers_of(evaluation)
    blocks = curvatures_at(evaluation, layers, curvature, rng)
    whole = np.zeros((network.size, network.size), network.dtype)
    with np.errstate(over="ignore", invalid="ignore"):  # named below
        for layer, B in zip(numbered(layers), blocks):
            if layer.trained:
                whole[layer.where, layer.where] = layer_block(
                    (B + B.T) / 2, layer.h, layer.own.bias is not None, form, alpha, l2, joint)
    return network.require_finite(whole, "EA-CG: the curvature")


def layer_block(B, X, bias, form, alpha, l2, joint):
    """The block of one linear layer, over its weights row by row and then its bias, if any."""
    ones = np.ones_like(X[:, :1])
    if not bias:
        return _damped_block(B, X, form, alpha, l2)
    if joint:
        return _bias_last(_damped_block(B, np.hstack([X, ones]), form, alpha, l2), len(B))
    weights = _damped_block(B, X, form, alpha, l2)
    # a bias is a weight whose input is 1; KFI has no second factor for it
    of_bias = (plus_diagonal(B.copy(), alpha + l2) if form == "kfi"
               else _damped_block(B, ones, form, alpha, l2))
    apart = np.zeros((len(B), len(weights)), B.dtype)
    return np.block([[weights, apart.T], [apart, of_bias]])


def _damped_block(B, X, form, alpha, l2):
    """Eq. (9) over the rows of W: (1 - alpha)(B (x) A + l2 I) + alpha I; for KFI B (x) A, damped.
    """
    if form == "kfi":
        A, B = eq_12_factors(ehht(X), B, alpha + l2)
        return np.kron(B, A)
    A = ehht(X if form == "kronecker" else X.mean(axis=0, keepdims=True))
    return plus_diagonal((1 - alpha) * np.kron(B, A), damping(alpha, l2))


def _bias_last(block, n):
    """From [W b] row by row to W row by row and then b, as ``theta`` has them."""
    order = np.arange(len(block)).reshape(n, -1)
    order = np.concatenate([order[:, :-1].ravel(), order[:, -1]])
    return block[np.ix_(order, order)]
