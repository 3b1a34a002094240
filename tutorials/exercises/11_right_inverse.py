# %% [markdown]
# # 11. Half a block of a right inverse ([reversible-gauss-newton] Eqs. (16)-(17))
#
# A reversible block changes its second half by the output of the first one. To bring about a
# wanted change of the second half, the second matrix has to make up for what the change of the
# first one already does to it: `cross_derivative(state)` times the first change, as columns one
# below the other (`vec`, `unvec`).
#
# Predict first: which sign has what is already there?

# %%
import numpy as np

from secondorder.papers.reversible_gauss_newton.dense.columns import unvec, vec
from secondorder.papers.reversible_gauss_newton.dense.jacobians import cross_derivative

GRADE = ("reversible-gauss-newton", "17", "second_delta")


# %%
def second_delta(e2, state, delta1):
    """The change of the second matrix, from e2 (d/2, n), state.S2 (features, n) and delta1."""
    return ...


# %%
if __name__ == "__main__":
    import secondorder as so

    print(so.verify.equation(GRADE[0], GRADE[1], second_delta, implementation=GRADE[2]))
