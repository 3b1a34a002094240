# %% [markdown]
# # 14. Bug hunt: a layer
#
# *20 minutes, hard, 8 points*
#
# A layer that multiplies every unit by a scale of its own: $y_{sj} = a_j x_{sj}$. Its seven passes
# are a line each, and three of them are wrong. The checker says which, and which entries; the ratio
# says what kind of mistake it is.

# %%
import numpy as np

import secondorder as so

GRADE = ("layer", "Scale")


# %%
class Scale(so.Layer):
    """y_sj = a_j x_sj."""

    def __init__(self, width=3):
        super().__init__()
        self.input_shape = (width,)
        self.declare("a", np.linspace(0.5, 1.5, width))

    def forward(self, x):
        return self.a * x, x

    def backward(self, x, y_bar):
        return self.a * y_bar, (y_bar * x).mean(axis=0)

    def parameter_gradients(self, x, y_bar):
        return y_bar * x

    def tangent(self, x, x_tangent, a_tangent):
        return self.a * x_tangent + a_tangent * x

    def second_tangent(self, x, moved, x_second):
        (a_tangent,) = moved.theta_tangents
        return self.a * x_second + a_tangent * moved.x_tangent

    def backward_tangent(self, x, moved, y_bar, y_bar_tangent):
        (a_tangent,) = moved.theta_tangents
        x_bar_tangent = self.a * y_bar_tangent + a_tangent * y_bar
        return x_bar_tangent, (y_bar_tangent * x + y_bar * moved.x_tangent).sum(axis=0)

    def input_hessian(self, x, y_bar, H_y):
        return self.a[:, None] * H_y


# %%
if __name__ == "__main__":
    print(so.verify.layer(Scale()))
