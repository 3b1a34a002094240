# %% [markdown]
# # 4. From indices to one line ([low-rank] Eq. (7))
#
# *10 minutes, easy, 4 points*
#
# The block of the Hessian between output weights and hidden weights needs
#
# $$a_{is} = \frac{\partial^2 f}{\partial p^i \partial p^l}\, u_m^l\, \eta_s^{(n,k),m}$$
#
# with a sum over every index that stands twice. `np.einsum` reads almost like it.
#
# Predict first: what is the shape of $a$ for three outputs and a hidden layer of five units?

# %%
import numpy as np

from secondorder.papers.low_rank.eq_10_26_network import eq_23_eta as eta

GRADE = ("low-rank", "7", "eq_7_a")


# %%
def eq_7_a(sample, k):
    """a (C, d_k), from f_pp (C, C), u (C, d_n) and eta^(n,k) (d_n, d_k).

    They are `sample.f_pp`, `sample.u` and `eta(sample, sample.n, k)`.
    """
    return ...


# %%
if __name__ == "__main__":
    import secondorder as so

    print(so.verify.equation(GRADE[0], GRADE[1], eq_7_a, implementation=GRADE[2]))
