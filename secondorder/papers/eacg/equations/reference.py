"""Losses and their derivatives without the package's passes: formulas, complex steps, loops."""

import numpy as np

TINY = 1e-30
STEP = 1e-3

ACTIVATIONS = {
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "tanh": np.tanh,
    "softplus": lambda z: np.log(1 + np.exp(z)),
    "sin": np.sin,
    "relu": lambda z: z * (z.real > 0),
}


def cross_entropy(p, y):
    """-log softmax(p)_y."""
    return np.log(np.sum(np.exp(p))) - p[y]


def bounded(p, y):
    """(14) with delta = 5 and epsilon = 0.2."""
    return 1 / (1 + np.exp(5 * (np.exp(p[y]) / np.sum(np.exp(p)) - 0.2)))


def one_minus_likelihood(p, y):
    """1 - softmax(p)_y: linear, hence convex, in the probabilities."""
    return 1 - np.exp(p[y]) / np.sum(np.exp(p))


CRITERIA = {"softmax": cross_entropy, "bounded": bounded}


def outputs(case, s, theta):
    """Outputs of instance s at the parameters `theta` (P,), which may be complex."""
    h, start = case.x[s], 0
    for k, (m, n) in enumerate(zip(case.sizes[:-1], case.sizes[1:])):
        W = theta[start : start + n * m].reshape(n, m)
        b = theta[start + n * m : start + n * m + n]
        start += n * m + n
        z = W @ h + b
        h = z if k == len(case.sizes) - 2 else ACTIVATIONS[case.activation](z)
    return h


def loss(case, s, theta):
    """Loss of instance s at `theta`."""
    return CRITERIA[case.loss](outputs(case, s, theta), case.y[s])


def bias_places(case, t):
    """Where b^t stands in theta, t = 1..k."""
    start = sum(n * (m + 1) for m, n in zip(case.sizes[: t - 1], case.sizes[1:t]))
    m, n = case.sizes[t - 1 : t + 1]
    return np.arange(start + n * m, start + n * m + n)


def weight_places(case, t):
    """Where Vec(W^t), its columns one below the other, stands in theta."""
    start = sum(n * (m + 1) for m, n in zip(case.sizes[: t - 1], case.sizes[1:t]))
    m, n = case.sizes[t - 1 : t + 1]
    return start + np.arange(n * m).reshape(n, m).ravel(order="F")


def gradient(f, theta, places):
    """Derivatives of f at theta in the entries `places`, by complex steps; theta is real."""
    found = np.empty(len(places))
    for j, place in enumerate(places):
        moved = theta.astype(complex)
        moved[place] += 1j * TINY
        found[j] = f(moved).imag / TINY
    return found


def hessian(f, theta, places):
    """Second derivatives of f in `places`: fourth-order differences of complex steps."""
    rows = []
    for place in places:
        total = np.zeros(len(places))
        for steps, factor in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
            moved = theta.copy()
            moved[place] += steps * STEP
            total += factor * gradient(f, moved, places)
        rows.append(total / (12 * STEP))
    return np.array(rows)


def gradients(case, places, theta=None):
    """Gradients of the instances' losses in `places`, (S, n), by complex steps."""
    theta = case.theta if theta is None else theta
    return np.array([gradient(lambda moved: loss(case, s, moved), theta, places)
                     for s in range(len(case.x))])


def hessians(case, places):
    """Hessians of the instances' losses in `places`, (S, n, n), by differences."""
    return np.array([hessian(lambda moved: loss(case, s, moved), case.theta, places)
                     for s in range(len(case.x))])


def bias_hessians(case, t):
    """H_i^t (S, n_t, n_t) by differences."""
    return hessians(case, bias_places(case, t))


def bias_gradients(case, t):
    """g_i^t (S, n_t) by complex steps."""
    return gradients(case, bias_places(case, t))


def all_places(case, t):
    """Where Vec([W^t b^t]) stands in theta."""
    return np.concatenate([weight_places(case, t), bias_places(case, t)])


def kron(A, B):
    """Kronecker product, entry by entry."""
    (a, b), (c, d) = A.shape, B.shape
    out = np.empty((a * c, b * d))
    for i, j, k, m in np.ndindex(a, b, c, d):
        out[i * c + k, j * d + m] = A[i, j] * B[k, m]
    return out


def vec(P):
    """The columns of P one below the other."""
    return np.concatenate([P[:, j] for j in range(P.shape[1])])


def least(A):
    """Least eigenvalue of a symmetric matrix over its largest entry."""
    return float(np.linalg.eigvalsh((A + A.T) / 2)[0] / np.abs(A).max())


class Counted(np.ndarray):
    """An array that counts multiplications: of matrix products, and entry by entry."""

    count = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [np.asarray(value) for value in inputs]
        result = getattr(ufunc, method)(*plain, **kwargs)
        if ufunc is np.matmul:
            Counted.count += result.size * plain[0].shape[-1]
        elif ufunc is np.multiply:
            Counted.count += np.size(result)
        return np.asarray(result).view(Counted)


def multiplications(work, *shapes):
    """How many multiplications ``work(*arrays)`` makes for arrays of ones of these shapes."""
    Counted.count = 0
    work(*(np.ones(shape).view(Counted) for shape in shapes))
    return Counted.count
