"""Diagonals of curvature matrices without the matrices.

Gauss-Newton and Fisher matrices are means of sums of r^T J^T J r over a few columns r of the
outputs, so that their diagonals are sums of squared gradients: one backward pass a column. The
diagonal of a Hessian needs the Hessian of each sample's loss in the output of every layer, which is
carried down layer by layer.
"""

import numpy as np

from ..checks import check_l2, instance_of, one_of
from ..nets import Activation, Chain, Linear, Network, Skip
from ..nets.evaluation import quiet
from .chunks import Chunks
from .curvature import evaluated, hessian_rows, mean_of, product_sum, widths
from .dense import drawn_scores
from .parameter_slices import parameter_slice
from .symmetric import part_of, slices

NAMES = {"hessian": "the Hessian", "gauss-newton": "the Gauss-Newton matrix",
         "fisher": "the Fisher matrix", "fisher-empirical": "the empirical Fisher matrix",
         "fisher-sampled": "the sampled Fisher matrix"}
KINDS = tuple(NAMES)
ROOM = 2**22  # numbers that the Hessians in the outputs of a layer may take
UNITS = 64  # unit vectors that are multiplied at a time


def diagonal(network, loss, x, y, kind="hessian", rng=None, draws=1, l2=0.0, layer=None,
             parameter=None, batch_size=None, executor=None):
    """Diagonal of a curvature matrix, exact, without the matrix.

    Parameters
    ----------
    network, loss, x, y
        As for :func:`gradient`.
    kind : {"hessian", "gauss-newton", "fisher", "fisher-empirical", "fisher-sampled"}
        The Fisher matrices as in :func:`fisher`; ``"fisher"`` is the exact Fisher matrix. How the
        Hessian's is found, :func:`diagonal_methods` says for each layer. The other kinds take one
        backward pass for every output (for every draw, or just one for the empirical Fisher
        matrix), whatever the layers.
    rng : None, int or numpy.random.Generator
        For ``"fisher-sampled"``, as `draws`.
    draws : int
        Number of targets per sample.
    l2 : float
        Adds l2.
    layer, parameter
        Only the entries of a layer, of several in a row, or of a parameter; see
        :class:`HessianOperator`.
    batch_size, executor
        As for :func:`gradient`.

    Returns
    -------
    (P,) array, or (n,) for n parameters of a layer

    Raises
    ------
    TypeError
        A Fisher matrix for a loss that has none.
    ValueError, FloatingPointError
        As :func:`gradient`; unknown names.

    Examples
    --------
    *Saliency.* Optimal brain damage (LeCun, Denker, Solla 1990) sets one weight to zero and keeps
    all others. At a minimum the objective then rises by H_ii theta_i^2 / 2, to second order.

    >>> import numpy as np, secondorder as so
    >>> net, x = so.mlp([3, 4, 2], rng=0), np.random.default_rng(1).normal(size=(20, 3))
    >>> problem = net, so.SquaredError(), x, np.ones((20, 2))
    >>> saliency = so.exact.diagonal(*problem) * net.theta**2 / 2
    >>> least = np.argsort(saliency)[:3]      # the weights that are missed least

    Where the other weights are trained anew, see :func:`solve`.
    """
    l2 = check_l2(l2)
    one_of(KINDS, kind, "kind")
    block = parameter_slice(instance_of(network, Network, "network"), layer, parameter)
    chunks = Chunks(network, loss, x, y, batch_size, executor)
    what = f"the diagonal of {NAMES[kind]}"
    if kind == "hessian":
        total = _hessian_diagonal(chunks, block)
    else:
        scores = drawn_scores(chunks, rng, draws) if kind == "fisher-sampled" else []
        total = chunks.total(squares_sum, kind, block, rows=scores)
    return mean_of(network, total, chunks.samples, np.ones_like(total), l2, what)[block]


# -- Gauss-Newton and Fisher: squares of gradients -------------------------------------------------


def squares_sum(network, loss, x, y, kind, block, *scores):
    """Sum over samples of the diagonal of J^T M J, (P,), in the layers of a block and zero
    elsewhere: a task for :class:`Chunks`.
    """
    total, evaluation = np.zeros_like(network.theta), evaluated(network, loss, x, y)
    with quiet():
        p, y = evaluation.outputs, evaluation.y
        if kind == "fisher-empirical":
            scores = [loss.gradient(p, y)]
        if scores:
            columns = [(score, np.full(len(p), 1 / len(scores), p.dtype)) for score in scores]
        else:
            columns = _columns_of(loss.fisher(p) if kind == "fisher" else loss.hessian(p, y))
        for r, sign in columns:
            add_squares(network.chain, evaluation.saved, r, sign, total, block)
    return total


def _columns_of(M):
    """Columns r_c (S, C) and signs (S,) such that M = sum_c sign_c r_c r_c^T for every sample."""
    values, vectors = np.linalg.eigh(M)
    for c in range(M.shape[-1]):
        yield vectors[:, :, c] * np.sqrt(np.abs(values[:, c, None])), np.sign(values[:, c])


