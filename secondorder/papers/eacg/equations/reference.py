"""The other side of every check: formulas, complex steps, loops, dense matrices.

Nothing here calls the room. A case is one of :mod:`.cases`; of it are used the parameters, the
batch, and the names of activations and criterion.
"""

import numpy as np

TINY = 1e-30
STEP = 1e-3

ACTIVATIONS = {
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "tanh": np.tanh,
    "softplus": lambda z: np.log(1 + np.exp(z)),
    "sin": np.sin,
    "leaky_relu": lambda z: z * np.where(z.real > 0, 1, 0.01),
    None: lambda z: z,
}

# -- criteria and networks -------------------------------------------------------------------------


def cross_entropy(p, y):
    """-log softmax(p)_y, for outputs p (..., C) and one label y."""
    return np.log(np.sum(np.exp(p), axis=-1)) - p[..., y]


def likelihood(p, y):
    """softmax(p)_y."""
    return np.exp(p[..., y]) / np.sum(np.exp(p), axis=-1)


def bounded(p, y):
    """(14) with delta = 5 and epsilon = 0.2."""
    return 1 / (1 + np.exp(5 * (likelihood(p, y) - 0.2)))


CRITERIA = {"softmax": cross_entropy, "bounded": bounded}


def forward(case, s, theta, at=None, shift=0.0):
    """z^t and h^t of instance s, t = 0..k, at the parameters `theta` (P,), which may be complex.

    `shift` (..., n) is added to z of layer `at`: its derivatives are those in that layer's bias,
    also where it has none.
    """
    z, h = [None], [case.x[s]]
    for t, one in enumerate(case.layers, start=1):
        W = one.layer.weight if one.weight is None else theta[one.weight]
        b = one.layer.bias if one.bias is None else theta[one.bias]
        below = h[-1] @ W.T
        z.append(below + (0 if b is None else b) + (shift if t == at else 0))
        h.append(ACTIVATIONS[one.activation](z[-1]))
    return z, h


def loss(case, s, theta, at=None, shift=0.0):
    """Loss of instance s; see `forward`."""
    return CRITERIA[case.loss](forward(case, s, theta, at, shift)[1][-1], case.y[s])


def inputs(case, t):
    """h_i^{t-1} (S, n_{t-1})."""
    return np.array([forward(case, s, case.theta)[1][t - 1] for s in range(len(case.x))])


def weight_places(case, t):
    """Where Vec(W^t), its columns one below the other, stands in theta."""
    return case.layers[t - 1].weight.ravel(order="F")


def all_places(case, t):
    """Where Vec([W^t b^t]) stands in theta."""
    return np.concatenate([weight_places(case, t), case.layers[t - 1].bias])


# -- derivatives -----------------------------------------------------------------------------------


def difference(f):
    """Derivative at 0 of f, a function of one number, by a fourth-order difference."""
    return sum(factor * f(k * STEP)
               for k, factor in ((1, 8), (-1, -8), (2, -1), (-2, 1))) / (12 * STEP)


def gradient(f, theta, places=None):
    """Derivatives of f at theta in the entries `places`, by complex steps; theta is real."""
    axes = np.eye(len(theta))[places if places is None else list(places)].reshape(-1, len(theta))
    return np.array([f(theta + 1j * TINY * axis).imag / TINY for axis in axes])


def hessian(f, theta, places=None):
    """Second derivatives of f in `places`: differences of complex steps."""
    axes = np.eye(len(theta))[places if places is None else list(places)].reshape(-1, len(theta))
    return np.array([difference(lambda step: gradient(f, theta + step * axis, places))
                     for axis in axes])


def gradients(case, places=None, theta=None):
    """Gradients of the instances' losses in `places`, (S, n), by complex steps."""
    theta = case.theta if theta is None else theta
    return np.array([gradient(lambda moved: loss(case, s, moved), theta, places)
                     for s in range(len(case.x))])


def instance_hessian(case, s, places):
    """Hessian of the loss of instance s in `places`, (n, n), by differences."""
    return hessian(lambda moved: loss(case, s, moved), case.theta, places)


def shift_gradients(case, t, shift):
    """Derivatives of the instances' losses in the entries of a shift (..., n_t) of z^t, (S, ...,
    n_t), by complex steps.
    """
    moved = np.asarray(shift)[..., None, :] + 1j * TINY * np.eye(case.sizes[t])
    return np.array([loss(case, s, case.theta, t, moved) for s in range(len(case.x))]).imag / TINY


def bias_gradients(case, t):
    """g_i^t (S, n_t) by complex steps."""
    return shift_gradients(case, t, np.zeros(case.sizes[t]))


def bias_hessians(case, t):
    """H_i^t (S, n_t, n_t) by differences of complex steps."""
    axes = np.eye(case.sizes[t])
    return difference(lambda step: shift_gradients(case, t, step * axes))


def bias_outer(case, t):
    """g_i^t g_i^tT (S, n_t, n_t)."""
    return outer(bias_gradients(case, t))


def of_labels(case):
    """The model's probabilities (C, S, 1, 1) of its labels, and the case with each of them alone.
    """
    S, labels = len(case.x), range(case.sizes[-1])
    outputs = [forward(case, s, case.theta)[1][-1] for s in range(S)]
    q = np.array([[likelihood(p, c) for p in outputs] for c in labels])
    return q[:, :, None, None], [case._replace(y=np.full(S, c)) for c in labels]


