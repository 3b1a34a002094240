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

FORMS = ("kronecker", "rank-one", "kfi")


def matrix(network, loss, x, y, curvature="pch-1", form="kronecker", alpha=0.0, l2=0.0, joint=True,
           rng=None, max_bytes=2**30):
    """Block-diagonal curvature (P, P) of a method, in the order of ``network.theta``.

    KFAC is ``curvature="fisher-empirical"`` as the paper has it (``"fisher-exact"`` or
    ``"fisher-sampled"`` as its authors have it), KFRA ``"gauss-newton"``, PCH ``"pch-1"`` and
    ``"pch-2"``.

    Parameters
    ----------
    network, loss, x, y, curvature, rng
        As for :func:`~secondorder.papers.eacg.bias_curvatures`: B^t, the block of the bias.
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
            for number, (places, X) in enumerate(parts(layer, joint)):
                alone = form == "kfi" and number == 1  # KFI has no second factor for a bias
                whole[np.ix_(places.ravel(), places.ravel())] = (
                    plus_diagonal((B + B.T) / 2, alpha + l2) if alone
                    else damped_block((B + B.T) / 2, X, form, alpha, l2))
    return network.require_finite(whole, "EA-CG: the curvature")


def parts(layer, joint):
    """(places in theta (n, m), inputs X (S, m)) of a trained layer's weights, and of its bias: a
    weight whose input is 1. With `joint` of both at once, [W b] with inputs [h; 1].
    """
    places = [one.reshape(len(layer.W), -1) for one in layer.pieces(np.arange(layer.where.stop))]
    X = [layer.h, np.ones_like(layer.h[:, :1])][:len(places)]
    return [(np.hstack(places), np.hstack(X))] if joint and places else list(zip(places, X))


def damped_block(B, X, form, alpha, l2):
    """Eq. (9) over the rows of W: (1 - alpha)(B (x) A + l2 I) + alpha I; for KFI B (x) A, damped.
    """
    if form == "kfi":
        A, B = eq_12_factors(ehht(X), B, alpha + l2)
        return np.kron(B, A)
    A = ehht(X if form == "kronecker" else X.mean(axis=0, keepdims=True))
    return plus_diagonal((1 - alpha) * np.kron(B, A), damping(alpha, l2))
