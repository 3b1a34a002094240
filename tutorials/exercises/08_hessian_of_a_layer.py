# %% [markdown]
# # 8. From layer to layer ([ea-cg] Eq. (4b))
#
# If $H$ is the Hessian of one sample's loss in the outputs of a linear layer, and $h'$, $h''$ are
# slope and second derivative of the activation below it, then the Hessian one layer down is
#
# $$(W^T H\, W) \odot (h' h'^T) + \mathrm{diag}(h'' \odot W^T g),$$
#
# instance by instance. Write it for a whole batch.

# %%
import numpy as np

GRADE = ("ea-cg", "4b", "hidden_hessians")


# %%
def hidden_hessians(W, H, g, slope, curvature):
    """(S, m, m) from W (n, m), H (S, n, n), g (S, n), slope and curvature (S, m)."""
    return ...


# %%
if __name__ == "__main__":
    import secondorder as so

    print(so.verify.equation(GRADE[0], GRADE[1], hidden_hessians, implementation=GRADE[2]))
