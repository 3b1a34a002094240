"""The update (16)-(17) of a network as users build it, by complex steps: biases, a readout, an odd
number of inputs, any activation, any number of blocks and samples.

A bias is a weight of a feature that is always one: W becomes [W b], and S = sigma(V X) has a row of
ones below.  Nothing of the room's formulas is used here; matrices have one column for each sample.
"""

import numpy as np

from .reference import SIGMA, STEP, block_forward, block_inverse, pinv, quick_forward


def matrices(net, theta=None):
    """[([W1 b1], [W2 b2], V1, V2, sigma), ...] of every block, read from a flat vector of
    parameters: weight row by row, then the bias, of the first half, then of the second.
    """
    theta, start, blocks = net.theta if theta is None else theta, 0, []
    half = net.width // 2
    for block in net.blocks:
        trained = []
        for layer in block:
            rows = half if layer.fixed is None else len(layer.fixed.weight)
            W = theta[start:start + half * rows].reshape(half, rows)
            start += half * rows
            if layer.trained.bias is not None:
                W = np.hstack([W, theta[start:start + half, None]])
                start += half
            trained.append(W)
        V1, V2 = (np.eye(half) if V is None else np.array(V, dtype=float)
                  for V in (block.Vb, block.Va))
        blocks.append((*trained, V1, V2, SIGMA[block.first.layers[-2].function.name]))
    return blocks


def halves(net, x):
    """X^(1) and X^(2) of the input, with a row of zeros for an odd number of inputs."""
    X = np.zeros((net.width, len(x)))
    X[:x.shape[1]] = np.asarray(x, dtype=float).T
    return X[:net.width // 2], X[net.width // 2:]


def final(net, x, theta=None):
    """X_L (width, S), also of complex parameters."""
    return np.vstack(quick_forward(matrices(net, theta), *halves(net, x)))


def outputs(net, x, theta=None):
    """f = R x_L (S, C)."""
    X = final(net, x, theta).T
    return X if net.readout is None else X @ np.array(net.readout, dtype=float).T


def along(net, direction):
    """The parameters with an imaginary step along a direction (P,)."""
    return net.theta.astype(complex) + 1j * STEP * np.asarray(direction, dtype=float)


def moved_outputs(net, x, direction):
    """J d (S, C): how the outputs move along a change of the parameters."""
    return outputs(net, x, along(net, direction)).imag / STEP


def moved_features(net, x, direction):
    """How X_L (width, S) moves along a change of the parameters."""
    return final(net, x, along(net, direction)).imag / STEP


def in_features(net, eps):
    """The error in X_L (width, S): of all changes of x_L that change the outputs by eps (S, C), the
    least.
    """
    return (eps if net.readout is None else eps @ pinv(np.array(net.readout, dtype=float)).T).T


def deltas(net, x, eps, plus=pinv):
    """[(Delta1, Delta2, S1, S2), ...] of every block, for eps (S, C); `plus` is the pseudo-inverse.

    e_l is d x_l / d x_L times the error in x_L, by a complex step through the inverse network, and
    the bracket of (17) takes away what the step Delta1 does to the second half.
    """
    blocks, (X1, X2) = matrices(net), halves(net, x)
    passes = []
    for block in blocks:
        below = X1, X2
        X1, X2, S1, S2 = block_forward(block, X1, X2)
        passes.append((below, S1, S2))
    E = np.split(in_features(net, eps), 2)
    X1, X2 = (X + 1j * STEP * e for X, e in zip((X1, X2), E))
    pairs = []
    for block, (below, S1, S2) in zip(blocks[::-1], passes[::-1]):
        e1, e2 = X1.imag / STEP, X2.imag / STEP
        first = e1 @ plus(S1)
        _, second, *_ = block_forward((block[0] + 1j * STEP * first, *block[1:]), *below)
        pairs.append((first, (e2 - second.imag / STEP) @ plus(S2), S1, S2))
        X1, X2 = block_inverse(block, X1, X2)
    return pairs[::-1]


def update(net, x, eps, plus=pinv, weights=None):
    """-c_l Delta_l of all blocks (P,), in the order of ``net.theta``; c_l = 1 / L unless given."""
    pairs = deltas(net, x, eps, plus)
    weights = np.full(len(pairs), 1 / len(pairs)) if weights is None else weights
    return -np.concatenate([c * flat(pair, net) for c, pair in zip(weights, pairs)])


def flat(pair, net):
    """Delta1 and Delta2 of a block as they stand in ``net.theta``."""
    width, pieces = net.blocks[0].W1.shape[1], []
    for delta in pair[:2]:
        pieces += [delta[:, :width].ravel(), delta[:, width:].ravel()]
    return np.concatenate(pieces)


def pseudo_inverse(pseudo_inverse="exact", strength=None):
    """What the options of this name stand for: a function of S, from those singular values that are
    not 0.
    """
    def plus(S):
        U, s, Vt = np.linalg.svd(S, full_matrices=False)
        U, s, Vt = (part[..., s > 1e-9 * s[0]] for part in (U, s, Vt.T))
        f = {"truncate": np.where(s >= strength * s[0], 1 / s, 0),
             "damp": 1 / (s + strength * s[0]),
             "tikhonov": s / (s**2 + strength * s[0] ** 2)}[pseudo_inverse]
        return (Vt * f) @ U.T
    return pinv if pseudo_inverse == "exact" else plus


def conditions(net, x):
    """Condition numbers of the features of every half: of those singular values that are not 0."""
    numbers = []
    for _, _, S1, S2 in deltas(net, x, np.zeros((len(x), *net.output_shape))):
        for S in (S1, S2):
            s = np.linalg.svd(S, compute_uv=False)
            numbers.append(s[0] / s[s > 1e-9 * s[0]][-1])
    return np.array(numbers)
