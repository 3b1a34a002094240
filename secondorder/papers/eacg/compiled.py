"""The compiled form of `systems.combined`."""

from ...compiled import compiled


@compiled
def combined(s, G, w, mean, D):
    """D_ij = s G_ij + w_i m_j, written into D (n, m)."""
    for i in range(G.shape[0]):
        of_row = w[i]
        for j in range(G.shape[1]):
            D[i, j] = s * G[i, j] + of_row * mean[j]
