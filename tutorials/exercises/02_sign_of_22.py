# %% [markdown]
# # 2. Whose sign? ([residual-partitioning] Eq. (22))
#
# *10 minutes, easy, 4 points*
#
# Which shares $p_i$, positive and of sum one, make $\sum_i x_i^2 / p_i$ smallest? With $p =
# \mathrm{softmax}(\eta)$ and $\partial p_i / \partial \eta_k = p_i(\delta_{ik} - p_k)$ the
# derivative in $\eta_k$ is a difference of two terms. The print has one of its signs wrong:
# derive it.
#
# Predict first: at $x = (1, 1)$, $p = (0.9, 0.1)$, should $\eta_1$ grow or shrink?

# %%
import numpy as np

GRADE = ("residual-partitioning", "22", "eq_22_gradient")


# %%
def eq_22_gradient(x, p):
    """Derivative of sum_i x_i^2 / p_i in eta, (n,), for x (n,) and p = softmax(eta) (n,)."""
    return ...


# %%
if __name__ == "__main__":
    import secondorder as so

    print(so.verify.equation(GRADE[0], GRADE[1], eq_22_gradient, implementation=GRADE[2]))