def add_squares(layer, saved, bar, sign, out, block):
    """out_k += sum_s sign_s theta_bar_sk^2, with `theta_bar` the gradients of single samples, in
    the layers that reach into a block (a slice of `out`).
    """
    if type(layer) in (Chain, Skip):
        inner, inner_saved = (layer, saved) if type(layer) is Chain else (layer.inner, saved.inner)
        bars = inner.output_gradients(inner_saved, bar)
        for (part, own_saved), below, where in zip(inner.called(inner_saved), bars, inner.slices):
            if part.size and _meet(where, block):
                inside = slice(block.start - where.start, block.stop - where.start)
                add_squares(part, own_saved, below, sign, out[where], inside)
    elif type(layer) is Linear:
        add_weighted_squares(layer, saved, sign[:, None] * bar * bar, out)
    else:
        rows = layer.flat_parameter_gradients(saved, bar)
        out += np.einsum("s,sk,sk->k", sign, rows, rows)


def _meet(one, other):
    """Whether two slices have a number in common."""
    return one.start < other.stop and other.start < one.stop


def add_weighted_squares(layer, saved, weights, out):
    """Of a linear layer: out of W_ij += sum_s weights_si x_sj^2, out of b_i += sum_s weights_si."""
    W, b = (*layer.split(out), None)[:2]
    W += weights.T @ (saved.input * saved.input)
    if b is not None:
        b += weights.sum(axis=0)


# -- the Hessian: recursion where it is known, products elsewhere ----------------------------------


def diagonal_methods(network):
    """How the diagonal of the Hessian is found, layer by layer of ``network.layers``.

    Returns
    -------
    tuple of str or None
        ``"recursion"``: from the Hessians of each sample's loss in the outputs of the layers; for
        `Linear` layers, also inside `Chain` and `Skip`. ``"products"``: a product with a unit
        vector for every parameter. None for a layer without trained parameters.

    Raises
    ------
    TypeError
        If it is no network.
    """
    instance_of(network, Network, "network")
    return tuple((("recursion" if _is_known(layer) else "products") if layer.size else None)
                 for layer in network.layers)


def _is_known(layer):
    """Whether the recursion knows a layer, and all layers inside it."""
    return all(type(inner) in (Linear, Chain, Skip) for inner in layer.sublayers() if inner.size)


def _hessian_diagonal(chunks, block):
    """Diagonal of the Hessian of the sum of the losses, (P,); right in the layers of a block."""
    network = chunks.network
    methods = [method if _meet(where, block) else None
               for where, method in zip(network.slices, diagonal_methods(network))]
    total = np.zeros_like(network.theta)
    if "recursion" in methods:
        straight = all(map(_is_straight, network.chain.sublayers()))
        task, *own = ((squares_sum, "gauss-newton", block) if straight
                      else (recursion_sum, tuple(methods)))
        total = chunks.total(task, *own)
    for where, method in zip(network.slices, methods):
        if method == "products":
            for block in slices(where.stop - where.start, UNITS):
                first, count = where.start + block.start, block.stop - block.start
                units = np.eye(count, network.size, first, dtype=network.dtype)
                products = chunks.total(product_sum, hessian_rows, units)
                total[first : first + count] = products[:, first : first + count].diagonal()
    return total


def _is_straight(layer):
    """Whether a layer is piecewise linear in each parameter and in its input: where all layers are,
    an output has no second derivative in a single parameter, and the diagonals of the Hessian and
    of the Gauss-Newton matrix are the same.
    """
    if type(layer) is Activation:
        return getattr(layer.function, "piecewise_linear", False)
    return type(layer) in (Linear, Chain, Skip)


def recursion_sum(network, loss, x, y, methods):
    """Diagonal of the Hessian of the sum of the losses, in the layers whose method is "recursion":
    a task for :class:`Chunks`.
    """
    first, total = methods.index("recursion"), np.zeros_like(network.theta)
    evaluation = evaluated(network, loss, x, y)
    with quiet():
        widest = max(widths(network)[first:])
        length = max(1, ROOM // widest**2)
        for where in slices(evaluation.samples, length):
            part = part_of(evaluation, where) if length < evaluation.samples else evaluation
            H = loss.hessian(part.outputs, part.y)
            add_diagonal_of_chain(network.chain, part.saved, part.deltas, H, total, first)
    return total


def add_diagonal_of_chain(chain, saved, bars, H, out, first=0):
    """Carry H (S, n, n), the Hessian in a layer's output, down a chain to layer `first`, and add
    the diagonal in the parameters of all known layers on the way.
    """
    for i in reversed(range(first, len(chain.layers))):
        layer, where = chain.layers[i], chain.slices[i]
        if layer.size and _is_known(layer):
            add_diagonal(layer, saved[i], bars[i], H, out[where])
        if i > first:
            H = layer.input_hessian(saved[i], bars[i], H)


def add_diagonal(layer, saved, bar, H, out):
    """Add the diagonal of the sum of the losses in a layer's own parameters, H (S, n, n) given.

    A linear layer's output is linear in its weights: d^2 f / dW_ij^2 = sum_s H_sii x_sj^2.
    """
    if type(layer) is Linear:
        add_weighted_squares(layer, saved, np.einsum("sii->si", H), out)
    else:
        inner, inner_saved = (layer, saved) if type(layer) is Chain else (layer.inner, saved.inner)
        add_diagonal_of_chain(inner, inner_saved, inner.output_gradients(inner_saved, bar), H, out)
