"""Operations and numbers to store, counted as in the paper's analysis and Table 1.

`widths` are n_0, ..., n_k. Operations are multiplications of matrix products; numbers to store are
entries of arrays.
"""

CIFAR_10 = (3072, 1024, 512, 256, 128, 64, 32, 16, 10)
IMAGENET_10 = (150528, 1024, 512, 256, 128, 64, 32, 16, 10)


def pairs(widths):
    """(n_{t-1}, n_t) for t = 1..k."""
    return list(zip(widths[:-1], widths[1:]))


def parameters(widths):
    """Number of weights and biases: sum_t n_t (n_{t-1} + 1)."""
    return sum(n * (m + 1) for m, n in pairs(widths))


def parameters_as_printed(widths):
    """sum_t n_{t-1} (n_t + 1), whose square the paper gives as the size of the Hessian."""
    return sum(m * (n + 1) for m, n in pairs(widths))


def storage_of_newton(widths):
    """Entries of Newton's matrix as the paper has them: (sum_t n_{t-1} (n_t + 1))^2."""
    return sum(below * (own + 1) for below, own in pairs(widths)) ** 2


def propagation_of_batch(widths, samples):
    """Operations of (6) with the outer products of the slopes.

        sum_{t=2}^k n_{t-1} n_t (n_{t-1} + n_t) + samples * sum_{t=1}^{k-1} n_t^2
    """
    return (sum(below * own * (below + own) for below, own in pairs(widths)[1:])
            + samples * sum(hidden * hidden for hidden in widths[1:-1]))


def propagation(widths):
    """Table 1, corrected, operations of Eq. (6): sum_{t=2}^k n_{t-1} n_t (n_{t-1} + n_t).

    Nothing is carried into layer 0.
    """
    return sum(m * n * (m + n) for m, n in pairs(widths)[1:])


def propagation_in_text(widths):
    """The same sum from t = 1 on, as the text has it."""
    return sum(m * n * (m + n) for m, n in pairs(widths))


def propagation_in_table(widths):
    """Table 1 for PCH: sum_{t=2}^k n_{t-1}^2 n_t."""
    return sum(m * m * n for m, n in pairs(widths)[1:])


def propagation_in_table_of_gauss_newton(widths):
    """Table 1 for the Gauss-Newton recursion: sum_{t=2}^k n_{t-1} n_t."""
    return sum(m * n for m, n in pairs(widths)[1:])


def slopes(widths, samples):
    """Operations of E[h' h'^T] in the hidden layers, which the paper leaves out."""
    return samples * sum(n * n for n in widths[1:-1])


def fisher(widths, samples):
    """Table 1 for the Fisher matrix: samples * sum_t n_t^2."""
    return samples * sum(n * n for n in widths[1:])


def ea_cg(widths, iterations):
    """Operations of `iterations` products of Eq. (11b) in every layer.

        iterations * sum_t n_t (2 n_{t-1} + n_t)
    """
    return iterations * sum(n * (2 * m + n) for m, n in pairs(widths))


def kfi(widths):
    """Table 1 for KFI: sum_t n_t^3 + n_{t-1}^3 + n_{t-1}^2 n_t + n_{t-1} n_t^2.

    Two inverses and two products.
    """
    return sum(n**3 + m**3 + m * m * n + m * n * n for m, n in pairs(widths))


def storage_of_bias_curvature(widths):
    """sum_t n_t^2: what (11a) needs according to the text."""
    return sum(n * n for n in widths[1:])


def storage_of_kfi(widths):
    """Table 1 for KFI: sum_t n_{t-1}^2 + n_t^2; (11a) needs as much where it holds E[h h^T]."""
    return sum(m * m + n * n for m, n in pairs(widths))


def storage_of_ea_cg(widths):
    """Table 1 for EA-CG: sum_t n_{t-1} + n_t^2."""
    return sum(m + n * n for m, n in pairs(widths))


def storage_of_blocks(widths):
    """The diagonal blocks as matrices: sum_t (n_{t-1} n_t)^2 + n_t^2."""
    return sum((m * n) ** 2 + n * n for m, n in pairs(widths))
