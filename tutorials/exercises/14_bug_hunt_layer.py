# %% [markdown]
# # 14. Bug hunt: a layer
#
# A layer that multiplies every unit by a scale of its own: $y_{sj} = a_j x_{sj}$. Its seven passes
# are a line each, and three of them are wrong. The checker says which, and which entries; the ratio
# says what kind of mistake it is.

# %%
from typing import NamedTuple

import numpy as np

import secondorder as so

GRADE = ("layer", "Scale")


# %%
class ScaleSaved(NamedTuple):
    """What `Scale.forward` leaves behind."""

    input: np.ndarray
    output: np.ndarray


class Scale(so.Layer):
    """y_sj = a_j x_sj."""

    def __init__(self, width=3):
        super().__init__()
        self.input_shape = (width,)
        self.declare("a", np.linspace(0.5, 1.5, width))

    @property
    def a(self):
        return self.parameters["a"]

    def forward(self, x):
        y = self.a * x
        return y, ScaleSaved(x, y)

    def backward(self, saved, y_bar):
        return self.a * y_bar, (y_bar * saved.input).mean(axis=0)

    def parameter_gradients(self, saved, y_bar):
        return y_bar * saved.input

    def tangent(self, saved, x_tangent, theta_tangent):
        y_tangent = np.zeros_like(saved.output)
        if x_tangent is not None:
            y_tangent += self.a * x_tangent
        if theta_tangent is not None:
            y_tangent += theta_tangent * saved.input
        return y_tangent

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        y_second = np.zeros_like(saved.output)
        if x_second is not None:
            y_second += self.a * x_second
        if x_tangent is not None and theta_tangent is not None:
            y_second += theta_tangent * x_tangent
        return y_second

    def backward_tangent(self, saved, x_tangent, theta_tangent, y_bar, y_bar_tangent):
        x_bar_tangent = self.a * y_bar_tangent
        theta_bar_tangent = (y_bar_tangent * saved.input).sum(axis=0)
        if theta_tangent is not None:
            x_bar_tangent = x_bar_tangent + theta_tangent * y_bar
        if x_tangent is not None:
            theta_bar_tangent = theta_bar_tangent + (y_bar * x_tangent).sum(axis=0)
        return x_bar_tangent, theta_bar_tangent

    def input_hessian(self, saved, y_bar, H_y):
        return self.a[:, None] * H_y


# %%
if __name__ == "__main__":
    print(so.verify.layer(Scale()))
