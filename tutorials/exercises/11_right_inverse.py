# %% [markdown]
# # 11. Half a block of a right inverse ([reversible-gauss-newton] Eqs. (16)-(17))
#
# A reversible block changes its second half by the output of the first one. To bring about a
# wanted change of the second half, the second matrix has to make up for what the change of the
# first one already does to it: `eq_65_66_B(state)` times the first change, as columns one
# below the other (`vec`, `R`).
#
# Predict first: which sign has what is already there?

# %%
import numpy as np

from secondorder.papers.reversible_gauss_newton.eq_12_13_jacobian import R, vec
from secondorder.papers.reversible_gauss_newton.eq_58_80_appendix_n import eq_65_66_B

GRADE = ("reversible-gauss-newton", "17", "eq_57_delta")


# %%
def eq_57_delta(e2, state, delta1):
    """The change of the second matrix, from e2 (d/2, n), state.S2 (features, n) and delta1."""
    return ...


# %%
if __name__ == "__main__":
    import secondorder as so

    print(so.verify.equation(GRADE[0], GRADE[1], eq_57_delta, implementation=GRADE[2]))
