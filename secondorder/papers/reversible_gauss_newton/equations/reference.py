"""The other side of every check, without the room's formulas: complex steps, singular values. It
knows a network by its matrices alone.

Matrices have one column a sample. A bias is a weight of a feature that is always one: W becomes
[W b], and S = sigma(V X) has a row of ones below. Half order is (vec X^(1); vec X^(2)); parameters
in the paper's order are (vec W^(1)_1; vec W^(2)_1; ...), in the network's as ``net.theta``.
"""

import numpy as np
from scipy.linalg import block_diag

STEP = 1e-30  # of a complex step: no subtraction, so no cancellation
#: Elementwise, also of complex numbers.
SIGMA = {"tanh": np.tanh, "relu": lambda z: np.where(np.real(z) > 0, z, 0),
         "identity": lambda z: z}


# -- the network -----------------------------------------------------------------------------------

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


def forward(blocks, X1, X2):
    """Both halves behind some blocks, for arrays that may be complex."""
    for block in blocks:
        X1, X2, *_ = block_forward(block, X1, X2)
    return X1, X2


def inverse(blocks, X1, X2):
    """Both halves before some blocks, from those behind them."""
    for block in reversed(blocks):
        X1, X2 = block_inverse(block, X1, X2)
    return X1, X2


def split(net, x):
    """X^(1) and X^(2) of rows x, with a row of zeros for an odd number of inputs."""
    X = np.zeros((net.width, len(x)))
    X[:np.shape(x)[1]] = np.asarray(x, dtype=float).T
    return np.split(X, 2)


def final(net, x, theta=None, stop=None):
    """X_L (width, S), or X after `stop` blocks, also of complex parameters."""
    return np.vstack(forward(matrices(net, theta)[:stop], *split(net, x)))


def outputs(net, x, theta=None):
    """f = U x_L (S, C)."""
    X = final(net, x, theta).T
    return X if net.readout is None else X @ np.array(net.readout, dtype=float).T


# -- derivatives by complex steps ------------------------------------------------------------------

def halves(X1, X2):
    """(vec X^(1); vec X^(2)), units fastest."""
    return np.concatenate([X1.T.ravel(), X2.T.ravel()])


def half_jacobian(function, pair):
    """Of a function of two matrices that gives the halves of X, in half order on both sides."""
    columns = []
    for which in (0, 1):
        for j, i in np.ndindex(pair[which].shape[::-1]):
            moved = [M.astype(complex) for M in pair]
            moved[which][i, j] += 1j * STEP
            columns.append(halves(*function(*moved)).imag / STEP)
    return np.array(columns).T


def in_weights(net, x, l, stop=None):
    """d (x after block `stop`) / d w_l."""
    blocks = matrices(net)
    below = forward(blocks[:l], *split(net, x))
    return half_jacobian(lambda *W: forward([(*W, *blocks[l][2:]), *blocks[l + 1:stop]], *below),
                         blocks[l][:2])


def parameter_jacobian(net, x, blocks=None):
    """J, or its columns of some blocks."""
    return np.hstack([in_weights(net, x, l) for l in
                      (range(len(net.blocks)) if blocks is None else blocks)])


def own_jacobian(net, x, l):
    """d x_l / d w_l, with x_{l-1} fixed."""
    return in_weights(net, x, l, l + 1)


def triangle(net, x, l):
    """A, B and C of d x_l / d w_l = [[A, 0], [B, C]]."""
    own = own_jacobian(net, x, l)
    rows, size = len(own) // 2, own.shape[1] // 2
    return own[:rows, :size], own[rows:, :size], own[rows:, size:]


def above(net, x, l):
    """d x_L / d x_l."""
    blocks = matrices(net)
    return half_jacobian(lambda *X: forward(blocks[l + 1:], *X),
                         forward(blocks[:l + 1], *split(net, x)))


def back(net, x, l):
    """d x_l / d x_L, through the inverse network."""
    blocks = matrices(net)
    return half_jacobian(lambda *X: inverse(blocks[l + 1:], *X),
                         forward(blocks, *split(net, x)))


def moved_parameters(net, direction):
    """The parameters with an imaginary step along a direction (P,), in the network's order."""
    return net.theta.astype(complex) + 1j * STEP * np.asarray(direction, dtype=float)


def moved_outputs(net, x, direction):
    """J d (S, C): how the outputs move along a change of the parameters."""
    return outputs(net, x, moved_parameters(net, direction)).imag / STEP


def moved_features(net, x, direction):
    """How X_L (width, S) moves along a change of the parameters."""
    return final(net, x, moved_parameters(net, direction)).imag / STEP


def moved_errors(net, x, y, direction):
    """d eps / dt of the softmax along a change of the parameters, (n c,)."""
    f = outputs(net, x, moved_parameters(net, direction))
    return (softmax_errors(f, y).imag / STEP).ravel()


