# %% [markdown]
# # 9. Mean of products, or product of means? ([ea-cg] Eq. (8b))
#
# *15 minutes, medium, 6 points*
#
# Carried down for the whole batch at once, the diagonal of the last exercise becomes an
# expectation. The print writes $E[h''] \odot (W^T E[g])$. Over which whole must the mean be
# taken? ($W^\top g$ of every sample comes as `h_bar`; Pos-Eig with $\gamma$ is `positive`.)
#
# Predict first: two samples, $h'' = (1, -1)$ and $g = (1, -1)$. What are the two numbers?

# %%
import numpy as np

from secondorder.papers.eacg.eq_01_03_newton import positive

GRADE = ("ea-cg", "8b", "eq_8b_pch_step")


# %%
def eq_8b_pch_step(W, B, h_bar, slope, curvature, gamma):
    """(m, m) from W (n, m), B (n, n); h_bar, slope, curvature (S, m); gamma for Pos-Eig."""
    return ...


# %%
if __name__ == "__main__":
    import secondorder as so

    print(so.verify.equation(GRADE[0], GRADE[1], eq_8b_pch_step, implementation=GRADE[2]))
