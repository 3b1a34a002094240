# %% [markdown]
# # 1. How far can a unit move? ([residual-partitioning] Eq. (11))
#
# *15 minutes, medium, 6 points*
#
# If no parameter of a network moves by more than one, how far can the unit $i$ of the next layer
# move, to first order? Every weight into it may change (by one, times its input), and every unit
# below may move (by its own total gradient $u_j$, times the weight):
#
# $$u_i^{(l+1)} = \sum_{j \ge 0} |y_j| + \sum_{j \ge 1} |w_{ij}|\, u_j$$
#
# where $y_0 = 1$ stands for the bias. A layer that is not trained has no first sum.
#
# Predict first: what is $u$ one layer above the inputs, where nothing below moves?

# %%
import numpy as np

GRADE = ("residual-partitioning", "11", "eq_11_affine")


# %%
def eq_11_affine(y, w, u=None, y_0=0):
    """Total gradient above an affine layer, (S, out), for w (out, in) and u (S, in).

    y (S, k) has a column of ones in front for the bias, or comes without it and with y_0 = 1; k = 0
    where the layer is not trained. Without u nothing below moves.
    """
    return ...


# %%
if __name__ == "__main__":
    import secondorder as so

    print(so.verify.equation(GRADE[0], GRADE[1], eq_11_affine, implementation=GRADE[2]))