def jacobian_by_differences(net, x, step=3e-4):
    """J (n c, P) of any network, by differences of the fourth order, with h = `step`:

        (8 (f(h) - f(-h)) - (f(2 h) - f(-2 h))) / (12 h)
    """
    home, columns = net.theta.copy(), []
    for e in np.eye(net.size):
        total = 0
        for times, factor in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
            net.theta = home + times * step * e
            total = total + factor * net(x).ravel()
        columns.append(total / (12 * step))
    net.theta = home
    return np.array(columns).T


# -- losses ----------------------------------------------------------------------------------------

def softmax_losses(f, y):
    """log sum exp(f) - f_y, sample by sample, also of complex f (n, c)."""
    return np.array([np.log(np.exp(row).sum()) - (row * t).sum() for row, t in zip(f, y)])


def softmax_errors(f, y):
    """softmax(f) - y, sample by sample, for f and one-hot y (n, c)."""
    return np.array([np.exp(row) / np.exp(row).sum() - t for row, t in zip(f, y)])


def softmax_hessian(f):
    """Block-diagonal Hessian of the sum of cross-entropies in the outputs, (n c, n c), units
    fastest.
    """
    q = np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)
    return block_diag(*(np.diag(p) - np.outer(p, p) for p in q))


# -- inverses --------------------------------------------------------------------------------------

def weighed(s, form, strength):
    """What takes the place of 1 / s in a pseudo-inverse of this name, for s from the largest."""
    return {"exact": 1 / s, "truncate": np.where(s >= strength * s[0], 1 / s, 0),
            "damp": 1 / (s + strength * s[0]),
            "tikhonov": s / (s**2 + strength * s[0] ** 2)}[form]


def pinv(M, pseudo_inverse="exact", strength=0):
    """Pseudo-inverse from the singular values that are not 0; without a name, Moore-Penrose's."""
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    U, s, Vt = (part[..., s > 1e-10 * s[0]] for part in (U, s, Vt.T))
    return (Vt * weighed(s, pseudo_inverse, strength)) @ U.T


def rank(M):
    """Numerical rank from the singular values."""
    s = np.linalg.svd(M, compute_uv=False)
    return int(np.count_nonzero(s > 1e-9 * s[0]))


def triangular_right_inverse(A, B, C):
    """[[A+, 0], [-C+ B A+, C+]], by singular values."""
    A_plus, C_plus = pinv(A), pinv(C)
    return np.block([[A_plus, np.zeros((len(A_plus), C_plus.shape[1]))],
                     [-C_plus @ B @ A_plus, C_plus]])


def weighted_step(H, J, eps):
    """-(J^T H J)^+ J^T eps for H > 0, in coordinates where H = I: J^T H J = (L^T J)^T (L^T J)."""
    L = np.linalg.cholesky(H)
    return -pinv(L.T @ J) @ np.linalg.solve(L, eps)


# -- the step --------------------------------------------------------------------------------------

def in_features(net, eps):
    """The error in X_L (width, S): of all changes of x_L that change the outputs by eps (S, C), the
    least.
    """
    return (eps if net.readout is None else eps @ pinv(np.array(net.readout, dtype=float)).T).T


def passes(net, x):
    """[(halves before it, S1, S2), ...] of every block, and the halves of X_L."""
    found, X = [], split(net, x)
    for block in matrices(net):
        *after, S1, S2 = block_forward(block, *X)
        found.append((X, S1, S2))
        X = after
    return found, X


def deltas(net, x, eps, **form):
    """[(Delta1, Delta2), ...] of every block, for eps (S, C).

    e_l is d x_l / d x_L times the error in x_L, by a complex step through the inverse network, and
    the bracket of (17) takes away what the step Delta1 does to the second half.
    """
    (found, X), pairs = passes(net, x), []
    X1, X2 = np.split(np.vstack(X) + 1j * STEP * in_features(net, eps), 2)
    for block, (below, S1, S2) in zip(matrices(net)[::-1], found[::-1]):
        e1, e2 = X1.imag / STEP, X2.imag / STEP
        first = e1 @ pinv(S1, **form)
        _, second, *_ = block_forward((block[0] + 1j * STEP * first, *block[1:]), *below)
        pairs.append((first, (e2 - second.imag / STEP) @ pinv(S2, **form)))
        X1, X2 = block_inverse(block, X1, X2)
    return pairs[::-1]


def right_inverse_step(net, x, eps, **form):
    """-Delta_l / L of all blocks (P,), in the order of ``net.theta``."""
    pairs, width, pieces = deltas(net, x, eps, **form), net.blocks[0].W1.shape[1], []
    for delta in [delta for pair in pairs for delta in pair]:
        pieces += [delta[:, :width].ravel(), delta[:, width:].ravel()]
    return -np.concatenate(pieces) / len(pairs)


def features_of(net, x):
    """S of every half, from the first up."""
    return [S for _, *pair in passes(net, x)[0] for S in pair]


def conditions(net, x):
    """Condition numbers of the features of every half: of those singular values that are not 0."""
    every = [np.linalg.svd(S, compute_uv=False) for S in features_of(net, x)]
    return np.array([s[0] / s[s > 1e-9 * s[0]][-1] for s in every])
