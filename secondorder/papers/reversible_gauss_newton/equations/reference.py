"""What the checks compare with, without the room's formulas: loops over samples, complex
steps, singular values.
"""

import numpy as np

STEP = 1e-30  # of a complex step: no subtraction, so no cancellation


#: Elementwise, also of complex numbers.
SIGMA = {"tanh": np.tanh, "relu": lambda z: np.where(np.real(z) > 0, z, 0),
         "identity": lambda z: z}


def matrices(net):
    """[(W1, W2, V1, V2, sigma), ...] of every block, as copies."""
    return [(*(np.eye(net.width // 2) if m is None else np.array(m)
               for m in (block.W1, block.W2, block.Vb, block.Va)),
             SIGMA[block.first.layers[-2].function.name]) for block in net.blocks]


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
