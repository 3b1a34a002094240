"""Solution of exercise 14_bug_hunt_layer, with what is left when one mistake is overlooked."""

from typing import NamedTuple

import numpy as np

import secondorder as so


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
        return self.a * y_bar, (y_bar * saved.input).sum(axis=0)

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
            y_second += 2 * theta_tangent * x_tangent
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
        return self.a[:, None] * H_y * self.a


class FactorLeft(Scale):
    """The second derivative along a line lacks its factor 2 still."""

    def second_tangent(self, saved, x_tangent, x_second, theta_tangent):
        y_second = np.zeros_like(saved.output)
        if x_second is not None:
            y_second += self.a * x_second
        if x_tangent is not None and theta_tangent is not None:
            y_second += theta_tangent * x_tangent
        return y_second


class OneSideLeft(Scale):
    """The Hessian is multiplied on one side only still."""

    def input_hessian(self, saved, y_bar, H_y):
        return self.a[:, None] * H_y


WRONG = [(FactorLeft, "second_tangent"), (OneSideLeft, "input_hessian")]


def by_hand(layer):
    """y of two samples, unit by unit."""
    x, a = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, 4.0]]), layer.parameters["a"].tolist()
    expected = [[a_j * x_j for a_j, x_j in zip(a, row)] for row in x.tolist()]
    return ("forward", layer.forward(x)[0], np.array(expected),
            "y_sj is a_j times x_sj, and nothing else")