def mean_hessian(case, t):
    """E_i[H_i^t] (n_t, n_t)."""
    return bias_hessians(case, t).mean(axis=0)


def slopes(case, t):
    """h' and h'' of layer t, (S, n_t) each: a complex step, and its difference."""
    z = np.array([forward(case, s, case.theta)[0][t] for s in range(len(case.x))])

    def slope(step):
        return ACTIVATIONS[case.layers[t - 1].activation](z + step + 1j * TINY).imag / TINY

    return slope(0.0), difference(slope)


def below(case, t):
    """h_bar = W^T g^t, h' and h'' below layer t."""
    return bias_gradients(case, t) @ case.weights(t), *slopes(case, t - 1)


# -- one layer down --------------------------------------------------------------------------------


def absolute(A, gamma=-1.0):
    """Pos-Eig by a general eigen-decomposition."""
    eigenvalues, V = np.linalg.eig(A)
    corrected = np.where(eigenvalues.real < 0, gamma * eigenvalues, eigenvalues)
    return (V @ np.diag(corrected) @ np.linalg.inv(V)).real


def step_down(W, B, h_bar, slope, bend, gamma):
    """(6), the means of `steps_down` from one B; or (8b), corrected: gamma times the negative means
    of the diagonal term. gamma = None leaves that out.
    """
    carried = steps_down(W, [B] * len(slope), h_bar, slope, 0 * bend).mean(axis=0)
    means = np.mean(bend * h_bar, axis=0)
    if gamma is None:
        return carried
    return carried + np.diag(np.where(means < 0, gamma * means, means))


def steps_down(W, H, h_bar, slope, bend, gamma=1.0):
    """(4b) of every instance, with gamma times the negative entries of the diagonal term."""
    return np.array([np.diag(first) @ W.T @ B @ W @ np.diag(first)
                     + np.diag(np.where(second * above < 0, gamma * second * above, second * above))
                     for B, above, first, second in zip(H, h_bar, slope, bend)])


def recursion(case, top, gamma):
    """`step_down` from the top block of a case to its first layer."""
    blocks = [top]
    for t in range(len(case.sizes) - 1, 1, -1):
        blocks.append(step_down(case.weights(t), blocks[-1], *below(case, t), gamma))
    return blocks[::-1]


def pch(case, gamma=-1.0):
    """(8a) and (8b): blocks of the biases of all layers."""
    return recursion(case, absolute(mean_hessian(case, len(case.sizes) - 1)), gamma)


# -- Kronecker products and systems ----------------------------------------------------------------


def outer(h):
    """h_i h_i^T (S, m, m)."""
    return np.array([np.outer(row, row) for row in h])


def second_moment(h):
    """E_i[h_i h_i^T]."""
    return outer(h).mean(axis=0)


def of_mean(h):
    """E_i[h_i] E_i[h_i]^T."""
    return np.outer(h.mean(axis=0), h.mean(axis=0))


def covariance(X, Y):
    """Covariance (1/S) of X and Y (S, m, m), entry by entry."""
    return (X * Y).mean(axis=0) - X.mean(axis=0) * Y.mean(axis=0)


def mean_kron(h, H):
    """E_i[h_i h_i^T (x) H_i] for inputs (S, m) and H (S, n, n)."""
    return np.mean([np.kron(np.outer(row, row), one) for row, one in zip(h, H)], axis=0)


def vec(P):
    """The columns of P one below the other."""
    return np.concatenate([P[:, j] for j in range(P.shape[1])])


def damped(M, alpha, l2=0.0):
    """(1 - alpha) (M + l2 I) + alpha I."""
    return (1 - alpha) * (M + l2 * np.eye(len(M))) + alpha * np.eye(len(M))


def dense(A, B, G, alpha, l2=0.0):
    """Solution D of ((1 - alpha) (A (x) B + l2 I) + alpha I) Vec(D) = -Vec(G)."""
    return np.linalg.solve(damped(np.kron(A, B), alpha, l2), -vec(G)).reshape(G.shape, order="F")


def kfi_factors(A, B, alpha):
    """The two damped factors of (12), and pi from eigenvalues."""
    pi = np.sqrt(np.mean(np.linalg.eigvalsh(A)) / np.mean(np.linalg.eigvalsh(B)))
    return A + pi * np.sqrt(alpha) * np.eye(len(A)), B + np.sqrt(alpha) / pi * np.eye(len(B)), pi


def kfi(A, B, G, alpha):
    """KFI's direction, by the inverses of both factors."""
    H_t, G_t, _ = kfi_factors(A, B, alpha)
    return -np.linalg.inv(G_t) @ G @ np.linalg.inv(H_t)


def trained(case, blocks, l2):
    """Of every layer that is trained, with a penalty: number, places, block, inputs, gradients in
    the weights and, where there is one, in the bias.
    """
    whole = gradients(case).mean(axis=0) + l2 * case.theta
    for t, (one, B) in enumerate(zip(case.layers, blocks), start=1):
        if one.weight is not None:
            yield t, one, B, inputs(case, t), whole[one.weight], (
                None if one.bias is None else whole[one.bias])


def least(A):
    """Least eigenvalue of a symmetric matrix over its largest entry."""
    return float(np.linalg.eigvalsh((A + A.T) / 2)[0] / np.abs(A).max())
