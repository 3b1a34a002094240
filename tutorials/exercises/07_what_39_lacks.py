# %% [markdown]
# # 7. The term that (39) lacks ([low-rank] Eq. (39))
#
# *20 minutes, hard, 8 points*
#
# For ReLU networks the curvature of the loss along a direction has two parts: one from the
# outputs' own Hessian, and one from products of changes of weights in two layers. If the
# direction moves the outputs by $t_k$ through its part in layer $k$ alone, the outputs' part is a
# quadratic form in *all* of them together. The print adds the quadratic forms of the single
# layers.
#
# $$\Big(\sum_k t_k\Big)^T f_{pp} \Big(\sum_r t_r\Big) = \sum_k t_k^T f_{pp}\, t_k + \;?$$
#
# Predict first: with two layers and $t_1 = -t_2$, what is right, and what does the print give?

# %%
import numpy as np

from secondorder.papers.low_rank.eq_10_26_network import eq_23_eta as eta

GRADE = ("low-rank", "39", "eq_39_curvature")


def parts(s, omega, phi):
    """What a direction does to the outputs of a sample through each layer alone, list of (C,); and
    the sum of the products of two layers' changes. omega and phi[1], ... are its pieces."""
    n, moves, bend = s.n, [], 0.0
    for r in range(1, n + 1):
        move = phi[r] @ s.v[r - 1]
        for k in range(r + 1, n + 1):
            bend += 2 * (s.f_p @ s.u @ eta(s, n, k)) @ phi[k] @ eta(s, k - 1, r) @ move
        bend += 2 * s.f_p @ omega @ eta(s, n, r) @ move
        moves.append(s.u @ eta(s, n, r) @ move)
    return [*moves, omega @ s.v[n]], bend


# %%
def eq_39_curvature(s, omega, phi):
    """g^T H g at one sample of a chain of linear and ReLU layers; the loss's Hessian in the
    outputs is `s.f_pp` (C, C)."""
    moves, bend = parts(s, omega, phi)
    return ...


# %%
if __name__ == "__main__":
    import secondorder as so

    print(so.verify.equation(GRADE[0], GRADE[1], eq_39_curvature, implementation=GRADE[2]))
