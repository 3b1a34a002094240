# %% [markdown]
# # 5. Whose slopes? ([low-rank] Eq. (23))
#
# *10 minutes, easy, 4 points*
#
# $\eta^{(k,l)}$ is the derivative of layer $k$'s outputs in the *arguments* (pre-activations) of
# layer $l$. The outputs of $l$ reach those of $k$ through $\alpha^{(k,l)}$; the arguments of $l$
# reach its outputs through a diagonal of slopes $\gamma$. The print takes the slopes of one of
# the two layers: which one must it be?

# %%
import numpy as np

from secondorder.papers.low_rank.eq_10_26_network import eq_19_gamma as gamma
from secondorder.papers.low_rank.eq_10_26_network import eq_21_alpha as alpha

GRADE = ("low-rank", "23", "eq_23_eta")


# %%
def eq_23_eta(sample, k, l):
    """eta^(k,l) (d_k, d_l), from alpha(sample, k, l) (d_k, d_l) and gamma(sample, ...) (d, d)."""
    return ...


# %%
if __name__ == "__main__":
    import secondorder as so

    print(so.verify.equation(GRADE[0], GRADE[1], eq_23_eta, implementation=GRADE[2]))
