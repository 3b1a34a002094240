"""Outer products, one a sample."""

from .compiling import loop


@loop
def outer(a, b, out):
    """out_sij = a_si b_sj"""
    for s in range(a.shape[0]):
        for i in range(a.shape[1]):
            row, a_i = out[s, i], a[s, i]
            for j in range(b.shape[1]):
                row[j] = a_i * b[s, j]
