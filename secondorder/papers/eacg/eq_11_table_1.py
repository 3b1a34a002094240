"""Space and time as the paper counts them: below Eq. (11b), and Table 1.

Operations are multiplications of matrix products, space is entries of arrays; `widths` are n_0 ..
n_k. What the text and the table print stands beside what is right.
"""

CIFAR_10 = (3072, 1024, 512, 256, 128, 64, 32, 16, 10)
IMAGENET_10 = (150528, 1024, 512, 256, 128, 64, 32, 16, 10)


def pairs(widths):
    """(m, n) = (n_{t-1}, n_t), t = 1 .. k."""
    return list(zip(widths[:-1], widths[1:]))


# -- space -----------------------------------------------------------------------------------------


def parameters(widths):
    """sum_t n_t (n_{t-1} + 1); its square is the size of Newton's matrix."""
    return sum(n * (m + 1) for m, n in pairs(widths))


def parameters_as_printed(widths):
    """sum_t n_{t-1} (n_t + 1), a bias for every input of a layer."""
    return sum(m * (n + 1) for m, n in pairs(widths))


def storage_of_newton(widths):
    """[sum_t n_{t-1} (n_t + 1)]^2, as printed."""
    return parameters_as_printed(widths) ** 2


def storage_of_blocks(widths):
    """sum_t (n_{t-1} n_t)^2 + n_t^2: the blocks of (8b) and (8c)."""
    return sum((m * n) ** 2 + n**2 for m, n in pairs(widths))


def storage_of_bias_curvature(widths):
    """sum_t n_t^2: what (11a) needs according to the text."""
    return sum(n**2 for _, n in pairs(widths))


def storage_of_kfi(widths):
    """Table 1: sum_t n_{t-1}^2 + n_t^2; (11a) too, where it holds EhhT."""
    return sum(m**2 + n**2 for m, n in pairs(widths))


def storage_of_ea_cg(widths):
    """Table 1: sum_t n_{t-1} + n_t^2."""
    return sum(m + n**2 for m, n in pairs(widths))


# -- time ------------------------------------------------------------------------------------------


def propagation(widths, first=2):
    """Eq. (6) and Table 1, corrected: sum_{t=2}^k n_{t-1} n_t (n_{t-1} + n_t)

    Two products with W a layer; nothing is carried into layer 0. The text's sum has `first` = 1.
    """
    return sum(m * n * (m + n) for m, n in pairs(widths)[first - 1:])


def propagation_in_table(widths):
    """Table 1 for PCH: sum_{t=2}^k n_{t-1}^2 n_t."""
    return sum(m**2 * n for m, n in pairs(widths)[1:])


def propagation_in_table_of_gauss_newton(widths):
    """Table 1 for KFRA: sum_{t=2}^k n_{t-1} n_t."""
    return sum(m * n for m, n in pairs(widths)[1:])


def slopes(widths, samples):
    """EhhT' of the hidden layers, which the paper leaves out: samples sum_{t<k} n_t^2."""
    return samples * sum(n**2 for n in widths[1:-1])


def second_moments(widths, samples):
    """EhhT of all layers, which Table 1 leaves out for KFI: samples sum_t n_{t-1}^2."""
    return samples * sum(m**2 for m, _ in pairs(widths))


def fisher(widths, samples):
    """Table 1 for KFAC: samples sum_t n_t^2."""
    return samples * storage_of_bias_curvature(widths)


def ea_cg(widths, iterations):
    """Table 1: |CG| sum_t n_t (2 n_{t-1} + n_t), products (11b)."""
    return iterations * sum(n * (2 * m + n) for m, n in pairs(widths))


def kfi(widths):
    """Table 1: sum_t n_t^3 + n_{t-1}^3 + n_{t-1}^2 n_t + n_{t-1} n_t^2: two inverses, two products.
    """
    return sum(n**3 + m**3 + m**2 * n + m * n**2 for m, n in pairs(widths))
