"""What the checks compare with, without the room's formulas: loops over samples, complex steps,
singular values.

The first half is for networks as in the paper. The second is for networks as users build them, with
biases, a readout, an odd number of inputs: a bias is a weight of a feature that is always one, so
that W becomes [W b], and S = sigma(V X) has a row of ones below. Matrices have one column a sample.
"""

import numpy as np

STEP = 1e-30  # of a complex step: no subtraction, so no cancellation


#: Elementwise, also of complex numbers.
SIGMA = {"tanh": np.tanh, "relu": lambda z: np.where(np.real(z) > 0, z, 0),
         "identity": lambda z: z}


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


def forward(net, x, weights=None, start=0, stop=None):
    """Columns X (d, n) after block `stop`, from the rows x before block `start`, sample by sample
    and unit by unit.

    `weights` is a list as from :func:`matrices`; arrays may be complex.
    """
    weights = matrices(net) if weights is None else weights
    half = len(weights[0][0])
    columns = []
    for row in np.asarray(x):
        one, two = list(row[:half]), list(row[half:])
        for W1, W2, V1, V2, sigma in weights[start:stop]:
            s = sigma(V2 @ np.array(two))
            one = [one[i] + sum(W1[i, k] * s[k] for k in range(len(s))) for i in range(half)]
            s = sigma(V1 @ np.array(one))
            two = [two[i] + sum(W2[i, k] * s[k] for k in range(len(s))) for i in range(half)]
        columns.append(one + two)
    return np.array(columns).T


def features(W, V, sigma, X):
    """sigma(V X), with a row of ones where W has a column for a bias."""
    S = sigma(V @ X)
    return S if W.shape[1] == len(S) else np.vstack([S, np.ones((1, S.shape[1]))])


def block_forward(block, X1, X2):
    """Both halves after a block, and its features S1 and S2."""
    W1, W2, V1, V2, sigma = block
    S1 = features(W1, V2, sigma, X2)
    X1 = X1 + W1 @ S1
    S2 = features(W2, V1, sigma, X1)
    return X1, X2 + W2 @ S2, S1, S2


def block_inverse(block, X1, X2):
    """Both halves before a block."""
    W1, W2, V1, V2, sigma = block
    X2 = X2 - W2 @ features(W2, V1, sigma, X1)
    return X1 - W1 @ features(W1, V2, sigma, X2), X2


def quick_forward(blocks, X1, X2):
    """`forward` with matrix products, for the many passes of a complex step."""
    for block in blocks:
        X1, X2, *_ = block_forward(block, X1, X2)
    return X1, X2


def quick_inverse(blocks, X1, X2):
    """The halves before some blocks from the halves behind them."""
    for block in reversed(blocks):
        X1, X2 = block_inverse(block, X1, X2)
    return X1, X2


def halves(X1, X2):
    """(vec X^(1); vec X^(2)), by loops: units fastest."""
    return np.array(
        [X[i, j] for X in (X1, X2) for j in range(X.shape[1]) for i in range(X.shape[0])])


def parameter_jacobian(net, x, blocks=None):
    """d (x_L in half order) / d (vec W^(1)_1, vec W^(2)_1, ...) by complex steps; only for some
    `blocks` if they are given.
    """
    base = matrices(net)
    columns = []
    for l in range(len(base)) if blocks is None else blocks:
        for which in (0, 1):
            for a in range(base[l][which].shape[1]):
                for i in range(base[l][which].shape[0]):
                    moved = [list(m) for m in base]
                    moved[l][which] = moved[l][which].astype(complex)
                    moved[l][which][i, a] += 1j * STEP
                    columns.append(halves(*quick_forward(moved, *np.split(np.asarray(x).T, 2))
                                          ).imag / STEP)
    return np.array(columns).T


def own_parameter_jacobian(net, x, block):
    """d (x_l) / d (w_l) in half order, with x_{l-1} fixed: complex steps through one block."""
    below = forward(net, x, stop=block).T if block else np.asarray(x)
    base, columns = matrices(net), []
    for which in (0, 1):
        for a in range(base[block][which].shape[1]):
            for i in range(base[block][which].shape[0]):
                moved = list(base[block])
                moved[which] = moved[which].astype(complex)
                moved[which][i, a] += 1j * STEP
                after = quick_forward([moved], *np.split(below.T, 2))
                columns.append(halves(*after).imag / STEP)
    return np.array(columns).T


def triangle(net, x, block):
    """A, B and C of d (x_l) / d (w_l) = [[A, 0], [B, C]], by complex steps."""
    own = own_parameter_jacobian(net, x, block)
    rows, size = len(own) // 2, own.shape[1] // 2
    return own[:rows, :size], own[rows:, :size], own[rows:, size:]


