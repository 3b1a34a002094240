# %% [markdown]
# # 8. From layer to layer ([ea-cg] Eq. (4b))
#
# *15 minutes, medium, 6 points*
#
# If $H$ is the Hessian of one sample's loss in the outputs of a linear layer, and $h'$, $h''$ are
# slope and second derivative of the activation below it, then the Hessian one layer down is
#
# $$(W^T H\, W) \odot (h' h'^T) + \mathrm{diag}(h'' \odot W^T g),$$
#
# instance by instance. Write it for a whole batch; $W^T g$ of every instance comes as `h_bar`.

# %%
import numpy as np

GRADE = ("ea-cg", "4b", "eq_4b_hidden_hessian")


# %%
def eq_4b_hidden_hessian(W, H, h_bar, slope, curvature):
    """(S, m, m) from W (n, m), H (S, n, n); h_bar, slope and curvature (S, m)."""
    return ...


# %%
if __name__ == "__main__":
    import secondorder as so

    print(so.verify.equation(GRADE[0], GRADE[1], eq_4b_hidden_hessian, implementation=GRADE[2]))
