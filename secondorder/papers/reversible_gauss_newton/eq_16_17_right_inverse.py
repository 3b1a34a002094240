"""4. The right inverse, Proposition 4.4. Displays: (16), (17); (8) with (55) for the whole step.

One sweep from the last block to the first, by products of matrices alone. Arrays are the paper's,
with one column a sample. :mod:`.eq_33_57_proof` has the same with every Jacobian written out.
"""

import numpy as np

from .section_5_pseudo_inverse import times_pseudo_inverse


def at_features(U, eps):
    """The least change of x_L (d, n) that changes the outputs f = U x_L by eps (d_y, n).

    U^T (U U^T)^{-1} eps. U is the fixed readout of the authors' code. In the paper there is none.
    """
    return eps if U is None else U.T @ np.linalg.solve(U @ U.T, eps)


def change_1(b, u):
    """How W1 sigma(V2 X2) of (14) changes with a change u (h, n) of X2: W1 (sigma' * V2 u)."""
    return b.W1 @ (b.slope1 * (b.V2 @ u))


def change_2(b, u):
    """How W2 sigma(V1 X1) of (15) changes with a change u (h, n) of X1: W2 (sigma' * V1 u).

    So B vec(Delta) = vec(change_2(Delta S1)), with B = d x^(2)_l / d w^(1)_l, which is never made.
    """
    return b.W2 @ (b.slope2 * (b.V1 @ u))


def braces(downwards, e1, e2):
    """The braces of (16) and (17), block by block: e1 = R{(d x^(1)_l / d x_L) eps}, and e2.

    One pass through the inverse network, from e1, e2 (h, n) in the halves of x_L, l = L, ..., 1:

        e2_{l-1} = e2_l - change_2(e1_l),  e1_{l-1} = e1_l - change_1(e2_{l-1})

    Yields block, e1, e2 and change_2(e1) of every block.
    """
    above = change = None
    for b in downwards:
        if above is not None:
            e2 = e2 - change
            e1 = e1 - change_1(above, e2)
        change = change_2(b, e1)
        yield b, e1, e2, change
        above = b


def eq_16_delta(e1, S1, plus=times_pseudo_inverse):
    """Eq. (16): Delta^(1)_l = R{(d x^(1)_l / d x_L) eps} sigma(V^(2)_{l-1} X^(2)_{l-1})^+.

    The step adds -alpha / L times it to W^(1)_l. `plus` takes e and S to e S^+, a `Fit`.
    """
    return plus(e1, S1)


def eq_17_delta(e2, B_Delta1, S2, plus=times_pseudo_inverse):
    """Eq. (17): Delta^(2)_l = R{(d x^(2)_l / d x_L) eps - B vec(Delta^(1)_l)}
    sigma(V^(1)_l X^(1)_l)^+, with B_Delta1 = R{B vec(Delta^(1)_l)} (h, n).

    Delta^(1)_l is that of (16): alpha / L is no part of it.
    """
    return plus(e2 - B_Delta1, S2)


def eq_16_17_deltas(downwards, e1, e2, plus=times_pseudo_inverse):
    """Eqs. (16), (17) of all blocks: [(Delta^(1)_1, Delta^(2)_1), ...], each a `Fit`.

    Where S1 has independent columns, Delta1 S1 = e1. Then the brace of (17) is e2_{l-1}, and one
    product serves both.
    """
    deltas = []
    for b, e1_l, e2_l, change in braces(downwards, e1, e2):
        Delta1 = eq_16_delta(e1_l, b.S1, plus)
        B_Delta1 = change if Delta1.reached is e1_l else change_2(b, Delta1.reached)
        deltas.append((Delta1, eq_17_delta(e2_l, B_Delta1, b.S2, plus)))
    return deltas[::-1]


def eq_8_55_step(network, deltas):
    """Eqs. (8), (55): d = -(1/L) (Delta^(1)_1; Delta^(2)_1; ...; Delta^(2)_L), (P,) like theta."""
    d, start = np.empty(network.size, network.dtype), 0
    for half, Delta in zip(network.couplings, [Delta for pair in deltas for Delta in pair]):
        for piece in half.weight_and_bias(Delta.product):
            place = d[start:start + piece.size].reshape(piece.shape)
            np.multiply(-1 / len(deltas), piece, out=place)
            start += piece.size
    return d


def order_of_cost(L, n, d):
    """Section 4, multiplications of a step up to a factor, for d' = O(d): L n d^2 + L n^2 d."""
    return L * n * d**2 + L * n**2 * d
