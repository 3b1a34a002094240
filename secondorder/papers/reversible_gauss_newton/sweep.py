"""The update (16)-(17) of every block in one sweep from the last block to the first, by matrices
only.

Rows are samples. The error e_l of block l is the tangent of x_l when x_L moves along e_L: one pass
through the inverse network gives those of all blocks. With T(u) = W s'(Z) * (V u), row by row,

    e2_{l-1} = e2_l - T2(e1_l)          e1_{l-1} = e1_l - T1(e2_{l-1})

    Delta1_l = e1_l S1+                                       Eq. (16)
    Delta2_l = (e2_l - T2(u)) S2+,  u = Delta1_l S1           Eq. (17)

as B vec(Delta1) = T2(Delta1 S1). Where S1 has independent columns u = e1_l, so that the bracket is
e2_{l-1}.
"""

import numpy as np

from .features import fit
from .update import Update


def stored_step(evaluation, eps, options, out=None):
    """`Update` of the right inverse from the activations that an evaluation saved."""
    network = evaluation.network
    states = stored(network.blocks, evaluation.saved[network._begin:network._end])
    return sweep(network, states, eps, options, out)


def at_features(network, eps):
    """The error in x_L (S, width): the least change of x_L that changes the outputs by eps.

    f = R x_L:  eps R^{+T}
    """
    if network.readout is None:
        return eps
    return eps @ np.linalg.pinv(network.readout).T.astype(network.dtype)


def stored(blocks, saved):
    """The saved tuples of both halves of every block, last block first, from a forward pass that
    saved them.
    """
    for l in reversed(range(len(blocks))):
        yield blocks[l], (saved[2 * l], saved[2 * l + 1])


def inverted(blocks, x_L):
    """The same, recomputed block by block from the output, so that nothing has to be stored."""
    y = x_L
    for block in blocks[::-1]:
        states = []
        for half in block[::-1]:
            y, saved = half.undone(y)
            states.append(saved)
        yield block, states[::-1]


def from_inputs(blocks, x):
    """The same from a second forward pass, which stores the input of every block only."""
    inputs = []
    for block in blocks:
        inputs.append(x)
        for half in block:
            x = half.forward(x)[0]
    for block in blocks[::-1]:
        x, states = inputs.pop(), []
        for half in block:
            x, saved = half.forward(x)
            states.append(saved)
        yield block, states


def block_update(block, saved, e, options):
    """Delta1 and Delta2 of one block as two `Fit`, Eqs. (16) and (17), for its error e (S, width).

    Delta1 = e1 S1+,  Delta2 = (e2 - T2(Delta1 S1)) S2+

    The third, a function, gives the error below the block; below the first one it is not needed.
    """
    lower, upper = block
    first = _fit(lower, saved[0], e[:, lower.moved], options)
    below = upper.inverse_tangent(saved[1], e)
    bracket = below[:, upper.moved]
    if not first.complete:
        literal = np.array(e)
        literal[:, lower.moved] = first.reached
        bracket = upper.inverse_tangent(saved[1], literal)[:, upper.moved]
    second = _fit(upper, saved[1], bracket, options)
    return first, second, lambda: lower.inverse_tangent(saved[0], below)


def _fit(half, saved, targets, options):
    """`Fit` of the features S^T (S, d') of a half-coupled layer to targets (S, d/2)."""
    return fit(saved.inner[-1].input, targets, options.pseudo_inverse, options.strength,
               half.trained.bias is not None, options.decomposition, options.rng)


def sweep(network, states, eps, options, out=None):
    """`Update` for the error `eps` (S, C) in the outputs that is to be removed, of the SUM of the
    losses. `states` come from :func:`stored` or :func:`inverted`; the direction goes to `out`.

    ``options.block_weights``, c_l: "uniform" 1 / L; "shortest" proportional to 1 / |Delta_l|^2;
    "last" block only; "full-rank": equal for the blocks where both matrices of features have
    independent columns, none for the others (uniform if there is none).
    """
    blocks, weights = network.blocks, options.block_weights
    direction = np.empty(network.size, dtype=network.dtype) if out is None else out
    direction[:] = 0
    ranks, sizes = np.full((len(blocks), 2), -1), np.zeros(len(blocks))
    full = np.zeros(len(blocks), dtype=bool)
    halves = network.slices[network._begin:network._end]
    places = [slice(a.start, b.stop) for a, b in zip(halves[::2], halves[1::2])]
    lowest = _lowest(weights, len(blocks))
    e, largest, missed, undecided, lost = at_features(network, eps), 0.0, 0.0, 0, 0.0
    for l, (block, saved) in zip(reversed(range(len(blocks))), states):
        first, second, below = block_update(block, saved, e, options)
        part = direction[places[l]]
        _write(part, first, second)
        ranks[l], sizes[l] = (first.rank, second.rank), np.vdot(part, part)
        full[l] = min(first.independent, second.independent) == len(e)
        missed = max(missed, first.missed, second.missed)
        undecided = max(undecided, first.undecided, second.undecided)
        lost = max(lost, first.lost, second.lost)
        largest = max(largest, float(np.abs(saved[1].output).max()))
        start = saved[0].input
        if l == lowest:
            break
        e = below()
    c = _weights(weights, sizes, full) if isinstance(weights, str) else np.asarray(weights, float)
    for where, factor in zip(places, c):
        direction[where] *= -network.dtype.type(factor)
    return Update(direction, int(ranks[ranks >= 0].min()), len(eps), ranks, c, missed=missed,
                  undecided=undecided, lost=lost, start=start, largest=largest)


def _lowest(weights, count):
    """The first block that has a share."""
    if isinstance(weights, str):
        return count - 1 if weights == "last" else 0
    return int(np.flatnonzero(weights)[0])


def _write(part, first, second):
    """Both updates into their places: weight, then bias, of the first half, then of the second."""
    start = 0
    for delta in (first, second):
        for piece in (delta.weight, delta.bias):
            if piece is not None:
                part[start:start + piece.size] = piece.ravel()
                start += piece.size


def _weights(kind, sizes, full):
    """c_l of a named kind, with sum 1."""
    count = len(sizes)
    if kind == "last":
        return np.eye(count)[-1]
    if kind == "full-rank" and full.any():
        return full / full.sum()
    if kind == "shortest" and sizes.all():
        return shortest(sizes)
    return np.full(count, 1 / count)


def shortest(squared_lengths):
    """The weights of the shortest step: the least sum of c_l^2 |Delta_l|^2 among all c of sum 1.

    c_l = |Delta_l|^{-2} / sum_k |Delta_k|^{-2}
    """
    c = 1 / squared_lengths
    return c / c.sum()


def order_of_cost(L, n, d):
    """Multiply-adds of a step, up to a factor, for a bottleneck of the order of d:

        L n d^2 + L n^2 d
    """
    return L * n * d**2 + L * n**2 * d
