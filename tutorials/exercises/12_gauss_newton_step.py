# %% [markdown]
# # 12. The shortest of all steps ([reversible-gauss-newton] Eq. (5), Theorem 4.3)
#
# *10 minutes, easy, 4 points*
#
# Theorem 4.3: with any right inverse of $J$ the errors of the network follow the same curve, up
# to $O(\alpha)$; two right inverses differ in the step, not in what it does to the errors. The
# Moore-Penrose inverse gives the shortest one. Write it.

# %%
import numpy as np

GRADE = ("reversible-gauss-newton", ("5", "theorem-4.3"), "eq_5_gauss_newton")


# %%
def eq_5_gauss_newton(J, eps):
    """The step (p,) of least norm with J d nearest to -eps, and the rank of J.

    From J (n d_y, p) and eps (n d_y,).
    """
    rank = np.linalg.matrix_rank(J)
    return ..., rank


# %%
if __name__ == "__main__":
    import secondorder as so

    for label in GRADE[1]:
        print(so.verify.equation(GRADE[0], label, eq_5_gauss_newton, implementation=GRADE[2]))
