"""Passes over all weights, compiled by numba, each with its plain NumPy twin; see
:mod:`secondorder.compiled`.
"""

from ...compiled import compiled
from ...optimizers.loops import BLOCK, move


@compiled
def combined(s, G, w, mean, D):
    """D = s G + w m^T, written into D (n, m). NumPy twin: `systems.combined`."""
    for i in range(G.shape[0]):
        of_row = w[i]
        for j in range(G.shape[1]):
            D[i, j] = s * G[i, j] + of_row * mean[j]


@compiled
def directed_step(total, theta, moved, samples, l2, rate, sums, peaks, gradient, direction):
    """A step along a direction (P,) that is known; `total`, `samples` and `l2` are not needed."""
    for start in range(0, theta.size, BLOCK):
        where = slice(start, min(start + BLOCK, theta.size))
        d = direction[where]
        move(theta[where], moved[where], gradient[where], d, d, rate, sums, peaks)
