# %% [markdown]
# # 10. An inverse by its factors ([ea-cg] Eq. (12))
#
# *15 minutes, medium, 6 points*
#
# $((1-\alpha)\, A \otimes B + \alpha I)^{-1}$ has no short form, but $(A + \pi\sqrt\alpha I)^{-1}
# \otimes (B + \tfrac{\sqrt\alpha}{\pi} I)^{-1}$ is near it. `eq_12_factors(A, B, alpha)` gives the
# two damped factors. Put them together in the order of $\mathrm{Vec}(W)$, columns one below the
# other: $A$ belongs to the inputs.

# %%
import numpy as np

from secondorder.papers.eacg.eq_12_13_kfac_kfra import eq_12_factors

GRADE = ("ea-cg", "12", "eq_12_inverse")


# %%
def eq_12_inverse(A, B, alpha):
    """The approximate inverse (n m, n m), from A (m, m), B (n, n)."""
    return ...


# %%
if __name__ == "__main__":
    import secondorder as so

    print(so.verify.equation(GRADE[0], GRADE[1], eq_12_inverse, implementation=GRADE[2]))
