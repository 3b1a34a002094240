# %% [markdown]
# # 3. A rule for average pooling ([residual-partitioning], an extension)
#
# *10 minutes, easy, 4 points*
#
# Average pooling has no parameters and no curvature: $y_a = \frac1K \sum_{b \in a} x_b$. How far
# can $y_a$ move if every $x_b$ can move by $u_b$? The way up, half of its rule, is one line, and
# the layer's own passes may be used: pooling is linear, and its weights $1/K$ are positive.
#
# Predict first: all $u_b = 1$. What is $u_a$?

# %%
import numpy as np

GRADE = ("residual-partitioning", "extension-pooling", "up_pooling")


# %%
def up_pooling(layer, saved, u):
    """Total gradient above a pooling layer: u like its input, returns it like its output.

    `layer.tangent(saved, u)` is the layer's linear map applied to u.
    """
    return ...


# %%
if __name__ == "__main__":
    import secondorder as so

    print(so.verify.equation(GRADE[0], GRADE[1], up_pooling, implementation=GRADE[2]))
