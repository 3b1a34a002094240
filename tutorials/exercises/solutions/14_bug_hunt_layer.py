"""Solution of exercise 14_bug_hunt_layer, with what is left when one mistake is overlooked."""

import numpy as np

import secondorder as so


class Scale(so.Layer):
    """y_sj = a_j x_sj."""

    def __init__(self, width=3):
        super().__init__()
        self.input_shape = (width,)
        self.declare("a", np.linspace(0.5, 1.5, width))

    def forward(self, x):
        return self.a * x, x

    def backward(self, x, y_bar):
        return self.a * y_bar, (y_bar * x).sum(axis=0)

    def parameter_gradients(self, x, y_bar):
        return y_bar * x

    def tangent(self, x, x_tangent, a_tangent):
        return self.a * x_tangent + a_tangent * x

    def second_tangent(self, x, moved, x_second):
        (a_tangent,) = moved.theta_tangents
        return self.a * x_second + 2 * a_tangent * moved.x_tangent

    def backward_tangent(self, x, moved, y_bar, y_bar_tangent):
        (a_tangent,) = moved.theta_tangents
        x_bar_tangent = self.a * y_bar_tangent + a_tangent * y_bar
        return x_bar_tangent, (y_bar_tangent * x + y_bar * moved.x_tangent).sum(axis=0)

    def input_hessian(self, x, y_bar, H_y):
        return self.a[:, None] * H_y * self.a


class FactorLeft(Scale):
    """The second derivative along a line lacks its factor 2 still."""

    def second_tangent(self, x, moved, x_second):
        (a_tangent,) = moved.theta_tangents
        return self.a * x_second + a_tangent * moved.x_tangent


class OneSideLeft(Scale):
    """The Hessian is multiplied on one side only still."""

    def input_hessian(self, x, y_bar, H_y):
        return self.a[:, None] * H_y


WRONG = [(FactorLeft, "second_tangent"), (OneSideLeft, "input_hessian")]


def by_hand(layer):
    """y of two samples, unit by unit."""
    x, a = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, 4.0]]), layer.a.tolist()
    expected = [[a_j * x_j for a_j, x_j in zip(a, row)] for row in x.tolist()]
    return ("forward", layer.forward(x)[0], np.array(expected),
            "y_sj is a_j times x_sj, and nothing else")