def triangular_right_inverse(A, B, C):
    """[[A+, 0], [-C+ B A+, C+]], by singular values."""
    A_plus, C_plus = pinv(A), pinv(C)
    return np.block([[A_plus, np.zeros((len(A_plus), C_plus.shape[1]))],
                     [-C_plus @ B @ A_plus, C_plus]])


def features_jacobian(net, x, block):
    """d x_L / d x_l after block number `block`, in half order, by complex steps."""
    return _jacobian(lambda *X: quick_forward(matrices(net)[block + 1:], *X),
                     forward(net, x, stop=block + 1))


def inverse_jacobian(net, x, block):
    """d x_l / d x_L after block number `block`, in half order, by complex steps through the inverse
    network.
    """
    return _jacobian(lambda *X: quick_inverse(matrices(net)[block + 1:], *X), forward(net, x))


def _jacobian(function, X):
    """Of a function of both halves of X (d, n), everything in half order."""
    half, samples = len(X) // 2, X.shape[1]
    columns = []
    for which in (0, 1):
        for j in range(samples):
            for i in range(half):
                moved = X.astype(complex)
                moved[which * half + i, j] += 1j * STEP
                columns.append(halves(*function(moved[:half], moved[half:])).imag / STEP)
    return np.array(columns).T


def pinv(M):
    """Moore-Penrose inverse from the singular value decomposition."""
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    large = s > 1e-10 * s[0]
    return (Vt[large].T / s[large]) @ U[:, large].T


def softmax_errors(f, y):
    """softmax(f) - y, sample by sample, for f and one-hot y (n, c)."""
    return np.array([np.exp(row) / np.exp(row).sum() - t for row, t in zip(f, y)])


def softmax_hessian(f):
    """Block-diagonal Hessian of the sum of cross-entropies in the outputs, (n c, n c), units
    fastest.
    """
    n, c = f.shape
    H = np.zeros((n * c, n * c))
    for s in range(n):
        p = np.exp(f[s]) / np.exp(f[s]).sum()
        for i in range(c):
            for j in range(c):
                H[s * c + i, s * c + j] = p[i] * (i == j) - p[i] * p[j]
    return H


def along(net, x, y, w):
    """d eps / dt of the softmax along w, parameters in the paper's order, by a complex step through
    the reference network.
    """
    moved, start = [], 0
    for W1, W2, *fixed in matrices(net):
        d1, d2 = (part.reshape(W1.T.shape).T
                  for part in np.split(w[start:start + 2 * W1.size], 2))
        moved.append((W1 + 1j * STEP * d1, W2 + 1j * STEP * d2, *fixed))
        start += 2 * W1.size
    f = np.concatenate(quick_forward(moved, *np.split(np.asarray(x).T, 2))).T
    return (softmax_errors(f, y).imag / STEP).ravel()


def keep_large(S, least=0.3):
    """Pseudo-inverse without singular values below `least` times the largest."""
    U, s, Vt = np.linalg.svd(S, full_matrices=False)
    large = s >= least * s[0]
    return (Vt[large].T / s[large]) @ U[:, large].T


# -- networks as users build them ------------------------------------------------------------------

def input_halves(net, x):
    """X^(1) and X^(2) of the input, with a row of zeros for an odd number of inputs."""
    X = np.zeros((net.width, len(x)))
    X[:x.shape[1]] = np.asarray(x, dtype=float).T
    return X[:net.width // 2], X[net.width // 2:]


def final(net, x, theta=None):
    """X_L (width, S), also of complex parameters."""
    return np.vstack(quick_forward(matrices(net, theta), *input_halves(net, x)))


def outputs(net, x, theta=None):
    """f = R x_L (S, C)."""
    X = final(net, x, theta).T
    return X if net.readout is None else X @ np.array(net.readout, dtype=float).T


def moved_parameters(net, direction):
    """The parameters with an imaginary step along a direction (P,)."""
    return net.theta.astype(complex) + 1j * STEP * np.asarray(direction, dtype=float)


def moved_outputs(net, x, direction):
    """J d (S, C): how the outputs move along a change of the parameters."""
    return outputs(net, x, moved_parameters(net, direction)).imag / STEP


def moved_features(net, x, direction):
    """How X_L (width, S) moves along a change of the parameters."""
    return final(net, x, moved_parameters(net, direction)).imag / STEP


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
    blocks, (X1, X2) = matrices(net), input_halves(net, x)
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


def right_inverse_step(net, x, eps, plus=pinv, weights=None):
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


def plus_of(pseudo_inverse="exact", strength=None):
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
